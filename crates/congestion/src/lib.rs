//! RTT estimate, delivery-rate sample, pacer, the congestion controllers, and what a sender makes of them: one file each,
//! shared by every transport.
//!
//! A controller hears what was sent, one [`AckSample`] per ACK frame, and [`Signal`]s; it answers with an [`Allowance`].
//! It never sees a packet, a stream or a clock. To add one: write its file, add its line to [`CONTROLLERS`].

mod additive;
mod basis;
mod bbr1;
mod bbr3;
mod bbr_outputs;
mod bbr_rounds;
mod copa;
mod cubic;
mod filter;
mod fixed;
pub mod fuzz;
mod newreno;
mod none;
mod options;
mod pacer;
mod prague;
mod prr;
mod rate;
mod recovery_period;
mod regulator;
mod round;
mod rtt;
mod slow_start;
#[cfg(test)]
mod testing;
mod tracing;
mod vegas;
mod westwood;
mod window_pacing;

pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use copa::Copa;
pub use cubic::Cubic;
pub use fixed::Fixed;
pub use newreno::NewReno;
pub use pacer::Pacer;
pub use prague::Prague;
pub use rate::{DeliveryRate, LostPacket, RateSample, SentState};
pub use regulator::{Acked, Regulator};
pub use rtt::{GRANULARITY, RttEstimate};
pub use tracing::PathMetrics;
pub use vegas::Vegas;
pub use westwood::Westwood;

pub use units::plugged::PlugError;

use units::parameter::{Arguments, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Rate, Time};

/// No window passes this, so that sums of windows never overflow: a pebibyte, which no path holds.
const MAX_WINDOW: u64 = 1 << 50;

/// A packet that counts towards bytes in flight was sent.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Its size in bytes, as congestion control counts it (RFC 9002 section 2: the QUIC packet).
    pub bytes: u64,
    /// Bytes in flight with it.
    pub bytes_in_flight: u64,
    /// Whether the sender had run out of data within the last round trip (draft-ietf-ccwg-bbr-06 section 4.1.1.3).
    pub app_limited: bool,
}

impl Sent {
    /// Whether nothing was in flight before it.
    #[inline]
    pub fn begins_flight(&self) -> bool {
        self.bytes_in_flight == self.bytes
    }
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
    /// Bytes that were declared lost on account of it.
    pub lost_bytes: u64,
    /// Packets that it newly acknowledged.
    pub acked_packets: u64,
    /// More packets with the CE mark than its forerunner told of (RFC 9002 section 7.1).
    pub marked_packets: u64,
    /// Bytes delivered so far, these included.
    pub delivered: u64,
    /// What the sender stopped at last.
    pub limit: Limit,
    /// The RTT, this frame's sample included.
    pub rtt: &'a RttEstimate,
    /// That sample; `None` if the frame gave none. It is the transport's own: QUIC takes one where the largest packet is newly
    /// acknowledged (RFC 9002 section 5.1), TCP none from a segment that was sent more than once, but by its timestamp
    /// (RFC 6298 section 3). The time since [`AckSample::newest_sent_at`] is no round trip where the acknowledgement may be of
    /// an earlier transmission.
    pub rtt_sample: Option<Duration>,
    /// What the newest packet's flight told; `None` if nothing that counts towards bytes in flight was acknowledged.
    pub rate: Option<RateSample>,
}

impl AckSample<'_> {
    /// Whether the window was not used, so that it should not grow (RFC 9002 section 7.8).
    #[inline]
    pub fn app_limited(&self) -> bool {
        self.limit == Limit::Application
    }
}

/// What a sender stopped at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// It had nothing to send, or was held by flow control or another limit of the protocol, while the window had room.
    Application,
    /// The window is full.
    #[default]
    Window,
    /// The pacer lets the next packet go later.
    Pacer,
}

