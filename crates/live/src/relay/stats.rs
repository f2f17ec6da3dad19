//! The counters of a relay, and its lateness.

use network::CarrierStats;
use units::Duration;

/// The ratio of successive bounds: a quantile is accurate within 10 %.
const STEP: f64 = 1.1;
/// The first bound: 1 us.
const FIRST_NS: f64 = 1000.0;
/// The last bound is above 10 s.
const BOUNDS: usize = 180;

/// A distribution of durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Lateness {
    counts: [u64; BOUNDS],
    largest: Duration,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: [0; BOUNDS], largest: Duration::ZERO }
    }
}

impl Lateness {
    pub(crate) fn note(&mut self, late: Duration) {
        let steps = (late.as_nanos() as f64 / FIRST_NS).max(1.0).ln() / STEP.ln();
        self.counts[(steps.ceil() as usize).min(BOUNDS - 1)] += 1;
        self.largest = self.largest.max(late);
    }
    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
    /// The largest duration; zero if there is none.
    pub fn max(&self) -> Duration {
        self.largest
    }
    /// The duration that this share, from 0 to 1, does not exceed, at most 10 % too large; zero if there is
    /// none.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (steps, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                let bound = Duration::from_nanos((FIRST_NS * STEP.powi(steps as i32)) as u64);
                return bound.min(self.largest);
            }
        }
        Duration::ZERO
    }
}

/// The counters of a relay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelayStats {
    /// Received datagrams of clients.
    pub from_clients: u64,
    /// Datagrams of servers, received at the current address of the client.
    pub from_servers: u64,
    /// Datagrams sent to servers.
    pub to_servers: u64,
    /// Datagrams sent to clients.
    pub to_clients: u64,
    /// Datagrams that arrived during a blackout.
    pub blacked_out: u64,
    /// Datagrams of servers to a former address of the client, and datagrams of unknown origin.
    pub astray: u64,
    /// Datagrams that the system did not accept: too large for the interface, or without memory.
    pub not_sent: u64,
    /// Distinct addresses of clients.
    pub clients: u64,
    /// Completed moves.
    pub rebinds: u64,
    /// The delay between the due time of a datagram and its sending.
    pub lateness: Lateness,
    /// The time that a datagram waited in the system before the relay read it. The delay of the path starts at
    /// its reception.
    pub waiting: Lateness,
    /// The directions of the links by name, with their counters.
    pub links: Vec<(String, CarrierStats)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_within_a_step() {
        let mut lateness = Lateness::default();
        assert_eq!((lateness.quantile(0.5), lateness.count()), (Duration::ZERO, 0));
        for us in 1..=1000 {
            lateness.note(Duration::from_micros(us));
        }
        for share in [0.01, 0.5, 0.99, 1.0] {
            let (found, exact) = (lateness.quantile(share).as_nanos() as f64, share * 1e6);
            assert!(found >= exact * 0.999 && found <= exact * STEP * 1.001, "{share}: {found}");
        }
        assert_eq!(lateness.max(), Duration::from_millis(1));
        lateness.note(Duration::from_secs(3600));
        assert!(lateness.quantile(1.0) > Duration::from_secs(10));
        lateness.note(Duration::ZERO);
        assert_eq!(lateness.count(), 1002);
    }
}
