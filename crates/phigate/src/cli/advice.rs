//! Next steps after an error of the store: the command that lists the existing names or finds the cause.

use phigate_store::StoreError;

/// The next step, if the message itself does not name it.
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
        // By the noun in the store's message.
        ("API key", "`phigate key list` shows the keys"),
        (
            "entry of the allow list",
            "`phigate allow list` shows the entries",
        ),
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
    fn every_missing_item_names_a_list() {
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
