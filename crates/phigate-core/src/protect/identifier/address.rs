//! Street addresses: abbreviations are written out, and the street line is stored for the whole address.

use super::{without_apostrophes, words};

/// Words of addresses and their abbreviations, as the postal service writes them. The words that can end a street line
/// come first.
const STREETS: &[(&str, &[&str])] = &[
    ("avenue", &["ave", "av"]),
    ("boulevard", &["blvd"]),
    ("circle", &["cir"]),
    ("court", &["ct"]),
    ("cove", &["cv"]),
    ("crescent", &["cres"]),
    ("drive", &["dr"]),
    ("expressway", &["expy"]),
    ("freeway", &["fwy"]),
    ("highway", &["hwy"]),
    ("lane", &["ln"]),
    ("parkway", &["pkwy", "pky"]),
    ("place", &["pl"]),
    ("plaza", &["plz"]),
    ("road", &["rd"]),
    ("square", &["sq"]),
    ("street", &["st", "str"]),
    ("terrace", &["ter", "terr"]),
    ("trail", &["trl"]),
    ("turnpike", &["tpke"]),
    ("way", &["wy"]),
];
const OTHERS: &[(&str, &[&str])] = &[
    ("apartment", &["apt"]),
    ("building", &["bldg"]),
    ("east", &["e"]),
    ("floor", &["fl"]),
    ("fort", &["ft"]),
    ("mount", &["mt"]),
    ("north", &["n"]),
    ("northeast", &["ne"]),
    ("northwest", &["nw"]),
    ("room", &["rm"]),
    ("saint", &["st"]),
    ("south", &["s"]),
    ("southeast", &["se"]),
    ("southwest", &["sw"]),
    ("suite", &["ste"]),
    ("west", &["w"]),
];
const STATES: &[(&str, &str)] = &[
    ("alabama", "al"),
    ("alaska", "ak"),
    ("arizona", "az"),
    ("arkansas", "ar"),
    ("california", "ca"),
    ("colorado", "co"),
    ("connecticut", "ct"),
    ("delaware", "de"),
    ("florida", "fl"),
    ("georgia", "ga"),
    ("hawaii", "hi"),
    ("idaho", "id"),
    ("illinois", "il"),
    ("indiana", "in"),
    ("iowa", "ia"),
    ("kansas", "ks"),
    ("kentucky", "ky"),
    ("louisiana", "la"),
    ("maine", "me"),
    ("maryland", "md"),
    ("massachusetts", "ma"),
    ("michigan", "mi"),
    ("minnesota", "mn"),
    ("mississippi", "ms"),
    ("missouri", "mo"),
    ("montana", "mt"),
    ("nebraska", "ne"),
    ("nevada", "nv"),
    ("new hampshire", "nh"),
    ("new jersey", "nj"),
    ("new mexico", "nm"),
    ("new york", "ny"),
    ("north carolina", "nc"),
    ("north dakota", "nd"),
    ("ohio", "oh"),
    ("oklahoma", "ok"),
    ("oregon", "or"),
    ("pennsylvania", "pa"),
    ("rhode island", "ri"),
    ("south carolina", "sc"),
    ("south dakota", "sd"),
    ("tennessee", "tn"),
    ("texas", "tx"),
    ("utah", "ut"),
    ("vermont", "vt"),
    ("virginia", "va"),
    ("washington", "wa"),
    ("west virginia", "wv"),
    ("wisconsin", "wi"),
    ("wyoming", "wy"),
];
/// The longest abbreviation.
const SHORT_MAX: usize = 4;
/// Words after which a unit follows.
const UNITS: [&str; 6] = ["apartment", "suite", "unit", "floor", "room", "building"];

pub(super) fn stored(text: &str) -> Vec<String> {
    let text = spoken(text);
    let whole = written_out(&text);
    match street_line(&whole) {
        Some(line) if line.len() < whole.len() => vec![whole.concat(), line.concat()],
        _ => vec![whole.concat()],
    }
}

