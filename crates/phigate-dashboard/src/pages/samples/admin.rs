//! Sample pages of administration.

use super::*;
use crate::pages::chains::{Chain, Link};
use crate::pages::dropped;

pub(super) fn keys_page(is_empty: bool) -> keys::Page {
    let key = |name: &str, state, tone, is_usable: bool| keys::Key {
        id: "k3j2h1g4f5d6".to_owned(),
        name: name.to_owned(),
        group: HOSTILE.to_owned(),
        state,
        tone,
        created: When::on(moment(90_000)),
        last_used: is_usable.then(|| when(2)),
        expires: None,
        is_usable,
        usage: keys::Usage {
            requests: "12 requests".to_owned(),
            phi: "25%".to_owned(),
            tokens: "810 tokens".to_owned(),
            last_model: HOSTILE.to_owned(),
        },
    };
    keys::Page {
        layout: layout("/keys"),
        tabs: keys::tabs("/keys"),
        error: None,
        base_url: "http://127.0.0.1:8080/v1".to_owned(),
        name: String::new(),
        name_max: 80,
        expiries: choices([("90d", "in 90 days"), ("", "never")], "90d"),
        fresh: is_empty.then(|| keys::Fresh {
            title: "Key “intake form” created".to_owned(),
            key: "phg_k3j2h1g4f5d6_invented0invented0invented0invented0inven".to_owned(),
            clients: clients(),
        }),
        groups: vec![HOSTILE.to_owned()],
        group: HOSTILE.to_owned(),
        keys: if is_empty {
            vec![]
        } else {
            vec![
                key("intake form", "In use", "ok", true),
                key(HOSTILE, "Revoked", "grey", false),
            ]
        },
    }
}

fn terms() -> Terms {
    Terms {
        label: "PHI masked",
        tone: "info",
        agreement: format!("{HOSTILE}, until 2026-12-01"),
        warning: Some((
            "warn",
            "The agreement ends on 2026-12-01. After that day, requests with PHI are no longer sent there."
                .to_owned(),
        )),
    }
}

pub(super) fn provider_page(is_new: bool) -> provider::Page {
    let preset = presets::find("azure-entra").unwrap();
    provider::Page {
        layout: layout("/providers"),
        error: is_new.then(|| format!("Region: {HOSTILE}.")),
        title: if is_new {
            "Add Azure OpenAI, Entra ID".to_owned()
        } else {
            "azure-eu".to_owned()
        },
        lead: preset.summary.to_owned(),
        action: if is_new {
            "/providers/add/azure-entra".to_owned()
        } else {
            "/provider/azure-eu".to_owned()
        },
        name: if is_new {
            HOSTILE.to_owned()
        } else {
            "azure-eu".to_owned()
        },
        is_new,
        steps: preset.steps,
        console: preset.console,
        fields: vec![provider::Field {
            code: "base-url",
            label: "Base URL",
            value: HOSTILE.to_owned(),
            hint: "Write the root.".to_owned(),
            is_needed: true,
        }],
        more: vec![provider::Field {
            code: "token-url",
            label: "Token URL",
            value: String::new(),
            hint: HOSTILE.to_owned(),
            is_needed: false,
        }],
        secret: Some(provider::SecretField {
            label: "client secret",
            is_document: false,
            is_stored: !is_new,
            is_needed: is_new,
            last_four: "4f2a".to_owned(),
        }),
        models: "gpt-4o=chat-prod".to_owned(),
        models_example: preset.models,
        priority: "100".to_owned(),
        agreements: vec![],
        agreement: HOSTILE.to_owned(),
        agreement_expires: "2026-12-01".to_owned(),
        why: String::new(),
        terms: (!is_new).then(terms),
        changed: (!is_new).then(|| (when(1_300), "morgan.roe@clinic.example".to_owned())),
        test: None,
    }
}

fn tested() -> trials::TestResult {
    trials::TestResult {
        tone: "ok",
        state: "Tested",
        time: when(3),
        title: "Connection works",
        words: "Answered in 212 ms and accepted the key.".to_owned(),
    }
}

