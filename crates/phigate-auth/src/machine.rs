//! The machine's identity: its variables and files.

use std::collections::HashMap;
use std::fmt;

use crate::secret::Secret;

/// Largest file that is read: a token is a few thousand bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Variables by which clouds give a process its identity. No other variable is read.
const VARIABLES: &[&str] = &[
    // Alphabetical.
    "AWS_ACCESS_KEY_ID",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_AUTHORITY_HOST",
    "AZURE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_POD_IDENTITY_AUTHORITY_HOST",
    "AZURE_TENANT_ID",
    "GCE_METADATA_HOST",
    "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
];

/// Variables of the machine.
#[derive(Clone, Default)]
pub struct Machine {
    variables: HashMap<&'static str, Secret>,
}

impl Machine {
    /// Variables of this process.
    pub fn of_this_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// Variables from a function, for tests.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let known = |name: &&'static str| {
            let value = variable(name).filter(|value| !value.trim().is_empty())?;
            Some((*name, Secret::new(value)))
        };
        Self {
            variables: VARIABLES.iter().filter_map(known).collect(),
        }
    }

    /// Value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.expose().trim())
    }

    /// Content of the file that a variable names, read each time, because such files are replaced at run time.
    pub(crate) fn file(&self, name: &str) -> Option<Secret> {
        use std::io::Read as _;
        let file = std::fs::File::open(self.variable(name)?).ok()?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        let secret = Secret::new(text.trim().to_owned());
        zeroize::Zeroize::zeroize(&mut text);
        (!secret.expose().is_empty()).then_some(secret)
    }
}

/// Shows names only, because some values are secrets.
impl fmt::Debug for Machine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.variables.keys().collect();
        names.sort_unstable();
        write!(out, "Machine({names:?})")
    }
}
