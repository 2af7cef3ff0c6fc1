//! Settings: one page per subject, each with one form and one bar to save it.
//!
//! The PHI Handling Mode comes first, beside the profile: which kinds of PHI it is about. What weakens protection is asked about once more: `weakening.rs`.

pub(crate) mod allow;
pub(crate) mod detection;
pub(crate) mod limits;
pub(crate) mod policy;
pub(crate) mod recognizers;
pub(crate) mod replies;
pub(crate) mod retention;
pub(crate) mod rosters;
pub(crate) mod sign_in;
pub(crate) mod sign_on_fields;
pub(crate) mod single_sign_on;
pub(crate) mod weakening;

use askama::Template;
use axum::extract::State;
use phi_detect::{Findings, PhiKind, Profile};
use phigate_core::protect::Generalizing;
use phigate_store::{KindSettings, Settings};
use phigate_types::{Effect, Mode, Replace};

use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, Piece, Treatment, When, choices, in_sentence, pieces};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};
use phigate_gateway::{
    AccountSettings, KindEdit, Weaker, account_field, detector_of, generalizing, kind_states,
    kinds_of, profile_name, profile_of,
};
use weakening::{Asked, ask};

/// Subjects of the settings: address and label.
static SUBJECTS: &[(&str, &str)] = &[
    // In the order of the tabs.
    ("/settings", "Mode"),
    ("/settings/policy", "Policy"),
    ("/settings/allow", "Allow list"),
    ("/settings/recognizers", "Recognizers"),
    ("/settings/rosters", "Rosters"),
    ("/settings/replies", "Replies"),
    ("/settings/detection", "Detection"),
    ("/settings/retention", "Retention"),
    ("/settings/limits", "Limits"),
    ("/settings/sign-in", "Sign-in"),
];

/// The tabs, with the one that is open.
pub(crate) fn tabs(open: &str) -> Vec<Choice> {
    choices(SUBJECTS.iter().copied(), open)
}

/// The PHI Handling Mode.
#[derive(Template)]
#[template(path = "settings/mode.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) mode_changed: Option<ModeChange>,
    pub(crate) modes: Vec<ModeCard>,
    pub(crate) profiles: Vec<ProfileCard>,
    /// Whether a kind is generalized in mask mode.
    pub(crate) generalizes: bool,
}

/// One profile to choose: a set of kinds of PHI.
#[derive(Debug)]
pub(crate) struct ProfileCard {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) removes: String,
    pub(crate) leaves: String,
    pub(crate) chosen: bool,
}

/// Last change of the mode: time and person.
#[derive(Debug)]
pub(crate) struct ModeChange {
    pub(crate) time: When,
    pub(crate) by: String,
}

/// One mode to choose, with the example under it.
#[derive(Debug)]
pub(crate) struct ModeCard {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) words: &'static str,
    pub(crate) caption: &'static str,
    pub(crate) example: Vec<Piece>,
    pub(crate) chosen: bool,
    pub(crate) in_force: bool,
}

/// The sentence under every mode. Invented, and it looks it.
const EXAMPLE: &str =
    "Jane Roe, DOB 03/04/1961, SSN 123-45-6789, asks about her potassium of 3.1 mmol/L.";

/// `GET /settings`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None).await
}

/// `POST /settings`
pub(crate) async fn save_mode(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let Ok(mode) = visit.form().get("mode").parse::<Mode>() else {
        let error = "Choose one of the modes.".to_owned();
        return draw(&dash, &visit, Some(error)).await;
    };
    let before = visit.account.mode;
    let kinds = kinds_of(&visit.account);
    let edit = kinds_edit(visit.form(), &kinds);
    let mut after = kinds.clone();
    if let Some(edit) = &edit {
        edit.apply(&mut after);
    }
    let mut weaker = Weaker::of_mode(before, mode);
    weaker.extend(Weaker::of_kinds(&kinds, &after));
    let by = match ask(&dash, &visit, "/settings", &weaker).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    let accounts = &dash.vault.accounts;
    if let Some(edit) = edit {
        let apply = |kinds: &mut _| edit.apply(kinds);
        accounts.edit_kinds(visit.account_id(), apply, by).await?;
        if mode == before {
            return Ok(redirect("/settings?done=settings"));
        }
    }
    accounts.set_mode(visit.account_id(), mode, by).await?;
    Ok(redirect("/settings?done=mode"))
}

/// The change of kinds that the form asks for; `None` if it changes nothing. A form without a profile, such as one of
/// custom kinds, leaves the kinds as they are.
fn kinds_edit(form: &Fields, kinds: &KindSettings) -> Option<KindEdit> {
    let replace = match form.is_ticked("generalize") {
        true => Replace::Generalize,
        false => Replace::Placeholder,
    };
    let is_replaced = (replace == Replace::Generalize) == generalizes(kinds);
    match Profile::from_code(form.get("profile")) {
        Some(profile) if profile_of(kinds) != Some(profile) => {
            Some(KindEdit::Profile { profile, replace })
        }
        _ if form.get("profile").is_empty() || is_replaced => None,
        _ => Some(KindEdit::Replace(replace)),
    }
}

fn generalizes(kinds: &KindSettings) -> bool {
    let states = kind_states(kinds);
    let mut on = states.iter().filter(|state| state.is_on);
    on.any(|state| state.replace == Replace::Generalize)
}

