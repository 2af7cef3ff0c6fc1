//! Value behind a token, resolved from the request in which the token was issued.

use super::{Issued, Mint};
use crate::protect::{self, Policy, Scanner};
use crate::request::Request;
use crate::text::PhiText;

/// Returns the value behind a token of a request as the caller sent it, by the name of the token without brackets.
/// `code_of` gives codes of its conversation. `None` if this request no longer issues the token: the detector may have
/// learned since.
pub fn resolve(
    scanner: &Scanner,
    policy: &Policy,
    request: Request,
    code_of: &dyn Fn(&str, &str) -> [u8; 16],
    name: &str,
) -> Option<PhiText> {
    let scanned = protect::scan(scanner, request);
    let mut mint = Mint::new(code_of, scanned.request().document());
    // The outcome of the request is settled; only its tokens matter here.
    let mut token_of = |kind, value: &str| mint.token(kind, value);
    let _ = protect::apply_with(policy, scanner, scanned, Some(&mut token_of));
    mint.into_issued().find(name).cloned()
}

impl Issued {
    /// Returns the value behind the token of this name.
    fn find(&self, name: &str) -> Option<&PhiText> {
        let mut beginning = self.beginning();
        for character in name.chars() {
            beginning = self.step(beginning, character)?;
        }
        Some(self.value(self.complete(beginning)?))
    }
}
