//! The options of WLANs, and how they are built from them.

use super::contention::Contention;
use super::standard::{Choices, MOST_BYTES, MOST_FRAMES, Modulation, NAMES, Standard};
use super::station::{Limits, Station};
use super::{NEVER, Wlan, errors, rate_control};
use crate::buffer::{Buffer, BufferOptions};
use crate::error::BuildError;
use crate::medium::{Attached, Lane, MediumOptions, channel};
use crate::queue::Setup;
use std::collections::VecDeque;
use units::parameter::{Arguments, Default, Kind, OptionError, Parameter, Value};
use units::{Duration, Rate};

/// The options that an attachment can have of its own.
pub(super) const OF_ATTACHMENT: [&str; 7] =
    ["rate", "mcs", "rate_control", "frame_errors", "channel", "queue", "mtu"];

/// Those of the access point. Rates and errors of a terminal's frames are its own in both directions.
pub(super) const OF_STATION: [&str; 3] = ["rate_control", "queue", "mtu"];

pub(super) const PARAMETERS: [Parameter; 20] = [
    Parameter {
        name: "standard",
        kind: Kind::Choice(&NAMES),
        default: Default::Is("\"g\""),
        about: "802.11b, a, g, or n at 5 GHz or at 2.4 GHz",
    },
    Parameter {
        name: "rate",
        kind: Kind::Rate,
        default: Default::Absent,
        about: "rate of data frames from a station, and from the access point to it, in b, a and g; the highest by default",
    },
    Parameter {
        name: "mcs",
        kind: Kind::Integer(0, 31),
        default: Default::Absent,
        about: "modulation and coding scheme in n; 8 to 31 have two to four streams; 7 by default",
    },
    Parameter {
        name: "rate_control",
        kind: Kind::Component("rate_controls"),
        default: Default::Is("\"fixed\""),
        about: "rate control: the rates at which a station sends",
    },
    Parameter {
        name: "streams",
        kind: Kind::Integer(1, 4),
        default: Default::Is("1"),
        about: "streams in n that a rate control may use",
    },
    Parameter {
        name: "basic_rates",
        kind: Kind::List(&Kind::Rate),
        default: Default::Absent,
        about: "rates of ACK, CTS and block ACK; by default the mandatory ones: 1 and 2 Mbit/s in b, otherwise 6, 12 and 24 Mbit/s",
    },
    Parameter {
        name: "preamble",
        kind: Kind::Choice(&["long", "short"]),
        default: Default::Is("\"long\""),
        about: "preamble of b above 1 Mbit/s: 192 or 96 us",
    },
    Parameter {
        name: "slot",
        kind: Kind::Choice(&["short", "long"]),
        default: Default::Is("\"short\""),
        about: "slot of g and n: 9 us, or 20 us as near stations of b",
    },
    Parameter {
        name: "width",
        kind: Kind::Choice(&["20 MHz", "40 MHz"]),
        default: Default::Is("\"20 MHz\""),
        about: "width of the channel in n",
    },
    Parameter {
        name: "guard_interval",
        kind: Kind::Choice(&["long", "short"]),
        default: Default::Is("\"long\""),
        about: "guard interval in n: 800 or 400 ns",
    },
    Parameter {
        name: "rts_threshold",
        kind: Kind::Size,
        default: Default::Is("\"1 MB\""),
        about: "size in bytes above which RTS and CTS precede a frame; by default they never do",
    },
    Parameter {
        name: "attempts",
        kind: Kind::Integer(1, 255),
        default: Default::Is("7"),
        about: "attempts before a frame is given up (dot11ShortRetryLimit)",
    },
    Parameter {
        name: "ampdu_frames",
        kind: Kind::Integer(1, MOST_FRAMES as u64),
        default: Default::Is("64"),
        about: "maximum number of frames in an A-MPDU in n, within 65,535 B and 10 ms",
    },
    Parameter {
        name: "frame_errors",
        kind: Kind::Component("frame_errors"),
        default: Default::Is("\"none\""),
        about: "which data frames from and to a terminal fail without a collision",
    },
    Parameter {
        name: "channel",
        kind: Kind::Component("channels"),
        default: Default::Is("\"constant\""),
        about: "signal-to-noise ratio of a terminal over time, for frame_errors = \"curve\"",
    },
    Parameter {
        name: "hidden",
        kind: Kind::Pairs(&Kind::Text, &Kind::Text),
        default: Default::Is("[]"),
        about: "pairs of stations that do not hear each other",
    },
    Parameter {
        name: "queue",
        kind: Kind::Component("queues"),
        default: Default::Is("\"drop-tail\""),
        about: "queue of a station; 1 BDP is the highest rate times 100 ms",
    },
    Parameter {
        name: "mtu",
        kind: Kind::Integer(68, 7_900),
        default: Default::Is("1500"),
        about: "largest IP packet in bytes; larger ones are dropped",
    },
    Parameter {
        name: "delay",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "fixed delay from the end of a frame to the node",
    },
    Parameter {
        name: "window",
        kind: Kind::Integer(1, 32_767),
        default: Default::Absent,
        about: "minimum contention window in slots (CWmin); by default 31 in b, otherwise 15",
    },
];

