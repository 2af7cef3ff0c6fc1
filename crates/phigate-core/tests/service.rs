//! The detector as a service: what is asked, what is answered, what is refused.

use phi_detect::Detector;
use phigate_core::json::Bounds;
use phigate_core::protect::{Policy, Scanner};
use phigate_core::service::{self, Answered, Refused, ServiceContext, presidio};
use phigate_types::Mode;
use serde_json::{Value, json};

const SSN: &str = "My SSN is 536-22-8741.";
const CLEAN: &str = "What is the usual dose of amoxicillin?";
const EMOJI: &str = "👩‍⚕️🙂 naïve: ";

fn ask(
    service: impl FnOnce(&ServiceContext<'_>, Vec<u8>) -> Answered,
    mode: Mode,
    body: &str,
) -> Answered {
    let scanner = Scanner::new(Detector::default());
    let policy = Policy::uniform(mode);
    let bounds = Bounds {
        depth_max: 64,
        values_max: 10_000,
    };
    let context = ServiceContext {
        scanner: &scanner,
        policy,
        bounds,
    };
    service(&context, body.as_bytes().to_vec())
}

fn body(answered: Answered) -> Value {
    serde_json::from_str(answered.unwrap().body.expose()).unwrap()
}

/// The code and place of an error.
fn error(answered: Answered) -> (&'static str, Option<String>) {
    let Err(Refused { error, .. }) = answered else {
        panic!("answered instead of refused");
    };
    let error = error.unwrap();
    (error.code.code(), error.param)
}

mod scan {
    use super::*;

    fn results(asked: &Value) -> Value {
        body(ask(service::scan, Mode::FLAG, &asked.to_string()))["results"].take()
    }

    /// Type, start, end and path of each finding.
    fn places(result: &Value) -> Vec<(String, u64, u64, Option<String>)> {
        let findings = result["findings"].as_array().unwrap();
        let place = |one: &Value| {
            assert!(one["score"].as_f64().unwrap() > 0.0 && one["rule"].is_string());
            let path = one["path"].as_str().map(str::to_owned);
            let at = |name: &str| one[name].as_u64().unwrap();
            (
                one["type"].as_str().unwrap().to_owned(),
                at("start"),
                at("end"),
                path,
            )
        };
        findings.iter().map(place).collect()
    }

    #[test]
    fn depth_and_explanations_are_chosen_per_scan() {
        let found = |depth: &str| results(&json!({ "text": SSN, "depth": depth }));
        // Scores of careful scans are those of the fitted decision.
        assert_ne!(found("careful"), found("fast"));
        assert_eq!(results(&json!({ "text": SSN })), found("careful"));
        let explained = results(&json!({ "text": SSN, "explain": true }));
        let one = &explained[0]["explanations"][0];
        assert_eq!((&one["type"], &one["found"]), (&json!("ssn"), &json!(true)));
        assert_eq!((&one["start"], &one["end"]), (&json!(10), &json!(21)));
        assert!(!one["for"].as_array().unwrap().is_empty());
        assert!(!explained.to_string().contains("8741"));
        for (asked, place) in [
            (json!({ "text": SSN, "depth": "deep" }), "depth"),
            (json!({ "text": SSN, "explain": 1 }), "explain"),
            (
                json!({ "text": SSN.repeat(1000), "explain": true }),
                "explain",
            ),
        ] {
            let refused = ask(service::scan, Mode::FLAG, &asked.to_string());
            assert_eq!(error(refused), ("invalid_value", Some(place.to_owned())));
        }
    }

    #[test]
    fn text_findings_use_code_point_offsets() {
        let shift = EMOJI.chars().count() as u64;
        let found = results(&json!({ "texts": [SSN, CLEAN, format!("{EMOJI}{SSN}"), ""] }));
        let ssn = |shift| vec![("ssn".to_owned(), 10 + shift, 21 + shift, None)];
        let places: Vec<_> = found.as_array().unwrap().iter().map(places).collect();
        assert_eq!(places, [ssn(0), vec![], ssn(shift), vec![]]);
        assert!(found[0].get("text").is_none());
        assert_eq!(results(&json!({ "texts": [] })), json!([]));
    }

    #[test]
    fn json_findings_use_callers_paths() {
        let value = json!({"patient": {"notes": ["none", SSN]}, "mail_of_kin": "jane.roe@example.com", "n": 4});
        let found = results(&json!({ "json": value }));
        let paths: Vec<_> = places(&found[0])
            .into_iter()
            .map(|place| (place.0, place.3))
            .collect();
        let path = |kind: &str, path: &str| (kind.to_owned(), Some(path.to_owned()));
        // Members are in the order in which they were sent.
        assert_eq!(
            paths,
            [
                path("email", "mail_of_kin"),
                path("ssn", "patient.notes[1]")
            ]
        );
        let found = results(&json!({ "json": [SSN, { "two words": [SSN] }] }));
        let paths: Vec<_> = places(&found[0])
            .into_iter()
            .map(|place| place.3.unwrap())
            .collect();
        assert_eq!(paths, ["[0]", "[1].{0}[0]"]);
        assert_eq!(places(&results(&json!({ "json": SSN }))[0])[0].1, 10);
        let found = results(&json!({ "json": [format!("{EMOJI}{SSN}"), SSN] }));
        let starts: Vec<_> = places(&found[0]).iter().map(|place| place.1).collect();
        assert_eq!(starts, [10 + EMOJI.chars().count() as u64, 10]);
    }

    #[test]
    fn phi_key_is_named_by_position() {
        let found =
            results(&json!({ "json": { "jane.roe@example.com": { "ssn": "536-22-8741" } } }));
        for (_, _, _, path) in places(&found[0]) {
            assert!(path.as_ref().unwrap().starts_with("{0}"), "{path:?}");
        }
    }

    #[test]
    fn unaffected_bytes_are_returned_unchanged() {
        for (action, word) in [("mask", "[SSN]"), ("redact", "")] {
            let asked = format!(
                r#"{{"json": {{"b" :["My SSN is 536-22-8741. \u00e9", 1.50,null]}}, "action":"{action}"}}"#
            );
            let answered = ask(service::scan, Mode::BLOCK, &asked).unwrap();
            let wanted = format!(r#""json":{{"b" :["My SSN is {word}. \u00e9", 1.50,null]}}"#);
            assert!(
                answered.body.expose().contains(&wanted),
                "{:?}",
                answered.body.expose()
            );
            assert!(answered.report.has_phi() && answered.report.identifiers().next().is_none());
        }
        let masked = results(&json!({ "texts": [SSN, CLEAN], "action": "mask" }));
        assert_eq!(
            (&masked[0]["text"], &masked[1]["text"]),
            (&json!("My SSN is [SSN]."), &json!(CLEAN))
        );
    }

    #[test]
    fn scan_action_matches_gateway_mode() {
        use phigate_core::doors::CHAT;
        use phigate_core::protect::{self, Outcome};
        use phigate_core::request::{Request, RequestLimits};
        let text = "Patient Jane Roe, born 07/04/1961, SSN 536-2jane.roe@example.com2-8741";
        for mode in [Mode::MASK, Mode::REDACT] {
            let chat = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]});
            let chat = Request::read(
                CHAT.form,
                chat.to_string().into_bytes(),
                &RequestLimits::default(),
            );
            let scanner = Scanner::new(Detector::default());
            let policy = Policy::uniform(mode);
            let scanned = protect::scan(&scanner, chat.unwrap());
            let Outcome::Forward(clean) = protect::apply(&policy, &scanner, scanned) else {
                panic!("not forwarded");
            };
            let sent: Value = serde_json::from_str(clean.request().document().expose()).unwrap();
            let ours = results(&json!({ "text": text, "action": mode.code() }));
            assert_eq!(ours[0]["text"], sent["messages"][0]["content"]);
        }
    }

    #[test]
    fn invalid_scan_parameter_is_named() {
        for (asked, code, param) in [
            (r#"{}"#, "missing_required_parameter", Some("text")),
            (
                r#"{"text":"a","texts":["b"]}"#,
                "invalid_value",
                Some("texts"),
            ),
            (r#"{"text":"a","json":null}"#, "invalid_value", Some("json")),
            (r#"{"text":5}"#, "invalid_type", Some("text")),
            (r#"{"text":null}"#, "invalid_type", Some("text")),
            (r#"{"texts":"a"}"#, "invalid_type", Some("texts")),
            (r#"{"texts":["a",5]}"#, "invalid_type", Some("texts[1]")),
            (
                r#"{"text":"a","action":"block"}"#,
                "invalid_value",
                Some("action"),
            ),
            (
                r#"{"text":"a","action":"flag"}"#,
                "invalid_value",
                Some("action"),
            ),
            (r#"{"text":"a","action":1}"#, "invalid_type", Some("action")),
            (
                r#"{"text":"a","acton":"mask"}"#,
                "invalid_value",
                Some("acton"),
            ),
            (r#"{"text":"a","jane roe":1}"#, "invalid_value", Some("{1}")),
            (r#"[1]"#, "invalid_type", None),
            (r#"{"text":"a""#, "invalid_json", None),
            (r#"{"text":"a","text":"b"}"#, "duplicate_key", None),
            (
                r#"{"json":{"ssn":536228741},"action":"mask"}"#,
                "phi_not_rewritable",
                Some("json.ssn"),
            ),
            (
                r#"{"text":"data:application/pdf;base64,JVBERi0xLjQK","action":"mask"}"#,
                "unscannable_content",
                Some("text"),
            ),
        ] {
            let refused = error(ask(service::scan, Mode::FLAG, asked));
            assert_eq!(refused, (code, param.map(str::to_owned)), "{asked}");
        }
    }

    #[test]
    fn half_a_scan_is_no_answer() {
        let scanner = Scanner::new(Detector::default()).with_deadline(|| false);
        let context = ServiceContext {
            scanner: &scanner,
            policy: Policy::uniform(Mode::FLAG).allowing_unscannable(true),
            bounds: Bounds::NONE,
        };
        let asked = json!({ "text": SSN }).to_string();
        let refused = service::scan(&context, asked.into_bytes()).unwrap_err();
        assert!(refused.error.is_none() && refused.report.is_some());
    }
}

mod guardrail {
    use super::*;

    fn verdict(mode: Mode, asked: &Value) -> Value {
        body(ask(service::guard, mode, &asked.to_string()))
    }

    #[test]
    fn the_mode_decides() {
        let asked = json!({ "texts": [CLEAN, SSN], "images": null, "request_data": { "mail": "jane.roe@example.com" } });
        assert_eq!(verdict(Mode::FLAG, &asked), json!({ "action": "NONE" }));
        let blocked = verdict(Mode::BLOCK, &asked);
        assert_eq!(blocked["action"], "BLOCKED");
        let reason = blocked["blocked_reason"].as_str().unwrap();
        assert!(reason.ends_with(": ssn"), "{reason}");
        for (mode, word) in [(Mode::MASK, "[SSN]"), (Mode::REDACT, "")] {
            let texts = json!([CLEAN, format!("My SSN is {word}.")]);
            let wanted = json!({ "action": "GUARDRAIL_INTERVENED", "texts": texts });
            assert_eq!(verdict(mode, &asked), wanted);
        }
        for mode in Mode::all() {
            for texts in [json!([CLEAN]), json!([]), Value::Null] {
                let asked = json!({ "texts": texts, "tools": [], "future": { "a": 1 } });
                assert_eq!(verdict(mode, &asked)["action"], "NONE");
            }
        }
    }

    #[test]
    fn phi_from_messages_is_masked_in_texts() {
        let messages = json!([
            { "role": "assistant", "content": "What is your social security number?" },
            { "role": "user", "content": "536228741" },
        ]);
        let asked = json!({ "texts": ["What is your social security number?", "536228741"], "structured_messages": messages });
        let texts = json!(["What is your social security number?", "[SSN]"]);
        assert_eq!(verdict(Mode::MASK, &asked)["texts"], texts);
        let repeated =
            json!({ "texts": [SSN], "structured_messages": [{ "role": "user", "content": SSN }] });
        assert_eq!(
            verdict(Mode::MASK, &repeated)["texts"],
            json!(["My SSN is [SSN]."])
        );
        // Said twice, found once.
        let report = ask(service::guard, Mode::FLAG, &repeated.to_string())
            .unwrap()
            .report;
        assert_eq!(
            report.counts().map(|(_, count)| count).collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn guard_masks_tools_and_blocks_unmaskable_content() {
        let tools =
            json!([{ "type": "function", "function": { "name": "lookup", "description": SSN } }]);
        let verdict_of_tools = verdict(Mode::MASK, &json!({ "texts": [CLEAN], "tools": tools }));
        assert_eq!(verdict_of_tools["action"], "GUARDRAIL_INTERVENED");
        assert_eq!(
            verdict_of_tools["tools"][0]["function"]["description"],
            "My SSN is [SSN]."
        );
        let call = json!([{ "id": "call_1", "type": "function", "function": { "name": "lookup", "arguments": json!({ "q": SSN }).to_string() } }]);
        for asked in [
            json!({ "texts": [], "tool_calls": call }),
            json!({ "texts": [CLEAN], "structured_messages": [{ "role": "user", "content": CLEAN, "name": "x", "note": SSN }] }),
            json!({ "texts": [CLEAN], "future": SSN }),
            json!({ "texts": [CLEAN], "images": ["data:image/png;base64,iVBORw0KGgo="] }),
        ] {
            for mode in [Mode::MASK, Mode::REDACT, Mode::BLOCK] {
                let verdict = verdict(mode, &asked);
                assert_eq!(verdict["action"], "BLOCKED", "{asked}");
                assert!(!verdict["blocked_reason"].as_str().unwrap().contains("536"));
            }
            assert_eq!(verdict(Mode::FLAG, &asked)["action"], "NONE");
        }
    }

    #[test]
    fn malformed_guard_request_is_an_error() {
        for (asked, code) in [
            ("{", "invalid_json"),
            (r#"{"texts":"a"}"#, "invalid_type"),
            (r#"{"texts":[1]}"#, "invalid_type"),
            (r#"{"tools":{}}"#, "invalid_type"),
            (
                r#"{"messages":["a"],"structured_messages":["b"]}"#,
                "duplicate_key",
            ),
        ] {
            assert_eq!(
                error(ask(service::guard, Mode::BLOCK, asked)).0,
                code,
                "{asked}"
            );
        }
    }
}

mod presidio_interface {
    use phigate_core::service::presidio::HashKind;

    use super::*;

    fn analyze(asked: &Value) -> Value {
        body(ask(presidio::analyze, Mode::FLAG, &asked.to_string()))
    }

    fn anonymize_raw(asked: &str) -> Answered {
        let hash = |kind: HashKind, text: &str, salt: Option<&str>| {
            format!("{kind:?}({} {})", text.len(), salt.is_some())
        };
        ask(
            |context, body| presidio::anonymize(context, body, hash),
            Mode::FLAG,
            asked,
        )
    }

    fn anonymize(asked: &Value) -> Value {
        body(anonymize_raw(&asked.to_string()))
    }

    #[test]
    fn findings_have_presidios_names_and_shape() {
        let found = analyze(
            &json!({ "text": format!("{EMOJI}{SSN}"), "language": "en", "correlation_id": "1", "trace": 2 }),
        );
        let start = EMOJI.chars().count() + 10;
        let score = found[0]["score"].clone();
        let wanted = json!([{ "analysis_explanation": null, "end": start + 11, "entity_type": "US_SSN", "score": score, "start": start }]);
        assert_eq!(found, wanted);
        let many = analyze(&json!({ "text": [SSN, CLEAN, ""], "language": "en" }));
        assert_eq!(
            (many[0].as_array().unwrap().len(), &many[1], &many[2]),
            (1, &json!([]), &json!([]))
        );
    }

    #[test]
    fn analyze_fields_narrow_reported_findings() {
        let text = format!("jane.roe@example.com {SSN}");
        let names = |more: Value| -> Vec<String> {
            let mut asked = json!({ "text": text, "language": "en" });
            asked
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let found = analyze(&asked);
            let names = found.as_array().unwrap().iter();
            names
                .map(|one| one["entity_type"].as_str().unwrap().to_owned())
                .collect()
        };
        for (more, wanted) in [
            (json!({}), vec!["EMAIL_ADDRESS", "US_SSN"]),
            (
                json!({ "entities": null, "score_threshold": null }),
                vec!["EMAIL_ADDRESS", "US_SSN"],
            ),
            (
                json!({ "entities": ["US_SSN", "CREDIT_CARD"] }),
                vec!["US_SSN"],
            ),
            (json!({ "entities": ["CREDIT_CARD"] }), vec![]),
            (json!({ "score_threshold": 1.01 }), vec![]),
            (
                json!({ "allow_list": ["536-22-8741"] }),
                vec!["EMAIL_ADDRESS"],
            ),
            (
                json!({ "ad_hoc_recognizers": [], "allow_list_match": "regex" }),
                vec!["EMAIL_ADDRESS", "US_SSN"],
            ),
        ] {
            assert_eq!(names(more.clone()), wanted, "{more}");
        }
        let explained =
            analyze(&json!({ "text": SSN, "language": "en", "return_decision_process": 1 }));
        assert_eq!(
            explained[0]["analysis_explanation"]["recognizer"],
            "UsSsnRecognizer"
        );
        assert!(!explained.to_string().contains("536"));
    }

    #[test]
    fn invalid_analyze_request_is_refused_unquoted() {
        for (asked, param) in [
            (json!({ "language": "en" }), "text"),
            (json!({ "text": "", "language": "en" }), "text"),
            (json!({ "text": 5, "language": "en" }), "text"),
            (json!({ "text": ["a", 5], "language": "en" }), "text[1]"),
            (json!({ "text": SSN }), "language"),
            (json!({ "text": SSN, "language": "de" }), "language"),
            (
                json!({ "text": SSN, "language": "en", "score_threshold": "x" }),
                "score_threshold",
            ),
            (
                json!({ "text": SSN, "language": "en", "ad_hoc_recognizers": [{ "name": "Zip" }] }),
                "ad_hoc_recognizers",
            ),
            (
                json!({ "text": SSN, "language": "en", "allow_list": ["a"], "allow_list_match": "regex" }),
                "allow_list_match",
            ),
        ] {
            let refused = ask(presidio::analyze, Mode::FLAG, &asked.to_string()).unwrap_err();
            let error = refused.error.unwrap();
            assert_eq!(error.param.as_deref(), Some(param), "{asked}");
            assert!(!error.message.contains("536"));
        }
    }

    #[test]
    fn operators_match_presidio_behaviour() {
        let result =
            |entity: &str| json!({ "entity_type": entity, "start": 12, "end": 23, "score": 0.9 });
        let text = "👩‍⚕️ My SSN 536-22-8741.";
        let text = text.replace("👩‍⚕️", "🙂🙂🙂🙂");
        for (config, wanted, operator) in [
            (json!({}), "<US_SSN>", "replace"),
            (
                json!({ "DEFAULT": { "type": "replace", "new_value": "#" } }),
                "#",
                "replace",
            ),
            (
                json!({ "DEFAULT": { "type": "replace", "new_value": "" } }),
                "<US_SSN>",
                "replace",
            ),
            (
                json!({ "US_SSN": { "type": "redact" }, "DEFAULT": { "type": "keep" } }),
                "",
                "redact",
            ),
            (
                json!({ "PERSON": { "type": "redact" }, "DEFAULT": { "type": "keep" } }),
                "536-22-8741",
                "keep",
            ),
            (
                json!({ "DEFAULT": { "type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": true } }),
                "536-22-****",
                "mask",
            ),
            (
                json!({ "DEFAULT": { "type": "mask", "masking_char": "é", "chars_to_mask": 99, "from_end": false } }),
                "ééééééééééé",
                "mask",
            ),
            (
                json!({ "DEFAULT": { "type": "mask", "masking_char": "*", "chars_to_mask": -1, "from_end": false } }),
                "536-22-8741",
                "mask",
            ),
            (
                json!({ "DEFAULT": { "type": "hash" } }),
                "Sha256(11 false)",
                "hash",
            ),
            (
                json!({ "DEFAULT": { "type": "hash", "hash_type": "sha512", "salt": "0123456789abcdef" } }),
                "Sha512(11 true)",
                "hash",
            ),
        ] {
            let asked = json!({ "text": text, "anonymizers": config, "analyzer_results": [result("US_SSN")] });
            let changed = anonymize(&asked);
            assert_eq!(
                changed["text"],
                text.replace("536-22-8741", wanted),
                "{asked}"
            );
            let end = 12 + wanted.chars().count();
            let item = json!({ "start": 12, "end": end, "entity_type": "US_SSN", "text": wanted, "operator": operator });
            assert_eq!(changed["items"], json!([item]));
        }
    }

    #[test]
    fn anonymized_entities_use_new_text_offsets() {
        let text = "Jane Roe, 034453334 Doe";
        let found = json!([
            { "entity_type": "PHONE_NUMBER", "start": 10, "end": 19, "score": 0.95 },
            { "entity_type": "NAME", "start": 0, "end": 8, "score": 0.8 },
            { "entity_type": "FIRST_NAME", "start": 0, "end": 4, "score": 0.8 },
        ]);
        let changed = anonymize(&json!({ "text": text, "analyzer_results": found }));
        assert_eq!(changed["text"], "<NAME>, <PHONE_NUMBER> Doe");
        let whole = changed["text"].as_str().unwrap();
        for item in changed["items"].as_array().unwrap() {
            let at = |name: &str| item[name].as_u64().unwrap() as usize;
            assert_eq!(&whole[at("start")..at("end")], item["text"]);
        }
        let overlapping = json!([
            { "entity_type": "A", "start": 0, "end": 6, "score": 0.5 },
            { "entity_type": "B", "start": 5, "end": 8, "score": 0.5 },
        ]);
        let changed = anonymize(&json!({ "text": text, "analyzer_results": overlapping }));
        assert_eq!(changed["text"], "<A><B>, 034453334 Doe");
        let nothing = anonymize(&json!({ "text": CLEAN, "analyzer_results": [] }));
        assert_eq!(nothing, json!({ "text": CLEAN, "items": [] }));
    }

    #[test]
    fn anonymize_report_names_only_known_kinds() {
        let given = json!([
            { "entity_type": "US_SSN", "start": 0, "end": 1, "score": 0.9 },
            { "entity_type": "Jane Roe", "start": 2, "end": 3, "score": 0.9 },
        ]);
        let asked = json!({ "text": "abc", "analyzer_results": given }).to_string();
        let report = anonymize_raw(&asked).unwrap().report;
        let kinds: Vec<_> = report.kinds().map(phi_detect::PhiKind::code).collect();
        assert_eq!(kinds, ["ssn"]);
        assert!(!format!("{report:?}").contains("Roe"));
    }

    #[test]
    fn wrong_entities_and_operators_are_refused() {
        let one = |more: Value| {
            let mut result = json!({ "entity_type": "X", "start": 0, "end": 1, "score": 1 });
            result
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            json!([result])
        };
        for (text, results, config) in [
            ("a", Value::Null, json!({})),
            ("a", one(json!({ "end": 99 })), json!({})),
            ("a", one(json!({ "start": 1, "end": 0 })), json!({})),
            ("a", one(json!({ "start": -1 })), json!({})),
            ("a", one(json!({ "end": 0.5 })), json!({})),
            ("a", one(json!({ "score": null })), json!({})),
            ("a", one(json!({ "entity_type": "" })), json!({})),
            (
                "a",
                one(json!({})),
                json!({ "DEFAULT": { "type": "nonsense" } }),
            ),
            (
                "a",
                one(json!({})),
                json!({ "DEFAULT": { "type": "encrypt", "key": "k" } }),
            ),
            (
                "a",
                one(json!({})),
                json!({ "DEFAULT": { "type": "hash", "hash_type": "md5" } }),
            ),
            (
                "a",
                one(json!({})),
                json!({ "DEFAULT": { "type": "hash", "salt": "short" } }),
            ),
            (
                "a",
                one(json!({})),
                json!({ "DEFAULT": { "type": "mask", "masking_char": "**", "chars_to_mask": 1, "from_end": true } }),
            ),
            ("a", json!([]), json!({ "DEFAULT": { "type": "custom" } })),
            ("a", json!([]), json!({ "DEFAULT": {} })),
        ] {
            let asked = json!({ "text": text, "analyzer_results": results, "anonymizers": config });
            assert!(anonymize_raw(&asked.to_string()).is_err(), "{asked}");
        }
    }
}
