//! People and their roles, on the command line.

use serde_json::Value;

use crate::support::Gateway;

const PASSWORD: &str = "correct horse battery staple\n";

fn add(gateway: &Gateway, email: &str, role: &str) -> Option<i32> {
    let arguments = ["user", "add", email, "--role", role, "--password-stdin"];
    gateway.try_command(&arguments, PASSWORD).status.code()
}

/// The role of a person in `user list --json`.
fn role(gateway: &Gateway, email: &str) -> Option<String> {
    let users: Value = serde_json::from_str(&gateway.command(&["user", "list", "--json"])).unwrap();
    let mut users = users.as_array().unwrap().iter();
    let user = users.find(|user| user["email"] == email)?;
    Some(user["role"].as_str().unwrap().to_owned())
}

#[test]
fn person_gets_each_role_by_name() {
    let gateway = Gateway::offline();
    for code in ["owner", "operator", "auditor", "reviewer", "viewer"] {
        let email = format!("{code}@clinic.example");
        assert_eq!(add(&gateway, &email, code), Some(0), "{code}");
        assert_eq!(role(&gateway, &email).as_deref(), Some(code));
    }
    for code in ["admin", "Owner", "", "auditor,operator"] {
        assert_eq!(add(&gateway, "x@clinic.example", code), Some(2), "{code}");
    }
    assert_eq!(role(&gateway, "x@clinic.example"), None);
}

#[test]
fn role_is_changed_and_recorded() {
    let gateway = Gateway::offline();
    add(&gateway, "jane@clinic.example", "owner");
    add(&gateway, "sam@clinic.example", "viewer");
    gateway.command(&["user", "set", "sam@clinic.example", "--role", "reviewer"]);
    assert_eq!(
        role(&gateway, "sam@clinic.example").as_deref(),
        Some("reviewer")
    );
    let records = gateway.command(&["audit", "export"]);
    let mut records = records.lines();
    let act = records.find(|line| line.contains("\"user.role\"")).unwrap();
    assert!(act.contains("viewer") && act.contains("reviewer"), "{act}");
}

#[test]
fn only_owner_keeps_the_role_unless_confirmed() {
    let gateway = Gateway::offline();
    add(&gateway, "jane@clinic.example", "owner");
    let lower = ["user", "set", "jane@clinic.example", "--role", "viewer"];
    assert_eq!(gateway.try_command(&lower, "").status.code(), Some(2));
    assert_eq!(
        role(&gateway, "jane@clinic.example").as_deref(),
        Some("owner")
    );
    gateway.command(&[&lower[..], &["--last-owner"]].concat());
    assert_eq!(
        role(&gateway, "jane@clinic.example").as_deref(),
        Some("viewer")
    );
}

#[test]
fn password_is_set_for_a_person() {
    let gateway = Gateway::offline();
    add(&gateway, "jane@clinic.example", "owner");
    let nothing = ["user", "set", "jane@clinic.example"];
    assert_eq!(gateway.try_command(&nothing, "").status.code(), Some(2));
    let set = ["user", "set", "jane@clinic.example", "--password-stdin"];
    let done = gateway.try_command(&set, "another horse battery\n");
    assert_eq!(done.status.code(), Some(0));
    let records = gateway.command(&["audit", "export"]);
    assert!(records.contains("\"user.password\""));
}

#[test]
fn admin_key_needs_a_role_and_lifetime() {
    let gateway = Gateway::offline();
    gateway.key();
    for options in [
        &[][..],
        &["--role", "admin"],
        &["--role", "owner", "--expires", "soon"],
        &["--role", "owner", "--expires", "-1d"],
        &["--role", "owner", "--expires", "0s"],
    ] {
        let arguments = [&["admin-key", "create"], options].concat();
        let refused = gateway.try_command(&arguments, "");
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        assert!(refused.stdout.is_empty(), "{options:?}");
    }
}

#[test]
fn number_of_people_for_reveals_is_set() {
    let gateway = Gateway::offline();
    let approvals = |arguments: &[&str]| {
        let arguments = [&["reveals", "approvals"], arguments].concat();
        gateway.try_command(&arguments, "").status.code()
    };
    for wrong in ["0", "3", "two", "-1"] {
        assert_eq!(approvals(&[wrong]), Some(2), "{wrong}");
    }
    assert_eq!(approvals(&["2"]), Some(0));
    assert_eq!(gateway.command(&["reveals", "approvals"]).trim(), "2");
    assert_eq!(gateway.command(&["reveals", "list", "--json"]).trim(), "[]");
    assert_eq!(approvals(&["1"]), Some(2), "needs a reason");
    assert_eq!(approvals(&["1", "--reason", "only one auditor"]), Some(0));
    let records = gateway.command(&["audit", "export"]);
    assert!(records.contains("only one auditor"), "{records}");
}
