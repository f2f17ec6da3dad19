//! Jitter: delay that varies from packet to packet.

mod changes;

pub(crate) use changes::TABLE;
pub use units::plugged::PlugError;

use crate::error::BuildError;
use rand_distr::{Distribution, Normal as Gauss};
use random::Generator;
use units::parameter::{Arguments, Options, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Time};

/// The options of uniform jitter.
#[derive(Debug, Clone, Options)]
struct UniformOptions {
    /// maximum shift
    maximum: Duration,
    /// whether a packet may also be early by as much, but never before its last bit was sent
    #[option(default = false)]
    both_sides: bool,
}

/// The options of normal jitter.
#[derive(Debug, Clone, Options)]
struct NormalOptions {
    /// mean shift on top of the propagation delay
    #[option(default = "0 s")]
    mean: Duration,
    /// standard deviation of the shift
    deviation: Duration,
}

/// The options of spikes of the delay.
#[derive(Debug, Clone, Options)]
struct SpikesOptions {
    /// probability that a packet is late
    #[option(probability)]
    probability: f64,
    /// by how much it is late
    lateness: Duration,
}

/// Determines a shift of the delay for each packet, in the order of transmission.
pub trait Jitter {
    /// The shift of the next packet, whose transmission ends at `done`, from the propagation delay, in
    /// nanoseconds. It may be negative; the link ensures that no packet arrives before its last bit was sent.
    /// Called once for each packet.
    fn shift(&mut self, done: Time) -> i64;
    /// Stops unless what is certain of its state holds. Called after each packet by the fuzzer, and in builds with debug
    /// assertions.
    fn check(&self) {}
}

/// The constructor of a jitter; `None` without jitter.
pub type Build =
    &'static (dyn Fn(&Arguments, Generator) -> Result<Option<Box<dyn Jitter>>, BuildError> + Send + Sync);

/// The jitters.
pub static JITTERS: &[Row<Build>] = &[
    Row { name: "none", about: "every packet has the same delay", parameters: &[], build: &|_, _| Ok(None) },
    Row {
        name: "uniform",
        about: "uniform between zero and a maximum, or on both sides of the propagation delay",
        parameters: UniformOptions::PARAMETERS,
        build: &|arguments, stream| {
            let UniformOptions { maximum, both_sides } = UniformOptions::of(arguments);
            Ok(Some(Box::new(Uniform { maximum: nanos(maximum), both_sides, stream })))
        },
    },
    Row {
        name: "normal",
        about: "normal around a mean; no packet arrives before its last bit was sent",
        parameters: NormalOptions::PARAMETERS,
        build: &|arguments, stream| {
            let NormalOptions { mean, deviation } = NormalOptions::of(arguments);
            let law = Gauss::new(mean.as_nanos() as f64, deviation.as_nanos() as f64);
            let law = law.expect("a duration is finite and not negative, so the distribution exists");
            Ok(Some(Box::new(Normal { law, stream })))
        },
    },
    Row {
        name: "spikes",
        about: "single packets are late by a fixed time; with `reorder` others overtake them",
        parameters: SpikesOptions::PARAMETERS,
        build: &|arguments, stream| {
            let SpikesOptions { probability, lateness } = SpikesOptions::of(arguments);
            Ok(Some(Box::new(Spikes { probability, lateness: nanos(lateness), stream })))
        },
    },
    changes::LIST,
    changes::FILE,
];

/// The jitters added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a jitter from outside of this crate, which scenarios then find by name like any other. It replaces an added jitter
/// of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(JITTERS, row)
}

/// The room of the jitters as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    let about = "delay that changes from packet to packet";
    let room = Room::of("jitters", about, JITTERS, Some(("uniform", "maximum")));
    PLUGGED.extend(room.checked_by(|name, arguments| {
        build(name, arguments, Generator::new(0, "check")).map(|_| ()).map_err(BuildError::of_option)
    }))
}

/// Builds the jitter with this name.
///
/// # Errors
/// If the table has no such row, or the options are invalid.
pub fn build(
    name: &str,
    arguments: &Arguments,
    stream: Generator,
) -> Result<Option<Box<dyn Jitter>>, BuildError> {
    match PLUGGED.find(JITTERS, name) {
        Some(row) => (row.build)(arguments, stream),
        None => Err(BuildError::Unknown { room: "jitters", name: name.to_owned() }),
    }
}

/// The nanoseconds of a shift, limited to 292 years.
fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

