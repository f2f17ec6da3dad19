//! What a connection counts, always on and cheap.

use crate::datagrams::DatagramStats;
use crate::stream::StreamStats;
use units::Duration;

/// The counters of one connection end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// UDP datagrams sent.
    pub datagrams_sent: u64,
    /// UDP payload bytes sent.
    pub bytes_sent: u64,
    /// UDP datagrams received.
    pub datagrams_received: u64,
    /// UDP payload bytes received.
    pub bytes_received: u64,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// QUIC packets sent that carried data of streams.
    pub data_packets_sent: u64,
    /// QUIC packets sent that elicit no acknowledgement.
    pub ack_only_packets_sent: u64,
    /// QUIC packets that arrived, opened and were processed.
    pub packets_received: u64,
    /// QUIC packets that arrived and were dropped.
    pub packets_dropped: u64,
    /// QUIC packets declared lost.
    pub packets_declared_lost: u64,
    /// QUIC packets that were acknowledged after having been declared lost.
    pub packets_spuriously_lost: u64,
    /// Updates of the 1-RTT keys, by either side (RFC 9001 section 6).
    pub key_updates: u64,
    /// QUIC packets sent with ECT(0), or with ECT(1) where the controller is one for L4S.
    pub ect_packets_sent: u64,
    /// Packets of those that the peer has told to have come with CE (RFC 9000 section 13.4.1).
    pub ce_packets_reported: u64,
    /// Paths on which ECN failed its validation (RFC 9000 section 13.4.2).
    pub ecn_failures: u64,
    /// Probes of the size of datagrams sent (RFC 9000 section 14.4).
    pub mtu_probes_sent: u64,
    /// Those of them declared lost.
    pub mtu_probes_lost: u64,
    /// Falls back to 1200 bytes because larger datagrams do not pass any more (RFC 8899 section 4.3).
    pub mtu_black_holes: u64,
    /// Moves of the connection to another path, back to a former one included (RFC 9000 section 9).
    pub path_changes: u64,
    /// Validations of paths that failed (RFC 9000 section 8.2.4).
    pub path_validations_failed: u64,
    /// PATH_CHALLENGE frames sent.
    pub path_challenges_sent: u64,
    /// Probe timeouts that fired.
    pub probe_timeouts: u64,
    /// The RTT samples.
    pub rtt: RttHistogram,
    /// The bytes of streams.
    pub streams: StreamStats,
    /// DATAGRAM frames (RFC 9221), as opposed to UDP datagrams.
    pub datagram_frames: DatagramStats,
}

/// Each power of two is cut into so many buckets: a quantile is right within 1.6 %.
const STEPS: usize = 32;
/// Samples below this are exact enough in one bucket: 2^13 ns = 8 us.
const LOWEST: u32 = 13;
const OCTAVES: usize = 26;

/// The distribution of the RTT samples of a connection, in constant memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RttHistogram {
    /// Made at the first sample.
    buckets: Vec<u32>,
    count: u64,
    sum_ns: u128,
}

impl RttHistogram {
    /// Takes a sample in.
    #[inline]
    pub fn add(&mut self, sample: Duration) {
        if self.buckets.is_empty() {
            self.buckets = vec![0; STEPS * OCTAVES];
        }
        self.count += 1;
        self.sum_ns += u128::from(sample.as_nanos());
        let bucket = &mut self.buckets[Self::bucket(sample.as_nanos())];
        *bucket = bucket.saturating_add(1);
    }
    fn bucket(ns: u64) -> usize {
        let octave = (63 - (ns | 1).leading_zeros()).max(LOWEST);
        let step = (ns >> (octave - 5)) as usize & (STEPS - 1);
        let step = if ns < 1 << LOWEST { 0 } else { step };
        ((octave - LOWEST) as usize * STEPS + step).min(STEPS * OCTAVES - 1)
    }
    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// The mean of the samples; `None` without any.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos((self.sum_ns / u128::from(self.count)) as u64))
    }
    /// The value that the share `q` of the samples does not exceed (within 1.6 %); `None` without any.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((self.count as f64 * q).ceil() as u64).clamp(1, self.count.max(1));
        let mut before = 0;
        let at = self.buckets.iter().position(|count| {
            before += u64::from(*count);
            before >= rank
        })?;
        let inside = u64::from(self.buckets[at]);
        before -= inside;
        let octave = LOWEST + (at / STEPS) as u32;
        let (step, width) = ((at % STEPS) as u64, 1u64 << (octave - 5));
        // The samples of a bucket are taken to be spread evenly over it.
        let within =
            (u128::from(width) * u128::from(2 * (rank - before) - 1) / u128::from(2 * inside)) as u64;
        Some(Duration::from_nanos((1 << octave) + step * width + within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_is_exact_and_quantiles_are_close() {
        let mut histogram = RttHistogram::default();
        assert_eq!((histogram.mean(), histogram.quantile(0.95)), (None, None));
        for us in 1..=100_000 {
            histogram.add(Duration::from_micros(us));
        }
        assert_eq!(histogram.mean(), Some(Duration::from_nanos(50_000_500)));
        for q in [0.01, 0.5, 0.95, 0.99, 1.0] {
            let found = histogram.quantile(q).unwrap().as_nanos() as f64;
            let bound = if q == 1.0 { 0.016 } else { 0.003 };
            assert!((found / (q * 1e8) - 1.0).abs() < bound, "{q}: {found}");
        }
    }

    #[test]
    fn extremes_stay_inside() {
        let mut histogram = RttHistogram::default();
        histogram.add(Duration::ZERO);
        histogram.add(Duration::MAX);
        assert!(histogram.quantile(0.1).unwrap() < Duration::from_micros(10));
        assert!(histogram.quantile(1.0).unwrap() > Duration::from_secs(100));
    }
}
