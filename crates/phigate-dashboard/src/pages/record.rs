//! One request of the log: findings, decision, outcome, who looked, and its content once revealed.

use askama::Template;
use axum::extract::{Path, State};
use jiff::{SignedDuration, Timestamp};
use phi_detect::PhiKind;
use phigate_gateway::Kinds;
use phigate_store::{Decision, Outcome, Record, ReplyFacts, RevealSubject, Revealed, StoreError};
use phigate_types::{Act, Action, Approvals, ErrorCode, PhiAgreement, Right, Role, Tone};
use uuid::Uuid;

use super::approvals::{self, Asked};
use super::content::Content;
use super::rows::{ActRow, act_row, action, kinds};
use super::{account, keys, log_filter};
use crate::Dash;
use crate::cookies::form_token;
use crate::layout::Layout;
use crate::view::{Fact, KindChip, counted, grouped, in_sentence, kind_class};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};
use phigate_store::reason;

/// The record.
#[derive(Template)]
#[template(path = "record.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) request_id: String,
    pub(crate) tone: Tone,
    pub(crate) action: &'static str,
    pub(crate) types: Vec<KindChip>,
    pub(crate) decision: Vec<Fact>,
    pub(crate) outcome: Vec<Fact>,
    pub(crate) findings: Vec<FindingRow>,
    pub(crate) findings_words: String,
    pub(crate) acts: Vec<ActRow>,
    pub(crate) has_content: bool,
    pub(crate) may_reveal: bool,
    /// Roles that may reveal content, in words.
    pub(crate) revealers: String,
    pub(crate) content_words: &'static str,
    pub(crate) asks_password: bool,
    pub(crate) reason: String,
    /// Whether a second person approves a look at content.
    pub(crate) takes_two: bool,
    /// Open requests to reveal this content.
    pub(crate) asked: Vec<Asked>,
    pub(crate) content: Option<Content>,
    /// Seconds for which revealed content is shown.
    pub(crate) shown_s: i64,
    /// Summary of the request, in a sentence.
    pub(crate) sentence: String,
    /// The log of the same key, and of the same model.
    pub(crate) alike: Vec<(&'static str, String)>,
}

impl Page {
    /// The viewer's own open request.
    fn own(&self) -> Option<&Asked> {
        self.asked.iter().find(|asked| asked.is_own)
    }

    /// Whether another person approved that the viewer sees the content.
    fn is_approved(&self) -> bool {
        self.own().is_some_and(|own| own.approved_by.is_some())
    }

    /// Open requests of other people.
    fn of_others(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter().filter(|asked| !asked.is_own)
    }
}

/// One finding, without its text.
#[derive(Debug)]
pub(crate) struct FindingRow {
    pub(crate) label: String,
    pub(crate) class: &'static str,
    pub(crate) path: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) score: String,
    pub(crate) rule: String,
    /// Place among the findings, if its value may be allowed.
    pub(crate) allow: Option<usize>,
}

/// Time for which revealed content is shown before it is sealed again.
const SHOWN: SignedDuration = SignedDuration::from_mins(5);
/// Findings listed at most; the rest is counted.
const FINDINGS: usize = 200;

/// `GET /audit/{request_id}`
pub(crate) async fn show(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let request_id = Uuid::try_parse(&id).map_err(|_| PageError::NotFound)?;
    let was_opened = visit.context.query.get("opened") == opened(&visit, request_id);
    let content = match was_opened {
        true => reopen(&dash, &visit, request_id).await?,
        false => None,
    };
    draw(&dash, &visit, &id, None, content).await
}

/// Returns the token in the address of revealed content. It is worth nothing in another session, and soon nothing in
/// this one.
fn opened(visit: &SignedIn, request_id: Uuid) -> String {
    form_token(&format!(
        "{} reveals {request_id}",
        visit.context.form_token
    ))
}

