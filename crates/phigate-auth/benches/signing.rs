//! Cost of a signature: processor time of one call with stored AWS keys, with the hash of the body, canonical request,
//! signature and headers. The first call derives the key of the day, which is kept.
//!
//! Run with `cargo bench -p phigate-auth`. Exits with an error if a call of 4 KB takes more than 30 µs.

use std::time::Instant;

use async_trait::async_trait;
use phigate_auth::{Answer, Ask, Fetch, FetchError, Identity, Scheme, ToSign};

/// Longest time that a signature may take.
const MICROSECONDS_MAX: f64 = 30.0;

const ROUNDS: usize = 5;
const CALLS: u32 = 20_000;

/// Fetcher that is never called: stored keys need no token.
struct Nobody;

#[async_trait]
impl Fetch for Nobody {
    async fn fetch(&self, _: Ask) -> Result<Answer, FetchError> {
        Err(FetchError::Unreachable)
    }
}

fn main() {
    let scheme = Scheme::Aws {
        region: "us-east-1".to_owned(),
        token_url: None,
    };
    let secret = r#"{"access_key_id":"AKIDEXAMPLE","secret_access_key":"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}"#;
    let identity = Identity::new(scheme, Some(secret), None).expect("the keys are fine");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime can be made");
    println!("signature, µs of processor time per call, {ROUNDS} rounds: best, middle");
    for kilobytes in [1, 4, 64] {
        let (best, middle) = runtime.block_on(measure(&identity, kilobytes * 1024));
        println!("{kilobytes:>4} KB {best:>8.1} {middle:>8.1}");
        if kilobytes == 4 && best > MICROSECONDS_MAX {
            eprintln!("more than {MICROSECONDS_MAX} µs");
            std::process::exit(1);
        }
    }
}

/// Best and median round: other programs can only lengthen a round.
async fn measure(identity: &Identity, bytes: usize) -> (f64, f64) {
    let body = vec![b'a'; bytes];
    let uri = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse"
        .parse()
        .expect("it is an address");
    let call = ToSign {
        method: "POST",
        uri: &uri,
        headers: &[("content-type", "application/json")],
        body: &body,
    };
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = Clock::start();
        for _ in 0..CALLS {
            let shown = identity.headers(&Nobody, &call).await;
            std::hint::black_box(shown.expect("stored keys can sign"));
        }
        rounds.push(started.microseconds() / f64::from(CALLS));
    }
    rounds.sort_by(f64::total_cmp);
    (rounds[0], rounds[ROUNDS / 2])
}

/// Processor time if the system reports it (Linux), so that other programs do not count; else the time of day.
struct Clock(Instant, Option<f64>);

impl Clock {
    fn start() -> Self {
        Self(Instant::now(), on_processor())
    }

    fn microseconds(&self) -> f64 {
        let on_processor = on_processor().zip(self.1).map(|(now, then)| now - then);
        on_processor.unwrap_or(self.0.elapsed().as_secs_f64() * 1e6)
    }
}

/// Microseconds of processor time of this process.
fn on_processor() -> Option<f64> {
    let line = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = line.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e3)
}
