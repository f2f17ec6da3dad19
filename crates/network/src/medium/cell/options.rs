//! The options of cells, and how cells are built from them.

use super::arq::ArqOptions;
use super::bearer::{Bearer, BearerOptions};
use super::harq::Harq;
use super::link::RadioLink;
use super::site::Site;
use super::standard::Standard;
use super::terminal::{Direction, Requests, Terminal};
use super::{Cells, DOWN, UP, errors, handover, scheduler};
use crate::buffer::{Buffer, BufferOptions};
use crate::count::Count;
use crate::error::BuildError;
use crate::medium::{self, Lane, MediumOptions, Outlook, Way, channel};
use crate::queue::Setup;
use radio::channel::Sites;
use random::Stream;
use std::collections::VecDeque;
use units::parameter::{Arguments, Default, Kind, OptionError, Parameter, Value};
use units::{Duration, Rate, Time, Timers};

/// The options that a terminal can have of its own.
pub(super) const OF_ATTACHMENT: [&str; 9] =
    ["channel", "mcs", "block_errors", "uplink_block_errors", "handover", "rlc", "discard", "queue", "mtu"];

/// Those of the station: its queues are those of the downlinks.
pub(super) const OF_STATION: [&str; 2] = ["queue", "mtu"];

/// The number of options of both kinds of cells; the last two are `processing` and `bandwidth`.
const COUNT: usize = 27;

/// The options of both kinds of cells.
const SHARED: [Parameter; COUNT] = [
    Parameter {
        name: "channel",
        kind: Kind::Component("channels"),
        default: Default::Is("\"constant\""),
        about: "signal-to-noise ratio of a terminal over time",
    },
    Parameter {
        name: "cqi_period",
        kind: Kind::Duration,
        default: Default::Is("\"5 ms\""),
        about: "time between measurements of the channel; at least one slot",
    },
    Parameter {
        name: "block_errors",
        kind: Kind::Component("block_errors"),
        default: Default::Is("\"target\""),
        about: "block errors: which attempts to send a block fail",
    },
    Parameter {
        name: "uplink_block_errors",
        kind: Kind::Component("block_errors"),
        default: Default::Absent,
        about: "block errors in the uplink, if they differ there",
    },
    Parameter {
        name: "sites",
        kind: Kind::List(&Kind::Number(-1e6, 1e6)),
        default: Default::Is("[0.0]"),
        about: "where the antennas of the sites stand along the line of drawn channels in metres: one to 64, each with the \
                whole bandwidth",
    },
    Parameter {
        name: "interference",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "share of the power of the other sites that counts as noise with drawn channels",
    },
    Parameter {
        name: "handover",
        kind: Kind::Component("handovers"),
        default: Default::Is("\"none\""),
        about: "which site serves a terminal",
    },
    Parameter {
        name: "interruption",
        kind: Kind::Duration,
        default: Default::Is("\"40 ms\""),
        about: "time after a handover during which nothing is sent to or from the terminal",
    },
    Parameter {
        name: "forwarding",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "whether the old site forwards the packets that wait for the terminal; otherwise they are lost, and so are \
                those that come during the interruption",
    },
    Parameter {
        name: "harq_retransmissions",
        kind: Kind::Integer(0, 15),
        default: Default::Is("3"),
        about: "HARQ retransmissions of a block before it is given up",
    },
    Parameter {
        name: "scheduler",
        kind: Kind::Component("cell_schedulers"),
        default: Default::Is("\"proportional-fair\""),
        about: "which terminals get the resource blocks of a slot, in both directions",
    },
    Parameter {
        name: "request_period",
        kind: Kind::Duration,
        default: Default::Is("\"10 ms\""),
        about: "time between a terminal's opportunities to ask for a grant; at least one slot",
    },
    Parameter {
        name: "first_grant",
        kind: Kind::Size,
        default: Default::Is("\"100 B\""),
        about: "first grant of a terminal that has asked, before the station knows its backlog",
    },
    Parameter {
        name: "rlc",
        kind: Kind::Choice(&["am", "um"]),
        default: Default::Is("\"am\""),
        about: "RLC mode: acknowledged, which retransmits what HARQ gives up, or unacknowledged",
    },
    Parameter {
        name: "reordering",
        kind: Kind::Duration,
        default: Default::Is("\"35 ms\""),
        about: "t-Reordering: how long the receiver waits for a missing PDU",
    },
    Parameter {
        name: "poll_pdus",
        kind: Kind::Integer(1, 65_536),
        default: Default::Is("32"),
        about: "pollPDU: PDUs from one poll for a report to the next",
    },
    Parameter {
        name: "poll_bytes",
        kind: Kind::Size,
        default: Default::Is("\"25 kB\""),
        about: "pollByte: bytes from one poll for a report to the next",
    },
    Parameter {
        name: "poll_retransmit",
        kind: Kind::Duration,
        default: Default::Is("\"80 ms\""),
        about: "t-PollRetransmit: time after which the sender polls again",
    },
    Parameter {
        name: "status_prohibit",
        kind: Kind::Duration,
        default: Default::Is("\"10 ms\""),
        about: "t-StatusProhibit: minimum time between reports",
    },
    Parameter {
        name: "max_retransmissions",
        kind: Kind::Integer(1, 32),
        default: Default::Is("32"),
        about: "maxRetxThreshold: retransmissions of a PDU in the acknowledged mode before it is given up",
    },
    Parameter {
        name: "discard",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "discardTimer: age above which a packet is dropped when its turn comes; without it none is",
    },
    Parameter {
        name: "queue",
        kind: Kind::Component("queues"),
        default: Default::Is("\"drop-tail\""),
        about: "queue of a terminal, and at the station the queue for each terminal",
    },
    Parameter {
        name: "mtu",
        kind: Kind::Integer(68, 65_535),
        default: Default::Is("1500"),
        about: "largest IP packet in bytes; larger ones are dropped",
    },
    Parameter {
        name: "delay",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "fixed delay of each packet in both directions: decoding, and the path between antenna and station",
    },
    Parameter {
        name: "mcs",
        kind: Kind::Integer(0, 28),
        default: Default::Absent,
        about: "a fixed modulation and coding scheme; without it, the scheme follows the channel",
    },
    Parameter {
        name: "processing",
        kind: Kind::Integer(1, 16),
        default: Default::Is("4"),
        about: "slots from something received to the reaction: from a request to a grant, from a grant to its block, from a \
                block to its acknowledgement, and from there to the next attempt",
    },
    Parameter {
        name: "bandwidth",
        kind: Kind::Integer(1, 400),
        default: Default::Is("20"),
        about: "width of the carrier in MHz, in each direction",
    },
];

