//! Losses: which packets do not arrive.

mod gilbert_elliott;
mod list;
mod none;
mod periodic;
mod random;

use crate::Packet;
use ::random::Stream;
use units::parameter::{Arguments, Room, Row};

/// Decides, in the order of transmission, which packets are lost.
pub trait Loss {
    /// Whether this packet is lost. Called once for each.
    fn loses(&mut self, packet: &Packet) -> bool;
}

/// How a loss is made; `None`: nothing is ever lost.
pub type Build = fn(&Arguments, Stream) -> Option<Box<dyn Loss>>;

/// The losses.
pub static LOSSES: &[Row<Build>] = &[none::ROW, random::ROW, periodic::ROW, gilbert_elliott::ROW, list::ROW];

/// The room of the losses as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("losses", "which packets do not arrive", LOSSES, Some(("random", "probability")))
}

/// Makes the loss of this name.
///
/// # Errors
/// If the table has no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Stream) -> Result<Option<Box<dyn Loss>>, String> {
    let row = LOSSES.iter().find(|row| row.name == name).ok_or_else(|| format!("no loss {name:?}"))?;
    Ok((row.build)(arguments, stream))
}

#[cfg(test)]
pub(crate) mod testing {
    //! Packets for the tests of losses.

    use crate::Packet;
    use wire::Ecn;

    pub(crate) fn packet(data: bool) -> Packet {
        Packet {
            source: ([10, 0, 0, 1], 1).into(),
            destination: ([10, 0, 0, 2], 2).into(),
            bytes: Vec::new(),
            hole: None,
            damage: None,
            size: 1500,
            ecn: Ecn::NotEct,
            owner: 0,
            data,
        }
    }
}
