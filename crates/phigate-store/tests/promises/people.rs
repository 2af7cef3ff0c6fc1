//! Users, sessions, one-time links.

use std::sync::Arc;

use crate::support::{Site, Watch, account, close};
use jiff::{SignedDuration, Timestamp};
use phigate_store::{
    Filter, Invite, LinkPurpose, Login, LoginOutcome, Options, RecordKind, SecretBytes,
    SessionPolicy, StoreError, User, Vault,
};
use phigate_types::{Act, Role};

const PASSWORD: &str = "correct horse battery";
const WRONG: &str = "wrong password";

/// An attempt to sign in from an origin, with the cookie of an earlier login in the browser.
async fn sign_in(
    vault: &Vault,
    email: &str,
    password: &str,
    origin: &str,
    device: Option<&str>,
) -> LoginOutcome {
    let login = Login {
        email,
        password: &password.into(),
        origin,
        device,
    };
    vault.people.verify_login(&login).await.unwrap()
}

fn is_right(outcome: &LoginOutcome) -> bool {
    matches!(outcome, LoginOutcome::Right(_))
}

async fn jane(vault: &Vault) -> User {
    let account = account(vault).await;
    vault
        .people
        .create_user(
            &account,
            "Jane@Example.org",
            &PASSWORD.into(),
            Role::Owner,
            "cli",
        )
        .await
        .unwrap()
}

pub async fn a_login_needs_the_right_password_and_failures_are_slowed_down(site: Site) {
    let vault = site.open().await;
    let user = jane(&vault).await;
    assert_eq!(user.email, "jane@example.org");
    let again = vault
        .people
        .create_user(
            &user.account_id,
            "jane@example.org",
            &PASSWORD.into(),
            Role::Auditor,
            "cli",
        )
        .await;
    assert!(matches!(again, Err(StoreError::Conflict(_))));
    let right = sign_in(&vault, "JANE@example.org ", PASSWORD, "192.0.2.1", None).await;
    assert!(matches!(right, LoginOutcome::Right(found) if found.id == user.id));
    let unknown = sign_in(&vault, "nobody@example.org", PASSWORD, "192.0.2.2", None).await;
    assert_eq!(unknown, LoginOutcome::Wrong);
    for _ in 0..5 {
        let wrong = sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
        assert_eq!(wrong, LoginOutcome::Wrong);
    }
    let slowed = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(
        matches!(slowed, LoginOutcome::Throttled { .. }),
        "{slowed:?}"
    );
    assert!(
        vault
            .people
            .create_user(
                &user.account_id,
                "x@example.org",
                &"short".into(),
                Role::Owner,
                "cli"
            )
            .await
            .is_err()
    );
    close(vault).await;
}

pub async fn failures_are_counted_across_processes_and_before_the_password_is_looked_at(
    site: Site,
) {
    let (one, other) = (site.open().await, site.open().await);
    jane(&one).await;
    let guess =
        async |vault: &Vault| sign_in(vault, "jane@example.org", WRONG, "192.0.2.1", None).await;
    let (a, b, c, d, e, f, g, h) = tokio::join!(
        guess(&one),
        guess(&other),
        guess(&one),
        guess(&other),
        guess(&one),
        guess(&other),
        guess(&one),
        guess(&other),
    );
    let outcomes = [a, b, c, d, e, f, g, h];
    let looked_at = outcomes
        .iter()
        .filter(|outcome| **outcome == LoginOutcome::Wrong)
        .count();
    assert!((1..=5).contains(&looked_at), "{outcomes:?}");
    close(one).await;
    close(other).await;
}

