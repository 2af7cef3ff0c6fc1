//! Every page with invented content: they must render, hold no inline script or style, and escape
//! what came from outside. With `DASHBOARD_PAGES` set to a folder they are also written there.

use askama::Template;
use jiff::Timestamp;

use super::content::{Content, Passage};
use super::rows::{Act, Row};
use super::*;
use crate::dashboard::chart::{Chart, Slot};
use crate::dashboard::chrome::{Chrome, NavItem, Notice, Theme};
use crate::dashboard::view::{Fact, KindChip, Piece, When, choices};

const HOSTILE: &str = "<script>alert(1)</script>";

fn moment(minutes_ago: i64) -> Timestamp {
    Timestamp::from_second(1_794_715_200 - minutes_ago * 60).unwrap()
}

fn when(minutes_ago: i64) -> When {
    When::at(moment(minutes_ago))
}

fn chrome(current: &'static str) -> Chrome {
    let rows = [
        ("/", "Overview", "overview"),
        ("/audit", "Audit log", "audit"),
        ("/playground", "Playground", "playground"),
        ("/settings", "Settings", "settings"),
        ("/providers", "Providers", "providers"),
        ("/keys", "API keys", "keys"),
        ("/users", "Users", "users"),
        ("/help", "Help", "help"),
    ];
    Chrome {
        theme: Theme::Auto,
        nav: rows
            .into_iter()
            .map(|(href, label, icon)| NavItem {
                href,
                label,
                icon,
                current: href == current,
            })
            .collect(),
        email: "morgan.roe@clinic.example".to_owned(),
        role: "Owner",
        account: "default".to_owned(),
        csrf: "token".to_owned(),
        notice: None,
    }
}

fn row(minutes_ago: i64, action: &'static str, tone: &'static str, types: &[(&str, u64)]) -> Row {
    Row {
        href: "/audit/0193f0aa-0000-7000-8000-000000000001".to_owned(),
        time: when(minutes_ago),
        action,
        tone,
        types: types
            .iter()
            .map(|(code, count)| KindChip::new(code, *count))
            .collect(),
        subject: "claude-opus-4-5".to_owned(),
        actor: "intake form".to_owned(),
        mode: "Mask".to_owned(),
        status: "200".to_owned(),
    }
}

fn rows() -> Vec<Row> {
    vec![
        row(1, "Masked", "masked", &[("name", 2), ("mrn", 1)]),
        row(
            4,
            "Blocked",
            "blocked",
            &[("ssn", 1), ("dob", 1), ("address", 1)],
        ),
        row(9, "Forwarded", "flag", &[("phone", 1)]),
        row(15, "Forwarded", "", &[]),
        row(
            22,
            "Redacted",
            "redacted",
            &[("email", 3), ("medicare_id", 1)],
        ),
        row(41, "Refused", "refused", &[]),
    ]
}

fn piece(text: &str, class: &'static str) -> Piece {
    Piece {
        text: text.to_owned(),
        class,
        title: "Name, score 0.98, rule name.model".to_owned(),
    }
}

fn highlighted() -> Vec<Piece> {
    vec![
        piece("Jane Roe", "k6"),
        Piece::plain(", born "),
        piece("03/04/1961", "k1"),
        Piece::plain(", MRN "),
        piece("00412345", "k5"),
        Piece::plain(", asks about her potassium of 3.1. Call "),
        piece("555-0142", "k2"),
        Piece::plain(format!(". {HOSTILE}")),
    ]
}

fn masked() -> Vec<Piece> {
    vec![
        piece("[NAME]", "k6"),
        Piece::plain(", born "),
        piece("[DOB]", "k1"),
        Piece::plain(", MRN "),
        piece("[MRN]", "k5"),
        Piece::plain(", asks about her potassium of 3.1. Call "),
        piece("[PHONE]", "k2"),
        Piece::plain(format!(". {HOSTILE}")),
    ]
}

