//! The rows of the option `resume`: how a sender uses what an earlier connection learned of a path.

use super::careful::ResumeOptions;
use units::parameter::{Accepted, Arguments, Choice, Component, Kind, Options, Parameter, Room, Row, Value};
use units::{Duration, Size};

/// The constructor of a row.
type Build = fn(&Arguments) -> Resume;

/// What carries a saved capacity, and what the sender's own store is keyed by.
#[derive(Debug, Clone, Options)]
struct CarrierOptions {
    /// key of the sender's own store: the peer's address, or the session ticket that it resumes
    #[option(default = "address")]
    store: StoreKey,
    /// whether a server seals the capacity into the tokens of NEW_TOKEN frames
    #[option(default = false)]
    token: bool,
    /// whether BDP_FRAMEs carry the capacity: from the server in 1-RTT packets, and back from the client in 0-RTT
    /// packets (draft-kuhn-quic-0rtt-bdp-09)
    #[option(default = false)]
    bdp_frame: bool,
}

/// Where and for how long a saved capacity holds.
#[derive(Debug, Clone, Options)]
struct SavedOptions {
    /// how connections on the same path are recognized: by the peer's address, or by its prefix (24 bits of an IPv4
    /// address, 56 of an IPv6 address)
    #[option(default = "address")]
    path: KnownBy,
    /// how long a saved capacity may be used (LifeTime of RFC 9959)
    #[option(default = "24 h")]
    lifetime: Duration,
}

/// How connections on the same path are recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum KnownBy {
    Address,
    Prefix,
}

/// The constants of Careful Resume.
#[derive(Debug, Clone, Options)]
struct CarefulOptions {
    /// largest window to jump to (max_jump of RFC 9959); by default half of the saved capacity is the only limit
    max_jump: Option<Size>,
    /// slow start threshold after a safe retreat, as a share of the validated capacity (RFC 9959 section 3.5)
    #[option(default = 0.5, within = 0.5..=1.0)]
    beta: f64,
}

/// What is checked before a saved capacity is used.
#[derive(Debug, Clone, Options)]
struct CheckOptions {
    /// whether the path must be the saved one (RFC 9959 section 3.2)
    #[option(default = true)]
    check_path: bool,
    /// whether a saved capacity expires (RFC 9959 section 3.2)
    #[option(default = true)]
    check_lifetime: bool,
    /// whether the RTT must be near the saved one (RFC 9959 section 3.3): see rtt_above and rtt_most
    #[option(default = true)]
    check_rtt: bool,
    /// the RTT must be above this multiple of the saved one (RFC 9959 section 3.3); 0.75 in picoquic
    #[option(default = 0.5, within = 0.0..=1.0)]
    rtt_above: f64,
    /// the RTT must be at most this multiple of the saved one (RFC 9959 section 3.3); 1.25 in picoquic, 1.2 in
    /// draft-kuhn-quic-0rtt-bdp-09
    #[option(default = 10, within = 1.0..=1000.0)]
    rtt_most: f64,
    /// whether the initial window must be acknowledged without congestion first (RFC 9959 section 3.2)
    #[option(default = true)]
    check_initial_window: bool,
    /// whether only one connection at a time may use a saved capacity (RFC 9959 section 3.2)
    #[option(default = true)]
    check_single_use: bool,
}

/// The options of a row: with carriers for QUIC, without for TCP, which has a store by address alone.
macro_rules! row_options {
    ($($name:ident { $($field:ident: $of:ty,)* })*) => {$(
        #[derive(Debug, Clone, Options)]
        struct $name {
            $(#[options]
            $field: $of,)*
        }
    )*};
}

row_options! {
    Careful { carrier: CarrierOptions, saved: SavedOptions, careful: CarefulOptions, checks: CheckOptions, }
    Seed { carrier: CarrierOptions, saved: SavedOptions, checks: CheckOptions, }
    TcpCareful { saved: SavedOptions, careful: CarefulOptions, checks: CheckOptions, }
    TcpSeed { saved: SavedOptions, checks: CheckOptions, }
}

