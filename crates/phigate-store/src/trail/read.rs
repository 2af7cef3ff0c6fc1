//! Reading the trail: lists, single requests, content, disclosure lookup.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use phigate_types::{Act, Action};
use uuid::Uuid;

use crate::keys::seal::Place;
use crate::model::{
    AdminAct, Cursor, Decision, Disclosure, Filter, FurtherDisclosure, Page, Record, RecordKind,
    RequestRow, RevealSubject, Revealed,
};
use crate::rows::{AuditRow, LookupCode, RowKey};
use crate::trail::Trail;
use crate::trail::record::{CONTENT, token_code, value_code};
use crate::trail::reveals::{Look, Permit};
use crate::{Result, SecretBytes, SecretString, StoreError};

/// The kind under which tokens were hashed before they were stored as they are.
const HASHED_TOKEN: &str = "token";
/// Most requests in which a token is looked for.
const RESOLVED_MAX: usize = 100;
/// Most requests a lookup returns.
const DISCLOSURES_MAX: usize = 10_000;

impl Trail {
    /// Records of an account, newest first.
    pub async fn audit_list(
        &self,
        account_id: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Record>> {
        let page = self.page(account_id, filter, after, limit).await?;
        let items = page
            .items
            .iter()
            .map(parse)
            .collect::<Result<Vec<Record>>>()?;
        Ok(Page {
            items,
            next: page.next,
            looked_back_to: page.looked_back_to,
        })
    }

    /// Requests of an account, newest first, each with its outcome once there is one.
    pub async fn request_list(
        &self,
        account_id: &str,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<RequestRow>> {
        let filter = Filter {
            record: Some(RecordKind::Decision),
            ..filter.clone()
        };
        let page = self.page(account_id, &filter, after, limit).await?;
        let requests: Vec<Uuid> = page.items.iter().filter_map(|row| row.request).collect();
        let mut outcomes = HashMap::new();
        for row in self.core.store.requests(account_id, &requests).await? {
            if let Record::Outcome(outcome) = parse(&row)? {
                outcomes.insert(outcome.request_id, outcome);
            }
        }
        let mut items = Vec::new();
        for row in &page.items {
            if let Record::Decision(decision) = parse(row)? {
                let outcome = outcomes.remove(&decision.request_id);
                items.push(RequestRow { decision, outcome });
            }
        }
        Ok(Page {
            items,
            next: page.next,
            looked_back_to: page.looked_back_to,
        })
    }

    /// Everything recorded about one request, oldest first: decision, outcome, reveals.
    pub async fn audit_show(&self, account_id: &str, request_id: Uuid) -> Result<Vec<Record>> {
        let rows = self.core.store.requests(account_id, &[request_id]).await?;
        if rows.is_empty() {
            return Err(StoreError::NotFound("request"));
        }
        rows.iter().map(parse).collect()
    }

    /// The content of a request. The actor and the reason are recorded first. Fails with
    /// [`StoreError::NeedsApproval`] if it takes two people and no second one approved it.
    pub async fn reveal(
        &self,
        account_id: &str,
        request_id: Uuid,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Revealed> {
        let subject = RevealSubject::Request(request_id);
        let look = Look { actor, reason };
        let permit = self.permit(account_id, &subject, look).await?;
        self.reveal_with(account_id, request_id, &permit).await
    }

    /// The content of a request, once the permit for it is recorded.
    pub(super) async fn reveal_with(
        &self,
        account_id: &str,
        request_id: Uuid,
        permit: &Permit,
    ) -> Result<Revealed> {
        let rows = self.core.store.requests(account_id, &[request_id]).await?;
        let decision = rows
            .iter()
            .find(|row| row.kind == RecordKind::Decision.code());
        decision.ok_or(StoreError::NotFound("request"))?;
        require_not_erased(&rows)?;
        let (_, account) = self.core.account_item(account_id).await?;
        let mut act = permit.act(self.core.now(), &account.name, Act::ContentReveal);
        act.request_id = Some(request_id);
        self.core.record_act(Some(account_id), &act).await?;
        self.opened(account_id, request_id, &rows).await
    }

    /// The content of a request if this actor revealed it since then, else `None`: a reloaded page does not count as a
    /// second reveal.
    pub async fn reopen(
        &self,
        account_id: &str,
        request_id: Uuid,
        actor: &str,
        since: Timestamp,
    ) -> Result<Option<Revealed>> {
        let rows = self.core.store.requests(account_id, &[request_id]).await?;
        for row in &rows {
            if let Record::Admin(act) = parse(row)?
                && act.act == Act::ContentReveal
                && act.actor == actor
                && act.time >= since
            {
                return self.opened(account_id, request_id, &rows).await.map(Some);
            }
        }
        Ok(None)
    }

    async fn opened(
        &self,
        account_id: &str,
        request_id: Uuid,
        rows: &[AuditRow],
    ) -> Result<Revealed> {
        let is_decision = |row: &&AuditRow| row.kind == RecordKind::Decision.code();
        let decision = rows.iter().find(is_decision);
        let decision = decision.ok_or(StoreError::NotFound("request"))?;
        let mut revealed = Revealed {
            request_id,
            original: None,
            sent: None,
            attempts: Vec::new(),
            reply: None,
        };
        for (field, content) in self.contents(account_id, decision).await? {
            match field {
                "original" => revealed.original = Some(content),
                _ => revealed.sent = Some(content),
            }
        }
        for row in rows {
            let Record::Attempt(attempt) = parse(row)? else {
                continue;
            };
            let contents = self.contents(account_id, row).await?.into_iter();
            let sent = contents.map(|(_, sent)| (attempt.provider.clone(), sent));
            revealed.attempts.extend(sent);
        }
        let outcome = rows
            .iter()
            .find(|row| row.kind == RecordKind::Outcome.code());
        if let Some(outcome) = outcome {
            let contents = self.contents(account_id, outcome).await?;
            revealed.reply = contents.into_iter().map(|(_, reply)| reply).next();
        }
        let is_empty = revealed.original.is_none() && revealed.sent.is_none();
        if is_empty && revealed.reply.is_none() {
            return Err(StoreError::NotFound("content of this request"));
        }
        // A request forwarded as it came was sent as it came.
        let was_forwarded = decision.action.as_deref() == Some(Action::FORWARDED.code());
        if revealed.sent.is_none() && was_forwarded {
            revealed.sent = revealed.original.clone();
        }
        Ok(revealed)
    }

    /// Requests in which an identifier occurred as one of these kinds under one of its forms, newest first. The first
    /// kind is the one that was asked for. The look-up itself is recorded.
    pub async fn find_identifiers(
        &self,
        account_id: &str,
        asked: &[(&str, Vec<SecretString>)],
        actor: &str,
    ) -> Result<Vec<Disclosure>> {
        let (_, account) = self.core.account_item(account_id).await?;
        let key = self.lookup_key(account_id).await?;
        let mut found: BTreeMap<(i64, Uuid), Vec<String>> = BTreeMap::new();
        for (kind, forms) in asked {
            let codes = forms.iter();
            let codes = codes.map(|form| value_code(&key, kind, form.expose()));
            let codes: Vec<LookupCode> = codes.collect();
            let store = &self.core.store;
            let with = store.requests_with(account_id, &codes, DISCLOSURES_MAX);
            for (request, time_us) in with.await? {
                let kinds = found.entry((time_us, request)).or_default();
                kinds.push((*kind).to_owned());
            }
        }
        let kind = asked.first().map_or("", |(kind, _)| *kind);
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::AuditFind)
            .detail("type", kind)
            .detail("found", &found.len());
        self.core.record_act(Some(account_id), &act).await?;
        let newest = found.into_iter().rev().take(DISCLOSURES_MAX);
        let found: Vec<_> = newest.collect();
        let requests: Vec<Uuid> = found.iter().map(|((_, request), _)| *request).collect();
        let mut known: HashMap<Uuid, Vec<Record>> = HashMap::new();
        for row in self.core.store.requests(account_id, &requests).await? {
            known
                .entry(row.request.unwrap_or_default())
                .or_default()
                .push(parse(&row)?);
        }
        let disclosures = found.into_iter().map(|((time_us, request), kinds)| {
            disclosure(request, time_us, kinds, known.get(&request))
        });
        Ok(disclosures.collect())
    }

    /// The original content of the requests in which a token was issued, newest first, each with the conversation that
    /// its tokens belong to. The actor and the reason are recorded first. Fails with [`StoreError::NeedsApproval`] if
    /// it takes two people and no second one approved it.
    pub async fn contents_with_token(
        &self,
        account_id: &str,
        token_name: &str,
        actor: &str,
        reason: &str,
    ) -> Result<Vec<(Decision, SecretBytes)>> {
        let found = self.requests_with_token(account_id, token_name).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let subject = RevealSubject::Token(token_name.to_owned());
        let reason = Some(reason);
        let look = Look { actor, reason };
        let permit = self.permit(account_id, &subject, look).await?;
        self.contents_of(account_id, token_name, &found, &permit)
            .await
    }

    /// The requests in which a token was issued.
    pub(super) async fn requests_with_token(
        &self,
        account_id: &str,
        token_name: &str,
    ) -> Result<Vec<Uuid>> {
        let key = self.lookup_key(account_id).await?;
        let codes = [
            token_code(token_name),
            value_code(&key, HASHED_TOKEN, token_name),
        ];
        let store = &self.core.store;
        let found = store
            .requests_with(account_id, &codes, RESOLVED_MAX)
            .await?;
        Ok(found.into_iter().map(|(request, _)| request).collect())
    }

    /// The original content of requests with a token, once the permit for it is recorded.
    pub(super) async fn contents_of(
        &self,
        account_id: &str,
        token_name: &str,
        requests: &[Uuid],
        permit: &Permit,
    ) -> Result<Vec<(Decision, SecretBytes)>> {
        let (_, account) = self.core.account_item(account_id).await?;
        let mut act = permit.act(self.core.now(), &account.name, Act::TokenResolve);
        act.target = Some(format!("[{token_name}]"));
        self.core.record_act(Some(account_id), &act).await?;
        let mut contents = Vec::new();
        for row in self.core.store.requests(account_id, requests).await? {
            let Record::Decision(decision) = parse(&row)? else {
                continue;
            };
            let mut contents_of_row = self.contents(account_id, &row).await?.into_iter();
            let original = contents_of_row.find(|(field, _)| *field == "original");
            if let (Some(_), Some((_, original))) = (&decision.conversation, original) {
                contents.push((decision, original));
            }
        }
        contents.sort_by_key(|(decision, _)| std::cmp::Reverse(decision.time));
        Ok(contents)
    }

    /// Sealed fields of a decision, opened.
    pub(crate) async fn contents(
        &self,
        account_id: &str,
        decision: &AuditRow,
    ) -> Result<Vec<(&'static str, SecretBytes)>> {
        let key = RowKey {
            record: decision.id,
            time_us: decision.time_us,
            lane: 0,
            seq: 0,
        };
        let name = decision.id.to_string();
        let mut contents = Vec::new();
        for (field, sealed) in self.core.store.content(account_id, key).await?.fields() {
            let place = Place {
                account: account_id,
                table: CONTENT,
                record: &name,
                field,
            };
            let content = self.core.keyring.unseal(place, sealed).await?;
            contents.push((field, content));
        }
        Ok(contents)
    }
}

/// Fails if the content of a request was erased.
fn require_not_erased(rows: &[AuditRow]) -> Result<()> {
    for row in rows {
        if let Record::Admin(act) = parse(row)?
            && act.act == Act::ContentErase
        {
            return Err(StoreError::Erased);
        }
    }
    Ok(())
}

/// Whether the identifier was in a request as a further provider received it. The record of an attempt has no findings:
/// those of the decision hold if the action is the same.
fn is_left_again(found: &Disclosure, action: Action) -> bool {
    action == Action::FORWARDED || (found.is_left && found.action == Some(action))
}

/// Reads a row's text.
pub(crate) fn parse(row: &AuditRow) -> Result<Record> {
    serde_json::from_str(&row.body).map_err(|error| StoreError::of_stored("audit record", &error))
}

fn disclosure(
    request_id: Uuid,
    time_us: i64,
    found_as: Vec<String>,
    records: Option<&Vec<Record>>,
) -> Disclosure {
    let mut found = Disclosure {
        request_id,
        time: Timestamp::from_microsecond(time_us).unwrap_or_default(),
        found_as,
        action: None,
        is_left: false,
        family: None,
        provider: None,
        model: None,
        key_id: None,
        provider_status: None,
        attempts: Vec::new(),
    };
    for record in records.into_iter().flatten() {
        match record {
            Record::Decision(decision) => {
                found.action = Some(decision.action);
                found.family = decision.family;
                let left = decision.kinds_left();
                found.is_left = found.found_as.iter().any(|kind| left.contains(&**kind));
                let was_sent = decision.sizes.sent.is_some();
                found.provider = decision.provider.clone().filter(|_| was_sent);
                found.model = decision.model.clone();
                found.key_id = Some(decision.key_id.clone());
            }
            Record::Outcome(outcome) => found.provider_status = outcome.provider_status,
            Record::Attempt(attempt) => found.attempts.push(FurtherDisclosure {
                provider: attempt.provider.clone(),
                model: attempt.model.clone(),
                action: attempt.action,
                is_left: is_left_again(&found, attempt.action),
            }),
            Record::Admin(_) | Record::Alert(_) => {}
        }
    }
    found
}
