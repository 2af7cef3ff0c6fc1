//! Stages of a request that the dashboard shows: the request as it left, and the reply as it came.
//!
//! Both are kept in the caller's format and only while the page is rendered; requests with a key do not keep them.

use std::sync::OnceLock;

use phigate_core::text::PhiText;

/// The two texts between a caller and the provider. Each is set once, if the request comes that far.
#[derive(Debug, Default)]
pub struct Stages {
    sent: OnceLock<PhiText>,
    answered: OnceLock<PhiText>,
}

impl Stages {
    /// The request as the mode left it.
    pub fn sent(&self) -> Option<&PhiText> {
        self.sent.get()
    }

    /// The reply before masked values were put back and PHI in it was dealt with.
    pub fn answered(&self) -> Option<&PhiText> {
        self.answered.get()
    }

    pub(crate) fn keep_sent(&self, body: &str) {
        self.sent.get_or_init(|| PhiText::new(body));
    }

    pub(crate) fn keep_answered(&self, body: &[u8]) {
        let body = || PhiText::new(String::from_utf8_lossy(body));
        self.answered.get_or_init(body);
    }
}
