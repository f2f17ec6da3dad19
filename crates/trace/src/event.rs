//! The events, with the vocabulary of qlog (draft-ietf-quic-qlog-main-schema-14, draft-ietf-quic-qlog-quic-events-13).

use crate::wait::Waited;
use std::net::SocketAddr;
use units::{Duration, Rate, Time};
use wire::PacketKind;

/// A sent or received packet.
#[derive(Debug, Clone, PartialEq)]
pub struct Packet {
    /// The type.
    pub kind: PacketKind,
    /// The packet number; `None` for types without one.
    pub number: Option<u64>,
    /// The length in bytes, from the start of the header to the end of the tag.
    pub length: u32,
    /// The destination connection id; empty if unknown.
    pub destination: Vec<u8>,
    /// The source connection id of a long header.
    pub source: Vec<u8>,
    /// The contents.
    pub contents: Contents,
    /// The number of the UDP datagram with this packet, counted from 0 per connection and direction.
    pub datagram: u64,
}

impl Default for Packet {
    /// An empty 1-RTT packet, to be filled in.
    fn default() -> Packet {
        Packet {
            kind: PacketKind::OneRtt,
            number: None,
            length: 0,
            destination: Vec::new(),
            source: Vec::new(),
            contents: Contents::NONE,
            datagram: 0,
        }
    }
}

impl Packet {
    /// Replaces the connection ids, in the memory of those before.
    pub fn set_ids(&mut self, destination: &[u8], source: &[u8]) {
        self.destination.clear();
        self.destination.extend_from_slice(destination);
        self.source.clear();
        self.source.extend_from_slice(source);
    }
    /// Replaces the contents by QUIC frames, in the memory of those before: see [`Contents::Frames`].
    pub fn set_frames(&mut self, frames: &[u8], virtual_tail: u32, ack_delay_exponent: u8) {
        let mut payload = match std::mem::replace(&mut self.contents, Contents::NONE) {
            Contents::Frames { payload, .. } => payload,
            Contents::Segment { .. } => Vec::new(),
        };
        payload.clear();
        payload.extend_from_slice(frames);
        self.contents = Contents::Frames { payload, virtual_tail, ack_delay_exponent };
    }
}

/// A change of the phase of Careful Resume (RFC 9959, draft-ietf-tsvwg-careful-resume-qlog-02). The state is that after the
/// change.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumePhase {
    /// The phase before; `None` at the beginning.
    pub old: Option<&'static str>,
    /// The phase: `"reconnaissance"`, `"unvalidated"`, `"validating"`, `"safe_retreat"`, `"normal"`.
    pub new: &'static str,
    /// Why it changed, if the draft has a word for it.
    pub trigger: Option<&'static str>,
    /// PipeSize in bytes.
    pub pipe_size: u64,
    /// The numbers of the first and the last packet of the Unvalidated phase, if any was sent.
    pub unvalidated: Option<(u64, u64)>,
    /// The congestion window in bytes.
    pub window: u64,
    /// The slow start threshold in bytes, if there is one.
    pub ssthresh: Option<u64>,
    /// saved_cwnd in bytes and saved_rtt.
    pub saved: (u64, Duration),
}

/// The contents of a packet as encoded on the wire. A sink that needs the frames decodes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// QUIC frames.
    Frames {
        /// The packet without header and tag.
        payload: Vec<u8>,
        /// The number of virtual bytes after it (see [`wire::Hole`]).
        virtual_tail: u32,
        /// The ack_delay_exponent of the sender (RFC 9000 section 18.2).
        ack_delay_exponent: u8,
    },
    /// A TCP segment.
    Segment {
        /// The stream data in the segment, or the end of the stream, if any.
        data: Option<SegmentData>,
        /// Whether it contains an acknowledgement.
        acknowledges: bool,
    },
}

/// The stream data of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentData {
    /// The number of the stream in tables.
    pub stream: u64,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// Whether the stream ends after them.
    pub fin: bool,
}

