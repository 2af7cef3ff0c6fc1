//! Names of people, by the words around them.
//!
//! Titles, labels and family words announce a name; a known given name followed by
//! another capitalised word is one by itself. The name model adds what no rule sees.

mod nobody;

use std::ops::Range;

use super::{Collector, Finder};
use crate::labels::Meaning;
use crate::lexicon::{LEXICON, Sense};
use crate::names;
use crate::page::{Label, Page};
use crate::people::{self, Cue, Name};
use crate::word_list::WordList;
use nobody::FACULTIES;

pub(super) static FINDER: Finder = Finder {
    joins: |_, between, _| between == " ",
    find,
    beside: super::no_neighbour,
    among: None,
    complete: |page, span| people::extend(page, people::fit(page, span)),
    contradicts: nobody::contradicts,
};

/// Senses of words that a name may be beside.
const TELLING: Sense = Sense(
    Sense::TITLE.0
        | Sense::ROLE.0
        | Sense::DEGREE.0
        | Sense::KIN.0
        | Sense::CODE.0
        | Sense::AT.0
        | Sense::GIVEN.0,
);

fn find(page: &Page<'_>, out: &mut Collector<'_>) {
    let marks = page.each_mark().map(|index| page.marks[index]);
    for mark in marks.filter(|mark| mark.sense.has(TELLING)) {
        let (start, end) = (mark.start as usize, mark.end as usize);
        if mark.sense.has(Sense::TITLE)
            && let Some(name) = after_title(page, start, end)
        {
            out.push(name.span, 0.93, "name.title");
        }
        if mark.sense.has(Sense::ROLE)
            && let Some((span, score)) = after_role(page, start, end)
        {
            out.push(span, score, "name.role");
        }
        if mark.sense.has(Sense::DEGREE)
            && let Some(span) = people::name_before_degree(page, start)
        {
            out.push(span, 0.85, "name.degree");
        }
        if mark.sense.has(Sense::KIN)
            && let Some(name) = after_kin(page, start, end)
        {
            out.push(name.span, 0.75, "name.family");
        }
        if mark.is_code()
            && let Some(span) = people::before_age(page, mark)
        {
            out.push(span, 0.76, "name.list");
        }
        if mark.sense.has(Sense::AT)
            && let Some(span) = people::display_name_before(page, start)
        {
            out.push(span, 0.85, "name.mailbox");
        }
        if mark.sense.has(Sense::GIVEN)
            && let Some((span, score, rule)) = round_given_name(page, start)
        {
            out.push(span, score, rule);
        }
    }
    for label in &page.labels {
        if matches!(label.meaning, Meaning::Name | Meaning::NameMaybe)
            && let Some((span, score)) = after_label(page, label)
        {
            out.push(span, score, "name.labelled");
        }
    }
    for span in people::spelled_out(page) {
        out.push(span, 0.76, "name.spelled");
    }
    for span in people::in_letters(page, names::is_only_a_name, names::is_ordinary) {
        out.push(span, 0.76, "name.letter");
    }
    for span in people::after_departments(page, names::is_ordinary) {
        out.push(span, 0.76, "name.aside");
    }
    in_fields(page, out);
}

/// Finds further mentions of people that the text names with some certainty.
pub(crate) fn find_again(page: &Page<'_>, known: &[Range<usize>], out: &mut Collector<'_>) {
    for span in people::again(page, known, names::is_ordinary) {
        out.push(span, 0.6, "name.repeated");
    }
}

/// Finds people who speak in a chat or sign with initials, in a text with known names.
pub(crate) fn find_speakers(page: &Page<'_>, known: &[Range<usize>], out: &mut Collector<'_>) {
    for span in people::speakers(page, known, names::is_ordinary) {
        out.push(span, 0.6, "name.speaker");
    }
    for span in people::initials_below(page) {
        if !known.is_empty() {
            out.push(span, 0.6, "name.initials");
        }
    }
}

/// Finds people in the beds of a list with known names.
pub(crate) fn find_beds(page: &Page<'_>, known: &[Range<usize>], out: &mut Collector<'_>) {
    for span in people::in_beds(page, known) {
        out.push(span, 0.6, "name.bed");
    }
}

