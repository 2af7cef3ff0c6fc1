//! Files that are read and refused, and what a roster finds.

use std::collections::HashSet;

use super::*;

const MAP: &str = "given=given,family=family,dob=dob,mrn=mrn,phone=phone,email=email";
const FILE: &str = "given,family,dob,mrn,phone,email
Jordan,River,1950-11-04,QZ884172,206-555-0142,jr@post.example
Glen,Canyon,1961-02-03,QZ551908,206-555-0177,gc@post.example
Mary Ann,de la Cruz,,,,
Sean,O'Brien,,,,
";

/// Codes as plain text, for looking at.
fn roster(file: &str, map: &str) -> Result<Roster, WrongRoster> {
    let mut codes = HashSet::new();
    let columns = Columns::read(map)?;
    read_patients(file.as_bytes(), &columns, &mut |words| {
        codes.insert(words.join("\0"));
    })?;
    Ok(Roster::new(move |words| codes.contains(&words.join("\0"))))
}

fn found(text: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let roster = roster(FILE, MAP).unwrap();
    roster.find(text, &|| true, &mut |extra| {
        found.push((extra.kind.code(), extra.span.start, extra.span.end));
    });
    // The detector unites overlapping findings of a kind.
    found.sort_unstable_by_key(|(_, start, end)| (*start, std::cmp::Reverse(*end)));
    found.dedup_by(|later, earlier| later.2 <= earlier.2);
    let found = found.into_iter();
    found
        .map(|(kind, start, end)| (kind, text[start..end].to_owned()))
        .collect()
}

fn names(text: &str) -> Vec<String> {
    found(text).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn whole_names_are_found_in_either_order() {
    for name in [
        "Jordan River",
        "River, Jordan",
        "jordan river",
        "JORDAN\nRIVER",
        "Glen Canyon",
        "Mary Ann de la Cruz",
        "de la Cruz, Mary Ann",
        "Sean O’Brien",
        "SEAN OBRIEN",
    ] {
        assert_eq!(names(&format!("Then {name} was first.")), [name]);
    }
}

#[test]
fn parts_of_names_alone_are_not_found() {
    for text in [
        "The River folder is on the desk.",
        "Jordan is on the list.",
        "Then Jordan Canyon was first.",
        "The Riverside list and the Jordans are here.",
        "the river of the jordan valley",
        "Mary Ann said so. La Cruz, too.",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn surname_is_found_near_its_patients_values() {
    for (text, wanted) in [
        (
            "The River folder, dated 1950-11-04, is here.",
            ["River", "1950-11-04"],
        ),
        (
            "River, born November 4, 1950",
            ["River", "November 4, 1950"],
        ),
        ("born 11/04/1950: RIVER", ["11/04/1950", "RIVER"]),
        (
            "Call (206) 555-0142 and ask for River",
            ["206) 555-0142", "River"],
        ),
        ("River (+1 206 555 0142)", ["River", "1 206 555 0142"]),
        ("River came late. Later Jordan came.", ["River", "Jordan"]),
        ("Take QZ884172, the River folder.", ["QZ884172", "River"]),
    ] {
        assert_eq!(names(text), wanted, "{text}");
    }
    let far = format!("River {} 1950-11-04", "x ".repeat(120));
    assert_eq!(found(&far), []);
    assert_eq!(found("Canyon, dated 1950-11-04"), []);
}

#[test]
fn record_number_and_mail_are_found_alone() {
    let text = "QZ884172, qz 551908, JR@Post.Example. Not QZ8841723, x-jr@post.example";
    let wanted = [
        ("mrn", "QZ884172"),
        ("mrn", "qz 551908"),
        ("email", "JR@Post.Example"),
    ];
    let wanted = wanted.map(|(kind, value)| (kind, value.to_owned()));
    assert_eq!(found(text), wanted);
}

#[test]
fn files_are_read_in_usual_forms() {
    for (file, map) in [
        (
            "given,family\n\"Jordan\",\"River\"\n",
            "given=given,family=family",
        ),
        (
            "given,family\r\nJordan,River\r\n",
            "given=given,family=family",
        ),
        (
            "\u{feff}given,family\nJordan,River",
            "given=given,family=family",
        ),
        (
            "id;Vorname;Nachname\n7;Jordan;River\n",
            "given=Vorname,family=Nachname",
        ),
        (
            "family,given,note\nRiver,Jordan,\"a, \"\"b\"\"\nc\"\n",
            "given=given,family=family",
        ),
        (
            "given,family\n  Jordan , River \n,\n\n",
            "given=given,family=family",
        ),
    ] {
        let roster = roster(file, map).unwrap();
        let mut count = 0;
        roster.find("Jordan River", &|| true, &mut |_| count += 1);
        assert!(count > 0, "{file}");
    }
}

#[test]
fn wrong_files_name_line_or_column() {
    for (file, map, named) in [
        (
            "given,family\nJordan,River\n",
            "given=given,family=surname",
            "surname",
        ),
        (
            "given,family\nJordan,River\n",
            "given=given,ssn=family",
            "ssn",
        ),
        ("given,family\nJordan,River\n", "given=given", "family"),
        ("given,family\nJordan,River\n", "", "FIELD"),
        (
            "given,family\nJordan,River\n",
            "given=given,given=family",
            "twice",
        ),
        ("", "given=given,family=family", "line 1"),
        ("given,family\n", "given=given,family=family", "line 2"),
        (
            "given,family\nJordan,River\nJordan\n",
            "given=given,family=family",
            "line 3",
        ),
        (
            "given,family\n\"Jordan,River\n",
            "given=given,family=family",
            "line 2",
        ),
        (
            "given,family\n\"Jordan\"x,River\n",
            "given=given,family=family",
            "line 2",
        ),
        (
            "given,family\nJordan,\n",
            "given=given,family=family",
            "line 2",
        ),
        (
            "family,dob\n\nRiver,Jordan\n",
            "family=family,dob=dob",
            "line 3: dob",
        ),
        (
            "family,mrn\nRiver,Jordan\n",
            "family=family,mrn=mrn",
            "line 2: mrn",
        ),
        (
            "family,phone\nRiver,55\n",
            "family=family,phone=phone",
            "line 2: phone",
        ),
        (
            "family,email\nRiver,Jordan\n",
            "family=family,email=email",
            "line 2: email",
        ),
    ] {
        let error = roster(file, map).unwrap_err().to_string();
        assert!(
            error.contains(named) && !error.contains("Jordan"),
            "{error}"
        );
    }
    let columns = Columns::read("family=family").unwrap();
    let error = read_patients(b"family\nR\xff\n", &columns, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "line 2: is not UTF-8");
}
