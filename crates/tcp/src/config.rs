//! The options of a connection end: one struct for scenarios, documentation and code.

use congestion::Resume;
use units::parameter::{Choice, Component, Options};
use units::{Duration, Size};

/// The option `fast_open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum FastOpen {
    /// Fast Open is not used.
    Off,
    /// A client requests a cookie (RFC 7413 section 4.1.1); a server issues them.
    Request,
    /// A client has a cookie; a server accepts it.
    Cached,
}

/// What carries the data of a connection: the option `tls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Layer {
    /// Nothing else.
    None,
    /// Records of TLS 1.3.
    #[word("tls1.3")]
    Tls13,
}

/// The options of a connection: the keys of `[tcp]` in a scenario.
#[derive(Debug, Clone, PartialEq, Options)]
pub struct Config {
    /// congestion controller of this side's data
    #[option(default = "newreno", room = "controllers")]
    pub controller: Component,
    /// how this side uses the capacity that an earlier connection of the same path observed (RFC 9959), from the
    /// host's own store
    #[option(default = "none", room = "tcp_resumptions")]
    pub resume: Resume,
    /// largest segment accepted and sent, in bytes without headers: option MSS (RFC 9293 section 3.7.1); less if
    /// the MTU of the path is smaller
    #[option(default = 1460, within = 536..=65_495)]
    pub mss: u16,
    /// initial congestion window in segments (RFC 6928); 1 after two lost SYNs (RFC 6928 section 2)
    #[option(default = 10, within = 1..=10_000)]
    pub initial_window: u64,
    /// RTT that the controller assumes before the handshake has measured one
    #[option(default = "333 ms")]
    pub initial_rtt: Duration,
    /// retransmission timeout before the first RTT sample (RFC 6298 section 2.1)
    #[option(default = "1 s")]
    pub initial_rto: Duration,
    /// minimum of the variance term in the retransmission timeout (smoothed RTT plus variance term): today's
    /// stacks wait less than the second of RFC 6298 section 2.4
    #[option(default = "200 ms")]
    pub min_rto: Duration,
    /// longest retransmission timeout (RFC 6298 section 2.5)
    #[option(default = "60 s")]
    pub max_rto: Duration,
    /// consecutive retransmission timeouts after which the connection is given up: R2 (RFC 9293 section 3.8.3)
    #[option(default = 15, within = 1..=255)]
    pub retries: u32,
    /// the same for SYN and SYN-ACK
    #[option(default = 6, within = 0..=255)]
    pub syn_retries: u32,
    /// whether selective acknowledgements are offered, with reports of duplicates (RFC 2018, RFC 2883)
    #[option(default = true)]
    pub sack: bool,
    /// whether timestamps are offered: RTT of retransmitted segments, PAWS (RFC 7323)
    #[option(default = true)]
    pub timestamps: bool,
    /// whether windows above 64 KiB are offered (RFC 7323 section 2)
    #[option(default = true)]
    pub window_scaling: bool,
    /// whether ECN is offered and, where both ends do, data sent with ECT(0) (RFC 3168)
    #[option(default = false)]
    pub ecn: bool,
    /// whether losses are detected by time (RACK, RFC 8985) if there is SACK; otherwise by three later segments
    /// (RFC 6675)
    #[option(default = true)]
    pub rack: bool,
    /// whether the data in flight falls to the new window gradually over a round trip of recovery (PRR, RFC 9937)
    /// if the controller has a slow start threshold; otherwise at once (RFC 6675)
    #[option(default = true)]
    pub prr: bool,
    /// tail loss probes (RFC 8985 section 7), if there is SACK
    #[option(default = true)]
    pub tlp: bool,
    /// how long the peer may delay the acknowledgement of a single segment in flight: TLP.max_ack_delay (RFC 8985
    /// section 7.2)
    #[option(default = "200 ms")]
    pub peer_ack_delay: Duration,
    /// limited transmit: whether the first two duplicate acknowledgements release new segments (RFC 3042)
    #[option(default = true)]
    pub limited_transmit: bool,
    /// full-sized segments per acknowledgement (RFC 5681 section 4.2)
    #[option(default = 2, within = 1..=10_000)]
    pub ack_ratio: u64,
    /// longest delay of an acknowledgement; 0 s: none is delayed (RFC 9293 section 3.8.6.3: below 500 ms)
    #[option(default = "40 ms")]
    pub delayed_ack: Duration,
    /// initial receive window: bytes that may wait for the application
    #[option(default = "64 kB")]
    pub receive_buffer: Size,
    /// maximum of the receive window, which grows with what the application reads per round trip (dynamic
    /// right-sizing)
    #[option(default = "16 MB")]
    pub max_receive_buffer: Size,
    /// limit of the unacknowledged real bytes; virtual bytes take no memory
    #[option(default = "4 MB")]
    pub send_buffer: Size,
    /// Nagle's algorithm: whether a small segment waits while data is unacknowledged (RFC 9293 section 3.7.4);
    /// off as with TCP_NODELAY
    #[option(default = false)]
    pub nagle: bool,
    /// burst of segments that may be sent at once after a pause
    #[option(default = 10, within = 1..=10_000)]
    pub pacing_burst: u64,
    /// segments that a paced sender releases at a time
    #[option(default = 1, within = 1..=10_000)]
    pub pacing_quantum: u64,
    /// tls1.3: the handshake and the records of TLS 1.3 in their sizes, without cryptography: one more round trip
    /// (RFC 8446)
    #[option(default = "none")]
    pub tls: Layer,
    /// TCP Fast Open (RFC 7413): a client asks for a cookie, or has one from an earlier connection and sends data
    /// with its SYN
    #[option(default = "off")]
    pub fast_open: FastOpen,
    /// 2 MSL: how long the end that closed first remains to answer (RFC 9293 section 3.4.2)
    #[option(default = "60 s")]
    pub time_wait: Duration,
}
