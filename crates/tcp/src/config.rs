//! The options of a connection end: one table shared by scenarios, documentation and code.

use congestion::Resume;
use units::parameter::{Arguments, Component, Default, Kind, Parameter};
use units::{Duration, Size};

/// The options of a connection, as in the section `[tcp]` of a scenario. Each end has its own.
pub static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "controller",
        kind: Kind::Component("controllers"),
        default: Default::Is("\"newreno\""),
        about: "congestion controller of this side's data",
    },
    Parameter {
        name: "resume",
        kind: Kind::Component("tcp_resumptions"),
        default: Default::Is("\"none\""),
        about: "how this side uses the capacity that an earlier connection of the same path observed (RFC 9959), from the host's own store",
    },
    Parameter {
        name: "mss",
        kind: Kind::Integer(536, 65_495),
        default: Default::Is("1460"),
        about: "largest segment accepted and sent, in bytes without headers: option MSS (RFC 9293 section 3.7.1); less if the MTU of the path is smaller",
    },
    Parameter {
        name: "initial_window",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("10"),
        about: "initial congestion window in segments (RFC 6928); 1 after two lost SYNs (RFC 6928 section 2)",
    },
    Parameter {
        name: "initial_rtt",
        kind: Kind::Duration,
        default: Default::Is("\"333 ms\""),
        about: "RTT that the controller assumes before the handshake has measured one",
    },
    Parameter {
        name: "initial_rto",
        kind: Kind::Duration,
        default: Default::Is("\"1 s\""),
        about: "retransmission timeout before the first RTT sample (RFC 6298 section 2.1)",
    },
    Parameter {
        name: "min_rto",
        kind: Kind::Duration,
        default: Default::Is("\"200 ms\""),
        about: "minimum of the variance term in the retransmission timeout (smoothed RTT plus variance term): today's stacks wait less than the second of RFC 6298 section 2.4",
    },
    Parameter {
        name: "max_rto",
        kind: Kind::Duration,
        default: Default::Is("\"60 s\""),
        about: "longest retransmission timeout (RFC 6298 section 2.5)",
    },
    Parameter {
        name: "retries",
        kind: Kind::Integer(1, 255),
        default: Default::Is("15"),
        about: "consecutive retransmission timeouts after which the connection is given up: R2 (RFC 9293 section 3.8.3)",
    },
    Parameter {
        name: "syn_retries",
        kind: Kind::Integer(0, 255),
        default: Default::Is("6"),
        about: "the same for SYN and SYN-ACK",
    },
    Parameter {
        name: "sack",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether selective acknowledgements are offered, with reports of duplicates (RFC 2018, RFC 2883)",
    },
    Parameter {
        name: "timestamps",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether timestamps are offered: RTT of retransmitted segments, PAWS (RFC 7323)",
    },
    Parameter {
        name: "window_scaling",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether windows above 64 KiB are offered (RFC 7323 section 2)",
    },
    Parameter {
        name: "ecn",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether ECN is offered and, where both ends do, data sent with ECT(0) (RFC 3168)",
    },
    Parameter {
        name: "rack",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether losses are detected by time (RACK, RFC 8985) if there is SACK; otherwise by three later segments (RFC 6675)",
    },
    Parameter {
        name: "prr",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether the data in flight falls to the new window gradually over a round trip of recovery (PRR, RFC 9937) if the controller has a slow start threshold; otherwise at once (RFC 6675)",
    },
    Parameter {
        name: "tlp",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "tail loss probes (RFC 8985 section 7), if there is SACK",
    },
    Parameter {
        name: "peer_ack_delay",
        kind: Kind::Duration,
        default: Default::Is("\"200 ms\""),
        about: "how long the peer may delay the acknowledgement of a single segment in flight: TLP.max_ack_delay (RFC 8985 section 7.2)",
    },
    Parameter {
        name: "limited_transmit",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "limited transmit: whether the first two duplicate acknowledgements release new segments (RFC 3042)",
    },
    Parameter {
        name: "ack_ratio",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("2"),
        about: "full-sized segments per acknowledgement (RFC 5681 section 4.2)",
    },
    Parameter {
        name: "delayed_ack",
        kind: Kind::Duration,
        default: Default::Is("\"40 ms\""),
        about: "longest delay of an acknowledgement; 0 s: none is delayed (RFC 9293 section 3.8.6.3: below 500 ms)",
    },
    Parameter {
        name: "receive_buffer",
        kind: Kind::Size,
        default: Default::Is("\"64 kB\""),
        about: "initial receive window: bytes that may wait for the application",
    },
    Parameter {
        name: "max_receive_buffer",
        kind: Kind::Size,
        default: Default::Is("\"16 MB\""),
        about: "maximum of the receive window, which grows with what the application reads per round trip (dynamic right-sizing)",
    },
    Parameter {
        name: "send_buffer",
        kind: Kind::Size,
        default: Default::Is("\"4 MB\""),
        about: "limit of the unacknowledged real bytes; virtual bytes take no memory",
    },
    Parameter {
        name: "nagle",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "Nagle's algorithm: whether a small segment waits while data is unacknowledged (RFC 9293 section 3.7.4); off as with TCP_NODELAY",
    },
    Parameter {
        name: "pacing_burst",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("10"),
        about: "burst of segments that may be sent at once after a pause",
    },
    Parameter {
        name: "pacing_quantum",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("1"),
        about: "segments that a paced sender releases at a time",
    },
    Parameter {
        name: "tls",
        kind: Kind::Choice(&["none", "tls1.3"]),
        default: Default::Is("\"none\""),
        about: "tls1.3: the handshake and the records of TLS 1.3 in their sizes, without cryptography: one more round trip (RFC 8446)",
    },
    Parameter {
        name: "fast_open",
        kind: Kind::Choice(&["off", "request", "cached"]),
        default: Default::Is("\"off\""),
        about: "TCP Fast Open (RFC 7413): a client asks for a cookie, or has one from an earlier connection and sends data with its SYN",
    },
    Parameter {
        name: "time_wait",
        kind: Kind::Duration,
        default: Default::Is("\"60 s\""),
        about: "2 MSL: how long the end that closed first remains to answer (RFC 9293 section 3.4.2)",
    },
];