/// The profiles, and the account's own choice of kinds if no profile has these kinds.
pub(crate) fn profile_cards(kinds: &KindSettings) -> Vec<ProfileCard> {
    let in_force = profile_of(kinds);
    let card = |profile: Profile| ProfileCard {
        code: profile.code(),
        label: profile.label(),
        removes: profile.removes().to_owned(),
        leaves: profile.leaves().to_owned(),
        chosen: in_force == Some(profile),
    };
    let mut cards: Vec<ProfileCard> = Profile::all().map(card).collect();
    if in_force.is_none() {
        let labels = |is_on: bool| {
            let states = kind_states(kinds).into_iter();
            let of = states.filter(|state| state.is_on == is_on);
            let labels: Vec<&str> = of.map(|state| state.kind.label()).collect();
            labels.join(", ")
        };
        cards.push(ProfileCard {
            code: profile_name(kinds),
            label: "Own choice of kinds",
            removes: format!("Removed as detected: {}.", labels(true)),
            leaves: format!("Not looked for: {}.", labels(false)),
            chosen: true,
        });
    }
    cards
}

/// Saves what a page of settings says, once weakening was asked about.
async fn save(
    dash: &Dash,
    visit: &SignedIn,
    address: &str,
    change: impl Fn(&mut Settings),
) -> Answer {
    let mut after = visit.account.settings.clone();
    change(&mut after);
    let weaker = Weaker::of_settings(&visit.account.settings, &after);
    let by = match ask(dash, visit, address, &weaker).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    let accounts = &dash.vault.accounts;
    accounts
        .edit_settings(visit.account_id(), change, by)
        .await?;
    Ok(redirect(&format!("{address}?done=settings")))
}

/// The settings with what was typed in these fields; says what to correct when it cannot be taken.
fn typed<'n>(
    form: &Fields,
    current: &Settings,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Settings, String> {
    let mut all = AccountSettings {
        // Another form sets the mode.
        mode: Mode::default(),
        settings: current.clone(),
    };
    for name in names {
        let field = account_field(name).ok_or_else(|| format!("There is no setting {name}."))?;
        let value = match (field.is_switch(), form.is_ticked(name)) {
            (true, true) => "on",
            (true, false) => "off",
            (false, _) => form.get(name),
        };
        let set = field.set(&mut all, value);
        set.map_err(|error| in_sentence(&error.to_string()))?;
    }
    Ok(all.settings)
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>) -> Answer {
    let state = dash.vault.accounts.mode(visit.account_id()).await?;
    let detector = detector_of(&visit.account).map_err(|_| PageError::Broken)?;
    let findings = detector.scan(EXAMPLE);
    let changed = state.changed.zip(state.changed_by);
    let (kinds, coarse) = (kinds_of(&visit.account), generalizing(&visit.account));
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs("/settings"),
            error,
            mode_changed: changed.map(|(time, by)| ModeChange {
                time: When::at(time),
                by,
            }),
            modes: mode_cards(state.mode, EXAMPLE, &findings, coarse.as_ref()),
            profiles: profile_cards(&kinds),
            generalizes: generalizes(&kinds),
        },
    )
}

/// The modes with a text under each.
pub(crate) fn mode_cards(
    in_force: Mode,
    text: &str,
    findings: &Findings,
    coarse: Option<&Generalizing>,
) -> Vec<ModeCard> {
    Mode::all()
        .map(|mode| {
            let (caption, example) = under(mode, text, findings, coarse);
            ModeCard {
                code: mode.code,
                label: mode.label,
                words: mode.summary,
                caption,
                example,
                chosen: mode == in_force,
                in_force: mode == in_force,
            }
        })
        .collect()
}

fn under(
    mode: Mode,
    text: &str,
    findings: &Findings,
    coarse: Option<&Generalizing>,
) -> (&'static str, Vec<Piece>) {
    match mode.effect {
        Effect::Keep => ("The provider gets", pieces(text, findings, Treatment::Keep)),
        Effect::Replace(word) => (
            "The provider gets",
            pieces(text, findings, Treatment::Replace(word, coarse)),
        ),
        Effect::Block if findings.is_empty() => (
            "Nothing found, so the provider gets",
            vec![Piece::plain(text)],
        ),
        Effect::Block => {
            let mut kinds: Vec<PhiKind> = findings.iter().map(|finding| finding.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let codes: Vec<&str> = kinds.into_iter().map(PhiKind::code).collect();
            let refusal = format!("403 phi_blocked: {}", codes.join(", "));
            (
                "The provider gets nothing; the caller gets",
                vec![Piece::plain(refusal)],
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_changes_only_what_differs() {
        let mut kinds = KindSettings::default();
        let edit = |kinds: &KindSettings, fields: &[(&str, &str)]| {
            kinds_edit(&Fields::of(fields), kinds).map(|edit| {
                let mut after = kinds.clone();
                edit.apply(&mut after);
                (profile_of(&after), generalizes(&after))
            })
        };
        let (eight, all) = (("profile", "eight"), ("profile", "safe_harbor"));
        let coarse = ("generalize", "yes");
        assert_eq!(edit(&kinds, &[eight]), None);
        assert_eq!(edit(&kinds, &[]), None);
        assert_eq!(edit(&kinds, &[coarse]), None);
        assert_eq!(
            edit(&kinds, &[all]),
            Some((Some(Profile::SafeHarbor), false))
        );
        let generalized = Some((Some(Profile::Eight), true));
        assert_eq!(edit(&kinds, &[eight, coarse]), generalized);
        let url = KindEdit::of_kind("date", true, None, Some(Replace::Generalize));
        url.unwrap().apply(&mut kinds);
        let custom = ("profile", profile_name(&kinds));
        assert_eq!(edit(&kinds, &[custom, coarse]), None);
        assert_eq!(edit(&kinds, &[custom]), Some((None, false)));
        let cards = profile_cards(&kinds);
        assert!(cards.len() == 3 && cards[2].chosen && cards[2].removes.contains("Date"));
    }
}
