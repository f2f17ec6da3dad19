//! An example of parts in a crate of their own: a queue, a middlebox, and an application.
//!
//! Each needs its trait, a row with its options, and the call of `plug`, after which scenarios find it by its name.

mod asking;
mod last;
mod thin;

use units::plugged::PlugError;

/// Adds the parts of this crate to those of quiclab.
///
/// # Errors
/// See [`PlugError`].
pub fn plug() -> Result<(), PlugError> {
    network::queue::plug(last::ROW)?;
    network::middlebox::plug(thin::ROW)?;
    traffic::plug(asking::ROW)
}
