//! A distribution of durations with quantiles accurate to 3.2 %, the width of a bucket.

use crate::Duration;

/// The number of buckets per power of two, which makes quantiles accurate to 3.2 %, the width of a bucket.
const STEPS: usize = 32;
/// Samples below this share one bucket: 2^13 ns = 8 us.
const LOWEST: u32 = 13;
const OCTAVES: usize = 26;

/// A distribution of durations, in limited memory: 128 bytes for each power of two that has samples.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// The buckets of the powers of two that have samples, in the order in which these got their first one.
    buckets: Vec<[u32; STEPS]>,
    /// For each power of two, where its buckets lie, plus one; 0 if it has none.
    places: [u8; OCTAVES],
    /// Samples of zero, which have no bucket.
    zeros: u64,
    count: u64,
    sum_ns: u128,
    /// The shortest sample, and the longest one.
    shortest: Duration,
    longest: Duration,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            buckets: Vec::new(),
            places: [0; OCTAVES],
            zeros: 0,
            count: 0,
            sum_ns: 0,
            shortest: Duration::MAX,
            longest: Duration::ZERO,
        }
    }
}

impl Histogram {
    /// Adds a sample.
    #[inline]
    pub fn add(&mut self, sample: Duration) {
        self.count += 1;
        self.shortest = self.shortest.min(sample);
        self.longest = self.longest.max(sample);
        if sample.is_zero() {
            self.zeros += 1;
            return;
        }
        self.sum_ns += u128::from(sample.as_nanos());
        let (octave, step) = Self::bucket(sample.as_nanos());
        let bucket = &mut self.octave(octave)[step];
        *bucket = bucket.saturating_add(1);
    }
    /// The buckets of a power of two.
    #[inline]
    fn octave(&mut self, octave: usize) -> &mut [u32; STEPS] {
        if self.places[octave] == 0 {
            self.make(octave);
        }
        &mut self.buckets[usize::from(self.places[octave]) - 1]
    }
    /// Makes the buckets of a power of two.
    #[cold]
    fn make(&mut self, octave: usize) {
        self.buckets.reserve_exact(1);
        self.buckets.push([0; STEPS]);
        self.places[octave] = self.buckets.len() as u8;
    }
    /// The buckets of all powers of two, ascending; `None` where there are no samples.
    fn octaves(&self) -> impl Iterator<Item = Option<&[u32; STEPS]>> {
        self.places.iter().map(|place| self.buckets.get(usize::from(*place).wrapping_sub(1)))
    }
    /// Prefetches the bucket of a sample like this one, which will soon be added ([`crate::cache`]).
    #[inline]
    pub fn prefetch(&self, sample: Duration) {
        let (octave, step) = Self::bucket(sample.as_nanos());
        let buckets = self.buckets.get(usize::from(self.places[octave]).wrapping_sub(1));
        buckets.into_iter().for_each(|buckets| crate::cache::ask_for(&buckets[step]));
    }
    /// The power of two and the step of a duration.
    fn bucket(ns: u64) -> (usize, usize) {
        let octave = (63 - (ns | 1).leading_zeros()).max(LOWEST);
        let step = (ns >> (octave - 5)) as usize & (STEPS - 1);
        let step = if ns < 1 << LOWEST { 0 } else { step };
        match (octave - LOWEST) as usize {
            octave @ ..OCTAVES => (octave, step),
            _ => (OCTAVES - 1, STEPS - 1),
        }
    }
    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.count += other.count;
        self.zeros += other.zeros;
        self.sum_ns += other.sum_ns;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        for (octave, buckets) in other.octaves().enumerate() {
            let Some(buckets) = buckets else { continue };
            for (bucket, more) in self.octave(octave).iter_mut().zip(buckets) {
                *bucket = bucket.saturating_add(*more);
            }
        }
    }
    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// The mean of the samples; `None` without any.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos((self.sum_ns / u128::from(self.count)) as u64))
    }
    /// The longest sample; `None` without any.
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }
    /// The value that the share `q` of the samples does not exceed (within 3.2 %, and no less than the shortest and no more than
    /// the longest sample); `None` without any.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = ((self.count as f64 * q).ceil() as u64).clamp(1, self.count.max(1));
        if rank <= self.zeros && self.count > 0 {
            return Some(Duration::ZERO);
        }
        let mut before = self.zeros;
        let buckets = (0..).zip(self.octaves()).filter_map(|(octave, buckets)| Some((octave, buckets?)));
        let mut counts = buckets.flat_map(|(octave, buckets)| {
            (0..).zip(buckets).map(move |(step, count)| (octave, step, *count))
        });
        let (octave, step, in_bucket) = counts.find(|(_, _, count)| {
            before += u64::from(*count);
            before >= rank
        })?;
        let in_bucket = u64::from(in_bucket);
        before -= in_bucket;
        let octave = LOWEST + octave;
        let (step, width): (u64, u64) = (step, 1 << (octave - 5));
        // The samples of a bucket are assumed to be spread evenly over it.
        let within =
            (u128::from(width) * u128::from(2 * (rank - before) - 1) / u128::from(2 * in_bucket)) as u64;
        let found = Duration::from_nanos((1 << octave) + step * width + within);
        Some(found.clamp(self.shortest, self.longest))
    }
}

