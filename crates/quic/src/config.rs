//! The options of a connection, as one table that scenarios, documentation and code share.

use congestion::Resume;
use units::parameter::{Arguments, Component, Default, Kind, Parameter};
use units::{Duration, Size};
use wire::{Version, VersionList};

/// The smallest UDP payload that every path must carry (RFC 9000 section 14).
pub const MIN_PAYLOAD: u16 = 1200;
const WINDOWS: Kind = Kind::Size;
/// One frame can open all the streams that the peer permits (RFC 9000 section 2.1), so the option has a limit.
const MAX_STREAMS: u64 = 1 << 20;

/// The options of a connection: the keys of `[transport]` in a scenario. Each end has its own set.
pub static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "controller",
        kind: Kind::Component("controllers"),
        default: Default::Is("\"newreno\""),
        about: "congestion controller of this side's data",
    },
    Parameter {
        name: "scheduler",
        kind: Kind::Component("schedulers"),
        default: Default::Is("\"rr\""),
        about: "which stream is sent next",
    },
    Parameter {
        name: "resume",
        kind: Kind::Component("resumptions"),
        default: Default::Is("\"none\""),
        about: "how this side uses the capacity that an earlier connection of the same path observed (RFC 9959)",
    },
    Parameter {
        name: "versions",
        kind: Kind::Choice(&["1", "2", "1 2", "2 1"]),
        default: Default::Is("\"1\""),
        about: "supported versions of QUIC (RFC 9000, RFC 9369), the preferred one first; the server chooses its preferred one of those that both ends support (RFC 9368)",
    },
    Parameter {
        name: "first_version",
        kind: Kind::Choice(&["known", "preferred"]),
        default: Default::Is("\"known\""),
        about: "version of a client's first packet: the one last agreed on with the server (at first the lowest, which most servers know), or the preferred one",
    },
    Parameter {
        name: "max_udp_payload",
        kind: Kind::Integer(1200, 65_527),
        default: Default::Is("1472"),
        about: "largest UDP payload sent, in bytes; less if the MTU of the path is smaller (RFC 9000 section 14)",
    },
    Parameter {
        name: "mtu_discovery",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "path MTU discovery: whether datagrams start at 1200 bytes and grow, up to max_udp_payload, to what the path carries (RFC 9000 section 14.3, RFC 8899)",
    },
    Parameter {
        name: "initial_window",
        kind: Kind::Integer(1, 10_000),
        default: Default::Absent,
        about: "initial congestion window in packets; by default 10, but at most 14,720 bytes or 2 packets, whichever is more (RFC 9002 section 7.2)",
    },
    Parameter {
        name: "initial_rtt",
        kind: Kind::Duration,
        default: Default::Is("\"333 ms\""),
        about: "RTT assumed before the first sample: kInitialRtt (RFC 9002 section 6.2.2)",
    },
    Parameter {
        name: "pacing_burst",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("10"),
        about: "burst of packets that may be sent at once after a pause (RFC 9002 section 7.7)",
    },
    Parameter {
        name: "pacing_quantum",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("1"),
        about: "packets that a paced sender releases at a time",
    },
    Parameter {
        name: "ack_ratio",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("2"),
        about: "ack-eliciting packets per acknowledgement (RFC 9000 section 13.2.2)",
    },
    Parameter {
        name: "max_ack_delay",
        kind: Kind::Duration,
        default: Default::Is("\"25 ms\""),
        about: "longest delay of an acknowledgement: transport parameter max_ack_delay (RFC 9000 section 18.2)",
    },
    Parameter {
        name: "ack_bundling",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether an ACK frame is bundled with other frames even if no ack-eliciting packet has arrived",
    },
    Parameter {
        name: "min_ack_delay",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "announces that the peer may send ACK_FREQUENCY and IMMEDIATE_ACK frames, with no shorter delay than this (draft-ietf-quic-ack-frequency section 3)",
    },
    Parameter {
        name: "peer_ack_ratio",
        kind: Kind::Integer(1, 10_000),
        default: Default::Absent,
        about: "ack-eliciting packets per acknowledgement that ACK_FREQUENCY asks of the peer, if it has announced min_ack_delay",
    },
    Parameter {
        name: "peer_max_ack_delay",
        kind: Kind::Duration,
        default: Default::Is("\"25 ms\""),
        about: "longest delay of an acknowledgement that ACK_FREQUENCY asks of the peer",
    },
    Parameter {
        name: "peer_reordering_threshold",
        kind: Kind::Integer(0, 10_000),
        default: Default::Is("1"),
        about: "reordering threshold that ACK_FREQUENCY asks of the peer: how far packets may be out of order before it acknowledges at once; 0: any distance",
    },
    Parameter {
        name: "immediate_ack",
        kind: Kind::Choice(&["never", "frame", "bit"]),
        default: Default::Is("\"never\""),
        about: "how the last packet before the window is full asks for an immediate acknowledgement, if the peer supports it: by an IMMEDIATE_ACK frame, or by the immediate-ack bit of its header",
    },
    Parameter {
        name: "immediate_ack_bit",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "announces support for the immediate-ack bit in the peer's packets (a private transport parameter)",
    },
    Parameter {
        name: "ack_delay_exponent",
        kind: Kind::Integer(0, 20),
        default: Default::Is("3"),
        about: "unit of the ACK Delay field, 2^n us: transport parameter (RFC 9000 section 18.2)",
    },
    Parameter {
        name: "max_idle_timeout",
        kind: Kind::Duration,
        default: Default::Is("\"30 s\""),
        about: "idle time after which the connection is closed silently; 0 s: never (RFC 9000 section 10.1)",
    },
    Parameter {
        name: "keep_alive",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "idle time after which a PING is sent (RFC 9000 section 10.1.2)",
    },
    Parameter {
        name: "initial_max_data",
        kind: WINDOWS,
        default: Default::Is("\"16 MB\""),
        about: "credit of the connection: bytes that the peer may send beyond what the application has read (RFC 9000 section 4.1)",
    },
    Parameter {
        name: "initial_max_stream_data_bidi_local",
        kind: WINDOWS,
        default: Default::Is("\"16 MB\""),
        about: "credit of each bidirectional stream that this side opens",
    },
    Parameter {
        name: "initial_max_stream_data_bidi_remote",
        kind: WINDOWS,
        default: Default::Is("\"16 MB\""),
        about: "credit of each bidirectional stream that the peer opens",
    },
    Parameter {
        name: "initial_max_stream_data_uni",
        kind: WINDOWS,
        default: Default::Is("\"16 MB\""),
        about: "credit of each unidirectional stream that the peer opens",
    },
    Parameter {
        name: "credit_threshold",
        kind: Kind::Number(0.0, 1.0),
        default: Default::Is("0.5"),
        about: "share of a credit: when no more than this is left, MAX_DATA or MAX_STREAM_DATA grants more (RFC 9000 section 4.2)",
    },
    Parameter {
        name: "initial_max_streams_bidi",
        kind: Kind::Integer(0, MAX_STREAMS),
        default: Default::Is("100"),
        about: "bidirectional streams that the peer may have open at a time (RFC 9000 section 4.6)",
    },
    Parameter {
        name: "initial_max_streams_uni",
        kind: Kind::Integer(0, MAX_STREAMS),
        default: Default::Is("100"),
        about: "unidirectional streams that the peer may have open at a time (RFC 9000 section 4.6)",
    },
    Parameter {
        name: "active_connection_id_limit",
        // RFC 9000-18.2-6: "The value of the active_connection_id_limit parameter MUST be at least 2."
        kind: Kind::Integer(2, 16),
        default: Default::Is("2"),
        about: "connection IDs of the peer that are stored: transport parameter (RFC 9000 section 18.2)",
    },
    Parameter {
        name: "retry",
        kind: Kind::Choice(&["never", "always", "busy"]),
        default: Default::Is("\"never\""),
        about: "whether a server validates the addresses of clients by a Retry; busy: while `retry_above` or more handshakes are in progress (RFC 9000 section 8.1.2)",
    },
    Parameter {
        name: "retry_above",
        kind: Kind::Integer(0, 1 << 24),
        default: Default::Is("100"),
        about: "number of handshakes in progress from which `retry = \"busy\"` sends a Retry",
    },
    Parameter {
        name: "retry_token_lifetime",
        kind: Kind::Duration,
        default: Default::Is("\"30 s\""),
        about: "how long a server accepts the token of a Retry (RFC 9000 section 8.1.3)",
    },
    Parameter {
        name: "new_tokens",
        kind: Kind::Integer(0, 4),
        default: Default::Is("0"),
        about: "tokens that a server gives each client for later connections: NEW_TOKEN frames (RFC 9000 section 8.1.3)",
    },
    Parameter {
        name: "new_token_lifetime",
        kind: Kind::Duration,
        default: Default::Is("\"86400 s\""),
        about: "how long a server accepts such a token",
    },
    Parameter {
        name: "disable_active_migration",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "asks the peer not to migrate: transport parameter (RFC 9000 section 18.2); a NAT may still rebind",
    },
    Parameter {
        name: "use_preferred_address",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether a client moves to the server's preferred address if that works (RFC 9000 section 9.6)",
    },
    Parameter {
        name: "key_update_after",
        kind: Kind::Integer(1, 1 << 62),
        default: Default::Absent,
        about: "packets sent with one key before a key update; by default the limit of the AEAD (RFC 9001 section 6.6)",
    },
    Parameter {
        name: "send_queue",
        kind: WINDOWS,
        default: Default::Absent,
        about: "limit of the unacknowledged bytes, real or virtual, of all streams of a connection; the application pauses when it is reached (default: no limit)",
    },
    Parameter {
        name: "send_queue_low",
        kind: WINDOWS,
        default: Default::Absent,
        about: "low-water mark: the application resumes when the send queue has drained to it (default: as soon as there is room)",
    },
    Parameter {
        name: "send_buffer",
        kind: WINDOWS,
        default: Default::Is("\"4 MB\""),
        about: "limit of the unacknowledged real bytes of one stream; virtual bytes take no memory",
    },
    Parameter {
        name: "max_datagram_frame_size",
        kind: Kind::Integer(0, 65_535),
        default: Default::Is("0"),
        about: "largest DATAGRAM frame that is accepted, in bytes; 0: none (RFC 9221 section 3)",
    },
    Parameter {
        name: "datagram_queue",
        kind: Kind::Integer(1, 65_536),
        default: Default::Is("256"),
        about: "maximum number of datagrams that wait to be sent, where more are refused, and to be read, where the oldest are dropped",
    },
    Parameter {
        name: "ecn",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether packets are sent with ECT(0) if the path supports it (RFC 9000 section 13.4); an L4S controller sends ECT(1) anyway",
    },
    Parameter {
        name: "spin_bit",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether the spin bit spins; otherwise it is 0 (RFC 9000 section 17.4)",
    },
    Parameter {
        name: "grease_quic_bit",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether packets with a QUIC bit of 0 are accepted, and sent to a peer that accepts them (RFC 9287)",
    },
    Parameter {
        name: "reset_stream_at",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether the peer may reset a stream and have its beginning delivered (draft-ietf-quic-reliable-stream-reset-09)",
    },
    Parameter {
        name: "skip_packet_numbers",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether packet numbers are skipped, to detect a peer that acknowledges packets that it has not received (RFC 9000 section 21.4)",
    },
];

