//! Every page with invented content: they must render, hold no inline script or style, and escape
//! what came from outside. With `DASHBOARD_PAGES` set to a folder they are also written there.

mod admin;
mod log;

use askama::Template;
use jiff::Timestamp;
use phigate_types::{Action, Mode, Tone};

use super::content::{Content, Passage};
use super::rows::{ActRow, Row};
use super::terms::Terms;
use super::*;
use crate::chart::{Chart, Slot};
use crate::layout::{Layout, NavItem, Notice, Theme};
use crate::message::Message;
use crate::view::{Fact, KindChip, Piece, Tally, When, choices};

use admin::{
    account_page, admin_keys_page, allow_page, confirm_page, detection_page, issuers_page,
    keys_page, limits_page, playground_page, policy_page, policy_preview_page, provider_page,
    providers_page, recognizers_page, replies_page, retention_page, rosters_page, settings_page,
    sign_in_page, users_page,
};
use log::{
    acts_page, alerts_page, approvals_page, audit_page, audit_part_page, find_page,
    installation_page, integrity_page, overview_page, record_page, reports_page,
};

const HOSTILE: &str = "<script>alert(1)</script>";

fn moment(minutes_ago: i64) -> Timestamp {
    Timestamp::from_second(1_794_715_200 - minutes_ago * 60).unwrap()
}

fn when(minutes_ago: i64) -> When {
    When::at(moment(minutes_ago))
}

fn layout(current: &'static str) -> Layout {
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
    Layout {
        theme: Theme::Auto,
        nav: rows
            .into_iter()
            .map(|(href, label, icon)| NavItem {
                href,
                label,
                icon,
                current: href == current,
                count: usize::from(href == "/audit"),
            })
            .collect(),
        email: "morgan.roe@clinic.example".to_owned(),
        role: "Owner".to_owned(),
        account: "default".to_owned(),
        csrf: "token".to_owned(),
        is_read_only: false,
        opens: None,
        notice: None,
    }
}

fn row(minutes_ago: i64, action: Action, tone: Tone, types: &[(&str, u64)]) -> Row {
    Row {
        href: "/audit/0193f0aa-0000-7000-8000-000000000001".to_owned(),
        time: when(minutes_ago),
        action: action.label(),
        tone,
        reason: String::new(),
        types: types
            .iter()
            .map(|(code, count)| KindChip::new(code, *count))
            .collect(),
        no_types: "none",
        subject: "claude-opus-4-5".to_owned(),
        provider: "anthropic".to_owned(),
        took: "1.9 s".to_owned(),
        actor: "intake form".to_owned(),
        mode: Mode::MASK.label,
        status: "200".to_owned(),
    }
}

fn rows() -> Vec<Row> {
    let done = |minutes_ago, action: Action, types| row(minutes_ago, action, action.tone(), types);
    vec![
        done(1, Action::MASKED, &[("name", 2), ("mrn", 1)]),
        done(
            4,
            Action::BLOCKED,
            &[("ssn", 1), ("dob", 1), ("address", 1)],
        ),
        row(9, Action::FORWARDED, Tone::Warn, &[("phone", 1)]),
        done(15, Action::FORWARDED, &[]),
        done(22, Action::REDACTED, &[("email", 3), ("medicare_id", 1)]),
        done(41, Action::REFUSED, &[]),
    ]
}

