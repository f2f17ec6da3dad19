//! On-off traffic: constant intervals while on, nothing while off; both periods are exponential.

use super::{Profile, Source};
use crate::OptionError;
use random::Stream;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Row};

pub(super) const ROW: Row<Profile> = Row {
    name: "on-off",
    about: "one size at one interval during exponential on periods, between exponential off periods",
    parameters: &[
        super::SIZE,
        Parameter {
            name: "gap",
            kind: Kind::Duration,
            default: Default::Required,
            about: "time between packets while it is on",
        },
        Parameter {
            name: "on",
            kind: Kind::Duration,
            default: Default::Is("\"1 s\""),
            about: "mean duration of an on period",
        },
        Parameter {
            name: "off",
            kind: Kind::Duration,
            default: Default::Is("\"1 s\""),
            about: "mean duration of an off period",
        },
    ],
    build: Profile {
        build: |arguments, stream| {
            let ns = |name| arguments.duration(name).as_nanos() as f64;
            let (gap, size) = (ns("gap"), arguments.integer("size"));
            Box::new(OnOff { gap, size, means: (ns("on"), ns("off")), left: 0.0, stream })
        },
        check,
        sizes: super::one_size,
    },
};

fn check(arguments: &Arguments) -> Result<(), OptionError> {
    super::above_zero("gap", arguments.duration("gap"))?;
    super::above_zero("on", arguments.duration("on"))?;
    // An interval needs gap / on periods on average.
    if arguments.duration("gap").as_nanos() > arguments.duration("on").as_nanos().saturating_mul(LONGEST) {
        let problem =
            format!("{} is too short; expected at least a thousandth of gap", arguments.duration("on"));
        return Err(("on", problem));
    }
    Ok(())
}

/// The maximum interval as a multiple of the mean on period.
const LONGEST: u64 = 1000;

/// Times in nanoseconds.
struct OnOff {
    gap: f64,
    size: u64,
    means: (f64, f64),
    /// The rest of the current on period.
    left: f64,
    stream: Stream,
}

impl Source for OnOff {
    fn next(&mut self) -> Option<(Duration, u64)> {
        let mut gap = self.gap;
        // The clock of intervals stops during off periods: on average `on / gap` intervals fall into one on period.
        while self.left < self.gap {
            gap += self.stream.exponential() * self.means.1;
            self.left += self.stream.exponential() * self.means.0;
        }
        self.left -= self.gap;
        Some((Duration::from_nanos(gap.round() as u64), self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::parameter::Value;

    #[test]
    fn off_periods_take_their_share_of_time() {
        let ms = |n| Value::Duration(Duration::from_millis(n));
        let options = vec![("size", Value::Integer(100)), ("gap", ms(1)), ("on", ms(500)), ("off", ms(1500))];
        let mut source = (ROW.build.build)(&Arguments(options), Stream::new(1, "on-off"));
        let gaps: Vec<f64> = (0..1_000_000).map(|_| source.next().unwrap().0.as_secs_f64() * 1e3).collect();
        let (total, pauses) = (gaps.iter().sum::<f64>(), gaps.iter().filter(|gap| **gap > 1.0).count());
        // On for a quarter of the time: 4 ms for each. 2000 pauses, of which the standard deviation is 2.2 %.
        assert!((total / 1e6 - 4.0).abs() < 0.3, "{total}");
        assert!((1850..2150).contains(&pauses), "{pauses}");
        assert!(gaps.iter().all(|gap| *gap >= 1.0));
    }

    #[test]
    fn an_interval_spans_at_most_a_thousand_on_periods() {
        let ms = |n| Value::Duration(Duration::from_millis(n));
        let checked =
            |gap, on| check(&Arguments(vec![("gap", ms(gap)), ("on", ms(on))])).map_err(|(option, _)| option);
        assert_eq!(
            [checked(1000, 1), checked(1001, 1), checked(5, 0), checked(0, 5)],
            [Ok(()), Err("on"), Err("on"), Err("gap")]
        );
    }
}
