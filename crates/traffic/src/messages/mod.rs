//! Messages: each is written at its time, on one stream, on a stream of its own or as a datagram, and its delay from being
//! written to being there whole is what counts.
//!
//! A message says itself where it ends, which one it is and when it was written ([`frame`]): its reader needs to know nothing
//! of what makes them. On a stream of its own, and behind the last datagram, one more stream tells how many there were.

mod frame;
mod reader;
mod writer;

use crate::changes::CHANGES;
use crate::priorities::{INCREMENTAL, Priorities, URGENCY, WEIGHT};
use crate::profile::{Misfit, one_stream};
use crate::{Ends, Profile, sources};
use frame::HEADER;
use random::Stream;
use reader::Reader;
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Time};
use wire::Side;
use writer::Writer;

pub(crate) const ROW: Row<Profile> = Row {
    name: "messages",
    about: "messages of a source, each with its delay from being written to being delivered whole",
    parameters: &[
        Parameter {
            name: "source",
            kind: Kind::Component("sources"),
            default: Default::Required,
            about: "when messages are written, and how large they are: at least 16 bytes",
        },
        Parameter {
            name: "over",
            kind: Kind::Choice(&["stream", "streams", "datagrams"]),
            default: Default::Is("\"stream\""),
            about: "stream: all on one; streams: each on one of its own; datagrams: each in a DATAGRAM frame (RFC 9221), or in several if it is longer",
        },
        Parameter {
            name: "direction",
            kind: Kind::Choice(&["upload", "download"]),
            default: Default::Is("\"upload\""),
            about: "upload: from client to server; download: from server to client",
        },
        Parameter {
            name: "count",
            kind: Kind::Integer(1, 4_000_000_000),
            default: Default::Absent,
            about: "so many of them; without it as many as the source has, or as the run has time for",
        },
        Parameter {
            name: "deadline",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "after so long a message is of no use; also the latency that the scheduler is told",
        },
        URGENCY,
        INCREMENTAL,
        WEIGHT,
        CHANGES,
    ],
    build: Profile {
        over_tcp: Some(one_stream),
        check,
        datagrams: |arguments| Over::of(arguments) == Over::Datagrams,
        shares: true,
        ..Profile::of(build)
    },
};

/// The code with which a connection is closed whose messages are none.
pub(crate) const MALFORMED: u64 = 1;
/// The code with which a connection is closed that cannot carry them as datagrams.
pub(crate) const NO_DATAGRAMS: u64 = 2;

/// What messages go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Stream,
    Streams,
    Datagrams,
}

impl Over {
    fn of(arguments: &Arguments) -> Over {
        match arguments.text("over").as_str() {
            "streams" => Over::Streams,
            "datagrams" => Over::Datagrams,
            _ => Over::Stream,
        }
    }
}

/// What both ends know.
#[derive(Debug, Clone, Copy)]
struct Plan {
    over: Over,
    deadline: Option<Duration>,
}

fn build(arguments: &Arguments, random: Stream) -> Ends {
    let source = arguments.component("source");
    let deadline = arguments.has("deadline").then(|| arguments.duration("deadline"));
    let plan = Plan { over: Over::of(arguments), deadline };
    let priorities = Priorities::of_all(arguments, deadline);
    let made = sources::build(source.name, &source.arguments, random);
    let count = arguments.has("count").then(|| arguments.integer("count"));
    let (upload, ends) = (arguments.text("direction") == "upload", [Side::Client, Side::Server]);
    let [writing, reading] = if upload { ends } else { [ends[1], ends[0]] };
    let writer = Box::new(Writer::new(plan, priorities, (made, count), writing));
    let reader = Box::new(Reader::new(plan, reading));
    if upload { Ends { client: writer, server: reader } } else { Ends { client: reader, server: writer } }
}

/// Whether the options fit together: the option that does not, and what is wrong with it.
fn check(arguments: &Arguments) -> Result<(), Misfit> {
    let source = arguments.component("source");
    let (least, _) = sources::sizes(source.name, &source.arguments);
    if least < HEADER as u64 {
        return Err((
            "source",
            format!("a message of {least} bytes; expected at least {HEADER}, which its header takes"),
        ));
    }
    Ok(())
}

/// What is carried of one message, for the trace.
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

/// The time from one moment to another, of which the first is told by another clock.
fn between(from: Time, to: Time) -> Duration {
    if to > from { to.since(from) } else { Duration::ZERO }
}
