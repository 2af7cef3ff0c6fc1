//! Simulated providers for trying everything without a key.
pub(crate) fn router() -> axum::Router {
    axum::Router::new()
}
