//! Rewriting of replies: tables of texts as the provider wrote them and as the caller gets them, whole and streamed.

use std::sync::Arc;

use crate::reply_support::{Texts, events, play_stream, play_whole, rules};
use phigate_core::reply::{ReplyRules, Stop, ToolNames};
use phigate_types::Replies;

/// The reply as the caller gets it, which must be the same whole and in every size of deltas.
fn given(rules: &Arc<ReplyRules>, texts: &Texts) -> Texts {
    let (reply, tally) = play_whole(rules, texts);
    let reply = reply.expect("nothing is withheld");
    for size in [1, 2, 3, 7, 1000] {
        let stream = events(texts, || size);
        let played = play_stream(rules, [stream.as_bytes()]);
        assert_eq!(played.texts, reply, "in deltas of {size}");
        assert_eq!(played.tally, tally, "in deltas of {size}");
        assert!(played.is_done && played.finish.is_some());
    }
    reply
}

#[test]
fn issued_tokens_become_their_values_in_text() {
    let rules = Arc::new(rules(true, Replies::Off));
    for (written, expected) in [
        ("Dear [NAME_7K3QD], hello.", "Dear Jane Roe, hello."),
        ("[NAME_7K3QD][SSN_4M2NP]", "Jane Roe536-22-8741"),
        ("[NAME_7K3QDX]!", "Ana \"Lu\" Roe!"),
        ("[name_7k3qd] [Name_7k3Qd]", "Jane Roe Jane Roe"),
        (
            r"\[NAME\_7K3QD\] \[NAME_7K3QD\] [NAME\_7K3QD]",
            "Jane Roe Jane Roe Jane Roe",
        ),
        ("NAME_7K3QD, NAME_7K3QD", "Jane Roe, Jane Roe"),
        (r"NAME\_7K3QD.", "Jane Roe."),
        (
            "NAME_7K3QDX and MEDICARE_ID_0Z9YX",
            "Ana \"Lu\" Roe and 1EG4-TE5-MK73",
        ),
        ("X[NAME_7K3QD]X [[NAME_7K3QD]]", "XJane RoeX [Jane Roe]"),
        (
            "[NAME_[NAME_7K3QD] [NA[NAME_7K3QD]",
            "[NAME_Jane Roe [NAJane Roe",
        ),
        (
            "晴れ[NAME_7K3QD]。👋🏽 NAME_7K3QD",
            "晴れJane Roe。👋🏽 Jane Roe",
        ),
        (
            "https://a.example/x [NAME_7K3QD]",
            "https://a.example/x Jane Roe",
        ),
        (
            "[of [NAME_7K3QD]](/x) NAME_7K3QD",
            "[of Jane Roe](/x) Jane Roe",
        ),
        ("[SSN_00000]: Ms. [NAME_7K3QD]", "[SSN_00000]: Ms. Jane Roe"),
        ("[NAME_7K3QD]: [SSN_4M2NP]", "Jane Roe: 536-22-8741"),
        ("// [NAME_7K3QD]", "// Jane Roe"),
    ] {
        assert_eq!(given(&rules, &Texts::content(written)).content, expected);
    }
}

#[test]
fn nothing_else_is_restored() {
    let rules = Arc::new(rules(true, Replies::Off));
    for text in [
        "XNAME_7K3QD NAME_7K3QD5 my_NAME_7K3QD NAME_7K3QD\\_x",
        "[NAME_7K3Q] [NAME_7K3QE] [SSN_7K3QD] [NAME_7K3QD5] [7K3QD] 7K3QD",
        "[NAME_00000] [NAME] [NAME_] [ [NA] \\ \\[ \\_ [",
        "https://a.example/p/[NAME_7K3QD]/x, http://a.example?q=NAME_7K3QD&n=SSN_4M2NP",
        "<https://a.example/NAME_7K3QD> //a.example/NAME_7K3QD www.a.example/NAME_7K3QD",
        "mailto:NAME_7K3QD@a.example HTTPS://A.EXAMPLE/[NAME_7K3QD]",
        "[chart](/c/NAME_7K3QD.html) ![scan](NAME_7K3QD.png) [a](x(NAME_7K3QD)y NAME_7K3QD)",
        "[chart]([NAME_7K3QD] \"of NAME_7K3QD\") [ref]: /c/NAME_7K3QD",
        "<img src=\"//a.example/?NAME_7K3QD\">",
        "[1]: [NAME_7K3QD]",
        "Dear [NAME_7K3QD",
        "Dear \\[NAME_7K3QD\\",
        "Dear [",
        "Dear \\",
    ] {
        assert_eq!(given(&rules, &Texts::content(text)).content, text);
    }
}

