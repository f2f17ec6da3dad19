//! How late things happened: a distribution with its maximum.

use crate::{Duration, Histogram};

/// A distribution of delays, in constant memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lateness {
    delays: Histogram,
}

impl Lateness {
    /// Adds a delay.
    pub fn note(&mut self, late: Duration) {
        self.delays.add(late);
    }
    /// The number of delays.
    pub fn count(&self) -> u64 {
        self.delays.count()
    }
    /// The largest delay; zero if there is none.
    pub fn max(&self) -> Duration {
        self.delays.longest().unwrap_or(Duration::ZERO)
    }
    /// The delay that this share, from 0 to 1, does not exceed, within 3.2 % or, below 8 us, within 8 us; zero if there is none.
    pub fn quantile(&self, share: f64) -> Duration {
        self.delays.quantile(share).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_close_and_the_maximum_is_exact() {
        let mut lateness = Lateness::default();
        assert_eq!(
            (lateness.quantile(0.5), lateness.max(), lateness.count()),
            (Duration::ZERO, Duration::ZERO, 0)
        );
        for us in 1..=1000 {
            lateness.note(Duration::from_micros(us));
        }
        for share in [0.1, 0.5, 0.99, 1.0] {
            let (found, exact) = (lateness.quantile(share).as_nanos() as f64, share * 1e6);
            assert!((found / exact - 1.0).abs() < 0.017, "{share}: {found}");
        }
        assert_eq!(lateness.max(), Duration::from_millis(1));
        lateness.note(Duration::from_secs(3600));
        assert!(lateness.quantile(1.0) > Duration::from_secs(100));
        lateness.note(Duration::ZERO);
        assert_eq!((lateness.count(), lateness.max()), (1002, Duration::from_secs(3600)));
    }

    /// The lowest bucket is wide.
    #[test]
    fn no_quantile_exceeds_the_maximum() {
        let mut lateness = Lateness::default();
        lateness.note(Duration::from_nanos(300));
        assert_eq!(lateness.quantile(0.5), Duration::from_nanos(300));
    }
}
