//! Addresses in replies, in which nothing is restored: thousands of forms, judged by what browsers, Markdown renderers
//! and chat windows make of the reply. In ordinary texts everything is restored.

use std::sync::Arc;

use crate::reply_support::chance::Chance;
use crate::reply_support::forms::{
    ADDRESSES, AROUND, BETWEEN, GLUED, MARKS, ORDINARY, PLACES, TOKEN,
};
use crate::reply_support::judges::held_in_address;
use crate::reply_support::{Texts, events, play_stream, play_whole};
use phigate_core::reply::{Issued, ReplyRules};
use phigate_core::text::PhiText;
use serde_json::{Value, json};

/// Values of the token: one word, which may be a host or an attribute, and two.
const VALUES: &[&str] = &["Quokka", "Quokka Quokka"];

/// Random replies that are judged.
const SOUPS: usize = 5_000;

/// Word that the judges look for.
const MARK: &str = "quokka";

fn rules(value: &str) -> Arc<ReplyRules> {
    let name = TOKEN.trim_matches(['[', ']']).to_owned();
    Arc::new(ReplyRules {
        issued: Issued::new([(name, PhiText::new(value))]),
        ..ReplyRules::default()
    })
}

fn restored(rules: &Arc<ReplyRules>, text: &str) -> String {
    let (reply, _) = play_whole(rules, &Texts::content(text));
    reply.expect("nothing is withheld").content
}

/// Every place with every address, each with some of the texts that may precede the token; and equally many again with
/// random surroundings.
fn forms() -> Vec<String> {
    let (mut forms, mut chance) = (Vec::new(), Chance(42));
    for place in PLACES {
        for address in ADDRESSES {
            for between in (0..3).map(|_| BETWEEN[chance.next(BETWEEN.len())]) {
                let inside = format!("{address}{between}{TOKEN}");
                forms.push(place.replace("{}", &inside));
            }
        }
    }
    forms.extend(GLUED.iter().map(|form| form.replace("{}", TOKEN)));
    for at in 0..forms.len() {
        let around = |(before, after): &(&str, &str), form: &str| format!("{before}{form}{after}");
        let mut form = forms[at].clone();
        for _ in 0..1 + chance.next(2) {
            form = around(&AROUND[chance.next(AROUND.len())], &form);
        }
        // A bare token is found as well.
        if chance.next(8) == 0 {
            form = form.replace(TOKEN, TOKEN.trim_matches(['[', ']']));
        }
        forms.push(form);
    }
    forms
}

/// The forms among these whose reply holds the value in an address.
fn held(forms: &[String], reply: impl Fn(&str) -> String) -> Vec<(&String, String)> {
    let judged = forms.iter().filter_map(|form| {
        let reply = reply(form);
        let is_there = reply.to_lowercase().contains(MARK);
        let place = is_there.then(|| held_in_address(&reply, MARK)).flatten();
        place.map(|place| (form, place))
    });
    judged.collect()
}

fn assert_none_held(forms: &[String]) {
    for value in VALUES {
        let rules = rules(value);
        let mut held = held(forms, |form| restored(&rules, form));
        let count = held.len();
        held.truncate(12);
        let all = forms.len();
        assert!(held.is_empty(), "{count} of {all} hold {value}: {held:#?}");
    }
}

#[test]
fn addresses_and_markup_hold_no_value() {
    assert_none_held(&forms());
}

#[test]
fn random_marks_hold_no_value() {
    let mut chance = Chance(7);
    let mut form = || -> String {
        let marks = 4 + chance.next(14);
        let marks = (0..marks).map(|_| MARKS[chance.next(MARKS.len())]);
        marks.chain([TOKEN]).collect()
    };
    let forms: Vec<String> = (0..SOUPS).map(|_| form()).collect();
    assert_none_held(&forms);
}

#[test]
fn judges_notice_values_in_addresses() {
    let forms = forms();
    let bare = TOKEN.trim_matches(['[', ']']);
    let naive = |form: &str| form.replace(TOKEN, VALUES[0]).replace(bare, VALUES[0]);
    let count = held(&forms, naive).len();
    assert!(count >= 3000, "{count} of {} forms", forms.len());
}

#[test]
fn ordinary_texts_are_restored() {
    let rules = rules(VALUES[1]);
    for text in ORDINARY {
        let written = text.replace("{}", TOKEN);
        let mut expected = text.replace("{}", VALUES[1]);
        for token in [
            r"\[NAME\_7K3QD\]",
            r"\[NAME_7K3QD\]",
            "NAME_7K3QD",
            "name_7k3qd",
        ] {
            expected = expected.replace(token, VALUES[1]);
        }
        assert_eq!(restored(&rules, &written), expected);
    }
}

#[test]
fn strings_that_are_addresses_hold_no_value() {
    let rules = rules(VALUES[0]);
    let mut held = Vec::new();
    for address in ADDRESSES.iter().filter(|address| !address.is_empty()) {
        for between in ["", "a=b ", "\n", "\"", "'", "> "] {
            let written = json!({"url": format!("{address}{between}{TOKEN}"), "note": TOKEN});
            let (reply, _) = play_whole(&rules, &Texts::arguments(&written.to_string()));
            let arguments = reply.expect("nothing is withheld").arguments;
            let arguments: Value = serde_json::from_str(&arguments).expect("it is JSON");
            assert_eq!(arguments["note"], VALUES[0]);
            if arguments["url"] != written["url"] {
                held.push(written["url"].clone());
            }
        }
    }
    assert!(held.is_empty(), "{held:#?}");
}

#[test]
fn addresses_are_the_same_for_every_cut() {
    let rules = rules(VALUES[0]);
    let (forms, mut chance) = (forms(), Chance(99));
    for form in forms.iter().step_by(forms.len() / 500) {
        let texts = Texts::content(form);
        let (whole, _) = play_whole(&rules, &texts);
        let stream = events(&texts, || 1 + chance.next(9));
        let (pieces, _) = chance.cut(stream.as_bytes());
        let played = play_stream(&rules, pieces);
        assert_eq!(Ok(played.texts), whole);
    }
}

#[test]
fn token_is_held_while_host_is_possible() {
    let rules = rules(VALUES[0]);
    for (written, given) in [
        ("Dear [NAME_7K3QD]", "Dear "),
        ("Dear [NAME_7K3QD],", "Dear Quokka,"),
        ("Dear [NAME_7K3QD] ", "Dear Quokka "),
        ("Dear [NAME_7K3QD].", "Dear "),
        ("Dear [NAME_7K3QD]. ", "Dear Quokka. "),
        ("Dear [NAME_7K3QD].e", "Dear [NAME_7K3QD].e"),
        ("Dear [NAME_7K3QD]'s", "Dear "),
        ("Dear [NAME_7K3QD]'s ", "Dear Quokka's "),
    ] {
        let stream = events(&Texts::content(written), || 1);
        let end = stream.find(r#""delta":{},"#).expect("the last event");
        let start = stream[..end].rfind("data: ").expect("its start");
        let played = play_stream(&rules, [&stream.as_bytes()[..start]]);
        assert_eq!(played.texts.content, given);
    }
}
