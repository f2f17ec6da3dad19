//! Stream schedulers, one file each.
//!
//! An application describes a stream by a [`Priority`]. Retransmissions are sent with the rank of their stream or
//! before all new data: an option of every scheduler, implemented once in `lost_first`. Schedulers that order streams
//! by a rank share the rest too ([`Ranked`]). To add a scheduler, write its file and add its line to [`SCHEDULERS`].

mod abs;
mod adaptive;
mod edf;
mod fifo;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod heap;
mod lost_first;
mod pfifo;
mod ranked;
mod rfc9218;
mod ring;
mod rr;
#[cfg(test)]
mod testing;
mod wfq;
mod wrr;

pub use abs::Absolute;
pub use adaptive::Adaptive;
pub use edf::Edf;
pub use fifo::Fifo;
pub use pfifo::Pfifo;
pub use ranked::{Discipline, Ranked};
pub use rfc9218::Rfc9218;
pub use rr::RoundRobin;
pub use transport::{PathView, Priority};
pub use units::plugged::PlugError;
pub use wfq::FairQueuing;
pub use wrr::WeightedRoundRobin;

use units::Time;
use units::parameter::{Arguments, Choice, Options, Parameter, Room, Row};
use units::plugged::Plugged;
use wire::StreamId;

/// A stream as identified by schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamKey {
    /// The stream id.
    pub id: StreamId,
    /// A small number that is unique among the open streams of the connection. It is reused once the stream is closed.
    pub slot: u32,
}

/// The next data of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// When the application wrote it.
    pub written: Time,
    /// The number of the write among all streams of the connection: data with a lower number was written earlier.
    pub order: u64,
}

/// Chooses the stream whose data is sent next. It only knows which streams have something to send and, if it asks, when
/// their next data was written.
///
/// A turn is the result of one call of [`Scheduler::next`]: one STREAM frame with as much of the stream's data as fits
/// into the packet. The next turn fills the rest of the packet.
pub trait Scheduler: Send {
    /// Whether to call [`Scheduler::on_head`]. Queried once.
    fn wants_heads(&self) -> bool {
        false
    }
    /// The stream has something to send. Called once until [`Scheduler::on_idle`].
    fn on_ready(&mut self, stream: StreamKey, now: Time);
    /// The stream's next data is this. Called before the stream becomes ready, and while it is ready at the latest
    /// before its turn.
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        let _ = (stream, head);
    }
    /// Bytes of the stream whose turn it was were sent, new or retransmitted; 0 for a FIN alone.
    fn on_sent(&mut self, stream: StreamKey, bytes: u64);
    /// Lost bytes of the stream were sent before all others (`retransmissions = "first"`), which is not a turn.
    fn on_sent_out_of_turn(&mut self, stream: StreamKey, bytes: u64) {
        let _ = (stream, bytes);
    }
    /// The stream has nothing more to send, or is blocked by flow control (RFC 9000 section 4.1).
    fn on_idle(&mut self, stream: StreamKey);
    /// The application has changed the priority of the stream, ready or not. Streams start with the default priority.
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let _ = (stream, priority);
    }
    /// The stream, which is ready, has lost data or a lost FIN, and will send it before its new data.
    fn on_lost(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// The stream has no more lost data. Not called before [`Scheduler::on_idle`].
    fn on_repaired(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// The stream is closed. A new stream may get its slot, with the default priority.
    fn on_closed(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// The stream to send next; the same one until something changes. `None` if no stream is ready.
    fn next(&mut self, view: &PathView) -> Option<StreamKey>;
}

/// The constructor of a scheduler.
pub type Build = &'static (dyn Fn(&Arguments) -> Box<dyn Scheduler> + Send + Sync);

/// The common options of all schedulers.
#[derive(Debug, Clone, Copy, Options)]
pub struct SchedulerOptions {
    /// lost data is retransmitted when its stream's turn comes (rank), or before all new data (first)
    #[option(default = "rank")]
    pub retransmissions: Retransmissions,
}

/// When lost data is retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Retransmissions {
    /// When its stream's turn comes.
    Rank,
    /// Before all new data.
    First,
}

/// The common option of all schedulers: when lost data is retransmitted.
pub const RETRANSMISSIONS: Parameter = SchedulerOptions::PARAMETERS[0];

/// The schedulers.
pub static SCHEDULERS: &[Row<Build>] =
    &[rr::ROW, fifo::ROW, pfifo::ROW, edf::ROW, wrr::ROW, wfq::ROW, abs::ROW, adaptive::ROW, rfc9218::ROW];

/// The schedulers added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a scheduler from outside of this crate. Scenarios can then use its name like any other. It replaces an earlier
/// one of the same name. Its row should have the [`SchedulerOptions`], which [`build`] implements.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(SCHEDULERS, row)
}

/// The table of schedulers for scenarios and `quiclab list`.
pub fn room() -> Room {
    PLUGGED.extend(Room::of("schedulers", "stream schedulers", SCHEDULERS, None))
}

/// Builds the scheduler with this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments) -> Option<Box<dyn Scheduler>> {
    let scheduler = PLUGGED.find(SCHEDULERS, name).map(|row| (row.build)(arguments))?;
    // Rows from outside may lack the option.
    Some(match arguments.accepted(RETRANSMISSIONS.name) {
        Some(Retransmissions::First) => Box::new(lost_first::LostFirst::new(scheduler)),
        Some(Retransmissions::Rank) | None => scheduler,
    })
}

/// The value for a slot. Slots are those of open streams, so the list is no longer than the list of streams.
#[inline]
pub fn entry<T: std::default::Default>(list: &mut Vec<T>, slot: u32) -> &mut T {
    let at = slot as usize;
    if list.len() <= at {
        grow(list, at);
    }
    &mut list[at]
}

#[cold]
fn grow<T: std::default::Default>(list: &mut Vec<T>, at: usize) {
    make_room(list, at);
    list.resize_with(at + 1, T::default);
}

/// Reserves memory up to this index and a little more. Doubling a list of many streams would waste as much again.
#[inline]
fn make_room<T>(list: &mut Vec<T>, at: usize) {
    if list.capacity() <= at {
        list.reserve_exact((at + 1 + at / 8).max(4) - list.len());
    }
}
