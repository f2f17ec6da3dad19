//! RTT estimate, delivery-rate sample, pacer, and the congestion controllers: one file each, shared by every transport.
//!
//! A controller hears what was sent, one [`AckSample`] per ACK frame, and [`Signal`]s; it answers with an [`Allowance`].
//! It never sees a packet, a stream or a clock. To add one: write its file, add its line to [`CONTROLLERS`].

mod newreno;
mod none;
mod pacer;
mod rate;
mod rtt;

pub use newreno::NewReno;
pub use pacer::Pacer;
pub use rate::{DeliveryRate, RateSample, SentState};
pub use rtt::{GRANULARITY, RttEstimate};

use units::parameter::{Arguments, Room, Row};
use units::{Duration, Rate, Time};

/// A packet that counts towards bytes in flight was sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Its size in bytes, as congestion control counts it (RFC 9002 section 2: the QUIC packet).
    pub bytes: u64,
    /// Bytes in flight with it.
    pub bytes_in_flight: u64,
}

/// What one ACK frame told.
#[derive(Debug, Clone, Copy)]
pub struct AckSample<'a> {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it newly acknowledged.
    pub acked_bytes: u64,
    /// When the newest of the packets that it newly acknowledged was sent.
    pub newest_sent_at: Time,
    /// When the oldest of them was sent.
    pub oldest_sent_at: Time,
    /// Bytes in flight after it, losses taken off too.
    pub bytes_in_flight: u64,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Whether the sender had nothing to send, or was held by flow control, while the window had room
    /// (RFC 9002 section 7.8).
    pub app_limited: bool,
    /// The RTT, this frame's sample included.
    pub rtt: &'a RttEstimate,
    /// The delivery rate over the newest packet's flight, if one can be had.
    pub rate: Option<RateSample>,
}

/// What a controller must answer at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Packets were declared lost.
    Lost {
        /// When they were declared lost.
        now: Time,
        /// How many bytes.
        bytes: u64,
        /// When the newest of them was sent.
        newest_sent_at: Time,
        /// Bytes in flight without them.
        bytes_in_flight: u64,
    },
    /// An ACK frame told of more packets with the CE mark (RFC 9002 section 7.1).
    Marked {
        /// When.
        now: Time,
        /// How many more.
        packets: u64,
        /// When the largest packet that it acknowledged was sent.
        newest_sent_at: Time,
    },
    /// All packets over a long time were lost (RFC 9002 section 7.6).
    PersistentCongestion,
    /// A packet that was declared lost was acknowledged after all.
    Spurious {
        /// When the acknowledgement came.
        now: Time,
        /// Its bytes.
        bytes: u64,
    },
    /// Datagrams have another size from now on (RFC 9002 section 7.2).
    DatagramSize {
        /// The largest, in bytes.
        bytes: u64,
    },
    /// The path is another one: what was learned is void (RFC 9000 section 9.4).
    PathChanged,
}

/// What the sender may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// How many bytes may be in flight.
    pub window: u64,
    /// At what rate packets are released; `None`: as fast as the window allows.
    pub pacing: Option<Rate>,
}

/// A congestion controller.
pub trait Controller: Send {
    /// A packet was sent.
    fn on_sent(&mut self, sent: &Sent);
    /// An ACK frame newly acknowledged something.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// Something went wrong, or the path changed.
    fn on_signal(&mut self, signal: &Signal);
    /// What the sender may do now.
    fn allowance(&self) -> Allowance;
    /// The slow start threshold in bytes, where the controller has one and it is finite.
    fn ssthresh(&self) -> Option<u64> {
        None
    }
    /// The state for traces: `"slow_start"`, `"recovery"`, `"congestion_avoidance"`, or the controller's own word.
    fn state(&self) -> &'static str;
    /// Gauges of the controller's own, for traces: name with its unit last, and value.
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }
}

/// What every controller is made from beside its own options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The largest QUIC packet (or TCP segment) in bytes: `max_datagram_size` of RFC 9002.
    pub max_datagram_size: u64,
    /// The initial window in bytes.
    pub initial_window: u64,
    /// The RTT assumed before the first sample.
    pub initial_rtt: Duration,
}

/// How a controller is made.
pub type Build = fn(&Arguments, Setup) -> Box<dyn Controller>;

/// The controllers.
pub static CONTROLLERS: &[Row<Build>] = &[newreno::ROW, none::ROW];

/// The room of the controllers as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("controllers", "congestion controllers", CONTROLLERS, None)
}

/// Makes the controller of this name; `None` if the table has no such row.
pub fn build(name: &str, arguments: &Arguments, setup: Setup) -> Option<Box<dyn Controller>> {
    CONTROLLERS.iter().find(|row| row.name == name).map(|row| (row.build)(arguments, setup))
}