/// How the last packet before the window is full requests an immediate acknowledgement: the option `immediate_ack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImmediateAck {
    /// Not at all.
    Never,
    /// By an IMMEDIATE_ACK frame (draft-ietf-quic-ack-frequency section 5).
    Frame,
    /// By the immediate-ack bit ([`wire::FirstByte::asks_for_ack`]).
    Bit,
}

/// The request in an ACK_FREQUENCY frame (draft-ietf-quic-ack-frequency section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRequest {
    /// Ack-eliciting packets per acknowledgement: the Ack-Eliciting Threshold plus one.
    pub ratio: u64,
    /// The longest delay.
    pub max_delay: Duration,
    /// How far a packet may be out of order before it is acknowledged immediately; 0: any distance.
    pub reordering_threshold: u64,
}

/// When acknowledgements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckOptions {
    /// Ack-eliciting packets per acknowledgement.
    pub ratio: u64,
    /// The longest delay.
    pub max_delay: Duration,
    /// Whether packets carry an ACK frame even if none is due.
    pub bundling: bool,
}

/// The version of a client's first packet: the option `first_version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstVersion {
    /// The version last negotiated with the server; initially the lowest supported one (RFC 9369 section 4).
    Known,
    /// The preferred version.
    Preferred,
}

/// When a server answers a client's first packet with Retry: the option `retry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPolicy {
    /// Never.
    Never,
    /// Whenever a token has not validated the client's address.
    Always,
    /// While at least [`Config::retry_above`] handshakes are in progress.
    Busy,
}

