//! The options of cells, and how cells are built from them.

use super::arq::ArqOptions;
use super::bearer::{Bearer, BearerOptions};
use super::harq::Harq;
use super::link::{Measuring, RadioLink};
use super::site::Site;
use super::standard::Standard;
use super::terminal::{Direction, Requests, Terminal};
use super::{Cells, DOWN, UP, errors, handover, scheduler};
use crate::buffer::{Buffer, BufferOptions};
use crate::count::Count;
use crate::error::BuildError;
use crate::medium::{self, Lane, MediumOptions, Outlook, Way, channel};
use crate::queue::LinkProperties;
use radio::channel::Sites;
use random::Generator;
use std::collections::VecDeque;
use units::parameter::{Choice, Component, OptionError, Options};
use units::{Duration, Rate, Size, Time, Timers};

/// The options that a terminal can have of its own.
pub(super) const OF_ATTACHMENT: [&str; 9] =
    ["channel", "mcs", "block_errors", "uplink_block_errors", "handover", "rlc", "discard", "queue", "mtu"];

/// Those of the station: its queues are those of the downlinks.
pub(super) const OF_STATION: [&str; 2] = ["queue", "mtu"];

/// The options of both kinds of cells, and of each of their terminals.
#[derive(Debug, Clone, Options)]
pub(super) struct CellOptions {
    /// signal-to-noise ratio of a terminal over time
    #[option(default = "constant", room = "channels")]
    channel: Component,
    /// time between measurements of the channel; at least one slot
    #[option(default = "5 ms")]
    cqi_period: Duration,
    /// block errors: which attempts to send a block fail
    #[option(default = "target", room = "block_errors")]
    block_errors: Component,
    /// block errors in the uplink, if they differ there
    #[option(room = "block_errors")]
    uplink_block_errors: Option<Component>,
    /// where the antennas of the sites stand along the line of drawn channels in metres: one to 64, each with the
    /// whole bandwidth
    #[option(default = [0.0], within = -1e6..=1e6)]
    sites: Vec<f64>,
    /// share of the power of the other sites that counts as noise with drawn channels
    #[option(default = 0.0, probability)]
    interference: f64,
    /// which site serves a terminal
    #[option(default = "none", room = "handovers")]
    handover: Component,
    /// time after a handover during which nothing is sent to or from the terminal
    #[option(default = "40 ms")]
    interruption: Duration,
    /// whether the old site forwards the packets that wait for the terminal; otherwise they are lost, and so are
    /// those that come during the interruption
    #[option(default = true)]
    forwarding: bool,
    /// HARQ retransmissions of a block before it is given up
    #[option(default = 3, within = 0..=15)]
    harq_retransmissions: u8,
    /// which terminals get the resource blocks of a slot, in both directions
    #[option(default = "proportional-fair", room = "cell_schedulers")]
    scheduler: Component,
    /// time between a terminal's opportunities to ask for a grant; at least one slot
    #[option(default = "10 ms")]
    request_period: Duration,
    /// first grant of a terminal that has asked, before the station knows its backlog
    #[option(default = "100 B")]
    first_grant: Size,
    /// RLC mode: acknowledged, which retransmits what HARQ gives up, or unacknowledged
    #[option(default = "am")]
    rlc: Rlc,
    /// t-Reordering: how long the receiver waits for a missing PDU
    #[option(default = "35 ms")]
    reordering: Duration,
    /// pollPDU: PDUs from one poll for a report to the next
    #[option(default = 32, within = 1..=65_536)]
    poll_pdus: u32,
    /// pollByte: bytes from one poll for a report to the next
    #[option(default = "25 kB")]
    poll_bytes: Size,
    /// t-PollRetransmit: time after which the sender polls again
    #[option(default = "80 ms")]
    poll_retransmit: Duration,
    /// t-StatusProhibit: minimum time between reports
    #[option(default = "10 ms")]
    status_prohibit: Duration,
    /// maxRetxThreshold: retransmissions of a PDU in the acknowledged mode before it is given up
    #[option(default = 32, within = 1..=32)]
    max_retransmissions: u32,
    /// discardTimer: age above which a packet is dropped when its turn comes; without it none is
    discard: Option<Duration>,
    /// queue of a terminal, and at the station the queue for each terminal
    #[option(default = "drop-tail", room = "queues")]
    queue: Component,
    /// largest IP packet in bytes; larger ones are dropped
    #[option(default = 1500, within = 68..=65_535)]
    mtu: u32,
    /// fixed delay of each packet in both directions: decoding, and the path between antenna and station
    #[option(default = "0 s")]
    delay: Duration,
    /// a fixed modulation and coding scheme; without it, the scheme follows the channel
    #[option(within = 0..=28)]
    mcs: Option<u8>,
    /// slots from something received to the reaction: from a request to a grant, from a grant to its block, from
    /// a block to its acknowledgement, and from there to the next attempt
    #[option(default = 4, within = 1..=16)]
    processing: u64,
}

