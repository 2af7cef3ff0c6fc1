//! Sample pages of what happened: overview, audit log, record.

use super::*;
use crate::pages::log::Listing;

fn bar((_, label, percent, count): (&str, &str, u64, &str)) -> overview::Bar {
    overview::Bar {
        label: label.to_owned(),
        percent,
        count: count.to_owned(),
        href: "/audit".to_owned(),
    }
}

fn slots(is_new: bool) -> Vec<Slot> {
    let slot = |hour: u64| {
        let busy = if is_new {
            0
        } else {
            12 + (hour * 37 % 50) * (hour % 14)
        };
        let counts = [
            busy,
            busy / 9,
            busy / 5,
            0,
            busy / 23,
            hour % 5 / 4 * busy / 40,
            busy / 17,
        ];
        Slot {
            start: moment(60 * (23 - hour as i64)),
            counts: counts.to_vec(),
            flagged: busy / 9,
        }
    };
    (0..24).map(slot).collect()
}

pub(super) fn overview_page(is_new: bool) -> overview::Page {
    let bars = [
        ("name", "Name", 100, "1,204"),
        ("dob", "Date of birth", 61, "733"),
        ("mrn", "MRN", 48, "580"),
        ("phone", "Phone", 22, "262"),
        ("ssn", "SSN", 4, "51"),
    ];
    let used = [
        ("k3j2h1g4f5d6", "intake form", 100, "811 of 4,811"),
        ("k3j2h1g4f5d7", HOSTILE, 12, "59 of 590"),
    ];
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
        layout: layout("/"),
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
            figure("Requests", "5,401", "", "12 per minute at the busiest", ""),
            figure("With PHI", "35%", "", "1,893 requests", ""),
            figure("Blocked", "74", "", "3 refused for other reasons", ""),
            figure("Answer time", "812", "ms", "half of all answers; 95% within 2.9 s", ""),
        ],
        chart: Chart::new(&slots(is_new), "last 24 hours, by hour", false),
        attention: if is_new { vec![] } else {
            vec![
                overview::Line { tone: "bad", text: "Anthropic refused its key at the last request.".to_owned(), href: "/providers#anthropic", link: "Replace the key" },
                overview::Line { tone: "warn", text: "The API key “night batch” expires in 3 days.".to_owned(), href: "/keys", link: "Rotate it" },
            ]
        },
        types: if is_new { vec![] } else { bars.into_iter().map(bar).collect() },
        keys: if is_new { vec![] } else { used.into_iter().map(bar).collect() },
        models: if is_new { vec![] } else { used.into_iter().map(bar).collect() },
        errors: if is_new { vec![] } else { bars.into_iter().map(bar).collect() },
        shows_phi: false,
        period: "day",
        legal_hold: true,
        mode_label: "Mask",
        health: vec![
            overview::Health { tone: "ok", name: "Audit store".to_owned(), text: "SQLite; last record written 4 s ago".to_owned(), href: "" },
            overview::Health { tone: "ok", name: "OpenAI".to_owned(), text: "key ends in 4f2a".to_owned(), href: "" },
            overview::Health { tone: "bad", name: "Anthropic".to_owned(), text: "key ends in 09Zz; refused 2 minutes ago".to_owned(), href: "" },
            overview::Health { tone: "", name: "Google".to_owned(), text: "no key set".to_owned(), href: "" },
        ],
        latest: if is_new { vec![] } else { rows() },
    }
}

pub(super) fn audit_page(is_empty: bool) -> audit::Page {
    let any = |first| choices([("", first)], "");
    audit::Page {
        layout: layout("/audit"),
        tabs: any("Requests"),
        error: None,
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        listing: Listing {
            older: match is_empty {
                true => String::new(),
                false => "/audit?before=1".to_owned(),
            },
            ..listing("/audit", "12,841 requests")
        },
        shows_more: false,
        chain: chain(),
        records: any("Requests"),
        types: any("Any"),
        actions: any("Anything"),
        modes: any("Any"),
        doors: any("Any"),
        keys: any("Any"),
        providers: any("Any"),
        errors: any("Any"),
        statuses: any("Any"),
        model: HOSTILE.to_owned(),
        request: String::new(),
        rows: if is_empty { vec![] } else { rows() },
    }
}

/// A search that has looked at much and found nothing yet.
pub(super) fn audit_part_page() -> audit::Page {
    let page = audit_page(true);
    audit::Page {
        listing: Listing {
            is_filtered: true,
            older: "/audit?door=embeddings&before=1".to_owned(),
            looked_back_to: Some(when(0)),
            ..page.listing
        },
        ..page
    }
}

fn listing(address: &'static str, total: &str) -> Listing {
    Listing {
        address,
        ranges: choices([("", "All time")], ""),
        is_tail: true,
        total: total.to_owned(),
        ..Listing::default()
    }
}

fn chain() -> verify::Chain {
    verify::Chain {
        verified: Some(when(0)),
        tone: "ok",
        label: "Chain intact".to_owned(),
        words: "12,841 records, each tied to the one before; the newest checkpoint is signed."
            .to_owned(),
    }
}

pub(super) fn acts_page() -> acts::Page {
    let any = |first| choices([("", first)], "");
    acts::Page {
        layout: layout("/audit"),
        tabs: any("Administration"),
        error: None,
        listing: Listing {
            is_filtered: true,
            ..listing("/audit/administration", "1 act")
        },
        people: any("Anybody"),
        kinds: any("Anything"),
        acts: vec![looked()],
    }
}

