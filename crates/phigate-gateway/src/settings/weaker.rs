//! Changes that weaken protection. Each needs a reason, from a person and from a script.
//!
//! A new way to weaken something is a variant of [`Weaker`] with its words.

use jiff::Timestamp;
use phi_detect::PhiKind;
use phigate_store::{Detection, KindSettings, PolicyLevel, PolicyWords, ProviderConfig, Settings};
use phigate_types::{Depth, Effect, Level, Mode, PhiAgreement, Replies};

use super::kind_state::{is_looked_for, kind_states};
use super::{AccountSettings, Kinds};

/// One thing that protects less than before.
#[derive(Debug, Clone, PartialEq)]
pub enum Weaker {
    /// PHI is forwarded unchanged; the mode before.
    Mode(Mode),
    /// Parts that cannot be scanned are forwarded.
    Attachments,
    /// Scans are less thorough.
    Depth,
    /// Kinds are no longer looked for.
    KindsOff(Vec<PhiKind>),
    /// Fewer findings of a kind count.
    Threshold(PhiKind),
    /// Medical record numbers of the site's own formats are no longer found.
    MrnFormats,
    /// Content is deleted sooner.
    ContentDays(u32),
    /// Records are deleted sooner.
    RecordDays(u32),
    /// Records that are due may be deleted.
    LegalHold(u32),
    /// One person alone reveals content.
    Approvals,
    /// PHI in replies is treated less strictly.
    Replies(Replies),
    /// A password alone opens the dashboard.
    SecondFactor,
    /// A level of the policy treats a kind less strictly.
    Kind {
        /// The kind.
        kind: PhiKind,
        /// The level.
        level: String,
    },
    /// A recognizer of the account is removed or replaced.
    Recognizer(PhiKind),
    /// A roster of patients is removed.
    Roster,
    /// A value of a kind no longer counts as PHI.
    Allowed(PhiKind),
    /// A key leaves its group, and so the words of the group.
    LeavesGroup(String),
    /// A provider may receive more of requests with PHI.
    Agreement(PhiAgreement),
}

impl Weaker {
    /// Ways in which new settings of an account protect less.
    pub fn of(before: &AccountSettings, after: &AccountSettings) -> Vec<Self> {
        let mode = Self::of_mode(before.mode, after.mode);
        let settings = Self::of_settings(&before.settings, &after.settings);
        mode.into_iter().chain(settings).collect()
    }

    /// Ways in which a new mode protects less.
    pub fn of_mode(before: Mode, after: Mode) -> Vec<Self> {
        let keeps = |mode: Mode| matches!(mode.effect, Effect::Keep);
        match keeps(after) && !keeps(before) {
            true => vec![Self::Mode(before)],
            false => Vec::new(),
        }
    }

    /// Ways in which new settings other than the mode protect less.
    pub fn of_settings(before: &Settings, after: &Settings) -> Vec<Self> {
        let (old, new) = (before.retention, after.retention);
        let is_kept = |format: &String| after.detection.mrn_formats.contains(format);
        let raised = |kind: &PhiKind| {
            effective(&after.detection, *kind) > effective(&before.detection, *kind)
        };
        let thresholds = PhiKind::all().filter(raised);
        let ways = [
            // In the order in which they are shown.
            (
                new.content_days < old.content_days,
                Self::ContentDays(new.content_days),
            ),
            (
                new.metadata_days < old.metadata_days,
                Self::RecordDays(new.metadata_days),
            ),
            (
                old.legal_hold && !new.legal_hold,
                Self::LegalHold(new.metadata_days),
            ),
            (
                after.reveal_approvals < before.reveal_approvals,
                Self::Approvals,
            ),
            (
                rank(after.replies) < rank(before.replies),
                Self::Replies(after.replies),
            ),
            (
                before.require_second_factor && !after.require_second_factor,
                Self::SecondFactor,
            ),
        ];
        let attachments = after.allow_unscannable && !before.allow_unscannable;
        let formats = !before.detection.mrn_formats.iter().all(is_kept);
        let first = attachments.then_some(Self::Attachments).into_iter();
        let depths = (before.detection.depth, after.detection.depth);
        let is_shallower = depths == (Depth::Careful, Depth::Fast);
        first
            .chain(is_shallower.then_some(Self::Depth))
            .chain(thresholds.map(Self::Threshold))
            .chain(formats.then_some(Self::MrnFormats))
            .chain(ways.into_iter().filter(|(is, _)| *is).map(|(_, way)| way))
            .collect()
    }

