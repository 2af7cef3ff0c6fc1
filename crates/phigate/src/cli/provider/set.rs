//! `phigate provider set`: merges given options into the stored configuration, and validates the result before it is
//! stored.

use anyhow::{Context, bail};
use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;
use phigate_gateway::{GivenSecret, Weaker, check_setup};
use phigate_store::{By, NewSecret, ProviderConfig, ProviderInfo};
use phigate_types::{
    AuthMethod, ModelEntry, PhiAgreement, ProviderKind, ProviderOption, read_models,
};

use super::name;
use crate::cli::confirm::reason_to;
use crate::cli::store::{Session, given_reason};

/// The longest note about an agreement.
const AGREEMENT_CHARS_MAX: usize = 500;

#[derive(Args)]
pub(in crate::cli) struct Set {
    /// The provider's name; openai, anthropic and google need no --kind
    #[arg(value_parser = name)]
    name: String,
    /// Kind of provider: openai, azure, anthropic, google, bedrock or vertex
    #[arg(long, value_name = "K", value_parser = coded::<ProviderKind>)]
    kind: Option<ProviderKind>,
    /// Root of the API, if it is not the usual address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Authentication: bearer, key, none, entra, aws or google
    #[arg(long, value_name = "A", value_parser = coded::<AuthMethod>)]
    auth: Option<AuthMethod>,
    /// Read the secret from standard input; without it the stored one is kept
    #[arg(long)]
    key_stdin: bool,
    /// The served models: ID, ID=UPSTREAM or patterns with *, separated by commas
    #[arg(long, value_name = "LIST", value_parser = models)]
    models: Option<Models>,
    /// Rank among providers of a model; the lowest number is asked first [default: 100]
    #[arg(long, value_name = "N")]
    priority: Option<u32>,
    /// Region of the models (bedrock, vertex)
    #[arg(long, value_name = "R")]
    region: Option<String>,
    /// The project to bill (vertex)
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// Version of the API (azure): v1 or a date
    #[arg(long, value_name = "V")]
    api_version: Option<String>,
    /// The directory of the application (--auth entra)
    #[arg(long, value_name = "T")]
    tenant: Option<String>,
    /// The application's client id (--auth entra)
    #[arg(long, value_name = "C")]
    client_id: Option<String>,
    /// Token endpoint, if it is not the cloud's
    #[arg(long, value_name = "URL")]
    token_url: Option<String>,
    /// Permission to receive requests with PHI: allowed, masked or never
    #[arg(long, value_name = "PHI", value_parser = coded::<PhiAgreement>)]
    phi: Option<PhiAgreement>,
    /// The agreement with its operator, such as a contract's number
    #[arg(long, value_name = "TEXT", value_parser = agreement)]
    agreement: Option<String>,
    /// The last day of the agreement, such as 2027-12-31; after it, no PHI is sent there
    #[arg(long, value_name = "DATE", value_parser = date)]
    agreement_expires: Option<Date>,
    /// Why, in a few words, for the audit trail; needed where the provider may receive more than before, and for an
    /// agreement that has ended
    #[arg(long, value_name = "TEXT", value_parser = given_reason)]
    reason: Option<String>,
}

/// A list as one value on the command line.
#[derive(Clone)]
struct Models(Vec<ModelEntry>);

fn models(text: &str) -> anyhow::Result<Models> {
    Ok(Models(read_models(text)?))
}

fn coded<T: std::str::FromStr>(text: &str) -> anyhow::Result<T> {
    text.parse()
        .ok()
        .context("that is not one of the allowed words; --help lists them")
}

fn agreement(text: &str) -> anyhow::Result<String> {
    let fits = text.chars().count() <= AGREEMENT_CHARS_MAX && !text.contains(char::is_control);
    if !fits {
        bail!("write at most {AGREEMENT_CHARS_MAX} characters in one line");
    }
    Ok(text.trim().to_owned())
}

fn date(text: &str) -> anyhow::Result<Date> {
    text.parse()
        .ok()
        .context("write a date that exists, such as 2027-12-31")
}

impl Set {
    /// The given options.
    fn options(&self) -> [(ProviderOption, Option<&String>); 7] {
        [
            (ProviderOption::ApiVersion, self.api_version.as_ref()),
            (ProviderOption::BaseUrl, self.base_url.as_ref()),
            (ProviderOption::ClientId, self.client_id.as_ref()),
            (ProviderOption::Project, self.project.as_ref()),
            (ProviderOption::Region, self.region.as_ref()),
            (ProviderOption::Tenant, self.tenant.as_ref()),
            (ProviderOption::TokenUrl, self.token_url.as_ref()),
        ]
    }

