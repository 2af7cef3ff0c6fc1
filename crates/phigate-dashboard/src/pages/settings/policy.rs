//! Policy: the treatment of each kind of PHI at each level, as one matrix. Changes are tried on past requests first.

mod column;
mod preview;

use askama::Template;
use axum::extract::State;
use phigate_gateway::{Kinds, LevelChanges, PolicyRow, TrialError, policy_table};
use phigate_store::{ApiKeyInfo, By, PolicyLevel, PolicyWords, reason};
use phigate_types::{Mode, Word};

use super::tabs;
use crate::Dash;
use crate::layout::Layout;
use crate::view::{Choice, Tally, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, form_status, page, page_with, redirect};
use column::{Column, Place, columns};
pub(crate) use column::{ColumnHead, label_of};
pub(crate) use preview::Preview;
#[cfg(test)]
pub(crate) use preview::{Change, Changed};

const ADDRESS: &str = "/settings/policy";

/// The matrix.
#[derive(Template)]
#[template(path = "settings/policy.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    /// Kinds by their treatment at the account, the strictest first.
    pub(crate) answer: Vec<Tally>,
    pub(crate) columns: Vec<ColumnHead>,
    pub(crate) rows: Vec<Row>,
    /// Labels of the kinds that the profile leaves out.
    pub(crate) not_looked_for: Vec<&'static str>,
    /// Providers whose agreements demand a treatment.
    pub(crate) demands: Vec<String>,
    pub(crate) header_counts: bool,
    /// Keys that can be added as columns.
    pub(crate) keys: Vec<(String, String)>,
    /// Columns that were added to the page and say nothing yet.
    pub(crate) added: Vec<String>,
}

/// One kind of PHI.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) code: &'static str,
    pub(crate) label: String,
    pub(crate) cells: Vec<Cell>,
}

/// Word of a level about a kind, and the treatment in force there.
#[derive(Debug)]
pub(crate) struct Cell {
    /// Name of the field; empty if the level cannot say anything.
    pub(crate) field: String,
    pub(crate) level: String,
    pub(crate) choices: Vec<Choice>,
    /// The treatment that holds and who says so, if it is not this level's own word.
    pub(crate) holds: String,
    pub(crate) is_said: bool,
    pub(crate) is_overruled: bool,
}

/// `GET /settings/policy`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None, &LevelChanges::default()).await
}

/// `POST /settings/policy`: first a preview, then the save.
pub(crate) async fn save_form(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let words = dash.vault.accounts.policy(visit.account_id()).await?;
    let kinds = Kinds::of(&visit.account.recognizers);
    let changes = match column::changes(form, &words, &kinds) {
        Ok(changes) => changes,
        Err(error) => return draw(&dash, &visit, Some(error), &LevelChanges::default()).await,
    };
    if form.get("step") == "edit" {
        return draw(&dash, &visit, None, &changes).await;
    }
    let (after, weaker) = match changes.over(&words, (&visit.account.settings.detection, &kinds)) {
        Ok(over) => over,
        Err(error) => {
            let error = in_sentence(&error.to_string());
            return draw(&dash, &visit, Some(error), &changes).await;
        }
    };
    if after == words {
        let error = "Nothing is changed: every level says this already.";
        return draw(&dash, &visit, Some(error.to_owned()), &changes).await;
    }
    let (is_asked, why) = (form.is_ticked("confirmed"), form.get("why"));
    let given = reason(why);
    if is_asked && (weaker.is_empty() || given.is_some()) {
        let by = By {
            actor: visit.actor(),
            reason: given,
        };
        let levels: Vec<_> = changes.levels().collect();
        let accounts = &dash.vault.accounts;
        let set = accounts.set_policies(visit.account_id(), &levels, by);
        set.await?;
        return Ok(redirect(&format!("{ADDRESS}?done=policy")));
    }
    let keys = dash.vault.access.api_keys(visit.account_id()).await?;
    let preview = Preview::of(&dash, &visit, &changes, (&words, &after), &keys);
    page(&preview.await?)
}