impl Contents {
    /// No frames.
    pub const NONE: Contents =
        Contents::Frames { payload: Vec::new(), virtual_tail: 0, ack_delay_exponent: 0 };

    /// The frames of a QUIC packet, in order, up to the first invalid one. A TCP segment has none.
    pub fn frames(&self) -> impl Iterator<Item = wire::Frame<'_>> {
        let (payload, virtual_tail) = match self {
            Contents::Frames { payload, virtual_tail, .. } => (&payload[..], *virtual_tail as usize),
            Contents::Segment { .. } => (&[][..], 0),
        };
        wire::Frames::new(payload, virtual_tail).flatten()
    }
}

/// A message that one application writes and the other reads as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The index of its application among those that share the connection.
    pub part: u32,
    /// The number, counted from 0 by its writer.
    pub number: u64,
    /// The stream that carries it; `None` for a datagram.
    pub stream: Option<u64>,
    /// The length in bytes.
    pub bytes: u64,
    /// The time at which it was written, by the writer's clock.
    pub written: Time,
    /// The time after which it is useless; `None` if there is no deadline.
    pub deadline: Option<Duration>,
}

/// The recovery metrics (RFC 9002), all of which are reported when any changes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Metrics {
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// Bytes sent and neither acknowledged nor declared lost.
    pub bytes_in_flight: u64,
    /// The slow start threshold in bytes; `None` while infinite.
    pub ssthresh: Option<u64>,
    /// The newest RTT sample; `None` before the first.
    pub latest_rtt: Option<Duration>,
    /// The smoothed RTT.
    pub smoothed_rtt: Duration,
    /// The minimum RTT; `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// The mean deviation of the RTT.
    pub rtt_variance: Duration,
    /// The pacing rate, if paced.
    pub pacing_rate: Option<Rate>,
    /// The newest delivery-rate sample.
    pub delivery_rate: Option<Rate>,
    /// The number of consecutive probe timeouts.
    pub pto_count: u32,
}

/// Why a packet was declared lost (RFC 9002 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossTrigger {
    /// Enough later packets were acknowledged (6.1.1).
    PacketThreshold,
    /// A later packet was acknowledged long enough ago (6.1.2).
    TimeThreshold,
    /// Retransmitted after a probe timeout (6.2.4).
    Probe,
}

impl LossTrigger {
    /// All triggers in the order of their discriminants.
    pub const ALL: [LossTrigger; 3] =
        [LossTrigger::PacketThreshold, LossTrigger::TimeThreshold, LossTrigger::Probe];
    /// The name in qlog's `packet_lost` trigger.
    pub const fn name(self) -> &'static str {
        match self {
            LossTrigger::PacketThreshold => "reordering_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::Probe => "pto_expired",
        }
    }
}

/// Why a received packet was not processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Its keys are not available yet or any more.
    KeyUnavailable,
    /// Decryption failed: the packet was altered, or is not for this endpoint.
    DecryptionFailure,
    /// The header is invalid.
    HeaderParse,
    /// It was received before.
    Duplicate,
    /// No connection with this id.
    UnknownConnection,
    /// An unsupported version.
    UnsupportedVersion,
    /// The packet is not allowed here, or violates the RFC (for example a client Initial in a small datagram).
    Invalid,
}

impl DropReason {
    /// The name in qlog's `packet_dropped` trigger.
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

/// The progress of path validation and migration (RFC 9000 sections 8.2 and 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationState {
    /// This side probes an unused path.
    ProbingStarted,
    /// The probe failed or was abandoned.
    ProbingAbandoned,
    /// The path was validated.
    ProbingSuccessful,
    /// Packets are sent over this path from now on.
    MigrationStarted,
    /// The path in use does not work.
    MigrationAbandoned,
    /// The path in use has been validated.
    MigrationComplete,
}

