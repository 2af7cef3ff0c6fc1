//! Values on the command line that come from a table; the error for a wrong value lists the right ones.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Accepts the code of a table row, and lists all of them in help and errors.
pub(super) fn known<T: Copy + Send + Sync + 'static>(
    all: impl Iterator<Item = T>,
    code: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.collect();
    PossibleValuesParser::new(all.iter().map(|one| code(*one))).try_map(move |text| {
        let found = all
            .iter()
            .find(|one| code(**one).eq_ignore_ascii_case(&text));
        found.copied().ok_or("not one of the words listed")
    })
}