/// The options of a cell of LTE.
pub(super) const LTE: [Parameter; COUNT] = {
    let mut all = SHARED;
    all[COUNT - 1] = Parameter {
        name: "bandwidth",
        kind: Kind::Choice(&["1.4 MHz", "3 MHz", "5 MHz", "10 MHz", "15 MHz", "20 MHz"]),
        default: Default::Is("\"20 MHz\""),
        about: "width of the carrier in each direction",
    };
    all
};

/// The options of a cell of NR.
pub(super) const NR: [Parameter; COUNT + 3] = {
    let mut all = [SHARED[0]; COUNT + 3];
    let mut at = 0;
    while at < SHARED.len() {
        all[at] = SHARED[at];
        at += 1;
    }
    all[COUNT - 2].default = Default::Is("2");
    all[COUNT - 1].default = Default::Is("100");
    all[COUNT] = Parameter {
        name: "numerology",
        kind: Kind::Integer(0, 4),
        default: Default::Is("1"),
        about: "slots of 2^-n ms, subcarriers of 2^n times 15 kHz",
    };
    all[COUNT + 1] = Parameter {
        name: "table",
        kind: Kind::Choice(&["64qam", "256qam", "64qam-low-se"]),
        default: Default::Is("\"256qam\""),
        about: "table of the modulation and coding schemes (TS 38.214 tables 5.1.3.1-1 to -3)",
    };
    all[COUNT + 2] = Parameter {
        name: "layers",
        kind: Kind::Integer(1, 4),
        default: Default::Is("1"),
        about: "layers in each direction",
    };
    all
};

