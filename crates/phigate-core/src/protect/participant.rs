//! Names of people written as names of programs: `Maria_Delgado`, `john.smith`, `MariaDelgado`.
//!
//! OpenAI's `name` of a participant allows no spaces, and ids of end users seldom have any. So
//! people's names stand there joined, and a detector that reads text takes them for one word. Here
//! the words are taken apart and read as the name field that they are. `weather_agent` and
//! `data-analyst` stand in the same places: words of programs are no names.

use std::ops::Range;

use phi_detect::{Detector, PhiKind};

use crate::chat;
use crate::json::Value;

/// A name in an identifier.
pub(super) struct JoinedName {
    pub(super) kind: PhiKind,
    pub(super) span: Range<usize>,
    pub(super) score: f32,
}

/// The rule of such findings.
pub(super) const RULE: &str = "name.joined";

/// Longer identifiers are generated.
const LONGEST_BYTES: usize = 64;

/// Two words with nothing around them: whoever calls them a name must be sure.
const LEAST_SCORE: f32 = 0.75;

/// A title needs one word after it.
const TITLES: &[&str] = &["doctor", "dr", "miss", "mr", "mrs", "ms", "prof"];

/// What programs, their parts and their accounts are called, and the houses that are named after people.
const PROGRAM_WORDS: &str = "admin agent agents ai alert analyst api app assistant bot center centre chat ci clinic code \
    coder college coordinator core critic customer demo dept desk dev developer editor evaluator \
    example executor expert function gpt guest health helper hospital human job lab labs las lead \
    llm loma los manager medical member memorial metrics model mount office operator orchestrator \
    pharmacy planner prod proxy report reviewer role router runner saint san santa school server \
    service session st stage student summarizer supervisor system teacher team tenant test tester \
    tokens tool translator triage tutor university user worker writer";

/// What follows the name of a town.
const PLACE_CODES: &str = "al ak az ar ca co ct de fl ga hi id il ia ks ky me md mi mn ms mo mt ne nv nh nj nm ny nc nd oh \
    ok or pa ri sc sd tn tx ut vt va wa wv wi wy au uk us eu";

/// Whether people's names are written joined in such a place: the name of a participant, the id of an end user.
pub(super) fn is_place_of_joined_names(value: &Value<'_>) -> bool {
    let Some(key) = value.key().and_then(|key| key.string()) else {
        return false;
    };
    match key.as_ref() {
        "name" => chat::is_participant(value),
        "user" | "safety_identifier" => value
            .parent()
            .is_some_and(|holder| holder.parent().is_none()),
        _ => false,
    }
}

/// The name of a person in an identifier without spaces.
pub(super) fn find(detector: &Detector, text: &str) -> Option<JoinedName> {
    if text.len() > LONGEST_BYTES || text.contains(char::is_whitespace) {
        return None;
    }
    let words = words(text);
    let is_one_of = |list: &str, word: &Range<usize>| {
        let word = text[word.clone()].to_lowercase();
        list.split(' ').any(|one| one == word)
    };
    let is_program = words.iter().any(|word| is_one_of(PROGRAM_WORDS, word));
    let is_town = words
        .last()
        .is_some_and(|last| is_one_of(PLACE_CODES, last));
    if words.len() < 2 || words.iter().all(|word| word.len() == 1) || is_program || is_town {
        return None;
    }
    let mut spaced = String::new();
    let mut starts = Vec::new();
    for word in &words {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        starts.push(spaced.len());
        push_capitalised(&mut spaced, &text[word.clone()]);
    }
    let findings = detector.scan_field("name", &spaced);
    let has_title = TITLES.contains(&text[words[0].clone()].to_lowercase().as_str());
    let name = findings.iter().find(|finding| {
        finding.kind.code() == "name"
            && finding.score >= LEAST_SCORE
            && (has_title || spaced[finding.span.clone()].contains(' '))
    })?;
    let first = starts.partition_point(|&start| start <= name.span.start) - 1;
    let last = starts.partition_point(|&start| start < name.span.end) - 1;
    Some(JoinedName {
        kind: name.kind,
        span: words[first].start..words[last].end,
        score: name.score,
    })
}

/// The words of an identifier: runs of letters, cut where a capital follows a small letter.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let goes_on = before.is_some_and(|before: char| {
            before.is_alphabetic() && !(before.is_lowercase() && character.is_uppercase())
        });
        if character.is_alphabetic() {
            match words.last_mut().filter(|_| goes_on) {
                Some(word) => word.end = end,
                None => words.push(at..end),
            }
        }
        before = Some(character);
    }
    words
}

fn push_capitalised(out: &mut String, word: &str) {
    let mut characters = word.chars();
    if let Some(first) = characters.next() {
        out.extend(first.to_uppercase());
        out.push_str(characters.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let name = find(&Detector::default(), text)?;
        Some(&text[name.span])
    }

    #[test]
    fn names_of_people_are_found_however_they_are_joined() {
        for text in [
            "Maria_Delgado",
            "maria_delgado",
            "John.Smith",
            "john-smith",
            "MariaDelgado",
            "Priya_Raghunathan",
            "Nguyen_Van_An",
            "delgado.maria",
            "john_west",
        ] {
            assert_eq!(found(text), Some(text));
        }
        assert_eq!(found("maria_delgado_1970"), Some("maria_delgado"));
        assert_eq!(found("patient-jane-roe"), Some("jane-roe"));
        assert_eq!(found("Dr_Patel"), Some("Patel"));
    }

    #[test]
    fn names_of_programs_are_no_names() {
        for text in [
            "weather_agent",
            "data-analyst",
            "get_patient",
            "GetPatient",
            "planner_agent",
            "PlannerAgent",
            "code_reviewer",
            "triage_nurse",
            "user_1",
            "user-proxy",
            "example_user",
            "support-bot",
            "sales_manager",
            "project.manager",
            "web_surfer",
            "max_tokens",
            "alice",
            "Bob",
            "gpt-4o",
            "claude-code",
            "intake_form",
            "research_assistant",
            "red-team",
            "python_expert",
            "lookup",
            "call_center",
            "order.status",
            "new_york",
            "charlotte_nc",
            "san-francisco",
            "grady_memorial",
            "jenkins_ci",
            "[NAME]",
            "[NAME]_2",
            "team_alpha",
            "billing_agent",
            "grace_agent",
            "user_8f3a2c",
            "a.b.c",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