pub async fn strangers_lock_nobody_out(site: Site) {
    // However long the passwords take on a busy machine, no time passes.
    let watch = Watch::new();
    let vault = Vault::open(Options {
        clock: watch.clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    let device = vault.people.device_token(&user).await.unwrap();
    // Many origins guess at Jane's password; some share her own origin, as behind a proxy.
    for number in 0..60 {
        let origin = format!("198.51.100.{}", number % 12);
        sign_in(&vault, &user.email, WRONG, &origin, None).await;
    }
    for _ in 0..6 {
        sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
    }
    let first = sign_in(&vault, &user.email, PASSWORD, "203.0.113.9", None).await;
    assert_eq!(first, LoginOutcome::Throttled { retry_after_s: 32 });
    watch.advance(SignedDuration::from_secs(32));
    for _ in 0..6 {
        sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
    }
    for (origin, device, is_let_in, why) in [
        ("203.0.113.9", None, true, "an origin that waited"),
        ("192.0.2.1", Some(device.expose()), true, "her own browser"),
        ("192.0.2.1", None, false, "an origin that failed too often"),
        ("192.0.2.1", Some("1.x.y"), false, "a made-up device"),
    ] {
        let outcome = sign_in(&vault, &user.email, PASSWORD, origin, device).await;
        assert_eq!(is_right(&outcome), is_let_in, "{why}: {outcome:?}");
    }
    let password = PASSWORD.into();
    let confirmed = vault.people.confirm_password(&user, &password, "192.0.2.1");
    assert!(confirmed.await.unwrap(), "a session has a count of its own");
    close(vault).await;
}

pub async fn guesses_from_many_addresses_are_slowed_and_recorded(site: Site) {
    let watch = Watch::new();
    let vault = Vault::open(Options {
        clock: watch.clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    let home = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(is_right(&home));
    let mut looked_at = 0;
    for number in 0..40 {
        let origin = format!("198.51.100.{number}");
        let outcome = sign_in(&vault, &user.email, WRONG, &origin, None).await;
        looked_at += u32::from(outcome == LoginOutcome::Wrong);
    }
    assert_eq!(looked_at, 20, "four times the failures of one origin");
    let outcome = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(is_right(&outcome), "her own address: {outcome:?}");
    watch.advance(SignedDuration::from_secs(32));
    let first = sign_in(&vault, &user.email, WRONG, "198.51.100.39", None).await;
    let second = sign_in(&vault, &user.email, WRONG, "198.51.100.39", None).await;
    assert_eq!(first, LoginOutcome::Wrong, "it waited");
    assert_eq!(second, LoginOutcome::Throttled { retry_after_s: 64 });
    // Known places of an address outlive the failures.
    watch.advance(SignedDuration::from_hours(24));
    for number in 0..25 {
        let origin = format!("203.0.113.{number}");
        sign_in(&vault, &user.email, WRONG, &origin, None).await;
    }
    let outcome = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(
        is_right(&outcome),
        "her own address, a day later: {outcome:?}"
    );
    let filter = Filter {
        record: Some(RecordKind::Admin),
        act: Some(Act::LoginGuessed),
        ..Filter::default()
    };
    let acts = vault.trail.audit_list(&user.account_id, &filter, None, 10);
    assert_eq!(acts.await.unwrap().items.len(), 2, "one record per wave");
    close(vault).await;
}

pub async fn one_origin_may_not_lock_others_out_nor_try_many_addresses(site: Site) {
    // However long the passwords take on a busy machine, no time passes.
    let vault = Vault::open(Options {
        clock: Watch::new().clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    for number in 0..60 {
        let address = format!("invented{number}@example.org");
        sign_in(&vault, &address, WRONG, "192.0.2.1", None).await;
    }
    let outcome = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(is_right(&outcome), "no failure of her own: {outcome:?}");
    let first = sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
    let second = sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
    assert_eq!(first, LoginOutcome::Wrong);
    assert_eq!(second, LoginOutcome::Throttled { retry_after_s: 1 });
    close(vault).await;
}

pub async fn counts_of_failures_expire(site: Site) {
    let watch = Watch::new();
    let vault = Vault::open(Options {
        clock: watch.clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    for _ in 0..6 {
        sign_in(&vault, &user.email, WRONG, "192.0.2.1", None).await;
    }
    let slowed = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(!is_right(&slowed));
    watch.advance(SignedDuration::from_hours(1));
    let outcome = sign_in(&vault, &user.email, PASSWORD, "192.0.2.1", None).await;
    assert!(is_right(&outcome), "{outcome:?}");
    close(vault).await;
}

pub async fn an_owner_link_dies_when_there_is_an_owner(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let invite = Invite {
        purpose: LinkPurpose::Owner,
        role: Role::Owner,
        email: None,
        valid: SignedDuration::from_hours(1),
    };
    let token = vault
        .links
        .create_link(&account, &invite, "system")
        .await
        .unwrap();
    assert!(vault.links.link(token.expose()).await.unwrap().is_some());
    jane(&vault).await;
    assert!(vault.links.link(token.expose()).await.unwrap().is_none());
    assert!(!vault.links.has_owner_link(&account).await.unwrap());
    let password = PASSWORD.into();
    let used = vault
        .links
        .redeem_link(token.expose(), "john@example.org", &password);
    assert!(matches!(used.await, Err(StoreError::NotFound(_))));
    let another = vault.links.create_link(&account, &invite, "system").await;
    assert!(matches!(another, Err(StoreError::Invalid { .. })));
    close(vault).await;
}

pub async fn owner_links_made_together_all_work(site: Site) {
    let mut vaults = Vec::new();
    for _ in 0..5 {
        vaults.push(Arc::new(site.open().await));
    }
    let account = account(&vaults[0]).await;
    let hour = SignedDuration::from_hours(1);
    let link = |vault: Arc<Vault>, since: Timestamp| {
        let account = account.clone();
        let made = async move { vault.links.create_owner_link(&account, hour, since).await };
        tokio::spawn(made)
    };
    let started = Timestamp::now();
    let old = link(vaults[0].clone(), started).await.unwrap().unwrap();
    let restarted = Timestamp::now();
    let made: Vec<_> = vaults
        .iter()
        .map(|vault| link(vault.clone(), restarted))
        .collect();
    for one in made {
        let token = one.await.unwrap().unwrap();
        let found = vaults[0].links.link(token.expose()).await.unwrap();
        assert!(found.is_some());
    }
    assert!(vaults[0].links.link(old.expose()).await.unwrap().is_none());
    for vault in vaults {
        vault.close(crate::support::PATIENCE).await.unwrap();
    }
}

pub async fn owners_added_together_are_all_there(site: Site) {
    let vaults = [Arc::new(site.open().await), Arc::new(site.open().await)];
    let account = account(&vaults[0]).await;
    for turn in 0..4 {
        let (hour, now) = (SignedDuration::from_hours(1), Timestamp::now());
        let clinic = format!("clinic-{turn}");
        let clinic = vaults[0].accounts.create_account(&clinic, "cli").await;
        let clinic = clinic.unwrap().id;
        let links = &vaults[0].links;
        links.create_owner_link(&clinic, hour, now).await.unwrap();
        let adding: Vec<_> = vaults
            .iter()
            .enumerate()
            .map(|(number, vault)| {
                let (vault, clinic) = (vault.clone(), clinic.clone());
                let email = format!("{turn}-{number}@example.org");
                tokio::spawn(async move {
                    let password = PASSWORD.into();
                    let people = &vault.people;
                    let added = people.create_user(&clinic, &email, &password, Role::Owner, "cli");
                    added.await.map(|_| ())
                })
            })
            .collect();
        for one in adding {
            one.await.unwrap().unwrap();
        }
        assert_eq!(vaults[1].people.users(&clinic).await.unwrap().len(), 2);
    }
    let email = "0-0@example.org";
    let password = PASSWORD.into();
    let taken = vaults[0]
        .people
        .create_user(&account, email, &password, Role::Owner, "cli");
    assert!(matches!(taken.await, Err(StoreError::Conflict(_))));
    for vault in vaults {
        vault.close(crate::support::PATIENCE).await.unwrap();
    }
}

pub async fn the_second_step_of_a_login_may_reach_another_process(site: Site) {
    let watch = Watch::new();
    let open = async || {
        let clock = watch.clock();
        Vault::open(Options {
            clock,
            ..site.options()
        })
        .await
        .unwrap()
    };
    let (one, other) = (open().await, open().await);
    let user = jane(&one).await;
    one.people.begin_second_step("token", &user).await.unwrap();
    let found = other.people.second_step("token").await.unwrap();
    assert_eq!(found.map(|found| found.id), Some(user.id.clone()));
    assert_eq!(
        other.people.second_step("another token").await.unwrap(),
        None
    );
    for _ in 0..5 {
        assert_eq!(other.people.begin_code(&user).await.unwrap(), None);
    }
    assert_eq!(one.people.begin_code(&user).await.unwrap(), Some(1));
    watch.advance(SignedDuration::from_secs(1));
    assert_eq!(one.people.begin_code(&user).await.unwrap(), None);
    one.people.end_second_step("token", &user).await.unwrap();
    assert_eq!(other.people.begin_code(&user).await.unwrap(), None);
    assert_eq!(other.people.second_step("token").await.unwrap(), None);
    one.people.begin_second_step("token", &user).await.unwrap();
    watch.advance(SignedDuration::from_mins(5));
    assert_eq!(
        other.people.second_step("token").await.unwrap(),
        None,
        "too late"
    );
    close(one).await;
    close(other).await;
}

pub async fn looking_at_a_session_is_no_use_of_it(site: Site) {
    let watch = Watch::new();
    let vault = Vault::open(Options {
        clock: watch.clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    let policy = SessionPolicy {
        idle: SignedDuration::from_mins(15),
        absolute: SignedDuration::from_hours(1),
    };
    let session = vault
        .sessions
        .begin_session(&user, policy, "test")
        .await
        .unwrap();
    let token = session.token.expose();
    for _ in 0..2 {
        assert!(vault.sessions.peek_session(token).await.unwrap().is_some());
        watch.advance(SignedDuration::from_mins(8));
    }
    assert!(vault.sessions.session(token).await.unwrap().is_none());
    close(vault).await;
}

pub async fn a_session_ends_when_idle_when_old_and_when_ended(site: Site) {
    let watch = Watch::new();
    let vault = Vault::open(Options {
        clock: watch.clock(),
        ..site.options()
    })
    .await
    .unwrap();
    let user = jane(&vault).await;
    let policy = SessionPolicy {
        idle: SignedDuration::from_mins(15),
        absolute: SignedDuration::from_hours(1),
    };
    let sessions = &vault.sessions;
    let begin = async || sessions.begin_session(&user, policy, "test").await.unwrap();
    let found = async |token: &str| sessions.session(token).await.unwrap();
    let idle = begin().await;
    let session = found(idle.token.expose()).await.unwrap();
    assert_eq!(session.user.id, user.id);
    watch.advance(SignedDuration::from_mins(14));
    assert!(found(idle.token.expose()).await.is_some(), "used in time");
    watch.advance(SignedDuration::from_mins(16));
    let session = found(idle.token.expose()).await;
    assert!(session.is_none(), "idle for too long");
    let old = begin().await;
    for _ in 0..6 {
        watch.advance(SignedDuration::from_mins(10));
        let is_young = found(old.token.expose()).await.is_some();
        let listed = sessions.sessions(&user).await.unwrap();
        assert_eq!(is_young, listed.len() == 1);
    }
    let session = found(old.token.expose()).await;
    assert!(session.is_none(), "too old, though in use");
    let ended = begin().await;
    sessions
        .end_session(&user.account_id, &ended.id, "jane@example.org")
        .await
        .unwrap();
    assert!(found(ended.token.expose()).await.is_none());
    assert!(found("x").await.is_none());
    close(vault).await;
}

pub async fn a_new_password_ends_other_sessions(site: Site) {
    let vault = site.open().await;
    let user = jane(&vault).await;
    let policy = SessionPolicy::default();
    let here = vault
        .sessions
        .begin_session(&user, policy, "here")
        .await
        .unwrap();
    let there = vault
        .sessions
        .begin_session(&user, policy, "there")
        .await
        .unwrap();
    let new = "another long pass phrase".into();
    vault
        .people
        .set_password(
            &user.account_id,
            &user.email,
            &new,
            Some(&here.id),
            &user.email,
        )
        .await
        .unwrap();
    assert!(
        vault
            .sessions
            .session(here.token.expose())
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        vault
            .sessions
            .session(there.token.expose())
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        sign_in(&vault, &user.email, PASSWORD, "x", None).await,
        LoginOutcome::Wrong
    );
    vault
        .people
        .remove_user(&user.account_id, &user.email, "cli")
        .await
        .unwrap();
    assert!(
        vault
            .sessions
            .session(here.token.expose())
            .await
            .unwrap()
            .is_none(),
        "no session outlives its user"
    );
    assert!(
        vault
            .people
            .users(&user.account_id)
            .await
            .unwrap()
            .is_empty()
    );
    close(vault).await;
}

pub async fn a_link_works_once(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let invite = Invite {
        purpose: LinkPurpose::Owner,
        role: Role::Owner,
        email: None,
        valid: SignedDuration::from_hours(1),
    };
    let stale = vault
        .links
        .create_link(&account, &invite, "system")
        .await
        .unwrap();
    let token = vault
        .links
        .create_link(&account, &invite, "system")
        .await
        .unwrap();
    assert!(
        vault.links.link(stale.expose()).await.unwrap().is_none(),
        "a new owner link replaces the old one"
    );
    let password = PASSWORD.into();
    let (one, two) = tokio::join!(
        vault
            .links
            .redeem_link(token.expose(), "jane@example.org", &password),
        vault
            .links
            .redeem_link(token.expose(), "john@example.org", &password),
    );
    assert!(one.is_ok() ^ two.is_ok(), "of two attempts one wins");
    assert!(
        vault
            .links
            .redeem_link(token.expose(), "third@example.org", &PASSWORD.into())
            .await
            .is_err()
    );
    let over = Invite {
        purpose: LinkPurpose::Invite,
        valid: SignedDuration::from_secs(-1),
        ..invite
    };
    let token = vault
        .links
        .create_link(&account, &over, "system")
        .await
        .unwrap();
    assert!(vault.links.link(token.expose()).await.unwrap().is_none());
    close(vault).await;
}

pub async fn a_one_time_code_works_once(site: Site) {
    let vault = site.open().await;
    let user = jane(&vault).await;
    assert!(vault.people.totp(&user).await.unwrap().is_none());
    vault
        .people
        .set_totp(&user, Some(&SecretBytes::new(vec![7; 20])), None, "cli")
        .await
        .unwrap();
    assert_eq!(
        vault.people.totp(&user).await.unwrap().unwrap().expose(),
        [7; 20]
    );
    assert!(vault.people.use_totp_step(&user, 100).await.unwrap());
    assert!(!vault.people.use_totp_step(&user, 100).await.unwrap());
    assert!(!vault.people.use_totp_step(&user, 99).await.unwrap());
    assert!(vault.people.use_totp_step(&user, 101).await.unwrap());
    close(vault).await;
}

pub async fn a_recovery_code_works_once_and_goes_with_the_second_factor(site: Site) {
    let vault = site.open().await;
    let user = jane(&vault).await;
    let people = &vault.people;
    assert!(
        people.make_recovery_codes(&user, "jane").await.is_err(),
        "for nothing"
    );
    let secret = SecretBytes::new(vec![7; 20]);
    people
        .set_totp(&user, Some(&secret), None, "cli")
        .await
        .unwrap();
    let codes = people.make_recovery_codes(&user, "jane").await.unwrap();
    assert_eq!(codes.len(), 10);
    let typed = codes[0].expose().to_uppercase();
    let typed = format!(" {}-{} ", &typed[..6], &typed[6..]);
    assert!(
        people
            .use_recovery_code(&user, &typed, "192.0.2.1")
            .await
            .unwrap()
    );
    assert!(
        !people
            .use_recovery_code(&user, &typed, "192.0.2.1")
            .await
            .unwrap()
    );
    assert_eq!(people.recovery_codes_left(&user).await.unwrap(), 9);
    let fresh = people.make_recovery_codes(&user, "jane").await.unwrap();
    let old = codes[1].expose();
    assert!(
        !people
            .use_recovery_code(&user, old, "192.0.2.1")
            .await
            .unwrap()
    );
    people.set_totp(&user, None, None, "cli").await.unwrap();
    let gone = fresh[0].expose();
    assert!(
        !people
            .use_recovery_code(&user, gone, "192.0.2.1")
            .await
            .unwrap()
    );
    close(vault).await;
}

pub async fn a_code_that_is_typed_twice_at_one_moment_works_once(site: Site) {
    let (one, other) = (site.open().await, site.open().await);
    let user = jane(&one).await;
    let secret = SecretBytes::new(vec![7; 20]);
    let set = one.people.set_totp(&user, Some(&secret), None, "cli");
    set.await.unwrap();
    for step in 100..110 {
        let (first, second, third, fourth) = tokio::join!(
            one.people.use_totp_step(&user, step),
            other.people.use_totp_step(&user, step),
            one.people.use_totp_step(&user, step),
            other.people.use_totp_step(&user, step),
        );
        let taken = [first, second, third, fourth].map(Result::unwrap);
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    }
    let codes = one.people.make_recovery_codes(&user, "jane").await.unwrap();
    let origin = "192.0.2.1";
    for code in &codes {
        let (first, second, third, fourth) = tokio::join!(
            one.people.use_recovery_code(&user, code.expose(), origin),
            other.people.use_recovery_code(&user, code.expose(), origin),
            one.people.use_recovery_code(&user, code.expose(), origin),
            other.people.use_recovery_code(&user, code.expose(), origin),
        );
        // A losing attempt receives "try again" or "already used".
        let taken = [first, second, third, fourth];
        let taken = taken.iter().filter(|taken| matches!(taken, Ok(true)));
        assert_eq!(taken.count(), 1);
    }
    assert_eq!(other.people.recovery_codes_left(&user).await.unwrap(), 0);
    close(one).await;
    close(other).await;
}

pub async fn a_changed_role_ends_sessions_which_an_owner_sees(site: Site) {
    let vault = site.open().await;
    let user = jane(&vault).await;
    let policy = SessionPolicy::default();
    let session = vault
        .sessions
        .begin_session(&user, policy, "Firefox")
        .await
        .unwrap();
    let seen = vault.sessions.all_sessions(&user.account_id).await.unwrap();
    assert_eq!(
        (seen.len(), seen[0].user.email.as_str()),
        (1, user.email.as_str())
    );
    let changed = vault
        .people
        .set_role(&user.account_id, &user.email, Role::Auditor, "cli");
    changed.await.unwrap();
    assert!(
        vault
            .sessions
            .session(session.token.expose())
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        vault
            .sessions
            .all_sessions(&user.account_id)
            .await
            .unwrap()
            .is_empty()
    );
    let filter = phigate_store::Filter {
        act: Some(phigate_types::Act::UserRole),
        ..phigate_store::Filter::default()
    };
    let found = vault
        .trail
        .audit_list(&user.account_id, &filter, None, 1)
        .await
        .unwrap();
    let [phigate_store::Record::Admin(act)] = found.items.as_slice() else {
        panic!("not recorded");
    };
    assert_eq!(
        (act.from.as_deref(), act.to.as_deref()),
        (Some("owner"), Some("auditor"))
    );
    close(vault).await;
}

pub async fn an_invitation_can_be_used_is_replaced_and_goes_with_its_user(site: Site) {
    let vault = site.open().await;
    let account = account(&vault).await;
    let invite = |email: &str| Invite {
        purpose: LinkPurpose::Invite,
        role: Role::Auditor,
        email: Some(email.to_owned()),
        valid: SignedDuration::from_hours(1),
    };
    for email in [
        "",
        "sam",
        "sam@",
        "@example.org",
        "sam@one@two",
        "sam roe@example.org",
    ] {
        let refused = vault
            .links
            .create_link(&account, &invite(email), "owner")
            .await;
        assert!(
            matches!(refused, Err(StoreError::Invalid { .. })),
            "{email:?}: nobody could use that link"
        );
    }
    let make = async |email: &str| {
        vault
            .links
            .create_link(&account, &invite(email), "owner")
            .await
    };
    let other = make("other@example.org").await.unwrap();
    let first = make("sam@example.org").await.unwrap();
    let second = make(" Sam@example.org ").await.unwrap();
    assert!(vault.links.link(first.expose()).await.unwrap().is_none());
    let redeemed = vault
        .links
        .redeem_link(second.expose(), "sam@example.org", &PASSWORD.into())
        .await;
    assert_eq!(redeemed.unwrap().email, "sam@example.org");
    let third = make("sam@example.org").await.unwrap();
    vault
        .people
        .remove_user(&account, "SAM@example.org", "owner")
        .await
        .unwrap();
    assert!(
        vault.links.link(third.expose()).await.unwrap().is_none(),
        "whoever is removed cannot come back with an older invitation"
    );
    let open = vault.links.invitations(&account).await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].email.as_deref(), Some("other@example.org"));
    let withdraw = async || {
        let withdrawn = vault
            .links
            .withdraw_invitation(&account, "Other@example.org", "owner");
        withdrawn.await
    };
    assert!(withdraw().await.is_ok());
    assert!(vault.links.link(other.expose()).await.unwrap().is_none());
    assert!(matches!(withdraw().await, Err(StoreError::NotFound(_))));
    close(vault).await;
}