/// The round trip with which queues count a BDP: that of a path with a cell at its end.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The standard of a cell and its carrier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Air {
    standard: Standard,
    bandwidth_hz: u64,
    prbs: u16,
}

impl Air {
    /// That of a cell of LTE.
    pub(super) fn lte(arguments: &Arguments) -> Result<Air, OptionError> {
        let width = arguments.text("bandwidth");
        let megahertz: f64 = width.trim_end_matches(" MHz").parse().unwrap_or(20.0);
        let bandwidth_hz = (megahertz * 1e6) as u64;
        let prbs = radio::lte::prbs(bandwidth_hz)
            .ok_or_else(|| ("bandwidth", format!("LTE has no carrier of {width}; expected another width")))?;
        Ok(Air { standard: Standard::Lte, bandwidth_hz, prbs })
    }
    /// That of a cell of NR.
    pub(super) fn nr(arguments: &Arguments) -> Result<Air, OptionError> {
        let numerology = arguments.integer("numerology") as u8;
        let table = match arguments.text("table").as_str() {
            "64qam" => radio::nr::Table::Qam64,
            "256qam" => radio::nr::Table::Qam256,
            _ => radio::nr::Table::LowEfficiency,
        };
        // With 240 kHz, for which no carrier is defined, it has half of the resource blocks of 120 kHz.
        let blocks = |megahertz: u64| match numerology {
            4 => radio::nr::prbs(megahertz * 1_000_000, 3).map(|prbs| prbs / 2),
            _ => radio::nr::prbs(megahertz * 1_000_000, numerology),
        };
        let megahertz = arguments.integer("bandwidth");
        let Some(prbs) = blocks(megahertz) else {
            let widths: Vec<String> =
                (1..=400).filter(|width| blocks(*width).is_some()).map(|width| width.to_string()).collect();
            let problem = format!(
                "no carrier of NR at numerology {numerology}, found {megahertz}; expected one of {}",
                widths.join(", ")
            );
            return Err(("bandwidth", problem));
        };
        let standard = Standard::Nr { numerology, table, layers: arguments.integer("layers") as u8 };
        Ok(Air { standard, bandwidth_hz: megahertz * 1_000_000, prbs })
    }
    /// Slots in the value of an option; at least one.
    fn slots(self, arguments: &Arguments, name: &'static str) -> Result<u64, OptionError> {
        let (span, slot) = (arguments.duration(name), self.standard.slot());
        match span.as_nanos() / slot.as_nanos() {
            0 => Err((name, format!("less than a slot, found {span}; expected at least {slot}"))),
            slots => Ok(slots),
        }
    }
    /// The fixed scheme, if there is one.
    fn scheme(self, arguments: &Arguments) -> Result<Option<u8>, OptionError> {
        let highest = self.standard.highest();
        match arguments.has("mcs").then(|| arguments.integer("mcs")) {
            Some(mcs) if mcs > u64::from(highest) => {
                Err(("mcs", format!("beyond the table, found {mcs}; expected at most {highest}")))
            }
            mcs => Ok(mcs.map(|mcs| mcs as u8)),
        }
    }
    /// The rate is that of all resource blocks with the fixed scheme, with that of a channel that does not change, or with
    /// the highest one. A packet is in the air for a slot.
    pub(super) fn outlook(self, way: &Way<'_>) -> Option<Outlook> {
        let (slot, standard) = (self.standard.slot(), self.standard);
        let [sender, receiver] = way.ends;
        let terminal = if way.from_station { receiver } else { sender };
        let mcs = match (self.scheme(terminal).ok()?, channel::constant(&terminal.component("channel"))) {
            (Some(mcs), _) => Some(mcs),
            (None, Some(sinr_db)) => standard.scheme(sinr_db),
            (None, None) => Some(standard.highest()),
        };
        let bytes = mcs.map_or(0, |mcs| standard.block_bytes(mcs, self.prbs, !way.from_station));
        Some(Outlook { rate: Rate::of(units::Size::from_bytes(bytes.into()), slot), least: slot })
    }
    /// Checks the options that depend on the carrier and on each other.
    pub(super) fn check(self, arguments: &Arguments) -> Result<(), OptionError> {
        self.slots(arguments, "cqi_period")?;
        self.slots(arguments, "request_period")?;
        if arguments.size("first_grant").as_bytes() == 0 {
            return Err(("first_grant", "nothing; expected at least 1 B".to_owned()));
        }
        self.scheme(arguments)?;
        let sites = sites(arguments)?;
        if arguments.number("interference") > 0.0 && sites.len() == 1 {
            let problem = "has no effect with one site; expected 0.0, or more sites (option sites)";
            return Err(("interference", problem.to_owned()));
        }
        let (moves, wave) = (arguments.component("handover"), arguments.component("channel"));
        handover::check(moves.name, &moves.arguments, sites.len(), wave.name)
    }
}

