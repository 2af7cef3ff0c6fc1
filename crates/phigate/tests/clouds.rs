//! Providers that need more than a key, against stand-ins of their token endpoints: mistakes of providers, mistakes of
//! owners, and the gateway's messages about them.

use std::time::{Duration, Instant};

use crate::support::{CLEAN_TEXT, Gateway, Provider, Reply, Seen, ask};
use serde_json::json;

const SECRET: &str = "entra~invented~0123456789";
const AWS: &str =
    r#"{"access_key_id":"AKIAINVENTED00000001","secret_access_key":"invented/secret+0123456789"}"#;

/// A gateway with one provider of each cloud, all of which lead to `service`.
fn clouds(service: &Provider, token_url: &str) -> Gateway {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_LIMITS_PROVIDER_RETRIES", "0");
    gateway.set("PHIGATE_LIMITS_FIRST_BYTE_MS", "700");
    gateway.set("PHIGATE_LOG", "trace");
    let url = service.url();
    let entra = ["--auth", "entra", "--tenant", "t", "--client-id", "c"];
    for (name, options, secret) in [
        (
            "entra",
            &["--kind", "azure", "--token-url", token_url][..],
            SECRET,
        ),
        ("azure", &["--kind", "azure"], "azure-invented-0123456789"),
        ("aws", &["--kind", "bedrock", "--region", "us-east-1"], AWS),
    ] {
        let models = format!("{name}-model=there");
        let more = ["--base-url", &url, "--models", &models, "--key-stdin"];
        let mut command = ["provider", "set", name].to_vec();
        command.extend(options.iter().chain(&more));
        if name == "entra" {
            command.extend(entra);
        }
        gateway.command_with_input(&command, secret);
    }
    gateway
}

fn token(lifetime_s: u32) -> Reply {
    let token = json!({"access_token": "stand-in-token", "expires_in": lifetime_s});
    Reply::Json(200, token.to_string())
}

/// A refusal as Azure writes it.
fn azure(status: u16, code: &str, message: &str) -> Reply {
    let error = json!({"error": {"code": code, "message": message}});
    Reply::Json(status, error.to_string())
}

/// A refusal as AWS writes it, by a clock that is this many seconds ahead of ours.
fn aws(kind: &str, message: &str, ahead_s: i64) -> Reply {
    let date = date(ahead_s);
    let headers = [("x-amzn-errortype", kind), ("date", date.as_str())];
    Reply::with_headers(403, &headers, &json!({ "message": message }).to_string())
}