/// Returns the content while the recorded reveal is fresh: loading the page again does not count as another reveal.
async fn reopen(
    dash: &Dash,
    visit: &SignedIn,
    request_id: Uuid,
) -> Result<Option<Content>, PageError> {
    let since = Timestamp::now().checked_sub(SHOWN).unwrap_or_default();
    let (trail, account) = (&dash.vault.trail, visit.account_id());
    let revealed = trail
        .reopen(account, request_id, visit.actor(), since)
        .await?;
    let records = trail.audit_show(account, request_id).await?;
    let decision = decision_of(&records).ok_or(PageError::NotFound)?;
    Ok(revealed.map(|revealed| Content::new(decision, &revealed)))
}

/// `POST /audit/{request_id}/reveal`: the content is shown at the record's own address.
pub(crate) async fn reveal(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let request_id = Uuid::try_parse(&id).map_err(|_| PageError::NotFound)?;
    let (vault, account) = (&dash.vault, visit.account_id());
    let reason = match given(&dash, &visit).await? {
        Ok(reason) => reason,
        Err(refusal) => return draw(&dash, &visit, &id, Some(refusal), None).await,
    };
    let trail = &vault.trail;
    let revealed = trail.reveal(account, request_id, visit.actor(), Some(reason));
    match revealed.await {
        Err(StoreError::NeedsApproval) => {
            let subject = RevealSubject::Request(request_id);
            let asked = vault.reveals.ask(account, &subject, visit.actor(), reason);
            match asked.await {
                Ok(_) => Ok(redirect(&format!("/audit/{request_id}?done=asked#content"))),
                Err(StoreError::Invalid { why, .. }) => {
                    draw(&dash, &visit, &id, Some(in_sentence(why)), None).await
                }
                Err(error) => Err(error.into()),
            }
        }
        revealed => shown(&dash, &visit, request_id, revealed).await,
    }
}

/// `POST /audit/{request_id}/emergency`: the content is shown to one person alone, and an alert says so.
pub(crate) async fn reveal_in_emergency(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(id): Path<String>,
) -> Answer {
    let request_id = Uuid::try_parse(&id).map_err(|_| PageError::NotFound)?;
    let (reveals, account) = (&dash.vault.reveals, visit.account_id());
    let reason = match given(&dash, &visit).await? {
        Ok(reason) => reason,
        Err(refusal) => return draw(&dash, &visit, &id, Some(refusal), None).await,
    };
    let actor = visit.actor();
    let revealed = reveals
        .reveal_in_emergency(account, request_id, actor, reason)
        .await;
    shown(&dash, &visit, request_id, revealed).await
}

/// The reason of a form, once it is confirmed with the password; else what to correct.
async fn given<'v>(dash: &Dash, visit: &'v SignedIn) -> Result<Result<&'v str, String>, PageError> {
    let Some(reason) = reason(visit.form().get("reason")) else {
        let error =
            "Say why you need to see this, in a few words. The reason is kept in the audit log.";
        return Ok(Err(error.to_owned()));
    };
    let refusal = account::confirm_lately(dash, visit).await?;
    Ok(refusal.map_or(Ok(reason), Err))
}

