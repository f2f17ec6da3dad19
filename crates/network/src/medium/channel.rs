//! Channels: the signal-to-noise ratio of a terminal of a cell or a WLAN over time.

use crate::error::BuildError;
use radio::channel::{
    Between, Channel, Fading, Link, Motion, PathLoss, Series, Shadowing, doppler_hz, noise_dbm,
};
use random::Stream;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Room, Row};

/// A base station among those that may serve a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    /// Its number, of `count`.
    pub number: usize,
    pub count: usize,
    /// Where it stands along the line on which terminals move, in metres.
    pub at_m: f64,
}

impl Site {
    /// The only one.
    pub(super) const ONLY: Site = Site { number: 0, count: 1, at_m: 0.0 };
}

/// The inputs for building a channel.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    /// The stream of a purpose.
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// The width of the carrier in Hz.
    pub bandwidth_hz: u64,
    pub site: Site,
}

/// The constructor of a row.
type Build = fn(&Arguments, &Setup<'_>) -> Result<Channel, BuildError>;

static CHANNELS: &[Row<Build>] = &[
    Row {
        name: "constant",
        about: "a constant signal-to-noise ratio",
        parameters: &[Parameter {
            name: "sinr",
            kind: Kind::Number(-30.0, 60.0),
            default: Default::Is("20.0"),
            about: "signal-to-noise-and-interference ratio in dB",
        }],
        build: |arguments, _| Ok(Channel::constant(arguments.number("sinr"))),
    },
    Row {
        name: "series",
        about: "signal-to-noise ratios over time from a file",
        parameters: &[
            Parameter {
                name: "file",
                kind: Kind::File("0 20\n1.5 12.5\n"),
                default: Default::Required,
                about: "lines of a time in seconds and a signal-to-noise ratio in dB, or one for each site of the cell",
            },
            Parameter {
                name: "linear",
                kind: Kind::Flag,
                default: Default::Is("false"),
                about: "whether to interpolate between lines, instead of holding each until the next",
            },
        ],
        build: |arguments, setup| {
            let file = arguments.file("file");
            let between = if arguments.flag("linear") { Between::Linear } else { Between::Held };
            match Series::parse(&file.text, between, (setup.site.number, setup.site.count)) {
                Ok(series) => Ok(Channel::series(series)),
                Err(error) => {
                    Err(BuildError::Option { option: "channel", problem: format!("{}: {error}", file.path) })
                }
            }
        },
    },
    Row {
        name: "drawn",
        about: "from power, distance, shadowing and fading of a terminal that moves along a line past its station",
        parameters: &[
            Parameter {
                name: "distance",
                kind: Kind::Number(1.0, 100_000.0),
                default: Default::Is("200.0"),
                about: "metres from the station to the nearest point of the line",
            },
            Parameter {
                name: "start",
                kind: Kind::Number(-1e6, 1e6),
                default: Default::Is("0.0"),
                about: "metres along the line at the start of the run, from that point",
            },
            Parameter {
                name: "speed",
                kind: Kind::Number(-300.0, 300.0),
                default: Default::Is("0.0"),
                about: "metres per second along the line",
            },
            Parameter {
                name: "power",
                kind: Kind::Number(-50.0, 100.0),
                default: Default::Is("46.0"),
                about: "transmitted power with the gains of both antennas in dBm, in both directions",
            },
            Parameter {
                name: "noise_figure",
                kind: Kind::Number(0.0, 60.0),
                default: Default::Is("9.0"),
                about: "noise figure of the receiver in dB, with what interference adds",
            },
            Parameter {
                name: "carrier",
                kind: Kind::Number(1e-3, 1000.0),
                default: Default::Is("2.0"),
                about: "carrier frequency in GHz",
            },
            Parameter {
                name: "exponent",
                kind: Kind::Number(1.0, 10.0),
                default: Default::Is("3.5"),
                about: "exponent of the path loss beyond 1 m; up to 1 m the loss is that of free space",
            },
            Parameter {
                name: "shadowing",
                kind: Kind::Number(0.0, 40.0),
                default: Default::Is("0.0"),
                about: "standard deviation of log-normal shadowing in dB",
            },
            Parameter {
                name: "decorrelation",
                kind: Kind::Number(0.1, 100_000.0),
                default: Default::Is("50.0"),
                about: "metres over which the correlation of the shadowing falls to 1/e",
            },
            Parameter {
                name: "fading",
                kind: Kind::Flag,
                default: Default::Is("true"),
                about: "whether the signal has Rayleigh fading, with Jakes' spectrum over time",
            },
            Parameter {
                name: "doppler",
                kind: Kind::Number(0.0, 100_000.0),
                default: Default::Absent,
                about: "maximum Doppler shift in Hz, caused by what moves around a terminal at rest; by \
                        default it follows from the terminal's speed",
            },
        ],
        build: drawn,
    },
];

fn drawn(arguments: &Arguments, setup: &Setup<'_>) -> Result<Channel, BuildError> {
    let Setup { bandwidth_hz, site, .. } = *setup;
    // A terminal has a stream of its own for each site.
    let stream = |part: &str| match site.number {
        0 => (setup.stream)(part),
        number => (setup.stream)(&format!("{part} {number}")),
    };
    let number = |name| arguments.number(name);
    let carrier_hz = number("carrier") * 1e9;
    let doppler = if arguments.has("doppler") {
        number("doppler")
    } else {
        doppler_hz(number("speed").abs(), carrier_hz)
    };
    let sigma = number("shadowing");
    Ok(Channel::link(Link {
        power_dbm: number("power"),
        noise_dbm: noise_dbm(bandwidth_hz, number("noise_figure")),
        motion: Motion {
            start_m: number("start") - site.at_m,
            offset_m: number("distance"),
            speed_m_s: number("speed"),
        },
        path_loss: PathLoss::from_carrier(carrier_hz, 1.0, number("exponent")),
        shadowing: (sigma > 0.0).then(|| Shadowing::new(sigma, number("decorrelation"), stream("shadowing"))),
        fading: arguments.flag("fading").then(|| Fading::new(doppler, stream("fading"))),
    }))
}

/// The room of the channels.
pub(super) fn room() -> Room {
    Room::of(
        "channels",
        "signal-to-noise ratio of a terminal over time",
        CHANNELS,
        Some(("constant", "sinr")),
    )
}

/// The signal-to-noise ratio in dB of a channel that does not change.
pub(super) fn constant(channel: &Component) -> Option<f64> {
    // What it would draw does not matter.
    let setup = Setup { stream: &|purpose| Stream::new(0, purpose), bandwidth_hz: 1, site: Site::ONLY };
    match build(channel.name, &channel.arguments, &setup) {
        Ok(Channel::Constant(sinr_db)) => Some(sinr_db),
        _ => None,
    }
}

pub(super) fn build(name: &str, arguments: &Arguments, setup: &Setup<'_>) -> Result<Channel, BuildError> {
    match CHANNELS.iter().find(|row| row.name == name) {
        Some(row) => (row.build)(arguments, setup),
        None => Err(BuildError::Unknown { room: "channels", name: name.to_owned() }),
    }
}
