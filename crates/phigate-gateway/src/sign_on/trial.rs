//! Trying single sign-on without a person: `phigate sso test`, and the button on the page.

use phigate_auth::{Answer, clock_skew_s};
use phigate_store::{Filter, Record, RecordKind, SignOnConfig, SignOnSetup, StoreError};
use phigate_types::Act;
use serde_json::Value;

use super::{SignOnError, SignOnFlow, SingleSignOn, refusal, token_request};
use crate::discovery::{Discovery, DiscoveryError};

/// One thing that was tried, and its result in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOnCheck {
    /// Whether people can sign in as far as this goes; `None` if only a login can tell.
    pub works: Option<bool>,
    /// The result in a few words.
    pub title: String,
    /// The remedy, or what was seen.
    pub words: String,
}

impl SignOnCheck {
    fn works(title: &str, words: impl Into<String>) -> Self {
        Self {
            works: Some(true),
            title: title.to_owned(),
            words: words.into(),
        }
    }

    fn fails(error: SignOnError, seen: &str) -> Self {
        let space = if seen.is_empty() { "" } else { " " };
        Self {
            works: Some(false),
            title: error.title().to_owned(),
            words: format!("{seen}{space}{}", error.remedy()),
        }
    }

    fn unsure(title: &str, words: &str) -> Self {
        Self {
            works: None,
            title: title.to_owned(),
            words: words.to_owned(),
        }
    }
}

impl SingleSignOn<'_> {
    /// Tries what can be tried without a person: the discovery document, the clock, the keys, the client.
    pub async fn checks(&self, setup: &SignOnSetup) -> Vec<SignOnCheck> {
        let config = &setup.config;
        let discovery = match self
            .gateway
            .issuer_keys
            .fetch_discovery(&config.issuer)
            .await
        {
            Ok(discovery) => discovery,
            Err(error) => return vec![failed(error)],
        };
        let mut checks = vec![SignOnCheck::works(
            "The discovery document is right",
            "It names the issuer as set, and every address that a sign-in needs.",
        )];
        checks.extend(clock(&discovery));
        checks.push(
            match self
                .gateway
                .issuer_keys
                .fetch_key_set(&discovery.keys)
                .await
            {
                Ok(keys) if keys.is_empty() => failed(DiscoveryError::NoKeys),
                Ok(_) => SignOnCheck::works("The keys are readable", "Tokens can be verified."),
                Err(error) => failed(error),
            },
        );
        if discovery.lacks_pkce {
            checks.push(SignOnCheck::unsure(
                "The identity provider does not list PKCE with S256",
                "Sign-ins always use it. Most providers accept it all the same; if not, turn it on for this client.",
            ));
        }
        checks.push(self.try_client(&discovery, setup).await);
        checks.extend(groups(&discovery, config));
        checks
    }

    /// Cause of the last sign-in that failed: most mistakes are seen only then.
    pub async fn last_failure(&self, account_id: &str) -> Result<Option<SignOnCheck>, StoreError> {
        let filter = Filter {
            record: Some(RecordKind::Admin),
            act: Some(Act::LoginFailed),
            ..Filter::default()
        };
        let trail = &self.gateway.vault.trail;
        let page = trail.audit_list(account_id, &filter, None, 20).await?;
        let cause = page.items.iter().find_map(|record| match record {
            Record::Admin(act) => {
                let error = SignOnError::from_code(act.details.get("cause")?)?;
                Some((act.time, error))
            }
            _ => None,
        });
        Ok(cause.map(|(time, error)| {
            let time = time.strftime("%Y-%m-%dT%H:%M:%SZ");
            let title = format!("The last sign-in that failed, at {time}: {}", error.title());
            SignOnCheck::unsure(&title, error.remedy())
        }))
    }

    /// Asks for a token with a code that cannot be right: the provider looks at the client first.
    async fn try_client(&self, discovery: &Discovery, setup: &SignOnSetup) -> SignOnCheck {
        let flow = SignOnFlow {
            redirect_uri: "https://phigate.invalid/login/sso".to_owned(),
            state: String::new(),
            nonce: String::new(),
            verifier: "phigate-sso-test-phigate-sso-test-phigate-sso-test".to_owned(),
        };
        let ask = token_request(discovery, setup, &flow, "phigate-sso-test");
        match self.gateway.issuer_keys.ask(ask).await {
            Ok(answer) => client(&answer),
            Err(error) => SignOnCheck::fails(
                SignOnError::Unreachable,
                &format!("Its token endpoint {error}."),
            ),
        }
    }
}

fn failed(error: DiscoveryError) -> SignOnCheck {
    SignOnCheck::fails(error.into(), &format!("The identity provider: {error}."))
}

/// Result of asking for a token with a wrong code.
fn client(answer: &Answer) -> SignOnCheck {
    let read: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let error = read.as_ref().and_then(|read| read.get("error")?.as_str());
    match refusal(answer.status, error) {
        SignOnError::Client => SignOnCheck::fails(SignOnError::Client, ""),
        SignOnError::Unreachable => {
            let seen = format!("Its token endpoint answers with status {}.", answer.status);
            SignOnCheck::fails(SignOnError::Unreachable, &seen)
        }
        SignOnError::Code | SignOnError::Redirect => SignOnCheck::works(
            "The client is known",
            "The identity provider accepts the client id and its secret.",
        ),
        _ => SignOnCheck::unsure(
            "Whether the client is known could not be found out",
            "The identity provider refused a trial without saying why. A sign-in will tell.",
        ),
    }
}

fn clock(discovery: &Discovery) -> Option<SignOnCheck> {
    let skew = clock_skew_s(discovery.date.as_deref()?)?;
    let (seconds, side) = match skew {
        0.. => (skew, "ahead of"),
        _ => (-skew, "behind"),
    };
    Some(SignOnCheck::fails(
        SignOnError::Clock,
        &format!("The clock of this server is {seconds} s {side} the identity provider’s."),
    ))
}

fn groups(discovery: &Discovery, config: &SignOnConfig) -> Option<SignOnCheck> {
    let claims = discovery.claims.as_ref()?;
    (!claims.contains(&config.groups_claim)).then(|| {
        SignOnCheck::unsure(
            &format!(
                "The identity provider does not list the claim {}",
                config.groups_claim
            ),
            SignOnError::NoGroups.remedy(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign_on::samples;

    #[test]
    fn answer_to_trial_gives_its_check() {
        for (status, body, works) in [
            (400, r#"{"error": "invalid_grant"}"#, Some(true)),
            (401, r#"{"error": "invalid_client"}"#, Some(false)),
            (400, r#"{"error": "unauthorized_client"}"#, Some(false)),
            (503, "", Some(false)),
            (400, r#"{"error": "invalid_request"}"#, None),
            (200, "<h1>Sign in</h1>", None),
        ] {
            let answer = Answer {
                status,
                date: None,
                body: body.as_bytes().to_vec(),
            };
            assert_eq!(client(&answer).works, works, "{body}");
        }
    }

    #[test]
    fn clock_far_off_is_named() {
        let mut discovery = samples::discovery();
        assert!(clock(&discovery).is_none());
        discovery.date = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
        assert!(clock(&discovery).unwrap().words.contains("ahead of"));
    }

    #[test]
    fn missing_groups_claim_is_a_hint() {
        let (mut discovery, config) = (samples::discovery(), samples::setup().config);
        assert!(groups(&discovery, &config).is_none());
        discovery.claims = Some(vec!["sub".to_owned()]);
        assert_eq!(groups(&discovery, &config).unwrap().works, None);
    }
}
