//! The options of a connection, as one table that scenarios, documentation and code share.

use congestion::Resume;
use units::parameter::{Choice, Component, Options};
use units::{Duration, Size};
use wire::{Version, VersionList};

/// The smallest UDP payload that every path must carry (RFC 9000 section 14).
pub const MIN_PAYLOAD: u16 = 1200;
/// One frame can open all the streams that the peer permits (RFC 9000 section 2.1), so the option has a limit.
const MAX_STREAMS: u64 = 1 << 20;

/// How the last packet before the window is full requests an immediate acknowledgement: the option `immediate_ack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Options)]
pub struct AckOptions {
    /// ack-eliciting packets per acknowledgement (RFC 9000 section 13.2.2)
    #[option(name = "ack_ratio", default = 2, within = 1..=10_000)]
    pub ratio: u64,
    /// longest delay of an acknowledgement: transport parameter max_ack_delay (RFC 9000 section 18.2)
    #[option(name = "max_ack_delay", default = "25 ms")]
    pub max_delay: Duration,
    /// whether an ACK frame is bundled with other frames even if no ack-eliciting packet has arrived
    #[option(name = "ack_bundling", default = false)]
    pub bundling: bool,
}

/// What ACK_FREQUENCY frames ask of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Options)]
pub struct PeerAckOptions {
    /// ack-eliciting packets per acknowledgement that ACK_FREQUENCY asks of the peer, if it has announced
    /// min_ack_delay
    #[option(name = "peer_ack_ratio", within = 1..=10_000)]
    pub ratio: Option<u64>,
    /// longest delay of an acknowledgement that ACK_FREQUENCY asks of the peer
    #[option(name = "peer_max_ack_delay", default = "25 ms")]
    pub max_delay: Duration,
    /// reordering threshold that ACK_FREQUENCY asks of the peer: how far packets may be out of order before it
    /// acknowledges at once; 0: any distance
    #[option(name = "peer_reordering_threshold", default = 1, within = 0..=10_000)]
    pub reordering_threshold: u64,
}

impl PeerAckOptions {
    /// The request; `None` if nothing is asked.
    pub fn request(&self) -> Option<AckRequest> {
        let PeerAckOptions { ratio, max_delay, reordering_threshold } = *self;
        ratio.map(|ratio| AckRequest { ratio, max_delay, reordering_threshold })
    }
}

/// The version of a client's first packet: the option `first_version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum FirstVersion {
    /// The version last negotiated with the server; initially the lowest supported one (RFC 9369 section 4).
    Known,
    /// The preferred version.
    Preferred,
}

/// When a server answers a client's first packet with Retry: the option `retry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum RetryPolicy {
    /// Never.
    Never,
    /// Whenever a token has not validated the client's address.
    Always,
    /// While at least [`Config::retry_above`] handshakes are in progress.
    Busy,
}

