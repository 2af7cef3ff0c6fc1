//! Alerts: once per cause, subject and day, also between processes; and the verification of each night.

use jiff::SignedDuration;
use phigate_store::{Alert, By, Filter, NewAlert, Options, Record, Vault};
use phigate_types::{AlertCode, Mode};

use crate::support::{Site, Watch, account, close};

async fn alerts(vault: &Vault, account: &str) -> Vec<Alert> {
    let all = Filter::default();
    let page = vault.trail.audit_list(account, &all, None, 100).await;
    let alerts = page.unwrap().items.into_iter();
    let alerts = alerts.filter_map(|record| match record {
        Record::Alert(alert) => Some(alert),
        _ => None,
    });
    alerts.collect()
}

async fn opened(site: &Site, watch: &Watch) -> Vault {
    let options = Options {
        clock: watch.clock(),
        ..site.options()
    };
    Vault::open(options).await.unwrap()
}

pub async fn alert_is_raised_once_per_day_and_acknowledged(site: Site) {
    let watch = Watch::new();
    let (one, other) = (opened(&site, &watch).await, opened(&site, &watch).await);
    let account = account(&one).await;
    let new = NewAlert::new(AlertCode::ExportBehind, "siem").detail("records", &7);
    assert!(one.alerts.raise(&account, &new).await.unwrap());
    assert!(!other.alerts.raise(&account, &new).await.unwrap());
    let second = NewAlert::new(AlertCode::ExportBehind, "vault");
    assert!(other.alerts.raise(&account, &second).await.unwrap());
    let code = AlertCode::ExportBehind;
    let by = By::from("sam@clinic.example");
    let done = other.alerts.acknowledge(&account, code, "siem", by);
    done.await.unwrap();
    let missing = one.alerts.acknowledge(&account, code, "nothing", by).await;
    assert!(missing.is_err());
    let open = async || {
        let mut states = one.alerts.list(&account).await.unwrap();
        states.retain(|state| state.acknowledged.is_none());
        states.len()
    };
    assert_eq!(open().await, 1);
    watch.advance(SignedDuration::from_hours(24));
    assert!(!one.alerts.raise_once(&account, &new).await.unwrap());
    assert!(one.alerts.raise(&account, &new).await.unwrap());
    assert_eq!(open().await, 2, "the next alert shows again");
    assert_eq!(alerts(&one, &account).await.len(), 3);
    let report = one.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    close(one).await;
    close(other).await;
}

pub async fn alert_of_act_is_recorded_with_it(site: Site) {
    let watch = Watch::new();
    let vault = opened(&site, &watch).await;
    let account = account(&vault).await;
    for mode in [Mode::MASK, Mode::FLAG, Mode::BLOCK, Mode::FLAG] {
        let set = vault
            .accounts
            .set_mode(&account, mode, "sam@clinic.example");
        set.await.unwrap();
    }
    let found = alerts(&vault, &account).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].alert, AlertCode::ProtectionReduced);
    assert_eq!(found[0].subject.as_deref(), Some("mode.set"));
    assert_eq!(found[0].details["by"], "sam@clinic.example");
    close(vault).await;
}

pub async fn night_is_verified_once_and_recorded(site: Site) {
    let watch = Watch::new();
    let (one, other) = (opened(&site, &watch).await, opened(&site, &watch).await);
    let account = account(&one).await;
    let today = || watch.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let claim = async |vault: &Vault| vault.verifications.claim(today()).await.unwrap();
    assert!(!claim(&one).await, "the first night is not verified");
    watch.advance(SignedDuration::from_hours(24));
    let claims = [claim(&one).await, claim(&other).await, claim(&one).await];
    assert_eq!(claims, [true, false, false]);
    let report = one.verifications.run(&account, &[], "system").await;
    assert!(report.unwrap().is_intact());
    let history = other.verifications.history(&account, 10).await.unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].details["verdict"], "intact");
    assert_eq!(alerts(&one, &account).await, []);
    close(one).await;
    close(other).await;
}