pub(super) fn tried(text: &str) -> Option<Vec<String>> {
    let text = spoken(text);
    let whole = written_out(&text);
    let has_number = whole
        .iter()
        .any(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let has_word = whole
        .iter()
        .any(|word| word.chars().filter(|letter| letter.is_alphabetic()).count() > 1);
    if !has_number || !has_word || whole.len() < 2 {
        return None;
    }
    let mut forms = vec![whole.concat(), shortened(&whole)];
    if let Some(line) = street_line(&whole) {
        forms.extend([line.concat(), shortened(line)]);
    }
    Some(forms)
}

/// The text with signs written as words.
fn spoken(text: &str) -> String {
    let text = without_apostrophes(text);
    text.replace('#', " unit ").replace("p.o.", "po")
}

/// The words with every abbreviation written out, except states, which are usually abbreviated.
fn written_out(text: &str) -> Vec<&str> {
    let mut given = words(text).peekable();
    let mut out: Vec<&str> = Vec::new();
    let mut in_street = true;
    while let Some(word) = given.next() {
        in_street = in_street && street_line(&out).is_none();
        // Some streets are named after states; a state comes after the street line only.
        if !in_street {
            if let Some(short) = given.peek().and_then(|next| state_of_two(word, next)) {
                given.next();
                out.push(short);
                continue;
            }
            if let Some(short) = state(word) {
                out.push(short);
                continue;
            }
        }
        let long = long_form(word, in_street && !out.is_empty());
        // `Apt #4` and `Apt 4` are the same.
        let is_said = long == "unit" && out.last().is_some_and(|last| UNITS.contains(last));
        if !is_said {
            out.push(long);
        }
    }
    out
}

/// A state's abbreviation.
fn state(name: &str) -> Option<&'static str> {
    let row = STATES.iter().find(|(long, _)| *long == name);
    row.map(|(_, short)| *short)
}

/// The abbreviation of a state with a name of two words.
fn state_of_two(one: &str, other: &str) -> Option<&'static str> {
    let is_name = |long: &str| long.split_once(' ') == Some((one, other));
    // The length is compared first, because it rules out most names.
    let length = one.len() + 1 + other.len();
    let row = STATES
        .iter()
        .find(|(long, _)| long.len() == length && is_name(long));
    row.map(|(_, short)| *short)
}

/// The long form of a word. `in_street`: after a house number, before the type of street.
fn long_form(word: &str, in_street: bool) -> &str {
    if word.len() > SHORT_MAX {
        return word;
    }
    let find = |table: &[(&'static str, &[&str])]| {
        let row = table.iter().find(|(_, shorts)| shorts.contains(&word));
        row.map(|(long, _)| *long)
    };
    let street = if in_street { find(STREETS) } else { None };
    // After the street line, `CT` and `FL` are states.
    let is_state = !in_street && STATES.iter().any(|(_, short)| *short == word);
    if is_state {
        return word;
    }
    street.or_else(|| find(OTHERS)).unwrap_or(word)
}

fn shortened(parts: &[&str]) -> String {
    let short = |word: &&'_ str| {
        let row = STREETS.iter().chain(OTHERS).find(|(long, _)| long == word);
        row.and_then(|(_, shorts)| shorts.first().copied())
    };
    parts
        .iter()
        .map(|word| short(word).unwrap_or(word))
        .collect()
}

/// House number, street and type of street, with a direction after it; or a post office box.
fn street_line<'p, 't>(parts: &'p [&'t str]) -> Option<&'p [&'t str]> {
    let is_number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    if let ["po", "box", number, ..] = parts
        && is_number(number)
    {
        return parts.get(..3);
    }
    if !parts.first().is_some_and(is_number) {
        return None;
    }
    let is_kind = |word: &&str| STREETS.iter().any(|(long, _)| long == word);
    // The last type of street before a unit or the city: `12 Park Avenue`, `9 Court Street`.
    let kinds = parts
        .iter()
        .enumerate()
        .skip(2)
        .filter(|(_, word)| is_kind(word));
    let (mut end, _) = kinds.take(2).fold((0, 0), |(end, before), (at, _)| {
        if before == 0 || at == before + 1 {
            (at + 1, at)
        } else {
            (end, before)
        }
    });
    if end == 0 {
        return None;
    }
    let directions = [
        "north",
        "south",
        "east",
        "west",
        "northeast",
        "northwest",
        "southeast",
        "southwest",
    ];
    if parts.get(end).is_some_and(|word| directions.contains(word)) {
        end += 1;
    }
    parts.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_fit_the_maximum_length() {
        let mut shorts = STREETS.iter().chain(OTHERS).flat_map(|(_, shorts)| *shorts);
        assert!(shorts.all(|short| short.len() <= SHORT_MAX));
        assert!(STATES.iter().all(|(_, short)| short.len() <= SHORT_MAX));
    }
}