pub(super) fn installation_page(is_shared: bool) -> installation::Page {
    installation::Page {
        layout: layout("/audit"),
        tabs: choices([("", "Administration")], ""),
        listing: listing("/audit/installation", ""),
        acts: vec![looked()],
        is_shared,
    }
}

pub(super) fn find_page() -> find::Page {
    find::Page {
        layout: layout("/audit"),
        tabs: choices([("", "Find")], ""),
        error: Some(HOSTILE.to_owned()),
        types: choices([("ssn", "SSN"), ("mrn", "MRN")], "ssn"),
        found: Some(find::Found {
            words: HOSTILE.to_owned(),
            rows: rows(),
        }),
    }
}

pub(super) fn alerts_page() -> alerts::Page {
    let row = |by: &str| alerts::Row {
        time: when(7),
        code: phigate_types::AlertCode::PhiNewKey.code(),
        words: "A key sent PHI for the first time.",
        subject: HOSTILE.to_owned(),
        details: HOSTILE.to_owned(),
        by: by.to_owned(),
        requests: vec!["0193f0aa-0000-7000-8000-000000000001".to_owned()],
    };
    alerts::Page {
        layout: layout("/audit"),
        tabs: choices([("", "Alerts")], ""),
        open: vec![row("")],
        acknowledged: vec![row("sam.doe@clinic.example")],
    }
}

pub(super) fn reports_page() -> reports::Page {
    let formats = [("html", "Page to print (HTML)"), ("json", "JSON")];
    reports::Page {
        layout: layout("/audit"),
        tabs: choices([("", "Reports")], ""),
        error: Some(HOSTILE.to_owned()),
        types: choices([("ssn", "SSN"), ("mrn", "MRN")], "ssn"),
        providers: choices([("", "All providers"), ("x", HOSTILE)], ""),
        keys: choices([("", "All keys"), ("x", HOSTILE)], ""),
        formats: choices(formats, "html"),
        since: String::new(),
        until: String::new(),
        month: "2026-01".to_owned(),
        reference: HOSTILE.to_owned(),
        letterhead: HOSTILE.to_owned(),
        finds: true,
        configures: true,
    }
}

pub(super) fn integrity_page() -> verify::Page {
    verify::Page {
        layout: layout("/audit"),
        tabs: choices([("", "Integrity")], ""),
        chain: chain(),
        history: vec![verify::Past {
            time: when(300),
            tone: "ok",
            verdict: HOSTILE.to_owned(),
            by: "system".to_owned(),
        }],
        elsewhere: Some(when(3)),
        is_copied: true,
        public_key: "XbO/0bONMLcGeUM8woyZldVCJu0JPUEEfZeu45xq92s=".to_owned(),
    }
}

fn looked() -> ActRow {
    ActRow {
        time: when(2),
        act: "Content revealed",
        tone: Tone::Warn,
        actor: "sam.doe@clinic.example".to_owned(),
        by: "/audit/administration".to_owned(),
        target: String::new(),
        href: String::new(),
        words: HOSTILE.to_owned(),
    }
}

fn asked(is_own: bool) -> approvals::Asked {
    approvals::Asked {
        id: "q1w2e3r4t5y6".to_owned(),
        what: "Request 0193f0aa-0000-7000-8000-000000000001".to_owned(),
        href: "/audit/0193f0aa-0000-7000-8000-000000000001#content".to_owned(),
        actor: "sam.doe@clinic.example".to_owned(),
        reason: HOSTILE.to_owned(),
        asked: when(4),
        approved_by: None,
        expires: when(-26),
        is_own,
    }
}

pub(super) fn approvals_page() -> approvals::Page {
    approvals::Page {
        layout: layout("/audit"),
        tabs: choices([("/audit/looks", "Reveals")], "/audit/looks"),
        error: Some(HOSTILE.to_owned()),
        takes_two: true,
        asks_password: true,
        asked: vec![asked(true), asked(false)],
        approvers: "an owner or auditor".to_owned(),
    }
}

pub(super) fn record_page(is_revealed: bool) -> record::Page {
    record::Page {
        layout: layout("/audit"),
        error: None,
        request_id: "0193f0aa-0000-7000-8000-000000000001".to_owned(),
        tone: Tone::Info,
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
        acts: vec![looked()],
        findings: vec![record::FindingRow {
            label: "Name".to_owned(),
            class: "k6",
            path: "messages[0].content".to_owned(),
            start: 0,
            end: 8,
            score: "0.98".to_owned(),
            rule: "name.model".to_owned(),
            allow: Some(0),
        }],
        findings_words: "1, by place; positions count characters".to_owned(),
        has_content: true,
        may_reveal: true,
        revealers: "an owner or auditor".to_owned(),
        content_words: "The original and what was sent in its place are stored encrypted.",
        asks_password: true,
        reason: String::new(),
        takes_two: !is_revealed,
        asked: vec![asked(true), asked(false)],
        content: is_revealed.then(|| Content {
            sent_title: "Sent to the provider",
            passages: vec![Passage {
                path: "messages[0].content".to_owned(),
                original: highlighted(),
                sent: masked(),
            }],
            original: format!("{{\"model\": \"{HOSTILE}\"}}"),
            sent: "{}".to_owned(),
            reply: HOSTILE.to_owned(),
        }),
        shown_s: 300,
        sentence: HOSTILE.to_owned(),
        alike: vec![("More with this key", "/audit?key=k3j2h1g4f5d6".to_owned())],
    }
}
