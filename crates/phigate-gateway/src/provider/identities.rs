//! The gateway's identities at providers, with their tokens, cached in memory only.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use http::{HeaderName, HeaderValue};
use phigate_auth::{AuthError, Fetch, Identity, Machine, Proof, Reason, Scheme, ToSign};
use phigate_store::ProviderSecret;

use super::ProviderError;

/// Limit of cached identities. The longest idle one is evicted first, with its token.
const KEPT_MAX: usize = 4096;

/// The identity configured for a provider.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(super) scheme: Scheme,
    /// `None` for the machine's identity.
    pub(super) secret: Option<ProviderSecret>,
}

/// The credentials that a call carried.
pub(super) struct Shown {
    identity: Arc<Identity>,
    proof: Proof,
}

impl Shown {
    /// Drops the refused credentials from the cache. True if a second call can carry new ones.
    pub(super) fn renew(&self) -> bool {
        self.identity.forget(&self.proof)
    }
}

/// Cache of identities. The key is their content, not the provider's name: a changed secret is a different identity
/// from its first call on.
pub(super) struct Identities {
    client: Arc<dyn Fetch>,
    machine: Option<Machine>,
    kept: Mutex<HashMap<u64, Kept>>,
    hasher: RandomState,
}

struct Kept {
    account: String,
    claim: Claim,
    identity: Arc<Identity>,
    used: Instant,
}

impl Identities {
    /// An empty cache. `machine` is the machine's identity, if accounts may use it.
    pub(super) fn new(client: Arc<dyn Fetch>, machine: Option<Machine>) -> Self {
        Self {
            client,
            machine,
            kept: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// The headers that authenticate a call.
    pub(super) async fn show(
        &self,
        account: &str,
        claim: &Claim,
        call: &ToSign<'_>,
    ) -> Result<(Vec<(HeaderName, HeaderValue)>, Shown), ProviderError> {
        let identity = self.identity(account, claim)?;
        let headers = identity.headers(&*self.client, call).await;
        let (headers, proof) = headers.map_err(ProviderError::Token)?;
        Ok((headers, Shown { identity, proof }))
    }

    fn identity(&self, account: &str, claim: &Claim) -> Result<Arc<Identity>, ProviderError> {
        let secret = claim.secret.as_ref().map(ProviderSecret::expose);
        let place = self.hasher.hash_one((account, &claim.scheme, secret));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.get_mut(&place);
        if let Some(known) = known.filter(|known| known.account == account && known.claim == *claim)
        {
            known.used = Instant::now();
            return Ok(Arc::clone(&known.identity));
        }
        let identity = Identity::new(claim.scheme.clone(), secret, self.machine.clone());
        let bad = |_| ProviderError::Token(AuthError::Refused(Reason::BadSecret));
        let identity = Arc::new(identity.map_err(bad)?);
        if kept.len() >= KEPT_MAX {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.used);
            oldest
                .map(|(place, _)| *place)
                .and_then(|place| kept.remove(&place));
        }
        let new = Kept {
            account: account.to_owned(),
            claim: claim.clone(),
            identity: Arc::clone(&identity),
            used: Instant::now(),
        };
        kept.insert(place, new);
        Ok(identity)
    }
}