const NONE: Row<Build> = Row {
    name: "none",
    about: "every connection starts with the initial window, and nothing is saved",
    parameters: &[],
    build: |_| Resume::default(),
};
const CAREFUL: Row<()> = Row {
    name: "careful",
    about: "Careful Resume (RFC 9959): half of the saved capacity, paced over a round trip, and a safe retreat if packets are lost",
    parameters: &[],
    build: (),
};
const SEED: Row<()> = Row {
    name: "seed",
    about: "window and slow start threshold are the saved capacity at once, as in the BDP paper's implementation: fast, and without a safeguard",
    parameters: &[],
    build: (),
};

/// The row with its options.
const fn row(face: Row<()>, parameters: &'static [Parameter], build: Build) -> Row<Build> {
    Row { name: face.name, about: face.about, parameters, build }
}

/// The rows of the option `resume` of QUIC.
pub static RESUMPTIONS: &[Row<Build>] = &[
    NONE,
    row(CAREFUL, Careful::PARAMETERS, |arguments| {
        let Careful { carrier, saved, careful, checks } = Careful::of(arguments);
        Resume::with(Some(&carrier), &saved, Some(&careful), &checks)
    }),
    row(SEED, Seed::PARAMETERS, |arguments| {
        let Seed { carrier, saved, checks } = Seed::of(arguments);
        Resume::with(Some(&carrier), &saved, None, &checks)
    }),
];

const TCP_ROOM: &str = "tcp_resumptions";

/// The rows of the option `resume` of TCP.
static TCP_RESUMPTIONS: &[Row<Build>] = &[
    NONE,
    row(CAREFUL, TcpCareful::PARAMETERS, |arguments| {
        let TcpCareful { saved, careful, checks } = TcpCareful::of(arguments);
        Resume::with(None, &saved, Some(&careful), &checks)
    }),
    row(SEED, TcpSeed::PARAMETERS, |arguments| {
        let TcpSeed { saved, checks } = TcpSeed::of(arguments);
        Resume::with(None, &saved, None, &checks)
    }),
];

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Choice)]
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
    ///
    /// # Panics
    /// If its room has no such row: scenarios are read by the rooms.
    pub fn of(chosen: &Component) -> Resume {
        let rows = if chosen.room == TCP_ROOM { TCP_RESUMPTIONS } else { RESUMPTIONS };
        let row = rows.iter().find(|row| row.name == chosen.name);
        let row = row.unwrap_or_else(|| panic!("{:?} is a row of {:?}", chosen.name, chosen.room));
        (row.build)(&chosen.arguments)
    }

    /// Careful Resume with its constants, or else the seed.
    fn with(
        carrier: Option<&CarrierOptions>,
        saved: &SavedOptions,
        careful: Option<&CarefulOptions>,
        checks: &CheckOptions,
    ) -> Resume {
        Resume {
            mode: if careful.is_some() { ResumeMode::Careful } else { ResumeMode::Seed },
            store: carrier.map_or(StoreKey::Address, |carrier| carrier.store),
            token: carrier.is_some_and(|carrier| carrier.token),
            bdp_frame: carrier.is_some_and(|carrier| carrier.bdp_frame),
            by_prefix: saved.path == KnownBy::Prefix,
            lifetime: saved.lifetime,
            checks: Checks {
                path: checks.check_path,
                lifetime: checks.check_lifetime,
                single_use: checks.check_single_use,
            },
            careful: ResumeOptions {
                max_jump: careful.and_then(|careful| careful.max_jump).map_or(u64::MAX, Size::as_bytes),
                beta: careful.map_or(0.5, |careful| careful.beta),
                check_rtt: checks.check_rtt,
                rtt_bounds: (checks.rtt_above, checks.rtt_most),
                check_initial_window: checks.check_initial_window,
                seeds: careful.is_none(),
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
            TCP_ROOM,
            "how a TCP sender uses what an earlier connection learned of the path",
            TCP_RESUMPTIONS,
            None,
        ),
    ]
}
