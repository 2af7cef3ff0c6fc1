//! The kinds of targets, and the check of a new target.

use phigate_store::ExportConfig;

use super::target::TargetKind;
use super::{file, otlp, s3, syslog, webhook};

/// Every kind.
pub(super) static KINDS: &[&TargetKind] = &[
    // Alphabetical, one row per file.
    &file::KIND,
    &otlp::KIND,
    &s3::KIND,
    &syslog::KIND,
    &webhook::KIND,
];

/// Reason why a target is refused. Names options, never their values: an address may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportSetupError(String);

/// The kind of an address.
pub(super) fn kind_of(to: &str) -> Option<&'static TargetKind> {
    let found = KINDS.iter().find(|kind| to.starts_with(kind.scheme));
    found.copied()
}

/// Checks a target before it is stored.
pub fn check_export(
    config: &ExportConfig,
    secret: Option<&str>,
    allow_private: bool,
) -> Result<(), ExportSetupError> {
    let refused = |why: String| Err(ExportSetupError(why));
    let Some(kind) = kind_of(&config.to) else {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.scheme).collect();
        let scheme = config.to.split_once("://").map_or("", |(scheme, _)| scheme);
        let is_word = scheme.len() <= 16
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
        let shown = if is_word { scheme } else { "" };
        return refused(format!(
            "--to has an unknown scheme {shown}: the address of a target begins with {}",
            known.join(", ")
        ));
    };
    if config.records.is_empty() {
        return refused("--records names no kind of record".to_owned());
    }
    if let Some(only) = config.only
        && !config.records.iter().any(|record| only.includes(*record))
    {
        return refused(format!("--only {only} leaves nothing of --records"));
    }
    let given = [
        ("--base-url", config.base_url.is_some()),
        ("--lock", config.lock_hours.is_some()),
        ("--region", config.region.is_some()),
    ];
    for (option, _) in given.iter().filter(|(_, is_given)| *is_given) {
        if !kind.options.contains(option) {
            return refused(format!("{option} is for s3:// alone"));
        }
    }
    (kind.check)(config, allow_private).map_err(ExportSetupError)?;
    match (&kind.secret, secret) {
        (Some(form), Some(secret)) => (form.check)(secret).map_err(ExportSetupError),
        (Some(form), None) => refused(format!(
            "this target needs {}: give it with --key-stdin",
            form.words
        )),
        (None, Some(_)) => refused(format!(
            "a target {} has no secret: leave out --key-stdin",
            kind.scheme
        )),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_loses_its_scheme_once() {
        for kind in KINDS {
            let to = format!("{0}{0}x", kind.scheme);
            assert_eq!(kind.rest(&to), format!("{}x", kind.scheme));
        }
    }
}
