//! Looks at content by two people: one asks, another approves, and both are recorded. In an emergency one is enough, and
//! an alert says so.
//!
//! A look needs a [`Permit`], and only this module makes one.

use jiff::{SignedDuration, Timestamp};
use phigate_types::{Act, Approvals};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cause::EMERGENCY;
use crate::guard::TRIES;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::model::{AdminAct, Decision, RevealRequest, RevealSubject, Revealed};
use crate::trail::{Reveals, Trail};
use crate::{Result, SecretBytes, StoreError};

/// Time within which a request is approved, and an approval used.
const OPEN: SignedDuration = SignedDuration::from_mins(30);
/// Most open requests of one person.
const OPEN_MAX: usize = 20;
const YES: &str = "yes";

/// A person's wish to look at content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) actor: &'a str,
    pub(super) reason: Option<&'a str>,
}

/// Permission to look at content; its record says why it was given.
pub(super) struct Permit {
    actor: String,
    reason: Option<String>,
    details: Vec<(&'static str, String)>,
}

impl Permit {
    /// The record of the look.
    pub(super) fn act(&self, now: Timestamp, account: &str, act: Act) -> AdminAct {
        let mut act = AdminAct::new(now, account, &self.actor, act);
        act.reason.clone_from(&self.reason);
        for (name, value) in &self.details {
            act = act.detail(name, value);
        }
        act
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct RequestBody {
    subject: RevealSubject,
    actor: String,
    reason: String,
    asked: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Approval {
    by: String,
    time: Timestamp,
}

impl RequestBody {
    fn expires(&self) -> Timestamp {
        let from = self.approval.as_ref().map_or(self.asked, |one| one.time);
        from.checked_add(OPEN).unwrap_or(from)
    }

    fn into_request(self, id: &str) -> RevealRequest {
        let expires = self.expires();
        let (approved_by, approved) = self.approval.map(|one| (one.by, one.time)).unzip();
        RevealRequest {
            id: id.to_owned(),
            subject: self.subject,
            actor: self.actor,
            reason: self.reason,
            asked: self.asked,
            approved_by,
            approved,
            expires,
        }
    }

    /// A record about the request.
    fn act(&self, now: Timestamp, account: &str, actor: &str, act: Act) -> AdminAct {
        let mut act = AdminAct::new(now, account, actor, act);
        match &self.subject {
            RevealSubject::Request(id) => act.request_id = Some(*id),
            RevealSubject::Token(name) => act.target = Some(format!("[{name}]")),
        }
        act
    }
}

impl Reveals {
    /// Asks for a look at content, which another person must approve. A request that is open already stays as it is.
    pub async fn ask(
        &self,
        account_id: &str,
        subject: &RevealSubject,
        actor: &str,
        reason: &str,
    ) -> Result<RevealRequest> {
        let core = &self.trail.core;
        if let RevealSubject::Request(id) = subject {
            // Otherwise a person could be asked to approve what is not there.
            self.trail.audit_show(account_id, *id).await?;
        }
        for _ in 0..TRIES {
            let (own, mut changes) = self.trail.requests_of(account_id, actor).await?;
            if let Some(open) = own.iter().find(|open| open.subject == *subject) {
                return Ok(open.clone());
            }
            if own.len() >= OPEN_MAX {
                return Err(StoreError::Invalid {
                    what: "request to reveal content",
                    why: "too many of this person are open; wait for an approval, or withdraw some",
                });
            }
            let body = RequestBody {
                subject: subject.clone(),
                actor: actor.to_owned(),
                reason: reason.to_owned(),
                asked: core.now(),
                approval: None,
            };
            let id = random_id(12);
            let kind = ItemKind::RevealRequest;
            let item = Item::new(account_id, kind, &id, None, &body);
            changes.push(Change::Put(item, Expect::Absent));
            let (_, account) = core.account_item(account_id).await?;
            let mut act = body.act(core.now(), &account.name, actor, Act::ContentRevealAsk);
            act.reason = Some(body.reason.clone());
            // Another process may have swept the expired ones.
            match core.change(account_id, &act, changes, false).await {
                Err(StoreError::Conflict(_)) => {}
                done => return done.map(|()| body.into_request(&id)),
            }
        }
        Err(StoreError::Conflict(ItemKind::RevealRequest.label()))
    }

    /// Approves a request of another person.
    pub async fn approve(&self, account_id: &str, id: &str, actor: &str) -> Result<RevealRequest> {
        let core = &self.trail.core;
        let (item, mut body) = self.trail.open_request(account_id, id).await?;
        let refused = |why| StoreError::Invalid {
            what: "approval",
            why,
        };
        if body.actor == actor {
            return Err(refused("a request is approved by another person"));
        }
        if body.approval.is_some() {
            return Err(refused("the request is approved already"));
        }
        let (_, account) = core.account_item(account_id).await?;
        let act = body
            .act(core.now(), &account.name, actor, Act::ContentRevealApprove)
            .detail("asked_by", &body.actor);
        body.approval = Some(Approval {
            by: actor.to_owned(),
            time: core.now(),
        });
        let changes = vec![item.replaced_by(&body)];
        core.change(account_id, &act, changes, false).await?;
        Ok(body.into_request(id))
    }

    /// Declines a request of another person, withdraws one's own, or takes an approval back.
    pub async fn decline(&self, account_id: &str, id: &str, actor: &str) -> Result<RevealRequest> {
        let core = &self.trail.core;
        let (item, body) = self.trail.open_request(account_id, id).await?;
        let (_, account) = core.account_item(account_id).await?;
        let act = body
            .act(core.now(), &account.name, actor, Act::ContentRevealDecline)
            .detail("asked_by", &body.actor);
        core.change(account_id, &act, vec![item.deleted()], false)
            .await?;
        Ok(body.into_request(id))
    }

    /// The open requests, oldest first: those that wait for approval, and those approved a short time ago.
    pub async fn open(&self, account_id: &str) -> Result<Vec<RevealRequest>> {
        self.trail.open_requests(account_id).await
    }

    /// The content of a request, for one person alone. An alert says so.
    pub async fn reveal_in_emergency(
        &self,
        account_id: &str,
        request_id: Uuid,
        actor: &str,
        reason: &str,
    ) -> Result<Revealed> {
        let permit = in_emergency(actor, reason);
        self.trail
            .reveal_with(account_id, request_id, &permit)
            .await
    }

    /// The original content of the requests in which a token was issued, for one person alone. An alert says so.
    pub async fn resolve_in_emergency(
        &self,
        account_id: &str,
        token_name: &str,
        actor: &str,
        reason: &str,
    ) -> Result<Vec<(Decision, SecretBytes)>> {
        let trail = &self.trail;
        let found = trail.requests_with_token(account_id, token_name).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let permit = in_emergency(actor, reason);
        trail
            .contents_of(account_id, token_name, &found, &permit)
            .await
    }
}

fn in_emergency(actor: &str, reason: &str) -> Permit {
    Permit {
        actor: actor.to_owned(),
        reason: Some(reason.to_owned()),
        details: vec![(EMERGENCY, YES.to_owned())],
    }
}

impl Trail {
    /// Permission for a look, if one person is enough or a second one approved it. The reason is then the approved one.
    pub(super) async fn permit(
        &self,
        account_id: &str,
        subject: &RevealSubject,
        look: Look<'_>,
    ) -> Result<Permit> {
        let (_, account) = self.core.account_item(account_id).await?;
        let Look { actor, reason } = look;
        let alone = |reason: Option<&str>| Permit {
            actor: actor.to_owned(),
            reason: reason.map(str::to_owned),
            details: Vec::new(),
        };
        if account.settings.reveal_approvals == Approvals::One {
            return Ok(alone(reason));
        }
        let open = self.open_requests(account_id).await?;
        let mut own = open
            .into_iter()
            .filter(|one| one.actor == actor && one.subject == *subject);
        let approved = own.find_map(|one| Some((one.approved_by?, one.reason)));
        let (by, reason) = approved.ok_or(StoreError::NeedsApproval)?;
        Ok(Permit {
            details: vec![("approved_by", by)],
            ..alone(Some(&reason))
        })
    }

    /// Open requests of a person, and the changes that delete what has expired.
    async fn requests_of(
        &self,
        account_id: &str,
        actor: &str,
    ) -> Result<(Vec<RevealRequest>, Vec<Change>)> {
        let guard = self.core.guard();
        let (mut own, mut expired) = (Vec::new(), Vec::new());
        for item in guard.items(account_id, ItemKind::RevealRequest).await? {
            let known: RequestBody = item.read()?;
            match known.expires() > self.core.now() {
                false => expired.push(item.deleted()),
                true if known.actor == actor => own.push(known.into_request(&item.id)),
                true => {}
            }
        }
        Ok((own, expired))
    }

    async fn open_requests(&self, account_id: &str) -> Result<Vec<RevealRequest>> {
        let guard = self.core.guard();
        let mut open = Vec::new();
        for item in guard.items(account_id, ItemKind::RevealRequest).await? {
            let body: RequestBody = item.read()?;
            if body.expires() > self.core.now() {
                open.push(body.into_request(&item.id));
            }
        }
        open.sort_by(|one, other| (one.asked, &one.id).cmp(&(other.asked, &other.id)));
        Ok(open)
    }

    async fn open_request(&self, account_id: &str, id: &str) -> Result<(Item, RequestBody)> {
        let kind = ItemKind::RevealRequest;
        let missing = StoreError::NotFound(kind.label());
        let found = self.core.guard().item(account_id, kind, id).await?;
        let item = found.ok_or(missing.clone())?;
        let body: RequestBody = item.read()?;
        match body.expires() > self.core.now() {
            true => Ok((item, body)),
            false => Err(missing),
        }
    }
}
