//! docs/providers.md, word for word: every command on the page is run, and its settings work against a stand-in.

use std::process::{Command, Stdio};

use crate::support::{CLEAN_TEXT, Gateway, Provider, ask};
use serde_json::Value;

/// The files that the page reads secrets from.
const FILES: &[(&str, &str)] = &[
    ("anthropic-key.txt", "sk-ant-invented-0123456789\n"),
    (
        "aws-key.json",
        r#"{"access_key_id": "AKIAINVENTED00000001", "secret_access_key": "invented/secret+0123456789"}"#,
    ),
    ("azure-key.txt", "azure-invented-0123456789\n"),
    ("bedrock-key.txt", "bedrock-invented-0123456789\n"),
    ("entra-secret.txt", "entra~invented~0123456789\n"),
    ("google-key.txt", "google-invented-0123456789\n"),
    ("openai-key.txt", "sk-invented-0123456789\n"),
    ("openrouter-key.txt", "sk-or-invented-0123456789\n"),
];

/// The lines of the page's shell blocks.
fn commands() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/providers.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let mut lines = Vec::new();
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        lines.extend(block.lines().map(str::to_owned));
    }
    lines
}

/// A store whose folder has the page's files, and `phigate` on the path of a shell.
fn prepared() -> Gateway {
    let gateway = Gateway::offline();
    let folder = gateway.folder.path();
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(folder.join("service-account.json"), service_account()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_phigate"), folder.join("phigate")).unwrap();
    gateway
}

/// A service account with a key that was made for this test.
fn service_account() -> String {
    let key = Command::new("openssl")
        .args([
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:2048",
        ])
        .stderr(Stdio::null())
        .output();
    let key = key.expect("openssl is installed").stdout;
    serde_json::json!({
        "type": "service_account",
        "client_email": "gateway@my-project.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": String::from_utf8(key).unwrap(),
        "token_uri": "https://oauth2.googleapis.com/token",
    })
    .to_string()
}

fn run(gateway: &Gateway, line: &str) {
    let folder = gateway.folder.path();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env("PHIGATE_DATA", gateway.data())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{words}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn every_documented_provider_command_works_verbatim() {
    let (mut gateway, stand_in) = (prepared(), Provider::start());
    let lines = commands();
    assert!(lines.len() >= 14, "the page has lost its commands");
    for line in &lines {
        run(&gateway, line);
    }
    let listed = gateway.command(&["provider", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(
        listed.len(),
        lines
            .iter()
            .filter(|line| line.contains("--key-stdin") || line.contains("--auth none"))
            .count()
    );
    // The addresses of the page are not ours: its settings are now directed to a stand-in.
    for provider in listed {
        let name = provider["name"].as_str().unwrap();
        gateway.command(&["provider", "set", name, "--base-url", &stand_in.url()]);
    }
    let token_url = format!("{}/token", stand_in.url());
    for name in ["azure-entra", "vertex-us"] {
        gateway.command(&["provider", "set", name, "--token-url", &token_url]);
    }
    gateway.serve();
    let key = gateway.key();
    for (model, provider, header, shown) in [
        (
            "gpt-5.2",
            "openai",
            "authorization",
            "Bearer sk-invented-0123456789",
        ),
        (
            "claude-opus-4-5",
            "anthropic",
            "x-api-key",
            "sk-ant-invented-0123456789",
        ),
        (
            "gemini-pro",
            "google",
            "x-goog-api-key",
            "google-invented-0123456789",
        ),
        ("gpt-4o", "azure-eu", "api-key", "azure-invented-0123456789"),
        (
            "gpt-4o-2024",
            "azure-old",
            "api-key",
            "azure-invented-0123456789",
        ),
        (
            "openrouter/meta-llama/llama-3.3-70b",
            "openrouter",
            "authorization",
            "Bearer sk-or-invented-0123456789",
        ),
    ] {
        let answer = gateway.chat(&key, &ask(model, CLEAN_TEXT));
        assert_eq!(answer.status, 200, "{model}: {}", answer.text());
        assert_eq!(answer.header("x-gateway-provider"), Some(provider));
        assert_eq!(stand_in.last().header(header), Some(shown), "{model}");
    }
    the_clouds_are_asked(&gateway, &key, &stand_in);
    let answer = gateway.chat(&key, &ask("qwen-3", CLEAN_TEXT));
    assert_eq!(answer.header("x-gateway-provider"), Some("llama"));
    assert_eq!(stand_in.last().header("authorization"), None);
    for (name, text) in FILES.iter().filter(|(name, _)| name.ends_with(".txt")) {
        std::fs::remove_file(gateway.folder.path().join(name)).unwrap();
        assert!(!gateway.is_on_disk(text.trim().as_bytes()), "{name}");
    }
}

/// Asks the providers of the page that need more than a key: target of each request, and proof of identity in it.
fn the_clouds_are_asked(gateway: &Gateway, key: &str, stand_in: &Provider) {
    for (model, provider, target, shown) in [
        (
            "gpt-4o-entra",
            "azure-entra",
            "/openai/v1/chat/completions",
            "Bearer stand-in-token",
        ),
        (
            "claude",
            "bedrock-us",
            "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse",
            "AWS4-HMAC-SHA256 Credential=AKIAINVENTED00000001/",
        ),
        (
            "nova",
            "bedrock-key",
            "/model/amazon.nova-pro-v1:0/converse",
            "Bearer bedrock-invented-0123456789",
        ),
        (
            "gemini-2.5-flash",
            "vertex-us",
            "/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent",
            "Bearer stand-in-token",
        ),
    ] {
        let answer = gateway.chat(key, &ask(model, CLEAN_TEXT));
        assert_eq!(answer.status, 200, "{model}: {}", answer.text());
        assert_eq!(answer.header("x-gateway-provider"), Some(provider));
        let said = &answer.json()["choices"][0]["message"]["content"];
        assert_eq!(said, "Hello.", "{model}");
        let seen = stand_in.last();
        assert_eq!(seen.target, target, "{model}");
        let authorization = seen.header("authorization").unwrap_or_default();
        assert!(authorization.starts_with(shown), "{model}: {authorization}");
    }
    let signed = stand_in
        .seen()
        .into_iter()
        .find(|seen| seen.target.contains("claude-sonnet"));
    let signed = signed.expect("Bedrock was asked");
    let authorization = signed.header("authorization").unwrap();
    assert!(
        authorization.contains("/us-east-1/bedrock/aws4_request, ")
            && authorization.contains("SignedHeaders=content-type;host;x-amz-date, "),
        "{authorization}"
    );
    // One token each, asked for as the two clouds want it.
    let seen = stand_in.seen();
    let asked = seen.iter().filter(|seen| seen.target == "/token");
    let forms: Vec<String> = asked
        .map(|seen| String::from_utf8(seen.body.clone()).unwrap())
        .collect();
    assert_eq!(forms.len(), 2, "{forms:?}");
    for part in [
        "grant_type=client_credentials",
        "client_id=66666666-7777-8888-9999-000000000000",
        "client_secret=entra~invented~0123456789",
        "scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default",
    ] {
        assert!(forms[0].contains(part), "{part}: {}", forms[0]);
    }
    let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
    assert!(forms[1].starts_with(grant), "{}", forms[1]);
    assert_eq!(forms[1].matches('.').count(), 2, "a signed assertion");
}
