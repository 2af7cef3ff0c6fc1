//! Single sign-on: settings, people of identity providers, their sessions.

use crate::support::{Site, account, close};
use futures_util::future::join_all;
use phigate_store::{
    NewSession, SecretString, SessionPolicy, SignOnConfig, SignOnOutcome, SignOnPerson,
    SignOnSetup, SignOut, StoreError, Subject, Vault,
};
use phigate_types::{Right, Role};

const ISSUER: &str = "https://idp.example";
const PASSWORD: &str = "correct horse battery";

fn config(roles: &[&str]) -> SignOnConfig {
    SignOnConfig {
        issuer: ISSUER.to_owned(),
        client_id: "gate".to_owned(),
        role: roles.iter().map(|pair| pair.parse().unwrap()).collect(),
        groups_claim: "groups".to_owned(),
        require_acr: None,
    }
}

fn person(sub: &str, groups: &[&str], session: &str) -> SignOnPerson {
    SignOnPerson {
        subject: Subject {
            issuer: ISSUER.to_owned(),
            sub: sub.to_owned(),
        },
        email: "jane@example.org".to_owned(),
        groups: groups.iter().map(ToString::to_string).collect(),
        without_role: "no_role",
        session: Some(session.to_owned()),
    }
}

fn sign_out(session: Option<&str>, token_id: &str) -> SignOut {
    SignOut {
        issuer: ISSUER.to_owned(),
        sub: Some("jane".to_owned()),
        session: session.map(str::to_owned),
        token_id: token_id.to_owned(),
    }
}

/// A store with single sign-on, and its settings as a login gets them.
async fn set_up(vault: &Vault) -> SignOnSetup {
    let account = account(vault).await;
    let config = config(&["owner=Admins", "viewer=All"]);
    let secret = SecretString::new("invented-client-secret".to_owned());
    let set = vault.sign_on.set(&account, &config, Some(&secret), "cli");
    set.await.unwrap();
    let setup = vault.sign_on.setup(&account).await.unwrap();
    setup.unwrap()
}

async fn enter(vault: &Vault, setup: &SignOnSetup, person: &SignOnPerson) -> Option<NewSession> {
    let policy = SessionPolicy::default();
    let entered = vault.sign_on.enter(setup, person, policy, "test").await;
    match entered.unwrap() {
        SignOnOutcome::Entered(_, session) => Some(session),
        SignOnOutcome::NoRole => None,
    }
}

async fn may(vault: &Vault, session: &NewSession, right: Right) -> Option<bool> {
    let found = vault.sessions.session(session.token.expose()).await;
    found.unwrap().map(|session| session.user.roles.may(right))
}

pub async fn rights_of_last_login_bind_on_replicas(site: Site) {
    let (one, other) = (site.open().await, site.open().await);
    let setup = set_up(&one).await;
    let first = enter(&one, &setup, &person("jane", &["Admins"], "s-1")).await;
    let first = first.unwrap();
    assert_eq!(may(&other, &first, Right::People).await, Some(true));
    let second = enter(&other, &setup, &person("jane", &["All"], "s-2")).await;
    let second = second.unwrap();
    assert_eq!(may(&one, &first, Right::People).await, Some(false));
    let twin = enter(&one, &setup, &person("Jane", &["Admins"], "s-3")).await;
    let twin = twin.unwrap();
    assert!(
        enter(&other, &setup, &person("jane", &[], "s-4"))
            .await
            .is_none()
    );
    for ended in [&first, &second] {
        assert_eq!(may(&one, ended, Right::Figures).await, None);
    }
    assert_eq!(may(&one, &twin, Right::People).await, Some(true));
    let users = one.people.users(&setup.account_id).await.unwrap();
    assert_eq!(users.len(), 2, "subjects differ by letter case");
    close(one).await;
    close(other).await;
}

pub async fn logout_token_works_once_on_replicas(site: Site) {
    let (one, other) = (site.open().await, site.open().await);
    let setup = set_up(&one).await;
    let first = enter(&one, &setup, &person("jane", &["All"], "s-1")).await;
    let second = enter(&one, &setup, &person("jane", &["All"], "s-2")).await;
    let (first, second) = (first.unwrap(), second.unwrap());
    let out = async |token: SignOut| {
        let done = other.sign_on.sign_out(&setup.account_id, &token);
        done.await.unwrap()
    };
    assert!(out(sign_out(Some("s-1"), "t-1")).await);
    assert_eq!(may(&one, &first, Right::Figures).await, None);
    assert_eq!(may(&one, &second, Right::Figures).await, Some(true));
    let again = sign_out(None, "t-1");
    assert!(
        !one.sign_on
            .sign_out(&setup.account_id, &again)
            .await
            .unwrap()
    );
    assert_eq!(may(&one, &second, Right::Figures).await, Some(true));
    assert!(out(sign_out(None, "t-2")).await);
    assert_eq!(may(&one, &second, Right::Figures).await, None);
    // A token about a person without a session is accepted too.
    assert!(out(sign_out(None, "t-3")).await);
    close(one).await;
    close(other).await;
}

pub async fn client_secret_stays_with_its_client(site: Site) {
    let vault = site.open().await;
    let setup = set_up(&vault).await;
    let secret = |setup: Option<SignOnSetup>| {
        setup
            .unwrap()
            .secret
            .map(|secret| secret.expose().to_owned())
    };
    let known = Some("invented-client-secret".to_owned());
    assert_eq!(secret(Some(setup.clone())), known);
    let (sign_on, account) = (&vault.sign_on, setup.account_id.as_str());
    let roles = config(&["auditor=Admins"]);
    sign_on.set(account, &roles, None, "cli").await.unwrap();
    assert_eq!(secret(sign_on.setup(account).await.unwrap()), known);
    let moved = SignOnConfig {
        issuer: "https://other.example".to_owned(),
        ..roles
    };
    sign_on.set(account, &moved, None, "cli").await.unwrap();
    assert_eq!(secret(sign_on.setup(account).await.unwrap()), None);
    // A login that began with the issuer of before does not end with roles.
    assert!(
        enter(&vault, &setup, &person("jane", &["Admins"], "s-1"))
            .await
            .is_none()
    );
    sign_on.remove(account, "cli").await.unwrap();
    let late = person("jane", &["Admins"], "s-2");
    let late = sign_on.enter(&setup, &late, SessionPolicy::default(), "test");
    assert!(matches!(late.await, Err(StoreError::NotFound(_))));
    close(vault).await;
}

pub async fn logins_at_one_moment_all_succeed(site: Site) {
    let vault = site.open().await;
    let setup = set_up(&vault).await;
    let account = setup.account_id.as_str();
    let (people, password) = (&vault.people, SecretString::from(PASSWORD));
    let created = people.create_user(account, "glass@example.org", &password, Role::Owner, "cli");
    let user = created.await.unwrap();
    let begin = || {
        vault
            .sessions
            .begin_session(&user, SessionPolicy::default(), "test")
    };
    assert!(begin().await.is_err(), "not marked as break-glass");
    let marked = people.set_break_glass(account, &user.email, true, None, "cli");
    marked.await.unwrap();
    let begun = join_all((0..4).map(|_| begin())).await;
    assert!(begun.iter().all(Result::is_ok), "{begun:?}");
    let jane = person("jane", &["All"], "s-1");
    let entered = join_all((0..4).map(|_| enter(&vault, &setup, &jane))).await;
    assert!(entered.iter().all(Option::is_some));
    let users = people.users(account).await.unwrap();
    assert_eq!(users.len(), 2);
    close(vault).await;
}
