//! The admin API, end to end: keys, roles, entries, conditions, errors, and what the command line sees of it.

use serde_json::{Value, json};

use crate::support::{Answer, CLEAN_TEXT, Gateway, Provider, ask, exchange};

/// A gateway and an admin key of a role.
fn start(role: &str) -> (Gateway, Provider, String) {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let key = admin_key(&gateway, &["--role", role]);
    (gateway, provider, key)
}

fn admin_key(gateway: &Gateway, options: &[&str]) -> String {
    let arguments = [&["admin-key", "create"], options].concat();
    gateway.command(&arguments).trim().to_owned()
}

fn call(
    gateway: &Gateway,
    key: &str,
    (method, path): (&str, &str),
    headers: &str,
    body: Option<&Value>,
) -> Answer {
    let body = body.map(ToString::to_string);
    let kind = body
        .as_ref()
        .map_or("", |_| "Content-Type: application/json\r\n");
    let body = body.unwrap_or_default();
    let request = format!(
        "{method} /admin/v1{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n{kind}{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        gateway.address,
        body.len()
    );
    exchange(&gateway.address, request.as_bytes())
}

fn get(gateway: &Gateway, key: &str, path: &str) -> Answer {
    call(gateway, key, ("GET", path), "", None)
}

fn put(gateway: &Gateway, key: &str, path: &str, body: &Value) -> Answer {
    call(gateway, key, ("PUT", path), "", Some(body))
}

fn entry(provider: &Provider, priority: u32) -> Value {
    json!({"kind": "openai", "base_url": provider.url(), "key": "sk-invented-0123456789", "models": ["own"], "priority": priority})
}

#[test]
fn entry_is_set_read_and_removed() {
    let (gateway, provider, key) = start("owner");
    let made = put(&gateway, &key, "/providers/own", &entry(&provider, 7));
    assert_eq!(made.status, 201, "{}", made.text());
    assert!(!made.text().contains("sk-invented"));
    let again = put(&gateway, &key, "/providers/own", &entry(&provider, 7));
    assert_eq!(again.status, 200);
    let listed = gateway.command(&["provider", "list", "--json"]);
    assert!(listed.contains("\"own\""), "{listed}");
    let answer = gateway.chat(&gateway.key(), &ask("own", CLEAN_TEXT));
    assert_eq!(answer.status, 200);
    assert!(
        provider
            .last()
            .header("authorization")
            .unwrap()
            .contains("sk-invented")
    );
    let removed = call(&gateway, &key, ("DELETE", "/providers/own"), "", None);
    assert_eq!(removed.status, 204);
    assert_eq!(get(&gateway, &key, "/providers/own").status, 404);
    let acts = gateway.command(&["audit", "export"]);
    let id = key.split('_').nth(1).unwrap();
    assert!(
        acts.contains(&format!("admin key {id}")),
        "the acts name the key"
    );
    assert!(!acts.contains(key.split('_').nth(2).unwrap()));
}

#[test]
fn condition_about_an_entry_holds() {
    let (gateway, provider, key) = start("operator");
    put(&gateway, &key, "/providers/own", &entry(&provider, 1));
    let tag = |answer: &Answer| answer.header("etag").unwrap().to_owned();
    let first = tag(&get(&gateway, &key, "/providers/own"));
    gateway.command(&["provider", "set", "own", "--priority", "2"]);
    let now = tag(&get(&gateway, &key, "/providers/own"));
    assert_ne!(first, now);
    let try_with = |header: String| {
        let target = ("PUT", "/providers/own");
        call(&gateway, &key, target, &header, Some(&entry(&provider, 3)))
    };
    let stale = try_with(format!("If-Match: {first}\r\n"));
    assert_eq!(stale.error().2, "precondition_failed");
    assert_eq!(stale.status, 412);
    assert_eq!(try_with("If-None-Match: *\r\n".to_owned()).status, 412);
    assert_eq!(try_with("If-Match: kit\r\n".to_owned()).status, 400);
    assert_eq!(try_with(format!("If-Match: {now}\r\n")).status, 200);
    assert_eq!(get(&gateway, &key, "/providers/own").json()["priority"], 3);
}

