//! Where in a recording a run begins.

use super::error::RateError;
use random::Generator;
use units::Duration;
use units::parameter::{Arguments, Component, Options, Room, Row};

/// The options of a stated offset.
#[derive(Debug, Clone, Options)]
struct FixedOptions {
    /// less than the recording lasts
    at: Duration,
}

/// The option of rates that play a recording.
#[derive(Debug, Clone, Options)]
pub(crate) struct Begin {
    /// where in the recording a run begins: none (at its start), a time, or random, drawn anew for each seed
    #[option(default = "none", room = "offsets")]
    offset: Component,
}

impl Begin {
    /// The offset into a recording that lasts so long.
    pub(crate) fn offset(&self, lasts: Duration, stream: Generator) -> Result<Duration, RateError> {
        into(&self.offset, lasts, stream)
    }
}

/// The offset that is chosen, into a recording that lasts so long.
pub(crate) fn into(offset: &Component, lasts: Duration, stream: Generator) -> Result<Duration, RateError> {
    match OFFSETS.iter().find(|row| row.name == offset.name) {
        Some(row) => (row.build)(&offset.arguments, lasts, stream),
        None => Err(RateError::Unknown(offset.name.to_owned())),
    }
}

/// Gives how far into a recording a run begins: less than this, the length of the recording.
pub(super) type Choose = fn(&Arguments, Duration, Generator) -> Result<Duration, RateError>;

/// Where runs begin.
static OFFSETS: &[Row<Choose>] = &[
    Row {
        name: "none",
        about: "at the start of the recording",
        parameters: &[],
        build: |_, _, _| Ok(Duration::ZERO),
    },
    Row {
        name: "fixed",
        about: "at a time after the start of the recording",
        parameters: FixedOptions::PARAMETERS,
        build: |arguments, lasts, _| match FixedOptions::of(arguments).at {
            at if at < lasts => Ok(at),
            at => Err(RateError::Offset { at, lasts }),
        },
    },
    Row {
        name: "random",
        about: "anywhere before the last opportunity, uniform, drawn anew for each seed",
        parameters: &[],
        build: |_, lasts, mut stream| Ok(Duration::from_nanos(stream.below(lasts.as_nanos()))),
    },
];

/// The room of the offsets as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("offsets", "where in a recording a run begins", OFFSETS, Some(("fixed", "at")))
}
