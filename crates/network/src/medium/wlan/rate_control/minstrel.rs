//! Rates by what was acknowledged, in the manner of Minstrel, the rate control of Linux.
//!
//! For each rate the share of acknowledged frames is averaged exponentially, once in each interval. The throughput of
//! a rate is that share over the duration of a frame. Attempts of a frame go down a chain: two at the rate of the
//! highest throughput, two at the second, two at the rate that is acknowledged most often, then the lowest. Of all
//! frames a part is a sample: its first attempt is at a rate drawn from all.
//!
//! Simplified: no frame of a sample is sent at a rate that is slower than the best one and known to be; all rates take
//! part in draws alike; a rate that was never tried counts as never acknowledged.

use super::{Build, RateControl, RateControlInputs};
use random::Generator;
use units::parameter::{Options, Row};
use units::{Duration, Time};

/// The options of Minstrel.
#[derive(Debug, Clone, Options)]
struct MinstrelOptions {
    /// time between updates of the averages
    #[option(default = "100 ms")]
    interval: Duration,
    /// weight of the past in an update
    #[option(default = 0.75, within = 0.0..=0.99)]
    ewma: f64,
    /// share of the frames that try another rate
    #[option(default = 0.1, probability)]
    samples: f64,
}

pub(super) const ROW: Row<Build> = Row {
    name: "minstrel",
    about: "Minstrel: rates by what was acknowledged, with samples of other rates",
    parameters: MinstrelOptions::PARAMETERS,
    build: |arguments, setup| Box::new(Minstrel::new(&MinstrelOptions::of(arguments), setup)),
};

#[derive(Debug, Clone, Copy, Default)]
struct OfRate {
    duration: u64,
    /// Frames since the last update: sent, and acknowledged.
    sent: u32,
    received: u32,
    /// The share that is acknowledged; `None` before the first attempt.
    share: Option<f64>,
}

impl OfRate {
    /// Acknowledged frames in a second.
    fn throughput(&self) -> f64 {
        self.share.unwrap_or(0.0) * 1e9 / self.duration as f64
    }
}

struct Minstrel {
    rates: Vec<OfRate>,
    /// Best and second throughput, and most often acknowledged.
    chain: [usize; 3],
    interval: Duration,
    ewma: f64,
    samples: f64,
    next_update: Time,
    stream: Generator,
    /// The rate of the frame's first attempt, if it is a sample.
    sample: Option<usize>,
}

impl Minstrel {
    fn new(options: &MinstrelOptions, setup: RateControlInputs<'_>) -> Minstrel {
        let of_rate = |duration: &u64| OfRate { duration: *duration, ..OfRate::default() };
        let rates: Vec<OfRate> = setup.durations.iter().map(of_rate).collect();
        // Before anything is known: the highest rate, and down from there by the chain.
        let order = |number: &usize| std::cmp::Reverse(rates[*number].duration);
        let fastest = (0..rates.len()).max_by_key(order).expect("each standard has rates");
        Minstrel {
            chain: [fastest, fastest / 2, 0],
            rates,
            interval: options.interval,
            ewma: options.ewma,
            samples: options.samples,
            next_update: Time::ZERO,
            stream: setup.stream,
            sample: None,
        }
    }

    fn update(&mut self, now: Time) {
        self.next_update = now + self.interval;
        for rate in &mut self.rates {
            if rate.sent > 0 {
                let share = f64::from(rate.received) / f64::from(rate.sent);
                rate.share = Some(match rate.share {
                    Some(before) => self.ewma * before + (1.0 - self.ewma) * share,
                    None => share,
                });
                (rate.sent, rate.received) = (0, 0);
            }
        }
        if self.rates.iter().all(|rate| rate.share.is_none()) {
            return;
        }
        let best = |value: &dyn Fn(&OfRate) -> f64, but: Option<usize>| {
            let others = (0..self.rates.len()).filter(|number| Some(*number) != but);
            // The last one of equal values.
            others.fold((0, -1.0), |best, number| {
                let value = value(&self.rates[number]);
                if value >= best.1 { (number, value) } else { best }
            })
        };
        let (first, throughput) = best(&OfRate::throughput, None);
        if throughput <= 0.0 {
            self.chain = [0; 3];
            return;
        }
        let (second, next) = best(&OfRate::throughput, Some(first));
        let second = if next > 0.0 { second } else { 0 };
        // Among rates that are nearly always acknowledged, the fastest.
        let sure = |rate: &OfRate| match rate.share.unwrap_or(0.0) {
            share if share >= 0.95 => 1.0 + rate.throughput(),
            share => share,
        };
        self.chain = [first, second, best(&sure, None).0];
    }
}

impl RateControl for Minstrel {
    fn rate(&mut self, now: Time, attempt: u8) -> usize {
        if attempt == 1 {
            if now >= self.next_update {
                self.update(now);
            }
            self.sample = None;
            if self.stream.chance(self.samples) {
                let drawn = self.stream.below(self.rates.len() as u64) as usize;
                let slower = self.rates[drawn].duration > self.rates[self.chain[0]].duration;
                // A slower rate that is known to work teaches nothing.
                self.sample = (!slower || self.rates[drawn].share.is_none()).then_some(drawn);
            }
        }
        match (self.sample, attempt) {
            (Some(sample), 1) => sample,
            (Some(_), 2..=3) | (None, 1..=2) => self.chain[0],
            (Some(_), 4) | (None, 3..=4) => self.chain[1],
            (_, 5..=6) => self.chain[2],
            _ => 0,
        }
    }
    fn note(&mut self, rate: usize, sent: u32, received: u32) {
        self.rates[rate].sent += sent;
        self.rates[rate].received += received;
        debug_assert!(received <= sent, "only what was sent is acknowledged");
    }
}
