//! On-off traffic: constant intervals while on, nothing while off; both periods are exponential.

use super::{Profile, SizeOptions, Source};
use crate::OptionError;
use random::Generator;
use units::Duration;
use units::parameter::{Options, Row};

/// The options of on-off sources.
#[derive(Debug, Clone, Options)]
struct OnOffOptions {
    #[options]
    each: SizeOptions,
    /// time between packets while it is on
    gap: Duration,
    /// mean duration of an on period
    #[option(default = "1 s")]
    on: Duration,
    /// mean duration of an off period
    #[option(default = "1 s")]
    off: Duration,
}

pub(super) const ROW: Row<Profile> = Row {
    name: "on-off",
    about: "one size at one interval during exponential on periods, between exponential off periods",
    parameters: OnOffOptions::PARAMETERS,
    build: Profile {
        build: |arguments, stream| {
            let OnOffOptions { each, gap, on, off } = OnOffOptions::of(arguments);
            let [gap, on, off] = [gap, on, off].map(|span| span.as_nanos() as f64);
            Box::new(OnOff { gap, size: each.size, means: (on, off), left: 0.0, stream })
        },
        check: |arguments| check(&OnOffOptions::of(arguments)),
        sizes: super::one_size,
    },
};

fn check(options: &OnOffOptions) -> Result<(), OptionError> {
    let OnOffOptions { gap, on, .. } = *options;
    super::above_zero("gap", gap)?;
    super::above_zero("on", on)?;
    // An interval needs gap / on periods on average.
    if gap.as_nanos() > on.as_nanos().saturating_mul(LONGEST) {
        return Err(("on", format!("{on} is too short; expected at least a thousandth of gap")));
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
    stream: Generator,
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
    use units::parameter::Arguments;

    #[test]
    fn off_periods_take_their_share_of_time() {
        let given = [("size", "100"), ("gap", "1 ms"), ("on", "500 ms"), ("off", "1500 ms")];
        let arguments = Arguments::written(ROW.parameters, &given, &[]).unwrap();
        let mut source = (ROW.build.build)(&arguments, Generator::new(1, "on-off"));
        let gaps: Vec<f64> = (0..1_000_000).map(|_| source.next().unwrap().0.as_secs_f64() * 1e3).collect();
        let (total, pauses) = (gaps.iter().sum::<f64>(), gaps.iter().filter(|gap| **gap > 1.0).count());
        // On for a quarter of the time: 4 ms for each. 2000 pauses, of which the standard deviation is 2.2 %.
        assert!((total / 1e6 - 4.0).abs() < 0.3, "{total}");
        assert!((1850..2150).contains(&pauses), "{pauses}");
        assert!(gaps.iter().all(|gap| *gap >= 1.0));
    }

    #[test]
    fn an_interval_spans_at_most_a_thousand_on_periods() {
        let usual = OnOffOptions::written(&[("gap", "1 ms")]).unwrap();
        let ms = Duration::from_millis;
        let checked = |gap, on| {
            check(&OnOffOptions { gap: ms(gap), on: ms(on), ..usual.clone() }).map_err(|(option, _)| option)
        };
        assert_eq!(
            [checked(1000, 1), checked(1001, 1), checked(5, 0), checked(0, 5)],
            [Ok(()), Err("on"), Err("on"), Err("gap")]
        );
    }
}
