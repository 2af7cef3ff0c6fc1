//! The command line, as a person or a script meets it.

use crate::support::{Gateway, Provider, Reply, SSN_TEXT};

#[test]
fn scan_works_without_a_store() {
    let gateway = Gateway::offline();
    assert_eq!(
        gateway.command_with_input(&["scan", "--mask"], SSN_TEXT),
        "My SSN is [SSN]."
    );
    assert_eq!(
        gateway.command_with_input(&["scan", "--redact"], SSN_TEXT),
        "My SSN is ."
    );
    let json: serde_json::Value =
        serde_json::from_str(&gateway.command_with_input(&["scan", "--json"], SSN_TEXT)).unwrap();
    assert_eq!(
        (
            json["findings"][0]["type"].as_str(),
            json["findings"][0]["start"].as_u64()
        ),
        (Some("ssn"), Some(10))
    );
    assert!(!gateway.data().exists());
}

#[test]
fn scan_prints_line_and_column_of_findings() {
    let gateway = Gateway::offline();
    let told =
        gateway.command_with_input(&["scan"], &format!("{SSN_TEXT}\né {SSN_TEXT} {SSN_TEXT}\n"));
    let places: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    let column = SSN_TEXT.find("536").unwrap() + 1;
    let (second, third) = (column + 2, column + 3 + SSN_TEXT.len());
    let wanted = [
        format!("-:1:{column}"),
        format!("-:2:{second}"),
        format!("-:2:{third}"),
    ];
    assert_eq!(places[..3], wanted, "{told}");
}

#[test]
fn audit_filter_with_unknown_word_is_refused() {
    let gateway = Gateway::offline();
    gateway.key();
    for filter in [
        ["--type", "snn"],
        ["--action", "block"],
        ["--mode", "masked"],
        ["--key", "nokeyofthisid"],
        ["--limit", "0"],
    ] {
        let refused = gateway.try_command(&["audit", "list", filter[0], filter[1]], "");
        assert_eq!(refused.status.code(), Some(2), "{filter:?}");
    }
}

#[test]
fn scan_answers_with_its_exit_code() {
    let gateway = Gateway::offline();
    let code =
        |arguments: &[&str], input: &str| gateway.try_command(arguments, input).status.code();
    assert_eq!(code(&["scan", "--check"], SSN_TEXT), Some(1));
    assert_eq!(code(&["scan", "--check"], "Hello."), Some(0));
    assert_eq!(code(&["scan"], SSN_TEXT), Some(0));
    assert_eq!(code(&["scan", "no-such-file"], ""), Some(2));
}

#[test]
fn bad_jsonl_line_is_named_not_quoted() {
    let gateway = Gateway::offline();
    let output = gateway.try_command(
        &["scan", "--jsonl"],
        "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"zebra",
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"id\":1,\"spans\":[]}\n"
    );
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("line 2") && !message.contains("zebra"),
        "{message}"
    );
}

#[test]
fn eval_scores_each_type() {
    let gateway = Gateway::offline();
    let gold = gateway.folder.path().join("gold.jsonl");
    let lines = [
        r#"{"id":"1","text":"My SSN is 536-22-8741.","spans":[{"start":10,"end":21,"type":"SSN"}]}"#,
        r#"{"id":"2","text":"The lungs are clear.","spans":[{"start":4,"end":9,"type":"SSN"}]}"#,
    ];
    std::fs::write(&gold, lines.join("\n")).unwrap();
    let table = gateway.command(&["eval", gold.to_str().unwrap()]);
    let row: Vec<&str> = table
        .lines()
        .find(|line| line.starts_with("ssn"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert_eq!(
        row,
        ["ssn", "2", "1", "1.000", "0.500", "0.667", "0.312", "0"],
        "{table}"
    );
}

#[test]
fn fresh_folder_gets_private_store_and_key() {
    use std::os::unix::fs::PermissionsExt;
    let gateway = Gateway::offline();
    gateway.key();
    assert_eq!(gateway.command(&["mode", "get"]), "flag\n");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&gateway.data()), 0o700);
    assert_eq!(mode(&gateway.data().with_extension("key")), 0o600);
}

