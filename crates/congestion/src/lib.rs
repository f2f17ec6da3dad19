//! RTT estimate, delivery-rate sample, pacer, the congestion controllers, and the regulator that combines them: one
//! file each, shared by all transports.
//!
//! A controller is notified of sent packets, of one [`AckSample`] per ACK frame, and of [`Signal`]s; it answers with
//! an [`Allowance`]. It never sees a packet, a stream or a clock. To add one, write its file and add its line to
//! [`CONTROLLERS`].

mod additive;
mod basis;
mod bbr1;
mod bbr3;
mod bbr_outputs;
mod bbr_rounds;
mod capacity;
mod copa;
mod cubic;
mod filter;
mod fixed;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod newreno;
mod none;
mod pacer;
mod prague;
mod prr;
mod rate;
mod recovery_period;
mod regulator;
mod reno;
mod resume;
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
pub use capacity::Capacity;
pub use copa::Copa;
pub use cubic::Cubic;
pub use fixed::{Fixed, fixed_window};
pub use newreno::NewReno;
pub use pacer::Pacer;
pub use prague::Prague;
pub use rate::{DeliveryRate, LostPacket, RateSample, SentState};
pub use regulator::{Acked, Regulator};
pub use resume::{
    Adjustment, CarefulResume, Checks, Congestion, InUse, Learned, PathKey, PathStore, Phase, RESUMPTIONS,
    Refusal, Resume, ResumeMode, ResumeOptions, Saved, Spent, StoreKey, TicketKey, Transition, Trigger,
};
pub use rtt::{GRANULARITY, RttEstimate};
pub use tracing::PathMetrics;
pub use vegas::Vegas;
pub use westwood::Westwood;

pub use units::plugged::PlugError;

use units::parameter::{Arguments, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Rate, Time};

/// The maximum window, so that sums of windows never overflow: a pebibyte, which no path holds.
const MAX_WINDOW: u64 = 1 << 50;

/// A sent packet that counts towards bytes in flight.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// When it was sent.
    pub now: Time,
    /// Its size in bytes, as congestion control counts it (RFC 9002 section 2: the QUIC packet).
    pub bytes: u64,
    /// Bytes in flight including it.
    pub bytes_in_flight: u64,
    /// Whether the sender had run out of data within the last round trip (draft-ietf-ccwg-bbr-06 section 4.1.1.3).
    pub app_limited: bool,
}

impl Sent {
    /// Whether nothing was in flight before.
    #[inline]
    pub fn begins_flight(&self) -> bool {
        self.bytes_in_flight == self.bytes
    }
}

/// The contents of one ACK frame.
#[derive(Debug, Clone, Copy)]
pub struct AckSample<'a> {
    /// When it arrived.
    pub now: Time,
    /// Newly acknowledged bytes.
    pub acked_bytes: u64,
    /// When the newest of the newly acknowledged packets was sent.
    pub newest_sent_at: Time,
    /// When the oldest of them was sent.
    pub oldest_sent_at: Time,
    /// Bytes in flight after the frame and the losses it revealed.
    pub bytes_in_flight: u64,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Bytes declared lost because of it.
    pub lost_bytes: u64,
    /// Newly acknowledged packets.
    pub acked_packets: u64,
    /// The increase of the count of CE marks since the previous frame (RFC 9002 section 7.1).
    pub marked_packets: u64,
    /// Bytes delivered so far, including these.
    pub delivered: u64,
    /// The reason why the sender last stopped.
    pub limit: Limit,
    /// The RTT, including this frame's sample.
    pub rtt: &'a RttEstimate,
    /// The RTT sample; `None` if the frame provides none. It is the transport's own: QUIC takes a sample if the
    /// largest packet is newly acknowledged (RFC 9002 section 5.1); TCP takes none from a retransmitted segment,
    /// except with timestamps (RFC 6298 section 3). The time since [`AckSample::newest_sent_at`] is not a round trip
    /// if the acknowledgement may be for an earlier transmission.
    pub rtt_sample: Option<Duration>,
    /// The rate sample of the newest packet; `None` if nothing that counts towards bytes in flight was acknowledged.
    pub rate: Option<RateSample>,
}

impl AckSample<'_> {
    /// Whether the window was underused and so should not grow (RFC 9002 section 7.8).
    #[inline]
    pub fn app_limited(&self) -> bool {
        self.limit == Limit::Application
    }
}

/// Why a sender stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// It had nothing to send, or flow control or another protocol limit blocked it, while the window had room.
    Application,
    /// The window is full.
    #[default]
    Window,
    /// The pacer delays the next packet.
    Pacer,
}