/// The mode of the RLC layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Rlc {
    /// Acknowledged.
    Am,
    /// Unacknowledged.
    Um,
}

/// The options of a cell of LTE.
#[derive(Debug, Clone, Options)]
pub(super) struct LteOptions {
    #[options]
    pub(super) cell: CellOptions,
    /// width of the carrier in each direction
    #[option(default = "20 MHz")]
    bandwidth: Width,
}

/// The widths of carriers of LTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Width {
    #[word("1.4 MHz")]
    Mhz1_4,
    #[word("3 MHz")]
    Mhz3,
    #[word("5 MHz")]
    Mhz5,
    #[word("10 MHz")]
    Mhz10,
    #[word("15 MHz")]
    Mhz15,
    #[word("20 MHz")]
    Mhz20,
}

/// The options of a cell of NR.
#[derive(Debug, Clone, Options)]
pub(super) struct NrOptions {
    #[options(processing = 2)]
    pub(super) cell: CellOptions,
    /// width of the carrier in MHz, in each direction
    #[option(default = 100, within = 1..=400)]
    bandwidth: u64,
    /// slots of 2^-n ms, subcarriers of 2^n times 15 kHz
    #[option(default = 1, within = 0..=4)]
    numerology: u8,
    /// table of the modulation and coding schemes (TS 38.214 tables 5.1.3.1-1 to -3)
    #[option(default = "256qam")]
    table: Table,
    /// layers in each direction
    #[option(default = 1, within = 1..=4)]
    layers: u8,
}

