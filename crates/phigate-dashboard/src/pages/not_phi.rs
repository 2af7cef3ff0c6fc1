//! "Not PHI" beside a finding of a record: its value becomes an entry of the allow list, without being shown.

use axum::extract::{Path, State};
use phigate_gateway::{Kinds, Weaker};
use phigate_store::StoreError;
use uuid::Uuid;

use super::content;
use super::record::decision_of;
use super::settings::allow::{Stored, stored};
use super::settings::weakening::{Asked, ask};
use crate::Dash;
use crate::visit::{Answer, PageError, SignedIn, redirect};

/// `POST /audit/{request_id}/allow`, for owners: no other role may both reveal content and change settings. The content
/// is read for it, which is recorded as a reveal with the same reason.
pub(crate) async fn allow(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let request_id = Uuid::try_parse(&id).map_err(|_| PageError::NotFound)?;
    let (trail, account) = (&dash.vault.trail, visit.account_id());
    let records = trail.audit_show(account, request_id).await?;
    let decision = decision_of(&records).ok_or(PageError::NotFound)?;
    let at = visit.form().get("finding").parse::<usize>().ok();
    let finding = at.and_then(|at| decision.findings.get(at));
    let finding = finding.ok_or(PageError::NotFound)?;
    let kind = Kinds::of(&visit.account.recognizers).find(&finding.kind);
    let kind = kind.filter(|kind| kind.may_be_allowed());
    let kind = kind.ok_or(PageError::Refused)?;
    let address = format!("/audit/{request_id}/allow");
    let by = match ask(&dash, &visit, &address, &[Weaker::Allowed(kind)]).await? {
        Asked::Given(by) => by,
        Asked::First(question) => return Ok(*question),
    };
    let revealed = trail.reveal(account, request_id, visit.actor(), by.reason);
    let revealed = match revealed.await {
        Err(StoreError::Unreadable(_)) => return Err(PageError::NotFound),
        revealed => revealed?,
    };
    let value = content::value_of(&revealed, finding).ok_or(PageError::Refused)?;
    match stored(&dash, &visit, (kind.code(), &value), &address).await? {
        Stored::Done => Ok(redirect("/settings/allow?done=value-allowed")),
        Stored::Asked(question) => Ok(*question),
        Stored::Refused(_) => Err(PageError::Refused),
    }
}