fn mode_cards() -> Vec<settings::ModeCard> {
    let card = |code, label, words, caption, example, chosen| settings::ModeCard {
        code,
        label,
        words,
        caption,
        example,
        chosen,
        in_force: chosen,
    };
    vec![
        card(
            "flag",
            "Flag / Audit",
            "PHI is detected and logged; the request goes on unchanged.",
            "The provider gets",
            highlighted(),
            false,
        ),
        card(
            "block",
            "Block",
            "A request with PHI is refused with status 403. Nothing is sent.",
            "The provider gets nothing. The caller gets",
            vec![Piece::plain("403 phi_blocked: ssn, name")],
            false,
        ),
        card(
            "redact",
            "Redact",
            "PHI is cut out and the rest is sent. Answers may suffer where context is missing.",
            "The provider gets",
            vec![Piece::plain(
                ", born , MRN , asks about her potassium of 3.1. Call .",
            )],
            false,
        ),
        card(
            "mask",
            "Mask",
            "Each item is replaced by a placeholder of its type, so the text still reads.",
            "The provider gets",
            masked(),
            true,
        ),
    ]
}

fn overview_page(is_new: bool) -> overview::Page {
    let slots: Vec<Slot> = (0..24)
        .map(|hour: u64| {
            let busy = if is_new {
                0
            } else {
                12 + (hour * 37 % 50) * (hour % 14)
            };
            Slot {
                start: moment(60 * (23 - hour as i64)),
                counts: [
                    busy,
                    busy / 9,
                    busy / 5,
                    0,
                    busy / 23,
                    hour % 5 / 4 * busy / 40,
                ],
            }
        })
        .collect();
    let bars = [
        ("name", "Name", 100, "1,204"),
        ("dob", "Date of birth", 61, "733"),
        ("mrn", "MRN", 48, "580"),
        ("phone", "Phone", 22, "262"),
        ("ssn", "SSN", 4, "51"),
    ];
    let modes = [
        ("mask", "Mask", 100, "4,811"),
        ("flag", "Flag / Audit", 12, "590"),
    ];
    let bar = |(code, label, percent, count): (&str, &str, u64, &str)| overview::Bar {
        code: code.to_owned(),
        label: label.to_owned(),
        percent,
        count: count.to_owned(),
    };
    let step = |title, words, link, done, next| overview::Step {
        title,
        words,
        href: "/providers",
        link,
        done,
        next,
    };
    let figure = |label, value: &str, unit, note: &str, tone| overview::Figure {
        label,
        value: value.to_owned(),
        unit,
        note: note.to_owned(),
        href: "/audit".to_owned(),
        tone,
    };
    overview::Page {
        chrome: chrome("/"),
        headline: "5,401 requests in the last 24 hours. PHI was found in 1,893 and handled; 74 were blocked.".to_owned(),
        periods: choices([("day", "24 hours"), ("week", "7 days"), ("month", "30 days")], "day"),
        steps: is_new.then(|| {
            vec![
                step("Set a provider key", "So that phigate can ask a model on your behalf.", "Set a key", true, false),
                step("Create an API key", "Your program sends it instead of the provider’s key.", "Create a key", false, true),
                step("Send the first request", "Use the playground, or copy a curl line from Help.", "Open the playground", false, false),
            ]
        }),
        figures: vec![
            figure("Requests", "5,401", "", "12 a minute at the busiest", ""),
            figure("With PHI", "35%", "", "1,893 requests", ""),
            figure("Blocked", "74", "", "3 refused for other reasons", ""),
            figure("Answer time", "812", "ms", "half of all answers; 95% within 2.9 s", ""),
        ],
        chart: Chart::new(&slots, "last 24 hours, by hour", false),
        attention: if is_new { vec![] } else {
            vec![
                overview::Line { tone: "bad", text: "Anthropic refused its key at the last request.".to_owned(), href: "/providers#anthropic", link: "Replace the key" },
                overview::Line { tone: "warn", text: "The API key “night batch” expires in 3 days.".to_owned(), href: "/keys", link: "Rotate it" },
            ]
        },
        types: if is_new { vec![] } else { bars.into_iter().map(bar).collect() },
        modes: if is_new { vec![] } else { modes.into_iter().map(bar).collect() },
        mode_label: "Mask".to_owned(),
        health: vec![
            overview::Health { tone: "ok", name: "Audit store".to_owned(), text: "SQLite; last record written 4 s ago".to_owned() },
            overview::Health { tone: "ok", name: "OpenAI".to_owned(), text: "key ends in 4f2a".to_owned() },
            overview::Health { tone: "bad", name: "Anthropic".to_owned(), text: "key ends in 09Zz; refused 2 minutes ago".to_owned() },
            overview::Health { tone: "", name: "Google".to_owned(), text: "no key set".to_owned() },
        ],
        latest: if is_new { vec![] } else { rows() },
    }
}

