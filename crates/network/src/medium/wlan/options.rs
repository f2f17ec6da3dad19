//! The options of WLANs, and how they are built from them.

use super::contention::Contention;
use super::standard::{Amendment, Choices, MOST_BYTES, MOST_FRAMES, Modulation, Standard};
use super::station::{Limits, Station};
use super::{NEVER, Wlan, errors, rate_control};
use crate::buffer::{Buffer, BufferOptions};
use crate::error::BuildError;
use crate::medium::{Attached, Lane, MediumOptions, channel};
use crate::queue::LinkProperties;
use std::collections::VecDeque;
use units::parameter::{Arguments, Choice, Component, OptionError, Options};
use units::{Duration, Rate, Size};

/// The options that an attachment can have of its own.
pub(super) const OF_ATTACHMENT: [&str; 7] =
    ["rate", "mcs", "rate_control", "frame_errors", "channel", "queue", "mtu"];

/// Those of the access point. Rates and errors of a terminal's frames are its own in both directions.
pub(super) const OF_STATION: [&str; 3] = ["rate_control", "queue", "mtu"];

/// The options of a WLAN, and of each of its attachments.
#[derive(Debug, Clone, Options)]
pub(super) struct WlanOptions {
    /// 802.11b, a, g, or n at 5 GHz or at 2.4 GHz
    #[option(default = "g")]
    pub(super) standard: Amendment,
    /// rate of data frames from a station, and from the access point to it, in b, a and g; the highest by default
    pub(super) rate: Option<Rate>,
    /// modulation and coding scheme in n; 8 to 31 have two to four streams; 7 by default
    #[option(within = 0..=31)]
    pub(super) mcs: Option<usize>,
    /// rate control: the rates at which a station sends
    #[option(default = "fixed", room = "rate_controls")]
    pub(super) rate_control: Component,
    /// streams in n that a rate control may use
    #[option(default = 1, within = 1..=4)]
    pub(super) streams: usize,
    /// rates of ACK, CTS and block ACK; by default the mandatory ones: 1 and 2 Mbit/s in b, otherwise 6, 12 and
    /// 24 Mbit/s
    pub(super) basic_rates: Option<Vec<Rate>>,
    /// preamble of b above 1 Mbit/s: 192 or 96 us
    #[option(default = "long")]
    pub(super) preamble: Preamble,
    /// slot of g and n: 9 us, or 20 us as near stations of b
    #[option(default = "short")]
    pub(super) slot: Slot,
    /// width of the channel in n
    #[option(default = "20 MHz")]
    pub(super) width: Width,
    /// guard interval in n: 800 or 400 ns
    #[option(default = "long")]
    pub(super) guard_interval: GuardInterval,
    /// size in bytes above which RTS and CTS precede a frame; by default they never do
    #[option(default = "1 MB")]
    pub(super) rts_threshold: Size,
    /// attempts before a frame is given up (dot11ShortRetryLimit)
    #[option(default = 7, within = 1..=255)]
    pub(super) attempts: u8,
    /// maximum number of frames in an A-MPDU in n, within 65,535 B and 10 ms
    #[option(default = 64, within = 1..=MOST_FRAMES as u64)]
    pub(super) ampdu_frames: usize,
    /// which data frames from and to a terminal fail without a collision
    #[option(default = "none", room = "frame_errors")]
    pub(super) frame_errors: Component,
    /// signal-to-noise ratio of a terminal over time, for frame_errors = "curve"
    #[option(default = "constant", room = "channels")]
    pub(super) channel: Component,
    /// pairs of stations that do not hear each other
    #[option(default = [])]
    pub(super) hidden: Vec<(String, String)>,
    /// queue of a station; 1 BDP is the highest rate times 100 ms
    #[option(default = "drop-tail", room = "queues")]
    pub(super) queue: Component,
    /// largest IP packet in bytes; larger ones are dropped
    #[option(default = 1500, within = 68..=7_900)]
    pub(super) mtu: u32,
    /// fixed delay from the end of a frame to the node
    #[option(default = "0 s")]
    pub(super) delay: Duration,
    /// minimum contention window in slots (CWmin); by default 31 in b, otherwise 15
    #[option(within = 1..=32_767)]
    pub(super) window: Option<u32>,
}

/// The preamble of 802.11b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum Preamble {
    Long,
    Short,
}

/// The slots of contention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum Slot {
    Short,
    Long,
}

/// The width of the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum Width {
    #[word("20 MHz")]
    Mhz20,
    #[word("40 MHz")]
    Mhz40,
}

