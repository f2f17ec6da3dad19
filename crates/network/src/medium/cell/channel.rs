//! Channels: the signal-to-noise ratio of a terminal over time.

use crate::error::BuildError;
use random::Stream;
use units::Time;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row};

/// The channel of a terminal.
pub(super) enum Channel {
    Constant(f64),
}

/// The constructor of a row.
type Build = fn(&Arguments, Stream) -> Result<Channel, BuildError>;

static CHANNELS: &[Row<Build>] = &[Row {
    name: "constant",
    about: "the same signal-to-noise ratio for ever",
    parameters: &[Parameter {
        name: "sinr",
        kind: Kind::Number(-30.0, 60.0),
        default: Default::Is("20.0"),
        about: "signal-to-noise-and-interference ratio in dB",
    }],
    build: |arguments, _| Ok(Channel::Constant(arguments.number("sinr"))),
}];

/// The room of the channels.
pub(super) fn room() -> Room {
    Room::of(
        "channels",
        "signal-to-noise ratio of a terminal over time",
        CHANNELS,
        Some(("constant", "sinr")),
    )
}

pub(super) fn build(name: &str, arguments: &Arguments, stream: Stream) -> Result<Channel, BuildError> {
    match CHANNELS.iter().find(|row| row.name == name) {
        Some(row) => (row.build)(arguments, stream),
        None => Err(BuildError::Unknown { room: "channels", name: name.to_owned() }),
    }
}

impl Channel {
    /// The signal-to-noise ratio in dB. Time may go back by the time of a measurement.
    pub(super) fn sinr_db(&mut self, _at: Time) -> f64 {
        match self {
            Channel::Constant(sinr) => *sinr,
        }
    }
}
