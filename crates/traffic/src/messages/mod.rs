//! Messages: each is written at a given time, on a common stream, on its own stream or as a datagram. The result is its
//! delay from writing to complete delivery.
//!
//! The header of a message contains its length, its number and its time of writing ([`frame`]), so the reader needs no
//! knowledge of the source. After messages on streams of their own, or as datagrams, one more stream carries their
//! total number.

mod frame;
mod reader;
mod writer;

use crate::priorities::{Priorities, PriorityOptions};
use crate::profile::{OptionError, one_stream};
use crate::{Ends, Outline, Profile, sources};
use frame::HEADER;
use random::Generator;
use reader::Reader;
use units::parameter::{Arguments, Choice, Component, Options, Row};
use units::{Duration, Time};
use wire::Side;
use writer::Writer;

/// The options of messages.
#[derive(Debug, Clone, Options)]
struct MessagesOptions {
    /// when messages are written, and how large they are: at least 16 bytes
    #[option(room = "sources")]
    source: Component,
    /// stream: all on one; streams: each on its own; datagrams: each in a DATAGRAM frame (RFC 9221), or in several if
    /// it is longer
    #[option(default = "stream")]
    over: Over,
    /// upload: from client to server; download: from server to client
    #[option(default = "upload")]
    direction: Way,
    /// number of messages; without it as many as the source has, or as the run has time for
    #[option(within = 1..=4_000_000_000)]
    count: Option<u64>,
    /// deadline of a message; also the latency budget for the scheduler
    deadline: Option<Duration>,
    #[options]
    priority: PriorityOptions,
}

/// The carriers of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Over {
    Stream,
    Streams,
    Datagrams,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Way {
    Upload,
    Download,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "messages",
    about: "messages of a source, each with its delay from being written to being delivered whole",
    parameters: MessagesOptions::PARAMETERS,
    build: Profile {
        over_tcp: Some(&|arguments| one_stream(&MessagesOptions::of(arguments).over, &Over::Stream)),
        check: &check,
        datagrams: &|arguments| MessagesOptions::of(arguments).over == Over::Datagrams,
        shares: true,
        keeps_time: true,
        uploads_one_way: true,
        outline: |arguments| {
            let uploads = MessagesOptions::of(arguments).direction == Way::Upload;
            Outline { uploads, ..Outline::UNKNOWN }
        },
        ..Profile::of(&build)
    },
};

/// The error code for malformed messages.
pub(crate) const MALFORMED: u64 = 1;
/// The error code for messages that cannot be sent as datagrams.
pub(crate) const NO_DATAGRAMS: u64 = 2;

/// The parameters common to both ends.
#[derive(Debug, Clone, Copy)]
struct Plan {
    over: Over,
    deadline: Option<Duration>,
}

fn build(arguments: &Arguments, random: Generator) -> Ends {
    let MessagesOptions { source, over, direction, count, deadline, priority } =
        MessagesOptions::of(arguments);
    let plan = Plan { over, deadline };
    let priorities = Priorities::of_all(&priority, deadline);
    let generator = sources::build(source.name, &source.arguments, random);
    let (upload, ends) = (direction == Way::Upload, [Side::Client, Side::Server]);
    let [writing, reading] = if upload { ends } else { [ends[1], ends[0]] };
    let writer = Box::new(Writer::new(plan, priorities, generator, count, writing));
    let reader = Box::new(Reader::new(plan, reading));
    if upload { Ends { client: writer, server: reader } } else { Ends { client: reader, server: writer } }
}

/// Checks that the options are consistent; the error is the option at fault and a description.
fn check(arguments: &Arguments) -> Result<(), OptionError> {
    let MessagesOptions { source, .. } = MessagesOptions::of(arguments);
    let (least, _) = sources::sizes(source.name, &source.arguments);
    if least < HEADER as u64 {
        return Err((
            "source",
            format!("a message of {least} bytes; expected at least {HEADER}, the size of its header"),
        ));
    }
    Ok(())
}

/// A message in the trace.
fn traced(plan: &Plan, header: &frame::Header, stream: Option<wire::StreamId>) -> trace::Message {
    trace::Message {
        part: 0,
        number: u64::from(header.number),
        stream: stream.map(wire::StreamId::value),
        bytes: u64::from(header.length),
        written: header.written,
        deadline: plan.deadline,
    }
}

/// The time between two moments, the first of which was measured by another clock.
fn between(from: Time, to: Time) -> Duration {
    if to > from { to.since(from) } else { Duration::ZERO }
}
