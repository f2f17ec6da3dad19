//! The limit of a queue on its link, in packets and bytes.

use super::{LinkProperties, MAX_PACKETS};
use crate::count::Count;
use units::Duration;
use units::parameter::Limit;

/// The maximum contents of a queue. Both bounds apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// In packets.
    pub packets: u64,
    /// In bytes on the wire.
    pub bytes: u64,
}

impl Bound {
    /// The bound for a limit on a link. Times and BDPs are converted at the mean rate, and are at least one
    /// packet of the MTU, since a queue without room is written as "0 packets". On a link without a rate
    /// nothing waits, and they are no bound.
    pub fn new(limit: Limit, setup: LinkProperties<'_>) -> Bound {
        let at_rate = |span: Duration| {
            setup.rate.map_or(u64::MAX, |rate| rate.bytes_in(span).as_bytes().max(u64::from(setup.mtu)))
        };
        let (packets, bytes) = match limit {
            Limit::Unlimited => (u64::MAX, u64::MAX),
            Limit::Packets(packets) => (packets, u64::MAX),
            Limit::Bytes(bytes) => (u64::MAX, bytes.as_bytes()),
            Limit::Time(span) => (u64::MAX, at_rate(span)),
            Limit::BdpThousandths(share) => (u64::MAX, at_rate(setup.round_trip.scale(share, 1000))),
        };
        Bound { packets, bytes }
    }

    /// Checks that a whole packet of `size` bytes fits beside the waiting ones.
    ///
    /// # Errors
    /// [`Full::Limit`], or [`Full::Memory`] if only [`MAX_PACKETS`] is exceeded.
    #[inline]
    pub fn admits(self, waiting: Count, size: u32) -> Result<(), Full> {
        if waiting.packets >= self.packets || waiting.bytes.saturating_add(u64::from(size)) > self.bytes {
            return Err(Full::Limit);
        }
        if waiting.packets >= MAX_PACKETS { Err(Full::Memory) } else { Ok(()) }
    }
}

impl Bound {
    /// Stops unless the waiting packets, which were admitted one by one, are within the bound.
    pub(super) fn check(self, waiting: Count) {
        assert!(waiting.packets <= self.packets, "no more packets wait than the limit allows");
        assert!(waiting.bytes <= self.bytes, "no more bytes wait than the limit allows");
        assert!(waiting.packets <= MAX_PACKETS, "no queue is longer than the maximum of any queue");
    }
}

/// The reason why a packet does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The limit of the queue is reached.
    Limit,
    /// The maximum of any queue is reached.
    Memory,
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn bound(limit: &str, rate: Option<&str>) -> Bound {
        let setup = LinkProperties {
            rate: rate.map(|rate| rate.parse::<Rate>().unwrap()),
            round_trip: Duration::from_millis(20),
            mtu: 1500,
            flows: &[],
        };
        Bound::new(limit.parse().unwrap(), setup)
    }

    #[test]
    fn limits_at_100_mbit_per_s_and_20_ms() {
        let rate = Some("100 Mbit/s");
        let bytes = |limit| bound(limit, rate).bytes;
        assert_eq!(bytes("1 BDP"), 250_000);
        assert_eq!(bytes("0.25 BDP"), 62_500);
        assert_eq!(bytes("5 ms"), 62_500);
        assert_eq!(bytes("64 kB"), 64_000);
        assert_eq!(bytes("0.001 BDP"), 1500, "never below one packet");
        assert_eq!(bound("7 packets", rate), Bound { packets: 7, bytes: u64::MAX });
        assert_eq!(bound("1 BDP", None).bytes, u64::MAX);
    }

    #[test]
    fn a_packet_fits_as_a_whole_or_not_at_all() {
        let there = |packets, bytes| Count { packets, bytes };
        let three = bound("3000 B", None);
        assert_eq!(three.admits(there(1, 1500), 1500), Ok(()));
        assert_eq!(three.admits(there(1, 1501), 1500), Err(Full::Limit));
        assert_eq!(bound("2 packets", None).admits(there(2, 0), 1), Err(Full::Limit));
        let unlimited = bound("unlimited", None);
        assert_eq!(unlimited.admits(there(MAX_PACKETS - 1, u64::MAX), 1500), Ok(()));
        assert_eq!(unlimited.admits(there(MAX_PACKETS, 0), 1), Err(Full::Memory));
    }
}
