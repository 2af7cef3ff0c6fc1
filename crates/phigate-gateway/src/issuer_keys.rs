//! Keys and addresses of identity providers: the issuers of callers' tokens, and those that people sign in with.
//!
//! Keys are cached. One caller reads them again, at most four times a minute per issuer, when a token names a
//! key that is not among them, or names none and is signed by none of them; meanwhile tokens with known keys are served. An issuer that is down changes nothing for
//! known keys.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use phigate_auth::{Answer, Ask, Fetch, FetchError, KeySet, Place, Token};
use serde_json::Value;

use crate::discovery::{Discovery, DiscoveryError};

/// Reads of an issuer's keys in a minute.
const READS_PER_MINUTE: usize = 4;
const MINUTE: Duration = Duration::from_secs(60);
/// Age at which keys are read again, so that a withdrawn key is forgotten.
const KEYS_AGE: Duration = Duration::from_secs(3600);
/// Largest key set in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Reads of an issuer's addresses in a minute, which only logins cause.
const LOOKS_PER_MINUTE: usize = 30;
/// Age at which the addresses are read again.
const DISCOVERY_AGE: Duration = Duration::from_secs(600);
/// Issuers whose keys are kept at most.
const ISSUERS_MAX: usize = 4096;

/// Keys of the issuers.
pub(crate) struct IssuerKeys {
    fetch: Arc<dyn Fetch>,
    issuers: Mutex<HashMap<String, Arc<Issuer>>>,
}

/// Keys of one issuer.
#[derive(Default)]
struct Issuer {
    state: Mutex<State>,
    /// Held by the caller that reads the keys.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    keys: Option<Arc<KeySet>>,
    /// Time of the last successful read.
    read: Option<Instant>,
    reads: Reads,
    discovery: Option<(Instant, Arc<Discovery>)>,
    looks: Reads,
}

/// Times of the reads of the last minute.
#[derive(Default)]
struct Reads(VecDeque<Instant>);

impl Reads {
    /// Counts a read, unless there were too many in the last minute.
    fn may(&mut self, per_minute: usize) -> bool {
        let is_over = |read: &Instant| read.elapsed() >= MINUTE;
        while self.0.front().is_some_and(is_over) {
            self.0.pop_front();
        }
        let may = self.0.len() < per_minute;
        if may {
            self.0.push_back(Instant::now());
        }
        may
    }
}

impl Issuer {
    fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The keys, if they have the key that a token names.
    fn keys_of(&self, token: &Token) -> Option<Arc<KeySet>> {
        let keys = self.with_state(|state| state.keys.clone());
        keys.filter(|keys| keys.has_key_of(token))
    }

    /// Whether the keys are old, and may be read again now.
    fn is_due(&self) -> bool {
        self.with_state(|state| state.read.is_none_or(|read| read.elapsed() > KEYS_AGE))
    }

    fn may_read(&self) -> bool {
        self.with_state(|state| state.reads.may(READS_PER_MINUTE))
    }

    /// The addresses, unless they are old.
    fn known(&self) -> Option<Arc<Discovery>> {
        let known = self.with_state(|state| state.discovery.clone());
        let (read, discovery) = known?;
        (read.elapsed() < DISCOVERY_AGE).then_some(discovery)
    }
}

impl IssuerKeys {
    /// No keys yet; they are read with the client of token endpoints, by its rules about addresses.
    pub(crate) fn new(fetch: Arc<dyn Fetch>) -> Self {
        Self {
            fetch,
            issuers: Mutex::default(),
        }
    }

    fn issuer(&self, address: &str) -> Arc<Issuer> {
        let mut issuers = self.issuers.lock().unwrap_or_else(PoisonError::into_inner);
        if issuers.len() >= ISSUERS_MAX && !issuers.contains_key(address) {
            issuers.clear();
        }
        Arc::clone(issuers.entry(address.to_owned()).or_default())
    }

    /// The keys of an issuer for a token; `None` if it has no such key, or cannot be read.
    pub(crate) async fn keys(&self, address: &str, token: &Token) -> Option<Arc<KeySet>> {
        let issuer = self.issuer(address);
        if let Some(keys) = issuer.keys_of(token) {
            // One caller renews old keys; the others go on with them.
            if issuer.is_due()
                && let Ok(_turn) = issuer.turn.try_lock()
                && issuer.may_read()
            {
                self.read(address, &issuer).await;
                return issuer.keys_of(token);
            }
            return Some(keys);
        }
        let _turn = issuer.turn.lock().await;
        // Another caller may have read them meanwhile.
        if let Some(keys) = issuer.keys_of(token) {
            return Some(keys);
        }
        if issuer.may_read() {
            self.read(address, &issuer).await;
        }
        match token.names_key() {
            true => issuer.keys_of(token),
            // Which key is missing is not known: the signature is wrong for each of these.
            false => issuer.with_state(|state| state.keys.clone()),
        }
    }

    /// Reads the keys of an issuer. Without an answer the old ones stay.
    async fn read(&self, address: &str, issuer: &Issuer) {
        match self.fetch_keys(address).await {
            Some(keys) => issuer.with_state(|state| {
                state.keys = Some(Arc::new(keys));
                state.read = Some(Instant::now());
            }),
            None => tracing::warn!("the keys of a token issuer could not be read"),
        }
    }

    async fn fetch_keys(&self, address: &str) -> Option<KeySet> {
        let (document, _) = self.fetch_document(address).await.ok()?;
        let keys = Discovery::keys(&document, address).ok()?;
        self.fetch_key_set(&keys).await.ok()
    }