    fn is_empty(&self) -> bool {
        let Self {
            name: _,
            kind,
            base_url: _,
            auth,
            key_stdin,
            models,
            priority,
            region: _,
            project: _,
            api_version: _,
            tenant: _,
            client_id: _,
            token_url: _,
            phi,
            agreement,
            agreement_expires,
            reason: _,
        } = self;
        let has_options = self.options().iter().any(|(_, value)| value.is_some());
        let is_told = kind.is_some() || auth.is_some() || *key_stdin || has_options;
        let is_used = models.is_some() || priority.is_some();
        let is_agreed = phi.is_some() || agreement.is_some() || agreement_expires.is_some();
        !is_told && !is_used && !is_agreed
    }

    /// The kind: as given, as stored, or the family with the provider's name.
    fn kind(&self, stored: Option<&ProviderInfo>) -> anyhow::Result<ProviderKind> {
        let family = || {
            let kind = self.name.parse::<ProviderKind>().ok();
            kind.filter(|kind| kind.has_family())
        };
        let stored = stored.map(|stored| stored.config.kind);
        let kinds: Vec<&str> = ProviderKind::all().map(ProviderKind::code).collect();
        self.kind.or(stored).or_else(family).with_context(|| {
            format!(
                "{} is new: say what it is with --kind {}",
                self.name,
                kinds.join("|")
            )
        })
    }

    /// Reason for an entry that may receive more PHI than before, or that is new with an agreement that permits none.
    fn reason_to(
        &self,
        session: &Session,
        config: &ProviderConfig,
        stored: Option<&ProviderInfo>,
    ) -> anyhow::Result<Option<String>> {
        let now = Timestamp::now();
        let before = stored.map(|stored| &stored.config);
        let weaker = Weaker::of_provider(before, config, now);
        let mut changes: Vec<String> = weaker.iter().map(Weaker::words).collect();
        let ended = self.agreement_expires.filter(|_| config.is_expired(now));
        changes.extend(ended.map(|end| {
            format!("The agreement ended on {end} (--agreement-expires), so no request with PHI will be sent there.")
        }));
        let subject = format!("provider {}", self.name);
        reason_to(session, &subject, &changes, self.reason.as_deref())
    }

    /// Merges the options over the stored entry.
    fn laid_over(&self, kind: ProviderKind, stored: Option<&ProviderInfo>) -> ProviderConfig {
        let mut config = match stored {
            Some(stored) => stored.config.clone(),
            None => ProviderConfig::new(kind),
        };
        let is_another_kind = config.kind != kind;
        config.kind = kind;
        let auth = match self.auth {
            Some(auth) => auth,
            None if is_another_kind => kind.default_auth(),
            None => config.auth(),
        };
        config.auth = (auth != kind.default_auth()).then_some(auth);
        for (option, given) in self.options() {
            // Options of another kind or another authentication are dropped.
            let is_used = kind.options().contains(&option) || auth.options().contains(&option);
            if given.is_some() || !is_used || is_another_kind {
                config.set_option(option, given.cloned());
            }
        }
        if let Some(Models(models)) = &self.models {
            config.models.clone_from(models);
        }
        config.priority = self.priority.unwrap_or(config.priority);
        config.phi = self.phi.unwrap_or(config.phi);
        config.agreement = self.agreement.clone().or(config.agreement);
        config.agreement_expires = self.agreement_expires.or(config.agreement_expires);
        config
    }
}

pub(super) async fn run(session: &Session, set: &Set) -> anyhow::Result<()> {
    let (vault, account, name) = (&session.vault, session.account().await?, &set.name);
    let stored = vault.access.provider(&account.id, name).await?;
    if set.is_empty() {
        bail!(
            "nothing to change for {name}: give its key with --key-stdin, its address with --base-url URL, or another option"
        );
    }
    // A call of the admin API sets the whole entry.
    let base = stored.as_ref().filter(|_| !session.is_remote());
    let config = set.laid_over(set.kind(stored.as_ref())?, base);
    let what = config.auth().secret_words();
    let given = match set.key_stdin {
        true => Some(session.secret(what).context("--key-stdin")?),
        false => None,
    };
    let fits = |stored: &ProviderInfo| {
        let is_same = stored.config.kind == config.kind && stored.config.auth() == config.auth();
        stored.has_secret && is_same
    };
    let (secret, kept) = match &given {
        Some(secret) => (GivenSecret::Now(secret.expose()), NewSecret::Set(secret)),
        None if stored.as_ref().is_some_and(fits) => (GivenSecret::Stored, NewSecret::Keep),
        None => (GivenSecret::Missing, NewSecret::Remove),
    };
    check_setup(&config, secret, session.setup_rules())?;
    let reason = set.reason_to(session, &config, stored.as_ref())?;
    let by = By {
        actor: session.actor(),
        reason: reason.as_deref(),
    };
    let access = &vault.access;
    access
        .set_provider(&account.id, name, &config, kept, by)
        .await?;
    session.tell(format_args!(
        "{name} set for account {}; `phigate provider test {name}` asks it whether that works",
        account.name
    ));
    Ok(())
}
