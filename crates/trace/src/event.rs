//! The events, in the vocabulary of qlog (draft-ietf-quic-qlog-main-schema-14, draft-ietf-quic-qlog-quic-events-13).

use std::net::SocketAddr;
use units::{Duration, Rate, Time};
use wire::PacketKind;

/// One packet, sent or received.
#[derive(Debug, Clone, PartialEq)]
pub struct Packet {
    /// Its type.
    pub kind: PacketKind,
    /// Its packet number; `None` for types without one.
    pub number: Option<u64>,
    /// Its length in bytes, from the first byte of the header to the last of the tag.
    pub length: u32,
    /// The destination connection id; empty if not known.
    pub destination: Vec<u8>,
    /// The source connection id of a long header.
    pub source: Vec<u8>,
    /// What it carried.
    pub contents: Contents,
    /// The number of the UDP datagram that carried it, counted per connection and direction from 0.
    pub datagram: u64,
}

/// What a packet carried, as it was on the wire: who wants to see its frames decodes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Frames of QUIC.
    Frames {
        /// The packet without header and tag.
        payload: Vec<u8>,
        /// The virtual bytes behind it (see [`wire::Hole`]).
        virtual_tail: u32,
        /// ack_delay_exponent of the side that sent it (RFC 9000 section 18.2).
        ack_delay_exponent: u8,
    },
    /// A segment of TCP.
    Segment {
        /// The bytes of the stream that it carries, if it carries any, or its end.
        data: Option<SegmentData>,
        /// Whether it acknowledges.
        acknowledges: bool,
    },
}

/// Bytes of the stream of a TCP connection in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentData {
    /// The number of the stream in tables.
    pub stream: u64,
    /// The offset of the first one.
    pub offset: u64,
    /// How many there are.
    pub length: u64,
    /// Whether the stream ends behind them.
    pub fin: bool,
}

impl Contents {
    /// No frames.
    pub const NONE: Contents =
        Contents::Frames { payload: Vec::new(), virtual_tail: 0, ack_delay_exponent: 0 };

    /// The frames of a packet of QUIC, in order, as far as they can be read; a segment of TCP has none.
    pub fn frames(&self) -> impl Iterator<Item = wire::Frame<'_>> {
        let (payload, virtual_tail) = match self {
            Contents::Frames { payload, virtual_tail, .. } => (&payload[..], *virtual_tail as usize),
            Contents::Segment { .. } => (&[][..], 0),
        };
        wire::Frames::new(payload, virtual_tail).flatten()
    }
}

/// A message that one application writes and the other reads whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Which of the applications that share the connection it belongs to, counted from 0.
    pub part: u32,
    /// Its number, counted from 0 at its writer.
    pub number: u64,
    /// The stream that carries it; `None`: a datagram.
    pub stream: Option<u64>,
    /// Its length in bytes.
    pub bytes: u64,
    /// When its writer had it, by the writer's clock.
    pub written: Time,
    /// How long after that it is of use; `None`: always.
    pub deadline: Option<Duration>,
}

/// The gauges of recovery, all of them each time one changes (RFC 9002).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Metrics {
    /// The window in bytes.
    pub cwnd: u64,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub bytes_in_flight: u64,
    /// The slow start threshold in bytes; `None` while infinite.
    pub ssthresh: Option<u64>,
    /// The newest RTT sample; `None` before the first.
    pub latest_rtt: Option<Duration>,
    /// The smoothed RTT.
    pub smoothed_rtt: Duration,
    /// The least RTT seen; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// The mean deviation of the RTT.
    pub rtt_variance: Duration,
    /// The rate at which packets are released, if paced.
    pub pacing_rate: Option<Rate>,
    /// The newest delivery-rate sample.
    pub delivery_rate: Option<Rate>,
    /// How often the probe timeout has fired in a row.
    pub pto_count: u32,
}

/// Why a packet was declared lost (RFC 9002 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossTrigger {
    /// Enough later packets were acknowledged (6.1.1).
    PacketThreshold,
    /// A later packet was acknowledged long enough ago (6.1.2).
    TimeThreshold,
    /// Sent again for a probe timeout (6.2.4).
    Probe,
}

impl LossTrigger {
    /// All of them in the order of their discriminants.
    pub const ALL: [LossTrigger; 3] =
        [LossTrigger::PacketThreshold, LossTrigger::TimeThreshold, LossTrigger::Probe];
    /// The word for it in qlog's `packet_lost` trigger.
    pub const fn name(self) -> &'static str {
        match self {
            LossTrigger::PacketThreshold => "reordering_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::Probe => "pto_expired",
        }
    }
}

