//! Controls in force: how PHI is treated, who may do what, where the evidence goes.

use phigate_gateway::{AccountSettings, Kinds, account_fields, policy_table};
use phigate_store::{
    AdminAct, Filter, INSTALLATION, ProviderInfo, Record, RecordKind, User, shown_address,
};
use phigate_types::Act;
use serde_json::Value;

use crate::document::{Column, Document, Section};
use crate::times::to_the_second;
use crate::{Order, ReportError, Sources};

/// Acts on the installation that show its care, in the order of the report.
const CARE: &[Act] = &[
    // One row per act.
    Act::InstallationBackup,
    Act::InstallationDrill,
    Act::AuditVerify,
    Act::MasterKeyRotate,
];

/// Lists what is in force.
pub(crate) async fn fill(
    document: &mut Document,
    sources: &Sources,
    order: &Order<'_>,
) -> Result<(), ReportError> {
    let id = &order.account.id;
    let account = sources.accounts.account(id).await?;
    let days = account.settings.retention.metadata_days;
    document.fact("mode", "PHI handling mode", account.mode.code());
    document.fact("retention_days", "Days for records", days);
    document.fact("providers", "Providers", account.providers.len());
    let copies = order.checkpoint_files.len();
    document.fact(
        "checkpoint_copies",
        "Copies of checkpoints elsewhere",
        copies,
    );

    let columns = [
        Column("kind", "Kind of PHI"),
        Column("action", "Treatment"),
        Column("by", "Said by"),
    ];
    let mut kinds = Section::map("kinds", "Treatment of each kind", "", &columns);
    let labels = Kinds::of(&account.recognizers);
    for row in policy_table(&account, &account.policy) {
        let named = labels.all().find(|(kind, _)| kind.code() == row.kind);
        kinds.row(
            named.map(|(kind, label)| format!("{label} ({})", kind.code())),
            vec![row.kind.into(), row.action.into(), row.by.into()],
        );
    }
    document.sections.push(kinds);
    document.sections.push(providers(sources, id, order).await?);
    document.sections.push(keys(sources, id).await?);
    document.sections.push(people(sources, id).await?);
    document.sections.push(exports(sources, id).await?);
    document.sections.push(care(sources).await?);

    let all = AccountSettings {
        mode: account.mode,
        settings: account.settings.clone(),
    };
    let columns = [Column("setting", "Setting"), Column("value", "Value")];
    let mut settings = Section::map("settings", "Settings", "", &columns);
    for field in account_fields() {
        let value = field.get(&all);
        let value = if value.is_empty() {
            "default".to_owned()
        } else {
            value
        };
        let words = format!("{} ({})", field.label(), field.name());
        settings.row(Some(words), vec![field.name().into(), value.into()]);
    }
    document.sections.push(settings);
    Ok(())
}

async fn providers(sources: &Sources, id: &str, order: &Order<'_>) -> Result<Section, ReportError> {
    let columns = [
        Column("name", "Provider"),
        Column("kind", "Kind"),
        Column("phi", "PHI it may receive"),
        Column("agreement", "Agreement"),
        Column("agreement_expires", "Ends"),
        Column("changed", "Changed"),
        Column("by", "By"),
    ];
    let title = "Providers and agreements";
    let mut section = Section::list("provider_agreements", title, "No provider.", &columns);
    for provider in sources.access.providers(id).await? {
        let ProviderInfo {
            name,
            config,
            updated,
            updated_by,
            ..
        } = provider;
        section.row(
            None,
            vec![
                name.into(),
                config.kind.code().into(),
                config.phi_now(order.now).to_string().into(),
                config.agreement.clone().into(),
                config.agreement_expires.map(|date| date.to_string()).into(),
                to_the_second(updated).into(),
                updated_by.into(),
            ],
        );
    }
    Ok(section)
}

async fn keys(sources: &Sources, id: &str) -> Result<Section, ReportError> {
    let columns = [
        Column("key", "API key"),
        Column("name", "Name"),
        Column("created", "Created"),
        Column("expires", "Expires"),
        Column("last_used", "Last used"),
    ];
    let title = "API keys that are not revoked";
    let mut section = Section::list("keys", title, "No key.", &columns);
    for key in sources.access.api_keys(id).await? {
        if key.revoked.is_some() {
            continue;
        }
        section.row(
            None,
            vec![
                key.id.into(),
                key.name.into(),
                to_the_second(key.created).into(),
                key.expires.map(to_the_second).into(),
                key.last_used.map(to_the_second).into(),
            ],
        );
    }
    Ok(section)
}

async fn people(sources: &Sources, id: &str) -> Result<Section, ReportError> {
    let columns = [
        Column("user", "User"),
        Column("roles", "Roles"),
        Column("sign_in", "Signs in by"),
        Column("second_factor", "Second factor"),
        Column("last_login", "Last login"),
    ];
    let title = "People who may sign in";
    let mut section = Section::list("users", title, "Nobody.", &columns);
    for user in sources.people.users(id).await? {
        let sign_in = match &user {
            User {
                subject: Some(_), ..
            } => "identity provider",
            User {
                break_glass: true, ..
            } => "password, break-glass",
            _ => "password",
        };
        section.row(
            None,
            vec![
                user.name().into(),
                user.roles.codes().into(),
                sign_in.into(),
                if user.has_totp { "yes" } else { "no" }.into(),
                user.last_login.map(to_the_second).into(),
            ],
        );
    }
    Ok(section)
}

async fn exports(sources: &Sources, id: &str) -> Result<Section, ReportError> {
    let columns = [
        Column("name", "Export"),
        Column("to", "To"),
        Column("records", "Records"),
        Column("lag_records", "Records it lacks"),
        Column("problem", "Problem"),
    ];
    let title = "Copies of records outside";
    let mut section = Section::list("exports", title, "No export.", &columns);
    for info in sources.exports.list(id).await? {
        let state = sources.exports.state(id, &info.name).await?;
        let records = info
            .config
            .records
            .iter()
            .map(|one| Value::from(one.code()));
        let paused = info.is_paused.then(|| "paused".to_owned());
        section.row(
            None,
            vec![
                info.name.into(),
                shown_address(&info.config.to).into(),
                records.collect(),
                state.lag_records.into(),
                paused.or(state.problem).into(),
            ],
        );
    }
    Ok(section)
}

/// The newest act of each kind that shows the installation's care.
async fn care(sources: &Sources) -> Result<Section, ReportError> {
    let columns = [
        Column("act", "Act"),
        Column("time", "Last time (UTC)"),
        Column("by", "By"),
        Column("details", "Details"),
    ];
    let title = "Care of the installation";
    let mut section = Section::map("care", title, "", &columns);
    for act in CARE {
        let filter = Filter {
            record: Some(RecordKind::Admin),
            act: Some(*act),
            ..Filter::default()
        };
        let newest = sources
            .trail
            .audit_list(INSTALLATION, &filter, None, 1)
            .await?;
        let newest = newest.items.into_iter().next();
        let cells = match newest {
            Some(Record::Admin(done)) => vec![
                to_the_second(done.time).into(),
                done.actor.as_str().into(),
                words(&done).into(),
            ],
            _ => vec![Value::from("never"), Value::Null, Value::Null],
        };
        let cells = [Value::from(act.code())].into_iter().chain(cells);
        section.row(Some(act.words().to_owned()), cells.collect());
    }
    Ok(section)
}

fn words(act: &AdminAct) -> String {
    let details = act.details.iter();
    let details: Vec<String> = details
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    details.join(", ")
}
