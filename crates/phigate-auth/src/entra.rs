//! Tokens of Microsoft Entra ID: by an application's secret, by a federated token, or by a managed identity.

use crate::error::{AuthError, Reason};
use crate::fetch::{Answer, Ask, Fetch, Place, escaped};
use crate::lease::Leased;
use crate::machine::Machine;
use crate::secret::Secret;
use crate::token::{self, Token};

/// A cloud of Microsoft: its host suffix, token endpoint and scope.
struct Cloud {
    ending: &'static str,
    authority: &'static str,
    resource: &'static str,
}

static CLOUDS: &[Cloud] = &[
    // The first is the public cloud.
    Cloud {
        ending: ".azure.com",
        authority: "https://login.microsoftonline.com",
        resource: "https://cognitiveservices.azure.com",
    },
    Cloud {
        ending: ".azure.us",
        authority: "https://login.microsoftonline.us",
        resource: "https://cognitiveservices.azure.us",
    },
    Cloud {
        ending: ".azure.cn",
        authority: "https://login.chinacloudapi.cn",
        resource: "https://cognitiveservices.azure.cn",
    },
];

/// Tenant and application, as an owner configured them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Application {
    pub(crate) tenant: Option<String>,
    pub(crate) client_id: Option<String>,
    pub(crate) token_url: Option<String>,
    /// Host of the service that the token is for.
    pub(crate) host: String,
}

impl Application {
    /// Gets a token for the application's secret.
    pub(crate) async fn by_secret(
        &self,
        fetch: &dyn Fetch,
        secret: &Secret,
    ) -> Result<Leased<Token>, AuthError> {
        let (Some(tenant), Some(client)) = (&self.tenant, &self.client_id) else {
            return Err(AuthError::Refused(Reason::BadSecret));
        };
        let url = self.token_url(self.cloud().authority, tenant);
        let fields = [("client_secret", secret.expose())];
        self.ask(fetch, url, client, &fields).await
    }

    /// Gets a token for the machine's identity.
    pub(crate) async fn by_machine(
        &self,
        fetch: &dyn Fetch,
        machine: &Machine,
    ) -> Result<Leased<Token>, AuthError> {
        if machine.variable("AZURE_FEDERATED_TOKEN_FILE").is_some() {
            return self.by_federation(fetch, machine).await;
        }
        let ask = match (
            machine.variable("IDENTITY_ENDPOINT"),
            machine.variable("IDENTITY_HEADER"),
        ) {
            (Some(endpoint), Some(header)) => {
                let url = self.identity_url(machine, endpoint, "2019-08-01");
                Ask::get(Place::Machine, url).with("x-identity-header", header)
            }
            _ => {
                let host = machine
                    .variable("AZURE_POD_IDENTITY_AUTHORITY_HOST")
                    .unwrap_or("http://169.254.169.254");
                let endpoint = format!(
                    "{}/metadata/identity/oauth2/token",
                    host.trim_end_matches('/')
                );
                let url = self.identity_url(machine, &endpoint, "2018-02-01");
                Ask::get(Place::Machine, url).with("metadata", "true")
            }
        };
        let answer = fetch.fetch(ask).await?;
        token::read(&answer, now_s(), |_| Reason::NoIdentity)
    }