/// Maximum distance between the parts of a name in data.
const FIELD_GAP_BYTES_MAX: usize = 40;

fn in_fields(page: &Page<'_>, out: &mut Collector<'_>) {
    let fields = page.memory().collect(page.fields_of(Meaning::Name));
    for (index, (span, value)) in fields.iter().cloned().enumerate() {
        // `"given":["Jane","Q"]` has an initial, `"patient":"x"` a variable.
        let is_part = value.len() > 1
            || index.checked_sub(1).is_some_and(|before| {
                let before = &fields[before];
                before.1.len() > 1 && span.start - before.0.end <= FIELD_GAP_BYTES_MAX
            });
        if is_part && people::is_name_value(value) {
            let name = people::without_title(page, span);
            // In messages the whole component is the name, degrees included.
            let name = if value.contains(&b'^') {
                name
            } else {
                people::fit(page, name)
            };
            out.push(name, 0.95, "name.field");
        }
    }
    for (span, _) in page.fields_of(Meaning::NameMaybe) {
        let name = people::name_at(page, span.start, Cue::Given);
        if name.is_some_and(|name| name.span == span && name.words >= 2 && name.known >= 1) {
            out.push(span, 0.75, "name.field");
        }
    }
}

/// Returns the name after a title (`Dr. Newman`).
fn after_title(page: &Page<'_>, start: usize, end: usize) -> Option<Name> {
    let title = page.slice(start..end);
    let has_dot = page.byte(end) == b'.';
    let is_short = title.len() <= 4;
    // "MS" is a disease, "MR" an image and "general" an adjective; a title is written like one.
    // "HR" and "PR" are measured.
    let is_written_as_title = match (title[0].is_ascii_uppercase(), has_dot) {
        (true, true) => is_short && !matches!(title, b"Sir" | b"Miss" | b"HR" | b"PR"),
        (true, false) => !matches!(title, b"MS" | b"MR" | b"HR" | b"PR" | b"Hr"),
        (false, true) => matches!(title, b"dr" | b"mr" | b"mrs" | b"ms" | b"dra"),
        (false, false) => matches!(
            title,
            b"dr" | b"mr" | b"mrs" | b"doctor" | b"nurse" | b"senhor" | b"senhora"
        ),
    };
    // A credential follows a name, and may end the sentence ("Ana Roe, NP. Reachable at").
    let is_credential = LEXICON.sense(title).has(Sense::CREDENTIAL)
        && !title.eq_ignore_ascii_case(b"ms")
        && (has_dot || page.slice(start.saturating_sub(2)..start) == b", ");
    if !is_written_as_title
        || is_credential
        || matches!(page.byte_before(start), b'-' | b'/' | b'\'')
    {
        return None;
    }
    // "a 10 Fr Cook catheter" is so thick.
    let is_gauge = title.eq_ignore_ascii_case(b"fr")
        && matches!(page.slice(start.saturating_sub(2)..start), [digit, b' '] if digit.is_ascii_digit());
    if is_gauge {
        return None;
    }
    // "for relapsing MS. Patients": the disease ends the sentence.
    let before = page.slice(start.saturating_sub(2)..start);
    let ends_sentence = title == b"MS"
        && has_dot
        && matches!(before, [letter, b' '] if letter.is_ascii_lowercase())
        && page.byte(end + 3).is_ascii_lowercase();
    if ends_sentence {
        return None;
    }
    let after = after_faculty(page, end + usize::from(has_dot));
    // One space: redaction leaves two at the position of a name.
    if page.byte(after) != b' ' {
        return None;
    }
    let is_lower = title[0].is_ascii_lowercase() && is_short;
    let cue = if is_lower {
        Cue::LowerTitle
    } else {
        Cue::Title
    };
    // "0B1,Col. Dyke,Bethel,ME": in a row of data a rank is more often the name of a place.
    let is_rank = !matches!(
        title,
        b"Dr" | b"Mr" | b"Mrs" | b"Ms" | b"DR" | b"MR" | b"MRS" | b"Prof"
    );
    people::name_at(page, after + 1, cue)
        .filter(|name| !is_rank || !people::is_in_code(page, &name.span))
        .filter(|name| !is_item(page, title, name))
}