/// Two histograms are equal if they have the same samples in each bucket, and the same sum.
impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        (self.zeros, self.count, self.sum_ns) == (other.zeros, other.count, other.sum_ns)
            && self.octaves().eq(other.octaves())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_is_exact_and_quantiles_are_close() {
        let mut histogram = Histogram::default();
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
    fn quantiles_lie_between_the_shortest_and_the_longest_sample() {
        for samples in
            [&[16_800_000][..], &[20_000_000, 20_000_001, 20_000_002], &[107_500_000, 20_000_000, 9_000]]
        {
            let (mut histogram, mut merged) = (Histogram::default(), Histogram::default());
            samples.iter().for_each(|ns| histogram.add(Duration::from_nanos(*ns)));
            merged.merge(&histogram);
            let [least, most] =
                [samples.iter().min(), samples.iter().max()].map(|ns| Duration::from_nanos(*ns.unwrap()));
            assert_eq!(merged.longest(), Some(most));
            for q in [0.0, 0.05, 0.5, 0.99, 1.0] {
                let found = merged.quantile(q).unwrap();
                assert!(least <= found && found <= most, "{samples:?} {q}: {found}");
            }
        }
        assert_eq!(Histogram::default().longest(), None);
    }

    #[test]
    fn extremes_fall_into_the_outer_buckets() {
        let mut histogram = Histogram::default();
        histogram.add(Duration::ZERO);
        histogram.add(Duration::MAX);
        assert!(histogram.quantile(0.1).unwrap() < Duration::from_micros(10));
        assert!(histogram.quantile(1.0).unwrap() > Duration::from_secs(100));
    }

    #[test]
    fn memory_is_that_of_the_powers_of_two_with_samples() {
        let (mut histogram, mut other, mut merged) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for us in [40_000, 50_000, 35_000, 70, 100_000_000_000] {
            histogram.add(Duration::from_micros(us));
        }
        assert_eq!((histogram.buckets.len(), histogram.buckets.capacity()), (3, 3));
        merged.add(Duration::from_micros(50_000));
        [70, 100_000_000_000, 35_000, 40_000].into_iter().for_each(|us| other.add(Duration::from_micros(us)));
        merged.merge(&other);
        assert_eq!(merged, histogram);
        assert_ne!(other, histogram);
    }

    #[test]
    fn zeros_are_counted_and_histograms_merge() {
        let (mut one, mut other) = (Histogram::default(), Histogram::default());
        (0..60).for_each(|_| one.add(Duration::ZERO));
        assert_eq!((one.quantile(1.0), one.mean()), (Some(Duration::ZERO), Some(Duration::ZERO)));
        (0..40).for_each(|_| other.add(Duration::from_millis(10)));
        one.merge(&other);
        one.merge(&Histogram::default());
        assert_eq!((one.count(), one.mean()), (100, Some(Duration::from_millis(4))));
        assert_eq!(one.quantile(0.6), Some(Duration::ZERO));
        assert!(one.quantile(0.61).unwrap().as_nanos().abs_diff(10_000_000) < 160_000);
    }
}
