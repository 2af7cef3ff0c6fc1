//! Cost of giving masked values back: processor time for masking a note with tokens instead of placeholders, and
//! for each event of a stream that goes through the stage.
//!
//! Run with `cargo bench -p phigate-core`. The keyed hash behind a token is the store's, and is not part of this.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use phi_detect::Detector;
use phigate_core::doors::CHAT;
use phigate_core::protect::{self, Outcome, Policy, Scanner};
use phigate_core::reply::{Issued, Mint, ReplyRules};
use phigate_core::request::{Request, RequestLimits};
use phigate_types::Mode;

const ROUNDS: usize = 7;
const CALLS: u32 = 200;

/// Events of the stream; in one of sixteen a token begins that ends in the next.
const EVENTS: usize = 64;

static POLICY: LazyLock<Policy> = LazyLock::new(|| Policy::uniform(Mode::MASK));

fn main() {
    let scanner = Scanner::new(Detector::default());
    let request = request();
    println!("µs of processor time, {ROUNDS} rounds: best, middle");
    report("a note of 4 KB, scanned", || scan(&scanner, &request));
    report("the same, masked with placeholders", || {
        protect::apply(&POLICY, &scanner, scan(&scanner, &request))
    });
    report("the same, masked with tokens", || mask(&scanner, &request));
    let (_, issued) = mask(&scanner, &request);
    let stream = stream(&issued);
    let rules = Arc::new(ReplyRules {
        issued,
        ..ReplyRules::default()
    });
    report("a stream of 64 events, restored", || {
        let mut stage = CHAT.reply_stream(Arc::clone(&rules), 1 << 20);
        let mut out = Vec::new();
        stage.push(stream.as_bytes(), &mut out).expect("it is read");
        assert_eq!(stage.tally().restored, EVENTS as u64 / 16);
        out
    });
}

fn request() -> Vec<u8> {
    let note: String = (0..14)
        .map(|number| {
            format!(
                "Patient: Maria Delgado  MRN: 00{number}4519  DOB: 04/1{}/1957\\nHer daughter, Lucia Whitfield, helps \
                 with medication and can be reached at 555-010-{}. She denies chest pain, fever or cough, and weight \
                 has risen since furosemide was stopped. The lungs have bibasilar crackles.\\n",
                number % 10,
                4100 + number
            )
        })
        .collect();
    format!(r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"{note}"}}]}}"#)
        .into_bytes()
}

fn scan(scanner: &Scanner, body: &[u8]) -> protect::Scanned {
    let request = Request::read(CHAT.form, body.to_vec(), &RequestLimits::default());
    protect::scan(scanner, request.expect("it is a request"))
}

fn mask(scanner: &Scanner, body: &[u8]) -> (Outcome, Issued) {
    let scanned = scan(scanner, body);
    let code_of = |kind: &str, value: &str| {
        let mut hasher = DefaultHasher::new();
        (kind, value).hash(&mut hasher);
        let mut code = [0; 16];
        code[..8].copy_from_slice(&hasher.finish().to_be_bytes());
        code
    };
    let mut mint = Mint::new(&code_of, scanned.request().document());
    let mut token_of = |kind, value: &str| mint.token(kind, value);
    let outcome = protect::apply_with(&POLICY, scanner, scanned, Some(&mut token_of));
    (outcome, mint.into_issued())
}

fn stream(issued: &Issued) -> String {
    let token = issued.iter().next().expect("something was masked").0;
    let (head, tail) = token.split_at(token.len() / 2);
    let text = |number: usize| match number % 16 {
        8 => head,
        9 => tail,
        _ => "word ",
    };
    let event = |number| {
        format!(
            "data: {{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4o\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}},\"finish_reason\":null}}]}}\n\n",
            text(number)
        )
    };
    (0..EVENTS).map(event).collect()
}

/// Prints the best round and the middle one: other programs can only make a round longer.
fn report<T>(name: &str, mut call: impl FnMut() -> T) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (started, before) = (Instant::now(), on_processor());
            for _ in 0..CALLS {
                std::hint::black_box(call());
            }
            let took = on_processor().zip(before).map(|(now, then)| now - then);
            took.unwrap_or(started.elapsed().as_secs_f64() * 1e6) / f64::from(CALLS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:<36}{:>9.1}{:>9.1}", rounds[0], rounds[ROUNDS / 2]);
}

/// Microseconds that this process has spent on a processor, if the system reports it (Linux).
fn on_processor() -> Option<f64> {
    let line = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = line.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e3)
}
