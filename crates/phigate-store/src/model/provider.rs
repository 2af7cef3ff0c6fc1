//! Providers: their configuration, and their form in requests and lists.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use phigate_types::{AuthMethod, ModelEntry, PhiAgreement, ProviderKind, ProviderOption};
use serde::{Deserialize, Serialize};

use crate::SecretString;
use crate::model::ProviderTerms;

/// The default priority.
const PRIORITY: u32 = 100;

/// Configuration of a provider, without its name and its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderConfig {
    /// The kind.
    pub kind: ProviderKind,
    /// The authentication method; `None` for the kind's default.
    #[serde(default)]
    pub auth: Option<AuthMethod>,
    /// Root of the API, if it differs from the operator's.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The served models; empty for all of its family and any model requested by the provider's name.
    #[serde(default)]
    pub models: Vec<ModelEntry>,
    /// Rank among providers of a model; the lowest is tried first.
    #[serde(default = "priority")]
    pub priority: u32,
    /// The region of its models.
    #[serde(default)]
    pub region: Option<String>,
    /// The project that is billed.
    #[serde(default)]
    pub project: Option<String>,
    /// Version of the API.
    #[serde(default)]
    pub api_version: Option<String>,
    /// The directory (tenant) of the application.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The id of the application.
    #[serde(default)]
    pub client_id: Option<String>,
    /// The token endpoint, if it differs from the operator's.
    #[serde(default)]
    pub token_url: Option<String>,
    /// Permission of the operator to receive PHI.
    #[serde(default)]
    pub phi: PhiAgreement,
    /// Description of the agreement.
    #[serde(default)]
    pub agreement: Option<String>,
    /// The last day of the agreement.
    #[serde(default)]
    pub agreement_expires: Option<Date>,
}

fn priority() -> u32 {
    PRIORITY
}

impl ProviderConfig {
    /// A configuration with only a kind.
    pub fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            auth: None,
            base_url: None,
            models: Vec::new(),
            priority: PRIORITY,
            region: None,
            project: None,
            api_version: None,
            tenant: None,
            client_id: None,
            token_url: None,
            phi: PhiAgreement::default(),
            agreement: None,
            agreement_expires: None,
        }
    }

    /// Sets the address.
    pub fn at(mut self, base_url: &str) -> Self {
        self.base_url = Some(base_url.to_owned());
        self
    }

    /// The authentication method.
    pub fn auth(&self) -> AuthMethod {
        self.auth.unwrap_or(self.kind.default_auth())
    }

    /// Root of the API; `None` if the configuration does not determine it.
    pub fn address(&self) -> Option<String> {
        let own = || self.kind.address(self.region.as_deref());
        self.base_url.clone().or_else(own)
    }

    /// The value of an option.
    pub fn option(&self, option: ProviderOption) -> Option<&str> {
        match option {
            ProviderOption::ApiVersion => self.api_version.as_deref(),
            ProviderOption::BaseUrl => self.base_url.as_deref(),
            ProviderOption::ClientId => self.client_id.as_deref(),
            ProviderOption::Project => self.project.as_deref(),
            ProviderOption::Region => self.region.as_deref(),
            ProviderOption::Tenant => self.tenant.as_deref(),
            ProviderOption::TokenUrl => self.token_url.as_deref(),
        }
    }

    /// Sets or removes an option.
    pub fn set_option(&mut self, option: ProviderOption, value: Option<String>) {
        let field = match option {
            ProviderOption::ApiVersion => &mut self.api_version,
            ProviderOption::BaseUrl => &mut self.base_url,
            ProviderOption::ClientId => &mut self.client_id,
            ProviderOption::Project => &mut self.project,
            ProviderOption::Region => &mut self.region,
            ProviderOption::Tenant => &mut self.tenant,
            ProviderOption::TokenUrl => &mut self.token_url,
        };
        *field = value;
    }

    /// Whether the agreement has ended. The last day is included, in UTC.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        let today = now.to_zoned(TimeZone::UTC).date();
        self.agreement_expires.is_some_and(|last| last < today)
    }

    /// Terms in force with the provider's operator, for a record.
    pub fn terms(&self, now: Timestamp) -> ProviderTerms {
        ProviderTerms {
            phi: Some(self.phi_now(now)),
            agreement: self.agreement.clone(),
        }
    }

    /// PHI that the operator may receive now: an expired agreement permits nothing.
    pub fn phi_now(&self, now: Timestamp) -> PhiAgreement {
        if self.is_expired(now) {
            PhiAgreement::Never
        } else {
            self.phi
        }
    }
}

/// A provider as a request uses it.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The configuration.
    pub config: ProviderConfig,
    /// The key, client secret or credentials document; `None` for a provider without one or with the machine's
    /// identity.
    pub secret: Option<ProviderSecret>,
    /// Last four characters of the key, for display.
    pub last4: String,
    /// Grows with every change of the entry.
    pub version: i64,
}

/// A provider's secret in the clear; never printed.
pub type ProviderSecret = SecretString;

/// The change to a provider's secret when the provider is set.
#[derive(Debug, Clone, Copy)]
pub enum NewSecret<'a> {
    /// Keeps the stored secret, which must exist unless the provider works without one.
    Keep,
    /// Replaces the secret.
    Set(&'a ProviderSecret),
    /// Removes the secret.
    Remove,
}

/// A provider in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderInfo {
    /// The name.
    pub name: String,
    /// The configuration.
    #[serde(flatten)]
    pub config: ProviderConfig,
    /// Whether a secret is stored.
    pub has_secret: bool,
    /// Last four characters of the key, if it is long enough.
    pub last4: String,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The actor of the last change.
    pub updated_by: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_holds_through_its_last_day() {
        let mut config = ProviderConfig::new(ProviderKind::OpenAi);
        config.agreement_expires = Some(jiff::civil::date(2026, 11, 15));
        for (now, phi) in [
            ("2026-11-14T23:59:59Z", PhiAgreement::Allowed),
            ("2026-11-15T23:59:59Z", PhiAgreement::Allowed),
            ("2026-11-16T00:00:00Z", PhiAgreement::Never),
        ] {
            assert_eq!(config.phi_now(now.parse().unwrap()), phi, "{now}");
        }
    }

    #[test]
    fn every_option_has_its_field() {
        for option in ProviderOption::all() {
            let mut config = ProviderConfig::new(ProviderKind::Azure);
            config.set_option(option, Some("value".to_owned()));
            for other in ProviderOption::all() {
                let value = (other == option).then_some("value");
                assert_eq!(config.option(other), value, "{option} {other}");
            }
        }
    }
}