fn audit_page(is_empty: bool) -> audit::Page {
    let any = |first| choices([("", first)], "");
    audit::Page {
        chrome: chrome("/audit"),
        error: None,
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        is_tail: true,
        is_filtered: false,
        has_custom_range: false,
        chain: audit::Chain {
            tone: "ok",
            label: "Chain intact".to_owned(),
            words: "Verified just now: 12,841 records, each tied to the one before; the newest checkpoint is signed.".to_owned(),
        },
        ranges: any("All time"),
        records: any("Requests"),
        types: any("Any"),
        actions: any("Anything"),
        modes: any("Any"),
        keys: any("Any"),
        model: String::new(),
        request: String::new(),
        since: String::new(),
        until: String::new(),
        acts: vec![],
        rows: if is_empty { vec![] } else { rows() },
        newer: String::new(),
        older: if is_empty { String::new() } else { "/audit?before=1".to_owned() },
        find_types: choices([("ssn", "SSN"), ("mrn", "MRN")], "ssn"),
        found: None,
    }
}

fn record_page(is_revealed: bool) -> record::Page {
    record::Page {
        chrome: chrome("/audit"),
        error: None,
        request_id: "0193f0aa-0000-7000-8000-000000000001".to_owned(),
        tone: "masked",
        action: "Masked",
        types: vec![KindChip::new("name", 2), KindChip::new("mrn", 1)],
        decision: vec![
            Fact::time("Decided", moment(3)),
            Fact::text("Mode", "Mask"),
            Fact::text("Model asked", HOSTILE),
            Fact::text("Provider", "anthropic"),
            Fact::text("API key", "intake form (k3j2h1g4f5d6)"),
            Fact::text("Size", "1,204 bytes received, 1,180 sent"),
            Fact::text("Detector", "phi-detect 0.1.0"),
        ],
        outcome: vec![
            Fact::text("Status", "200"),
            Fact::text("Served by", "claude-opus-4-5-20251101"),
            Fact::text("Tokens", "312 in, 96 out"),
            Fact::text("Time", "first byte after 412 ms, last after 1.9 s"),
        ],
        acts: vec![Act {
            time: when(2),
            act: "Content revealed".to_owned(),
            tone: "warn",
            actor: "sam.doe@clinic.example".to_owned(),
            target: String::new(),
            href: String::new(),
            words: HOSTILE.to_owned(),
        }],
        findings: vec![record::FindingRow {
            label: "Name".to_owned(),
            class: "k6",
            path: "messages[0].content".to_owned(),
            start: 0,
            end: 8,
            score: "0.98".to_owned(),
            rule: "name.model".to_owned(),
        }],
        has_content: true,
        content_words: "The original and what was sent in its place are stored encrypted.",
        asks_password: true,
        reason: String::new(),
        content: is_revealed.then(|| Content {
            sent_title: "Sent to the provider",
            passages: vec![Passage {
                path: "messages[0].content".to_owned(),
                original: highlighted(),
                sent: masked(),
            }],
            original: format!("{{\"model\": \"{HOSTILE}\"}}"),
            sent: "{}".to_owned(),
        }),
    }
}

fn keys_page(is_empty: bool) -> keys::Page {
    let key = |name: &str, state, tone, is_usable: bool| keys::Key {
        id: "k3j2h1g4f5d6".to_owned(),
        name: name.to_owned(),
        state,
        tone,
        created: When::on(moment(90_000)),
        last_used: is_usable.then(|| when(2)),
        expires: None,
        is_usable,
    };
    keys::Page {
        chrome: chrome("/keys"),
        error: None,
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        name: String::new(),
        expiries: choices([("90d", "in 90 days"), ("", "never")], "90d"),
        fresh: is_empty.then(|| keys::Fresh {
            title: "Key “intake form” created".to_owned(),
            key: "phg_k3j2h1g4f5d6_invented0invented0invented0invented0inven".to_owned(),
            curl: "curl http://127.0.0.1:8080/v1/chat/completions \\\n  -H 'Authorization: Bearer phg_…'".to_owned(),
            python: "from openai import OpenAI".to_owned(),
            javascript: "import OpenAI from \"openai\";".to_owned(),
        }),
        keys: if is_empty { vec![] } else { vec![key("intake form", "In use", "ok", true), key(HOSTILE, "Revoked", "refused", false)] },
    }
}