    /// The addresses of an identity provider, read at most every ten minutes while it answers.
    pub(crate) async fn discovery(&self, address: &str) -> Result<Arc<Discovery>, DiscoveryError> {
        let issuer = self.issuer(address);
        if let Some(discovery) = issuer.known() {
            return Ok(discovery);
        }
        let _turn = issuer.turn.lock().await;
        if let Some(discovery) = issuer.known() {
            return Ok(discovery);
        }
        if !issuer.with_state(|state| state.looks.may(LOOKS_PER_MINUTE)) {
            return Err(DiscoveryError::Often);
        }
        let discovery = Arc::new(self.fetch_discovery(address).await?);
        issuer.with_state(|state| {
            state.discovery = Some((Instant::now(), Arc::clone(&discovery)));
        });
        Ok(discovery)
    }

    /// Forgets the addresses of an identity provider, after one of them failed.
    pub(crate) fn forget_discovery(&self, address: &str) {
        self.issuer(address)
            .with_state(|state| state.discovery = None);
    }

    /// Reads the addresses of an identity provider now.
    pub(crate) async fn fetch_discovery(&self, address: &str) -> Result<Discovery, DiscoveryError> {
        let (document, date) = self.fetch_document(address).await?;
        Discovery::read(&document, address, date)
    }

    async fn fetch_document(
        &self,
        address: &str,
    ) -> Result<(Value, Option<String>), DiscoveryError> {
        let answer = self.get(Discovery::address(address)).await?;
        let document = serde_json::from_slice(&answer.body);
        let document = document.map_err(|_| DiscoveryError::NotJson)?;
        Ok((document, answer.date))
    }

    /// Reads the key set at an address now.
    pub(crate) async fn fetch_key_set(&self, keys: &str) -> Result<KeySet, DiscoveryError> {
        let keys = self.get(keys.to_owned()).await;
        let keys = keys.map_err(|error| match error {
            DiscoveryError::Fetch(error) => DiscoveryError::Keys(error),
            DiscoveryError::Status(status) => DiscoveryError::KeysStatus(status),
            other => other,
        })?;
        KeySet::read(&keys.body).ok_or(DiscoveryError::NoKeys)
    }

    /// Sends a form to an endpoint of an identity provider.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Answer, FetchError> {
        self.fetch.fetch(ask).await
    }

    async fn get(&self, url: String) -> Result<Answer, DiscoveryError> {
        let ask = Ask {
            answer_bytes_max: ANSWER_BYTES_MAX,
            ..Ask::get(Place::Endpoint, url)
        };
        let answer = self.fetch.fetch(ask).await.map_err(DiscoveryError::Fetch)?;
        match answer.status {
            200 => Ok(answer),
            status => Err(DiscoveryError::Status(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const ISSUER: &str = "https://idp.example/realm";

    /// An issuer with a key set that counts its reads.
    #[derive(Default)]
    struct Idp {
        reads: AtomicUsize,
    }

    #[async_trait]
    impl Fetch for Idp {
        async fn fetch(&self, ask: Ask) -> Result<Answer, FetchError> {
            let body = if ask.url.ends_with("/.well-known/openid-configuration") {
                format!(r#"{{"issuer": "{ISSUER}", "jwks_uri": "{ISSUER}/keys"}}"#)
            } else {
                self.reads.fetch_add(1, Ordering::Relaxed);
                r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "AAAA"}]}"#.into()
            };
            Ok(Answer {
                status: 200,
                date: None,
                body: body.into_bytes(),
            })
        }
    }

    /// A token that names a key; its signature is of no use here.
    fn token(key: &str) -> Token {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let header = part(&format!(r#"{{"alg": "EdDSA", "kid": "{key}"}}"#));
        Token::read(&format!("{header}.{}.AAAA", part("{}"))).unwrap()
    }

    #[tokio::test]
    async fn known_key_is_read_once() {
        let idp = Arc::new(Idp::default());
        let keys = IssuerKeys::new(idp.clone());
        for _ in 0..10 {
            assert!(keys.keys(ISSUER, &token("one")).await.is_some());
        }
        assert_eq!(idp.reads.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn unknown_keys_cause_few_reads() {
        let idp = Arc::new(Idp::default());
        let keys = IssuerKeys::new(idp.clone());
        for number in 0..25 {
            let strange = token(&format!("strange-{number}"));
            assert!(keys.keys(ISSUER, &strange).await.is_none());
        }
        assert_eq!(idp.reads.load(Ordering::Relaxed), READS_PER_MINUTE);
        assert!(keys.keys(ISSUER, &token("one")).await.is_some());
    }

    #[tokio::test]
    async fn token_without_key_id_causes_few_reads() {
        let idp = Arc::new(Idp::default());
        let keys = IssuerKeys::new(idp.clone());
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let text = format!("{}.{}.AAAA", part(r#"{"alg": "EdDSA"}"#), part("{}"));
        for _ in 0..25 {
            let strange = Token::read(&text).unwrap();
            assert!(keys.keys(ISSUER, &strange).await.is_some());
        }
        assert_eq!(idp.reads.load(Ordering::Relaxed), READS_PER_MINUTE);
    }

    #[tokio::test]
    async fn other_issuer_in_discovery_is_refused() {
        let keys = IssuerKeys::new(Arc::new(Idp::default()));
        let with_slash = format!("{ISSUER}/");
        assert!(keys.keys(&with_slash, &token("one")).await.is_none());
    }
}
