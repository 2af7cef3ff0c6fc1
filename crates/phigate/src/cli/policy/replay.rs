//! `phigate policy try`: past requests under other words.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context, bail};
use jiff::{SignedDuration, Timestamp};
use phigate_core::doors::{CHAT, Door};
use phigate_core::protect::{Scanner, scan};
use phigate_core::request::Request;
use phigate_gateway::documents::Readers;
use phigate_gateway::{Kinds, changed_policy, read_words, scanner_of_all};
use phigate_store::{Account, Decision, PolicyLevel, PolicyWords, SecretBytes, WordChanges};
use phigate_types::{Documents, Finding, Mode, PhiAgreement, Policy, Word};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::store::Session;
use crate::cli::table::Table;

/// Words to try, by level.
pub(super) struct Tried {
    account: WordChanges,
    groups: BTreeMap<String, WordChanges>,
    keys: BTreeMap<String, WordChanges>,
}

impl Tried {
    /// Reads words of the account, or a file.
    pub(super) fn read(words: &str) -> anyhow::Result<Self> {
        if !words.ends_with(".toml") {
            return Ok(Self {
                account: read_words(words).context("cannot read the words")?,
                groups: BTreeMap::new(),
                keys: BTreeMap::new(),
            });
        }
        let text =
            std::fs::read_to_string(words).with_context(|| format!("cannot read {words}"))?;
        Self::from_toml(&text).with_context(|| format!("{words} is not a policy"))
    }

    fn from_toml(text: &str) -> anyhow::Result<Self> {
        let mut file: toml::Table = text.parse()?;
        let Some(toml::Value::Table(mut policy)) = file.remove("policy") else {
            bail!("the table [policy] is missing");
        };
        let mut tried = Self {
            account: WordChanges::new(),
            groups: BTreeMap::new(),
            keys: BTreeMap::new(),
        };
        for (name, of) in [("groups", &mut tried.groups), ("keys", &mut tried.keys)] {
            for (id, words) in tables(policy.remove(name), name)? {
                of.insert(id.clone(), words_of(words, &format!("policy.{name}.{id}"))?);
            }
        }
        tried.account = words_of(toml::Value::Table(policy), "policy")?;
        Ok(tried)
    }

    /// The words of all levels, for the record.
    fn text(&self) -> String {
        let own = [("account".to_owned(), &self.account)].into_iter();
        let groups = self.groups.iter();
        let groups = groups.map(|(name, words)| (format!("group:{name}"), words));
        let keys = self.keys.iter();
        let keys = keys.map(|(id, words)| (format!("key:{id}"), words));
        let levels = own.chain(groups).chain(keys);
        let said = levels.filter(|(_, words)| !words.is_empty());
        let said = said.map(|(level, words)| {
            let words = words.iter();
            let words = words.map(|(kind, word)| (kind, word.map_or("inherit", Word::code)));
            let words: Vec<String> = words.map(|(kind, word)| format!("{kind}={word}")).collect();
            format!("{level} {}", words.join(","))
        });
        said.collect::<Vec<_>>().join("; ")
    }

    /// The words after the changes.
    fn over(&self, words: &PolicyWords, account: &Account) -> anyhow::Result<PolicyWords> {
        let own = (PolicyLevel::Account, &self.account);
        let groups = self.groups.iter();
        let groups = groups.map(|(name, words)| (PolicyLevel::Group(name), words));
        let keys = self.keys.iter();
        let keys = keys.map(|(id, words)| (PolicyLevel::Key(id), words));
        let (detection, kinds) = (&account.settings.detection, Kinds::of(&account.recognizers));
        let mut after = words.clone();
        for (level, changes) in [own].into_iter().chain(groups).chain(keys) {
            after = changed_policy(&after, (detection, &kinds), level, changes)?.0;
        }
        Ok(after)
    }
}

fn tables(value: Option<toml::Value>, name: &str) -> anyhow::Result<toml::Table> {
    match value {
        None => Ok(toml::Table::new()),
        Some(toml::Value::Table(tables)) => Ok(tables),
        Some(_) => bail!("policy.{name} is not a table"),
    }
}

/// The words of a table such as `ssn = "block"`.
fn words_of(value: toml::Value, place: &str) -> anyhow::Result<WordChanges> {
    let toml::Value::Table(words) = value else {
        bail!("{place} is not a table");
    };
    let mut changes = WordChanges::new();
    for (kind, action) in &words {
        let action = action.as_str();
        let action = action.with_context(|| format!("{place}.{kind} is not a text"))?;
        let word = read_words(&format!("{kind}={action}"));
        changes.extend(word.with_context(|| format!("cannot read {place}"))?);
    }
    Ok(changes)
}