/// The tables of modulation and coding schemes of NR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Table {
    #[word("64qam")]
    Qam64,
    #[word("256qam")]
    Qam256,
    #[word("64qam-low-se")]
    LowEfficiency,
}

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
    pub(super) fn lte(options: &LteOptions) -> Air {
        let bandwidth_hz = match options.bandwidth {
            Width::Mhz1_4 => 1_400_000,
            Width::Mhz3 => 3_000_000,
            Width::Mhz5 => 5_000_000,
            Width::Mhz10 => 10_000_000,
            Width::Mhz15 => 15_000_000,
            Width::Mhz20 => 20_000_000,
        };
        let prbs = radio::lte::prbs(bandwidth_hz).expect("each width of the option is one of LTE");
        Air { standard: Standard::Lte, bandwidth_hz, prbs }
    }
    /// That of a cell of NR.
    pub(super) fn nr(options: &NrOptions) -> Result<Air, OptionError> {
        let NrOptions { bandwidth: megahertz, numerology, layers, .. } = *options;
        let table = match options.table {
            Table::Qam64 => radio::nr::Table::Qam64,
            Table::Qam256 => radio::nr::Table::Qam256,
            Table::LowEfficiency => radio::nr::Table::LowEfficiency,
        };
        // With 240 kHz, for which no carrier is defined, it has half of the resource blocks of 120 kHz.
        let blocks = |megahertz: u64| match numerology {
            4 => radio::nr::prbs(megahertz * 1_000_000, 3).map(|prbs| prbs / 2),
            _ => radio::nr::prbs(megahertz * 1_000_000, numerology),
        };
        let Some(prbs) = blocks(megahertz) else {
            let widths: Vec<String> =
                (1..=400).filter(|width| blocks(*width).is_some()).map(|width| width.to_string()).collect();
            let problem = format!(
                "no carrier of NR at numerology {numerology}, found {megahertz}; expected one of {}",
                widths.join(", ")
            );
            return Err(("bandwidth", problem));
        };
        let standard = Standard::Nr { numerology, table, layers };
        Ok(Air { standard, bandwidth_hz: megahertz * 1_000_000, prbs })
    }
    /// Slots in the value of an option; at least one.
    fn slots(self, name: &'static str, span: Duration) -> Result<u64, OptionError> {
        let slot = self.standard.slot();
        match span.as_nanos() / slot.as_nanos() {
            0 => Err((name, format!("less than a slot, found {span}; expected at least {slot}"))),
            slots => Ok(slots),
        }
    }
    /// The fixed scheme, if there is one.
    fn scheme(self, mcs: Option<u8>) -> Result<Option<u8>, OptionError> {
        let highest = self.standard.highest();
        match mcs {
            Some(mcs) if mcs > highest => {
                Err(("mcs", format!("beyond the table, found {mcs}; expected at most {highest}")))
            }
            mcs => Ok(mcs),
        }
    }
    /// The rate is that of all resource blocks with the fixed scheme, with that of a channel that does not change, or with
    /// the highest one. A packet is in the air for a slot.
    pub(super) fn outlook(self, way: &Way<'_>) -> Option<Outlook> {
        let (slot, standard) = (self.standard.slot(), self.standard);
        let [sender, receiver] = way.ends;
        let terminal = CellOptions::of(if way.from_station { receiver } else { sender });
        let mcs = match (self.scheme(terminal.mcs).ok()?, channel::constant(&terminal.channel)) {
            (Some(mcs), _) => Some(mcs),
            (None, Some(sinr_db)) => standard.scheme(sinr_db),
            (None, None) => Some(standard.highest()),
        };
        let bytes = mcs.map_or(0, |mcs| standard.block_bytes(mcs, self.prbs, !way.from_station));
        Some(Outlook { rate: Rate::of(Size::from_bytes(bytes.into()), slot), least: slot })
    }
    /// Checks the options that depend on the carrier and on each other.
    pub(super) fn check(self, cell: &CellOptions) -> Result<(), OptionError> {
        self.slots("cqi_period", cell.cqi_period)?;
        self.slots("request_period", cell.request_period)?;
        if cell.first_grant.as_bytes() == 0 {
            return Err(("first_grant", "nothing; expected at least 1 B".to_owned()));
        }
        self.scheme(cell.mcs)?;
        let sites = sites(cell)?;
        if cell.interference > 0.0 && sites.len() == 1 {
            let problem = "has no effect with one site; expected 0.0, or more sites (option sites)";
            return Err(("interference", problem.to_owned()));
        }
        let (moves, wave) = (&cell.handover, &cell.channel);
        handover::check(moves.name, &moves.arguments, sites.len(), wave.name)
    }
}

/// Where the sites are along the line, in metres.
fn sites(cell: &CellOptions) -> Result<&[f64], OptionError> {
    match cell.sites.len() {
        1..=64 => Ok(&cell.sites),
        count => Err(("sites", format!("{count} of them; expected 1 to 64"))),
    }
}

fn unusable((option, problem): OptionError) -> BuildError {
    BuildError::Option { option, problem }
}

/// Builds a cell of LTE.
pub(super) fn lte(options: &MediumOptions<'_>) -> Result<Cells, BuildError> {
    let own = LteOptions::of(options.arguments);
    cell(options, &own.cell, Air::lte(&own))
}

/// Builds a cell of NR.
pub(super) fn nr(options: &MediumOptions<'_>) -> Result<Cells, BuildError> {
    let own = NrOptions::of(options.arguments);
    cell(options, &own.cell, Air::nr(&own).map_err(unusable)?)
}

