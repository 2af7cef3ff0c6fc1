//! What somebody meets who starts phigate for the first time.

mod support;

use support::Gateway;

#[test]
fn the_owner_link_is_printed_at_the_first_start_alone_and_goes_on_working() {
    let mut gateway = Gateway::offline();
    gateway.serve();
    let link = format!("/setup/{}", gateway.logged_after("/setup/"));
    gateway.signal("-TERM");
    assert_eq!(gateway.wait(), Some(0));
    gateway.logs.lock().unwrap().clear();
    gateway.serve();
    gateway.logged_after("There is no owner yet.");
    assert!(!gateway.logs.lock().unwrap().contains("/setup/"));
    assert_eq!(gateway.get(&link, "none").status, 200);
}

#[test]
fn the_link_that_the_demo_prints_opens() {
    let mut gateway = Gateway::demo();
    gateway.serve();
    let link = format!("/setup/{}", gateway.logged_after("/setup/"));
    assert_eq!(gateway.get(&link, "none").status, 200);
}

#[test]
fn an_unknown_page_is_a_page_with_the_headers_of_all_pages() {
    let mut gateway = Gateway::offline();
    gateway.serve();
    let head = format!(
        "GET /nothing HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
        gateway.address
    );
    let answer = support::exchange(&gateway.address, head.as_bytes());
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("<h1"), "{}", answer.text());
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

#[test]
fn the_demo_leaves_a_real_database_alone() {
    let mut gateway = Gateway::demo();
    // Nothing listens there: a demo that asked would not start.
    gateway.set("PHIGATE_DATABASE_URL", "postgres://nobody@127.0.0.1:1/real");
    gateway.serve();
    gateway.logged_after("Dashboard, first login:");
    let command = gateway.logged_after("--data ");
    assert_eq!(command, "phigate-demo");
}

#[test]
fn behind_a_proxy_the_link_does_not_name_an_address_that_browsers_cannot_use() {
    let mut gateway = Gateway::offline();
    gateway.set("PHIGATE_BEHIND_TLS_PROXY", "true");
    gateway.serve();
    let link = gateway.logged_after("https://YOUR-ADDRESS");
    assert!(link.starts_with("/setup/"), "{link}");
}
