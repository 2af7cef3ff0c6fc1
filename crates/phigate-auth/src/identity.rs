//! The gateway's identity at one provider, and the headers that prove it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use crate::aws::{self, Keys};
use crate::call::ToSign;
use crate::entra::Application;
use crate::error::{AuthError, Reason};
use crate::fetch::Fetch;
use crate::google;
use crate::lease::Lease;
use crate::machine::Machine;
use crate::secret::{AwsSecret, Secret, SecretError, ServiceAccount};
use crate::token::Token;

/// A way to authenticate, as an owner configured it. Without a secret the machine's identity is used.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Signature Version 4.
    Aws {
        /// Region of the signatures.
        region: String,
        /// Token service for web identities, if not the region's own.
        token_url: Option<String>,
    },
    /// Tokens of Microsoft Entra ID.
    Entra {
        /// Tenant.
        tenant: Option<String>,
        /// Application.
        client_id: Option<String>,
        /// Token endpoint, if not the cloud's own.
        token_url: Option<String>,
        /// Host that the token is for: Microsoft's national clouds have their own endpoints.
        host: String,
    },
    /// Google's OAuth 2.
    Google {
        /// Token endpoint, if not Google's own.
        token_url: Option<String>,
    },
}

impl Scheme {
    /// Checks a secret before it is stored.
    pub fn check_secret(&self, secret: &str) -> Result<(), SecretError> {
        match self {
            Self::Aws { .. } => AwsSecret::read(secret).map(drop),
            Self::Entra { .. } => Ok(()),
            Self::Google { .. } => ServiceAccount::read(secret).map(drop),
        }
    }
}

/// Credentials of a call, to be dropped if the provider refuses them.
pub struct Proof(Used);

enum Used {
    Stored,
    Keys(Arc<Keys>),
    Token(Arc<Token>),
}

/// The gateway's identity at one provider. Tokens are kept here, in memory, and nowhere else.
pub struct Identity {
    source: Source,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there are a few, each for as long as its provider is set"
)]
enum Source {
    StoredKeys {
        region: String,
        keys: Keys,
    },
    LentKeys {
        region: String,
        token_url: Option<String>,
        machine: Machine,
        lease: Lease<Keys>,
    },
    Entra {
        application: Application,
        by: EntraProof,
        lease: Lease<Token>,
    },
    Google {
        by: GoogleProof,
        lease: Lease<Token>,
    },
    NotAllowed,
}

enum EntraProof {
    Secret(Secret),
    Machine(Machine),
}

enum GoogleProof {
    Account {
        account: Box<ServiceAccount>,
        token_url: Option<String>,
    },
    Machine(Machine),
}

/// Shows the kind of identity only.
impl std::fmt::Debug for Identity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self.source {
            Source::StoredKeys { .. } => "Identity(stored keys)",
            Source::LentKeys { .. } => "Identity(lent keys)",
            Source::Entra { .. } => "Identity(Entra)",
            Source::Google { .. } => "Identity(Google)",
            Source::NotAllowed => "Identity(not allowed)",
        })
    }
}

impl Identity {
    /// An identity with its secret, or the machine's if the operator allows it.
    pub fn new(
        scheme: Scheme,
        secret: Option<&str>,
        machine: Option<Machine>,
    ) -> Result<Self, SecretError> {
        let source = match (secret, machine) {
            (Some(secret), _) => Source::by_secret(scheme, secret)?,
            (None, Some(machine)) => Source::by_machine(scheme, machine),
            (None, None) => Source::NotAllowed,
        };
        Ok(Self { source })
    }

    /// Headers that authenticate a call.
    pub async fn headers(
        &self,
        fetch: &dyn Fetch,
        call: &ToSign<'_>,
    ) -> Result<(Vec<(HeaderName, HeaderValue)>, Proof), AuthError> {
        let now = jiff::Timestamp::now();
        match &self.source {
            Source::StoredKeys { region, keys } => {
                let headers = aws::sign(call, keys, region, now)?;
                Ok((headers, Proof(Used::Stored)))
            }
            Source::LentKeys {
                region,
                token_url,
                machine,
                lease,
            } => {
                let ask = || aws::by_machine(fetch, machine, region, token_url.as_deref());
                let keys = lease.get(ask).await?;
                let headers = aws::sign(call, &keys, region, now)?;
                Ok((headers, Proof(Used::Keys(keys))))
            }
            Source::Entra {
                application,
                by,
                lease,
            } => {
                let ask = || async move {
                    match by {
                        EntraProof::Secret(secret) => application.by_secret(fetch, secret).await,
                        EntraProof::Machine(machine) => {
                            application.by_machine(fetch, machine).await
                        }
                    }
                };
                Ok(bearer(lease.get(ask).await?))
            }
            Source::Google { by, lease } => {
                let ask = || async move {
                    match by {
                        GoogleProof::Account { account, token_url } => {
                            google::by_account(fetch, account, token_url.as_deref()).await
                        }
                        GoogleProof::Machine(machine) => google::by_machine(fetch, machine).await,
                    }
                };
                Ok(bearer(lease.get(ask).await?))
            }
            Source::NotAllowed => Err(AuthError::Refused(Reason::NotAllowed)),
        }
    }

    /// Drops credentials that the provider refused. Returns whether a second call could succeed: not with the same
    /// credentials.
    pub fn forget(&self, proof: &Proof) -> bool {
        match (&self.source, &proof.0) {
            (Source::LentKeys { lease, .. }, Used::Keys(keys)) => lease.forget(keys),
            (Source::Entra { lease, .. } | Source::Google { lease, .. }, Used::Token(token)) => {
                lease.forget(token);
            }
            _ => return false,
        }
        true
    }
}

fn bearer(token: Arc<Token>) -> (Vec<(HeaderName, HeaderValue)>, Proof) {
    let headers = vec![(AUTHORIZATION, token.header.clone())];
    (headers, Proof(Used::Token(token)))
}

impl Source {
    fn by_secret(scheme: Scheme, secret: &str) -> Result<Self, SecretError> {
        Ok(match scheme {
            Scheme::Aws { region, .. } => {
                let read = AwsSecret::read(secret)?;
                let (id, secret) = (read.access_key_id, read.secret_access_key);
                let keys = Keys::new(id, secret, read.session_token);
                Self::StoredKeys { region, keys }
            }
            Scheme::Google { token_url } => {
                let account = Box::new(ServiceAccount::read(secret)?);
                Self::google(GoogleProof::Account { account, token_url })
            }
            entra @ Scheme::Entra { .. } => {
                Self::entra(entra, EntraProof::Secret(Secret::from(secret)))
            }
        })
    }

    fn by_machine(scheme: Scheme, machine: Machine) -> Self {
        match scheme {
            Scheme::Aws { region, token_url } => Self::LentKeys {
                region,
                token_url,
                machine,
                lease: Lease::new(),
            },
            Scheme::Google { .. } => Self::google(GoogleProof::Machine(machine)),
            entra @ Scheme::Entra { .. } => Self::entra(entra, EntraProof::Machine(machine)),
        }
    }

    fn google(by: GoogleProof) -> Self {
        Self::Google {
            by,
            lease: Lease::new(),
        }
    }

    fn entra(scheme: Scheme, by: EntraProof) -> Self {
        let application = match scheme {
            Scheme::Entra {
                tenant,
                client_id,
                token_url,
                host,
            } => Application {
                tenant,
                client_id,
                token_url,
                host,
            },
            Scheme::Aws { .. } | Scheme::Google { .. } => Application::default(),
        };
        Self::Entra {
            application,
            by,
            lease: Lease::new(),
        }
    }
}
