//! Reports for people outside: the page starts from the question, and the answer is a signed file.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use phigate_gateway::{AccountSettings, Kinds, account_field};
use phigate_report::{Ask, Identifier, Order, ReportError, ReportFormat, Sources, make, month_of};
use phigate_store::{By, SecretString};
use phigate_types::Right;

use super::log::tabs;
use super::log_filter::moment;
use crate::Dash;
use crate::fields::Fields;
use crate::layout::Layout;
use crate::view::{Choice, choices, in_sentence};
use crate::visit::{Answer, PageError, SignedIn, form_status, page_with, redirect};

const ADDRESS: &str = "/audit/reports";

/// Longest reference, in characters.
const REFERENCE_MAX: usize = 120;

/// The name of the setting.
const LETTERHEAD: &str = "letterhead";

/// The questions.
#[derive(Template)]
#[template(path = "audit/reports.html")]
pub(crate) struct Page {
    pub(crate) layout: Layout,
    pub(crate) tabs: Vec<Choice>,
    pub(crate) error: Option<String>,
    pub(crate) types: Vec<Choice>,
    pub(crate) providers: Vec<Choice>,
    pub(crate) keys: Vec<Choice>,
    pub(crate) formats: Vec<Choice>,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) month: String,
    pub(crate) reference: String,
    pub(crate) letterhead: String,
    /// Whether this person may look up identifiers.
    pub(crate) finds: bool,
    /// Whether this person may set the letterhead.
    pub(crate) configures: bool,
}

/// `GET /audit/reports`
pub(crate) async fn show(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    draw(&dash, &visit, None).await
}

/// `POST /audit/reports/patient`
pub(crate) async fn make_for_patient(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let form = visit.form();
    let kinds = Kinds::of(&visit.account.recognizers);
    let (Some(kind), false) = (kinds.find(form.get("type")), form.get("value").is_empty()) else {
        let error = "Choose a type and enter the whole value.".to_owned();
        return draw(&dash, &visit, Some(error)).await;
    };
    let value = SecretString::from(form.get("value"));
    match Identifier::read(kind, &value) {
        Ok(identifier) => answer(&dash, &visit, Ask::Disclosures(identifier)).await,
        Err(error) => draw(&dash, &visit, Some(in_sentence(&error.to_string()))).await,
    }
}

/// `POST /audit/reports`
pub(crate) async fn make_report(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    match asked(visit.form()) {
        Ok(ask) => answer(&dash, &visit, ask).await,
        Err(error) => draw(&dash, &visit, Some(error)).await,
    }
}

/// `POST /audit/reports/letterhead`
pub(crate) async fn save_letterhead(State(dash): State<Dash>, visit: SignedIn) -> Answer {
    let mut all = AccountSettings {
        mode: visit.account.mode,
        settings: visit.account.settings.clone(),
    };
    let field = account_field(LETTERHEAD).ok_or(PageError::Broken)?;
    if let Err(error) = field.set(&mut all, visit.form().get(LETTERHEAD)) {
        let error = format!("Letterhead: {error}.");
        return draw(&dash, &visit, Some(error)).await;
    }
    let change = |settings: &mut phigate_store::Settings| {
        settings.letterhead.clone_from(&all.settings.letterhead);
    };
    let accounts = &dash.vault.accounts;
    let by = By::from(visit.actor());
    accounts
        .edit_settings(visit.account_id(), change, by)
        .await?;
    Ok(redirect("/audit/reports?done=letterhead"))
}

/// Reads the question of a form.
fn asked(form: &Fields) -> Result<Ask, String> {
    let name = |field: &str| Some(form.get(field).to_owned()).filter(|text| !text.is_empty());
    match form.get("report") {
        "incident" => {
            let times = (moment(form.get("since"))?, moment(form.get("until"))?);
            let (Some(since), Some(until)) = times else {
                return Err("Enter the first moment of the incident and its end.".to_owned());
            };
            if since >= until {
                return Err("The end of the incident must be after its beginning.".to_owned());
            }
            Ok(Ask::Incident {
                since,
                until,
                provider: name("provider"),
                key: name("key"),
            })
        }
        "monthly" => {
            let month = month_of(form.get("month"));
            let month = month.ok_or("Enter a month such as 2026-01.")?;
            Ok(Ask::Monthly { month })
        }
        "controls" => Ok(Ask::Controls),
        _ => Err("Choose one of the reports.".to_owned()),
    }
}