/// The options of a connection: see [`PARAMETERS`] for the meaning, unit and default of each.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table above documents each")]
pub struct Config {
    pub controller: Component,
    pub scheduler: Component,
    pub resume: Resume,
    pub versions: VersionList,
    pub first_version: FirstVersion,
    pub max_udp_payload: u16,
    pub mtu_discovery: bool,
    pub initial_window: Option<u64>,
    pub initial_rtt: Duration,
    pub pacing_burst: u64,
    pub pacing_quantum: u64,
    pub ack: AckOptions,
    pub min_ack_delay: Option<Duration>,
    pub peer_ack: Option<AckRequest>,
    pub immediate_ack: ImmediateAck,
    pub immediate_ack_bit: bool,
    pub ack_delay_exponent: u8,
    pub max_idle_timeout: Duration,
    pub keep_alive: Option<Duration>,
    pub initial_max_data: Size,
    pub initial_max_stream_data_bidi_local: Size,
    pub initial_max_stream_data_bidi_remote: Size,
    pub initial_max_stream_data_uni: Size,
    pub credit_threshold: f64,
    pub initial_max_streams_bidi: u64,
    pub initial_max_streams_uni: u64,
    pub active_connection_id_limit: u64,
    pub retry: RetryPolicy,
    pub retry_above: u64,
    pub retry_token_lifetime: Duration,
    pub new_tokens: u64,
    pub new_token_lifetime: Duration,
    pub disable_active_migration: bool,
    pub use_preferred_address: bool,
    pub key_update_after: Option<u64>,
    /// Limits below those of the AEAD, for tests; not an option of a scenario.
    pub aead_limits: Option<crate::AeadLimits>,
    pub send_queue: Option<Size>,
    pub send_queue_low: Option<Size>,
    pub send_buffer: Size,
    pub max_datagram_frame_size: u64,
    pub datagram_queue: u64,
    pub ecn: bool,
    pub spin_bit: bool,
    pub grease_quic_bit: bool,
    pub reset_stream_at: bool,
    pub skip_packet_numbers: bool,
}