impl MigrationState {
    /// All states in the order of their discriminants.
    pub const ALL: [MigrationState; 6] = [
        MigrationState::ProbingStarted,
        MigrationState::ProbingAbandoned,
        MigrationState::ProbingSuccessful,
        MigrationState::MigrationStarted,
        MigrationState::MigrationAbandoned,
        MigrationState::MigrationComplete,
    ];
    /// The name in qlog.
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

/// The state of ECN validation on the path in use (RFC 9000 appendix A.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EcnState {
    /// The first packets are marked as a test.
    Testing,
    /// Enough packets were marked; the result is still unknown.
    Unknown,
    /// Marks are altered or lost on the path.
    Failed,
    /// Marks arrive unaltered.
    Capable,
}

impl EcnState {
    /// All states in the order of their discriminants.
    pub const ALL: [EcnState; 4] =
        [EcnState::Testing, EcnState::Unknown, EcnState::Failed, EcnState::Capable];
    /// The name in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            EcnState::Testing => "testing",
            EcnState::Unknown => "unknown",
            EcnState::Failed => "failed",
            EcnState::Capable => "capable",
        }
    }
}

/// The download of an object of a web page or of a list of objects, as seen by the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectLoaded {
    /// The index of the page.
    pub page: u32,
    /// The index of the object in the page.
    pub object: u32,
    /// The stream of the request: of HTTP/3 or HTTP/2; of HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// The received bytes of its content.
    pub bytes: u64,
    /// Its urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// The time from which it could have been requested, but for limits.
    pub requestable_at: Option<Time>,
    /// The time of the request.
    pub requested_at: Option<Time>,
    /// The time of the first byte of the response.
    pub first_at: Option<Time>,
    /// The time at which it was complete.
    pub complete_at: Option<Time>,
}

/// A download of a segment of a video, as its player observed it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VideoSegment {
    /// `"video"` or `"audio"`.
    pub kind: &'static str,
    /// The segment, counted from 0; `None` for an initialization segment.
    pub segment: Option<u32>,
    /// The representation, counted from 0 by rising bitrate.
    pub representation: u32,
    /// The declared bitrate of the representation.
    pub bitrate: Rate,
    /// The duration of its media.
    pub duration: Duration,
    /// All its bytes.
    pub size: u64,
    /// The bytes that came.
    pub bytes: u64,
    /// The bytes of the player's other downloads that came while it was underway.
    pub beside: u64,
    /// The urgency asked for (RFC 9218 section 4.1).
    pub urgency: u8,
    /// The stream of the request: of HTTP/3 or HTTP/2; of HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// The time at which it was asked for.
    pub asked_at: Time,
    /// The time of the first byte of the response.
    pub first_at: Option<Time>,
    /// The time at which it ended.
    pub ended_at: Option<Time>,
    /// The media in the buffer of its track when it was asked for.
    pub buffer_before: Duration,
    /// The media in the buffer when it had ended.
    pub buffer_after: Option<Duration>,
    /// What the rate adaptation took the throughput for.
    pub estimate: Option<Rate>,
    /// How it ended: `"complete"`, `"abandoned"`, `"cancelled"`, `"cut"`, `"failed"`; `"underway"` if it did not.
    pub outcome: &'static str,
}

