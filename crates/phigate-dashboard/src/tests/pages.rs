//! Messages of pages that refuse something, and their links.

use phigate_store::AdminAct;
use phigate_types::Act;

use super::*;

/// A page or a form, as the owner.
pub(super) async fn as_owner(
    world: &World,
    method: Method,
    path: &str,
    fields: &str,
) -> (Response, String) {
    let session = world.sign_in(&world.owner).await;
    let body = match method {
        Method::POST => format!("csrf={}&{fields}", form_token(&session)),
        _ => String::new(),
    };
    let request = Request::builder()
        .uri(path)
        .method(method)
        .header(header::HOST, HOST)
        .header(header::COOKIE, format!("phigate={session}"))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(body))
        .unwrap();
    let response = world.router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 22).await.unwrap();
    let text = String::from_utf8_lossy(&body).into_owned();
    (Response::from_parts(parts, Body::empty()), text)
}

#[tokio::test]
async fn unreadable_filter_shows_no_records() {
    let world = World::new().await;
    let link = format!("/audit/{}", world.request_id);
    let (answer, page) = as_owner(&world, Method::GET, "/audit", "").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(page.contains(&link));
    let (answer, page) = as_owner(&world, Method::GET, "/audit?request=12", "").await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!page.contains(&link) && page.contains("A request id looks like"));
    let (answer, _) = as_owner(
        &world,
        Method::GET,
        "/audit/export?format=csv&request=12",
        "",
    )
    .await;
    assert_eq!(answer.headers()[header::LOCATION], "/audit?request=12");
}

#[tokio::test]
async fn page_names_values_refused_by_store() {
    let world = World::new().await;
    let long = "x".repeat(81);
    let short = "current=an+invented+password&password=elevenchars&again=elevenchars";
    for (path, fields, words) in [
        (
            "/users",
            "email=sam%40one%40two&role=auditor".to_owned(),
            "whole e-mail address",
        ),
        (
            "/keys",
            format!("name={long}&expires=90d"),
            "1 to 80 characters",
        ),
        (
            "/keys",
            "name=two%0Alines&expires=90d".to_owned(),
            "1 to 80 characters",
        ),
        (
            "/account/password",
            short.to_owned(),
            "at least 12 characters",
        ),
        (
            "/providers/openai",
            "key=two+words".to_owned(),
            "does not look like an API key",
        ),
    ] {
        let (answer, page) = as_owner(&world, Method::POST, path, &fields).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        assert!(page.contains(words), "{path} with {fields}");
    }
}

#[tokio::test]
async fn login_leads_back_to_filtered_page() {
    let world = World::new().await;
    let request = Request::builder()
        .uri("/audit?type=ssn&range=day")
        .body(Body::empty())
        .unwrap();
    let response = world.router.clone().oneshot(request).await.unwrap();
    assert_eq!(
        response.headers()[header::LOCATION],
        "/login?next=%2Faudit%3Ftype%3Dssn%26range%3Dday"
    );
}

#[tokio::test]
async fn viewer_sees_no_links_to_closed_pages() {
    let world = World::new().await;
    let overview = ROUTES.iter().find(|route| route.path == "/").unwrap();
    for (visitor, leads) in [(&world.owner, true), (world.person(Role::Viewer), false)] {
        let body = world.visit(overview, Some(visitor)).await.into_body();
        let body = axum::body::to_bytes(body, 1 << 22).await.unwrap();
        let page = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(
            page.contains("href=\"/settings") || page.contains("href=\"/audit"),
            leads,
            "{}",
            visitor.email
        );
    }
}

#[tokio::test]
async fn forbidden_page_keeps_viewer_theme() {
    let world = World::new().await;
    let session = world.sign_in(world.person(Role::Viewer)).await;
    let request = Request::builder()
        .uri("/settings")
        .header(
            header::COOKIE,
            format!("phigate={session}; phigate-theme=dark"),
        )
        .body(Body::empty())
        .unwrap();
    let response = world.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    let page = String::from_utf8_lossy(&body.unwrap()).into_owned();
    assert!(page.contains("data-theme=\"dark\""), "{page}");
}