/// Leads to revealed content.
async fn shown(
    dash: &Dash,
    visit: &SignedIn,
    request_id: Uuid,
    revealed: Result<Revealed, StoreError>,
) -> Answer {
    match revealed {
        Ok(_) => {
            let opened = opened(visit, request_id);
            Ok(redirect(&format!(
                "/audit/{request_id}?opened={opened}#content"
            )))
        }
        Err(StoreError::Unreadable(_)) => {
            let error = "The content cannot be read: it was deleted at the end of its retention, or it is damaged.";
            draw(
                dash,
                visit,
                &request_id.to_string(),
                Some(error.to_owned()),
                None,
            )
            .await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn decision_of(records: &[Record]) -> Option<&Decision> {
    records.iter().find_map(|record| match record {
        Record::Decision(decision) => Some(decision),
        Record::Attempt(_) | Record::Outcome(_) | Record::Admin(_) | Record::Alert(_) => None,
    })
}

/// Whether a person erased the content of the request.
fn is_erased(records: &[Record]) -> bool {
    let mut acts = records.iter();
    acts.any(|record| matches!(record, Record::Admin(act) if act.act == Act::ContentErase))
}

fn outcome_of(records: &[Record]) -> Option<&Outcome> {
    records.iter().find_map(|record| match record {
        Record::Outcome(outcome) => Some(outcome),
        Record::Decision(_) | Record::Attempt(_) | Record::Admin(_) | Record::Alert(_) => None,
    })
}

async fn draw(
    dash: &Dash,
    visit: &SignedIn,
    id: &str,
    error: Option<String>,
    content: Option<Content>,
) -> Answer {
    let request_id = Uuid::try_parse(id).map_err(|_| PageError::NotFound)?;
    let records = dash
        .vault
        .trail
        .audit_show(visit.account_id(), request_id)
        .await?;
    let decision = decision_of(&records).ok_or(PageError::NotFound)?;
    let outcome = outcome_of(&records);
    let names = keys::names(&dash.vault.access.api_keys(visit.account_id()).await?);
    let key_name = names.get(&decision.key_id).filter(|name| !name.is_empty());
    let (label, tone) = action(decision);
    let has_reply = outcome.is_some_and(|outcome| outcome.sealed.is_some());
    let has_sealed = decision.sealed.is_some() || has_reply;
    let has_content = has_sealed && !is_erased(&records);
    let is_reader = has_content && visit.may(Right::Reveal);
    let asked = approvals::of_request(dash, visit, request_id, is_reader).await?;
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/audit"),
            reason: error
                .as_ref()
                .map(|_| visit.form().get("reason").to_owned())
                .unwrap_or_default(),
            error,
            request_id: request_id.to_string(),
            tone,
            action: label,
            types: kinds(&decision.types),
            decision: decision_facts(decision, key_name),
            outcome: outcome.map(outcome_facts).unwrap_or_default(),
            findings: finding_rows(visit, decision, decision.sealed.is_some() && has_content),
            findings_words: findings_words(decision),
            acts: records.iter().filter_map(act_row).collect(),
            has_content,
            may_reveal: visit.may(Right::Reveal),
            revealers: format!("an {}", Role::labels_with(Right::Reveal)),
            content_words: match is_erased(&records) {
                true => "Its content was erased for ever; see below who did it and why.",
                false => content_words(decision, has_content),
            },
            asks_password: account::asks_password(visit),
            takes_two: visit.account.settings.reveal_approvals == Approvals::Two,
            asked,
            content,
            shown_s: SHOWN.as_secs(),
            sentence: sentence(&records, decision, outcome),
            alike: alike(decision),
        },
    )
}

/// Returns the summary in a sentence: the decision, every provider that it went to, and the result.
fn sentence(records: &[Record], decision: &Decision, outcome: Option<&Outcome>) -> String {
    let found: u64 = decision.types.values().map(|count| u64::from(*count)).sum();
    let found = match found {
        0 => String::new(),
        found => format!(", with {}", counted(found, "finding")),
    };
    let went = match recipients(records, decision, outcome) {
        went if went.is_empty() => ", sent to nobody".to_owned(),
        went => went.concat(),
    };
    let is_answered = outcome.is_some_and(|outcome| outcome.provider_status.is_some());
    let came = match outcome {
        None => ", not answered yet".to_owned(),
        Some(outcome) => match outcome.status {
            Some(status) if !is_answered => format!("; the caller got {status}"),
            _ => String::new(),
        },
    };
    format!("{}{found}{went}{came}.", decision.action.label())
}

/// Each provider that the request went to, and what it answered.
fn recipients(records: &[Record], decision: &Decision, outcome: Option<&Outcome>) -> Vec<String> {
    let first = decision.provider.as_ref();
    let first = first.filter(|_| decision.sizes.sent.is_some());
    let first = first.map(|name| (decision.action, name));
    let further = records.iter().filter_map(|record| match record {
        Record::Attempt(attempt) => Some((attempt.action, &attempt.provider)),
        Record::Decision(_) | Record::Outcome(_) | Record::Admin(_) | Record::Alert(_) => None,
    });
    let asked: Vec<_> = first.into_iter().chain(further).collect();
    let last = asked.len().saturating_sub(1);
    let word = |at: usize, (action, name): &(Action, &String)| {
        let then = if at == 0 { ", " } else { ", then " };
        // An agreement may ask for more than the mode.
        let action = match *action == decision.action {
            true => String::new(),
            false => format!("{} and ", action.label().to_lowercase()),
        };
        let ended = outcome.and_then(|outcome| outcome.attempts.get(at));
        let status = match ended {
            Some(ended) => ended.status,
            None => outcome
                .filter(|_| at == last)
                .and_then(|outcome| outcome.provider_status),
        };
        let answered = match (status, ended.and_then(|ended| ended.error_code)) {
            (Some(status), _) => format!(", which answered {status}"),
            (None, Some(code)) if at < last => format!(", which failed ({code})"),
            (None, _) => String::new(),
        };
        format!("{then}{action}sent to {name}{answered}")
    };
    asked
        .iter()
        .enumerate()
        .map(|(at, asked)| word(at, asked))
        .collect()
}

/// The log of what is alike.
fn alike(decision: &Decision) -> Vec<(&'static str, String)> {
    let key = log_filter::address("key", &decision.key_id);
    let model = decision.model.as_ref();
    let model = model.map(|model| log_filter::address("model", &format!("\"{model}\"")));
    let model = model.map(|address| ("More for this model", address));
    [("More with this key", key)]
        .into_iter()
        .chain(model)
        .collect()
}

fn findings_words(decision: &Decision) -> String {
    let counted: usize = decision.types.values().map(|count| *count as usize).sum();
    let listed = decision.findings.len();
    if listed <= FINDINGS && counted <= listed {
        format!("{listed}, by place; positions count characters")
    } else {
        let shown = listed.min(FINDINGS);
        format!(
            "the first {shown} of {}, by place; positions count characters",
            counted.max(listed)
        )
    }
}

fn content_words(decision: &Decision, has_content: bool) -> &'static str {
    let was_refused = decision.action == Action::REFUSED;
    match (has_content, decision.phi_detected) {
        _ if decision.action == Action::SCANNED => {
            "The text was only scanned: it was not sent anywhere, and its content was not stored."
        }
        (true, true) => "What was received and what was sent are stored encrypted.",
        (true, false) => "The reply held PHI, so the provider’s answer is stored encrypted.",
        (false, true) => "No content is stored for this request.",
        // Most refusals come before the scan, so nothing is known about PHI.
        (false, false) if was_refused => "The request was refused, and its content was not stored.",
        (false, false) => "No PHI was found in this request, so its content was not stored.",
    }
}

