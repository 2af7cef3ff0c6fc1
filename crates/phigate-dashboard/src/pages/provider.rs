//! One provider: added from a preset, or changed.

use askama::Template;
use axum::extract::{Path, State};
use jiff::Timestamp;
use phigate_gateway::{GivenSecret, SetupError, Weaker, check_setup};
use phigate_store::{By, NewSecret, ProviderConfig, ProviderInfo, SecretString, reason};
use phigate_types::{
    ModelEntry, PhiAgreement, ProviderOption, Secret, is_provider_name, read_models,
};

use super::presets::{self, Preset};
use super::providers::{done, try_out};
use super::terms::{self, Terms};
use super::trials::TestResult;
use crate::Dash;
use crate::fields::{Fields, encode};
use crate::layout::Layout;
use crate::view::{Choice, When, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

/// One provider.
#[derive(Template)]
#[template(path = "provider.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) error: Option<String>,
    pub(crate) title: String,
    pub(crate) lead: String,
    /// Address of the form.
    pub(crate) action: String,
    /// The name; typed if the provider is new.
    pub(crate) name: String,
    pub(crate) is_new: bool,
    pub(crate) steps: &'static [&'static str],
    pub(crate) console: Option<(&'static str, &'static str)>,
    pub(crate) fields: Vec<Field>,
    /// Options that most leave alone.
    pub(crate) more: Vec<Field>,
    pub(crate) secret: Option<SecretField>,
    pub(crate) models: String,
    pub(crate) models_example: &'static str,
    pub(crate) priority: String,
    pub(crate) agreements: Vec<Choice>,
    pub(crate) agreement: String,
    pub(crate) agreement_expires: String,
    /// The reason as typed, for what lets more PHI go there.
    pub(crate) why: String,
    pub(crate) terms: Option<Terms>,
    pub(crate) changed: Option<(When, String)>,
    pub(crate) test: Option<TestResult>,
}

/// One option of the provider's kind.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) hint: String,
    pub(crate) is_needed: bool,
}

/// Field for the secret.
#[derive(Debug)]
pub(crate) struct SecretField {
    pub(crate) label: &'static str,
    pub(crate) is_document: bool,
    pub(crate) is_stored: bool,
    pub(crate) is_needed: bool,
    pub(crate) last_four: String,
}

/// `GET /providers/add/{preset}`
pub(crate) async fn add(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(preset): Path<String>,
) -> Answer {
    let preset = presets::find(&preset).ok_or(PageError::NotFound)?;
    let draft = Draft::new(preset);
    draw(&dash, &visit, draft, None).await
}

/// `POST /providers/add/{preset}`
pub(crate) async fn create(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(preset): Path<String>,
) -> Answer {
    let preset = presets::find(&preset).ok_or(PageError::NotFound)?;
    let name = visit.form().get("name").to_owned();
    let access = &dash.vault.access;
    let mut draft = Draft::new(preset);
    draft.name.clone_from(&name);
    if !is_provider_name(&name) {
        let error = "A name has 1 to 32 lower-case letters, digits and hyphens.".to_owned();
        return draw(&dash, &visit, draft, Some(error)).await;
    }
    if access.provider(visit.account_id(), &name).await?.is_some() {
        let error = "There is already a provider with this name.".to_owned();
        return draw(&dash, &visit, draft, Some(error)).await;
    }
    keep(&dash, &visit, draft).await
}

/// `GET /provider/{provider}`
pub(crate) async fn show(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(name): Path<String>,
) -> Answer {
    let draft = Draft::stored(&dash, &visit, &name).await?;
    draw(&dash, &visit, draft, None).await
}

/// `POST /provider/{provider}`
pub(crate) async fn save(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(name): Path<String>,
) -> Answer {
    let draft = Draft::stored(&dash, &visit, &name).await?;
    keep(&dash, &visit, draft).await
}

/// `POST /provider/{provider}/test`
pub(crate) async fn test(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(name): Path<String>,
) -> Answer {
    // There is such a provider.
    Draft::stored(&dash, &visit, &name).await?;
    let model = Some(visit.form().get("model")).filter(|model| !model.is_empty());
    try_out(&dash, &visit, &name, model).await;
    Ok(redirect(&format!("/provider/{}", encode(&name))))
}

/// `POST /provider/{provider}/remove`
pub(crate) async fn remove(
    State(dash): State<Dash>,
    visit: SignedIn,
    Path(name): Path<String>,
) -> Answer {
    let access = &dash.vault.access;
    access
        .remove_provider(visit.account_id(), &name, visit.actor())
        .await?;
    Ok(redirect(&done("provider-gone")))
}

/// A provider as it is being set.
struct Draft {
    name: String,
    config: ProviderConfig,
    stored: Option<ProviderInfo>,
    preset: Option<&'static Preset>,
}

impl Draft {
    fn new(preset: &'static Preset) -> Self {
        let mut config = ProviderConfig::new(preset.kind);
        config.auth = (preset.auth != preset.kind.default_auth()).then_some(preset.auth);
        config.base_url = Some(preset.base_url.to_owned()).filter(|url| !url.is_empty());
        Self {
            name: String::new(),
            config,
            stored: None,
            preset: Some(preset),
        }
    }