/// What a controller must answer at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal<'a> {
    /// Packets were declared lost.
    Lost {
        /// When they were declared lost.
        now: Time,
        /// How many bytes; none for a mark that a controller for L4S has to take for a loss, over TCP.
        bytes: u64,
        /// When the newest of them was sent.
        newest_sent_at: Time,
        /// Bytes in flight without them.
        bytes_in_flight: u64,
        /// Each of them, in the order in which they were sent.
        packets: &'a [LostPacket],
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
    /// Packets that were declared lost were acknowledged after all.
    Spurious {
        /// When the acknowledgement came.
        now: Time,
        /// How many.
        packets: u64,
        /// Their bytes.
        bytes: u64,
        /// When the newest of them was sent.
        newest_sent_at: Time,
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
    /// How many bytes the pacer releases at once; `None`: as the options of the transport say.
    pub quantum: Option<u64>,
}

impl Allowance {
    /// This window and this pacing rate, in steps as the options of the transport say.
    pub const fn new(window: u64, pacing: Option<Rate>) -> Allowance {
        Allowance { window, pacing, quantum: None }
    }
}

/// A congestion controller.
pub trait Controller: Send {
    /// A packet was sent.
    fn on_sent(&mut self, sent: &Sent);
    /// An ACK frame newly acknowledged something.
    fn on_ack(&mut self, ack: &AckSample<'_>);
    /// Something went wrong, or the path changed.
    fn on_signal(&mut self, signal: &Signal<'_>);
    /// What the sender may do now.
    fn allowance(&self) -> Allowance;
    /// Whether it answers to CE as an L4S sender does, so that its packets are sent with ECT(1) (RFC 9331 section 4).
    /// Asked once, when a path is taken into use.
    fn is_l4s(&self) -> bool {
        false
    }
    /// The slow start threshold in bytes, where the controller has one and it is finite. A controller that gives one after a
    /// loss leaves it to the transport how the flight falls to the new window: over TCP by RFC 9937, see
    /// [`Regulator::begin_reduction`].
    fn ssthresh(&self) -> Option<u64> {
        None
    }
    /// Whether what it does depends on [`Setup::seed`]. Of controllers that are not rows of [`CONTROLLERS`] nobody asks.
    fn draws(&self) -> bool {
        false
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
    /// The initial window in packets, if it was chosen so; otherwise it is [`recommended_window`].
    pub initial_packets: Option<u64>,
    /// The RTT assumed before the first sample.
    pub initial_rtt: Duration,
    /// What the controller's random draws, if it makes any, follow from; another one for each sender and path.
    pub seed: u64,
}

impl Setup {
    /// RFC 9002 section 7.2: "If the maximum datagram size changes during the connection, the initial congestion window SHOULD
    /// be recalculated with the new size." One that was chosen in packets stays as many of them.
    pub fn resize(&mut self, bytes: u64) {
        self.initial_window = initial_window(self.initial_packets, bytes);
        self.max_datagram_size = bytes;
    }
}

/// The initial window in bytes that RFC 9002 section 7.2 recommends for datagrams of this size: ten of them, "while limiting
/// the window to the larger of 14,720 bytes or twice the maximum datagram size".
pub fn recommended_window(max_datagram_size: u64) -> u64 {
    (10 * max_datagram_size).min((2 * max_datagram_size).max(14_720))
}

/// The initial window in bytes: as many datagrams of this size as were chosen, or what is recommended.
pub fn initial_window(packets: Option<u64>, max_datagram_size: u64) -> u64 {
    packets.map_or_else(|| recommended_window(max_datagram_size), |packets| packets * max_datagram_size)
}

/// How a controller is made.
pub type Build = &'static (dyn Fn(&Arguments, Setup) -> Box<dyn Controller> + Send + Sync);

/// The controllers.
pub static CONTROLLERS: &[Row<Build>] = &[
    newreno::ROW,
    cubic::ROW,
    bbr1::ROW,
    bbr3::ROW,
    vegas::ROW,
    westwood::ROW,
    copa::ROW,
    prague::ROW,
    fixed::ROW,
    none::ROW,
];

/// Those that the program added.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a controller from outside of this crate: from now on scenarios find it by its name, like any other. One that was
/// added before under the same name is replaced.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(CONTROLLERS, row)
}

/// The room of the controllers as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    PLUGGED.extend(Room::of("controllers", "congestion controllers", CONTROLLERS, None))
}

/// Whether the controller of this name draws at random, see [`Controller::draws`]; `false` if there is no such row.
pub fn draws(name: &str, arguments: &Arguments) -> bool {
    let setup = Setup {
        max_datagram_size: 1200,
        initial_window: recommended_window(1200),
        initial_packets: None,
        initial_rtt: Duration::from_millis(333),
        seed: 0,
    };
    build(name, arguments, setup).is_some_and(|controller| controller.draws())
}

/// Makes the controller of this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments, setup: Setup) -> Option<Box<dyn Controller>> {
    PLUGGED.find(CONTROLLERS, name).map(|row| (row.build)(arguments, setup))
}
