//! E-mail addresses, with signs or spelled out in words.

use std::borrow::Cow;

use super::plain;

pub(super) fn stored(text: &str) -> Vec<String> {
    vec![plain(&with_signs(inner(text)))]
}

pub(super) fn tried(text: &str) -> Option<Vec<String>> {
    let address = with_signs(inner(text));
    let (user, host) = address.split_once('@')?;
    let fits = !user.trim().is_empty()
        && !host.contains('@')
        && host.trim_matches('.').contains('.')
        && !address.trim().contains(char::is_whitespace);
    // Earlier versions stored a spelled-out address in words.
    let spelled = address.replace('@', "at").replace('.', "dot");
    fits.then(|| vec![plain(&address), plain(&spelled)])
}

/// The address inside `Jane Roe <jane@example.org>` or `mailto:jane@example.org`.
fn inner(text: &str) -> &str {
    let bracketed = text
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    let address = bracketed.map_or(text, |(address, _)| address).trim();
    address.strip_prefix("mailto:").unwrap_or(address)
}

/// Writes a spoken address (`jane dot roe at example dot org`) with its signs.
fn with_signs(text: &str) -> Cow<'_, str> {
    if text.contains('@') {
        return Cow::Borrowed(text);
    }
    let is_spelled = [" at ", "(at)", "[at]"]
        .iter()
        .any(|sign| text.contains(sign));
    if !is_spelled {
        return Cow::Borrowed(text);
    }
    let signs = text
        .split_whitespace()
        .map(|word| match word.trim_matches(['(', ')', '[', ']']) {
            "at" => "@",
            "dot" => ".",
            other => other,
        })
        .collect::<String>()
        .replace("(at)", "@")
        .replace("[at]", "@")
        .replace("(dot)", ".")
        .replace("[dot]", ".");
    Cow::Owned(signs)
}