    async fn stored(dash: &Dash, visit: &SignedIn, name: &str) -> Result<Self, PageError> {
        let access = &dash.vault.access;
        let stored = access.provider(visit.account_id(), name).await?;
        let stored = stored.ok_or(PageError::NotFound)?;
        let config = stored.config.clone();
        Ok(Self {
            name: name.to_owned(),
            preset: presets::explaining(config.kind, config.auth()),
            config,
            stored: Some(stored),
        })
    }

    /// The options that a provider like this takes.
    fn options(&self) -> impl Iterator<Item = ProviderOption> + use<> {
        let own = self.config.kind.options().iter();
        own.chain(self.config.auth().options()).copied()
    }

    /// Lays what was typed over what is known.
    fn fill(&mut self, form: &Fields) -> Result<(), String> {
        let typed = |name: &str| Some(form.get(name).to_owned()).filter(|text| !text.is_empty());
        for option in self.options() {
            self.config.set_option(option, typed(option.code()));
        }
        self.config.models = match form.get("models") {
            "" => Vec::new(),
            models => read_models(models).map_err(|error| in_sentence(&error.to_string()))?,
        };
        let priority = form.get("priority").parse();
        self.config.priority =
            priority.map_err(|_| "Write the priority as a number, 0 or higher.")?;
        let phi = form.get("phi").parse::<PhiAgreement>();
        self.config.phi = phi.map_err(|_| "Choose what the provider may have.")?;
        self.config.agreement = typed("agreement").map(|text| text.chars().take(500).collect());
        self.config.agreement_expires = match form.get("agreement-expires") {
            "" => None,
            date => Some(date.parse().map_err(|_| "Write a date that exists.")?),
        };
        Ok(())
    }

    /// Asks for a reason if the provider may have more PHI than before, or an agreement that has ended is set.
    fn needs_reason(&self, now: Timestamp) -> Option<String> {
        let before = self.stored.as_ref().map(|stored| &stored.config);
        let weaker = Weaker::of_provider(before, &self.config, now);
        let mut words: Vec<String> = weaker.iter().map(Weaker::words).collect();
        let is_news =
            before.and_then(|before| before.agreement_expires) != self.config.agreement_expires;
        if is_news && self.config.is_expired(now) {
            words.push(
                "The agreement has ended already, so no request with PHI would be sent there."
                    .to_owned(),
            );
        }
        words.push("Give a reason of 4 to 400 characters, under the agreement.".to_owned());
        (words.len() > 1).then(|| words.join(" "))
    }

    /// Whether the secret would go to other addresses than those it was given for.
    fn has_moved(&self) -> bool {
        let Some(stored) = &self.stored else {
            return false;
        };
        let is_address = |option: &ProviderOption| {
            !matches!(
                option,
                ProviderOption::ApiVersion | ProviderOption::ClientId
            )
        };
        let mut addresses = self.options().filter(is_address);
        addresses.any(|option| stored.config.option(option) != self.config.option(option))
    }

    fn title(&self) -> String {
        let label = self.preset.map(|preset| preset.label);
        match &self.stored {
            Some(_) => self.name.clone(),
            None => format!("Add {}", label.unwrap_or(self.config.kind.label())),
        }
    }

    /// Returns the lead of the page: the preset's own words, or the provider's state and health.
    fn lead(&self, health: &str) -> String {
        match (&self.stored, self.preset) {
            (None, Some(preset)) => preset.summary.to_owned(),
            _ => {
                let (kind, auth) = (self.config.kind.label(), self.config.auth().label());
                format!("{kind}, {auth} · {health}")
            }
        }
    }

    /// Returns the address of the form.
    fn action(&self) -> String {
        match (&self.stored, self.preset) {
            (None, Some(preset)) => format!("/providers/add/{}", preset.code),
            _ => format!("/provider/{}", self.name),
        }
    }
}

/// Saves what was typed, or says why not.
async fn keep(dash: &Dash, visit: &SignedIn, mut draft: Draft) -> Answer {
    let key = visit.form().get("key");
    let has_secret = draft
        .stored
        .as_ref()
        .is_some_and(|stored| stored.has_secret);
    let checked = draft.fill(visit.form()).and_then(|()| {
        let secret = match key {
            "" if has_secret && draft.has_moved() => {
                return Err("The stored secret belongs to the old address. Paste the one for the new address.".to_owned());
            }
            "" if has_secret => GivenSecret::Stored,
            "" => GivenSecret::Missing,
            key => GivenSecret::Now(key),
        };
        let rules = dash.gateway.setup_rules();
        check_setup(&draft.config, secret, rules).map_err(|error| blamed(&error))
    });
    let why = reason(visit.form().get("why"));
    let checked = checked.and_then(|()| match draft.needs_reason(Timestamp::now()) {
        Some(words) if why.is_none() => Err(words),
        _ => Ok(()),
    });
    if let Err(error) = checked {
        return draw(dash, visit, draft, Some(error)).await;
    }
    let by = By {
        actor: visit.actor(),
        reason: why,
    };
    let given = SecretString::new(key.to_owned());
    let secret = match key {
        "" if has_secret => NewSecret::Keep,
        "" => NewSecret::Remove,
        _ => NewSecret::Set(&given),
    };
    let access = &dash.vault.access;
    access
        .set_provider(visit.account_id(), &draft.name, &draft.config, secret, by)
        .await?;
    Ok(redirect(&done("provider")))
}