    /// Ways in which another choice of kinds protects less.
    pub fn of_kinds(before: &KindSettings, after: &KindSettings) -> Vec<Self> {
        let states = kind_states(before).into_iter().zip(kind_states(after));
        let (mut off, mut raised) = (Vec::new(), Vec::new());
        for (before, after) in states.filter(|(before, _)| before.is_on) {
            if !after.is_on {
                off.push(before.kind);
            } else if after.threshold > before.threshold {
                raised.push(Self::Threshold(before.kind));
            }
        }
        let off = (!off.is_empty()).then_some(Self::KindsOff(off));
        off.into_iter().chain(raised).collect()
    }

    /// Ways in which other words, or other groups of keys, protect less.
    pub fn of_words(before: &PolicyWords, after: &PolicyWords, kinds: &Kinds) -> Vec<Self> {
        let groups = before.groups.keys().map(|name| PolicyLevel::Group(name));
        let keys = before.keys.keys().map(|id| PolicyLevel::Key(id));
        let levels = [PolicyLevel::Account].into_iter().chain(groups).chain(keys);
        let mut all = Vec::new();
        for level in levels {
            let is_account = level == PolicyLevel::Account;
            let is_weaker = |code: &str| {
                let is_said = before.account.get(code) != after.account.get(code);
                let words = [after, before].map(|words| words.own_word(level, code));
                // A change of the mode is reported separately.
                (is_said || !is_account) && words[0].strength() < words[1].strength()
            };
            let weaker = kinds.all().filter(|(kind, _)| is_weaker(kind.code()));
            all.extend(weaker.map(|(kind, _)| Self::Kind {
                kind,
                level: Level::from(level).to_string(),
            }));
        }
        for (id, key) in &after.keys {
            all.extend(Self::of_group(before, id, key.group.as_deref()).unwrap_or_default());
        }
        all
    }

    /// Ways in which another group of a key protects less; `None` for an unknown key.
    pub fn of_group(words: &PolicyWords, key_id: &str, group: Option<&str>) -> Option<Vec<Self>> {
        let key = words.keys.get(key_id)?;
        let mut after = words.clone();
        after.keys.get_mut(key_id)?.group = group.map(Into::into);
        let is_less = group.is_none() || words.is_stricter_for(key_id, &after);
        let left = key
            .group
            .as_ref()
            .filter(|left| Some(left.as_str()) != group);
        let left = left.filter(|_| is_less);
        Some(
            left.map(|left| Self::LeavesGroup(left.to_string()))
                .into_iter()
                .collect(),
        )
    }

    /// Ways in which a new entry of a provider protects less, because its operator may receive more than before. A new
    /// provider weakens nothing: it receives only future requests.
    pub fn of_provider(
        before: Option<&ProviderConfig>,
        after: &ProviderConfig,
        now: Timestamp,
    ) -> Vec<Self> {
        let may_have = after.phi_now(now);
        // From the widest to the narrowest.
        let is_wider = |before: &ProviderConfig| may_have < before.phi_now(now);
        match before.is_some_and(is_wider) {
            true => vec![Self::Agreement(may_have)],
            false => Vec::new(),
        }
    }

    /// Describes the change in a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Mode(before) => format!(
                "PHI will be forwarded unchanged. The mode is {} now.",
                before.label
            ),
            Self::Attachments => {
                "Images, audio and files are forwarded without being scanned, in every mode."
                    .to_owned()
            }
            Self::Depth => format!("Scans find less. {}", Depth::Fast.summary()),
            Self::KindsOff(kinds) => {
                let labels: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
                format!("Values of these types are no longer looked for, and are forwarded as they are: {}.", labels.join(", "))
            }
            Self::Threshold(kind) => {
                format!("Fewer findings of the type {} count.", kind.label())
            }
            Self::MrnFormats => {
                "Medical record numbers of a removed format are no longer looked for.".to_owned()
            }
            Self::ContentDays(days) => {
                format!("Originals and sent content are deleted after {}, for good.", in_days(*days))
            }
            Self::RecordDays(days) => {
                format!("Records are deleted after {}, for good.", in_days(*days))
            }
            Self::LegalHold(_) => "The legal hold ends: whatever is past its retention time is deleted from now on, for good.".to_owned(),
            Self::Approvals => "One person alone reveals content, without the approval of a second one.".to_owned(),
            Self::Replies(after) => {
                format!("Less is done about PHI in replies: {}.", after.label())
            }
            Self::SecondFactor => "A password alone is enough to sign in.".to_owned(),
            Self::Kind { kind, level } => format!(
                "Less is done about PHI of the type {} by the words of {level}.",
                kind.label()
            ),
            Self::Recognizer(kind) => format!(
                "Values of the type {} are no longer found as the recognizer finds them now.",
                kind.label()
            ),
            Self::Roster => {
                "The patients of the roster are no longer found by it.".to_owned()
            }
            Self::Allowed(kind) => format!(
                "A value of the type {} no longer counts as PHI, and is forwarded as it is.",
                kind.label()
            ),
            Self::LeavesGroup(name) => {
                format!("What the group {name} says no longer holds for the key.")
            }
            Self::Agreement(after) => format!(
                "The provider may receive more than before: {}. {}",
                after.label(),
                after.summary()
            ),
        }
    }
}