/// Findings that share kind, actions and key.
#[derive(Default)]
struct Row {
    count: usize,
    requests: Vec<Uuid>,
}

/// Kind, old action, new action, key.
type Place = (Cow<'static, str>, &'static str, &'static str, String);

pub(super) async fn run(
    session: &Session,
    tried: &Tried,
    since: SignedDuration,
    as_json: bool,
) -> anyhow::Result<()> {
    let account = session.account().await?;
    let accounts = &session.vault.accounts;
    let words = accounts.policy(&account.id).await?;
    let account = accounts.account(&account.id).await?;
    let after = tried.over(&words, &account)?;
    // Kinds that are off now may be on under the other words.
    let scanner = scanner_of_all(&account);
    let scanner = scanner.map_err(|refusal| anyhow::anyhow!(refusal.0))?;
    let since = Timestamp::now()
        .checked_sub(since)
        .context("too long ago")?;
    let mut rows: BTreeMap<Place, Row> = BTreeMap::new();
    let readers = Readers::of_this_program(1);
    let reads = account.settings.documents == Documents::Text;
    let visit = |decision: &Decision, original: &SecretBytes| {
        let policies = [&words, &after].map(|words| policy_of(words, &account, decision));
        let Some(request) = past_request(decision, original) else {
            return;
        };
        let request = match reads {
            true => readers.read_of(request),
            false => request,
        };
        count(&scanner, &policies, decision, request, &mut rows);
    };
    let trail = &session.vault.trail;
    let text = tried.text();
    let said = (text.as_str(), session.actor());
    phigate_store::replay(trail, &account.id, since, said, visit).await?;
    print(&rows, as_json);
    Ok(())
}

/// The policy for a past request: that of its key and provider, as they are now.
fn policy_of(words: &PolicyWords, account: &Account, decision: &Decision) -> Policy {
    let key = words.at(PolicyLevel::Key(&decision.key_id));
    let policy = key.or_else(|| words.at(PolicyLevel::Account));
    let policy = policy.unwrap_or_else(|| Policy::uniform(account.mode));
    let name = decision.provider.as_deref().unwrap_or_default();
    let provider = account.providers.get(name);
    let agreed = provider.map(|provider| provider.config.phi_now(Timestamp::now()));
    let is_masked = agreed == Some(PhiAgreement::Masked);
    policy.at_provider(name, is_masked.then_some(Mode::MASK))
}

/// Reads a past request as it came.
fn past_request(decision: &Decision, original: &SecretBytes) -> Option<Request> {
    let door = decision.door.as_deref().and_then(Door::with_id);
    let form = door.unwrap_or(&CHAT).form;
    Request::read_again(form, original.expose().to_vec()).ok()
}

/// Adds the findings of a past request.
fn count(
    scanner: &Scanner,
    [old, new]: &[Policy; 2],
    decision: &Decision,
    request: Request,
    rows: &mut BTreeMap<Place, Row>,
) {
    let scanned = scan(scanner, request);
    for (finding, later) in scanned
        .report()
        .ruled(old)
        .iter()
        .zip(scanned.report().ruled(new))
    {
        let word = |policy: &Policy, found: &Finding| match policy.is_off(&found.kind) {
            true => Word::Off,
            false => Word::Treat(found.action.unwrap_or_default()),
        };
        let (before, after) = (word(old, finding), word(new, &later));
        if (before, after) == (Word::Off, Word::Off) {
            continue;
        }
        let key = decision.key_id.clone();
        let place = (finding.kind.clone(), before.code(), after.code(), key);
        let row = rows.entry(place).or_default();
        row.count += 1;
        if row.requests.last() != Some(&decision.request_id) {
            row.requests.push(decision.request_id);
        }
    }
}

fn print(rows: &BTreeMap<Place, Row>, as_json: bool) {
    if as_json {
        let told = rows.iter().map(|((kind, old, new, key), row)| {
            json!({
                "kind": kind,
                "old": old,
                "new": new,
                "key": key,
                "count": row.count,
                "requests": row.requests,
            })
        });
        let told: Vec<Value> = told.collect();
        println!("{:#}", json!({ "rows": told }));
        return;
    }
    let mut table = Table::new(&["KIND", "NOW", "THEN", "KEY", "FINDINGS", "REQUESTS"]);
    for ((kind, old, new, key), row) in rows {
        let requests = row.requests.len().to_string();
        let words = [kind.as_ref(), *old, *new].map(str::to_owned);
        let [kind, old, new] = words;
        table.row([kind, old, new, key.clone(), row.count.to_string(), requests]);
    }
    table.print("no past request with PHI and its content is left from that time");
}
