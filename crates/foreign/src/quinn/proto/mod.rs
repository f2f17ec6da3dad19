//! quinn-proto as a [`transport::Stack`].

mod attend;
mod clock;
mod connection;
mod endpoint;
mod keys;
mod seeds;
mod session;
mod stats;
mod transport;
mod view;

/// Builds an endpoint.
pub(super) fn build(setup: crate::Setup<'_>) -> crate::Endpoint {
    Box::new(endpoint::Endpoint::new(setup))
}