pub(super) fn providers_page() -> providers::Page {
    let entry = |family, label, models: &str, default_url: &str, is_set: bool| providers::Entry {
        family,
        label,
        models: models.to_owned(),
        is_set,
        last_four: "4f2a".to_owned(),
        base_url: String::new(),
        default_url: String::from(default_url),
        changed: is_set.then(|| (when(1_300), "morgan.roe@clinic.example".to_owned())),
        terms: is_set.then(terms),
        health: "34 requests in the last hour, no errors, p50 420 ms, p95 1,900 ms".to_owned(),
        test: is_set.then(tested),
        error: None,
    };
    providers::Page {
        layout: Layout {
            notice: Some(Notice {
                tone: "ok",
                text: "Saved. The key is stored encrypted; only its last four characters will be shown.",
            }),
            ..layout("/providers")
        },
        error: None,
        private_allowed: false,
        others: vec![providers::Other {
            name: "azure-eu".to_owned(),
            kind: "Azure OpenAI",
            address: "https://clinic.openai.azure.com".to_owned(),
            models: "gpt-4o=chat-prod, gpt-5.2=chat-new".to_owned(),
            priority: 50,
            terms: terms(),
            health: "not asked in the last hour".to_owned(),
            test: None,
        }],
        presets: presets::PRESETS,
        chains: vec![Chain {
            asked: "gpt-4o".to_owned(),
            links: vec![Link {
                name: HOSTILE.to_owned(),
                model: "gpt-4o".to_owned(),
                remark: Some(("warn", "left out when there is PHI")),
            }],
        }],
        fallbacks: format!("gpt-4o = {HOSTILE}"),
        fallback_error: None,
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
        built_in: vec![("claude-3-haiku", "claude-3-haiku-20240307")],
        alias_error: None,
    }
}

pub(super) fn settings_page() -> settings::Page {
    settings::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings"),
        error: None,
        mode_changed: Some(settings::ModeChange {
            time: when(64),
            by: "morgan.roe@clinic.example".to_owned(),
        }),
        modes: mode_cards(),
        profiles: settings::profile_cards(&phigate_store::KindSettings::default()),
        generalizes: true,
    }
}

pub(super) fn policy_page() -> settings::policy::Page {
    let cell = |level: &str, chosen: &str, holds: &str| settings::policy::Cell {
        field: format!("{level}:ssn"),
        level: level.to_owned(),
        choices: choices([("", "—"), ("block", "Block")], chosen),
        holds: holds.to_owned(),
        is_said: !chosen.is_empty(),
        is_overruled: false,
    };
    let head = |title: &str, note: &str| settings::policy::ColumnHead {
        title: title.to_owned(),
        note: note.to_owned(),
    };
    settings::policy::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/policy"),
        error: None,
        answer: vec![Tally {
            count: 8,
            label: "Masked",
            tone: "info",
        }],
        columns: vec![head("Account", "every request"), head(HOSTILE, HOSTILE)],
        rows: vec![settings::policy::Row {
            code: "ssn",
            label: HOSTILE.to_owned(),
            cells: vec![
                cell("account", "block", ""),
                cell(HOSTILE, "", "Block, by account"),
            ],
        }],
        not_looked_for: vec!["NPI"],
        demands: vec![HOSTILE.to_owned()],
        header_counts: false,
        keys: vec![("k3j2h1g4f5d6".to_owned(), HOSTILE.to_owned())],
        added: vec![HOSTILE.to_owned()],
    }
}

pub(super) fn policy_preview_page() -> settings::policy::Preview {
    settings::policy::Preview {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/policy"),
        error: None,
        address: "/settings/policy",
        answer: vec![Tally {
            count: 12,
            label: "Blocked",
            tone: "bad",
        }],
        tried: "Tried on 352 requests.".to_owned(),
        changes: vec![settings::policy::Change {
            level: HOSTILE.to_owned(),
            kind: HOSTILE.to_owned(),
            before: "Mask",
            after: "Flag",
            is_weaker: true,
        }],
        findings: vec![settings::policy::Changed {
            kind: HOSTILE.to_owned(),
            before: "Mask",
            after: "Flag",
            findings: "12".to_owned(),
            requests: "9".to_owned(),
        }],
        fields: vec![("account:ssn".to_owned(), HOSTILE.to_owned())],
        is_weaker: true,
        reason: HOSTILE.to_owned(),
    }
}

