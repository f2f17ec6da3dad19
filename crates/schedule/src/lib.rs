//! Which stream next: one file per scheduler.
//!
//! What an application says of a stream is a [`Priority`]. What is to be sent again goes under the rank of its own stream
//! or before all new data: an option of every scheduler, built once in `lost_first`. Schedulers that are a rank of streams
//! share all but that ([`Ranked`]). To add a scheduler: write its file, add its line to [`SCHEDULERS`].

mod abs;
mod adaptive;
mod edf;
mod fifo;
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
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row};
use units::plugged::Plugged;
use wire::StreamId;

/// A stream as schedulers name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamKey {
    /// Its id.
    pub id: StreamId,
    /// A small number that no other open stream of the connection has. Another stream has it once this one is over.
    pub slot: u32,
}

/// The data that a stream would send next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// When the application wrote it.
    pub written: Time,
    /// Which write it was, over all streams of the connection: data of a lower order was written earlier.
    pub order: u64,
}

/// Chooses the stream whose data goes into a packet next. It knows streams that have something to send, and of what that
/// is no more than when it was written, and that only if it asks.
///
/// A turn is what one call of [`Scheduler::next`] leads to: one STREAM frame with as much of the stream's data as the packet
/// has room for. The next turn fills what is left of the packet.
pub trait Scheduler: Send {
    /// Whether [`Scheduler::on_head`] is to be called. Asked once.
    fn wants_heads(&self) -> bool {
        false
    }
    /// The stream has something to send; called once until [`Scheduler::on_idle`].
    fn on_ready(&mut self, stream: StreamKey, now: Time);
    /// This is the data that the stream would send next. Told before the stream becomes ready, and while it is ready at the
    /// latest when its turn would come.
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        let _ = (stream, head);
    }
    /// So many bytes of the stream whose turn it was went into a packet: new ones, or lost ones that are sent again; none
    /// where it was a FIN alone.
    fn on_sent(&mut self, stream: StreamKey, bytes: u64);
    /// So many lost bytes of the stream went before all others (`retransmissions = "first"`): it was nobody's turn.
    fn on_sent_out_of_turn(&mut self, stream: StreamKey, bytes: u64) {
        let _ = (stream, bytes);
    }
    /// The stream has nothing to send any more, or may not send for want of credit (RFC 9000 section 4.1).
    fn on_idle(&mut self, stream: StreamKey);
    /// The application has given the stream another priority, whether or not it has something to send. Without a call
    /// it has the default one.
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let _ = (stream, priority);
    }
    /// The stream, which is ready, has lost data (or a lost FIN) to send again, and sends it before its new data.
    fn on_lost(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// It has none any more. Not told before [`Scheduler::on_idle`].
    fn on_repaired(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// The stream is over: nothing more will be heard of it. A new stream may get its slot, with the default priority.
    fn on_closed(&mut self, stream: StreamKey) {
        let _ = stream;
    }
    /// The stream to take from next; the same one until something changes. `None` if none is ready.
    fn next(&mut self, view: &PathView) -> Option<StreamKey>;
}

/// How a scheduler is made.
pub type Build = &'static (dyn Fn(&Arguments) -> Box<dyn Scheduler> + Send + Sync);

/// The option that every scheduler has: when what was lost is sent again.
pub const RETRANSMISSIONS: Parameter = Parameter {
    name: "retransmissions",
    kind: Kind::Choice(&["rank", "first"]),
    default: Default::Is("\"rank\""),
    about: "lost data is sent again when its own stream's turn comes (rank), or before the new data of all streams (first)",
};

/// The schedulers.
pub static SCHEDULERS: &[Row<Build>] =
    &[rr::ROW, fifo::ROW, pfifo::ROW, edf::ROW, wrr::ROW, wfq::ROW, abs::ROW, adaptive::ROW, rfc9218::ROW];

/// Those that the program added.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a scheduler from outside of this crate: from now on scenarios find it by its name, like any other. One that was
/// added before under the same name is replaced. Its row should have [`RETRANSMISSIONS`]: [`build`] sees to it.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(SCHEDULERS, row)
}

/// The room of the schedulers as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    PLUGGED.extend(Room::of("schedulers", "stream schedulers", SCHEDULERS, None))
}

/// Makes the scheduler of this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments) -> Option<Box<dyn Scheduler>> {
    let scheduler = PLUGGED.find(SCHEDULERS, name).map(|row| (row.build)(arguments))?;
    let first = arguments.has(RETRANSMISSIONS.name) && arguments.text(RETRANSMISSIONS.name) == "first";
    Some(if first { Box::new(lost_first::LostFirst::new(scheduler)) } else { scheduler })
}

/// What is kept for a slot. A slot is one of an open stream, so that these lists are no longer than those of streams.
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

/// Makes room for this place and a little more: a list of many streams that doubled would hold as much again for nothing.
#[inline]
fn make_room<T>(list: &mut Vec<T>, at: usize) {
    if list.capacity() <= at {
        list.reserve_exact((at + 1 + at / 8).max(4) - list.len());
    }
}