#[test]
fn values_in_arguments_are_escaped() {
    let rules = Arc::new(rules(true, Replies::Off));
    for (written, expected) in [
        (
            r#"{"a":"[NAME_7K3QDX]","n":1}"#,
            r#"{"a":"Ana \"Lu\" Roe","n":1}"#,
        ),
        (
            r#"{"a":["[ADDRESS_AAAAA]"]}"#,
            r#"{"a":["12 Elm St,\nSpokane"]}"#,
        ),
        (
            r#"{"a":"\u005bNAME_7K3QD] \"NAME_7K3QD\""}"#,
            r#"{"a":"Jane Roe \"Jane Roe\""}"#,
        ),
        (r#"{"a":"\\[NAME_7K3QD\\]"}"#, r#"{"a":"Jane Roe"}"#),
        (
            r#"{"a":"NAME_7K3QD","NAME_7K3QD":"\ud83d\udc4b[NAME_7K3QD]"}"#,
            r#"{"a":"Jane Roe","Jane Roe":"\ud83d\udc4bJane Roe"}"#,
        ),
        (
            r#"{"u":"https://a.example/NAME_7K3QD","a":"NAME_7K3QD"}"#,
            r#"{"u":"https://a.example/NAME_7K3QD","a":"Jane Roe"}"#,
        ),
        (r#"{"a":[NAME_7K3QD]}"#, r#"{"a":[NAME_7K3QD]}"#),
        (
            r#"{"a":"[NAME_7K3QDX] [NAME_7"#,
            r#"{"a":"Ana \"Lu\" Roe [NAME_7"#,
        ),
    ] {
        assert_eq!(
            given(&rules, &Texts::arguments(written)).arguments,
            expected
        );
    }
}

#[test]
fn content_asked_for_as_json_stays_json() {
    let json = Arc::new(ReplyRules {
        content_is_json: true,
        ..rules(true, Replies::Off)
    });
    for (written, expected) in [
        (r#" {"a":"[NAME_7K3QDX]"}"#, r#" {"a":"Ana \"Lu\" Roe"}"#),
        ("Sorry, [NAME_7K3QDX].", "Sorry, Ana \"Lu\" Roe."),
    ] {
        assert_eq!(given(&json, &Texts::content(written)).content, expected);
    }
}

#[test]
fn only_listed_tools_receive_values() {
    let texts = Texts {
        content: "[NAME_7K3QD]".to_owned(),
        arguments: r#"{"a":"[NAME_7K3QD]"}"#.to_owned(),
        ..Texts::default()
    };
    for (pattern, expected) in [
        ("no*", r#"{"a":"Jane Roe"}"#),
        ("send_*", r#"{"a":"[NAME_7K3QD]"}"#),
    ] {
        let rules = Arc::new(ReplyRules {
            tools: ToolNames::new([pattern.to_owned()]),
            ..rules(true, Replies::Off)
        });
        let reply = given(&rules, &texts);
        assert_eq!(
            (reply.content.as_str(), reply.arguments.as_str()),
            ("Jane Roe", expected)
        );
    }
}

#[test]
fn new_phi_is_replaced_but_echoes_stay() {
    for (written, masked, redacted, echoes) in [
        (
            "Her social security number is 219-09-4218. Fine.",
            "Her social security number is [SSN]. Fine.",
            "Her social security number is . Fine.",
            0,
        ),
        (
            "Her number is 536-22-8741 and his social security number is 219-09-4218.",
            "Her number is 536-22-8741 and his social security number is [SSN].",
            "Her number is 536-22-8741 and his social security number is .",
            1,
        ),
        ("SSN:\n219-09-4218", "SSN:\n[SSN]", "SSN:\n", 0),
        (
            "The patient's name is Robert Chen, all right.",
            "The patient's name is [NAME], all right.",
            "The patient's name is , all right.",
            0,
        ),
    ] {
        for (action, expected) in [
            (Replies::Flag, written),
            (Replies::Mask, masked),
            (Replies::Redact, redacted),
        ] {
            let rules = Arc::new(rules(false, action));
            assert_eq!(given(&rules, &Texts::content(written)).content, expected);
            let (_, tally) = play_whole(&rules, &Texts::content(written));
            assert_eq!((tally.echoes, tally.findings()), (echoes, 1), "{written}");
        }
    }
}

#[test]
fn rewritten_arguments_stay_valid_json() {
    for (written, masked, redacted) in [
        (
            r#"{"ssn":"219-09-4218","q":"say \"hi\"","n":5}"#,
            r#"{"ssn":"[SSN]","q":"say \"hi\"","n":5}"#,
            r#"{"ssn":"","q":"say \"hi\"","n":5}"#,
        ),
        (
            r#"{"ssn":219094218,"n":5}"#,
            r#"{"ssn":"[SSN]","n":5}"#,
            r#"{"ssn":null,"n":5}"#,
        ),
        (
            r#"{"a":{"ssn":{"value":["219094218"]}}}"#,
            r#"{"a":{"ssn":{"value":["[SSN]"]}}}"#,
            r#"{"a":{"ssn":{"value":[""]}}}"#,
        ),
        (
            r#"{"a":"Fine.\nSSN \u0032\u0031\u0039-09-4218 \"x\""}"#,
            r#"{"a":"Fine.\nSSN [SSN] \"x\""}"#,
            r#"{"a":"Fine.\nSSN  \"x\""}"#,
        ),
    ] {
        for (action, expected) in [(Replies::Mask, masked), (Replies::Redact, redacted)] {
            let rules = Arc::new(rules(false, action));
            assert_eq!(
                given(&rules, &Texts::arguments(written)).arguments,
                expected
            );
        }
    }
}

#[test]
fn token_in_any_form_is_not_phi() {
    let text =
        "SSN: [SSN_4M2NP], ssn ssn_4m2np; the patient's name is NAME_7K3QD, MRN: [MRN_48291].";
    let rules = Arc::new(rules(true, Replies::Redact));
    let expected =
        "SSN: 536-22-8741, ssn 536-22-8741; the patient's name is Jane Roe, MRN: [MRN_48291].";
    assert_eq!(given(&rules, &Texts::content(text)).content, expected);
    let (_, tally) = play_whole(&rules, &Texts::content(text));
    assert_eq!((tally.restored, tally.findings(), tally.echoes), (3, 0, 0));
}

#[test]
fn blocked_reply_withholds_sentence_with_phi() {
    let rules = Arc::new(rules(true, Replies::Block));
    let texts = Texts::content("It is simple, [NAME_7K3QD]. Her SSN is 219-09-4218. Bye.");
    assert_eq!(play_whole(&rules, &texts).0, Err(Stop::Blocked));
    for size in [1, 5, 1000] {
        let stream = events(&texts, || size);
        let played = play_stream(&rules, [stream.as_bytes()]);
        assert_eq!(played.stop, Some(Stop::Blocked));
        assert_eq!(played.texts.content, "It is simple, Jane Roe.");
        assert_eq!((played.is_done, played.finish), (false, None));
        let kinds: Vec<_> = played
            .tally
            .kinds()
            .iter()
            .map(|kind| kind.code())
            .collect();
        assert_eq!(kinds, ["ssn"]);
    }
}

#[test]
fn endless_sentence_is_eventually_released() {
    let rules = Arc::new(rules(false, Replies::Mask));
    let text = "take one tablet with food and drink water and walk a little and ".repeat(8);
    let stream = events(&Texts::content(&text), || 1);
    let upto = stream.len() * 9 / 10;
    let played = play_stream(&rules, [&stream.as_bytes()[..upto]]);
    assert!(
        played.texts.content.len() > 20,
        "{}",
        played.texts.content.len()
    );
    assert!(text.starts_with(&played.texts.content));
}

#[test]
fn only_issued_token_prefix_is_held() {
    let rules = Arc::new(rules(true, Replies::Off));
    for (written, given) in [
        ("Good morning, ", "Good morning, "),
        ("See [1", "See [1"),
        ("or [xy", "or [xy"),
        ("or [DOB_", "or [DOB_"),
        ("Good morning [NAM", "Good morning "),
        ("Good morning [NAMing", "Good morning [NAMing"),
        ("call me N", "call me "),
        ("call me No", "call me No"),
        ("a backslash \\", "a backslash "),
    ] {
        let stream = events(&Texts::content(written), || 1);
        let end = stream.find(r#""delta":{},"#).expect("the last event");
        let start = stream[..end].rfind("data: ").expect("its start");
        let played = play_stream(&rules, [&stream.as_bytes()[..start]]);
        assert_eq!(played.texts.content, given);
    }
}