/// Why a packet that arrived was not processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Its keys are not there yet or no longer.
    KeyUnavailable,
    /// It did not open: altered, or not for us.
    DecryptionFailure,
    /// The header is not one.
    HeaderParse,
    /// It was received before.
    Duplicate,
    /// No connection with this id.
    UnknownConnection,
    /// A version that is not spoken here.
    UnsupportedVersion,
    /// It arrived where it must not, or not as the RFC demands (a client Initial in a small datagram, say).
    Invalid,
}

impl DropReason {
    /// The word for it in qlog's `packet_dropped` trigger.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::KeyUnavailable => "key_unavailable",
            DropReason::DecryptionFailure => "decryption_failure",
            DropReason::HeaderParse => "invalid",
            DropReason::Duplicate => "duplicate",
            DropReason::UnknownConnection => "connection_unknown",
            DropReason::UnsupportedVersion => "unsupported",
            DropReason::Invalid => "rejected",
        }
    }
}

/// How far a path is with being tried or moved to (RFC 9000 sections 8.2 and 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationState {
    /// This side tries a path that is not in use.
    ProbingStarted,
    /// It does not work, or is not wanted any more.
    ProbingAbandoned,
    /// It works.
    ProbingSuccessful,
    /// Packets go over this path from now on.
    MigrationStarted,
    /// The path that packets went over does not work.
    MigrationAbandoned,
    /// The path that packets go over has been validated.
    MigrationComplete,
}

impl MigrationState {
    /// All of them in the order of their discriminants.
    pub const ALL: [MigrationState; 6] = [
        MigrationState::ProbingStarted,
        MigrationState::ProbingAbandoned,
        MigrationState::ProbingSuccessful,
        MigrationState::MigrationStarted,
        MigrationState::MigrationAbandoned,
        MigrationState::MigrationComplete,
    ];
    /// The word for it in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            MigrationState::ProbingStarted => "probing_started",
            MigrationState::ProbingAbandoned => "probing_abandoned",
            MigrationState::ProbingSuccessful => "probing_successful",
            MigrationState::MigrationStarted => "migration_started",
            MigrationState::MigrationAbandoned => "migration_abandoned",
            MigrationState::MigrationComplete => "migration_complete",
        }
    }
}

/// What is known of ECN on the path in use (RFC 9000 appendix A.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnState {
    /// The first packets are marked, to see what becomes of them.
    Testing,
    /// Enough were; nothing is known yet.
    Unknown,
    /// Marks do not arrive as they were sent, or not at all.
    Failed,
    /// Marks arrive.
    Capable,
}

impl EcnState {
    /// All of them in the order of their discriminants.
    pub const ALL: [EcnState; 4] =
        [EcnState::Testing, EcnState::Unknown, EcnState::Failed, EcnState::Capable];
    /// The word for it in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            EcnState::Testing => "testing",
            EcnState::Unknown => "unknown",
            EcnState::Failed => "failed",
            EcnState::Capable => "capable",
        }
    }
}