/// Makes the report and hands it out as a file.
async fn answer(dash: &Dash, visit: &SignedIn, ask: Ask) -> Answer {
    let form = visit.form();
    let reference = form.get("reference");
    let is_plain = !reference.contains(char::is_control);
    if reference.chars().count() > REFERENCE_MAX || !is_plain {
        let error = format!("A reference has at most {REFERENCE_MAX} characters in one line.");
        return draw(dash, visit, Some(error)).await;
    }
    let mut formats = ReportFormat::all();
    let format = formats.find(|format| format.code() == form.get("format"));
    let format = format.unwrap_or(ReportFormat::Html);
    let account = dash.vault.accounts.find_account(Some(&visit.account.name));
    let order = Order {
        account: &account.await?,
        actor: visit.actor(),
        reference: Some(reference).filter(|text| !text.is_empty()),
        now: Timestamp::now(),
        checkpoint_files: &dash.checkpoint_files,
    };
    let text = match make(&sources(dash), &order, &ask, format).await {
        Ok(text) => text,
        Err(ReportError::Store(error)) => return Err(error.into()),
        Err(ReportError::Asked(words)) => {
            return draw(dash, visit, Some(in_sentence(&words))).await;
        }
        Err(ReportError::Written) => return Err(PageError::Broken),
    };
    let name = format!(
        "phigate-{}-{}.{}",
        ask.kind().code(),
        order.now.strftime("%Y%m%d-%H%M%S"),
        format.code()
    );
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .map_err(|_| PageError::Broken)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(format.media_type()),
        ),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok::<Response, _>((headers, text).into_response())
}

fn sources(dash: &Dash) -> Sources {
    let vault = &dash.vault;
    Sources {
        accounts: vault.accounts.clone(),
        access: vault.access.clone(),
        people: vault.people.clone(),
        exports: vault.exports.clone(),
        trail: vault.trail.clone(),
        reports: vault.reports.clone(),
    }
}

async fn draw(dash: &Dash, visit: &SignedIn, error: Option<String>) -> Answer {
    let form = visit.form();
    let kinds = Kinds::of(&visit.account.recognizers);
    let types = kinds.all().map(|(kind, label)| (kind.code(), label));
    let all = |words| std::iter::once(("", words));
    let providers = visit.account.providers.keys();
    let providers = providers.map(|name| (name.as_str(), name.as_str()));
    let known = dash.vault.access.api_keys(visit.account_id()).await?;
    let named = |key: &phigate_store::ApiKeyInfo| match key.name.is_empty() {
        true => key.id.clone(),
        false => format!("{} ({})", key.name, key.id),
    };
    let keys: Vec<(String, String)> = known
        .iter()
        .map(|key| (key.id.clone(), named(key)))
        .collect();
    let keys = keys.iter().map(|(id, name)| (id.as_str(), name.as_str()));
    let formats = ReportFormat::all().map(|format| (format.code(), format_words(format)));
    let month = Some(form.get("month")).filter(|month| !month.is_empty());
    let month = month.map_or_else(|| last_month().strftime("%Y-%m").to_string(), str::to_owned);
    page_with(
        form_status(error.is_some()),
        &Page {
            layout: visit.layout("/audit"),
            tabs: tabs(ADDRESS),
            error,
            types: choices(types, form.get("type")),
            providers: choices(all("All providers").chain(providers), form.get("provider")),
            keys: choices(all("All keys").chain(keys), form.get("key")),
            formats: choices(formats, form.get("format")),
            since: form.get("since").to_owned(),
            until: form.get("until").to_owned(),
            month,
            reference: form.get("reference").to_owned(),
            letterhead: visit.account.settings.letterhead.replace("; ", "\n"),
            finds: visit.may(Right::Reveal),
            configures: visit.may(Right::Configure),
        },
    )
}

fn format_words(format: ReportFormat) -> &'static str {
    match format {
        ReportFormat::Html => "Page to print (HTML)",
        ReportFormat::Json => "For programs (JSON)",
        ReportFormat::Csv => "Spreadsheet (CSV)",
    }
}

/// The last month that is over.
fn last_month() -> Date {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let last = today.first_of_month().checked_sub(1.month());
    last.unwrap_or(today)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_and_errors_named() {
        for (fields, words) in [
            (&[("report", "incident")][..], "first moment"),
            (
                &[
                    ("report", "incident"),
                    ("since", "2026-02-01T00:00"),
                    ("until", "2026-01-01T00:00"),
                ],
                "after its beginning",
            ),
            (&[("report", "monthly"), ("month", "May")], "2026-01"),
            (&[("report", "yearly")], "Choose"),
        ] {
            let error = asked(&Fields::of(fields)).err();
            assert!(error.is_some_and(|error| error.contains(words)), "{words}");
        }
        let month = Fields::of(&[("report", "monthly"), ("month", "2026-01")]);
        assert!(matches!(asked(&month), Ok(Ask::Monthly { .. })));
    }
}
