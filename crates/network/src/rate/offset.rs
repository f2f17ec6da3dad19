//! Where in a recording a run begins.

use super::error::RateError;
use random::Stream;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row};

/// The option of rates that play a recording.
pub(super) const OFFSET: Parameter = Parameter {
    name: "offset",
    kind: Kind::Component("offsets"),
    default: Default::Is("\"none\""),
    about: "where in the recording a run begins: none (at its start), a time, or random, drawn anew for \
            each seed",
};

/// Gives how far into a recording a run begins: less than this, the length of the recording.
pub(super) type Choose = fn(&Arguments, Duration, Stream) -> Result<Duration, RateError>;

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
        parameters: &[Parameter {
            name: "at",
            kind: Kind::Duration,
            default: Default::Required,
            about: "less than the recording lasts",
        }],
        build: |arguments, lasts, _| match arguments.duration("at") {
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

/// The offset that the options of a rate ask for, into a recording that lasts so long.
pub(crate) fn of(arguments: &Arguments, lasts: Duration, stream: Stream) -> Result<Duration, RateError> {
    let offset = arguments.component(OFFSET.name);
    match OFFSETS.iter().find(|row| row.name == offset.name) {
        Some(row) => (row.build)(&offset.arguments, lasts, stream),
        None => Err(RateError::Unknown(offset.name.to_owned())),
    }
}