fn providers_page() -> providers::Page {
    let entry = |family, label, models: &str, default_url, is_set: bool| providers::Entry {
        family,
        label,
        models: models.to_owned(),
        is_set,
        last_four: "4f2a".to_owned(),
        base_url: String::new(),
        default_url,
        changed: is_set.then(|| (when(1_300), "morgan.roe@clinic.example".to_owned())),
        test: is_set.then(|| providers::TestResult {
            tone: "ok",
            title: "Connection works",
            words: "Answered in 212 ms and accepted the key.".to_owned(),
        }),
        error: None,
    };
    providers::Page {
        chrome: Chrome {
            notice: Some(Notice {
                tone: "ok",
                text: "Saved. The key is stored encrypted; only its last four characters will be shown.",
            }),
            ..chrome("/providers")
        },
        error: None,
        private_allowed: false,
        providers: vec![
            entry(
                "openai",
                "OpenAI",
                "gpt-4o, gpt-5.2",
                "https://api.openai.com",
                true,
            ),
            entry(
                "anthropic",
                "Anthropic",
                "claude-opus-4-5",
                "https://api.anthropic.com",
                false,
            ),
        ],
        aliases: "claude-3-opus = claude-3-opus-20240229".to_owned(),
        alias_error: None,
    }
}

fn settings_page() -> settings::Page {
    let kinds = [
        ("ssn", "SSN"),
        ("dob", "Date of birth"),
        ("phone", "Phone"),
        ("email", "Email"),
        ("address", "Address"),
        ("mrn", "MRN"),
        ("name", "Name"),
        ("medicare_id", "Medicare ID"),
    ];
    settings::Page {
        chrome: chrome("/settings"),
        error: None,
        mode_changed: Some(settings::ModeChange {
            time: when(64),
            by: "morgan.roe@clinic.example".to_owned(),
        }),
        modes: mode_cards(),
        draft: settings::Draft {
            allow_unscannable: false,
            legal_hold: false,
            thresholds: kinds
                .into_iter()
                .map(|(code, label)| settings::Threshold {
                    code,
                    label,
                    value: String::new(),
                    error: false,
                })
                .collect(),
            mrn_formats: String::new(),
            content_days: "2192".to_owned(),
            record_days: "2192".to_owned(),
            requests_per_minute: String::new(),
            concurrency: String::new(),
        },
        default_per_minute: 600,
        default_concurrency: 64,
    }
}

fn playground_page() -> playground::Page {
    playground::Page {
        chrome: chrome("/playground"),
        error: None,
        text: format!(
            "Jane Roe, born 03/04/1961, MRN 00412345, asks about her potassium of 3.1. Call 555-0142. {HOSTILE}"
        ),
        model: "gpt-4o".to_owned(),
        models: vec!["gpt-4o"],
        mode_code: "mask".to_owned(),
        mode_label: "Mask".to_owned(),
        may_send: true,
        found_words: "4 findings in 0.2 ms".to_owned(),
        pieces: highlighted(),
        findings: vec![playground::Found {
            label: "Name",
            class: "k6",
            text: "Jane Roe".to_owned(),
            score: "0.98".to_owned(),
            rule: "name.model",
        }],
        modes: mode_cards(),
        answer: Some(playground::Reply {
            tone: "ok",
            status: "200".to_owned(),
            facts: vec![Fact::text("PHI found", "dob, phone, mrn, name")],
            text: "Low potassium can cause cramps.".to_owned(),
            href: "/audit/0193f0aa-0000-7000-8000-000000000001".to_owned(),
        }),
    }
}

fn users_page() -> users::Page {
    let person = |email: &str, role, is_you: bool| users::Person {
        email: email.to_owned(),
        role,
        has_totp: is_you,
        is_you,
        created: When::on(moment(200_000)),
        last_login: is_you.then(|| when(5)),
    };
    users::Page {
        chrome: chrome("/users"),
        error: None,
        email: String::new(),
        roles: choices([("auditor", "Auditor"), ("owner", "Owner")], "auditor"),
        link: Some(users::InviteLink {
            email: "sam.doe@clinic.example".to_owned(),
            url: "http://127.0.0.1:8080/setup/invented-token".to_owned(),
            expires: when(-1_440),
        }),
        users: vec![
            person("morgan.roe@clinic.example", "Owner", true),
            person("sam.doe@clinic.example", "Auditor", false),
        ],
    }
}