fn date(ahead_s: i64) -> String {
    let theirs = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(ahead_s);
    theirs.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn provider_test_names_each_usual_mistake() {
    let (service, tokens) = (Provider::start(), Provider::start());
    let gateway = clouds(&service, &format!("{}/token", tokens.url()));
    let refused = "Principal does not have access to API/Operation.";
    for (name, replies, words) in [
        (
            "azure",
            vec![azure(404, "DeploymentNotFound", "no")],
            "deployment does not exist",
        ),
        (
            "azure",
            vec![azure(403, "AuthenticationTypeDisabled", "no")],
            "Keys are disabled",
        ),
        // A refused token is renewed once, so it is said twice.
        (
            "entra",
            vec![azure(401, "PermissionDenied", refused); 2],
            "role is missing",
        ),
        (
            "aws",
            vec![aws(
                "InvalidSignatureException",
                "Signature expired: now earlier",
                1_260,
            )],
            "seconds behind",
        ),
        (
            "aws",
            vec![aws(
                "InvalidSignatureException",
                "Signature not yet current",
                -1_260,
            )],
            "seconds ahead",
        ),
        (
            "aws",
            vec![aws(
                "InvalidSignatureException",
                "Credential should be scoped to a valid region.",
                0,
            )],
            "region is wrong",
        ),
        (
            "aws",
            vec![aws(
                "AccessDeniedException",
                "You don't have access to the model with the specified model ID.",
                0,
            )],
            "no access to the model",
        ),
        (
            "aws",
            vec![aws(
                "ExpiredTokenException",
                "The security token included in the request is expired",
                0,
            )],
            "session token has expired",
        ),
    ] {
        for reply in replies {
            service.answer_next(reply);
        }
        let model = format!("{name}-model");
        let output = gateway.try_command(&["provider", "test", name, "--model", &model], "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
        let is_clock = words.starts_with("seconds");
        let is_counted =
            (1_255..=1_265).any(|seconds| said.contains(&format!("{seconds} {words}")));
        assert!(!is_clock || is_counted, "{said}");
    }
}

#[test]
fn doctor_and_provider_test_name_token_faults() {
    let (service, tokens) = (Provider::start(), Provider::start());
    let gateway = clouds(&service, &format!("{}/token", tokens.url()));
    let refusal = |code: &str, ahead_s| {
        let body =
            json!({"error": "invalid_client", "error_description": format!("{code}: {SECRET}")});
        let date = date(ahead_s);
        Reply::with_headers(401, &[("date", &date)], &body.to_string())
    };
    for (code, ahead_s, words) in [
        ("AADSTS7000222", 0, "The secret has expired"),
        ("AADSTS7000215", 0, "The secret is wrong"),
        ("AADSTS700016", 0, "The identity is not known"),
        ("AADSTS90002", 0, "The tenant is not known"),
        ("AADSTS700024", 900, "seconds behind"),
        ("AADSTS50000", 0, "No token for the provider"),
    ] {
        for command in [&["doctor"][..], &["provider", "test", "entra"]] {
            tokens.answer_next(refusal(code, ahead_s));
            let output = gateway.try_command(command, "");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            assert_eq!(output.status.code(), Some(1), "{code} {command:?}: {said}");
            assert!(said.contains(words), "{code} {command:?}: {said}");
            assert!(!said.contains(SECRET), "{code} {command:?}");
        }
    }
    let has_token = |request: &Seen| {
        let shown = request.header("authorization");
        shown.is_some_and(|shown| shown.starts_with("Bearer"))
    };
    assert!(
        !service.seen().iter().any(has_token),
        "nothing is asked without a token"
    );
}

#[test]
fn doctor_names_provider_lacking_model_to_test() {
    let service = Provider::start();
    let gateway = Gateway::offline();
    let url = service.url();
    let place = ["--base-url", &url, "--region", "us-east-1"];
    let set = ["provider", "set", "aws", "--kind", "bedrock", "--key-stdin"];
    gateway.command_with_input(&[&set[..], &place].concat(), AWS);
    let output = gateway.try_command(&["doctor"], "");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("provider test aws --model"), "{said}");
    assert!(service.seen().is_empty());
}

#[test]
fn token_endpoint_faults_are_bounded_and_recorded() {
    let (service, tokens) = (Provider::start(), Provider::start());
    let elsewhere = Provider::start();
    let mut gateway = clouds(&service, &format!("{}/token", tokens.url()));
    gateway.serve();
    let key = gateway.key();
    let away = format!("{}/token", elsewhere.url());
    let redirect = Reply::with_headers(307, &[("location", &away)], "");
    for (what, reply, code) in [
        (
            "hangs",
            Reply::Silence(Duration::from_secs(3)),
            "provider_unreachable",
        ),
        (
            "hangs up",
            Reply::Raw(Vec::new(), Duration::ZERO),
            "provider_error",
        ),
        (
            "is down",
            Reply::Json(503, "{}".into()),
            "provider_unreachable",
        ),
        (
            "refuses",
            Reply::Json(401, format!("{{\"error\":\"{SECRET}\"}}")),
            "provider_auth_failed",
        ),
        ("redirects", redirect, "provider_error"),
        (
            "writes garbage",
            Reply::Json(200, "<html>".into()),
            "provider_error",
        ),
        (
            "writes megabytes",
            Reply::Json(200, "x".repeat(8 << 20)),
            "provider_error",
        ),
        (
            "smuggles a header",
            Reply::Json(
                200,
                r#"{"access_token":"a\r\nx-evil: 1","expires_in":60}"#.into(),
            ),
            "provider_error",
        ),
    ] {
        tokens.answer_next(reply);
        let started = Instant::now();
        let answer = gateway.chat(&key, &ask("entra-model", CLEAN_TEXT));
        assert_eq!(
            (answer.status, answer.error().2.as_str()),
            (502, code),
            "{what}"
        );
        assert!(started.elapsed() < Duration::from_secs(2), "{what}");
        assert!(!answer.text().contains(SECRET), "{what}");
        let records = gateway.records(&answer.request_id());
        let outcome = records.iter().find(|record| record["record"] == "outcome");
        assert_eq!(outcome.unwrap()["error_code"], code, "{what}");
    }
    assert_eq!((service.connections(), elsewhere.connections()), (0, 0));
    let answer = gateway.chat(&key, &ask("entra-model", CLEAN_TEXT));
    assert_eq!(answer.status, 200, "a failure is not remembered");
    let logs = gateway.logs.lock().unwrap().clone();
    assert!(!logs.contains(SECRET) && !logs.contains("stand-in-token"));
    assert!(!gateway.is_on_disk(SECRET.as_bytes()) && !gateway.is_on_disk(b"stand-in-token"));
}

#[test]
fn stream_outlives_expired_token() {
    let (service, tokens) = (Provider::start(), Provider::start());
    let mut gateway = clouds(&service, &format!("{}/token", tokens.url()));
    gateway.serve();
    let key = gateway.key();
    tokens.answer_next(token(1));
    let events = crate::support::openai_stream(&["Hel", "lo."]);
    service.answer_next(Reply::Events(events, Duration::from_millis(400)));
    let body = ask("entra-model", CLEAN_TEXT);
    let stream = body.replace("{\"messages\"", "{\"stream\":true,\"messages\"");
    let started = Instant::now();
    let answer = gateway.chat(&key, &stream);
    assert!(
        started.elapsed() > Duration::from_secs(1),
        "the token has expired"
    );
    assert!(
        answer.text().ends_with("data: [DONE]\n\n"),
        "{}",
        answer.text()
    );
    assert_eq!(tokens.seen().len(), 1);
    assert_eq!(gateway.chat(&key, &body).status, 200);
    assert_eq!(tokens.seen().len(), 2, "the next request has a new one");
}
