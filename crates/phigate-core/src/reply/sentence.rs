//! Ends of sentences, as far as the text before them decides.

/// Words that end in a full stop without ending a sentence. Names and addresses go on after them.
const ABBREVIATIONS: &[&str] = &[
    "apt", "attn", "ave", "blvd", "bldg", "capt", "cir", "col", "cpl", "ct", "dept", "dr", "drs",
    "e.g", "ext", "fl", "ft", "gen", "hwy", "i.e", "jr", "ln", "lt", "maj", "messrs", "mme", "mr",
    "mrs", "ms", "msgr", "mt", "mx", "no", "pkwy", "pl", "prof", "pt", "rd", "rev", "rm", "sgt",
    "sq", "sr", "st", "ste", "ter", "vs",
];

/// Whether a blank after this text ends a sentence. An initial does not: "J. Roe".
pub(super) fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'', '”', '’', ')', ']', '*', '»']);
    let Some(before) = text.strip_suffix(['.', '!', '?', '…']) else {
        return false;
    };
    if !text.ends_with('.') {
        return true;
    }
    let from = before
        .rfind(|character: char| !character.is_alphanumeric() && character != '.')
        .map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
    let word = &before[from..];
    let is_initial = word
        .rsplit('.')
        .next()
        .is_some_and(|last| last.chars().count() == 1 && last.chars().all(char::is_uppercase));
    !is_initial && !ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Whether this character ends a line or a sentence by itself.
pub(super) fn ends_at(character: char) -> bool {
    matches!(character, '\n' | '。' | '！' | '？')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_ends_at_mark_not_abbreviation() {
        for (text, expected) in [
            ("Take two tablets.", true),
            ("Really?", true),
            ("He said \"yes.\"", true),
            ("(Fine.)", true),
            ("Her score is 7.", true),
            ("Call Dr.", false),
            ("Ask J.", false),
            ("J.R.", false),
            ("12 Elm St.", false),
            ("two tablets", false),
            ("e.g.", false),
            (".", true),
            ("", false),
        ] {
            assert_eq!(ends_sentence(text), expected, "{text}");
        }
    }
}