/// Where the sites are along the line, in metres.
fn sites(arguments: &Arguments) -> Result<Vec<f64>, OptionError> {
    let place = |value: &Value| if let Value::Number(place) = value { Some(*place) } else { None };
    let sites: Vec<f64> = arguments.list("sites").iter().filter_map(place).collect();
    match sites.len() {
        1..=64 => Ok(sites),
        count => Err(("sites", format!("{count} of them; expected 1 to 64"))),
    }
}

fn unusable((option, problem): OptionError) -> BuildError {
    BuildError::Option { option, problem }
}

/// Builds a cell of LTE.
pub(super) fn lte(options: &MediumOptions<'_>) -> Result<Cells, BuildError> {
    cell(options, Air::lte(options.arguments).map_err(unusable)?)
}

/// Builds a cell of NR.
pub(super) fn nr(options: &MediumOptions<'_>) -> Result<Cells, BuildError> {
    cell(options, Air::nr(options.arguments).map_err(unusable)?)
}

fn cell(options: &MediumOptions<'_>, air: Air) -> Result<Cells, BuildError> {
    let arguments = options.arguments;
    air.check(arguments).map_err(unusable)?;
    let Air { standard, prbs, .. } = air;
    let slots = |name: &'static str| air.slots(arguments, name).map_err(unusable);
    let (cqi_period, request_period) = (slots("cqi_period")?, slots("request_period")?);
    let first_grant = arguments.size("first_grant").as_bytes();
    let slot = standard.slot();
    let processing = arguments.integer("processing");
    let terminals = options.attachments.len() - 1;
    let scheduler = arguments.component("scheduler");
    let scheduler = || scheduler::build(scheduler.name, &scheduler.arguments, terminals, slot.as_nanos());
    let places = sites(arguments).map_err(unusable)?;
    let mut highest = Rate::ZERO;
    let mut all = Vec::new();
    for (attachment, (name, own)) in options.attachments.iter().enumerate().skip(1) {
        let stream = |purpose: &str| (options.stream)(&format!("{name} {purpose}"));
        let mcs = air.scheme(own).map_err(unusable)?;
        let interference = arguments.number("interference");
        let mut link = radio_link(own, air, (&places, interference), (cqi_period, processing), &stream)?;
        let moves = own.component("handover");
        let mut trigger = handover::build(moves.name, &moves.arguments, places.len())?;
        if let Some(trigger) = &mut trigger {
            link.serving = trigger.start(&mut |site| link.sites.sinr_db(site, Time::ZERO));
        }
        let bytes = standard.block_bytes(mcs.unwrap_or(standard.highest()), prbs, false);
        let rate = Rate::of(units::Size::from_bytes(bytes.into()), slot);
        highest = highest.max(rate);
        let direction = |way: usize| {
            // The queue of a downlink is the station's.
            let (place, values) = if way == DOWN {
                (format!("{} {name}", options.attachments[0].0), &options.attachments[0].1)
            } else {
                (name.clone(), own)
            };
            let queue = values.component("queue");
            let buffer = BufferOptions {
                queue: &queue,
                name: &place,
                setup: Setup {
                    rate: Some(rate),
                    round_trip: ROUND_TRIP,
                    mtu: values.integer("mtu") as u32,
                    flows: options.flows,
                },
                delays: options.delays,
                interest: options.interest,
            };
            let purpose = if way == DOWN { "queue down" } else { "queue up" };
            Ok::<Direction, BuildError>(Direction {
                buffer: Buffer::new(&buffer, stream(purpose))?,
                bearer: Bearer::new(bearer(own, arguments, standard)),
                harq: Harq::new(2 * processing, 1 + arguments.integer("harq_retransmissions") as u8),
                air: medium::Air::default(),
                handed: Count::default(),
                discard: own.has("discard").then(|| own.duration("discard")),
                head: None,
            })
        };
        let mut terminal = Terminal {
            attachment: attachment as u16,
            downlink: direction(DOWN)?,
            uplink: direction(UP)?,
            link,
            requests: Requests::default(),
            trigger,
            decides_at: 0,
            away_until: 0,
            due: u64::MAX,
            visited: 0,
        };
        terminal.decides_at = terminal.next_decision(slot.as_nanos());
        all.push(terminal);
    }
    let lanes = (1..=terminals as u16)
        .flat_map(|terminal| [Lane { from: 0, to: Some(terminal) }, Lane { from: terminal, to: None }]);
    Ok(Cells {
        lanes: lanes.collect(),
        sites: places
            .iter()
            .map(|_| Ok(Site::new([scheduler()?, scheduler()?])))
            .collect::<Result<_, BuildError>>()?,
        timers: Timers::new(terminals),
        visited: Vec::new(),
        received: vec![Count::default(); terminals + 1],
        terminals: all,
        slot_ns: slot.as_nanos(),
        prbs,
        processing,
        request_period,
        first_grant,
        interruption: arguments.duration("interruption").as_nanos().div_ceil(slot.as_nanos()),
        forwarding: arguments.flag("forwarding"),
        delay: arguments.duration("delay"),
        in_air: Vec::new(),
        next_slot: None,
        handed: VecDeque::new(),
        peak: highest,
    })
}

