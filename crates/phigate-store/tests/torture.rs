//! kill -9 at random moments under load: acknowledged records exist exactly once, and the trail is intact.
//!
//! A short run is part of the tests; `PHIGATE_TORTURE=500` asks for as many kills per engine, `PHIGATE_TORTURE_SEED`
//! for the moments of an earlier run, and `PHIGATE_TORTURE_LOG` names a file to which every batch adds its figures.

use crate::support::postgres::Postgres;
use crate::support::{PATIENCE, Site, account, answered, clean, masked};
use phigate_store::{
    Attempt, MasterKeySource, NewAttempt, NewDecision, Options, Outcome, Record, Target, Vault,
};
use phigate_types::{Action, ErrorCode, ProviderKind};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const STORE: &str = "PHIGATE_TORTURE_STORE";
const KEY: &str = "PHIGATE_TORTURE_KEY";
/// Enough callers that the next group is on its way while one is committed.
const CALLERS: usize = 96;
/// Kills of one store before it is looked through; a new one follows.
const BATCH: u64 = 100;

/// Kind of record that a caller repeats.
#[derive(Clone, Copy)]
enum Kind {
    Clean,
    Masked,
    /// A first provider fails, and the request goes to another.
    FallsBack,
    /// A stream that the provider broke off.
    Aborted,
    /// A text that was only looked at.
    Scanned,
}

const KINDS: [Kind; 6] = [
    Kind::Clean,
    Kind::Masked,
    Kind::FallsBack,
    Kind::Aborted,
    Kind::Scanned,
    Kind::Masked,
];

impl Kind {
    fn decision(self, account: &str) -> NewDecision {
        let mut new = match self {
            Self::Clean | Self::Scanned => clean(account),
            Self::Masked | Self::FallsBack | Self::Aborted => masked(account),
        };
        if matches!(self, Self::Scanned) {
            new.decision.action = Action::SCANNED;
            new.decision.door = None;
        }
        new.decision.stream = matches!(self, Self::Aborted);
        new
    }

    fn outcome(self, request: Uuid) -> Outcome {
        let mut outcome = answered(request);
        if matches!(self, Self::Aborted) {
            outcome.status = Some(502);
            outcome.error_code = Some(ErrorCode::ProviderError);
        }
        outcome
    }
}

fn attempt(account: &str, new: &NewDecision) -> NewAttempt {
    let decision = &new.decision;
    NewAttempt {
        account_id: account.to_owned(),
        attempt: Attempt {
            request_id: decision.request_id,
            time: decision.time,
            account: decision.account.clone(),
            key_id: decision.key_id.clone(),
            number: 2,
            action: decision.action,
            model: decision.model.clone(),
            family: Some(ProviderKind::Anthropic),
            provider: "anthropic".to_owned(),
            terms: decision.terms.clone(),
            sizes: decision.sizes,
            sealed: None,
        },
        sent: new.sent.clone(),
    }
}

/// Opens the store named by the environment and writes until it is killed. Each line is an acknowledgement: `D` a
/// decision, `A` a further attempt, `O` an outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests below, in a process of its own"]
async fn writer_in_a_process_of_its_own() {
    let store = std::env::var(STORE).unwrap();
    let key = MasterKeySource::File(PathBuf::from(std::env::var(KEY).unwrap()));
    let target = if store.contains("://") {
        Target::Url(store)
    } else {
        Target::Folder(store.into())
    };
    let options = Options {
        serve: true,
        ..Options::new(target, key)
    };
    let vault = Arc::new(Vault::open(options).await.unwrap());
    let account = account(&vault).await;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (vault, account) = (vault.clone(), account.clone());
        callers.spawn(async move {
            loop {
                live(&vault, &account, KINDS[caller % KINDS.len()]).await;
            }
        });
    }
    callers.join_all().await;
}

/// One request, with all its records.
async fn live(vault: &Vault, account: &str, kind: Kind) {
    let tell = |what: &str, request: Uuid| {
        let mut out = std::io::stdout().lock();
        // One write per line, so that a kill cannot mix two.
        out.write_all(format!("\n{what} {request}\n").as_bytes())
            .unwrap();
        out.flush().unwrap();
    };
    let new = kind.decision(account);
    let (request, further) = (new.decision.request_id, attempt(account, &new));
    vault.trail.record_decision(new, PATIENCE).await.unwrap();
    tell("D", request);
    if matches!(kind, Kind::FallsBack) {
        vault.trail.record_attempt(further, PATIENCE).await.unwrap();
        tell("A", request);
    }
    let outcome = kind.outcome(request);
    let recorded = vault.trail.record_outcome(account, &outcome, PATIENCE);
    recorded.await.unwrap();
    tell("O", request);
}

fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Moment at which a writer is killed: a pause after its first acknowledgement of this kind.
struct Moment {
    /// The letter of a line: a decision, a further attempt or an outcome.
    after: &'static str,
    pause: Duration,
}

/// Reproducible moments for a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    /// Chooses a moment: half of the kills at the first decisions of a process, half while attempts and outcomes are
    /// under way; and half within milliseconds, half spread over many commits.
    fn moment(&mut self) -> Moment {
        let after = ["D", "D", "A", "O"][usize::try_from(self.roll() % 4).unwrap_or_default()];
        let most = [4_000, 60_000][usize::try_from(self.roll() % 2).unwrap_or_default()];
        Moment {
            after,
            pause: Duration::from_micros(self.roll() % most),
        }
    }
}

/// Acknowledgements that writers received, by request.
#[derive(Default)]
struct Acknowledged {
    decisions: Vec<Uuid>,
    attempts: Vec<Uuid>,
    outcomes: Vec<Uuid>,
}

impl Acknowledged {
    /// Number of acknowledgements, by the letter of their lines.
    fn count(&self, letter: &str) -> usize {
        match letter {
            "D" => self.decisions.len(),
            "A" => self.attempts.len(),
            _ => self.outcomes.len(),
        }
    }

    fn take(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("D", id)) => self.decisions.extend(Uuid::try_parse(id)),
            Some(("A", id)) => self.attempts.extend(Uuid::try_parse(id)),
            Some(("O", id)) => self.outcomes.extend(Uuid::try_parse(id)),
            _ => {}
        }
    }
}

/// Starts a writer and kills it after a while. Whether it was killed with work under way: on a busy machine it may have
/// given up by itself.
fn kill_one(store: &str, key: &std::path::Path, moment: &Moment, told: &mut Acknowledged) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "torture::writer_in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(STORE, store)
        .env(KEY, key)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let before = told.count(moment.after);
    // Only a kill with work under way counts, so an acknowledgement is waited for.
    for line in lines.by_ref() {
        let line = line.unwrap();
        told.take(&line);
        if told.count(moment.after) > before {
            break;
        }
    }
    let is_useful = told.count(moment.after) > before;
    std::thread::sleep(moment.pause);
    child.kill().unwrap();
    lines
        .map_while(Result::ok)
        .for_each(|line| told.take(&line));
    child.wait().unwrap();
    is_useful
}

/// Records of a request in the trail.
#[derive(Default)]
struct Found {
    decisions: usize,
    attempts: usize,
    outcomes: Vec<Option<u16>>,
}

async fn read_trail(vault: &Vault, account: &str) -> HashMap<Uuid, Found> {
    let mut found: HashMap<Uuid, Found> = HashMap::new();
    let filter = phigate_store::Filter::default();
    let export = vault.trail.audit_export(account, &filter, "cli").await;
    let mut export = export.unwrap();
    while let Some(line) = export.next().await.unwrap() {
        match line.record {
            Some(Record::Decision(one)) => found.entry(one.request_id).or_default().decisions += 1,
            Some(Record::Attempt(one)) => found.entry(one.request_id).or_default().attempts += 1,
            Some(Record::Outcome(one)) => {
                let request = found.entry(one.request_id).or_default();
                request.outcomes.push(one.status);
            }
            Some(Record::Admin(_) | Record::Alert(_)) | None => {}
        }
    }
    found
}

