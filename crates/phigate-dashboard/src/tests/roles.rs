//! Roles: every route and link, walked by a person of each.

use http::{Method, StatusCode};
use phigate_store::User;
use phigate_types::Role;

use super::super::access::Needs;
use super::super::routes::{NAVIGATION, ROUTES};
use super::{World, is_open, is_write, name};

/// Walks every route as a person who is not the owner; returns the number of routes that were closed.
async fn walk(world: &World, person: &User) -> usize {
    let mut closed = 0;
    for route in ROUTES.iter().filter(|route| !is_open(route.needs)) {
        let response = world.visit(route, Some(person)).await;
        let (status, about) = (
            response.status(),
            format!("{}: {}", person.roles.codes(), name(route)),
        );
        let may = match route.needs {
            Needs::May(right) => person.roles.may(right),
            Needs::Member | Needs::Nobody | Needs::Provider => true,
        };
        assert_eq!(status == StatusCode::FORBIDDEN, !may, "{about}: {status}");
        assert!(!status.is_server_error(), "{about}: {status}");
        closed += usize::from(!may);
        if may && !is_write(route) {
            let body = axum::body::to_bytes(response.into_body(), 1 << 22).await;
            let page = String::from_utf8_lossy(&body.unwrap()).into_owned();
            check_links(person, &page, &about);
        }
    }
    closed
}

/// Checks that a page leads only to pages that the person may open.
fn check_links(person: &User, page: &str, about: &str) {
    for address in page.split("href=\"").skip(1) {
        let address = address.split('"').next().unwrap_or_default();
        let is_ours = address.starts_with('/') && !address.starts_with("/assets");
        let opens = (NAVIGATION.opens)(person.roles, &address.replace("&#38;", "&"));
        assert!(!is_ours || opens, "{about}: closed link {address}");
    }
}

#[tokio::test]
async fn an_auditor_reads_and_changes_nothing() {
    let world = World::new().await;
    assert!(walk(&world, &world.auditor).await > 10);
    world.check_untouched().await;
}

#[tokio::test]
async fn every_role_has_its_routes_only() {
    let world = World::new().await;
    for role in [Role::Reviewer, Role::Viewer] {
        assert!(walk(&world, world.person(role)).await > 20);
    }
    world.check_untouched().await;
    // Last, because an operator may remove what the others look at.
    assert!(walk(&world, world.person(Role::Operator)).await > 10);
}

#[tokio::test]
async fn contract_says_who_opens_what() {
    // Owner, operator, auditor, reviewer, viewer.
    for (method, path, may) in [
        (Method::GET, "/", "YYYYY"),
        (Method::GET, "/audit", "YYYYN"),
        (Method::GET, "/audit/{request_id}", "YYYYN"),
        (Method::GET, "/audit/administration", "YNYNN"),
        (Method::GET, "/audit/export", "YNYNN"),
        (Method::GET, "/audit/find", "YNYNN"),
        (Method::POST, "/audit/{request_id}/reveal", "YNYNN"),
        (Method::POST, "/settings", "YYNNN"),
        (Method::GET, "/settings", "YYYNN"),
        (Method::POST, "/settings/retention", "YNNNN"),
        (Method::GET, "/settings/sign-in", "YNYNN"),
        (Method::POST, "/settings/sign-in", "YNNNN"),
        (Method::GET, "/providers", "YYYNN"),
        (Method::POST, "/provider/{provider}", "YYNNN"),
        (Method::POST, "/keys", "YYNNN"),
        (Method::GET, "/audit/looks", "YNYNN"),
        (Method::POST, "/audit/looks/{id}/approve", "YNYNN"),
        (Method::POST, "/settings/sign-in/sso", "YNNNN"),
        (Method::GET, "/keys/issuers", "YYYNN"),
        (Method::POST, "/keys/issuers", "YYNNN"),
        (Method::GET, "/keys/admin", "YNYNN"),
        (Method::POST, "/keys/admin", "YNNNN"),
        (Method::GET, "/users", "YNYNN"),
        (Method::POST, "/users", "YNNNN"),
    ] {
        let mut routes = ROUTES.iter();
        let route = routes.find(|route| route.method == method && route.path == path);
        let needs = route.unwrap().needs;
        let found: String = Role::all()
            .map(|role| if needs.admits(role.into()) { 'Y' } else { 'N' })
            .collect();
        assert_eq!(found, may, "{method} {path}");
    }
}

#[tokio::test]
async fn role_without_values_reveals_nothing() {
    let world = World::new().await;
    let mut routes = ROUTES.iter();
    let route = routes.find(|route| route.path == "/audit/{request_id}");
    let reviewer = world.person(Role::Reviewer);
    for (person, may) in [(&world.owner, true), (reviewer, false)] {
        let response = world.visit(route.unwrap(), Some(person)).await;
        let body = axum::body::to_bytes(response.into_body(), 1 << 22).await;
        let page = String::from_utf8_lossy(&body.unwrap()).into_owned();
        assert_eq!(page.contains("/reveal"), may, "{}", person.roles.codes());
    }
}

#[tokio::test]
async fn reader_gets_forms_that_cannot_be_sent() {
    let world = World::new().await;
    let pages = [
        "/settings",
        "/providers",
        "/provider/{provider}",
        "/keys",
        "/users",
    ];
    for route in ROUTES
        .iter()
        .filter(|route| pages.contains(&route.path) && !is_write(route))
    {
        for (person, is_read_only) in [(&world.owner, false), (&world.auditor, true)] {
            let body = world.visit(route, Some(person)).await.into_body();
            let body = axum::body::to_bytes(body, 1 << 22).await;
            let page = String::from_utf8_lossy(&body.unwrap()).into_owned();
            let found = page.contains("<fieldset class=\"read-only\" disabled>");
            assert_eq!(
                found,
                is_read_only,
                "{}: {}",
                person.roles.codes(),
                name(route)
            );
        }
    }
}
