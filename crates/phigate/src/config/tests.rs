//! Precedence, refusals, and the example file.

use super::*;

const EXAMPLE: &str = include_str!("../../../../phigate.example.toml");

/// Loads a file with this text under this environment and these flags.
fn load(file: &str, variables: &[(&str, &str)], flags: Flags) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("phigate.toml");
    std::fs::write(&path, file).unwrap();
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::from_sources(
        Flags {
            config: Some(path),
            ..flags
        },
        variables,
    )
}

fn message(file: &str, variables: &[(&str, &str)]) -> String {
    load(file, variables, Flags::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_example_loads_and_shows_the_defaults() {
    let config = load(EXAMPLE, &[], Flags::default()).unwrap();
    let default = load("", &[], Flags::default()).unwrap();
    assert_eq!(format!("{config:?}"), format!("{default:?}"));
}

#[test]
fn example_names_every_setting() {
    let mut section = "";
    let mut named = Vec::new();
    for line in EXAMPLE.lines() {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            section = name;
        }
        let Some((name, _)) = line.strip_prefix('#').unwrap_or(line).split_once(" = ") else {
            continue;
        };
        if !name.contains(' ') {
            named.push((section, name));
        }
    }
    let all: Vec<_> = env::all_keys().collect();
    for key in &all {
        assert!(
            named.contains(key),
            "{key:?} is missing in phigate.example.toml"
        );
    }
    assert_eq!(named.len(), all.len());

    let on: Vec<&str> = EXAMPLE
        .lines()
        .map(|line| {
            line.strip_prefix('#')
                .filter(|rest| !rest.starts_with([' ', '#']))
                .unwrap_or(line)
        })
        .filter(|line| !line.starts_with("master_key_file") && !line.starts_with("master_key_env"))
        .collect();
    let config = load(&on.join("\n"), &[], Flags::default()).unwrap();
    assert!(
        config.tls.is_some() && config.database_url.is_some() && config.provider_ca_file.is_some()
    );
    assert!(matches!(config.master_key, MasterKeySource::Command(_)));
    assert!(config.checkpoint.command.is_some());
}

#[test]
fn flags_environment_file_defaults_in_order() {
    let listen = |file, variables: &[(&str, &str)], flag: Option<&str>| {
        let flags = Flags {
            listen: flag.map(str::to_owned),
            ..Flags::default()
        };
        load(file, variables, flags).unwrap().listen.to_string()
    };
    let (file, variable) = (
        "listen = '127.0.0.1:2'",
        [("PHIGATE_LISTEN", "127.0.0.1:3")],
    );
    assert_eq!(listen("", &[], None), "127.0.0.1:8080");
    assert_eq!(listen(file, &[], None), "127.0.0.1:2");
    assert_eq!(listen(file, &variable, None), "127.0.0.1:3");
    assert_eq!(listen(file, &variable, Some("127.0.0.1:4")), "127.0.0.1:4");
}

#[test]
fn every_setting_has_its_variable() {
    let variables = [
        ("PHIGATE_LIMITS_BODY_BYTES", "2048"),
        ("PHIGATE_ALLOW_PRIVATE_PROVIDERS", "true"),
        ("PHIGATE_BEHIND_TLS_PROXY", "1"),
        ("PHIGATE_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("PHIGATE_METRICS_LISTEN", "off"),
        ("PHIGATE_LISTEN", "0.0.0.0:80"),
        ("PHIGATE_DATA", "/srv/p/"),
        ("PHIGATE_CHECKPOINT_FILES", "/a, /b"),
        ("PHIGATE_LOG", "trace"),
        ("PHIGATE_LOG_FORMAT", "json"),
        ("PHIGATE_ACCOUNT", "clinic"),
        ("HOME", "/root"),
    ];
    let config = load(
        "[limits]\nbody_bytes = 4096\njson_depth = 9",
        &variables,
        Flags::default(),
    )
    .unwrap();
    assert_eq!(
        (config.limits.body_bytes, config.limits.json_depth),
        (2048, 9)
    );
    assert!(
        config.allow_private_providers
            && config.behind_tls_proxy
            && config.metrics_listen.is_none()
            && config.trusted_proxies.contain("10.9.9.9".parse().unwrap())
            && config.trusted_proxies.contain("::1".parse().unwrap())
            && !config.trusted_proxies.contain("127.0.0.1".parse().unwrap())
    );
    assert_eq!(
        config.master_key,
        MasterKeySource::File("/srv/p.key".into())
    );
    assert_eq!(
        config.checkpoint.files,
        [PathBuf::from("/a"), PathBuf::from("/b")]
    );
    assert_eq!(
        config.log.level.filter(),
        tracing_subscriber::filter::LevelFilter::TRACE
    );
    assert_eq!(config.log.format, LogFormat::Json);
}

#[test]
fn unknown_settings_are_named() {
    assert!(message("listne = 'x'", &[]).contains("listne"));
    assert!(message("\n[limits]\nbody = 1", &[]).contains("line 3: unknown setting `body`"));
    assert!(message("", &[("PHIGATE_LISTNE", "x")]).contains("PHIGATE_LISTNE"));
    assert!(message("", &[("PHIGATE_LIMITS_BODY", "1")]).contains("PHIGATE_LIMITS_BODY"));
}

#[test]
fn wrong_values_are_named_and_never_shown() {
    type Row = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
    );
    let rows: &[Row] = &[
        // The file, the environment, and the expected part of the message.
        ("listen = 'hunter2'", &[], "listen"),
        ("listen = 7", &[], "line 1"),
        ("database_url = [\"hunter2\"]", &[], "line 1"),
        ("[limits]\nbody_bytes = 'hunter2'", &[], "line 2"),
        ("[limits]\nbody_bytes = 0", &[], "limits.body_bytes"),
        ("[log]\nlevel = 'hunter2'", &[], "log.level"),
        ("trusted_proxies = ['hunter2']", &[], "trusted_proxies"),
        ("data = 'hunter2", &[], "line 1"),
        (
            "",
            &[("PHIGATE_LIMITS_BODY_BYTES", "hunter2")],
            "PHIGATE_LIMITS_BODY_BYTES",
        ),
        (
            "",
            &[("PHIGATE_BEHIND_TLS_PROXY", "hunter2")],
            "PHIGATE_BEHIND_TLS_PROXY",
        ),
        ("", &[("PHIGATE_SECRET", "hunter2")], "PHIGATE_SECRET"),
        ("[tls]\ncert = 'hunter2'", &[], "tls.key"),
        (
            "master_key_file = 'hunter2'\nmaster_key_env = 'hunter2'",
            &[],
            "master_key_env",
        ),
    ];
    for (file, variables, named) in rows {
        let message = message(file, variables);
        assert!(message.contains(named), "{file:?}: {message}");
        assert!(!message.contains("hunter2"), "{file:?}: {message}");
    }
}

#[test]
fn public_plain_text_is_refused() {
    let served = |file: &str, behind_tls_proxy: bool| {
        let flags = Flags {
            behind_tls_proxy,
            ..Flags::default()
        };
        load(file, &[], flags).unwrap().check_listening()
    };
    for listen in [
        "0.0.0.0:80",
        "[::]:80",
        "192.0.2.1:80",
        "[::ffff:192.0.2.1]:80",
    ] {
        let file = format!("listen = '{listen}'");
        let message = served(&file, false).unwrap_err().to_string();
        assert!(
            message.contains("tls.cert") && message.contains("--behind-tls-proxy"),
            "{message}"
        );
        assert!(served(&file, true).is_ok());
        assert!(served(&format!("{file}\n[tls]\ncert = 'c'\nkey = 'k'"), false).is_ok());
    }
    for listen in [
        "127.0.0.1:80",
        "127.9.9.9:80",
        "[::1]:80",
        "[::ffff:127.0.0.1]:80",
    ] {
        assert!(
            served(&format!("listen = '{listen}'"), false).is_ok(),
            "{listen}"
        );
    }
}

#[test]
fn master_key_variable_may_have_any_name() {
    let secret = [("PHIGATE_MASTER_KEY", "hunter2")];
    assert!(load("", &secret, Flags::default()).is_err());
    let config = load(
        "master_key_env = 'PHIGATE_MASTER_KEY'",
        &secret,
        Flags::default(),
    )
    .unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let both = [secret[0], ("PHIGATE_MASTER_KEY_ENV", "PHIGATE_MASTER_KEY")];
    assert!(load("", &both, Flags::default()).is_ok());
}

#[test]
fn empty_variable_unsets_place_of_key() {
    let variables = [
        ("PHIGATE_MASTER_KEY_FILE", ""),
        ("PHIGATE_MASTER_KEY_ENV", "MASTER_KEY"),
    ];
    let config = load("", &variables, Flags::default()).unwrap();
    assert!(matches!(config.master_key, MasterKeySource::Env(_)));
    let both = [
        ("PHIGATE_MASTER_KEY_FILE", "/etc/phigate/master.key"),
        variables[1],
    ];
    assert!(load("", &both, Flags::default()).is_err());
}

#[test]
fn database_address_is_never_printed() {
    let file = "database_url = 'postgres://u:hunter2@db/x'";
    let config = load(file, &[], Flags::default()).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    assert!(config.database_url.unwrap().expose().contains("hunter2"));
}

#[test]
fn a_named_file_must_exist() {
    let flags = Flags {
        config: Some("/nowhere/phigate.toml".into()),
        ..Flags::default()
    };
    let error = Config::from_sources(flags, std::iter::empty()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/phigate.toml"));
}