/// The options of a connection: the keys of `[transport]` in a scenario. Each end has its own set.
#[derive(Debug, Clone, PartialEq, Options)]
pub struct Config {
    /// congestion controller of this side's data
    #[option(default = "newreno", room = "controllers")]
    pub controller: Component,
    /// which stream is sent next
    #[option(default = "rr", room = "schedulers")]
    pub scheduler: Component,
    /// how this side uses the capacity that an earlier connection of the same path observed (RFC 9959)
    #[option(default = "none", room = "resumptions")]
    pub resume: Resume,
    /// supported versions of QUIC (RFC 9000, RFC 9369), the preferred one first; the server chooses its preferred
    /// one of those that both ends support (RFC 9368)
    #[option(default = ["1"])]
    pub versions: VersionList,
    /// version of a client's first packet: the one last agreed on with the server (at first the lowest, which
    /// most servers know), or the preferred one
    #[option(default = "known")]
    pub first_version: FirstVersion,
    /// largest UDP payload sent, in bytes; less if the MTU of the path is smaller (RFC 9000 section 14)
    #[option(default = 1472, within = 1200..=65_527)]
    pub max_udp_payload: u16,
    /// path MTU discovery: whether datagrams start at 1200 bytes and grow, up to max_udp_payload, to what the
    /// path carries (RFC 9000 section 14.3, RFC 8899)
    #[option(default = false)]
    pub mtu_discovery: bool,
    /// initial congestion window in packets; by default 10, but at most 14,720 bytes or 2 packets, whichever is
    /// more (RFC 9002 section 7.2)
    #[option(within = 1..=10_000)]
    pub initial_window: Option<u64>,
    /// RTT assumed before the first sample: kInitialRtt (RFC 9002 section 6.2.2)
    #[option(default = "333 ms")]
    pub initial_rtt: Duration,
    /// burst of packets that may be sent at once after a pause (RFC 9002 section 7.7)
    #[option(default = 10, within = 1..=10_000)]
    pub pacing_burst: u64,
    /// packets that a paced sender releases at a time
    #[option(default = 1, within = 1..=10_000)]
    pub pacing_quantum: u64,
    /// When this side acknowledges.
    #[options]
    pub ack: AckOptions,
    /// announces that the peer may send ACK_FREQUENCY and IMMEDIATE_ACK frames, with no shorter delay than this
    /// (draft-ietf-quic-ack-frequency section 3)
    pub min_ack_delay: Option<Duration>,
    /// When the peer is asked to acknowledge.
    #[options]
    pub peer_ack: PeerAckOptions,
    /// how the last packet before the window is full asks for an immediate acknowledgement, if the peer supports
    /// it: by an IMMEDIATE_ACK frame, or by the immediate-ack bit of its header
    #[option(default = "never")]
    pub immediate_ack: ImmediateAck,
    /// announces support for the immediate-ack bit in the peer's packets (a private transport parameter)
    #[option(default = false)]
    pub immediate_ack_bit: bool,
    /// unit of the ACK Delay field, 2^n us: transport parameter (RFC 9000 section 18.2)
    #[option(default = 3, within = 0..=20)]
    pub ack_delay_exponent: u8,
    /// idle time after which the connection is closed silently; 0 s: never (RFC 9000 section 10.1)
    #[option(default = "30 s")]
    pub max_idle_timeout: Duration,
    /// idle time after which a PING is sent (RFC 9000 section 10.1.2)
    pub keep_alive: Option<Duration>,
    /// credit of the connection: bytes that the peer may send beyond what the application has read (RFC 9000
    /// section 4.1)
    #[option(default = "16 MB")]
    pub initial_max_data: Size,
    /// credit of each bidirectional stream that this side opens
    #[option(default = "16 MB")]
    pub initial_max_stream_data_bidi_local: Size,
    /// credit of each bidirectional stream that the peer opens
    #[option(default = "16 MB")]
    pub initial_max_stream_data_bidi_remote: Size,
    /// credit of each unidirectional stream that the peer opens
    #[option(default = "16 MB")]
    pub initial_max_stream_data_uni: Size,
    /// share of a credit: when no more than this is left, MAX_DATA or MAX_STREAM_DATA grants more (RFC 9000
    /// section 4.2)
    #[option(default = 0.5, within = 0.0..=1.0)]
    pub credit_threshold: f64,
    /// bidirectional streams that the peer may have open at a time (RFC 9000 section 4.6)
    #[option(default = 100, within = 0..=MAX_STREAMS)]
    pub initial_max_streams_bidi: u64,
    /// unidirectional streams that the peer may have open at a time (RFC 9000 section 4.6)
    #[option(default = 100, within = 0..=MAX_STREAMS)]
    pub initial_max_streams_uni: u64,
    /// connection IDs of the peer that are stored: transport parameter (RFC 9000 section 18.2)
    // RFC 9000-18.2-6: "The value of the active_connection_id_limit parameter MUST be at least 2."
    #[option(default = 2, within = 2..=16)]
    pub active_connection_id_limit: u64,
    /// whether a server validates the addresses of clients by a Retry; busy: while `retry_above` or more
    /// handshakes are in progress (RFC 9000 section 8.1.2)
    #[option(default = "never")]
    pub retry: RetryPolicy,
    /// number of handshakes in progress from which `retry = "busy"` sends a Retry
    #[option(default = 100, within = 0..=1 << 24)]
    pub retry_above: u64,
    /// how long a server accepts the token of a Retry (RFC 9000 section 8.1.3)
    #[option(default = "30 s")]
    pub retry_token_lifetime: Duration,
    /// tokens that a server gives each client for later connections: NEW_TOKEN frames (RFC 9000 section 8.1.3)
    #[option(default = 0, within = 0..=4)]
    pub new_tokens: u64,
    /// how long a server accepts such a token
    #[option(default = "86400 s")]
    pub new_token_lifetime: Duration,
    /// asks the peer not to migrate: transport parameter (RFC 9000 section 18.2); a NAT may still rebind
    #[option(default = false)]
    pub disable_active_migration: bool,
    /// whether a client moves to the server's preferred address if that works (RFC 9000 section 9.6)
    #[option(default = true)]
    pub use_preferred_address: bool,
    /// packets sent with one key before a key update; by default the limit of the AEAD (RFC 9001 section 6.6)
    #[option(within = 1..=1 << 62)]
    pub key_update_after: Option<u64>,
    /// Limits below those of the AEAD, for tests; not an option of a scenario.
    #[option(skip)]
    pub aead_limits: Option<crate::AeadLimits>,
    /// limit of the unacknowledged bytes, real or virtual, of all streams of a connection; the application pauses
    /// when it is reached (default: no limit)
    pub send_queue: Option<Size>,
    /// low-water mark: the application resumes when the send queue has drained to it (default: as soon as there
    /// is room)
    pub send_queue_low: Option<Size>,
    /// limit of the unacknowledged real bytes of one stream; virtual bytes take no memory
    #[option(default = "4 MB")]
    pub send_buffer: Size,
    /// largest DATAGRAM frame that is accepted, in bytes; 0: none (RFC 9221 section 3)
    #[option(default = 0, within = 0..=65_535)]
    pub max_datagram_frame_size: u64,
    /// maximum number of datagrams that wait to be sent, where more are refused, and to be read, where the oldest
    /// are dropped
    #[option(default = 256, within = 1..=65_536)]
    pub datagram_queue: u64,
    /// whether packets are sent with ECT(0) if the path supports it (RFC 9000 section 13.4); an L4S controller
    /// sends ECT(1) anyway
    #[option(default = false)]
    pub ecn: bool,
    /// whether the spin bit spins; otherwise it is 0 (RFC 9000 section 17.4)
    #[option(default = false)]
    pub spin_bit: bool,
    /// whether packets with a QUIC bit of 0 are accepted, and sent to a peer that accepts them (RFC 9287)
    #[option(default = false)]
    pub grease_quic_bit: bool,
    /// whether the peer may reset a stream and have its beginning delivered
    /// (draft-ietf-quic-reliable-stream-reset-09)
    #[option(default = false)]
    pub reset_stream_at: bool,
    /// whether packet numbers are skipped, to detect a peer that acknowledges packets that it has not received
    /// (RFC 9000 section 21.4)
    #[option(default = false)]
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