/// Returns the end of the faculty behind a title ("Dr. med. Weiss", "dr. hab. Nowak").
fn after_faculty(page: &Page<'_>, title_end: usize) -> usize {
    let mut at = title_end;
    for _ in 0..2 {
        match page.word_end_at(at + 1) {
            Some(end)
                if page.byte(at) == b' '
                    && page.byte(end) == b'.'
                    && FACULTIES.contains(&page.slice(at + 1..end)) =>
            {
                at = end + 1;
            }
            _ => break,
        }
    }
    at
}

/// Whether a title and an ordinary word, both in capitals, are an item of a list ("PROF FEE").
fn is_item(page: &Page<'_>, title: &[u8], name: &Name) -> bool {
    let text = page.text.get(name.span.clone()).unwrap_or_default();
    let is_shouted = |text: &[u8]| text.len() > 2 && text.iter().all(u8::is_ascii_uppercase);
    name.words == 1
        && name.known == 0
        && is_shouted(title)
        && is_shouted(text.as_bytes())
        && names::is_ordinary(text)
        && !names::is_only_a_name(text)
}

/// Returns the name after a role or a greeting (`interpreter Nguyen Van An`, `Hi Jennifer,`).
fn after_role(page: &Page<'_>, start: usize, end: usize) -> Option<(Range<usize>, f32)> {
    if page.byte(end) != b' ' {
        return None;
    }
    let is_greeting = [b"hi".as_slice(), b"hello", b"dear"]
        .iter()
        .any(|word| page.slice(start..end).eq_ignore_ascii_case(word));
    let name = people::name_at(page, end + 1, Cue::Weak)?;
    // "Dear Colleague," greets any reader.
    let is_anyone = LEXICON
        .sense(page.slice(name.span.clone()))
        .has(Sense::KIN | Sense::ROLE | Sense::TITLE);
    // "Hello World!" does not greet a person.
    let is_world = page.slice(name.span.clone()).eq_ignore_ascii_case(b"world");
    if is_greeting && (is_anyone || is_world) {
        return None;
    }
    let is_addressed = matches!(page.byte(name.span.end), b',' | b'!' | b'\n');
    let is_likely = if is_greeting {
        name.known > 0 || is_addressed
    } else {
        name.words >= 2
    };
    let is_shouted = page.slice(start..end).iter().all(u8::is_ascii_uppercase) && end - start > 3;
    (is_likely && !is_shouted).then_some((name.span, 0.75))
}

/// Returns the name after a relative (`my husband Kimberly`, `aunt Brenda Smith`, `Baby boy Hernandez`, `brother -
/// Dwayne`).
fn after_kin(page: &Page<'_>, start: usize, end: usize) -> Option<Name> {
    let rest = page.slice(end..page.text.len().min(end + 6));
    if page.slice(start..end).eq_ignore_ascii_case(b"baby") {
        let sex = [b" boy ".as_slice(), b" girl ", b" Boy ", b" Girl "];
        if let Some(sex) = sex.iter().find(|sex| rest.starts_with(sex)) {
            return people::name_at(page, end + sex.len(), Cue::Weak);
        }
    }
    let gap = [b" - ".as_slice(), b": ", b", ", b" (", b" "]
        .into_iter()
        .find(|gap| rest.starts_with(gap))?;
    let is_baby = page.slice(start..end) == b"Baby";
    // "unser Sohn Jonas": German writes every noun with a capital, but no sentence opens there.
    let is_inside =
        page.byte_before(start) == b' ' && start >= 2 && page.byte(start - 2).is_ascii_lowercase();
    let may_open = !page.byte(start).is_ascii_lowercase() && !is_baby && !is_inside;
    let name = people::name_at(page, end + gap.len(), Cue::Weak)?;
    let (sense, first_end) = page.word_at(name.span.start)?;
    if gap == b" " && may_open {
        // "Sohn Jens called": at the start of a sentence only a known given name is one.
        let goes_on = page.byte(first_end) == b' ' && page.byte(first_end + 1).is_ascii_lowercase();
        let word = page
            .text
            .get(name.span.start..first_end)
            .unwrap_or_default();
        let is_known = sense == Sense::GIVEN || names::is_only_a_name(word);
        return (is_known && goes_on).then_some(name);
    }
    // "her aunt Grace", but not "her aunt May 3": a word that is a given name as well.
    let is_word = gap == b" "
        && sense.has(Sense::GIVEN_WORD)
        && !sense.has(Sense::MONTH)
        && !page.byte(start).is_ascii_uppercase()
        && !page
            .slice(start.saturating_sub(5)..start)
            .eq_ignore_ascii_case(b"dear ");
    let is_plain = gap == b" " && name.words >= 2;
    // A capital that the sentence does not need, on a word without another meaning ("spokesman is uncle Fetu").
    let is_strange = gap == b" "
        && page.byte(start).is_ascii_lowercase()
        && page.byte(name.span.start + 1).is_ascii_lowercase()
        && page
            .text
            .get(name.span.clone())
            .is_some_and(|word| !names::is_ordinary(word));
    (name.known > 0 || is_plain || is_word || is_strange).then_some(name)
}

