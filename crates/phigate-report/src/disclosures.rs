//! Disclosures of one patient: the requests that held an identifier, and who received it.

use phigate_core::protect::identifier::Question;
use phigate_store::{Disclosure, SecretString};
use phigate_types::Action;
use serde_json::Value;

use crate::document::{Column, Document, Section};
use crate::times::to_the_second;
use crate::{Identifier, Order, ReportError, Sources};

/// Most requests that the look-up returns.
const FOUND_MAX: usize = 10_000;

const COLUMNS: &[Column] = &[
    // Name, label.
    Column("time", "Time (UTC)"),
    Column("request_id", "Request"),
    Column("action", "Action"),
    Column("recipient", "Recipient"),
    Column("found_as", "Found as"),
    Column("model", "Model"),
    Column("key", "API key"),
    Column("status", "Status"),
];

/// Looks the identifier up and lists the requests.
pub(crate) async fn fill(
    document: &mut Document,
    sources: &Sources,
    order: &Order<'_>,
    identifier: &Identifier,
) -> Result<(), ReportError> {
    let asked: Vec<(&str, Vec<SecretString>)> = identifier.questions.iter().map(sought).collect();
    let (id, actor) = (&order.account.id, order.actor);
    let found = sources.trail.find_identifiers(id, &asked, actor).await?;
    let title = "Disclosed: the identifier went out as it was";
    let empty = "The identifier was not sent to any provider.";
    let mut disclosed = Section::list("disclosures", title, empty, COLUMNS);
    let title = "Not disclosed: masked, redacted or stopped before sending";
    let empty = "No further request held the identifier.";
    let mut withheld = Section::list("withheld", title, empty, COLUMNS);
    for one in &found {
        for (action, recipient, is_left) in received(one) {
            let section = match is_left {
                true => &mut disclosed,
                false => &mut withheld,
            };
            section.row(None, cells(one, action, recipient));
        }
    }
    document.fact("requests", "Requests that held it", found.len());
    document.fact("disclosed", "Disclosures", disclosed.rows.len());
    document.fact("not_disclosed", "Not disclosed", withheld.rows.len());
    if found.len() >= FOUND_MAX {
        document.complete.push(format!(
            "INCOMPLETE: only the newest {FOUND_MAX} requests are listed."
        ));
    }
    document.sections.extend([disclosed, withheld]);
    Ok(())
}

/// Code of the kind, and the forms of the identifier to look for.
fn sought(question: &Question) -> (&'static str, Vec<SecretString>) {
    let forms = question.forms().iter().map(|form| form.as_str().into());
    (question.kind().code(), forms.collect())
}

/// The recipients of a request, each with the action for it, and whether the identifier itself was sent to it. Records of
/// earlier versions name the family of a provider only.
fn received(found: &Disclosure) -> Vec<(Option<Action>, Option<String>, bool)> {
    let family = found.family.filter(|_| found.is_left);
    let family = family.map(|family| family.code().to_owned());
    let first = (
        found.action,
        found.provider.clone().or(family),
        found.is_left,
    );
    let further = found.attempts.iter();
    let further = further.map(|one| (Some(one.action), Some(one.provider.clone()), one.is_left));
    std::iter::once(first).chain(further).collect()
}

fn cells(found: &Disclosure, action: Option<Action>, recipient: Option<String>) -> Vec<Value> {
    let kinds = found.found_as.iter().map(|kind| Value::from(kind.as_str()));
    vec![
        to_the_second(found.time).into(),
        found.request_id.to_string().into(),
        action.map(Action::code).into(),
        recipient.into(),
        kinds.collect(),
        found.model.clone().into(),
        found.key_id.clone().into(),
        found.provider_status.into(),
    ]
}