pub(super) fn allow_page() -> settings::allow::Page {
    settings::allow::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/allow"),
        error: None,
        hits: "1,204".to_owned(),
        entries: vec![settings::allow::Entry {
            id: "k3j2h1g4".to_owned(),
            kind: "Name".to_owned(),
            reason: HOSTILE.to_owned(),
            hits: "12".to_owned(),
            last_used: Some(when(3)),
            added: When::on(moment(9_000)),
            added_by: HOSTILE.to_owned(),
        }],
        kinds: choices([("name", "Name")], "name"),
        never: "SSN".to_owned(),
        value: HOSTILE.to_owned(),
        reason: HOSTILE.to_owned(),
    }
}

pub(super) fn recognizers_page() -> settings::recognizers::Page {
    settings::recognizers::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/recognizers"),
        error: None,
        is_right: true,
        recognizers: vec![settings::recognizers::Line {
            code: "x_study".to_owned(),
            label: HOSTILE.to_owned(),
            finds: HOSTILE.to_owned(),
            found: vec![HOSTILE.to_owned()],
            not_found: vec![HOSTILE.to_owned()],
            hits: "12 requests".to_owned(),
            last_used: Some(when(3)),
            set: When::on(moment(9_000)),
            set_by: HOSTILE.to_owned(),
        }],
        draft: settings::recognizers::Draft {
            code: "x_study".to_owned(),
            pattern: HOSTILE.to_owned(),
            found: HOSTILE.to_owned(),
            ..settings::recognizers::Draft::default()
        },
        checks: choices([("none", "none"), ("luhn", "luhn")], "none"),
    }
}

pub(super) fn rosters_page() -> settings::rosters::Page {
    settings::rosters::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/rosters"),
        error: None,
        patients: "48,210".to_owned(),
        rosters: vec![settings::rosters::Line {
            name: "wards".to_owned(),
            patients: "48,210".to_owned(),
            imported: when(64),
            imported_by: HOSTILE.to_owned(),
        }],
    }
}

pub(super) fn replies_page() -> settings::replies::Page {
    let replies = phigate_types::Replies::Mask;
    settings::replies::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/replies"),
        error: None,
        restore: true,
        tools: format!("send_*, {HOSTILE}"),
        choices: settings::replies::reply_choices(replies),
        stages: settings::replies::stages(&phi_detect::Detector::default(), replies).unwrap(),
    }
}

pub(super) fn detection_page() -> settings::detection::Page {
    let threshold = |kind: phi_detect::PhiKind| settings::detection::Threshold {
        code: kind.code(),
        label: kind.label(),
        default: "0.5".to_owned(),
        value: String::new(),
        error: false,
    };
    settings::detection::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/detection"),
        error: None,
        allow_unscannable: false,
        documents: settings::detection::document_choices(phigate_types::Documents::Text),
        thresholds: phi_detect::PhiKind::all().map(threshold).collect(),
        mrn_formats: HOSTILE.to_owned(),
    }
}

pub(super) fn retention_page() -> settings::retention::Page {
    settings::retention::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/retention"),
        error: None,
        content_days: "2192".to_owned(),
        record_days: "2192".to_owned(),
        legal_hold: true,
        days_max: 36_500,
        approvals: phigate_types::Approvals::all().collect(),
        chosen: phigate_types::Approvals::Two,
    }
}

pub(super) fn limits_page() -> settings::limits::Page {
    settings::limits::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/limits"),
        error: None,
        requests_per_minute: String::new(),
        concurrency: String::new(),
        limit_max: 1_000_000,
        default_per_minute: 600,
        default_concurrency: 64,
    }
}