/// An event that a controller must respond to at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal<'a> {
    /// Packets were declared lost.
    Lost {
        /// When they were declared lost.
        now: Time,
        /// How many bytes; zero for a mark over TCP that an L4S controller has to treat as a loss.
        bytes: u64,
        /// When the newest of them was sent.
        newest_sent_at: Time,
        /// Bytes in flight without them.
        bytes_in_flight: u64,
        /// The packets in the order in which they were sent.
        packets: &'a [LostPacket],
    },
    /// An ACK frame reported additional CE marks (RFC 9002 section 7.1).
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
    /// Packets declared lost were acknowledged after all.
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
    /// The datagram size has changed (RFC 9002 section 7.2).
    DatagramSize {
        /// The maximum size in bytes.
        bytes: u64,
    },
    /// The path has changed, so everything learned is void (RFC 9000 section 9.4).
    PathChanged,
    /// Careful Resume changes the window: see [`Adjustment`] (RFC 9959).
    Resume {
        /// When.
        now: Time,
        /// What to do.
        adjustment: Adjustment,
    },
}

/// The sending limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The maximum number of bytes in flight.
    pub window: u64,
    /// The pacing rate; `None` to send as fast as the window allows.
    pub pacing: Option<Rate>,
    /// The number of bytes that the pacer releases at once; `None` for the transport's default.
    pub quantum: Option<u64>,
}

impl Allowance {
    /// An allowance with this window and pacing rate, and the transport's default quantum.
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
    /// The current sending limits.
    fn allowance(&self) -> Allowance;
    /// Whether it responds to CE like an L4S sender, so that its packets are sent with ECT(1) (RFC 9331 section 4).
    /// Queried once, when a path is put into use.
    fn is_l4s(&self) -> bool {
        false
    }
    /// Whether it sends at a rate that it derives from a model of the path, like BBR. Careful Resume then leaves pacing and
    /// window to the controller (RFC 9959 appendix B).
    fn is_rate_based(&self) -> bool {
        false
    }
    /// The slow start threshold in bytes, if the controller has a finite one. After a loss, the transport of such a
    /// controller decides how the flight falls to the new window: in TCP by RFC 9937, see
    /// [`Regulator::begin_reduction`].
    fn ssthresh(&self) -> Option<u64> {
        None
    }
    /// Whether the behaviour depends on [`Setup::seed`]. Only queried for rows of [`CONTROLLERS`].
    fn draws(&self) -> bool {
        false
    }
    /// The state in traces: `"slow_start"`, `"recovery"`, `"congestion_avoidance"`, or a word of the controller's
    /// own.
    fn state(&self) -> &'static str;
    /// Additional gauges for traces: a name that ends with the unit, and a value.
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }
}

/// The inputs of every controller besides its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The largest QUIC packet (or TCP segment) in bytes: `max_datagram_size` of RFC 9002.
    pub max_datagram_size: u64,
    /// The initial window in bytes.
    pub initial_window: u64,
    /// The initial window in packets, if configured; otherwise it is [`recommended_window`].
    pub initial_packets: Option<u64>,
    /// The RTT assumed before the first sample.
    pub initial_rtt: Duration,
    /// The seed of the controller's random draws, different for each sender and path.
    pub seed: u64,
}

impl Setup {
    /// RFC 9002 7.2: "If the maximum datagram size changes during the connection, the initial congestion window
    /// SHOULD be recalculated with the new size." A window configured in packets keeps their number.
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

/// The initial window in bytes: the configured number of datagrams, or the recommended window.
pub fn initial_window(packets: Option<u64>, max_datagram_size: u64) -> u64 {
    packets.map_or_else(|| recommended_window(max_datagram_size), |packets| packets * max_datagram_size)
}

/// The constructor of a controller.
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

/// Controllers added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a controller from outside of this crate, which scenarios then find by name like any other. It replaces an
/// added controller of the same name.
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

/// All rooms of this crate: the controllers, and the option `resume` of QUIC and of TCP.
pub fn rooms() -> [Room; 3] {
    let [resumptions, tcp_resumptions] = resume::rooms();
    [room(), resumptions, tcp_resumptions]
}

/// Whether the controller of this name draws random numbers, see [`Controller::draws`]; `false` if there is no such
/// row.
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

/// Creates the controller of this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments, setup: Setup) -> Option<Box<dyn Controller>> {
    PLUGGED.find(CONTROLLERS, name).map(|row| (row.build)(arguments, setup))
}
