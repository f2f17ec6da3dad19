//! Loss models.

mod changes;
mod gilbert_elliott;
mod list;
mod none;
mod periodic;
mod random;

pub(crate) use changes::TABLE;
pub use random::loses_all;
pub use units::plugged::PlugError;

use crate::error::BuildError;
use crate::packet::Packet;
use ::random::Generator;
use units::Time;
use units::parameter::{Arguments, Room, Row};
use units::plugged::Plugged;

/// Decides which packets are lost, in the order of transmission.
pub trait Loss {
    /// Whether this packet, whose transmission ends at `done`, is lost. Called once for each packet.
    fn loses(&mut self, done: Time, packet: &Packet) -> bool;
    /// Stops unless what is certain of its state holds. Called after each packet by the fuzzer, and in builds with debug
    /// assertions.
    fn check(&self) {}
}

/// Whether the model loses this packet; see [`Loss::loses`]. `None` loses nothing.
#[inline]
pub(crate) fn loses(loss: Option<&mut Box<dyn Loss>>, done: Time, packet: &Packet) -> bool {
    let Some(loss) = loss else { return false };
    let lost = loss.loses(done, packet);
    if cfg!(debug_assertions) {
        loss.check();
    }
    lost
}

/// The constructor of a loss model; `None` if no packet is ever lost.
pub type Build =
    &'static (dyn Fn(&Arguments, Generator) -> Result<Option<Box<dyn Loss>>, BuildError> + Send + Sync);

/// The loss models.
pub static LOSSES: &[Row<Build>] =
    &[none::ROW, random::ROW, periodic::ROW, gilbert_elliott::ROW, list::ROW, changes::LIST, changes::FILE];

/// The loss models added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a loss model from outside of this crate, which scenarios then find by name like any other. It replaces an added loss model
/// of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(LOSSES, row)
}

/// The room of the losses as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    let room = Room::of("losses", "which packets are lost", LOSSES, Some(("random", "probability")));
    PLUGGED.extend(room.checked_by(|name, arguments| {
        build(name, arguments, Generator::new(0, "check")).map(|_| ()).map_err(BuildError::of_option)
    }))
}

/// Builds the loss model with this name.
///
/// # Errors
/// If the table has no such row, or the options are invalid.
pub fn build(
    name: &str,
    arguments: &Arguments,
    stream: Generator,
) -> Result<Option<Box<dyn Loss>>, BuildError> {
    match PLUGGED.find(LOSSES, name) {
        Some(row) => (row.build)(arguments, stream),
        None => Err(BuildError::Unknown { room: "losses", name: name.to_owned() }),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Helpers for tests of loss models.

    use super::Loss;
    use crate::packet::Packet;
    use units::Time;

    /// Whether a packet with or without data is lost.
    pub(crate) fn loses(loss: &mut dyn Loss, data: bool) -> bool {
        let at = ([10, 0, 0, 1], 1).into();
        let mut packet = Packet::new(at, at, Vec::new(), None);
        packet.data = data;
        loss.loses(Time::ZERO, &packet)
    }
}