/// Describes an error, with the field's name as the page has it.
fn blamed(error: &SetupError) -> String {
    let option = error.option.parse::<ProviderOption>();
    let field = option.map_or("Secret", ProviderOption::label);
    format!("{field}: {}.", error.why)
}

async fn draw(dash: &Dash, visit: &SignedIn, draft: Draft, error: Option<String>) -> Answer {
    let (config, now) = (&draft.config, Timestamp::now());
    let trail = &dash.vault.trail;
    let fares = trail.provider_health(visit.account_id()).await?;
    let is_typed = error.is_some();
    let form = visit.form();
    let value = |name: &str, known: String| match is_typed {
        true => form.get(name).to_owned(),
        false => known,
    };
    let models: Vec<String> = config.models.iter().map(ModelEntry::to_string).collect();
    let expires = config.agreement_expires.map(|date| date.to_string());
    let status = form_status(is_typed);
    let allows_ambient = dash.gateway.setup_rules().allow_ambient;
    let (fields, more) = fields(&draft, allows_ambient, |option, known| {
        value(option.code(), known)
    });
    let page = Page {
        layout: visit.layout("/providers"),
        title: draft.title(),
        lead: draft.lead(&terms::health(fares.get(&draft.name))),
        action: draft.action(),
        is_new: draft.stored.is_none(),
        steps: draft.preset.map_or(&[], |preset| preset.steps),
        console: draft.preset.and_then(|preset| preset.console),
        fields,
        more,
        secret: secret_field(&draft, allows_ambient),
        models: value("models", models.join(",")),
        models_example: draft.preset.map_or("", |preset| preset.models),
        priority: value("priority", config.priority.to_string()),
        agreements: agreements(&value("phi", config.phi.to_string())),
        agreement: value("agreement", config.agreement.clone().unwrap_or_default()),
        agreement_expires: value("agreement-expires", expires.unwrap_or_default()),
        why: value("why", String::new()),
        terms: draft
            .stored
            .as_ref()
            .map(|stored| Terms::of(&stored.config, now)),
        changed: draft
            .stored
            .as_ref()
            .map(|stored| (When::at(stored.updated), stored.updated_by.clone())),
        test: draft
            .stored
            .as_ref()
            .and_then(|stored| dash.trials.of(visit.account_id(), stored)),
        error,
        name: draft.name,
    };
    page_with(status, &page)
}

/// The options of a provider: those that must be filled in, and those that most leave alone.
fn fields(
    draft: &Draft,
    allows_ambient: bool,
    value: impl Fn(ProviderOption, String) -> String,
) -> (Vec<Field>, Vec<Field>) {
    let config = &draft.config;
    let by_preset = draft.preset.map_or(&[][..], |preset| preset.needs);
    let by_auth = config.auth().needs();
    let field = |option: ProviderOption| {
        let is_own = config.kind.needs().contains(&option) || by_preset.contains(&option);
        // The machine's own identity can take the place of what a secret would need.
        let is_needed = is_own || (by_auth.contains(&option) && !allows_ambient);
        let words = format!("Write {}.", option.words());
        Field {
            code: option.code(),
            label: option.label(),
            value: value(option, config.option(option).unwrap_or_default().to_owned()),
            hint: match is_needed {
                true => words,
                false => format!("{words} Leave it empty for the usual one."),
            },
            is_needed,
        }
    };
    let is_asked = |field: &Field| {
        let is_of_identity = by_auth.iter().any(|option| option.code() == field.code);
        field.is_needed || is_of_identity || !field.value.is_empty()
    };
    draft.options().map(field).partition(is_asked)
}

fn secret_field(draft: &Draft, allows_ambient: bool) -> Option<SecretField> {
    let (auth, stored) = (draft.config.auth(), draft.stored.as_ref());
    let is_stored = stored.is_some_and(|stored| stored.has_secret);
    let can_be_left_out = auth.secret().can_be_ambient() && allows_ambient;
    (auth.secret() != Secret::None).then(|| SecretField {
        label: auth.secret_words(),
        is_document: auth.secret() == Secret::Json,
        is_stored,
        is_needed: !is_stored && !can_be_left_out,
        last_four: stored
            .map(|stored| stored.last4.clone())
            .unwrap_or_default(),
    })
}

fn agreements(chosen: &str) -> Vec<Choice> {
    let choice = |phi: PhiAgreement| Choice {
        code: phi.code().to_owned(),
        label: format!("{}: {}", phi.label(), phi.summary()),
        chosen: phi.code() == chosen,
    };
    PhiAgreement::all().map(choice).collect()
}
