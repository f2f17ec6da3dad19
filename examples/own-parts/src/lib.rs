//! An example of parts of a network in a crate of their own: a queue, and a middlebox.
//!
//! Each needs its trait, a row with its options, and the call of `plug`, after which scenarios find it by its name.

mod last;
mod thin;

use units::plugged::PlugError;

/// Adds the parts of this crate to those of quiclab.
///
/// # Errors
/// See [`PlugError`].
pub fn plug() -> Result<(), PlugError> {
    network::queue::plug(last::ROW)?;
    network::middlebox::plug(thin::ROW)
}