#[test]
fn wrong_usage_exits_with_two() {
    let gateway = Gateway::offline();
    for arguments in [
        &["no-such-command"][..],
        &["mode", "set"],
        &["mode", "set", "off"],
        &["provider", "set", "mistral", "--key-stdin"],
        &["key", "revoke", "nonexistent"],
        &["mode", "get", "--account", "nobody"],
        &["provider", "set", "openai"],
        &[
            "provider",
            "set",
            "openai",
            "--base-url",
            "https://proxy.example.org",
        ],
    ] {
        assert_eq!(
            gateway.try_command(arguments, "x\n").status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
}

#[test]
fn accounts_keep_modes_keys_and_users_apart() {
    let gateway = Gateway::offline();
    gateway.command(&["account", "create", "default-2"]);
    assert_eq!(
        gateway.try_command(&["mode", "get"], "").status.code(),
        Some(2),
        "two accounts: one must be named"
    );
    gateway.command(&["mode", "set", "block", "--account", "default-2"]);
    assert_eq!(
        gateway.command(&["mode", "get", "--account", "default"]),
        "flag\n"
    );
    let key = gateway.command(&[
        "key",
        "create",
        "--name",
        "ward-seven",
        "--account",
        "default",
    ]);
    let id = key.split('_').nth(1).unwrap();
    assert!(
        gateway
            .command(&["key", "list", "--account", "default"])
            .contains(id)
    );
    assert!(
        !gateway
            .command(&["key", "list", "--account", "default-2"])
            .contains(id)
    );
    gateway.command_with_input(
        &[
            "user",
            "add",
            "owner@example.org",
            "--password-stdin",
            "--account",
            "default",
        ],
        "correct horse battery staple\n",
    );
    assert!(
        gateway
            .command(&["user", "list", "--account", "default"])
            .contains("owner@example.org  owner")
    );
    assert!(
        !gateway
            .command(&["user", "list", "--account", "default-2"])
            .contains("owner@example.org")
    );
}

#[test]
fn a_provider_key_is_never_shown_again() {
    let gateway = Gateway::offline();
    gateway.command_with_input(
        &["provider", "set", "openai", "--key-stdin"],
        "sk-zebra-lantern-1234\n",
    );
    let list = gateway.command(&["provider", "list"]);
    assert!(
        list.contains("https://api.openai.com") && list.contains("1234") && !list.contains("zebra"),
        "{list}"
    );
    gateway.command(&[
        "provider",
        "set",
        "openai",
        "--base-url",
        "https://proxy.example.org",
    ]);
    assert!(
        gateway
            .command(&["provider", "list"])
            .contains("proxy.example.org")
    );
    assert!(!gateway.is_on_disk(b"zebra"));
}

#[test]
fn doctor_says_how_to_add_provider() {
    let gateway = Gateway::offline();
    gateway.command(&["mode", "set", "FLAG"]);
    let output = gateway.try_command(&["doctor"], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("no provider is configured") && text.contains("provider set"),
        "{text}"
    );
}

#[test]
fn doctor_asks_every_provider() {
    let (known, unknown) = (Provider::start(), Provider::start());
    let gateway = Gateway::offline();
    let set = |name: &str, url: &str| {
        let arguments = ["provider", "set", name, "--key-stdin", "--base-url", url];
        gateway.command_with_input(&arguments, "sk-test-of-no-value\n");
    };
    let doctor = |status: i32, accepted: usize| {
        let said = gateway.try_command(&["doctor"], "");
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        assert_eq!(said.status.code(), Some(status), "{text}");
        let found = text.matches("and accepts our requests").count();
        assert_eq!(found, accepted, "{text}");
        text
    };
    set("openai", &known.url());
    set("anthropic", &known.url());
    doctor(0, 2);
    set("anthropic", &unknown.url());
    unknown.answer_next(Reply::with_headers(401, &[], "{}"));
    let text = doctor(1, 1);
    assert!(text.contains("The provider refuses the key"), "{text}");
    assert!(text.contains("provider test anthropic"), "{text}");
}

#[test]
fn installation_moves_to_another_store_intact() {
    let old = Gateway::offline();
    old.command(&["mode", "set", "mask"]);
    let key = old.key();
    let file = old.folder.path().join("installation.phigate");
    let file = file.to_str().unwrap();
    assert!(old.command(&["export", file]).contains("records exported"));
    let new = old.folder.path().join("new");
    let master = old.data().with_extension("key");
    let at_new = [
        "--data",
        new.to_str().unwrap(),
        "--master-key-file",
        master.to_str().unwrap(),
    ];
    let told = old.command(&[&["import", file], &at_new[..]].concat());
    assert!(told.contains("imported and verified"), "{told}");
    assert_eq!(
        old.command(&[&["mode", "get"], &at_new[..]].concat()),
        "mask\n"
    );
    let keys = old.command(&[&["key", "list"], &at_new[..]].concat());
    assert!(keys.contains(key.split('_').nth(1).unwrap()), "{keys}");
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let gateway = Gateway::offline();
    for _ in 0..3 {
        gateway.key();
    }
    let mut child = gateway.spawn(&["key", "list"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn command_line_shares_dashboard_refusals() {
    let gateway = Gateway::offline();
    let long_name = "x".repeat(81);
    for (arguments, input, words) in [
        (
            vec!["user", "add", "owner@example.org", "--password-stdin"],
            "elevenchars\n",
            "at least 12 characters",
        ),
        (
            vec!["provider", "set", "openai", "--key-stdin"],
            "sk-two words\n",
            "does not look like an API key",
        ),
        (
            vec!["provider", "set", "openai", "--key-stdin"],
            "sk-one\nsk-two\n",
            "does not look like an API key",
        ),
        (
            vec!["key", "create", "--name", &long_name],
            "",
            "at most 80 characters",
        ),
    ] {
        let refused = gateway.try_command(&arguments, input);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
    assert_eq!(gateway.command(&["provider", "list"]), "");
    assert_eq!(gateway.command(&["user", "list"]), "");
    assert_eq!(gateway.command(&["key", "list"]), "");
}

#[test]
fn error_messages_name_actual_mistake() {
    let gateway = Gateway::offline();
    gateway.key();
    let there = gateway.folder.path().join("there");
    std::fs::write(&there, "no checkpoint\n").unwrap();
    let there = there.to_str().unwrap();
    for (arguments, words) in [
        (vec!["audit", "show", "12"], "a request id looks like"),
        (
            vec!["audit", "reveal", "12", "--reason", "a test"],
            "a request id looks like",
        ),
        (
            vec!["audit", "verify", "--checkpoints", "missing"],
            "cannot read missing",
        ),
        (
            vec!["audit", "verify", "--checkpoints", there],
            "does not hold one checkpoint per line",
        ),
        (vec!["backup", there], "it already exists"),
        // Another name of `key`, never of the master key.
        (vec!["keys", "rotate"], "<ID>"),
        (vec!["keys", "rotate", "abcdefghijkl"], "no such"),
    ] {
        let refused = gateway.try_command(&arguments, "");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
    let diagnosis = gateway.try_command(&["doctor", "--config", "missing.toml"], "");
    let told = String::from_utf8_lossy(&diagnosis.stdout).into_owned();
    assert!(told.contains("the settings cannot be read"), "{told}");
}

#[test]
fn audit_find_reads_identifier_from_stdin() {
    let gateway = Gateway::offline();
    gateway.key();
    let output = gateway.try_command(&["audit", "find", "--ssn", "-"], "536-22-8741\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("not found in the requests"), "{told}");
    let acts = gateway.command(&["audit", "export"]);
    assert!(
        acts.contains(r#""audit.find""#) && !acts.contains("8741"),
        "{acts}"
    );
}

#[test]
fn help_separates_common_options_from_own() {
    let gateway = Gateway::offline();
    let help = gateway.command(&["scan", "--help"]);
    let (own, common) = help.split_once("For every command:").unwrap();
    assert!(own.contains("--mask") && !own.contains("--data"), "{help}");
    assert!(
        common.contains("--data") && !common.contains("--mask"),
        "{help}"
    );
}

#[test]
fn lists_write_times_to_the_second() {
    let gateway = Gateway::offline();
    gateway.command(&["key", "create", "--expires", "90d"]);
    for list in ["account", "key"] {
        let told = gateway.command(&[list, "list"]);
        let has_fraction = told.contains('.');
        assert!(told.contains("Z") && !has_fraction, "{told}");
    }
}

#[test]
fn master_key_has_own_rotate_command() {
    let gateway = Gateway::offline();
    gateway.command(&["mode", "set", "mask"]);
    let label = gateway.command(&["master-key", "rotate"]);
    assert_eq!(label.trim().len(), 12, "{label}");
    assert_eq!(gateway.command(&["mode", "get"]), "mask\n");
}

#[test]
fn reading_commands_create_nothing_and_name_folder() {
    let reading: &[&[&str]] = &[
        &["account", "list"],
        &["audit", "export"],
        &["audit", "find", "--ssn", "536-22-8741"],
        &["audit", "list"],
        &["audit", "public-key"],
        &["audit", "verify"],
        &["backup", "copy.db"],
        &["doctor"],
        &["export", "whole.phigate"],
        &["key", "list"],
        &["key", "revoke", "abcdefghijkl"],
        &["master-key", "rotate"],
        &["mode"],
        &["mode", "get"],
        &["provider", "list"],
        &["provider", "remove", "openai"],
        &["user", "list"],
    ];
    let gateway = Gateway::offline();
    for arguments in reading {
        let refused = gateway.try_command(arguments, "");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let folder = gateway.data().display().to_string();
        assert!(message.contains(&folder), "{arguments:?}: {message}");
        let made = std::fs::read_dir(gateway.folder.path()).unwrap().count();
        assert_eq!(made, 0, "{arguments:?}");
    }
}

#[test]
fn reveal_without_proper_reason_is_refused() {
    let gateway = Gateway::offline();
    gateway.key();
    let id = "01890000-0000-7000-8000-000000000000";
    for given in [&[][..], &["--reason", ""], &["--reason", " x "]] {
        let arguments = [&["audit", "reveal", id], given].concat();
        let refused = gateway.try_command(&arguments, "");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{given:?}");
        assert!(message.contains("reason"), "{message}");
    }
}

#[test]
fn acts_record_person_and_machine() {
    let mut gateway = Gateway::offline();
    gateway.set("SUDO_USER", "jroe");
    gateway.key();
    let export = gateway.command(&["audit", "export"]);
    let actors: Vec<String> = export
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|record| Some(record["actor"].as_str()?.to_owned()))
        .filter(|actor| actor != "system")
        .collect();
    let person = "cli: ";
    assert!(!actors.is_empty());
    for actor in actors {
        let names_a_machine = actor
            .split_once('@')
            .is_some_and(|(_, host)| !host.is_empty());
        assert!(actor.starts_with(person) && names_a_machine, "{actor}");
    }
}

#[test]
fn verify_distinguishes_wrong_file_from_tampering() {
    let gateway = Gateway::offline();
    gateway.key();
    let write = |name: &str, text: &str| {
        let path = gateway.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let csv = gateway.command(&["audit", "export", "--format", "csv"]);
    let export = gateway.command(&["audit", "export"]);
    let changed = export.replacen("key.create", "key.revoke", 1);
    for (file, code, words) in [
        (write("right.jsonl", &export), 0, "intact"),
        (write("changed.jsonl", &changed), 1, "NOT intact"),
        (
            write("garbled.jsonl", &format!("garbled\n{export}")),
            1,
            "NOT intact",
        ),
        (write("table.csv", &csv), 2, "is not a JSONL export"),
        (
            write("notes.txt", "call the ward\n"),
            2,
            "is not a JSONL export",
        ),
        (write("object.json", "{}\n"), 2, "is not a JSONL export"),
        (write("empty.jsonl", ""), 2, "is empty"),
    ] {
        let done = gateway.try_command(&["audit", "verify", &file], "");
        let told = [done.stdout, done.stderr].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert_eq!(done.status.code(), Some(code), "{file}: {told}");
        assert!(told.contains(words), "{file}: {told}");
    }
}

#[test]
fn the_last_owner_is_not_removed_unnoticed() {
    let gateway = Gateway::offline();
    let password = "correct horse battery staple\n";
    for email in ["one@example.org", "two@example.org"] {
        gateway.command_with_input(&["user", "add", email, "--password-stdin"], password);
    }
    gateway.command(&["user", "remove", "one@example.org"]);
    let refused = gateway.try_command(&["user", "remove", "Two@example.org"], "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        gateway
            .command(&["user", "list"])
            .contains("two@example.org")
    );
    gateway.command(&["user", "remove", "two@example.org", "--last-owner"]);
    assert_eq!(gateway.command(&["user", "list"]), "");
}

#[test]
fn lists_print_tables_or_json_arrays() {
    let gateway = Gateway::offline();
    gateway.key();
    gateway.command_with_input(
        &["provider", "set", "openai", "--key-stdin"],
        "sk-zebra-lantern-1234\n",
    );
    gateway.command_with_input(
        &["user", "add", "owner@example.org", "--password-stdin"],
        "correct horse battery staple\n",
    );
    gateway.command(&["fallback", "set", "gpt-4o", "claude-opus-4-5"]);
    for (list, head, field) in [
        ("account", "NAME", "name"),
        ("fallback", "MODEL", "model"),
        ("key", "ID", "id"),
        ("provider", "PROVIDER", "name"),
        ("user", "EMAIL", "email"),
    ] {
        let table = gateway.command(&[list, "list"]);
        assert!(table.starts_with(head), "{table}");
        let json = gateway.command(&[list, "list", "--json"]);
        assert!(!json.contains("zebra"), "{json}");
        let items: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        assert!(items.len() == 1 && items[0][field].is_string(), "{json}");
    }
    let doctor = gateway.try_command(&["doctor", "--json"], "");
    let findings: Vec<serde_json::Value> = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(findings[0]["state"], "ok");
}

#[test]
fn second_key_of_same_name_is_reported() {
    let gateway = Gateway::offline();
    let told = |name: &str| {
        let made = gateway.try_command(&["key", "create", "--name", name], "");
        assert!(made.status.success());
        String::from_utf8(made.stderr).unwrap()
    };
    assert!(!told("intake form").contains("the same name"));
    assert!(told("intake form").contains("the same name"));
    assert!(!told("another").contains("the same name"));
}

/// A reason, as every lowering of protection needs it.
const REASON: [&str; 2] = ["--reason", "pilot of ward 7"];

#[test]
fn lower_protection_needs_reason_from_script() {
    let gateway = Gateway::offline();
    let openai = ["provider", "set", "openai"];
    let key = [&openai[..], &["--key-stdin", "--phi", "never"]].concat();
    gateway.command_with_input(&key, "sk-test-of-no-value\n");
    gateway.command(&["mode", "set", "MASK"]);
    gateway.command(&["replies", "set", "block"]);
    gateway.command(&[
        "settings",
        "set",
        "legal_hold=on",
        "require_second_factor=on",
    ]);
    let weaker: &[&[&str]] = &[
        &["mode", "set", "flag"],
        &["replies", "set", "mask"],
        &["replies", "set", "off"],
        &["provider", "set", "openai", "--phi", "masked"],
        &["provider", "set", "openai", "--phi", "allowed"],
        &["settings", "set", "legal_hold=off"],
        &["settings", "set", "require_second_factor=off"],
        &["settings", "set", "threshold_ssn=0.99"],
        &["settings", "set", "content_days=1"],
        &["settings", "set", "record_days=30"],
        &["settings", "set", "allow_unscannable=on"],
    ];
    for command in weaker {
        let refused = gateway.try_command(command, "");
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(told.contains("--reason"), "{command:?}: {told}");
        gateway.command(&[command, &REASON[..]].concat());
    }
    let trail = gateway.command(&["audit", "export"]);
    let kept = trail.matches("\"reason\":\"pilot of ward 7\"").count();
    assert_eq!(kept, weaker.len(), "{trail}");
    let stricter: &[&[&str]] = &[
        &["mode", "set", "flag"],
        &["mode", "set", "mask"],
        &["mode", "set", "block"],
        &["replies", "set", "flag"],
        &["restore", "set", "on"],
        &["restore", "set", "off"],
        &["documents", "set", "text"],
        &["documents", "set", "refuse"],
        &["provider", "set", "openai", "--phi", "never"],
        &["settings", "set", "legal_hold=on"],
    ];
    for command in stricter {
        gateway.command(command);
    }
}

#[test]
fn ended_agreement_is_set_only_with_reason() {
    let gateway = Gateway::offline();
    let set = ["provider", "set", "openai", "--key-stdin"];
    gateway.command_with_input(&set, "sk-test-of-no-value\n");
    let end = [
        "provider",
        "set",
        "openai",
        "--agreement-expires",
        "2020-01-01",
    ];
    let refused = gateway.try_command(&end, "");
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("--reason") && told.contains("2020-01-01"),
        "{told}"
    );
    gateway.command(&[&end[..], &REASON].concat());
    for command in [
        ["provider", "list"].as_slice(),
        &["provider", "show", "openai"],
    ] {
        let shown = gateway.command(command);
        assert!(shown.contains("never (ended 2020-01-01)"), "{shown}");
    }
    let doctor = gateway.try_command(&["doctor"], "");
    let told = String::from_utf8(doctor.stdout).unwrap();
    let line = told.lines().find(|line| line.contains("has ended"));
    assert!(
        line.is_some_and(|line| line.starts_with("problem")),
        "{told}"
    );
    // To let PHI go there again is a lowering of protection.
    let renew = [
        "provider",
        "set",
        "openai",
        "--agreement-expires",
        "2099-01-01",
    ];
    assert_eq!(gateway.try_command(&renew, "").status.code(), Some(2));
    gateway.command(&[&renew[..], &REASON].concat());
}

#[test]
fn depth_of_detection_is_lowered_with_reason() {
    let gateway = Gateway::offline();
    gateway.key();
    let depth = || gateway.command(&["detection", "get"]).trim().to_owned();
    assert_eq!(depth(), "careful");
    let refused = gateway.try_command(&["detection", "set", "fast"], "");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        String::from_utf8(refused.stderr)
            .unwrap()
            .contains("--reason")
    );
    assert_eq!(depth(), "careful");
    gateway.command(&["detection", "set", "fast", "--reason", "load test"]);
    assert_eq!(depth(), "fast");
    gateway.command(&["detection", "set", "careful"]);
    assert_eq!(
        gateway.command(&["settings", "get", "detection"]).trim(),
        "careful"
    );
}

#[test]
fn settings_are_read_and_set_by_name() {
    let gateway = Gateway::offline();
    gateway.key();
    let value = |name: &str| {
        gateway
            .command(&["settings", "get", name])
            .trim()
            .to_owned()
    };
    assert_eq!(
        (value("mode"), value("record_days")),
        ("flag".into(), "2192".into())
    );
    gateway.command(&[
        "settings",
        "set",
        "mode=mask",
        "threshold_name=0.1",
        "key_concurrency=8",
    ]);
    assert_eq!(
        (value("mode"), value("threshold_name")),
        ("mask".into(), "0.1".into())
    );
    assert_eq!(gateway.command(&["mode", "get"]).trim(), "mask");
    let all = gateway.command(&["settings", "get"]);
    assert!(
        all.contains("key_concurrency=8\n") && all.contains("restore=off\n"),
        "{all}"
    );
    gateway.command(&["settings", "set", "key_concurrency="]);
    assert_eq!(value("key_concurrency"), "");
    for (wrong, words) in [
        ("nonsense=1", "threshold_ssn"),
        ("mode", "NAME=VALUE"),
        ("record_days=0", "whole number"),
        ("mode=mask", "nothing to change"),
    ] {
        let refused = gateway.try_command(&["settings", "set", wrong], "");
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(told.contains(words), "{wrong}: {told}");
    }
}

#[test]
fn fallback_without_provider_is_noted() {
    let gateway = Gateway::offline();
    let set = ["fallback", "set", "nonsense-model", "gpt-4o,foo"];
    let set = gateway.try_command(&set, "");
    let told = String::from_utf8_lossy(&set.stderr).into_owned();
    assert_eq!(set.status.code(), Some(0), "{told}");
    for model in ["nonsense-model", "gpt-4o", "foo"] {
        let words = format!("no provider of account default serves {model};");
        assert!(told.contains(&words), "{told}");
    }
    gateway.command_with_input(
        &["provider", "set", "openai", "--key-stdin"],
        "sk-test-of-no-value\n",
    );
    let set = gateway.try_command(&["fallback", "set", "gpt-4o", "gpt-4o-mini"], "");
    let told = String::from_utf8_lossy(&set.stderr).into_owned();
    assert!(!told.contains("note:"), "{told}");
}

#[test]
fn account_errors_are_single_sentences() {
    let gateway = Gateway::offline();
    gateway.command(&["account", "create", "cardiology"]);
    let told = |arguments: &[&str]| {
        let refused = gateway.try_command(arguments, "");
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(refused.stderr).unwrap()
    };
    let several = told(&["mode", "get"]);
    assert_eq!(several.matches("--account").count(), 1, "{several}");
    assert!(!several.contains("invalid account"), "{several}");
    let unknown = told(&["mode", "get", "--account", "oncology"]);
    assert!(unknown.contains("oncology: no such account"), "{unknown}");
}
