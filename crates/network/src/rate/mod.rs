//! Rates: when a packet is sent, and how long its transmission takes.

mod changes;
mod columns;
mod dvb_rcs2;
mod error;
mod fixed;
pub mod generated;
mod offset;
mod series;
mod table;
mod token_bucket;
mod trace;
mod unlimited;

pub use changes::Changes;
pub use columns::LONGEST_DELAY;
pub(crate) use columns::{Column, Kind as TableKind};
pub use dvb_rcs2::DvbRcs2;
pub use error::{ChangesError, RateError, SeriesError, TraceError, TraceProblem};
pub use fixed::Fixed;
pub(crate) use offset::into as offset_into;
pub use offset::room as offsets;
pub use series::Series;
pub(crate) use series::TABLE as SERIES_TABLE;
pub use table::MAX_LINES;
pub(crate) use table::Table;
pub use token_bucket::TokenBucket;
pub use trace::{MAX_OPPORTUNITIES, OPPORTUNITY, Player, Trace};
pub use units::plugged::PlugError;

use random::Generator;
use units::parameter::{Arguments, Kind, OptionError, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Rate, Size, Time};

/// A server from outside of this crate. Time never goes back from one call to the next.
pub trait Serve: std::fmt::Debug {
    /// See [`Server::ready`].
    fn ready(&mut self, at: Time) -> Time;
    /// See [`Server::serve`].
    fn serve(&mut self, start: Time, size: u32) -> Time;
    /// See [`Server::mean_rate`].
    fn mean_rate(&self) -> Rate;
}

/// The server of a link, which sends one packet at a time.
#[derive(Debug)]
pub enum Server {
    /// Without delay.
    Unlimited,
    /// At one rate.
    Fixed(Fixed),
    /// At rates that change at given times.
    Changes(Changes),
    /// By the opportunities of a recorded trace.
    Trace(Player),
    /// By tokens that arrive at a rate.
    TokenBucket(Box<TokenBucket>),
    /// By capacity that is requested by the length of the queue.
    DvbRcs2(Box<DvbRcs2>),
    /// As somebody else's code says.
    Outside(Box<dyn Serve>),
}

impl Server {
    /// When the first bit of a packet that waits at `at` can be sent; [`Time::NEVER`] if nothing can be sent
    /// any more. `at` is not before the end of the last packet. A packet leaves its queue at that time and not
    /// before: during an outage it is still in the queue.
    #[inline]
    pub fn ready(&mut self, at: Time) -> Time {
        let ready = match self {
            Server::Unlimited | Server::Fixed(_) | Server::TokenBucket(_) => at,
            Server::Changes(changes) => changes.ready(at),
            Server::Trace(player) => player.ready(at),
            Server::DvbRcs2(terminal) => terminal.ready(at),
            Server::Outside(server) => server.ready(at),
        };
        debug_assert!(ready >= at, "nothing is sent before it waits");
        ready
    }
    /// Sends a packet of `size` bytes from `start` on, which is a result of [`Server::ready`]; returns the end
    /// of its last bit, [`Time::NEVER`] if it never ends.
    #[inline]
    pub fn serve(&mut self, start: Time, size: u32) -> Time {
        let end = match self {
            Server::Unlimited => start,
            Server::Fixed(fixed) => fixed.serve(start, size),
            Server::Changes(changes) => changes.serve(start, size),
            Server::Trace(player) => player.serve(start, size),
            Server::TokenBucket(bucket) => bucket.serve(start, size),
            Server::DvbRcs2(terminal) => terminal.serve(start, size),
            Server::Outside(server) => server.serve(start, size),
        };
        debug_assert!(end >= start, "a transmission ends after its start");
        end
    }
    /// The mean rate over time, the maximum where it depends on requests; `None` if it is unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        match self {
            Server::Unlimited => None,
            Server::Fixed(fixed) => Some(fixed.rate()),
            Server::Changes(changes) => Some(changes.mean_rate()),
            Server::Trace(player) => Some(player.trace().mean_rate()),
            Server::TokenBucket(bucket) => Some(bucket.rate()),
            Server::DvbRcs2(terminal) => Some(terminal.rate()),
            Server::Outside(server) => Some(server.mean_rate()),
        }
    }
    /// Whether it must be told the length of the queue in front of it, as a link does.
    pub(crate) fn asks_for_queue(&self) -> bool {
        matches!(self, Server::DvbRcs2(_))
    }
    /// The period of a repeating rate; `None` if it does not repeat.
    pub fn period(&self) -> Option<Duration> {
        match self {
            Server::Unlimited
            | Server::Fixed(_)
            | Server::TokenBucket(_)
            | Server::DvbRcs2(_)
            | Server::Outside(_) => None,
            Server::Changes(changes) => changes.repeat(),
            Server::Trace(player) => Some(player.trace().duration()),
        }
    }
    /// The bytes that can be sent from one time up to, but not including, another; `None` if that is unlimited.
    pub fn capacity(&self, from: Time, to: Time) -> Option<Size> {
        match self {
            Server::Unlimited => None,
            Server::Fixed(fixed) => Some(fixed.rate().bytes_in(to.since(from))),
            Server::Changes(changes) => Some(changes.capacity(from, to)),
            Server::Trace(player) => Some(player.capacity(from, to)),
            Server::TokenBucket(bucket) => Some(bucket.rate().bytes_in(to.since(from))),
            Server::DvbRcs2(terminal) => Some(terminal.rate().bytes_in(to.since(from))),
            Server::Outside(server) => Some(server.mean_rate().bytes_in(to.since(from))),
        }
    }
}

/// The constructor of a server.
pub type Build = &'static (dyn Fn(&Arguments, Generator) -> Result<Server, RateError> + Send + Sync);

/// The rates.
pub static RATES: &[Row<Build>] = &[
    fixed::ROW,
    unlimited::ROW,
    changes::ROW,
    series::ROW,
    trace::ROW,
    generated::ROW,
    token_bucket::ROW,
    dvb_rcs2::ROW,
];

/// The rates added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a rate from outside of this crate, which scenarios then find by name like any other. It replaces an added rate
/// of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(RATES, row)
}

/// The room of the rates as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    PLUGGED
        .extend(Room::of("rates", "how fast a link sends", RATES, Some(("fixed", "rate"))).checked_by(check))
}

/// Checks that the server with this name can be built. An error that names no option concerns the row's file or, without
/// one, its first option.
fn check(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    let Err(error) = build(name, arguments, Generator::new(0, "check")) else { return Ok(()) };
    let row = PLUGGED.find(RATES, name).expect("a room checks options of its own rows");
    let file = row.parameters.iter().find(|option| matches!(option.kind, Kind::File(_)));
    // A row from outside can fail without an option.
    let likely = || file.or(row.parameters.first()).map_or("", |option| option.name);
    Err((error.option().unwrap_or_else(likely), error.to_string()))
}

/// Builds the server with this name.
///
/// # Errors
/// If the table has no such row, or the options are invalid, such as a malformed trace.
pub fn build(name: &str, arguments: &Arguments, stream: Generator) -> Result<Server, RateError> {
    match PLUGGED.find(RATES, name) {
        Some(row) => (row.build)(arguments, stream),
        None => Err(RateError::Unknown(name.to_owned())),
    }
}