impl Config {
    /// The largest UDP payload on a new path.
    pub(crate) fn first_payload(&self) -> u16 {
        if self.mtu_discovery { MIN_PAYLOAD } else { self.max_udp_payload }
    }

    /// The version of a client's first packet, given the one last negotiated with the server.
    pub(crate) fn first_version(&self, known: Option<Version>) -> Version {
        let known = known.filter(|known| self.versions.contains(*known));
        let first = match self.first_version {
            FirstVersion::Known => known.or_else(|| self.versions.iter().min()),
            FirstVersion::Preferred => self.versions.iter().next(),
        };
        first.unwrap_or(Version::V1)
    }
}

/// The version with this name.
fn version(name: &str) -> Option<Version> {
    match name {
        "1" => Some(Version::V1),
        "2" => Some(Version::V2),
        _ => None,
    }
}

impl From<&Arguments> for Config {
    fn from(arguments: &Arguments) -> Config {
        Config {
            controller: arguments.component("controller"),
            scheduler: arguments.component("scheduler"),
            resume: Resume::of(&arguments.component("resume")),
            versions: arguments.text("versions").split(' ').filter_map(version).collect(),
            first_version: match arguments.text("first_version").as_str() {
                "preferred" => FirstVersion::Preferred,
                _ => FirstVersion::Known,
            },
            max_udp_payload: arguments.integer("max_udp_payload") as u16,
            mtu_discovery: arguments.flag("mtu_discovery"),
            initial_window: arguments.has("initial_window").then(|| arguments.integer("initial_window")),
            initial_rtt: arguments.duration("initial_rtt"),
            pacing_burst: arguments.integer("pacing_burst"),
            pacing_quantum: arguments.integer("pacing_quantum"),
            ack: AckOptions {
                ratio: arguments.integer("ack_ratio"),
                max_delay: arguments.duration("max_ack_delay"),
                bundling: arguments.flag("ack_bundling"),
            },
            min_ack_delay: arguments.has("min_ack_delay").then(|| arguments.duration("min_ack_delay")),
            peer_ack: arguments.has("peer_ack_ratio").then(|| AckRequest {
                ratio: arguments.integer("peer_ack_ratio"),
                max_delay: arguments.duration("peer_max_ack_delay"),
                reordering_threshold: arguments.integer("peer_reordering_threshold"),
            }),
            immediate_ack: match arguments.text("immediate_ack").as_str() {
                "frame" => ImmediateAck::Frame,
                "bit" => ImmediateAck::Bit,
                _ => ImmediateAck::Never,
            },
            immediate_ack_bit: arguments.flag("immediate_ack_bit"),
            ack_delay_exponent: arguments.integer("ack_delay_exponent") as u8,
            max_idle_timeout: arguments.duration("max_idle_timeout"),
            keep_alive: arguments.has("keep_alive").then(|| arguments.duration("keep_alive")),
            initial_max_data: arguments.size("initial_max_data"),
            initial_max_stream_data_bidi_local: arguments.size("initial_max_stream_data_bidi_local"),
            initial_max_stream_data_bidi_remote: arguments.size("initial_max_stream_data_bidi_remote"),
            initial_max_stream_data_uni: arguments.size("initial_max_stream_data_uni"),
            credit_threshold: arguments.number("credit_threshold"),
            initial_max_streams_bidi: arguments.integer("initial_max_streams_bidi"),
            initial_max_streams_uni: arguments.integer("initial_max_streams_uni"),
            active_connection_id_limit: arguments.integer("active_connection_id_limit"),
            retry: match arguments.text("retry").as_str() {
                "always" => RetryPolicy::Always,
                "busy" => RetryPolicy::Busy,
                _ => RetryPolicy::Never,
            },
            retry_above: arguments.integer("retry_above"),
            retry_token_lifetime: arguments.duration("retry_token_lifetime"),
            new_tokens: arguments.integer("new_tokens"),
            new_token_lifetime: arguments.duration("new_token_lifetime"),
            disable_active_migration: arguments.flag("disable_active_migration"),
            use_preferred_address: arguments.flag("use_preferred_address"),
            key_update_after: arguments
                .has("key_update_after")
                .then(|| arguments.integer("key_update_after")),
            aead_limits: None,
            send_queue: arguments.has("send_queue").then(|| arguments.size("send_queue")),
            send_queue_low: arguments.has("send_queue_low").then(|| arguments.size("send_queue_low")),
            send_buffer: arguments.size("send_buffer"),
            max_datagram_frame_size: arguments.integer("max_datagram_frame_size"),
            datagram_queue: arguments.integer("datagram_queue"),
            ecn: arguments.flag("ecn"),
            spin_bit: arguments.flag("spin_bit"),
            grease_quic_bit: arguments.flag("grease_quic_bit"),
            reset_stream_at: arguments.flag("reset_stream_at"),
            skip_packet_numbers: arguments.flag("skip_packet_numbers"),
        }
    }
}