/// What became of an object of a web page, or of a list of objects, as its client saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectLoaded {
    /// The page, from 0 on.
    pub page: u32,
    /// Its place in the page, from 0 on.
    pub object: u32,
    /// The stream that it was asked for on: of HTTP/3 or HTTP/2; of HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// Bytes of its content that came.
    pub bytes: u64,
    /// Its urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// When it could have been asked for, but for limits.
    pub wanted_at: Option<Time>,
    /// When it was asked for.
    pub asked_at: Option<Time>,
    /// When the response began to come.
    pub first_at: Option<Time>,
    /// When all of it had come.
    pub complete_at: Option<Time>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A connection began here.
    ConnectionStarted {
        /// This side's address.
        local: SocketAddr,
        /// The other side's address.
        remote: SocketAddr,
        /// The connection id that this side chose first.
        source: Vec<u8>,
        /// The destination connection id of the client's first packet.
        original_destination: Vec<u8>,
    },
    /// The handshake moved on: `"handshake_complete"`, `"handshake_confirmed"`, `"closing"`, `"draining"`, `"closed"`.
    ConnectionState {
        /// The new state, in qlog's words.
        state: &'static str,
    },
    /// The connection ended.
    ConnectionClosed {
        /// Whether this side ended it.
        local: bool,
        /// Whether the code is the application's (RFC 9000 section 20.2) and not QUIC's (20.1).
        application: bool,
        /// The error code; 0 for none.
        code: u64,
        /// A reason for people. `"idle timeout"`, `"no common version"` and `"stateless reset"` are told apart by qlog.
        reason: String,
    },
    /// Which versions there are to choose from, as far as they are known, and which is spoken (RFC 9368). Connections that
    /// speak version 1 alone do not tell.
    VersionInformation {
        /// The server's versions; empty: unknown.
        server: Vec<u32>,
        /// The client's.
        client: Vec<u32>,
        /// The one that is spoken, once it is agreed on.
        chosen: Option<u32>,
    },
    /// Transport parameters came into force, in the names of RFC 9000 section 18.2.
    ParametersSet {
        /// Whether they are this side's own.
        local: bool,
        /// Name and value of those that are integers, in the order of their code points.
        values: Vec<(&'static str, u64)>,
    },
    /// Transport parameters of an earlier connection came into force, for 0-RTT (RFC 9000 section 7.4.1).
    ParametersRestored {
        /// As in [`Event::ParametersSet`].
        values: Vec<(&'static str, u64)>,
    },
    /// A path is tried, or moved to.
    MigrationState {
        /// How far it is.
        state: MigrationState,
        /// This side's address on it.
        local: SocketAddr,
        /// The other side's address on it.
        remote: SocketAddr,
    },
    /// ECN on the path in use entered a state.
    EcnState {
        /// The state it enters.
        state: EcnState,
    },
    /// Datagrams have another size from now on (RFC 9000 section 14.3).
    MtuUpdated {
        /// The largest UDP payload until now, in bytes.
        old: u32,
        /// The largest from now on.
        new: u32,
        /// Whether no larger one is tried for a while.
        done: bool,
    },
    /// Keys came into use: `"client_initial_secret"`, `"server_1rtt_secret"` ...
    KeyUpdated {
        /// The qlog name of the secret.
        key: &'static str,
        /// The key phase, for 1-RTT.
        phase: Option<u64>,
    },
    /// Keys were dropped.
    KeyDiscarded {
        /// The qlog name of the secret.
        key: &'static str,
    },
    /// A UDP datagram left.
    DatagramSent {
        /// Its number, counted per connection from 0.
        number: u64,
        /// Its UDP payload in bytes.
        length: u32,
    },
    /// A UDP datagram arrived.
    DatagramReceived {
        /// Its number, counted per connection from 0.
        number: u64,
        /// Its UDP payload in bytes.
        length: u32,
    },
    /// A packet left.
    PacketSent(Box<Packet>),
    /// A packet arrived and opened.
    PacketReceived(Box<Packet>),
    /// A packet arrived and was not processed.
    PacketDropped {
        /// Its type, as far as it could be told.
        kind: PacketKind,
        /// Its length in bytes.
        length: u32,
        /// Why.
        reason: DropReason,
    },
    /// A packet was declared lost.
    PacketLost {
        /// Its type.
        kind: PacketKind,
        /// Its number.
        number: u64,
        /// Why.
        trigger: LossTrigger,
    },
    /// The gauges of recovery changed.
    Metrics(Metrics),
    /// The controller entered a state: `"slow_start"`, `"recovery"`, `"congestion_avoidance"`, ...
    CongestionState {
        /// The state it enters.
        state: &'static str,
    },
    /// A gauge of the controller's own.
    Gauge {
        /// Its name, with the unit last.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// What became of an object that an application has loaded, or has not: told at the end of a run.
    ObjectLoaded(Box<ObjectLoaded>),
    /// A stream was opened, and by which side.
    StreamOpened {
        /// The stream.
        stream: u64,
        /// Whether by this side.
        local: bool,
    },
    /// A stream is over: all of it was delivered, or it was reset.
    StreamClosed {
        /// The stream.
        stream: u64,
        /// Bytes that this side sent on it, without retransmissions.
        sent: u64,
        /// Bytes that this side received on it.
        received: u64,
    },
    /// The application wrote to a stream, and the endpoint took it: from now on it waits to be sent.
    StreamWritten {
        /// The stream.
        stream: u64,
        /// Where in the stream the data begins.
        offset: u64,
        /// Bytes that were taken.
        length: u64,
    },
    /// An application began to write a message.
    MessageWritten(Message),
    /// All of a message came to its reader.
    MessageDelivered(Message),
    /// A queue changed.
    Queue {
        /// Packets that wait.
        packets: u32,
        /// Bytes on the wire that wait.
        bytes: u64,
    },
    /// A link or a queue dropped a packet.
    NetworkDrop {
        /// Bytes on the wire.
        length: u32,
        /// Why: `"queue"`, `"loss"`, `"mtu"`.
        reason: &'static str,
    },
    /// What a link could carry from now on, over one bin of the rates.
    Capacity {
        /// In bits per second.
        rate: Rate,
    },
    /// A link took a packet to its far end.
    Delivered {
        /// Bytes on the wire.
        length: u32,
    },
}