fn cell(options: &MediumOptions<'_>, cell: &CellOptions, air: Air) -> Result<Cells, BuildError> {
    air.check(cell).map_err(unusable)?;
    let Air { standard, prbs, .. } = air;
    let slots = |name: &'static str, span| air.slots(name, span).map_err(unusable);
    let cqi_period = slots("cqi_period", cell.cqi_period)?;
    let request_period = slots("request_period", cell.request_period)?;
    let first_grant = cell.first_grant.as_bytes();
    let slot = standard.slot();
    let processing = cell.processing;
    let measuring = Measuring { period: cqi_period, processing };
    let terminals = options.attachments.len() - 1;
    let scheduler =
        || scheduler::build(cell.scheduler.name, &cell.scheduler.arguments, terminals, slot.as_nanos());
    let places = sites(cell).map_err(unusable)?;
    let station = CellOptions::of(&options.attachments[0].1);
    let mut highest = Rate::ZERO;
    let mut all = Vec::new();
    for (attachment, (name, own)) in options.attachments.iter().enumerate().skip(1) {
        let stream = |purpose: &str| (options.stream)(&format!("{name} {purpose}"));
        let own = CellOptions::of(own);
        let mcs = air.scheme(own.mcs).map_err(unusable)?;
        let mut link = radio_link(&own, air, places, cell.interference, measuring, &stream)?;
        let mut trigger = handover::build(own.handover.name, &own.handover.arguments, places.len())?;
        if let Some(trigger) = &mut trigger {
            link.serving = trigger.start(&mut |site| link.sites.sinr_db(site, Time::ZERO));
        }
        let bytes = standard.block_bytes(mcs.unwrap_or(standard.highest()), prbs, false);
        let rate = Rate::of(Size::from_bytes(bytes.into()), slot);
        highest = highest.max(rate);
        let direction = |way: usize| {
            // The queue of a downlink is the station's.
            let (place, values) = if way == DOWN {
                (format!("{} {name}", options.attachments[0].0), &station)
            } else {
                (name.clone(), &own)
            };
            let buffer = BufferOptions {
                queue: &values.queue,
                name: &place,
                setup: LinkProperties {
                    rate: Some(rate),
                    round_trip: ROUND_TRIP,
                    mtu: values.mtu,
                    flows: options.flows,
                },
                delays: options.delays,
                interest: options.interest,
            };
            let purpose = if way == DOWN { "queue down" } else { "queue up" };
            Ok::<Direction, BuildError>(Direction {
                buffer: Buffer::new(&buffer, stream(purpose))?,
                bearer: Bearer::new(bearer(own.rlc, cell, standard)),
                harq: Harq::new(2 * processing, 1 + cell.harq_retransmissions),
                air: medium::Air::default(),
                handed: Count::default(),
                discard: own.discard,
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
        interruption: cell.interruption.as_nanos().div_ceil(slot.as_nanos()),
        forwarding: cell.forwarding,
        delay: cell.delay,
        in_air: Vec::new(),
        next_slot: None,
        handed: VecDeque::new(),
        peak: highest,
    })
}

/// The parameters of a terminal's bearers.
fn bearer(rlc: Rlc, cell: &CellOptions, standard: Standard) -> BearerOptions {
    let acknowledged = (rlc == Rlc::Am).then(|| ArqOptions {
        poll_pdus: cell.poll_pdus,
        poll_bytes: cell.poll_bytes.as_bytes(),
        poll_again: cell.poll_retransmit,
        prohibit: cell.status_prohibit,
        repeats: cell.max_retransmissions,
        window: standard.window(),
    });
    BearerOptions {
        headers: standard.headers(acknowledged.is_some()),
        reordering: cell.reordering.max(Duration::from_nanos(1)),
        acknowledged,
    }
}

/// The radio link of a terminal to the sites at some places, with interference.
fn radio_link(
    own: &CellOptions,
    air: Air,
    places: &[f64],
    interference: f64,
    measuring: Measuring,
    stream: &dyn Fn(&str) -> Generator,
) -> Result<RadioLink, BuildError> {
    let Air { standard, bandwidth_hz, .. } = air;
    let wave = &own.channel;
    let channel = |(number, at_m): (usize, &f64)| {
        let site = channel::Site { number, count: places.len(), at_m: *at_m };
        channel::build(wave.name, &wave.arguments, &channel::ChannelInputs { stream, bandwidth_hz, site })
    };
    let channels = places.iter().enumerate().map(channel).collect::<Result<_, _>>()?;
    let errors = |fails: &Component| errors::build(fails.name, &fails.arguments);
    let uplink = own.uplink_block_errors.as_ref().unwrap_or(&own.block_errors);
    Ok(RadioLink::new(
        standard,
        air.scheme(own.mcs).map_err(unusable)?,
        measuring,
        Sites::new(channels, interference),
        [errors(&own.block_errors)?, errors(uplink)?],
        [stream("errors down"), stream("errors up")],
    ))
}