/// The guard interval of 802.11n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum GuardInterval {
    Long,
    Short,
}

/// The time that limits of queues in BDP count with.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The standard of a scenario, with its own rates of responses.
pub(super) fn standard(options: &WlanOptions) -> Result<Standard, OptionError> {
    let amendment = options.standard;
    let name = amendment.word();
    let (short_guard, wide) = (options.guard_interval == GuardInterval::Short, options.width == Width::Mhz40);
    let (short_preamble, long_slot) = (options.preamble == Preamble::Short, options.slot == Slot::Long);
    let mut standard =
        Standard::new(Choices { standard: amendment, short_preamble, long_slot, wide, short_guard });
    let only = |option: &'static str, isnt: &str, of: &str| {
        let problem = format!("has no effect in 802.11{name}, found {isnt:?}; expected {of}");
        Err((option, problem))
    };
    let is_n = standard.aggregates;
    if !is_n && wide {
        return only("width", options.width.word(), "standard = \"n\" or \"n-2.4\"");
    }
    if !is_n && short_guard {
        return only("guard_interval", options.guard_interval.word(), "standard = \"n\" or \"n-2.4\"");
    }
    if amendment != Amendment::B && short_preamble {
        return only("preamble", options.preamble.word(), "standard = \"b\"");
    }
    if matches!(amendment, Amendment::A | Amendment::N | Amendment::B) && long_slot {
        return only("slot", options.slot.word(), "standard = \"g\" or \"n-2.4\"");
    }
    if let Some(wanted) = &options.basic_rates {
        let mut possible = if is_n {
            let of = if amendment == Amendment::N { Amendment::A } else { Amendment::G };
            Standard::new(Choices { standard: of, ..CHOICES }).rates
        } else {
            standard.rates.clone()
        };
        let all = listed(&possible);
        possible.retain(|of| wanted.contains(&of.rate()));
        if wanted.is_empty() || possible.len() != wanted.len() {
            let problem = format!("not all are rates of 802.11{name}; expected some of {all}, each once");
            return Err(("basic_rates", problem));
        }
        standard.set_basic(possible);
    }
    if let Some(least) = options.window {
        standard.window = (least, standard.window.1.max(least));
    }
    if is_n {
        // Schemes beyond the streams of rate controls are for fixed ones.
        standard.rates.truncate(32);
    }
    Ok(standard)
}

const CHOICES: Choices = Choices {
    standard: Amendment::A,
    short_preamble: false,
    long_slot: false,
    wide: false,
    short_guard: false,
};

/// The place of the fixed rate of a station.
pub(super) fn fixed(standard: &Standard, own: &WlanOptions) -> Result<usize, OptionError> {
    if standard.aggregates {
        if own.rate.is_some() {
            let problem = "has no effect in 802.11n, whose rates follow from the scheme; expected mcs";
            return Err(("rate", problem.to_owned()));
        }
        return Ok(own.mcs.unwrap_or(7));
    }
    if own.mcs.is_some() {
        return Err(("mcs", "only 802.11n has schemes; expected rate, or standard = \"n\"".to_owned()));
    }
    let Some(wanted) = own.rate else { return Ok(standard.rates.len() - 1) };
    standard.rates.iter().position(|rate| rate.rate() == wanted).ok_or_else(|| {
        let problem =
            format!("not a rate of this standard, found {wanted}; expected {}", listed(&standard.rates));
        ("rate", problem)
    })
}

/// Rates as a message names them.
fn listed(rates: &[Modulation]) -> String {
    let rates: Vec<String> = rates.iter().map(|rate| rate.rate().as_mbit_per_sec().to_string()).collect();
    format!("{} Mbit/s", rates.join(", "))
}

/// Checks the options that depend on each other and on what is attached.
pub(super) fn check(arguments: &Arguments, attached: Attached<'_>) -> Result<(), OptionError> {
    let options = WlanOptions::of(arguments);
    fixed(&standard(&options)?, &options)?;
    hidden(&options.hidden, attached)?;
    Ok(())
}

/// For each station those that do not hear it; nothing if all hear each other.
fn hidden(pairs: &[(String, String)], attached: Attached<'_>) -> Result<Vec<Vec<bool>>, OptionError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let names = attached.names;
    let place = |name: &String| {
        names.iter().position(|other| other == name).ok_or_else(|| {
            let some = names[..names.len().min(20)].join(", ");
            ("hidden", format!("not attached, found {name:?}; expected one of {some}"))
        })
    };
    let mut deaf = vec![vec![false; names.len()]; names.len()];
    for (one, other) in pairs {
        let (one, other) = (place(one)?, place(other)?);
        if one == other || (attached.station && one.min(other) == 0) {
            let problem = format!(
                "a station hears itself, and all hear the access point, found {:?} and {:?}; expected two terminals",
                names[one], names[other]
            );
            return Err(("hidden", problem));
        }
        (deaf[one][other], deaf[other][one]) = (true, true);
    }
    Ok(deaf)
}