#[tokio::test]
async fn provider_is_added_from_preset_and_changed() {
    let world = World::new().await;
    let (answer, page) = as_owner(&world, Method::GET, "/providers/add/azure", "").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(page.contains("Keys and Endpoint") && page.contains("name=\"base-url\""));
    let soon = jiff::Timestamp::now()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date();
    let fields = format!(
        "name=azure-eu&base-url=https%3A%2F%2Fx.openai.azure.com&key=an-invented-key-4f2a&models=gpt-4o%3Ddep&priority=7&phi=masked&agreement=BAA+7&agreement-expires={soon}"
    );
    for (wrong, words) in [
        (fields.replace("azure-eu", "Azure"), "lower-case letters"),
        (
            fields.replace("https%3A%2F%2Fx", "http%3A%2F%2Fx"),
            "Base URL",
        ),
        (fields.replace("an-invented-key-4f2a", ""), "Secret"),
        (fields.replace("gpt-4o%3Ddep", "a%2C%2Cb"), "empty entry"),
        (fields.replace("priority=7", "priority=x"), "priority"),
    ] {
        let (answer, page) = as_owner(&world, Method::POST, "/providers/add/azure", &wrong).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY, "{words}");
        assert!(page.contains(words), "{words}");
        assert!(!page.contains("an-invented-key"), "{words}");
    }
    let (answer, _) = as_owner(&world, Method::POST, "/providers/add/azure", &fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let (_, page) = as_owner(&world, Method::GET, "/providers", "").await;
    for words in [
        "azure-eu",
        "gpt-4o=dep",
        "PHI masked",
        "BAA 7",
        "The agreement ends on",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let (_, page) = as_owner(&world, Method::GET, "/provider/azure-eu", "").await;
    assert!(page.contains("4f2a") && !page.contains("an-invented-key"));
    let moved = fields
        .replace("x.openai", "evil.openai")
        .replace("an-invented-key-4f2a", "");
    let (answer, page) = as_owner(&world, Method::POST, "/provider/azure-eu", &moved).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("belongs to the old address"));
    let never = fields
        .replace("an-invented-key-4f2a", "")
        .replace("phi=masked", "phi=never");
    let (answer, _) = as_owner(&world, Method::POST, "/provider/azure-eu", &never).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let (_, page) = as_owner(&world, Method::GET, "/providers", "").await;
    assert!(page.contains("No PHI"));
    let fallback = "fallbacks=gpt-4o+%3D+azure-eu%2Fgpt-4o";
    let (answer, _) = as_owner(&world, Method::POST, "/providers/fallbacks", fallback).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let (_, page) = as_owner(&world, Method::GET, "/providers", "").await;
    assert!(page.contains("gpt-4o = azure-eu/gpt-4o"));
    let (answer, _) = as_owner(&world, Method::POST, "/provider/azure-eu/remove", "").await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let (answer, _) = as_owner(&world, Method::GET, "/provider/azure-eu", "").await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sole_account_owner_sees_installation_trail() {
    let world = World::new().await;
    let vault = &world.vault;
    let act = AdminAct::new(jiff::Timestamp::now(), "", "caller", Act::KeyRefused);
    let act = act.detail("address", "192.0.2.7");
    vault.trail.record_admin(None, &act).await.unwrap();
    let path = "/audit/installation";
    let (answer, page) = as_owner(&world, Method::GET, path, "").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(page.contains("several accounts") && !page.contains("192.0.2.7"));
    let other = &world.stranger.account_id;
    vault.accounts.delete_account(other, "test").await.unwrap();
    let (_, page) = as_owner(&world, Method::GET, path, "").await;
    assert!(page.contains("192.0.2.7") && page.contains("Bad key refused"));
    let (_, page) = as_owner(&world, Method::GET, "/audit/administration", "").await;
    assert!(page.contains(path));
}

#[tokio::test]
async fn wider_agreement_needs_reason_on_page() {
    let world = World::new().await;
    let fields = |phi: &str, end: &str, why: &str| {
        format!("priority=100&phi={phi}&agreement=BAA+2026-114&agreement-expires={end}&why={why}")
    };
    let save = async |phi: &str, end: &str, why: &str| {
        let body = fields(phi, end, why);
        let (answer, page) = as_owner(&world, Method::POST, "/provider/mine", &body).await;
        (answer.status(), page)
    };
    assert_eq!(save("never", "", "").await.0, StatusCode::SEE_OTHER);
    for (phi, end) in [("masked", ""), ("allowed", ""), ("never", "2020-01-01")] {
        let (status, page) = save(phi, end, "").await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{phi} {end}");
        assert!(page.contains("Give a reason"), "{phi} {end}");
    }
    assert_eq!(save("allowed", "", "ward+7").await.0, StatusCode::SEE_OTHER);
    let (_, page) = as_owner(&world, Method::GET, "/audit/administration", "").await;
    assert!(page.contains("ward 7") && page.contains("PHI allowed"));
    assert!(page.contains("PHI never, agreement BAA 2026-114"), "{page}");
}

#[tokio::test]
async fn help_lists_identifiers_in_force() {
    let world = World::new().await;
    let (_, page) = as_owner(&world, Method::GET, "/help", "").await;
    let (_, promise) = page.split_once("In this account it looks for:").unwrap();
    let (on, off) = promise.split_once("It does not look for:").unwrap();
    assert!(on.contains("SSN") && !on.contains("NPI"), "{on}");
    assert!(off.contains("NPI"), "{off}");
}