pub(super) fn sign_in_page() -> settings::sign_in::Page {
    settings::sign_in::Page {
        layout: layout("/settings"),
        tabs: settings::tabs("/settings/sign-in"),
        error: None,
        require_second_factor: true,
        without: "Everybody has one.".to_owned(),
        sign_on: None,
        redirect_address: "https://gate.example/login/sso/default/callback".to_owned(),
        logout_address: "https://gate.example/login/sso/default/backchannel-logout".to_owned(),
        break_glass: 0,
        fields: settings::sign_on_fields::SignOnFields {
            issuer: HOSTILE.to_owned(),
            roles: HOSTILE.to_owned(),
            ..settings::sign_on_fields::SignOnFields::default()
        },
        role_codes: "owner, auditor".to_owned(),
        offers_mark: true,
        checks: vec![settings::sign_on_fields::CheckRow {
            tone: "bad",
            mark: "Wrong",
            title: HOSTILE.to_owned(),
            words: HOSTILE.to_owned(),
        }],
    }
}

pub(super) fn confirm_page() -> settings::weakening::Page {
    settings::weakening::Page {
        layout: layout("/settings"),
        error: None,
        address: "/settings".to_owned(),
        fields: vec![("mode".to_owned(), HOSTILE.to_owned())],
        changes: vec![settings::weakening::Change {
            what: "PHI is forwarded unchanged. Now the mode is Mask.".to_owned(),
            concerns: "In the last 30 days, phigate changed or held back 48 requests with PHI."
                .to_owned(),
        }],
        reason: HOSTILE.to_owned(),
    }
}

pub(super) fn playground_page() -> playground::Page {
    playground::Page {
        layout: layout("/playground"),
        error: None,
        text: format!(
            "Jane Roe, born 03/04/1961, MRN 00412345, asks about her potassium of 3.1. Call 555-0142. {HOSTILE}"
        ),
        model: "gpt-4o".to_owned(),
        models: vec!["gpt-4o".to_owned()],
        mode_code: phigate_types::Mode::MASK.code,
        mode_label: "Mask",
        may_send: true,
        found_words: "4 findings in 0.2 ms".to_owned(),
        pieces: highlighted(),
        findings: vec![playground::Found {
            label: "Name",
            class: "k6",
            text: "Jane Roe".to_owned(),
            score: "0.98".to_owned(),
            why: HOSTILE.to_owned(),
            pick: HOSTILE.to_owned(),
        }],
        dropped: Some(dropped::Dropped {
            name: HOSTILE.to_owned(),
            words: "1 finding".to_owned(),
            is_read: true,
            findings: vec![dropped::Placed {
                label: "SSN",
                class: "k1",
                place: "part=word/comments.xml".to_owned(),
                text: HOSTILE.to_owned(),
                score: "0.99".to_owned(),
                rule: "ssn.labelled",
            }],
        }),
        modes: mode_cards(),
        answer: Some(playground::Reply {
            tone: "ok",
            status: "200".to_owned(),
            facts: vec![Fact::text("PHI found", "dob, phone, mrn, name")],
            stages: vec![settings::replies::Stage {
                title: "As given back",
                text: "Low potassium can cause cramps.".to_owned(),
            }],
            href: "/audit/0193f0aa-0000-7000-8000-000000000001".to_owned(),
        }),
        formats: choices([("text", "One message"), ("json", "Messages")], "text"),
        curl: HOSTILE.to_owned(),
    }
}

