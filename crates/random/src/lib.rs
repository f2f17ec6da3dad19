//! Named random streams derived from a seed, and the distributions drawn from them.
//!
//! Every component that draws has its own [`Generator`], derived from the run's seed and the component's name, so adding
//! a component does not change the draws of any other.

mod law;

pub use law::{Beyond, Bounded, Law, LawError, MIN_SHARE};

use rand_core::TryRng;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A generator that does not depend on a seed: the operating system's, for endpoints that talk to strangers. Their
/// secrets (ids, tokens, keys) must be unpredictable, which a stream with a 64-bit seed is not.
pub trait Source: std::fmt::Debug + Sync {
    /// Fills `bytes` with random bytes fit for cryptography.
    fn fill(&self, bytes: &mut [u8]);
}

/// The random numbers of one named component.
#[derive(Debug, Clone)]
pub struct Generator(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Seeded(Xoshiro256PlusPlus),
    Foreign(&'static dyn Source),
    Watched(Box<(Xoshiro256PlusPlus, Watch)>),
}

/// Detects whether a component draws from the random streams it is built with. A component that neither draws while
/// it is built nor keeps its stream never will.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    /// A watched generator; its forks are watched too.
    pub fn stream(&self) -> Generator {
        Generator(Kind::Watched(Box::new((seeded(0, "watched"), self.clone()))))
    }

    /// Whether anything was drawn, or a stream is still held.
    pub fn draws(&self) -> bool {
        self.0.load(Ordering::Relaxed) || Arc::strong_count(&self.0) > 1
    }
}

impl Generator {
    /// The generator of the component `name` in the run with this `seed`. Equal arguments yield equal numbers.
    pub fn new(seed: u64, name: &str) -> Generator {
        Generator(Kind::Seeded(seeded(seed, name)))
    }

    /// A generator whose numbers come from `source`. Nothing that draws from it can be repeated.
    pub fn foreign(source: &'static dyn Source) -> Generator {
        Generator(Kind::Foreign(source))
    }

    /// A new stream for a part of the component that owns this one. The fork of a seeded stream depends on `name` and
    /// on the draws made before, and counts as one draw; the fork of a foreign generator has the same source.
    #[must_use]
    pub fn fork(&mut self, name: &str) -> Generator {
        match &mut self.0 {
            Kind::Seeded(_) => Generator::new(self.bits(), name),
            Kind::Foreign(source) => Generator::foreign(*source),
            // Forking is not yet a draw; drawing from the fork is.
            Kind::Watched(watched) => {
                let generator = seeded(watched.0.next_u64(), name);
                Generator(Kind::Watched(Box::new((generator, watched.1.clone()))))
            }
        }
    }

    /// A seed for a part of the component: equal names yield equal seeds, whatever was drawn before.
    pub fn seed_for(seed: u64, name: &str) -> u64 {
        Generator::new(seed, name).bits()
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match &mut self.0 {
            Kind::Seeded(generator) => generator.next_u64(),
            other => other_bits(other),
        }
    }
    /// Uniform in `[0, 1)`, with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Uniform in `0..bound` without bias; 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire, "Fast Random Integer Generation in an Interval", 2019.
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }
    /// `true` with this probability. Always draws exactly once.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
    /// A draw from the exponential distribution of mean 1.
    pub fn exponential(&mut self) -> f64 {
        // unit() is below 1, so the logarithm is finite.
        -(1.0 - self.unit()).ln()
    }
    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        match &mut self.0 {
            Kind::Seeded(generator) => generator.fill_bytes(bytes),
            Kind::Foreign(source) => source.fill(bytes),
            Kind::Watched(watched) => {
                watched.1.0.store(true, Ordering::Relaxed);
                watched.0.fill_bytes(bytes);
            }
        }
    }
}

/// The generator of the component `name` in the run with this `seed`.
fn seeded(seed: u64, name: &str) -> Xoshiro256PlusPlus {
    let mut state = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes() {
        state = mix(state ^ u64::from(byte));
    }
    let mut key = [0; 32];
    for chunk in key.chunks_exact_mut(8) {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        chunk.copy_from_slice(&state.to_le_bytes());
    }
    Xoshiro256PlusPlus::from_seed(key)
}

/// 64 bits from one of the rarer kinds of stream.
#[cold]
fn other_bits(kind: &mut Kind) -> u64 {
    match kind {
        Kind::Seeded(generator) => generator.next_u64(),
        Kind::Foreign(source) => {
            let mut bytes = [0; 8];
            source.fill(&mut bytes);
            u64::from_le_bytes(bytes)
        }
        Kind::Watched(watched) => {
            watched.1.0.store(true, Ordering::Relaxed);
            watched.0.next_u64()
        }
    }
}

impl TryRng for Generator {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        match &mut self.0 {
            Kind::Seeded(generator) => Ok(generator.next_u32()),
            other => Ok(other_bits(other) as u32),
        }
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every input bit affects every output bit.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_seed_and_name() {
        let draws = |seed, name: &str| {
            let mut stream = Generator::new(seed, name);
            [stream.bits(), stream.bits(), stream.bits()]
        };
        assert_eq!(draws(1, "loss"), draws(1, "loss"));
        assert_ne!(draws(1, "loss"), draws(2, "loss"));
        assert_ne!(draws(1, "loss"), draws(1, "jitter"));
    }

    #[test]
    fn a_fork_of_a_seeded_stream_is_one_draw_and_a_name() {
        let (mut one, mut other) = (Generator::new(1, "a"), Generator::new(1, "a"));
        let expected = Generator::new(other.bits(), "b").bits();
        assert_eq!(one.fork("b").bits(), expected);
        assert_eq!(one.bits(), other.bits());
    }

    #[test]
    fn a_foreign_stream_and_its_forks_draw_only_from_their_source() {
        #[derive(Debug)]
        struct Sevens;
        impl Source for Sevens {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(7);
            }
        }
        let mut stream = Generator::foreign(&Sevens);
        let mut fork = stream.fork("b");
        let mut bytes = [0; 3];
        fork.fill(&mut bytes);
        assert_eq!((stream.bits(), bytes), (0x0707_0707_0707_0707, [7; 3]));
    }

    #[test]
    fn a_watch_detects_draws_and_kept_streams() {
        let watch = Watch::default();
        // Nothing was drawn, and the stream and its fork are gone.
        drop(watch.stream().fork("part"));
        assert!(!watch.draws());
        let kept = watch.stream();
        assert!(watch.draws(), "kept");
        drop(kept);
        assert!(!watch.draws());
        let kept = watch.stream().fork("part");
        assert!(watch.draws(), "a fork that is kept");
        drop(kept);
        assert!(!watch.draws());
        for draw in [
            |stream: &mut Generator| stream.bits(),
            |stream: &mut Generator| stream.fork("part").unit() as u64,
            |stream: &mut Generator| {
                stream.fill(&mut [0; 3]);
                0
            },
            |stream: &mut Generator| u64::from(stream.try_next_u32().unwrap()),
        ] {
            let watch = Watch::default();
            let _ = draw(&mut watch.stream());
            assert!(watch.draws());
        }
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut stream = Generator::new(7, "test");
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[stream.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
        assert_eq!(stream.below(1), 0);
        assert_eq!(stream.below(0), 0);
    }
}
