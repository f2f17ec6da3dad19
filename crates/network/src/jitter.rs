//! Jitter: delay that changes from packet to packet.

use random::Stream;
use rand_distr::{Distribution, Normal as Gauss};
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row};

/// Gives each packet a delay of its own, in the order of transmission.
pub trait Jitter {
    /// The delay of the next packet, on top of the propagation delay.
    fn extra(&mut self) -> Duration;
}

/// How a jitter is made; `None`: there is none.
pub type Build = fn(&Arguments, Stream) -> Option<Box<dyn Jitter>>;

/// The jitters.
pub static JITTERS: &[Row<Build>] = &[
    Row { name: "none", about: "no jitter", parameters: &[], build: |_, _| None },
    Row {
        name: "uniform",
        about: "uniform between zero and a maximum",
        parameters: &[Parameter {
            name: "maximum",
            kind: Kind::Duration,
            default: Default::Required,
            about: "the largest extra delay",
        }],
        build: |arguments, stream| Some(Box::new(Uniform { maximum: arguments.duration("maximum"), stream })),
    },
    Row {
        name: "normal",
        about: "normal around a mean, cut off at zero",
        parameters: &[
            Parameter {
                name: "mean",
                kind: Kind::Duration,
                default: Default::Required,
                about: "mean extra delay, before the cut at zero",
            },
            Parameter {
                name: "deviation",
                kind: Kind::Duration,
                default: Default::Required,
                about: "standard deviation, before the cut at zero",
            },
        ],
        build: |arguments, stream| {
            let (mean, deviation) = (arguments.duration("mean"), arguments.duration("deviation"));
            // The deviation is finite and not negative, so there is such a distribution.
            let law = Gauss::new(mean.as_secs_f64(), deviation.as_secs_f64()).ok()?;
            Some(Box::new(Normal { law, stream }))
        },
    },
];

/// The room of the jitters as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("jitters", "delay that changes from packet to packet", JITTERS, Some(("uniform", "maximum")))
}

/// Makes the jitter of this name.
///
/// # Errors
/// If the table has no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Stream) -> Result<Option<Box<dyn Jitter>>, String> {
    let row = JITTERS.iter().find(|row| row.name == name).ok_or_else(|| format!("no jitter {name:?}"))?;
    Ok((row.build)(arguments, stream))
}

struct Uniform {
    maximum: Duration,
    stream: Stream,
}

impl Jitter for Uniform {
    fn extra(&mut self) -> Duration {
        Duration::from_nanos(self.stream.below(self.maximum.as_nanos().saturating_add(1)))
    }
}

struct Normal {
    law: Gauss<f64>,
    stream: Stream,
}

impl Jitter for Normal {
    fn extra(&mut self) -> Duration {
        Duration::from_secs_f64(self.law.sample(&mut self.stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let stream = |name| Stream::new(3, name);
        let mut uniform = Uniform { maximum: Duration::from_millis(10), stream: stream("u") };
        let law = Gauss::new(0.02, 0.004).unwrap();
        let mut normal = Normal { law, stream: stream("n") };
        let n = 100_000;
        let mean = |jitter: &mut dyn Jitter| (0..n).map(|_| jitter.extra().as_secs_f64()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut uniform) / 0.005 - 1.0).abs() < 0.01);
        assert!((mean(&mut normal) / 0.02 - 1.0).abs() < 0.01);
    }
}