/// Clients as the pages show them.
fn clients() -> Vec<connect::Connection> {
    let words = |text| connect::Words {
        text,
        is_code: false,
    };
    vec![connect::Connection {
        title: "curl",
        snippets: vec![connect::Snippet {
            lead: vec![words("A first request:")],
            what: "curl: a first request".to_owned(),
            language: "sh",
            code: format!("curl http://127.0.0.1:8080/v1/chat/completions # {HOSTILE}"),
            missing: Some("Anthropic Messages"),
        }],
        note: vec![words("Nothing more.")],
        is_served: false,
    }]
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

#[expect(clippy::too_many_lines, reason = "a list of pages")]
fn all() -> Vec<(&'static str, String)> {
    let bare = || Layout {
        csrf: "token".to_owned(),
        ..Layout::default()
    };
    let login = |asks_code: bool, error: Option<&str>| login::Page {
        layout: bare(),
        error: error.map(str::to_owned),
        email: "morgan.roe@clinic.example".to_owned(),
        next: "/".to_owned(),
        asks_code,
        sign_on: Vec::new(),
    };
    let setup = setup::Page {
        layout: bare(),
        error: None,
        heading: "Create the owner login",
        words: "You are the first here. This login can change every setting and invite others."
            .to_owned(),
        action: "/setup/invented-token".to_owned(),
        email: String::new(),
        email_is_fixed: false,
        password_min: 12,
    };
    let message = Message {
        heading: "Not for your role",
        words: "Auditors read the log; this page changes settings. Ask an owner of the account.",
        href: "/",
        link: "Go to the overview",
    };
    let help = help::Page {
        layout: layout("/help"),
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        clients: clients(),
        kinds: "SSN, name".to_owned(),
        kinds_off: "NPI".to_owned(),
        may_set_up: true,
    };
    let pages: Vec<(&'static str, askama::Result<String>)> = vec![
        ("account", account_page(false).render()),
        ("account-totp", account_page(true).render()),
        ("audit", audit_page(false).render()),
        ("audit-administration", acts_page().render()),
        ("audit-empty", audit_page(true).render()),
        ("audit-find", find_page().render()),
        ("audit-alerts", alerts_page().render()),
        ("audit-reports", reports_page().render()),
        ("audit-installation", installation_page(false).render()),
        (
            "audit-installation-shared",
            installation_page(true).render(),
        ),
        ("audit-integrity", integrity_page().render()),
        ("audit-part", audit_part_page().render()),
        ("help", help.render()),
        ("keys", keys_page(false).render()),
        ("keys-fresh", keys_page(true).render()),
        (
            "login",
            login(false, Some("Wrong e-mail or password.")).render(),
        ),
        ("login-code", login(true, None).render()),
        ("message", message.render(&bare())),
        ("message-inside", message.render(&layout(""))),
        ("overview", overview_page(false).render()),
        ("overview-new", overview_page(true).render()),
        ("playground", playground_page().render()),
        ("admin-keys", admin_keys_page().render()),
        ("approvals", approvals_page().render()),
        ("issuers", issuers_page().render()),
        ("provider", provider_page(false).render()),
        ("provider-new", provider_page(true).render()),
        ("providers", providers_page().render()),
        ("record", record_page(false).render()),
        ("record-revealed", record_page(true).render()),
        ("settings", settings_page().render()),
        ("settings-allow", allow_page().render()),
        ("settings-confirm", confirm_page().render()),
        ("settings-detection", detection_page().render()),
        ("settings-limits", limits_page().render()),
        ("settings-policy", policy_page().render()),
        ("settings-policy-preview", policy_preview_page().render()),
        ("settings-recognizers", recognizers_page().render()),
        ("settings-rosters", rosters_page().render()),
        ("settings-replies", replies_page().render()),
        ("settings-retention", retention_page().render()),
        ("settings-sign-in", sign_in_page().render()),
        ("setup", setup.render()),
        ("users", users_page().render()),
    ];
    pages
        .into_iter()
        .map(|(name, page)| (name, page.unwrap()))
        .collect()
}

#[test]
fn abandoned_search_shows_oldest_time_reached() {
    let page = audit_part_page().render().unwrap();
    for part in [
        "Looked back to <time",
        "Look further back",
        "before=1",
        "Nothing in the newest part of the log matches",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let last = audit_page(true).render().unwrap();
    assert!(!last.contains("further back"));
}

#[test]
fn pages_escape_input_and_inline_nothing() {
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
    for folder in [
        "templates",
        "templates/audit",
        "templates/message",
        "templates/parts",
        "templates/settings",
    ] {
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
