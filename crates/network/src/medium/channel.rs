//! Channels: the signal-to-noise ratio of a terminal of a cell or a WLAN over time.

use crate::error::BuildError;
use radio::channel::{
    Between, Channel, Fading, Link, Motion, PathLoss, Series, Shadowing, doppler_hz, noise_dbm,
};
use random::Generator;
use units::parameter::{Arguments, Component, File, Options, Room, Row};

/// The options of a constant channel.
#[derive(Debug, Clone, Options)]
struct ConstantOptions {
    /// signal-to-noise-and-interference ratio in dB
    #[option(default = 20.0, within = -30.0..=60.0)]
    sinr: f64,
}

/// The options of a channel from a file.
#[derive(Debug, Clone, Options)]
struct SeriesOptions {
    /// lines of a time in seconds and a signal-to-noise ratio in dB, or one for each site of the cell
    #[option(example = "0 20\n1.5 12.5\n")]
    file: File,
    /// whether to interpolate between lines, instead of holding each until the next
    #[option(default = false)]
    linear: bool,
}

/// The options of a drawn channel.
#[derive(Debug, Clone, Options)]
struct DrawnOptions {
    /// metres from the station to the nearest point of the line
    #[option(default = 200.0, within = 1.0..=100_000.0)]
    distance: f64,
    /// metres along the line at the start of the run, from that point
    #[option(default = 0.0, within = -1e6..=1e6)]
    start: f64,
    /// metres per second along the line
    #[option(default = 0.0, within = -300.0..=300.0)]
    speed: f64,
    /// transmitted power with the gains of both antennas in dBm, in both directions
    #[option(default = 46.0, within = -50.0..=100.0)]
    power: f64,
    /// noise figure of the receiver in dB, with what interference adds
    #[option(default = 9.0, within = 0.0..=60.0)]
    noise_figure: f64,
    /// carrier frequency in GHz
    #[option(default = 2.0, within = 1e-3..=1000.0)]
    carrier: f64,
    /// exponent of the path loss beyond 1 m; up to 1 m the loss is that of free space
    #[option(default = 3.5, within = 1.0..=10.0)]
    exponent: f64,
    /// standard deviation of log-normal shadowing in dB
    #[option(default = 0.0, within = 0.0..=40.0)]
    shadowing: f64,
    /// metres over which the correlation of the shadowing falls to 1/e
    #[option(default = 50.0, within = 0.1..=100_000.0)]
    decorrelation: f64,
    /// whether the signal has Rayleigh fading, with Jakes' spectrum over time
    #[option(default = true)]
    fading: bool,
    /// maximum Doppler shift in Hz, caused by what moves around a terminal at rest; by default it follows from
    /// the terminal's speed
    #[option(within = 0.0..=100_000.0)]
    doppler: Option<f64>,
}

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
pub(super) struct ChannelInputs<'a> {
    /// The stream of a purpose.
    pub stream: &'a dyn Fn(&str) -> Generator,
    /// The width of the carrier in Hz.
    pub bandwidth_hz: u64,
    pub site: Site,
}

/// The constructor of a row.
type Build = fn(&Arguments, &ChannelInputs<'_>) -> Result<Channel, BuildError>;

static CHANNELS: &[Row<Build>] = &[
    Row {
        name: "constant",
        about: "a constant signal-to-noise ratio",
        parameters: ConstantOptions::PARAMETERS,
        build: |arguments, _| Ok(Channel::constant(ConstantOptions::of(arguments).sinr)),
    },
    Row {
        name: "series",
        about: "signal-to-noise ratios over time from a file",
        parameters: SeriesOptions::PARAMETERS,
        build: |arguments, setup| {
            let SeriesOptions { file, linear } = SeriesOptions::of(arguments);
            let between = if linear { Between::Linear } else { Between::Held };
            match Series::parse(&file.text, between, setup.site.number, setup.site.count) {
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
        parameters: DrawnOptions::PARAMETERS,
        build: drawn,
    },
];

fn drawn(arguments: &Arguments, setup: &ChannelInputs<'_>) -> Result<Channel, BuildError> {
    let ChannelInputs { bandwidth_hz, site, .. } = *setup;
    // A terminal has a stream of its own for each site.
    let stream = |part: &str| match site.number {
        0 => (setup.stream)(part),
        number => (setup.stream)(&format!("{part} {number}")),
    };
    let options = DrawnOptions::of(arguments);
    let carrier_hz = options.carrier * 1e9;
    let doppler = options.doppler.unwrap_or_else(|| doppler_hz(options.speed.abs(), carrier_hz));
    let sigma = options.shadowing;
    Ok(Channel::link(Link {
        power_dbm: options.power,
        noise_dbm: noise_dbm(bandwidth_hz, options.noise_figure),
        motion: Motion {
            start_m: options.start - site.at_m,
            offset_m: options.distance,
            speed_m_s: options.speed,
        },
        path_loss: PathLoss::from_carrier(carrier_hz, 1.0, options.exponent),
        shadowing: (sigma > 0.0).then(|| Shadowing::new(sigma, options.decorrelation, stream("shadowing"))),
        fading: options.fading.then(|| Fading::new(doppler, stream("fading"))),
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
    let setup =
        ChannelInputs { stream: &|purpose| Generator::new(0, purpose), bandwidth_hz: 1, site: Site::ONLY };
    match build(channel.name, &channel.arguments, &setup) {
        Ok(Channel::Constant(sinr_db)) => Some(sinr_db),
        _ => None,
    }
}

pub(super) fn build(
    name: &str,
    arguments: &Arguments,
    setup: &ChannelInputs<'_>,
) -> Result<Channel, BuildError> {
    match CHANNELS.iter().find(|row| row.name == name) {
        Some(row) => (row.build)(arguments, setup),
        None => Err(BuildError::Unknown { room: "channels", name: name.to_owned() }),
    }
}