/// A change of a playback, and the state after it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlaybackChange {
    /// The time.
    pub at: Time,
    /// What changed: `"start"`, `"stall"`, `"resume"`, `"gap"`, `"seek"`, `"switch"`, `"rate"`, `"end"`.
    pub what: &'static str,
    /// The position in the media.
    pub position: Duration,
    /// The media in the buffer.
    pub buffer: Duration,
    /// The representation that is played.
    pub representation: Option<u32>,
    /// Its declared bitrate.
    pub bitrate: Option<Rate>,
    /// The rate of playback in millionths; 0 while it stands.
    pub rate: u64,
    /// How far the position is behind what is filmed, in a live presentation.
    pub latency: Option<Duration>,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A connection started at this end.
    ConnectionStarted {
        /// The local address.
        local: SocketAddr,
        /// The remote address.
        remote: SocketAddr,
        /// The first connection id chosen by this side.
        source: Vec<u8>,
        /// The destination connection id of the client's first packet.
        original_destination: Vec<u8>,
    },
    /// The handshake advanced: `"handshake_complete"`, `"handshake_confirmed"`, `"closing"`, `"draining"`, `"closed"`.
    ConnectionState {
        /// The new state, with the name in qlog.
        state: &'static str,
    },
    /// The connection ended.
    ConnectionClosed {
        /// Whether this side ended it.
        local: bool,
        /// Whether the code is the application's (RFC 9000 section 20.2) instead of QUIC's (20.1).
        application: bool,
        /// The error code; 0 for none.
        code: u64,
        /// A reason for humans. qlog has distinct triggers for `"idle timeout"`, `"no common version"` and `"stateless
        /// reset"`.
        reason: String,
    },
    /// The known versions of both sides, and the chosen one (RFC 9368). Not reported by connections that only support
    /// version 1.
    VersionInformation {
        /// The server's versions; empty if unknown.
        server: Vec<u32>,
        /// The client's.
        client: Vec<u32>,
        /// The chosen version, once negotiated.
        chosen: Option<u32>,
    },
    /// Transport parameters took effect, with the names of RFC 9000 section 18.2.
    ParametersSet {
        /// Whether they are this side's.
        local: bool,
        /// Names and values of the integer parameters, in the order of their code points.
        values: Vec<(&'static str, u64)>,
    },
    /// Transport parameters of an earlier connection took effect for 0-RTT (RFC 9000 section 7.4.1).
    ParametersRestored {
        /// As in [`Event::ParametersSet`].
        values: Vec<(&'static str, u64)>,
    },
    /// A path is probed, or the connection migrates.
    MigrationState {
        /// The new state.
        state: MigrationState,
        /// The local address of the path.
        local: SocketAddr,
        /// The remote address of the path.
        remote: SocketAddr,
    },
    /// The ECN validation of the path in use entered a state.
    EcnState {
        /// The new state.
        state: EcnState,
    },
    /// The maximum datagram size changed (RFC 9000 section 14.3).
    MtuUpdated {
        /// The previous maximum UDP payload in bytes.
        old: u32,
        /// The new maximum UDP payload in bytes.
        new: u32,
        /// Whether the search for a larger size pauses.
        done: bool,
    },
    /// Keys took effect: `"client_initial_secret"`, `"server_1rtt_secret"` ...
    KeyUpdated {
        /// The qlog name of the secret.
        key: &'static str,
        /// The key phase, for 1-RTT.
        phase: Option<u64>,
    },
    /// Keys were discarded.
    KeyDiscarded {
        /// The qlog name of the secret.
        key: &'static str,
    },
    /// A UDP datagram was sent.
    DatagramSent {
        /// The number, counted from 0 per connection.
        number: u64,
        /// The UDP payload in bytes.
        length: u32,
    },
    /// A UDP datagram was received.
    DatagramReceived {
        /// The number, counted from 0 per connection.
        number: u64,
        /// The UDP payload in bytes.
        length: u32,
    },
    /// A packet was sent.
    PacketSent(Box<Packet>),
    /// A packet was received and decrypted.
    PacketReceived(Box<Packet>),
    /// A received packet was not processed.
    PacketDropped {
        /// The type, if it could be determined.
        kind: PacketKind,
        /// The length in bytes.
        length: u32,
        /// The reason.
        reason: DropReason,
    },
    /// A packet was declared lost.
    PacketLost {
        /// The type.
        kind: PacketKind,
        /// The packet number.
        number: u64,
        /// The trigger.
        trigger: LossTrigger,
    },
    /// The recovery metrics changed.
    Metrics(Metrics),
    /// The controller entered a state: `"slow_start"`, `"recovery"`, `"congestion_avoidance"`, ...
    CongestionState {
        /// The new state.
        state: &'static str,
    },
    /// What the end waits for changed.
    Waits(Waited),
    /// Careful Resume changed its phase.
    ResumePhase(Box<ResumePhase>),
    /// What an earlier connection learned of the path was presented.
    SavedPath {
        /// How it came: `"store"`, `"token"`, `"bdp_frame"`.
        carrier: &'static str,
        /// Whether it is used: `"accepted"`, or the reason why it is not, such as `"expired"`.
        result: &'static str,
    },
    /// A gauge specific to the controller.
    Gauge {
        /// The name, which ends with the unit.
        name: &'static str,
        /// The value.
        value: f64,
    },
    /// The download of an object by an application, complete or not; reported at the end of a run.
    ObjectLoaded(Box<ObjectLoaded>),
    /// A download of a segment of a video. Reported at the end of the run.
    VideoSegment(Box<VideoSegment>),
    /// A change of a playback. Reported at the end of the run.
    PlaybackChanged(Box<PlaybackChange>),
    /// A stream was opened.
    StreamOpened {
        /// The stream.
        stream: u64,
        /// Whether this side opened it.
        local: bool,
    },
    /// A stream was closed: all of it was delivered, or it was reset.
    StreamClosed {
        /// The stream.
        stream: u64,
        /// Bytes sent by this side, without retransmissions.
        sent: u64,
        /// Bytes received by this side.
        received: u64,
    },
    /// The application wrote to a stream: from now on the data waits to be sent.
    StreamWritten {
        /// The stream.
        stream: u64,
        /// The stream offset of the data.
        offset: u64,
        /// The number of accepted bytes.
        length: u64,
    },
    /// An application began to write a message.
    MessageWritten(Message),
    /// A message was completely delivered.
    MessageDelivered(Message),
    /// A queue changed.
    Queue {
        /// The number of queued packets.
        packets: u32,
        /// The queued bytes on the wire.
        bytes: u64,
    },
    /// A link or a queue dropped a packet.
    NetworkDrop {
        /// Bytes on the wire.
        length: u32,
        /// The reason: `"queue"`, `"loss"`, `"mtu"`.
        reason: &'static str,
    },
    /// The capacity of a link from now on, over one bin of the rates.
    Capacity {
        /// The rate in bits per second.
        rate: Rate,
    },
    /// A link delivered a packet.
    Delivered {
        /// Bytes on the wire.
        length: u32,
    },
    /// A link layer sent a block: a transport block of a cell, a frame of a WLAN. The time is that of its end.
    Block(Block),
    /// A link layer handed over a packet, in order.
    HandedOver(Stages),
    /// Another site of a cell's network serves the terminal of a lane from now on.
    Handover {
        /// The number of the site.
        site: u16,
        /// The blocks that were given up for it.
        lost_blocks: u32,
    },
}

/// A block of a link layer, sent once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The payload in bytes: packets and parts of packets, with the headers of the link layer.
    pub bytes: u32,
    /// The time for which it had the medium, in nanoseconds: for a part of the medium, that part of the time.
    pub airtime_ns: u32,
    /// The number of the attempt, counted from 1.
    pub attempt: u8,
    /// The number of the modulation and coding scheme.
    pub mcs: u8,
    /// The resource blocks that it had; 0 where the medium is not divided.
    pub units: u16,
    /// What became of it.
    pub fate: BlockFate,
}

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockFate {
    /// It was received.
    Received,
    /// It was not received, and will be sent again.
    Failed,
    /// It was not received, and is given up.
    Lost,
}

impl BlockFate {
    /// All, in the order of their discriminants.
    pub const ALL: [BlockFate; 3] = [BlockFate::Received, BlockFate::Failed, BlockFate::Lost];
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            BlockFate::Received => "received",
            BlockFate::Failed => "failed",
            BlockFate::Lost => "lost",
        }
    }
}

/// The way of a packet through a link layer, in four parts that add up to its delay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stages {
    /// In the queue, until its sender has nothing to send before it.
    pub queue: Duration,
    /// From there until its first bit is sent: contention, or the wait for a grant.
    pub access: Duration,
    /// From there until its last bit has been received, repetitions included.
    pub transfer: Duration,
    /// From there until it is handed over in its order.
    pub order: Duration,
}

impl std::ops::AddAssign for Stages {
    fn add_assign(&mut self, other: Stages) {
        self.queue += other.queue;
        self.access += other.access;
        self.transfer += other.transfer;
        self.order += other.order;
    }
}