/// Returns the name after a label (`Patient: Jane Roe`, `Patient Jane Roe`, `name is jane roe`).
fn after_label(page: &Page<'_>, label: &Label) -> Option<(Range<usize>, f32)> {
    let place = label.start as usize..label.end as usize;
    if is_of_code(page, &place) {
        return None;
    }
    let (start, is_explicit) = people::value_start(page, place.clone())?;
    if let Some(span) = people::initials_at(page, &place, start) {
        return Some((span, 0.76));
    }
    if people::is_type_word(page, start) {
        return None;
    }
    let last_word = page.word_before(place.end);
    let calls_it_name = last_word.is_some_and(|(_, at)| calls_name(page.slice(at..place.end)));
    if !is_explicit {
        let is_role = last_word.is_some_and(|(sense, _)| sense.has(Sense::ROLE));
        if !is_role && !calls_it_name {
            return None;
        }
        let cue = if calls_it_name { Cue::Title } else { Cue::Weak };
        let name = people::name_at(page, start, cue)?;
        return is_plainly_named(page, place, is_role, &name).then_some((name.span, 0.75));
    }
    let name = people::name_at(page, start, Cue::Label)?;
    if people::is_identifier(page, &name.span) {
        return None;
    }
    // `displayName="SYRUP"`: what data call a name is a person's only if it reads like one.
    let is_of_data = match label.meaning {
        Meaning::NameMaybe => people::is_in_data(page, &place, start),
        // "data-patient: …".
        _ => page.byte_before(place.start) == b'-',
    };
    if is_of_data {
        let is_person = name.words >= 2 && name.known > 0 && name.is_capital;
        return is_person.then_some((name.span, 0.8));
    }
    let is_field_of_a_form = people::ends_like_a_field(page, name.span.end);
    // `name: Docker` heads a file of settings; on a form one writes "Name".
    let is_of_file = page.slice(place.clone()) == b"name" && name.words == 1 && name.known == 0;
    if is_of_file || is_of_package(page, place, name.span.end) {
        return None;
    }
    let is_likely = match (name.is_capital, name.words) {
        (true, 2..) => name.known > 0 || is_field_of_a_form,
        (true, _) => {
            name.known > 0 && is_field_of_a_form
                || calls_it_name
                || is_field_of_a_form
                    && name.span.len() > 3
                    && label.meaning == Meaning::Name
                    && !opens_a_turn(page, label)
        }
        (false, _) => {
            calls_it_name && (name.known > 0 || name.has_comma)
                || name.known > 0 && name.words >= 2 && is_field_of_a_form
        }
    };
    is_likely.then_some((name.span, 0.9))
}