fn decision_facts(decision: &Decision, key_name: Option<&String>) -> Vec<Fact> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    let key = key_name.map_or_else(
        || decision.key_id.clone(),
        |name| format!("{name} ({})", decision.key_id),
    );
    let key = match &decision.subject {
        Some(subject) => format!("{key}, for {subject}"),
        None => key,
    };
    let sent = decision
        .sizes
        .sent
        .map(|sent| format!(", {} sent", grouped(sent)))
        .unwrap_or_default();
    let mut facts = vec![
        Fact::time("Decided", decision.time),
        Fact::text("Mode in force", decision.mode.label),
        Fact::text("API", text(&decision.door)),
        Fact::text("Model asked for", text(&decision.model)),
        Fact::text("Provider", provider_words(decision)),
        Fact::text("API key", key),
        Fact::text("Streamed", if decision.stream { "yes" } else { "no" }),
        Fact::text(
            "Bytes",
            format!("{} received{sent}", grouped(decision.sizes.body)),
        ),
        Fact::text("Detector", decision.detector_version.clone()),
    ];
    let terms = &decision.terms;
    let phi = terms.phi.map(PhiAgreement::label);
    facts.extend(phi.map(|phi| Fact::text("Provider’s rule", phi)));
    let agreement = terms.agreement.clone();
    facts.extend(agreement.map(|agreement| Fact::text("Agreement", agreement)));
    if let Some(code) = decision.error_code {
        facts.push(Fact::text("Refused because", code.code()));
    }
    for part in &decision.unscannable {
        facts.push(Fact::text(
            "Not scanned",
            format!("{} at {}", part.kind, part.path),
        ));
    }
    facts
}

