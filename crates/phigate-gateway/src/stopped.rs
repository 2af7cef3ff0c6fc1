//! The end of a request that goes no further.

use axum::response::{IntoResponse, Response};

use crate::error::GatewayError;

/// The answer to a request that was stopped. Its records are written.
#[derive(Debug)]
pub struct Stopped(Box<Response>);

impl Stopped {
    /// A request of an unknown account: there is nowhere to record it.
    pub(crate) fn unrecorded(error: &GatewayError) -> Self {
        Self(Box::new(error.body().into_response()))
    }

    /// The answer.
    pub fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for Stopped {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}