pub(super) fn users_page() -> users::Page {
    let person = |email: &str, role: &str, is_you: bool| users::Person {
        email: email.to_owned(),
        key: email.to_owned(),
        subject: None,
        break_glass: is_you,
        role: role.to_owned(),
        roles: users::roles("auditor"),
        has_totp: is_you,
        is_owner: is_you,
        is_you,
        acts: "/audit/administration".to_owned(),
        created: When::on(moment(200_000)),
        last_login: is_you.then(|| when(5)),
    };
    users::Page {
        layout: layout("/users"),
        error: None,
        email: String::new(),
        roles: users::roles("auditor"),
        summaries: vec![(
            "Auditor",
            "Reads all records and settings. Changes nothing.",
        )],
        link: Some(users::InviteLink {
            email: "sam.doe@clinic.example".to_owned(),
            url: "http://127.0.0.1:8080/setup/invented-token".to_owned(),
            expires: when(-1_440),
        }),
        invitations: vec![users::Invitation {
            email: "sam.doe@clinic.example".to_owned(),
            role: "Auditor",
            expires: when(-1_440),
        }],
        users: vec![
            person("morgan.roe@clinic.example", "Owner", true),
            person("sam.doe@clinic.example", "Auditor", false),
        ],
        sessions: vec![users::SignedInRow {
            id: "s1".to_owned(),
            email: "sam.doe@clinic.example".to_owned(),
            place: "Firefox on Linux, from 127.0.0.1".to_owned(),
            created: when(60),
            seen: when(0),
            is_this: false,
        }],
        is_required: false,
        has_sign_on: false,
    }
}

pub(super) fn account_page(offers: bool) -> account::Page {
    account::Page {
        layout: layout("/account"),
        error: None,
        has_totp: false,
        codes_left: 0,
        codes: Vec::new(),
        is_required: false,
        password_min: 12,
        subject: None,
        offer: offers.then(|| account::Offer {
            secret: "JBSWY3DPEHPK3PXP".to_owned(),
            grouped: "JBSW Y3DP EHPK 3PXP".to_owned(),
            address: "otpauth://totp/phigate:morgan?secret=JBSWY3DPEHPK3PXP".to_owned(),
            drawing: crate::qr::draw("otpauth://totp/phigate:morgan?secret=JBSWY3DPEHPK3PXP"),
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

pub(super) fn admin_keys_page() -> admin_keys::Page {
    let key = |is_usable| admin_keys::Key {
        id: "k3j2h1g4f5d6".to_owned(),
        name: HOSTILE.to_owned(),
        role: "Operator",
        is_installation: is_usable,
        state: "In use",
        tone: "ok",
        created: when(4_000),
        created_by: "morgan.roe@clinic.example".to_owned(),
        last_used: is_usable.then(|| when(3)),
        expires: is_usable.then(|| when(-80_000)),
        is_usable,
        acts: "/audit/administration".to_owned(),
    };
    admin_keys::Page {
        layout: layout("/keys"),
        tabs: keys::tabs("/keys/admin"),
        error: Some(HOSTILE.to_owned()),
        api_url: "https://gate.example/admin/v1".to_owned(),
        name: HOSTILE.to_owned(),
        name_max: 80,
        roles: users::roles("operator"),
        summaries: vec![("Operator", "Providers, keys, policy and limits.")],
        expiries: choices([("90d", "in 90 days")], "90d"),
        fresh: Some((HOSTILE.to_owned(), "pha_invented".to_owned())),
        keys: vec![key(true), key(false)],
    }
}

pub(super) fn issuers_page() -> issuers::Page {
    issuers::Page {
        layout: layout("/keys"),
        tabs: keys::tabs("/keys/issuers"),
        error: Some(HOSTILE.to_owned()),
        typed: issuers::Typed {
            claims: HOSTILE.to_owned(),
            ..issuers::Typed::default()
        },
        keys: choices([("k3j2h1g4f5d6", "intake form (k3j2h1g4f5d6)")], ""),
        issuers: vec![issuers::Issuer {
            name: "intake".to_owned(),
            issuer: HOSTILE.to_owned(),
            audience: "api://phigate".to_owned(),
            claims: vec![HOSTILE.to_owned()],
            key: "intake form (k3j2h1g4f5d6)".to_owned(),
            key_id: "k3j2h1g4f5d6".to_owned(),
            is_usable: false,
            last_used: None,
            updated: when(900),
            updated_by: "morgan.roe@clinic.example".to_owned(),
        }],
    }
}