/// Returns the provider's name, and its format if the name does not say it.
fn provider_words(decision: &Decision) -> String {
    match (&decision.provider, &decision.family) {
        (Some(name), Some(family)) if name != family.code() => format!("{name} ({family})"),
        (Some(name), _) => name.clone(),
        (None, Some(family)) => family.to_string(),
        (None, None) => "–".to_owned(),
    }
}

fn outcome_facts(outcome: &Outcome) -> Vec<Fact> {
    let mut facts = vec![Fact::time("Ended", outcome.time)];
    let mut say =
        |name, value: Option<String>| facts.extend(value.map(|value| Fact::text(name, value)));
    say("Status", outcome.status.map(|status| status.to_string()));
    say("Error", outcome.error_code.map(|code| code.to_string()));
    say(
        "Provider’s status",
        outcome.provider_status.map(|status| status.to_string()),
    );
    for attempt in outcome
        .attempts
        .iter()
        .filter(|_| outcome.attempts.len() > 1)
    {
        let ended = attempt.error_code.map_or("answered", ErrorCode::code);
        let words = format!(
            "{}: {ended} after {} ms",
            attempt.provider,
            grouped(attempt.ms)
        );
        say("Attempt", Some(words));
    }
    say("Served by", outcome.served_model.clone());
    say("Finish reason", outcome.finish_reason.clone());
    say(
        "Tokens",
        outcome.usage.map(|usage| {
            format!(
                "{} in, {} out",
                grouped(usage.prompt_tokens),
                grouped(usage.completion_tokens)
            )
        }),
    );
    say("Values given back", outcome.reply.restored.map(grouped));
    say("New PHI in the reply", reply_words(&outcome.reply));
    say(
        "Echoes of the request",
        outcome.reply.reply_echoes.map(grouped),
    );
    say(
        "First byte after",
        outcome
            .first_byte_ms
            .map(|ms| format!("{} ms", grouped(ms))),
    );
    say(
        "Last byte after",
        outcome.total_ms.map(|ms| format!("{} ms", grouped(ms))),
    );
    say(
        "Of these, phigate’s own",
        outcome.added_ms.map(|ms| format!("{ms} ms")),
    );
    facts
}

/// Returns the findings of a reply and their treatment; `None` if the reply was not scanned.
fn reply_words(reply: &ReplyFacts) -> Option<String> {
    let types = reply.reply_types.as_ref()?;
    let found = types.iter().map(|(code, count)| {
        let kind = PhiKind::from_code(code);
        let label = kind.map_or(code.as_str(), |kind| kind.label());
        format!("{label} ×{count}")
    });
    let found: Vec<String> = found.collect();
    Some(match &reply.reply_action {
        Some(done) => format!("{}, {done}", found.join(", ")),
        None => "none".to_owned(),
    })
}

/// The findings; beside each, whether the viewer may allow its value.
fn finding_rows(visit: &SignedIn, decision: &Decision, has_original: bool) -> Vec<FindingRow> {
    let may_allow = has_original && visit.may(Right::Retention);
    let kinds = Kinds::of(&visit.account.recognizers);
    let findings = decision.findings.iter().take(FINDINGS).enumerate();
    let row = |(at, finding): (usize, &phigate_types::Finding)| {
        let kind = kinds.find(&finding.kind);
        let is_text = !finding.path.contains('#') && !finding.path.ends_with(".file");
        let allow = may_allow && is_text && kind.is_some_and(PhiKind::may_be_allowed);
        FindingRow {
            allow: allow.then_some(at),
            ..finding_row(finding)
        }
    };
    findings.map(row).collect()
}