/// Names of kinds for people, in table order.
fn kind_labels(visit: &SignedIn) -> Vec<(&'static str, String)> {
    let kinds = Kinds::of(&visit.account.recognizers);
    let named = kinds
        .all()
        .map(|(kind, label)| (kind.code(), label.to_owned()));
    named.collect()
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    error: Option<String>,
    typed: &LevelChanges,
) -> Answer {
    let words = dash.vault.accounts.policy(visit.account_id()).await?;
    let keys = dash.vault.access.api_keys(visit.account_id()).await?;
    let shown = columns(visit, &words, typed, &keys);
    let own = rows_at(visit, &words, PolicyLevel::Account);
    let is_off_by_word = |row: &PolicyRow| words.account.get(row.kind) == Some(&Word::Off);
    let is_off = |row: &&PolicyRow| row.action == Word::Off.code() && !is_off_by_word(row);
    let labels = kind_labels(visit);
    let mut rows = Vec::new();
    let tables: Vec<Vec<PolicyRow>> = shown
        .iter()
        .map(|column| rows_at(visit, &words, column.level()))
        .collect();
    for (at, row) in own.iter().enumerate().filter(|(_, row)| !is_off(row)) {
        let cell = |(column, table): (&Column, &Vec<PolicyRow>)| {
            column.cell(&words, typed, &table[at], is_off_by_word(row))
        };
        let label = labels.iter().find(|(code, _)| *code == row.kind);
        rows.push(Row {
            code: row.kind,
            label: label.map_or_else(|| row.kind.to_owned(), |(_, label)| label.clone()),
            cells: shown.iter().zip(&tables).map(cell).collect(),
        });
    }
    let not_looked_for = own.iter().filter(is_off).filter_map(|row| {
        let kind = phi_detect::PhiKind::from_code(row.kind)?;
        Some(kind.label())
    });
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/settings"),
            tabs: tabs(ADDRESS),
            error,
            answer: answer(&own),
            rows,
            not_looked_for: not_looked_for.collect(),
            demands: demands(visit),
            header_counts: visit.account.settings.request_header,
            keys: addable(&keys, &shown),
            added: shown.iter().filter_map(Column::added).collect(),
            columns: shown.iter().map(|column| column.head(&words)).collect(),
        },
    )
}

/// The effective treatments at a level.
fn rows_at(visit: &SignedIn, words: &PolicyWords, level: PolicyLevel<'_>) -> Vec<PolicyRow> {
    let policy = words.at(level).or_else(|| words.at(PolicyLevel::Account));
    let policy = policy.unwrap_or_else(|| phigate_types::Policy::uniform(words.mode));
    policy_table(&visit.account, &policy)
}

/// Kinds by their treatment, the strictest first.
fn answer(rows: &[PolicyRow]) -> Vec<Tally> {
    let mut words: Vec<Word> = Word::all().collect();
    words.reverse();
    let tally = |word: Word| {
        let kinds = rows.iter().filter(|row| row.action == word.code()).count();
        let count = u64::try_from(kinds).unwrap_or_default();
        let (label, tone) = match word {
            Word::Off => ("not looked for", "grey"),
            Word::Treat(mode) => (mode.action.label(), mode.action.tone().class()),
        };
        (count > 0).then_some(Tally { count, label, tone })
    };
    words.into_iter().filter_map(tally).collect()
}

/// Providers to which PHI is only sent masked, whatever the levels of this page say.
fn demands(visit: &SignedIn) -> Vec<String> {
    let now = jiff::Timestamp::now();
    let providers = visit.account.providers.iter();
    let masked = providers.filter(|(_, provider)| {
        provider.config.phi_now(now) == phigate_types::PhiAgreement::Masked
    });
    masked.map(|(name, _)| name.clone()).collect()
}

/// Keys in use that have no column.
fn addable(keys: &[ApiKeyInfo], shown: &[Column]) -> Vec<(String, String)> {
    let has_column = |key: &&ApiKeyInfo| {
        let place = Place::Key(key.id.clone());
        !shown.iter().any(|column| column.place == place)
    };
    let in_use = keys.iter().filter(|key| key.revoked.is_none());
    let named = in_use
        .filter(has_column)
        .map(|key| (key.id.clone(), key.name.clone()));
    named.collect()
}

/// Label of a word.
pub(crate) fn word_label(word: Word) -> &'static str {
    match word {
        Word::Off => "Off",
        Word::Treat(mode) => mode_label(mode),
    }
}

fn mode_label(mode: Mode) -> &'static str {
    mode.label.split(" /").next().unwrap_or(mode.label)
}

/// The page's answer to a failed trial.
fn failed(error: TrialError) -> PageError {
    match error {
        TrialError::Store(error) => error.into(),
        TrialError::Scan(_) => PageError::Busy,
        TrialError::Words(_) => PageError::Broken,
    }
}
