//! Acts that cause an alert by themselves.

use phigate_types::{Act, AlertCode};

use super::NewAlert;
use crate::model::AdminAct;

/// Detail of a reveal that one person made alone although two are needed.
pub(crate) const EMERGENCY: &str = "emergency";

/// The alert that an act causes, if it causes one.
pub(super) fn of_act(act: &AdminAct) -> Option<NewAlert<'_>> {
    let reduced = act
        .details
        .get("protection")
        .is_some_and(|word| word == "reduced");
    let alert = match act.act {
        Act::LoginBreakGlass => NewAlert::new(AlertCode::BreakGlass, &act.actor),
        Act::ContentReveal | Act::TokenResolve if act.details.contains_key(EMERGENCY) => {
            let request = act.request_id.map(|id| id.to_string());
            let subject = request.or_else(|| act.target.clone()).unwrap_or_default();
            let alert = NewAlert::new(AlertCode::EmergencyReveal, subject);
            NewAlert {
                requests: act.request_id.as_slice(),
                ..alert.detail("actor", &act.actor)
            }
        }
        _ if reduced => {
            let alert = NewAlert::new(AlertCode::ProtectionReduced, act.act.code());
            let target = act.target.as_ref();
            let alert = alert.detail("by", &act.actor);
            target.map_or(alert.clone(), |target| alert.detail("target", target))
        }
        _ => return None,
    };
    Some(alert)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn act(act: Act) -> AdminAct {
        AdminAct::new(Timestamp::UNIX_EPOCH, "default", "cli: jroe", act)
    }

    #[test]
    fn acts_cause_their_alerts() {
        let reduced = act(Act::PolicySet).detail("protection", "reduced");
        let emergency = act(Act::TokenResolve)
            .target("NAME_1")
            .detail(EMERGENCY, "yes");
        for (act, alert) in [
            (reduced, Some((AlertCode::ProtectionReduced, "policy.set"))),
            (emergency, Some((AlertCode::EmergencyReveal, "NAME_1"))),
            (
                act(Act::LoginBreakGlass),
                Some((AlertCode::BreakGlass, "cli: jroe")),
            ),
            (act(Act::ContentReveal), None),
            (act(Act::ModeSet), None),
        ] {
            let caused = of_act(&act).map(|new| (new.alert, new.subject));
            let caused = caused
                .as_ref()
                .map(|(code, subject)| (*code, subject.as_ref()));
            assert_eq!(caused, alert, "{}", act.act);
        }
    }
}
