//! Fills a store with invented records, for timing the audit page.
//!
//! `fill_audit FOLDER COUNT [DAYS]` adds COUNT requests of the last DAYS days (90 unless given) to the account
//! `default`. If `PHIGATE_DATABASE_URL` is set, they go there, and the folder only holds the key.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phigate_store::{
    Decision, Identifier, MasterKeySource, NewDecision, Options, Outcome, Sizes, Target, Usage,
    Vault,
};
use phigate_types::{Action, ErrorCode, Mode, ProviderKind};
use uuid::Uuid;

const MODELS: [(&str, ProviderKind); 5] = [
    // Model, family.
    ("gpt-4o", ProviderKind::OpenAi),
    ("gpt-5.2", ProviderKind::OpenAi),
    ("claude-opus-4-5", ProviderKind::Anthropic),
    ("gemini-2.5-flash", ProviderKind::Google),
    ("gemini-2.5-pro", ProviderKind::Google),
];
const KINDS: [&str; 8] = [
    "name",
    "dob",
    "mrn",
    "phone",
    "ssn",
    "email",
    "address",
    "medicare_id",
];
/// Numbers of patients, of which a request with PHI has some.
const PATIENTS: usize = 1_000_000;
/// Requests per failure.
const RARELY: usize = 20_000;
const WAIT: Duration = Duration::from_secs(60);
const CLOSING: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: fill_audit FOLDER COUNT [DAYS]".into());
    };
    let span = Span {
        count: count.parse()?,
        days: arguments.next().map_or(Ok(90.0), |days| days.parse())?,
    };
    let folder = PathBuf::from(folder);
    let key_file = MasterKeySource::File(folder.with_extension("key"));
    let url = std::env::var("PHIGATE_DATABASE_URL");
    let target = url.map_or(Target::Folder(folder), Target::Url);
    let vault = Vault::open(Options::new(target, key_file)).await?;
    let account = vault.accounts.find_account(None).await?;
    let mut keys = Vec::new();
    for name in ["intake form", "discharge letters", "night batch"] {
        keys.push(
            vault
                .access
                .create_api_key(&account.id, name, None, "fill")
                .await?
                .id,
        );
    }
    let (count, started) = (span.count, Instant::now());
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for number in 0..count {
        let (decision, outcome) = request(&mut dice, number, span, &account.name, &keys);
        let identifiers = decision.types.keys().map(|_| Identifier {
            kind: "mrn",
            value: dice.below(PATIENTS).to_string().into(),
        });
        let new = NewDecision {
            account_id: account.id.clone(),
            identifiers: identifiers.collect(),
            decision,
            original: None,
            sent: None,
            tokens: Vec::new(),
        };
        vault.trail.record_decision_lazily(new, WAIT).await?;
        vault.trail.queue_outcome(&account.id, &outcome);
        if number % 1024 == 0 {
            vault.flush().await?;
        }
    }
    vault.close(CLOSING).await?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{count} requests in {seconds:.0} s, {:.0} records per second",
        2.0 * count as f64 / seconds
    );
    Ok(())
}

/// Number of requests, and of the days they are spread over.
#[derive(Clone, Copy)]
struct Span {
    count: u64,
    days: f64,
}

/// Request `number`: the later, the nearer to now.
fn request(
    dice: &mut Dice,
    number: u64,
    span: Span,
    account: &str,
    keys: &[String],
) -> (Decision, Outcome) {
    let share = (number as f64 + 1.0) / span.count as f64;
    let seconds_ago = span.days * 86_400.0 * (1.0 - share);
    let time = Timestamp::now() - SignedDuration::from_secs(seconds_ago as i64);
    let (model, family) = MODELS[dice.below(5)];
    let phi = dice.below(100) < 35;
    let types: BTreeMap<String, u32> = if phi {
        (0..1 + dice.below(3))
            .map(|_| (KINDS[dice.below(8)].to_owned(), 1))
            .collect()
    } else {
        BTreeMap::new()
    };
    // The account went from flag to mask, and tried block for a while.
    let mode = match number * 100 / span.count {
        0..30 => Mode::FLAG,
        30..35 => Mode::BLOCK,
        _ => Mode::MASK,
    };
    let action = match phi {
        true => mode.action,
        false if dice.below(200) == 0 => Action::REFUSED,
        false => Action::FORWARDED,
    };
    let request_id = Uuid::now_v7();
    let was_sent = action == Action::FORWARDED || action == Action::MASKED;
    let body = 400 + dice.below(6000) as u64;
    let decision = Decision {
        request_id,
        time,
        account: account.to_owned(),
        key_id: keys[dice.below(keys.len())].clone(),
        subject: None,
        mode,
        action,
        model: Some(model.to_owned()),
        family: Some(family),
        provider: Some(family.code().to_owned()),
        stream: dice.below(3) == 0,
        phi_detected: phi,
        types,
        allowed: BTreeMap::new(),
        findings: Vec::new(),
        unscannable: Vec::new(),
        sizes: Sizes {
            body,
            text: body - 200,
            sent: was_sent.then_some(body),
        },
        detector_version: "invented".to_owned(),
        // Embeddings were asked for during a hundredth of the time.
        door: Some(match number * 100 / span.count {
            10 => "embeddings".into(),
            _ => "chat".into(),
        }),
        policy: None,
        conversation: None,
        terms: phigate_store::ProviderTerms::default(),
        error_code: None,
        sealed: None,
    };
    let outcome = outcome(dice, &decision);
    (decision, outcome)
}

/// Outcome of a request: refused at once, or answered after a while.
fn outcome(dice: &mut Dice, decision: &Decision) -> Outcome {
    let was_sent = decision.sizes.sent.is_some();
    let failed = was_sent && dice.below(RARELY) == 0;
    let took_ms = 300 + dice.below(2500) as u64;
    let prompt_tokens = decision.sizes.body / 4;
    let usage = Usage {
        prompt_tokens,
        completion_tokens: 90,
        total_tokens: prompt_tokens + 90,
    };
    Outcome {
        request_id: decision.request_id,
        time: decision.time,
        account: decision.account.clone(),
        key_id: Some(decision.key_id.clone()),
        status: Some(match decision.action {
            action if action == Action::BLOCKED => 403,
            action if action == Action::REFUSED => 400,
            _ if failed => 504,
            _ => 200,
        }),
        provider_status: was_sent.then_some(200),
        served_model: decision.model.clone().filter(|_| was_sent),
        finish_reason: was_sent.then(|| "stop".to_owned()),
        usage: was_sent.then_some(usage),
        error_code: failed.then_some(ErrorCode::ProviderTimeout),
        first_byte_ms: was_sent.then_some(took_ms / 3),
        total_ms: Some(if was_sent { took_ms } else { 1 }),
        added_ms: None,
        attempts: Vec::new(),
        reply: phigate_store::ReplyFacts::default(),
        sealed: None,
    }
}

/// Reproducible random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}