    async fn by_federation(
        &self,
        fetch: &dyn Fetch,
        machine: &Machine,
    ) -> Result<Leased<Token>, AuthError> {
        let no_identity = AuthError::Refused(Reason::NoIdentity);
        let said = |own: &Option<String>, name: &str| {
            let said = own.as_deref().or_else(|| machine.variable(name));
            said.map(str::to_owned).ok_or(no_identity)
        };
        let client = said(&self.client_id, "AZURE_CLIENT_ID")?;
        let tenant = said(&self.tenant, "AZURE_TENANT_ID")?;
        let assertion = machine
            .file("AZURE_FEDERATED_TOKEN_FILE")
            .ok_or(no_identity)?;
        let authority = machine
            .variable("AZURE_AUTHORITY_HOST")
            .unwrap_or(self.cloud().authority);
        let url = self.token_url(authority, &tenant);
        let fields = [
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            ),
            ("client_assertion", assertion.expose()),
        ];
        self.ask(fetch, url, &client, &fields).await
    }

    async fn ask(
        &self,
        fetch: &dyn Fetch,
        url: String,
        client: &str,
        proof: &[(&str, &str)],
    ) -> Result<Leased<Token>, AuthError> {
        let scope = format!("{}/.default", self.cloud().resource);
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_id", client),
            ("scope", &scope),
        ];
        fields.extend_from_slice(proof);
        let answer = fetch.fetch(Ask::form(url, &fields)).await?;
        token::read(&answer, now_s(), reason)
    }

    fn cloud(&self) -> &'static Cloud {
        CLOUDS
            .iter()
            .find(|cloud| self.host.ends_with(cloud.ending))
            .unwrap_or(&CLOUDS[0])
    }

    fn token_url(&self, authority: &str, tenant: &str) -> String {
        self.token_url.clone().unwrap_or_else(|| {
            format!(
                "{}/{}/oauth2/v2.0/token",
                authority.trim_end_matches('/'),
                escaped(tenant)
            )
        })
    }

    /// Address of the identity endpoint. A machine may have several identities; the application's id selects one.
    fn identity_url(&self, machine: &Machine, endpoint: &str, version: &str) -> String {
        let client = self.client_id.as_deref();
        let client = client
            .or_else(|| machine.variable("AZURE_CLIENT_ID"))
            .map(|client| format!("&client_id={}", escaped(client)))
            .unwrap_or_default();
        let resource = escaped(self.cloud().resource);
        format!("{endpoint}?api-version={version}&resource={resource}{client}")
    }
}

/// Maps Entra's error code to a reason.
fn reason(answer: &Answer) -> Reason {
    let said = String::from_utf8_lossy(&answer.body);
    let known = CODES.iter().find(|(code, _)| said.contains(code));
    match known {
        Some((_, Reason::Clock(_))) => {
            token::clock_skew(answer).map_or(Reason::Other, Reason::Clock)
        }
        Some((_, reason)) => *reason,
        None => Reason::Other,
    }
}

static CODES: &[(&str, Reason)] = &[
    // Longer codes before their prefixes.
    ("AADSTS7000215", Reason::WrongSecret),
    ("AADSTS7000222", Reason::ExpiredSecret),
    ("AADSTS7000229", Reason::UnknownIdentity),
    ("AADSTS700016", Reason::UnknownIdentity),
    ("AADSTS700021", Reason::NotTrusted),
    ("AADSTS700024", Reason::Clock(0)),
    ("AADSTS70021", Reason::NotTrusted),
    ("AADSTS90002", Reason::UnknownTenant),
    ("AADSTS900023", Reason::UnknownTenant),
];

fn now_s() -> f64 {
    jiff::Timestamp::now().as_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_reasons_without_quotes() {
        for (code, wanted) in [
            (
                "AADSTS7000215: Invalid client secret hunter2",
                Reason::WrongSecret,
            ),
            ("AADSTS7000222: expired", Reason::ExpiredSecret),
            ("AADSTS700016: no such application", Reason::UnknownIdentity),
            ("AADSTS700213: no federated identity", Reason::NotTrusted),
            ("AADSTS90002: no tenant", Reason::UnknownTenant),
            ("AADSTS50000: something", Reason::Other),
        ] {
            let answer = Answer {
                status: 401,
                date: None,
                body: format!(r#"{{"error_description":"{code}"}}"#).into_bytes(),
            };
            let reason = reason(&answer);
            assert_eq!(reason, wanted, "{code}");
            assert!(!reason.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn microsoft_clouds_have_their_own_endpoints() {
        for (host, url) in [
            (
                "a.openai.azure.com",
                "https://login.microsoftonline.com/t/oauth2/v2.0/token",
            ),
            (
                "a.openai.azure.us",
                "https://login.microsoftonline.us/t/oauth2/v2.0/token",
            ),
            (
                "127.0.0.1",
                "https://login.microsoftonline.com/t/oauth2/v2.0/token",
            ),
        ] {
            let application = Application {
                host: host.to_owned(),
                ..Application::default()
            };
            assert_eq!(
                application.token_url(application.cloud().authority, "t"),
                url
            );
        }
    }
}