/// Whether a label is a word of a program (`use nom::multi`, `node.parent === Base`, `font-family: Menlo`).
fn is_of_code(page: &Page<'_>, label: &Range<usize>) -> bool {
    let rest = page.slice(label.end..page.text.len().min(label.end + 7));
    let is_path = rest.starts_with(b"::") && rest.get(2).is_some_and(|byte| *byte != b' ');
    // `name == "Jane Roe"` has a name.
    let is_compared = rest.trim_ascii_start().starts_with(b"==")
        && !rest.iter().any(|byte| matches!(byte, b'"' | b'\''));
    let before = page.slice(label.start.saturating_sub(5)..label.start);
    let is_of_font =
        matches!(before, [font @ .., b'-' | b'_' | b' '] if font.eq_ignore_ascii_case(b"font"));
    // `-Name SeDebugPrivilege`: an option of a command.
    let is_option = before.ends_with(b" -") && rest.starts_with(b" ");
    // What a tag holds is read with the other tags.
    let is_tag = page.byte_before(label.start) == b'<' && rest.starts_with(b">");
    let is_path = is_path && page.byte(label.start).is_ascii_lowercase();
    is_path || is_compared || is_of_font || is_option || is_tag
}

/// Whether a value describes a package (`Name: zlib`, with the line `Version: 1.3` below it).
fn is_of_package(page: &Page<'_>, label: Range<usize>, value_end: usize) -> bool {
    let rest = page.slice(value_end..page.text.len().min(value_end + 9));
    page.slice(label).eq_ignore_ascii_case(b"name") && rest == b"\nVersion:"
}

/// Whether the last word of a label says that what follows is a name.
fn calls_name(word: &[u8]) -> bool {
    static WORDS: WordList = WordList::new("nombre by nm");
    people::ends_in_name(word) || WORDS.has(word)
}

/// Whether the text behind a label without a sign between them is a name.
fn is_plainly_named(page: &Page<'_>, label: Range<usize>, is_role: bool, name: &Name) -> bool {
    // "gave the patient Protonix": one unknown word after "the patient" is what was given.
    let is_the = page
        .slice(label.start.saturating_sub(4)..label.start)
        .eq_ignore_ascii_case(b"the ");
    let is_heading = page.byte(name.span.end) == b':';
    // "Patient Access Services", "Client Components": two words of one title.
    let text = page.text.get(name.span.clone()).unwrap_or_default();
    let is_ordinary = || {
        let mut words = text.split(' ');
        words.all(|word| names::is_ordinary(word) && !names::is_only_a_name(word))
    };
    let is_alone = name.words == 1 && (is_the || is_heading);
    let is_given = is_role && name.known == 0 && (is_alone || is_ordinary());
    let is_shouted_head =
        name.words == 1 && label.len() > 3 && page.slice(label).iter().all(u8::is_ascii_uppercase);
    !is_given && !is_shouted_head
}

/// Whether the label is a speaker's in a transcript, whose words follow.
fn opens_a_turn(page: &Page<'_>, label: &Label) -> bool {
    let start = label.start as usize;
    let is_first_on_line = start == 0 || page.byte_before(start) == b'\n';
    let word = page.slice(start..label.end as usize);
    is_first_on_line
        && [
            b"patient".as_slice(),
            b"client",
            b"pt",
            b"mother",
            b"father",
            b"parent",
            b"provider",
            b"physician",
            b"spouse",
            b"guardian",
        ]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one))
}

/// Whether the name of a saint is that of a place ("San Antonio", "Santo Tomé").
fn is_of_saint(page: &Page<'_>, start: usize) -> bool {
    static SAINTS: WordList = WordList::new("san santo santa saint sao st");
    let is_saint = |word: &[u8]| SAINTS.has(word);
    let before = start.saturating_sub(1);
    let follows = page.byte(before) == b' '
        && page
            .word_start_before(before)
            .is_some_and(|word| is_saint(page.slice(word..before)));
    let own = page.word_end_at(start).map(|end| page.slice(start..end));
    follows || own.is_some_and(is_saint)
}

/// Returns the name around a given name (`Maria Delgado`, `Delgado, Maria`).
fn round_given_name(page: &Page<'_>, start: usize) -> Option<(Range<usize>, f32, &'static str)> {
    if matches!(page.byte_before(start), b'-' | b'@' | b'.' | b'_') || is_of_saint(page, start) {
        return None;
    }
    let name = people::name_at(page, start, Cue::Given)?;
    if let Some(before) = people::surname_before(page, start) {
        return Some((before..name.span.end, 0.8, "name.last_first"));
    }
    (name.words >= 2 && name.is_capital && !people::is_on_map(page, &name.span)).then_some((
        name.span,
        0.8,
        "name.given",
    ))
}
