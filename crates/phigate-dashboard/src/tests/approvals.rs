//! Looks at content that take two people, over the pages.

use phigate_store::{By, Settings};
use phigate_types::Approvals;

use super::*;

/// A page or a form, as a person.
async fn as_person(world: &World, person: &User, path: &str, form: Option<&str>) -> (u16, String) {
    let session = world.sign_in(person).await;
    let fields = form.map(|form| format!("csrf={}&{form}", form_token(&session)));
    let method = fields.as_ref().map_or(Method::GET, |_| Method::POST);
    let request = Request::builder()
        .uri(path)
        .method(method)
        .header(header::HOST, HOST)
        .header(header::COOKIE, format!("phigate={session}"))
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(fields.unwrap_or_default()))
        .unwrap();
    let response = world.router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 22).await;
    (status, String::from_utf8_lossy(&body.unwrap()).into_owned())
}

#[tokio::test]
async fn second_person_approves_on_record_page() {
    let world = World::new().await;
    let change = |settings: &mut Settings| settings.reveal_approvals = Approvals::Two;
    let by = By {
        actor: "test",
        reason: None,
    };
    let accounts = &world.vault.accounts;
    let edited = accounts.edit_settings(&world.owner.account_id, change, by);
    edited.await.unwrap();
    let (asker, other) = (&world.auditor, &world.owner);
    let record = format!("/audit/{}", world.request_id);
    let reveal = format!("{record}/reveal");
    let reason = Some("reason=complaint+17");
    let (status, _) = as_person(&world, asker, &reveal, reason).await;
    assert_eq!(status, 303);
    let open = world.vault.reveals.open(&asker.account_id).await.unwrap();
    let approve = format!("/audit/looks/{}/approve", open[0].id);
    let (_, page) = as_person(&world, asker, &record, None).await;
    assert!(page.contains("Waits for approval") && page.contains("Withdraw"));
    assert!(!page.contains("/approve"), "own request");
    let (status, page) = as_person(&world, asker, &approve, Some("")).await;
    assert_eq!(status, 422);
    assert!(page.contains("Another person approves"));
    for path in ["/", "/audit/looks", record.as_str()] {
        let (_, page) = as_person(&world, other, path, None).await;
        assert!(
            page.contains("class=\"count\""),
            "{path} says that one waits"
        );
        let leads = page.contains(&approve) || page.contains("/audit/looks");
        assert!(leads, "{path}");
    }
    let (status, _) = as_person(&world, other, &approve, Some("")).await;
    assert_eq!(status, 303);
    let (_, page) = as_person(&world, asker, &record, None).await;
    assert!(page.contains(">Reveal</button>") && page.contains(&other.email));
    let (status, _) = as_person(&world, other, &reveal, reason).await;
    assert_eq!(status, 303, "the other one asks as well");
    let open = world.vault.reveals.open(&asker.account_id).await.unwrap();
    assert_eq!(open.len(), 2);
}
