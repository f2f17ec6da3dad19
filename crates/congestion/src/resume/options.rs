//! The rows of the option `resume`: how a sender uses what an earlier connection learned of a path.

use super::careful::ResumeOptions;
use units::Duration;
use units::parameter::{Accepted, Arguments, Component, Default, Kind, Parameter, Room, Row, Value};

/// The constructor of a row.
type Build = fn(&Arguments) -> Resume;

/// The rows with these parameters before those that every carrier has.
macro_rules! rows {
    ($($carrier:ident),*) => {
        &[
            Row {
                name: "none",
                about: "every connection starts with the initial window, and nothing is saved",
                parameters: &[],
                build: |_| Resume::default(),
            },
            Row {
                name: "careful",
                about: "Careful Resume (RFC 9959): half of the saved capacity, paced over a round trip, and a safe retreat if packets are lost",
                parameters: &[
                    $($carrier,)*
                    PATH,
                    LIFETIME,
                    MAX_JUMP,
                    BETA,
                    CHECK_PATH,
                    CHECK_LIFETIME,
                    CHECK_RTT,
                    RTT_ABOVE,
                    RTT_MOST,
                    CHECK_INITIAL_WINDOW,
                    CHECK_SINGLE_USE,
                ],
                build: |arguments| Resume::with(ResumeMode::Careful, arguments),
            },
            Row {
                name: "seed",
                about: "window and slow start threshold are the saved capacity at once, as in the BDP paper's implementation: fast, and without a safeguard",
                parameters: &[
                    $($carrier,)*
                    PATH,
                    LIFETIME,
                    CHECK_PATH,
                    CHECK_LIFETIME,
                    CHECK_RTT,
                    RTT_ABOVE,
                    RTT_MOST,
                    CHECK_INITIAL_WINDOW,
                    CHECK_SINGLE_USE,
                ],
                build: |arguments| Resume::with(ResumeMode::Seed, arguments),
            },
        ]
    };
}

/// The rows of the option `resume` of QUIC.
pub static RESUMPTIONS: &[Row<Build>] = rows![STORE, TOKEN, BDP_FRAME];

/// The rows of the option `resume` of TCP, which has a store by address alone.
static TCP_RESUMPTIONS: &[Row<Build>] = rows![];

const MAX_JUMP: Parameter = Parameter {
    name: "max_jump",
    kind: Kind::Size,
    default: Default::Absent,
    about: "largest window to jump to (max_jump of RFC 9959); by default half of the saved capacity is the only limit",
};
const BETA: Parameter = Parameter {
    name: "beta",
    kind: Kind::Number(0.5, 1.0),
    default: Default::Is("0.5"),
    about: "slow start threshold after a safe retreat, as a share of the validated capacity (RFC 9959 section 3.5)",
};
const STORE: Parameter = Parameter {
    name: "store",
    kind: Kind::Choice(&["address", "ticket", "off"]),
    default: Default::Is("\"address\""),
    about: "key of the sender's own store: the peer's address, or the session ticket that it resumes",
};
const TOKEN: Parameter = Parameter {
    name: "token",
    kind: Kind::Flag,
    default: Default::Is("false"),
    about: "whether a server seals the capacity into the tokens of NEW_TOKEN frames",
};
const BDP_FRAME: Parameter = Parameter {
    name: "bdp_frame",
    kind: Kind::Flag,
    default: Default::Is("false"),
    about: "whether BDP_FRAMEs carry the capacity: from the server in 1-RTT packets, and back from the client in 0-RTT packets (draft-kuhn-quic-0rtt-bdp-09)",
};
const PATH: Parameter = Parameter {
    name: "path",
    kind: Kind::Choice(&["address", "prefix"]),
    default: Default::Is("\"address\""),
    about: "how connections on the same path are recognized: by the peer's address, or by its prefix (24 bits of an IPv4 address, 56 of an IPv6 address)",
};
const LIFETIME: Parameter = Parameter {
    name: "lifetime",
    kind: Kind::Duration,
    default: Default::Is("\"24 h\""),
    about: "how long a saved capacity may be used (LifeTime of RFC 9959)",
};
const CHECK_PATH: Parameter = Parameter {
    name: "check_path",
    kind: Kind::Flag,
    default: Default::Is("true"),
    about: "whether the path must be the saved one (RFC 9959 section 3.2)",
};
const CHECK_LIFETIME: Parameter = Parameter {
    name: "check_lifetime",
    kind: Kind::Flag,
    default: Default::Is("true"),
    about: "whether a saved capacity expires (RFC 9959 section 3.2)",
};
const CHECK_RTT: Parameter = Parameter {
    name: "check_rtt",
    kind: Kind::Flag,
    default: Default::Is("true"),
    about: "whether the RTT must be near the saved one (RFC 9959 section 3.3): see rtt_above and rtt_most",
};
const RTT_ABOVE: Parameter = Parameter {
    name: "rtt_above",
    kind: Kind::Number(0.0, 1.0),
    default: Default::Is("0.5"),
    about: "the RTT must be above this multiple of the saved one (RFC 9959 section 3.3); 0.75 in picoquic",
};
const RTT_MOST: Parameter = Parameter {
    name: "rtt_most",
    kind: Kind::Number(1.0, 1000.0),
    default: Default::Is("10"),
    about: "the RTT must be at most this multiple of the saved one (RFC 9959 section 3.3); 1.25 in picoquic, 1.2 in draft-kuhn-quic-0rtt-bdp-09",
};
const CHECK_INITIAL_WINDOW: Parameter = Parameter {
    name: "check_initial_window",
    kind: Kind::Flag,
    default: Default::Is("true"),
    about: "whether the initial window must be acknowledged without congestion first (RFC 9959 section 3.2)",
};
const CHECK_SINGLE_USE: Parameter = Parameter {
    name: "check_single_use",
    kind: Kind::Flag,
    default: Default::Is("true"),
    about: "whether only one connection at a time may use a saved capacity (RFC 9959 section 3.2)",
};

