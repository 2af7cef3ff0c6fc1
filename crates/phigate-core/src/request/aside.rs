//! Caller data besides the body, as far as it goes on to the provider.

/// Headers and a query that belong to a format. Nothing else of a caller's head is ever passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aside {
    /// Headers, checked to be words of the protocol.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The query, without the question mark.
    pub(crate) query: Option<&'static str>,
}
