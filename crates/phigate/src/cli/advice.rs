//! The next step after an error of the store: which command shows what there is, or finds the cause.

use phigate_store::StoreError;

/// What to do next, where the message itself does not say it.
pub(super) fn advice(error: &anyhow::Error) -> Option<&'static str> {
    let error = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<StoreError>())?;
    match error {
        StoreError::NotFound(what) => list_of(what),
        StoreError::Conflict(_) => {
            Some("see what is there with the command's `list`, or try again")
        }
        StoreError::Busy(_) => Some("try again"),
        StoreError::Unavailable(_) | StoreError::Timeout => {
            Some("`phigate doctor` looks for the cause")
        }
        StoreError::Unreadable(_) => Some("`phigate audit verify` finds what was changed"),
        _ => None,
    }
}

fn list_of(what: &str) -> Option<&'static str> {
    const LISTS: &[(&str, &str)] = &[
        // By the noun of the store's message.
        ("API key", "`phigate key list` shows the keys"),
        ("account", "`phigate account list` shows the accounts"),
        ("provider", "`phigate provider list` shows the providers"),
        (
            "request",
            "`phigate audit list` shows the latest; requests of another account need --account NAME",
        ),
        ("user", "`phigate user list` shows the people"),
    ];
    let row = LISTS.iter().find(|(noun, _)| what.contains(noun));
    row.map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_is_said_to_be_listed_somewhere() {
        for (what, command) in [
            ("API key", "key list"),
            ("user", "user list"),
            ("API key", "`phigate key list` shows the keys"),
            ("account", "account list"),
            ("request", "audit list"),
        ] {
            let error = anyhow::Error::from(StoreError::NotFound(what)).context("cannot go on");
            assert!(
                advice(&error).is_some_and(|advice| advice.contains(command)),
                "{what}"
            );
        }
        assert_eq!(advice(&anyhow::anyhow!("something else")), None);
    }
}