/// What a sender does with a saved capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResumeMode {
    /// Nothing, and nothing is saved.
    #[default]
    None,
    /// Careful Resume.
    Careful,
    /// Its window and slow start threshold are the saved capacity.
    Seed,
}

/// What the sender's own store is keyed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreKey {
    /// The peer's address.
    #[default]
    Address,
    /// The session ticket that the peer resumes.
    Ticket,
    /// There is no store.
    Off,
}

/// The checks before a saved capacity is used; those of RTT and initial window are in [`ResumeOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    /// The path must be the saved one.
    pub path: bool,
    /// The lifetime must not have ended.
    pub lifetime: bool,
    /// No other connection may be using it.
    pub single_use: bool,
}

/// The option `resume`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resume {
    /// What is done with a saved capacity.
    pub mode: ResumeMode,
    /// What the store is keyed by.
    pub store: StoreKey,
    /// Whether tokens carry it.
    pub token: bool,
    /// Whether BDP_FRAME carries it.
    pub bdp_frame: bool,
    /// Whether a path is known by its prefix instead of its address.
    pub by_prefix: bool,
    /// How long it may be used.
    pub lifetime: Duration,
    /// The checks before it is used.
    pub checks: Checks,
    /// The constants of Careful Resume.
    pub careful: ResumeOptions,
}

impl std::default::Default for Resume {
    fn default() -> Resume {
        Resume {
            mode: ResumeMode::None,
            store: StoreKey::Off,
            token: false,
            bdp_frame: false,
            by_prefix: false,
            lifetime: Duration::ZERO,
            checks: Checks { path: true, lifetime: true, single_use: true },
            careful: ResumeOptions {
                max_jump: u64::MAX,
                beta: 0.5,
                check_rtt: true,
                rtt_bounds: (0.5, 10.0),
                check_initial_window: true,
                seeds: false,
            },
        }
    }
}

impl Accepted for Resume {
    const KIND: Kind = Kind::Component("resumptions");
    fn accept(value: &Value) -> Option<Resume> {
        match value {
            Value::Component(component) => Some(Resume::of(component)),
            _ => None,
        }
    }
}

impl Resume {
    /// The value of the option.
    pub fn of(chosen: &Component) -> Resume {
        let row = RESUMPTIONS.iter().find(|row| row.name == chosen.name);
        row.map_or_else(Resume::default, |row| (row.build)(&chosen.arguments))
    }

    fn with(mode: ResumeMode, arguments: &Arguments) -> Resume {
        let is = |name: &str| arguments.has(name) && arguments.flag(name);
        let careful = mode == ResumeMode::Careful;
        Resume {
            mode,
            store: match arguments.has("store").then(|| arguments.text("store")).as_deref() {
                None | Some("address") => StoreKey::Address,
                Some("ticket") => StoreKey::Ticket,
                Some(_) => StoreKey::Off,
            },
            token: is("token"),
            bdp_frame: is("bdp_frame"),
            by_prefix: arguments.text("path") == "prefix",
            lifetime: arguments.duration("lifetime"),
            checks: Checks {
                path: is("check_path"),
                lifetime: is("check_lifetime"),
                single_use: is("check_single_use"),
            },
            careful: ResumeOptions {
                max_jump: if careful && arguments.has("max_jump") {
                    arguments.size("max_jump").as_bytes()
                } else {
                    u64::MAX
                },
                beta: if careful { arguments.number("beta") } else { 0.5 },
                check_rtt: is("check_rtt"),
                rtt_bounds: (arguments.number("rtt_above"), arguments.number("rtt_most")),
                check_initial_window: is("check_initial_window"),
                seeds: mode == ResumeMode::Seed,
            },
        }
    }

    /// Whether a capacity is observed, saved and used.
    pub fn is_on(&self) -> bool {
        self.mode != ResumeMode::None
    }
}

/// The rooms of the option `resume`, that of QUIC and that of TCP, as scenarios and `quiclab list` see them.
pub(crate) fn rooms() -> [Room; 2] {
    [
        Room::of(
            "resumptions",
            "how a sender uses what an earlier connection learned of the path",
            RESUMPTIONS,
            None,
        ),
        Room::of(
            "tcp_resumptions",
            "how a TCP sender uses what an earlier connection learned of the path",
            TCP_RESUMPTIONS,
            None,
        ),
    ]
}