/// Checks after the kills, with one server start, that everything is accounted for. Returns the number of acknowledged
/// decisions, attempts and outcomes, of requests that were cut off, and of written records without an acknowledgement.
async fn check(site: Site, told: Acknowledged) -> [usize; 5] {
    let vault = site.serve().await;
    let account = account(&vault).await;
    let mut found = HashMap::new();
    for _ in 0..30 {
        vault.flush().await.unwrap();
        found = read_trail(&vault, &account).await;
        // On PostgreSQL the dead process is known to be dead once its lease has run out. Looking often would cost more
        // than all the kills.
        if found.values().all(|request| !request.outcomes.is_empty()) {
            break;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let lost = |ids: &[Uuid], is_there: fn(&Found) -> bool| {
        let missing = ids
            .iter()
            .filter(|id| !found.get(*id).is_some_and(is_there));
        missing.count()
    };
    assert_eq!(lost(&told.decisions, |one| one.decisions == 1), 0);
    assert_eq!(lost(&told.attempts, |one| one.attempts == 1), 0);
    // An acknowledged outcome is kept; the kill does not replace it.
    assert_eq!(lost(&told.outcomes, |one| one.outcomes[0].is_some()), 0);
    for (request, one) in &found {
        assert_eq!(
            (one.decisions, one.outcomes.len()),
            (1, 1),
            "request {request} has one decision and one outcome"
        );
        assert!(one.attempts < 2, "request {request} has its attempt twice");
    }
    let report = vault.trail.verify(None, &[], |_| {}).await.unwrap();
    assert!(report.is_intact(), "{report:?}");
    vault.close(PATIENCE).await.unwrap();
    let cut = found.values().filter(|one| one.outcomes[0].is_none());
    let [decisions, attempts, outcomes] = ["D", "A", "O"].map(|letter| told.count(letter));
    let untold = found.len() - decisions;
    [decisions, attempts, outcomes, cut.count(), untold]
}

/// Kills writers of one store this many times, and notes their acknowledgements.
fn kill_many(site: &Site, store: &str, kills: u64, dice: &mut Dice) -> Acknowledged {
    let (mut told, mut useless) = (Acknowledged::default(), 0);
    for _ in 0..kills {
        while !kill_one(store, &site.key_file(), &dice.moment(), &mut told) {
            useless += 1;
            assert!(useless <= kills, "writers end before they are killed");
        }
    }
    told
}

/// Kills a writer again and again, on a new store for every batch.
async fn torture(engine: &'static str, mut new_site: impl FnMut(u64) -> (Site, String)) {
    let kills = setting("PHIGATE_TORTURE", 6);
    let seed = setting("PHIGATE_TORTURE_SEED", 0x9e37_79b9);
    let mut dice = Dice(seed | 1);
    let (mut done, mut sums) = (0, [0; 5]);
    // A store is looked through while writers of the next one are killed: PostgreSQL's leases take their time to run out.
    let mut checks = tokio::task::JoinSet::new();
    while done < kills {
        let (site, store) = new_site(done / BATCH);
        crate::support::close(site.open().await).await;
        let batch = BATCH.min(kills - done);
        let told = kill_many(&site, &store, batch, &mut dice);
        done += batch;
        while let Some(counts) = checks.join_next().await {
            add(&mut sums, counts.unwrap());
        }
        checks.spawn(async move {
            let counts = check(site, told).await;
            log(engine, seed, batch, &counts);
            counts
        });
    }
    for counts in checks.join_all().await {
        add(&mut sums, counts);
    }
    let [decisions, attempts, outcomes, cut, untold] = sums;
    println!(
        "{engine}: {kills} kills (seed {seed}), {decisions} decisions, {attempts} further attempts and {outcomes} \
         outcomes acknowledged, {cut} requests cut off and closed as interrupted, {untold} decisions written but not \
         yet acknowledged; 0 lost, 0 doubled, trail verified"
    );
}

fn add(sums: &mut [usize; 5], counts: [usize; 5]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Adds the figures of a batch that was found whole to the file that the environment names.
fn log(engine: &str, seed: u64, kills: u64, counts: &[usize]) {
    let Ok(path) = std::env::var("PHIGATE_TORTURE_LOG") else {
        return;
    };
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.append(true).create(true).open(path).unwrap();
    let counts: String = counts.iter().map(|count| format!("\t{count}")).collect();
    let now = jiff::Timestamp::now();
    writeln!(file, "{now:.0}\t{engine}\t{seed}\t{kills}{counts}").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_nothing_acknowledged_on_sqlite() {
    torture("SQLite", |_| {
        let site = Site::sqlite();
        let store = site.data().to_str().unwrap().to_owned();
        (site, store)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_nothing_acknowledged_on_postgresql() {
    let Some(server) = Postgres::start() else {
        return;
    };
    torture("PostgreSQL", |batch| {
        let name = format!("torture{batch}");
        let site = Site::postgres(&server, &name);
        (site, server.url(&name))
    })
    .await;
}