fn account_page(offers: bool) -> account::Page {
    account::Page {
        chrome: chrome("/account"),
        error: None,
        has_totp: false,
        offer: offers.then(|| account::Offer {
            secret: "JBSWY3DPEHPK3PXP".to_owned(),
            grouped: "JBSW Y3DP EHPK 3PXP".to_owned(),
            address: "otpauth://totp/phigate:morgan?secret=JBSWY3DPEHPK3PXP".to_owned(),
        }),
        sessions: vec![account::SessionRow {
            id: "s1".to_owned(),
            agent: "Firefox on Linux, from 127.0.0.1".to_owned(),
            created: when(60),
            seen: when(0),
            is_this: true,
        }],
    }
}

fn all() -> Vec<(&'static str, String)> {
    let bare = || Chrome {
        csrf: "token".to_owned(),
        ..Chrome::default()
    };
    let login = |asks_code: bool, error: Option<&str>| login::Page {
        chrome: bare(),
        error: error.map(str::to_owned),
        email: "morgan.roe@clinic.example".to_owned(),
        next: "/".to_owned(),
        asks_code,
    };
    let setup = setup::Page {
        chrome: bare(),
        error: None,
        heading: "Create the owner login",
        words: "You are the first here. This login can set everything and invite others."
            .to_owned(),
        action: "/setup/invented-token".to_owned(),
        email: String::new(),
        email_is_fixed: false,
    };
    let message = message::Page {
        chrome: bare(),
        heading: "Not for your role",
        words: "Auditors read the log; this page changes settings. Ask an owner of the account.",
        href: "/",
        link: "To the overview",
    };
    let help = help::Page {
        chrome: chrome("/help"),
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        snippets: vec![help::Snippet { title: "curl", code: "curl http://127.0.0.1:8080/v1/chat/completions \\\n  -H 'Authorization: Bearer phg_…'".to_owned() }, help::Snippet { title: "Python", code: "from openai import OpenAI\nclient = OpenAI(base_url=…)".to_owned() }],
        kinds: "SSN, name".to_owned(),
        may_set_up: true,
    };
    let pages: Vec<(&'static str, askama::Result<String>)> = vec![
        ("account", account_page(false).render()),
        ("account-totp", account_page(true).render()),
        ("audit", audit_page(false).render()),
        ("audit-empty", audit_page(true).render()),
        ("help", help.render()),
        ("keys", keys_page(false).render()),
        ("keys-fresh", keys_page(true).render()),
        (
            "login",
            login(false, Some("Wrong e-mail or password.")).render(),
        ),
        ("login-code", login(true, None).render()),
        ("message", message.render()),
        ("overview", overview_page(false).render()),
        ("overview-new", overview_page(true).render()),
        ("playground", playground_page().render()),
        ("providers", providers_page().render()),
        ("record", record_page(false).render()),
        ("record-revealed", record_page(true).render()),
        ("settings", settings_page().render()),
        ("setup", setup.render()),
        ("users", users_page().render()),
    ];
    pages
        .into_iter()
        .map(|(name, page)| (name, page.unwrap()))
        .collect()
}

#[test]
fn pages_hold_no_inline_script_or_style_and_escape_what_comes_from_outside() {
    let folder = std::env::var_os("DASHBOARD_PAGES").map(std::path::PathBuf::from);
    for (name, html) in all() {
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{name}.html")), &html).unwrap();
        }
        assert!(!html.contains(HOSTILE), "{name} does not escape");
        assert!(!html.contains(" style="), "{name} has an inline style");
        assert!(!html.contains("<style"), "{name} has a style element");
        assert!(!html.contains("javascript:"), "{name} has a script address");
        for attribute in [" onclick", " onload", " onerror", " onsubmit", " onchange"] {
            assert!(!html.contains(attribute), "{name} has {attribute}");
        }
        let scripts = html.matches("<script").count();
        assert_eq!(
            scripts,
            html.matches("<script src=\"/assets/").count(),
            "{name}"
        );
    }
}

#[test]
fn every_form_that_writes_carries_the_token() {
    for (name, html) in all() {
        for form in html.split("<form").skip(1) {
            let form = form.split("</form>").next().unwrap();
            let writes = form.contains("method=\"post\"");
            assert!(
                !writes || form.contains("name=\"csrf\" value=\"token\""),
                "{name}: {form}"
            );
        }
    }
}

#[test]
fn no_template_switches_escaping_off() {
    for folder in ["templates", "templates/parts"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(
                    !text.contains("|safe") && !text.contains("| safe"),
                    "{path:?}"
                );
            }
        }
    }
}