/// The time that limits of queues in BDP count with.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The standard of a scenario, with its own rates of responses.
pub(super) fn standard(arguments: &Arguments) -> Result<Standard, OptionError> {
    let name = arguments.text("standard");
    let name = name.as_str();
    let mut standard = Standard::new(Choices {
        standard: name,
        short_preamble: arguments.text("preamble") == "short",
        long_slot: arguments.text("slot") == "long",
        wide: arguments.text("width") == "40 MHz",
        short_guard: arguments.text("guard_interval") == "short",
    });
    let only = |option: &'static str, isnt: &str, of: &str| {
        let problem = format!("has no effect in 802.11{name}, found {isnt:?}; expected {of}");
        Err((option, problem))
    };
    let is_n = standard.aggregates;
    for (option, value) in [("width", "40 MHz"), ("guard_interval", "short")] {
        if !is_n && arguments.text(option) == value {
            return only(option, value, "standard = \"n\" or \"n-2.4\"");
        }
    }
    if name != "b" && arguments.text("preamble") == "short" {
        return only("preamble", "short", "standard = \"b\"");
    }
    if matches!(name, "a" | "n" | "b") && arguments.text("slot") == "long" {
        return only("slot", "long", "standard = \"g\" or \"n-2.4\"");
    }
    if arguments.has("basic_rates") {
        let mut possible = if is_n {
            Standard::new(Choices { standard: if name == "n" { "a" } else { "g" }, ..CHOICES }).rates
        } else {
            standard.rates.clone()
        };
        let wanted = arguments.list("basic_rates");
        let all = listed(&possible);
        possible.retain(|of| wanted.contains(&Value::Rate(of.rate())));
        if wanted.is_empty() || possible.len() != wanted.len() {
            let problem = format!("not all are rates of 802.11{name}; expected some of {all}, each once");
            return Err(("basic_rates", problem));
        }
        standard.set_basic(possible);
    }
    if arguments.has("window") {
        let least = arguments.integer("window") as u32;
        standard.window = (least, standard.window.1.max(least));
    }
    if is_n {
        // Schemes beyond the streams of rate controls are for fixed ones.
        standard.rates.truncate(32);
    }
    Ok(standard)
}

const CHOICES: Choices<'_> =
    Choices { standard: "a", short_preamble: false, long_slot: false, wide: false, short_guard: false };

/// The place of the fixed rate of a station.
pub(super) fn fixed(standard: &Standard, own: &Arguments) -> Result<usize, OptionError> {
    if standard.aggregates {
        if own.has("rate") {
            let problem = "has no effect in 802.11n, whose rates follow from the scheme; expected mcs";
            return Err(("rate", problem.to_owned()));
        }
        return Ok(if own.has("mcs") { own.integer("mcs") as usize } else { 7 });
    }
    if own.has("mcs") {
        return Err(("mcs", "only 802.11n has schemes; expected rate, or standard = \"n\"".to_owned()));
    }
    if !own.has("rate") {
        return Ok(standard.rates.len() - 1);
    }
    let wanted = own.rate("rate");
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
    fixed(&standard(arguments)?, arguments)?;
    hidden(arguments, attached)?;
    Ok(())
}