/// The parameters of a terminal's bearers.
fn bearer(own: &Arguments, cell: &Arguments, standard: Standard) -> BearerOptions {
    let acknowledged = (own.text("rlc") == "am").then(|| ArqOptions {
        poll_pdus: cell.integer("poll_pdus") as u32,
        poll_bytes: cell.size("poll_bytes").as_bytes(),
        poll_again: cell.duration("poll_retransmit"),
        prohibit: cell.duration("status_prohibit"),
        repeats: cell.integer("max_retransmissions") as u32,
        window: standard.window(),
    });
    BearerOptions {
        headers: standard.headers(acknowledged.is_some()),
        reordering: cell.duration("reordering").max(Duration::from_nanos(1)),
        acknowledged,
    }
}

/// The radio link of a terminal to the sites at some places, with interference.
fn radio_link(
    own: &Arguments,
    air: Air,
    (places, interference): (&[f64], f64),
    timing: (u64, u64),
    stream: &dyn Fn(&str) -> Stream,
) -> Result<RadioLink, BuildError> {
    let Air { standard, bandwidth_hz, .. } = air;
    let wave = own.component("channel");
    let channel = |(number, at_m): (usize, &f64)| {
        let site = channel::Site { number, count: places.len(), at_m: *at_m };
        channel::build(wave.name, &wave.arguments, &channel::Setup { stream, bandwidth_hz, site })
    };
    let channels = places.iter().enumerate().map(channel).collect::<Result<_, _>>()?;
    let errors = |option: &str| {
        let fails = own.component(if own.has(option) { option } else { "block_errors" });
        errors::build(fails.name, &fails.arguments)
    };
    Ok(RadioLink::new(
        (standard, air.scheme(own).map_err(unusable)?),
        timing,
        Sites::new(channels, interference),
        [errors("block_errors")?, errors("uplink_block_errors")?],
        [stream("errors down"), stream("errors up")],
    ))
}
