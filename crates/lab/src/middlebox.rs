//! The middleboxes of scenarios: those of `network`, and the proxies, which are put together from endpoints.

use crate::proxy::{self, PROXIES, ProxyOptions};
use network::BuildError;
use network::middlebox::Middlebox;
use units::parameter::{Component, Room, Row};

/// The room of the middleboxes as scenarios and `quiclab list` see it.
pub(crate) fn room() -> Room {
    complete(network::middlebox::room())
}

/// Adds the proxies to a room of `network` if it is that of the middleboxes.
pub(crate) fn complete(mut room: Room) -> Room {
    if room.name == network::middlebox::room().name {
        room.rows.extend(PROXIES.iter().map(Row::face));
    }
    room
}

/// Whether the middlebox with this name has a memory to clear.
pub(crate) fn remembers(name: &str) -> bool {
    network::middlebox::remembers(name)
}

/// Whether the middlebox with this name may stand at a host.
pub(crate) fn is_for_hosts(name: &str) -> bool {
    network::middlebox::is_for_hosts(name)
}

/// The congestion controllers of a middlebox with endpoints.
pub(crate) fn controllers(kind: &Component) -> Vec<Component> {
    proxy::row(kind.name).map_or(Vec::new(), |row| (row.build.controllers)(&kind.arguments))
}

/// Builds the middlebox with this name.
///
/// # Errors
/// If no table has such a row, or the options cannot be used.
pub(crate) fn build(name: &str, options: &ProxyOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError> {
    match proxy::row(name) {
        Some(row) => (row.build.build)(options),
        None => network::middlebox::build(name, &options.middlebox),
    }
}