fn in_days(days: u32) -> String {
    match days {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// The score from which a kind counts. A kind that is off counts never.
fn effective(detection: &Detection, kind: PhiKind) -> f64 {
    let default = match is_looked_for(detection, kind) {
        true => f64::from(kind.default_threshold(phi_detect::Depth::Careful)),
        false => f64::INFINITY,
    };
    let chosen = detection.thresholds.get(kind.code());
    chosen.copied().unwrap_or(default)
}

/// Strictness of the treatment of PHI in replies.
fn rank(replies: Replies) -> u8 {
    match replies {
        Replies::Off => 0,
        Replies::Flag => 1,
        Replies::Mask | Replies::Redact => 2,
        Replies::Block => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phigate_store::Retention;
    use phigate_types::{Approvals, ProviderKind};

    #[test]
    fn only_change_to_flag_mode_weakens() {
        for before in Mode::all() {
            for after in Mode::all() {
                let asks = !Weaker::of_mode(before, after).is_empty();
                assert_eq!(asks, after == Mode::FLAG && before != Mode::FLAG);
            }
        }
    }

    #[test]
    fn weakenings_are_seen_and_strengthenings_ignored() {
        let strict = Settings {
            detection: Detection {
                mrn_formats: vec!["MR-9999999".to_owned()],
                ..Detection::default()
            },
            retention: Retention {
                legal_hold: true,
                ..Retention::default()
            },
            replies: Replies::Block,
            require_second_factor: true,
            reveal_approvals: Approvals::Two,
            ..Settings::default()
        };
        let loose = Settings {
            allow_unscannable: true,
            detection: Detection {
                thresholds: [("ssn".to_owned(), 0.9)].into(),
                depth: Depth::Fast,
                ..Detection::default()
            },
            retention: Retention {
                content_days: 1,
                metadata_days: 2,
                legal_hold: false,
            },
            ..Settings::default()
        };
        let ssn = PhiKind::from_code("ssn").unwrap();
        assert_eq!(
            Weaker::of_settings(&strict, &loose),
            [
                Weaker::Attachments,
                Weaker::Depth,
                Weaker::Threshold(ssn),
                Weaker::MrnFormats,
                Weaker::ContentDays(1),
                Weaker::RecordDays(2),
                Weaker::LegalHold(2),
                Weaker::Approvals,
                Weaker::Replies(Replies::Off),
                Weaker::SecondFactor,
            ]
        );
        assert_eq!(Weaker::of_settings(&loose, &strict), []);
        assert_eq!(Weaker::of_settings(&strict, &strict), []);
    }

    #[test]
    fn move_to_laxer_group_is_weaker() {
        let mut words = PolicyWords::default();
        let strict = [("ssn".into(), Mode::BLOCK)];
        words.groups.insert("strict".into(), strict.clone().into());
        words.groups.insert("stricter".into(), strict.into());
        let key = words.keys.entry("k".to_owned()).or_default();
        key.group = Some("strict".into());
        let left = |group| Weaker::of_group(&words, "k", group).map(|ways| ways.len());
        assert_eq!(left(None), Some(1));
        assert_eq!(left(Some("lax")), Some(1));
        assert_eq!(left(Some("strict")), Some(0));
        assert_eq!(left(Some("stricter")), Some(0));
        assert_eq!(Weaker::of_group(&words, "unknown", None), None);
    }

    #[test]
    fn provider_that_may_have_more_is_weaker() {
        let now = Timestamp::UNIX_EPOCH;
        let config = |phi, ended: bool| {
            let mut config = ProviderConfig::new(ProviderKind::OpenAi);
            config.phi = phi;
            config.agreement_expires = ended.then(|| jiff::civil::date(1960, 1, 1));
            config
        };
        let all = |ended| PhiAgreement::all().map(move |phi| config(phi, ended));
        for (at, before) in all(false).enumerate() {
            for (to, after) in all(false).enumerate() {
                let found = Weaker::of_provider(Some(&before), &after, now);
                assert_eq!(found.is_empty(), to >= at, "{at} {to}");
            }
        }
        let (ended, allowed) = (
            config(PhiAgreement::Allowed, true),
            config(PhiAgreement::Allowed, false),
        );
        assert_eq!(
            Weaker::of_provider(Some(&ended), &allowed, now),
            [Weaker::Agreement(PhiAgreement::Allowed)]
        );
        assert_eq!(Weaker::of_provider(Some(&allowed), &ended, now), []);
        assert_eq!(Weaker::of_provider(None, &allowed, now), []);
    }
}