#[test]
fn key_acts_within_its_role() {
    let (gateway, provider, _) = start("owner");
    for (role, reads, sets, people) in [
        ("owner", true, true, true),
        ("operator", true, true, false),
        ("auditor", true, false, true),
        ("reviewer", false, false, false),
        ("viewer", false, false, false),
    ] {
        let key = admin_key(&gateway, &["--role", role]);
        let status = |is_let_in: bool| if is_let_in { 200 } else { 403 };
        assert_eq!(get(&gateway, &key, "/openapi.json").status, 200, "{role}");
        assert_eq!(
            get(&gateway, &key, "/providers").status,
            status(reads),
            "{role}"
        );
        assert_eq!(
            get(&gateway, &key, "/users").status,
            status(people),
            "{role}"
        );
        let set = put(&gateway, &key, "/providers/own", &entry(&provider, 1));
        assert_eq!(set.status != 403, sets, "{role}: {}", set.text());
        if !sets {
            assert_eq!(set.error().2, "permission_denied");
        }
        let hold = put(
            &gateway,
            &key,
            "/settings/legal_hold",
            &json!({"value": true}),
        );
        assert_eq!(hold.status != 403, role == "owner", "{role}");
    }
}

#[test]
fn key_opens_nothing_else_and_ends() {
    let (gateway, _, key) = start("owner");
    assert_eq!(gateway.chat(&key, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
    let caller = gateway.key();
    assert_eq!(get(&gateway, &caller, "/providers").status, 401);
    assert_eq!(get(&gateway, "", "/providers").status, 401);
    let id = key.split('_').nth(1).unwrap();
    assert!(gateway.command(&["admin-key", "list"]).contains(id));
    assert!(!gateway.is_on_disk(key.split('_').nth(2).unwrap().as_bytes()));
    gateway.command(&["admin-key", "revoke", id]);
    let ended = get(&gateway, &key, "/providers");
    assert_eq!(ended.error().2, "invalid_api_key");
}

#[test]
fn new_key_is_shown_once() {
    let (gateway, _, key) = start("owner");
    let path = ("POST", "/keys");
    let made = call(
        &gateway,
        &key,
        path,
        "",
        Some(&json!({"name": "ward", "expires": "30d"})),
    );
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let made = made.json();
    let caller = made["key"].as_str().unwrap();
    assert_eq!(gateway.chat(caller, &ask("gpt-4o", CLEAN_TEXT)).status, 200);
    let listed = get(&gateway, &key, "/keys").text();
    assert!(listed.contains("ward") && !listed.contains(caller));
    let id = made["id"].as_str().unwrap();
    let revoked = call(&gateway, &key, ("DELETE", &format!("/keys/{id}")), "", None);
    assert_eq!(revoked.status, 204);
    assert_eq!(gateway.chat(caller, &ask("gpt-4o", CLEAN_TEXT)).status, 401);
}

#[test]
fn wrong_body_names_its_field() {
    let (gateway, provider, key) = start("owner");
    let set = |body: &Value| put(&gateway, &key, "/providers/own", body).error();
    let right = entry(&provider, 1);
    let with = |name: &str, value: Value| {
        let mut body = right.clone();
        body[name] = value;
        body
    };
    for (body, code) in [
        (with("kind", json!("kit")), "invalid_value"),
        (with("kind", json!(7)), "invalid_type"),
        (with("priority", json!("first")), "invalid_type"),
        (with("priority", json!(-1)), "invalid_value"),
        (with("phi", json!("sometimes")), "invalid_value"),
        (
            with("agreement_expires", json!("next year")),
            "invalid_value",
        ),
        (with("unknown", json!(1)), "invalid_value"),
        (with("region", json!("eu")), "invalid_value"),
    ] {
        assert_eq!(set(&body).2, code, "{body}");
    }
    let answer = put(&gateway, &key, "/providers/Bad%20Name", &right);
    assert_eq!(answer.json()["error"]["param"], "name", "{}", answer.text());
    let wrong = call(&gateway, &key, ("PATCH", "/providers/own"), "", None);
    assert_eq!(
        (wrong.status, wrong.header("allow")),
        (405, Some("GET, PUT, DELETE"))
    );
}

#[test]
fn settings_and_policy_are_set() {
    let (gateway, _, key) = start("owner");
    let set = |value: Value| put(&gateway, &key, "/settings/mode", &value).status;
    assert_eq!(set(json!({"value": "mask"})), 200);
    assert_eq!(gateway.command(&["mode", "get"]), "mask\n");
    assert_eq!(set(json!({"value": "mask"})), 200);
    assert_eq!(set(json!({"value": "kit"})), 400);
    // Less protection needs a reason.
    assert_eq!(set(json!({"value": "flag"})), 400);
    assert_eq!(
        set(json!({"value": "flag", "reason": "a test of reasons"})),
        200
    );
    let policy = put(
        &gateway,
        &key,
        "/policy",
        &json!({"ssn": "block", "phone": "mask"}),
    );
    assert_eq!(policy.json(), json!({"phone": "mask", "ssn": "block"}));
    let whole = json!({"ssn": "block", "reason": "phones are public here"});
    let policy = put(&gateway, &key, "/policy", &whole);
    assert_eq!(policy.json(), json!({"ssn": "block"}), "{}", policy.text());
}

#[test]
fn users_are_set_by_address() {
    let (gateway, _, key) = start("owner");
    let path = "/users/sam%40clinic.example";
    assert_eq!(put(&gateway, &key, path, &json!({})).status, 400, "no role");
    let made = put(&gateway, &key, path, &json!({"role": "reviewer"}));
    assert_eq!(made.status, 201, "{}", made.text());
    let changed = put(
        &gateway,
        &key,
        path,
        &json!({"role": "auditor", "password": "correct horse battery"}),
    );
    assert_eq!(changed.json()["role"], "auditor", "{}", changed.text());
    assert!(gateway.command(&["user", "list"]).contains("auditor"));
    let removed = call(&gateway, &key, ("DELETE", path), "", None);
    assert_eq!(removed.status, 204);
}

#[test]
fn key_of_one_account_sees_no_other() {
    let (gateway, provider, key) = start("owner");
    put(&gateway, &key, "/providers/own", &entry(&provider, 1));
    gateway.command(&["account", "create", "north"]);
    let north = admin_key(&gateway, &["--account", "north", "--role", "owner"]);
    assert_eq!(get(&gateway, &north, "/providers/own").status, 404);
    assert_eq!(
        get(&gateway, &north, "/accounts").json()["items"][0]["name"],
        "north"
    );
    assert_eq!(
        put(&gateway, &north, "/accounts/south", &json!({})).status,
        403
    );
    let all = ["--account", "north", "--role", "owner", "--installation"];
    let all = admin_key(&gateway, &all);
    assert_eq!(
        put(&gateway, &all, "/accounts/south", &json!({})).status,
        201
    );
    assert_eq!(
        get(&gateway, &all, "/accounts").json()["items"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn sign_on_is_set_without_its_secret() {
    let (gateway, _provider, key) = start("owner");
    assert_eq!(get(&gateway, &key, "/sso").json(), json!({}));
    let body = json!({
        "issuer": "https://idp.example", "client_id": "gate", "client_secret": "s-invented-51",
        "role": ["viewer=CN=All,OU=Groups", "owner=Admins"],
    });
    let set = put(&gateway, &key, "/sso", &body);
    assert!(set.status < 300, "{}", set.text());
    assert!(!set.text().contains("s-invented"));
    let read = get(&gateway, &key, "/sso").json();
    assert_eq!(read["role"], body["role"]);
    assert_eq!(read["has_secret"], true);
    // An object of lists says the same.
    let mut named = body;
    named["role"] = json!({"owner": ["Admins"]});
    assert!(put(&gateway, &key, "/sso", &named).status < 300);
    assert!(gateway.command(&["sso", "show"]).contains("owner=Admins"));
    named["role"] = json!({"owner": "x", "admin": ["y"]});
    let refused = put(&gateway, &key, "/sso", &named);
    assert_eq!(refused.status, 400, "{}", refused.text());
    let removed = call(&gateway, &key, ("DELETE", "/sso"), "", None);
    assert!(removed.status < 300, "{}", removed.text());
    assert_eq!(gateway.command(&["sso", "show"]).trim(), "off");
    let operator = admin_key(&gateway, &["--role", "operator"]);
    assert_eq!(get(&gateway, &operator, "/sso").status, 403);
}

#[test]
fn kinds_and_profile_are_set() {
    let (gateway, _provider, key) = start("operator");
    let set = put(
        &gateway,
        &key,
        "/profile",
        &json!({"profile": "safe_harbor"}),
    );
    assert_eq!(set.status, 200, "{}", set.text());
    assert_eq!(gateway.command(&["profile", "get"]).trim(), "safe_harbor");
    let off = json!({"value": "off", "reason": "addresses of a lab"});
    let set = put(&gateway, &key, "/kinds/ip", &off);
    assert_eq!(set.status, 200, "{}", set.text());
    assert_eq!(gateway.command(&["profile", "get"]).trim(), "custom");
}

#[test]
fn group_without_keys_is_removed() {
    let (gateway, _provider, key) = start("owner");
    let words = json!({"words": {"ssn": "block"}});
    assert_eq!(put(&gateway, &key, "/groups/lab", &words).status, 201);
    let id = gateway.key().split('_').nth(1).unwrap().to_owned();
    gateway.command(&["key", "set", &id, "--group", "lab"]);
    let target = ("DELETE", "/groups/lab?reason=closed");
    assert_eq!(call(&gateway, &key, target, "", None).status, 400);
    gateway.command(&[
        "key",
        "set",
        &id,
        "--group",
        "",
        "--reason",
        "the lab closed",
    ]);
    assert_eq!(call(&gateway, &key, target, "", None).status, 204);
    assert_eq!(get(&gateway, &key, "/groups/lab").status, 404);
}
