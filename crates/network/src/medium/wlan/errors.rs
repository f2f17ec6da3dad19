//! Frame errors: which frames fail on an otherwise free medium.

use super::standard::Modulation;
use crate::error::BuildError;
use radio::channel::Channel;
use radio::wifi;
use random::Generator;
use units::parameter::{Arguments, Options, Room, Row};
use units::{Rate, Time};

/// The options of errors with one probability for each rate.
#[derive(Debug, Clone, Options)]
struct TargetOptions {
    /// probability that a frame fails
    #[option(default = 0.1, probability)]
    per: f64,
    /// different probabilities at some rates
    #[option(default = [], probability)]
    by_rate: Vec<(Rate, f64)>,
}

/// How frames fail.
#[derive(Debug, Clone)]
pub(super) enum FrameErrors {
    None,
    /// With one probability, and with others at some rates.
    Target(f64, Vec<(Rate, f64)>),
    /// By the signal-to-noise ratio, the rate and the length.
    Curve,
}

/// The constructor of a row.
type Build = fn(&Arguments) -> FrameErrors;

static FRAME_ERRORS: &[Row<Build>] = &[
    Row { name: "none", about: "every frame is received", parameters: &[], build: |_| FrameErrors::None },
    Row {
        name: "target",
        about: "each frame fails with the same probability, whatever the channel",
        parameters: TargetOptions::PARAMETERS,
        build: |arguments| {
            let TargetOptions { per, by_rate } = TargetOptions::of(arguments);
            FrameErrors::Target(per, by_rate)
        },
    },
    Row {
        name: "curve",
        about: "by the signal-to-noise ratio of the channel, for the rate and the length of the frame",
        parameters: &[],
        build: |_| FrameErrors::Curve,
    },
];

/// The room of frame errors.
pub(super) fn room() -> Room {
    let about = "which frames of a WLAN fail on a medium without collisions";
    Room::of("frame_errors", about, FRAME_ERRORS, Some(("target", "per")))
}

pub(super) fn build(name: &str, arguments: &Arguments) -> Result<FrameErrors, BuildError> {
    match FRAME_ERRORS.iter().find(|row| row.name == name) {
        Some(row) => Ok((row.build)(arguments)),
        None => Err(BuildError::Unknown { room: "frame_errors", name: name.to_owned() }),
    }
}

impl FrameErrors {
    /// The probability that a frame of these bytes fails at a time.
    pub(super) fn probability(
        &self,
        at: Time,
        modulation: Modulation,
        bytes: u32,
        channel: &mut Channel,
    ) -> f64 {
        match self {
            FrameErrors::None => 0.0,
            FrameErrors::Target(probability, by_rate) => {
                let rate = modulation.rate();
                by_rate.iter().find(|(other, _)| *other == rate).map_or(*probability, |(_, other)| *other)
            }
            FrameErrors::Curve => {
                let snr_db = channel.sinr_db(at);
                wifi::packet_error_rate(modulation.on_air(), bytes, snr_db)
            }
        }
    }
}

/// The fate of each frame of a transmission, drawn from the stream of the link's terminal.
pub(super) struct Link {
    pub channel: Channel,
    pub errors: FrameErrors,
    /// The streams of frames to the terminal, and from it.
    pub streams: [Generator; 2],
}

impl Link {
    /// Whether a frame fails. Each takes one draw.
    pub(super) fn fails(&mut self, at: Time, up: bool, modulation: Modulation, bytes: u32) -> bool {
        let draw = self.streams[usize::from(up)].unit();
        draw < self.errors.probability(at, modulation, bytes, &mut self.channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_rate_are_those_of_the_rate() {
        let modulation = |bits| Modulation::Ofdm { bits, extension: 0 };
        // 24 bits of a symbol are 6 Mbit/s.
        let errors = FrameErrors::Target(0.1, vec![(Rate::from_bits_per_sec(6_000_000), 0.4)]);
        let of = |bits| errors.probability(Time::ZERO, modulation(bits), 1500, &mut Channel::constant(20.0));
        assert_eq!([of(24), of(36), of(216)], [0.4, 0.1, 0.1]);
    }
}