struct Uniform {
    maximum: i64,
    both_sides: bool,
    stream: Generator,
}

impl Jitter for Uniform {
    fn shift(&mut self, _done: Time) -> i64 {
        let maximum = self.maximum as u64;
        if self.both_sides {
            // 2 maximum + 1 does not overflow: the maximum is below 2^63.
            return self.stream.below(2 * maximum + 1).wrapping_sub(maximum) as i64;
        }
        self.stream.below(maximum + 1) as i64
    }
    fn check(&self) {
        assert!(self.maximum >= 0, "a maximum shift is the size of one");
    }
}

struct Normal {
    law: Gauss<f64>,
    stream: Generator,
}

impl Jitter for Normal {
    fn shift(&mut self, _done: Time) -> i64 {
        self.law.sample(&mut self.stream).round() as i64
    }
    fn check(&self) {
        let [mean, deviation] = [self.law.mean(), self.law.std_dev()];
        assert!(mean.is_finite() && deviation >= 0.0, "shifts have a mean, and a deviation from it");
    }
}

struct Spikes {
    probability: f64,
    lateness: i64,
    stream: Generator,
}

impl Jitter for Spikes {
    fn shift(&mut self, _done: Time) -> i64 {
        if self.stream.chance(self.probability) { self.lateness } else { 0 }
    }
    fn check(&self) {
        assert!((0.0..=1.0).contains(&self.probability), "the share of late packets is a probability");
        assert!(self.lateness >= 0, "a packet with a spike is late");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn stream() -> Generator {
        Generator::new(3, "test")
    }
    /// Mean, standard deviation, least and largest of many.
    fn moments(jitter: &mut dyn Jitter) -> [f64; 4] {
        let shifts: Vec<f64> = (0..100_000).map(|_| jitter.shift(Time::ZERO) as f64 / MS as f64).collect();
        let n = shifts.len() as f64;
        let mean = shifts.iter().sum::<f64>() / n;
        let variance = shifts.iter().map(|shift| (shift - mean).powi(2)).sum::<f64>() / n;
        let (least, most) = shifts.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        [mean, variance.sqrt(), least, most]
    }
    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 0.05
    }

    #[test]
    fn uniform_to_one_side_and_to_both() {
        let [mean, deviation, least, most] =
            moments(&mut Uniform { maximum: 10 * MS, both_sides: false, stream: stream() });
        assert!(near(mean, 5.0) && near(deviation, 10.0 / 12f64.sqrt()), "{mean} {deviation}");
        assert!((0.0..0.01).contains(&least) && (9.99..=10.0).contains(&most), "{least} {most}");
        let [mean, deviation, least, most] =
            moments(&mut Uniform { maximum: 10 * MS, both_sides: true, stream: stream() });
        assert!(near(mean, 0.0) && near(deviation, 20.0 / 12f64.sqrt()), "{mean} {deviation}");
        assert!((-10.0..-9.99).contains(&least) && (9.99..=10.0).contains(&most), "{least} {most}");
    }

    /// Both ends belong to it.
    #[test]
    fn uniform_reaches_its_ends() {
        for (both_sides, expected) in [(false, vec![0, 1, 2]), (true, vec![-2, -1, 0, 1, 2])] {
            let mut jitter = Uniform { maximum: 2, both_sides, stream: stream() };
            let mut seen: Vec<i64> = (0..200).map(|_| jitter.shift(Time::ZERO)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn normal_and_spikes() {
        let law = Gauss::new(20.0 * MS as f64, 4.0 * MS as f64).unwrap();
        let [mean, deviation, ..] = moments(&mut Normal { law, stream: stream() });
        assert!(near(mean, 20.0) && near(deviation, 4.0), "{mean} {deviation}");
        let [mean, _, least, most] =
            moments(&mut Spikes { probability: 0.1, lateness: 5 * MS, stream: stream() });
        assert!(near(mean, 0.5), "{mean}");
        assert_eq!((least, most), (0.0, 5.0));
    }

    #[test]
    fn the_longest_shifts_do_not_overflow() {
        let mut uniform = Uniform { maximum: nanos(Duration::MAX), both_sides: true, stream: stream() };
        assert!((0..100).map(|_| uniform.shift(Time::ZERO)).any(|shift| shift < 0));
        uniform.both_sides = false;
        assert!((0..100).all(|_| uniform.shift(Time::ZERO) >= 0));
    }
}