/// For each station those that do not hear it; nothing if all hear each other.
fn hidden(arguments: &Arguments, attached: Attached<'_>) -> Result<Vec<Vec<bool>>, OptionError> {
    let pairs = arguments.list("hidden");
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let names = attached.names;
    let place = |value: &Value| {
        let Value::Text(name) = value else { return Err(("hidden", "expected names of nodes".to_owned())) };
        names.iter().position(|other| other == name).ok_or_else(|| {
            let some = names[..names.len().min(20)].join(", ");
            ("hidden", format!("not attached, found {name:?}; expected one of {some}"))
        })
    };
    let mut deaf = vec![vec![false; names.len()]; names.len()];
    for pair in pairs {
        let Value::List(pair) = pair else { continue };
        let [one, other] = &pair[..] else { continue };
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
    let arguments = options.arguments;
    let standard = standard(arguments).map_err(unusable)?;
    let count = options.attachments.len();
    let whole_ns = |rate: usize| {
        let data = standard.rates[rate].duration(1500 + standard.overhead);
        standard.ifs + data + standard.sifs + standard.control[rate].ack
    };
    let streams = arguments.integer("streams") as usize;
    let usable = if standard.aggregates { 8 * streams } else { standard.rates.len() };
    let durations: Vec<u64> = (0..usable).map(whole_ns).collect();
    let (mut stations, mut links) = (Vec::new(), Vec::new());
    let (mut peak, mut highest) = (Rate::ZERO, 0);
    for (number, (name, own)) in options.attachments.iter().enumerate() {
        let stream = |purpose: &str| (options.stream)(&format!("{name} {purpose}"));
        let fixed = fixed(&standard, own).map_err(unusable)?;
        let rate = standard.rates[fixed].rate();
        (peak, highest) = (peak.max(rate), highest.max(fixed));
        let queue = own.component("queue");
        let buffer = BufferOptions {
            queue: &queue,
            name,
            setup: Setup {
                rate: Some(rate),
                round_trip: ROUND_TRIP,
                mtu: own.integer("mtu") as u32,
                flows: options.flows,
            },
            delays: options.delays,
            interest: options.interest,
        };
        let control = own.component("rate_control");
        let peers = if options.station && number > 0 { 1 } else { count };
        let controls = (0..peers)
            .map(|peer| {
                // The access point sends to a terminal at the rate of the terminal.
                let from_station = options.station && number == 0;
                let whose = if from_station { &options.attachments[peer].1 } else { own };
                let setup = rate_control::Setup {
                    durations: &durations,
                    fixed: self::fixed(&standard, whose).map_err(unusable)?,
                    stream: stream(&format!("rates {peer}")),
                };
                rate_control::build(control.name, &control.arguments, setup)
            })
            .collect::<Result<_, BuildError>>()?;
        let buffer = Buffer::new(&buffer, stream("queue"))?;
        stations.push(Station::new(buffer, controls, stream("backoff"), &standard));
        let (fails, wave) = (own.component("frame_errors"), own.component("channel"));
        let bandwidth_hz = if arguments.text("width") == "40 MHz" { 40_000_000 } else { 20_000_000 };
        links.push(errors::Link {
            channel: channel::build(
                wave.name,
                &wave.arguments,
                &channel::Setup { stream: &stream, bandwidth_hz, site: channel::Site::ONLY },
            )?,
            errors: errors::build(fails.name, &fails.arguments)?,
            streams: [stream("errors down"), stream("errors up")],
        });
    }
    let usable = &standard.rates[..usable.max(highest + 1)];
    let fastest = Modulation::bound(usable).unwrap_or(standard.rates[0]);
    let hidden = hidden(arguments, Attached { names: &options.nodes(), station: options.station });
    let contention = Contention::new(count, hidden.map_err(unusable)?);
    let rts_threshold = arguments.size("rts_threshold").as_bytes().min(u64::from(u32::MAX)) as u32;
    let aggregated = arguments.integer("ampdu_frames") as usize;
    Ok(Wlan {
        arrives_early: rts_threshold < MOST_BYTES || (standard.aggregates && aggregated > 1),
        contention,
        limits: Limits { attempts: arguments.integer("attempts") as u8, aggregated },
        rts_threshold,
        lanes: (0..count as u16).map(|from| Lane { from, to: None }).collect(),
        stations,
        links,
        has_station: options.station,
        on_air: Vec::new(),
        due: Vec::new(),
        beginning: Vec::new(),
        charged_until: 0,
        delay: arguments.duration("delay"),
        handed: VecDeque::new(),
        next_event: NEVER,
        next_arrival: NEVER,
        shortest: fastest.duration(standard.overhead),
        fastest,
        peak,
        standard,
    })
}
