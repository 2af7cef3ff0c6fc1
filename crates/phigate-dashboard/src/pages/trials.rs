//! Latest test result per provider, until the provider is changed. Kept in memory: every gateway tests for itself.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use phigate_gateway::Trial;
use phigate_store::ProviderInfo;

use crate::view::When;

/// Result of a connection test.
#[derive(Debug, Clone)]
pub(crate) struct TestResult {
    pub(crate) tone: &'static str,
    /// The state of the provider, in two words.
    pub(crate) state: &'static str,
    pub(crate) title: &'static str,
    pub(crate) words: String,
    pub(crate) time: When,
}

/// Results kept at most; providers are few, so this is the end of the worst case.
const KEPT: usize = 1_000;

/// The last result of each provider, by account and name, with the moment of the test.
#[derive(Debug, Default)]
pub(crate) struct Trials(Mutex<HashMap<(String, String), (Timestamp, TestResult)>>);

impl Trials {
    /// Keeps what a test said.
    pub(super) fn keep(&self, account_id: &str, name: &str, trial: &Trial, now: Timestamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        let whose = (account_id.to_owned(), name.to_owned());
        kept.insert(whose, (now, in_words(trial, now)));
    }

    /// Returns the latest test result of a provider as it is set now.
    pub(super) fn of(&self, account_id: &str, provider: &ProviderInfo) -> Option<TestResult> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = (account_id.to_owned(), provider.name.clone());
        let (tested, result) = kept.get(&whose)?;
        (*tested >= provider.updated).then(|| result.clone())
    }
}

fn in_words(trial: &Trial, now: Timestamp) -> TestResult {
    let (title, words) = trial.in_words();
    let (tone, state) = match trial {
        Trial::Works { .. } => ("ok", "Tested"),
        Trial::Unexpected { .. } | Trial::NotSet | Trial::NoModel => ("warn", "Test unclear"),
        _ => ("bad", "Test failed"),
    };
    TestResult {
        tone,
        state,
        title,
        words,
        time: When::at(now),
    }
}

#[cfg(test)]
mod tests {
    use phigate_store::ProviderConfig;
    use phigate_types::ProviderKind;

    use super::*;

    #[test]
    fn trial_result_holds_until_provider_changes() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut provider = ProviderInfo {
            name: "openai".to_owned(),
            config: ProviderConfig::new(ProviderKind::OpenAi),
            has_secret: true,
            last4: String::new(),
            updated: at(100),
            updated_by: "test".to_owned(),
        };
        let trials = Trials::default();
        assert!(trials.of("a", &provider).is_none());
        trials.keep("a", "openai", &Trial::NotSet, at(200));
        assert_eq!(trials.of("a", &provider).unwrap().tone, "warn");
        assert!(trials.of("b", &provider).is_none(), "another account's");
        provider.updated = at(300);
        assert!(trials.of("a", &provider).is_none(), "changed since");
    }
}