fn finding_row(finding: &phigate_types::Finding) -> FindingRow {
    let kind = PhiKind::from_code(&finding.kind);
    FindingRow {
        label: kind.map_or_else(|| finding.kind.to_string(), |kind| kind.label().to_owned()),
        class: kind.map_or("", kind_class),
        path: finding.path.to_string(),
        start: finding.start,
        end: finding.end,
        score: format!("{:.2}", finding.score),
        rule: finding.rule.to_string(),
        allow: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A record of a request that openai was to answer.
    fn read(mut fields: Value, more: Value) -> Record {
        let common = json!({
            "request_id": Uuid::nil(), "time": Timestamp::UNIX_EPOCH, "account": "default",
            "key_id": "abcdefghijkl", "mode": "mask", "stream": false, "phi_detected": true,
            "types": {"ssn": 1}, "findings": [], "unscannable": [], "detector_version": "1",
            "sizes": {"body": 9, "text": 9, "sent": 9}, "attempts": []
        });
        for object in [common, more] {
            for (name, value) in object.as_object().unwrap() {
                fields[name] = value.clone();
            }
        }
        serde_json::from_value(fields).unwrap()
    }

    fn end(provider: &str, status: Option<u16>, error: Option<&str>) -> Value {
        json!({"provider": provider, "model": null, "status": status, "error_code": error, "ms": 4})
    }

    fn headline(action: &str, further: &[(&str, &str)], outcome: Option<Value>) -> String {
        let sent = (action != "blocked").then_some(9);
        let sizes = json!({"body": 9, "text": 9, "sent": sent});
        let decision = json!({"action": action, "provider": "openai", "sizes": sizes});
        let mut records = vec![read(json!({"record": "decision"}), decision)];
        for (at, (action, provider)) in further.iter().enumerate() {
            let attempt = json!({"action": action, "provider": provider, "number": at + 2});
            records.push(read(json!({"record": "attempt"}), attempt));
        }
        records.extend(outcome.map(|outcome| read(json!({"record": "outcome"}), outcome)));
        let decision = decision_of(&records).unwrap();
        sentence(&records, decision, outcome_of(&records))
    }

    #[test]
    fn headline_names_every_recipient() {
        let failed = || end("openai", Some(503), Some("provider_overloaded"));
        let silent = || end("openai", None, Some("provider_timeout"));
        let (ok, bad) = (json!(200), json!(503));
        let ended = |status: &Value, attempts: Vec<Value>| {
            Some(json!({"status": status, "provider_status": status, "attempts": attempts}))
        };
        for (action, further, outcome, words) in [
            (
                "masked",
                vec![("masked", "anthropic")],
                ended(&bad, vec![failed(), end("anthropic", Some(503), None)]),
                "Masked, with 1 finding, sent to openai, which answered 503, then sent to anthropic, which answered 503.",
            ),
            (
                "forwarded",
                vec![("masked", "cellar")],
                ended(&ok, vec![silent(), end("cellar", Some(200), None)]),
                "Forwarded, with 1 finding, sent to openai, which failed (provider_timeout), then masked and sent to cellar, which answered 200.",
            ),
            (
                "masked",
                vec![],
                ended(&ok, vec![end("openai", Some(200), None)]),
                "Masked, with 1 finding, sent to openai, which answered 200.",
            ),
            (
                "masked",
                vec![],
                None,
                "Masked, with 1 finding, sent to openai, not answered yet.",
            ),
            (
                "blocked",
                vec![],
                Some(json!({"status": 403, "provider_status": null})),
                "Blocked, with 1 finding, sent to nobody; the caller got 403.",
            ),
        ] {
            assert_eq!(headline(action, &further, outcome), words);
        }
    }
}