fn unusable((option, problem): OptionError) -> BuildError {
    BuildError::Option { option, problem }
}

pub(super) fn build(options: &MediumOptions<'_>) -> Result<Wlan, BuildError> {
    let all = WlanOptions::of(options.arguments);
    let standard = standard(&all).map_err(unusable)?;
    let count = options.attachments.len();
    let whole_ns = |rate: usize| {
        let data = standard.rates[rate].duration(1500 + standard.overhead);
        standard.ifs + data + standard.sifs + standard.control[rate].ack
    };
    let usable = if standard.aggregates { 8 * all.streams } else { standard.rates.len() };
    let durations: Vec<u64> = (0..usable).map(whole_ns).collect();
    let (mut stations, mut links) = (Vec::new(), Vec::new());
    let (mut peak, mut highest) = (Rate::ZERO, 0);
    let each: Vec<WlanOptions> = options.attachments.iter().map(|(_, own)| WlanOptions::of(own)).collect();
    for (number, ((name, _), own)) in options.attachments.iter().zip(&each).enumerate() {
        let stream = |purpose: &str| (options.stream)(&format!("{name} {purpose}"));
        let fixed = fixed(&standard, own).map_err(unusable)?;
        let rate = standard.rates[fixed].rate();
        (peak, highest) = (peak.max(rate), highest.max(fixed));
        let buffer = BufferOptions {
            queue: &own.queue,
            name,
            setup: LinkProperties {
                rate: Some(rate),
                round_trip: ROUND_TRIP,
                mtu: own.mtu,
                flows: options.flows,
            },
            delays: options.delays,
            interest: options.interest,
        };
        let control = &own.rate_control;
        let peers = if options.station && number > 0 { 1 } else { count };
        let controls = (0..peers)
            .map(|peer| {
                // The access point sends to a terminal at the rate of the terminal.
                let from_station = options.station && number == 0;
                let whose = if from_station { &each[peer] } else { own };
                let setup = rate_control::RateControlInputs {
                    durations: &durations,
                    fixed: self::fixed(&standard, whose).map_err(unusable)?,
                    stream: stream(&format!("rates {peer}")),
                };
                rate_control::build(control.name, &control.arguments, setup)
            })
            .collect::<Result<_, BuildError>>()?;
        let buffer = Buffer::new(&buffer, stream("queue"))?;
        stations.push(Station::new(buffer, controls, stream("backoff"), &standard));
        let (fails, wave) = (&own.frame_errors, &own.channel);
        let bandwidth_hz = if all.width == Width::Mhz40 { 40_000_000 } else { 20_000_000 };
        links.push(errors::Link {
            channel: channel::build(
                wave.name,
                &wave.arguments,
                &channel::ChannelInputs { stream: &stream, bandwidth_hz, site: channel::Site::ONLY },
            )?,
            errors: errors::build(fails.name, &fails.arguments)?,
            streams: [stream("errors down"), stream("errors up")],
        });
    }
    let usable = &standard.rates[..usable.max(highest + 1)];
    let fastest = Modulation::bound(usable).expect("each standard has rates");
    let hidden = hidden(&all.hidden, Attached { names: &options.nodes(), station: options.station });
    let contention = Contention::new(count, hidden.map_err(unusable)?);
    let rts_threshold = all.rts_threshold.as_bytes().min(u64::from(u32::MAX)) as u32;
    let aggregated = all.ampdu_frames;
    Ok(Wlan {
        arrives_early: rts_threshold < MOST_BYTES || (standard.aggregates && aggregated > 1),
        contention,
        limits: Limits { attempts: all.attempts, aggregated },
        rts_threshold,
        lanes: (0..count as u16).map(|from| Lane { from, to: None }).collect(),
        stations,
        links,
        has_station: options.station,
        on_air: Vec::new(),
        due: Vec::new(),
        beginning: Vec::new(),
        charged_until: 0,
        delay: all.delay,
        handed: VecDeque::new(),
        next_event: NEVER,
        next_arrival: NEVER,
        shortest: fastest.duration(standard.overhead),
        fastest,
        peak,
        standard,
    })
}