/// The option `fast_open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FastOpen {
    /// Fast Open is not used.
    Off,
    /// A client requests a cookie (RFC 7413 section 4.1.1); a server issues them.
    Request,
    /// A client has a cookie; a server accepts it.
    Cached,
}

/// The options of a connection. See [`PARAMETERS`] for the meaning, unit and default of each.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the table above documents each")]
pub struct Config {
    pub controller: Component,
    pub resume: Resume,
    pub mss: u16,
    pub initial_window: u64,
    pub initial_rtt: Duration,
    pub initial_rto: Duration,
    pub min_rto: Duration,
    pub max_rto: Duration,
    pub retries: u32,
    pub syn_retries: u32,
    pub sack: bool,
    pub timestamps: bool,
    pub window_scaling: bool,
    pub ecn: bool,
    pub rack: bool,
    pub prr: bool,
    pub tlp: bool,
    pub peer_ack_delay: Duration,
    pub limited_transmit: bool,
    pub ack_ratio: u64,
    pub delayed_ack: Duration,
    pub receive_buffer: Size,
    pub max_receive_buffer: Size,
    pub send_buffer: Size,
    pub nagle: bool,
    pub pacing_burst: u64,
    pub pacing_quantum: u64,
    pub tls: bool,
    pub fast_open: FastOpen,
    pub time_wait: Duration,
}

impl From<&Arguments> for Config {
    fn from(arguments: &Arguments) -> Config {
        Config {
            controller: arguments.component("controller"),
            resume: Resume::of(&arguments.component("resume")),
            mss: arguments.integer("mss") as u16,
            initial_window: arguments.integer("initial_window"),
            initial_rtt: arguments.duration("initial_rtt"),
            initial_rto: arguments.duration("initial_rto"),
            min_rto: arguments.duration("min_rto"),
            max_rto: arguments.duration("max_rto"),
            retries: arguments.integer("retries") as u32,
            syn_retries: arguments.integer("syn_retries") as u32,
            sack: arguments.flag("sack"),
            timestamps: arguments.flag("timestamps"),
            window_scaling: arguments.flag("window_scaling"),
            ecn: arguments.flag("ecn"),
            rack: arguments.flag("rack"),
            prr: arguments.flag("prr"),
            tlp: arguments.flag("tlp"),
            peer_ack_delay: arguments.duration("peer_ack_delay"),
            limited_transmit: arguments.flag("limited_transmit"),
            ack_ratio: arguments.integer("ack_ratio"),
            delayed_ack: arguments.duration("delayed_ack"),
            receive_buffer: arguments.size("receive_buffer"),
            max_receive_buffer: arguments.size("max_receive_buffer"),
            send_buffer: arguments.size("send_buffer"),
            nagle: arguments.flag("nagle"),
            pacing_burst: arguments.integer("pacing_burst"),
            pacing_quantum: arguments.integer("pacing_quantum"),
            tls: arguments.text("tls") == "tls1.3",
            fast_open: match arguments.text("fast_open").as_str() {
                "request" => FastOpen::Request,
                "cached" => FastOpen::Cached,
                _ => FastOpen::Off,
            },
            time_wait: arguments.duration("time_wait"),
        }
    }
}
