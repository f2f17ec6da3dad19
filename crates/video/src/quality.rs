//! The quality of experience of a playback, in numbers.
//!
//! A playback is a plain record, from a player or from elsewhere. [`Playback::experience`] puts it into numbers, among them
//! the three sums that the literature calls linear QoE: quality less stalls less changes of quality.

use units::parameter::Choice;
use units::{Duration, Rate, Time};

/// Media that was played from one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// The declared bitrate of its representation.
    pub bitrate: Rate,
    /// The lowest bitrate that the segment has.
    pub lowest: Rate,
    /// The media that was played of it, in time of the presentation.
    pub duration: Duration,
}

/// Playback stood still because the buffer was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When it began.
    pub start: Time,
    /// How long it lasted.
    pub length: Duration,
}

/// For a time, playback was so far behind what was filmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// The live latency.
    pub latency: Duration,
    /// How long it was that.
    pub lasted: Duration,
}

/// A playback as its viewer saw it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Playback {
    /// When the viewer asked for it.
    pub asked_at: Time,
    /// The time from then to the first picture; `None` if it never came.
    pub start_up: Option<Duration>,
    /// What was played, in order; each segment once.
    pub played: Vec<Played>,
    /// The stalls, in order. The wait for the first picture is none.
    pub stalls: Vec<Stall>,
    /// The latency over time; empty unless live.
    pub behind: Vec<Behind>,
    /// When playback ended, or the viewer left.
    pub end: Time,
}

/// How the quality of a bitrate is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Scale {
    /// The bitrate in Mbit/s (Yin et al. 2015, section 3.2; QoE_lin of Pensieve).
    #[word("lin")]
    Linear,
    /// ln(R / R_min): the natural logarithm of the bitrate in units of the lowest one (QoE_log).
    #[word("log")]
    Logarithmic,
    /// Points that favour high definition (QoE_hd): 1, 2, 3, 12, 15 and 20 for Pensieve's ladder of 300, 750, 1200, 1850, 2850
    /// and 4300 kbit/s. Other bitrates are on the lines between these points; below the first one on the line to 0, above the
    /// last one at 20. The literature has no rule for them.
    #[word("hd")]
    HighDefinition,
}

/// What the terms of a QoE cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// A second of stalls: 4.3, 2.66 or 8 (Mao et al. 2017, table 1).
    pub rebuffering: f64,
    /// A change of quality by one: 1.
    pub switching: f64,
    /// A second of start-up: 0. Yin et al. have a term for it; Pensieve has none.
    pub start_up: f64,
}

/// The points of [`Scale::HighDefinition`]: kbit/s and quality.
const POINTS: [(f64, f64); 7] =
    [(0.0, 0.0), (300.0, 1.0), (750.0, 2.0), (1200.0, 3.0), (1850.0, 12.0), (2850.0, 15.0), (4300.0, 20.0)];

impl Scale {
    /// All scales.
    pub const ALL: [Scale; 3] = [Scale::Linear, Scale::Logarithmic, Scale::HighDefinition];

    /// The weights that belong to it.
    pub fn weights(self) -> Weights {
        let rebuffering = match self {
            Scale::Linear => 4.3,
            Scale::Logarithmic => 2.66,
            Scale::HighDefinition => 8.0,
        };
        Weights { rebuffering, switching: 1.0, start_up: 0.0 }
    }

    /// The quality of a bitrate where `lowest` is the lowest one.
    pub fn quality(self, bitrate: Rate, lowest: Rate) -> f64 {
        let bits = bitrate.as_bits_per_sec().max(1) as f64;
        match self {
            Scale::Linear => bitrate.as_mbit_per_sec(),
            Scale::Logarithmic => (bits / lowest.as_bits_per_sec().max(1) as f64).ln(),
            Scale::HighDefinition => {
                let kbit = bits / 1000.0;
                let Some(next) = POINTS.iter().position(|point| kbit < point.0) else { return POINTS[6].1 };
                let ((x, y), (to_x, to_y)) = (POINTS[next - 1], POINTS[next]);
                y + (to_y - y) * (kbit - x) / (to_x - x)
            }
        }
    }
}

/// A sum of quality, stalls and changes over the segments of a playback.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Qoe {
    /// The qualities of all segments.
    pub quality: f64,
    /// What the stalls cost.
    pub rebuffering: f64,
    /// What the changes from segment to segment cost.
    pub switching: f64,
    /// What the start-up cost.
    pub start_up: f64,
    /// The first less the others.
    pub total: f64,
    /// The total for each segment, which compares playbacks of different lengths; 0 without segments.
    pub per_segment: f64,
}

/// The numbers of a playback.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experience {
    /// The time to the first picture; `None` if it never came.
    pub start_up: Option<Duration>,
    /// The number of stalls.
    pub stalls: usize,
    /// The time of all stalls.
    pub stall_time: Duration,
    /// The part of the time from the first picture to the end that was stalled, from 0 to 1; 0 if that time is zero.
    pub stall_ratio: f64,
    /// The mean of the segments' bitrates, each counted once.
    pub mean_bitrate: Rate,
    /// The mean weighted by the time for which each was played.
    pub time_weighted_bitrate: Rate,
    /// How often the bitrate changed from one segment to the next.
    pub switches: usize,
    /// How often of these it rose.
    pub switches_up: usize,
    /// The sum of the changes.
    pub switched: Rate,
    /// The mean of the changes; zero without any.
    pub mean_switch: Rate,
    /// The QoE by each of [`Scale::ALL`], with its own weights.
    pub qoe: [Qoe; 3],
    /// The mean live latency, weighted by time; `None` unless live.
    pub mean_latency: Option<Duration>,
}

impl Playback {
    /// All numbers.
    pub fn experience(&self) -> Experience {
        let stall_time = self.stall_time();
        let watched = self.start_up.map_or(Duration::ZERO, |span| self.end.since(self.asked_at + span));
        let stall_ratio =
            if watched.is_zero() { 0.0 } else { stall_time.as_secs_f64() / watched.as_secs_f64() };
        let changes = || self.played.windows(2).filter(|pair| pair[0].bitrate != pair[1].bitrate);
        let switches = changes().count();
        let switched: u64 = changes().map(|pair| bits(&pair[0]).abs_diff(bits(&pair[1]))).sum();
        Experience {
            start_up: self.start_up,
            stalls: self.stalls.len(),
            stall_time,
            stall_ratio: stall_ratio.min(1.0),
            mean_bitrate: mean(self.played.iter().map(|segment| (bits(segment), 1))),
            time_weighted_bitrate: mean(
                self.played.iter().map(|segment| (bits(segment), segment.duration.as_nanos())),
            ),
            switches,
            switches_up: changes().filter(|pair| pair[0].bitrate < pair[1].bitrate).count(),
            switched: Rate::from_bits_per_sec(switched),
            mean_switch: Rate::from_bits_per_sec(switched / switches.max(1) as u64),
            qoe: Scale::ALL.map(|scale| self.qoe(scale, &scale.weights())),
            mean_latency: self.mean_latency(),
        }
    }

    /// The time of all stalls.
    pub fn stall_time(&self) -> Duration {
        self.stalls.iter().fold(Duration::ZERO, |sum, stall| sum + stall.length)
    }

    /// The QoE with these weights.
    pub fn qoe(&self, scale: Scale, weights: &Weights) -> Qoe {
        let of = |segment: &Played| scale.quality(segment.bitrate, segment.lowest);
        let quality: f64 = self.played.iter().map(of).sum();
        let changes: f64 = self.played.windows(2).map(|pair| (of(&pair[0]) - of(&pair[1])).abs()).sum();
        let rebuffering = weights.rebuffering * self.stall_time().as_secs_f64();
        let switching = weights.switching * changes;
        let start_up = weights.start_up * self.start_up.unwrap_or(Duration::ZERO).as_secs_f64();
        let total = quality - rebuffering - switching - start_up;
        let per_segment = total / self.played.len().max(1) as f64;
        Qoe { quality, rebuffering, switching, start_up, total, per_segment }
    }

    fn mean_latency(&self) -> Option<Duration> {
        let lasted: u128 = self.behind.iter().map(|part| u128::from(part.lasted.as_nanos())).sum();
        let weighted =
            |part: &Behind| u128::from(part.latency.as_nanos()) * u128::from(part.lasted.as_nanos());
        let sum = self.behind.iter().map(weighted).fold(0, u128::saturating_add);
        let mean = sum.checked_div(lasted)?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The least latency that was not exceeded in this part of the time, from 0 to 1: 0.5 is the median. `None` unless live.
    pub fn latency_percentile(&self, part: f64) -> Option<Duration> {
        let mut sorted: Vec<&Behind> = self.behind.iter().filter(|part| !part.lasted.is_zero()).collect();
        sorted.sort_by_key(|part| part.latency);
        let total: f64 = sorted.iter().map(|part| part.lasted.as_secs_f64()).sum();
        let mut lasted = 0.0;
        for behind in &sorted {
            lasted += behind.lasted.as_secs_f64();
            if lasted >= part * total {
                return Some(behind.latency);
            }
        }
        sorted.last().map(|behind| behind.latency)
    }
}

fn bits(segment: &Played) -> u64 {
    segment.bitrate.as_bits_per_sec()
}

/// The mean of rates in bit/s by weight, rounded down; zero without weights.
fn mean(rates: impl Iterator<Item = (u64, u64)>) -> Rate {
    let (sum, weights) = rates.fold((0_u128, 0_u128), |(sum, weights), (rate, weight)| {
        (sum.saturating_add(u128::from(rate) * u128::from(weight)), weights + u128::from(weight))
    });
    Rate::from_bits_per_sec(sum.checked_div(weights).map_or(0, |mean| mean.min(u128::from(u64::MAX)) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbit(rate: u64) -> Rate {
        Rate::from_bits_per_sec(rate * 1000)
    }
    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
    fn at(time: u64) -> Time {
        Time::ZERO + ms(time)
    }

    /// Segments of 4 s on Pensieve's ladder: 300, 1200, 1200, 4300 and half of one with 1850 kbit/s. The first picture comes
    /// after 1.5 s; stalls of 1 and 0.5 s; 18 s are played, so that the end is at 1.5 + 18 + 1.5 = 21 s after the request.
    fn playback() -> Playback {
        let segment = |rate, span| Played { bitrate: kbit(rate), lowest: kbit(300), duration: ms(span) };
        Playback {
            asked_at: at(10_000),
            start_up: Some(ms(1500)),
            played: vec![
                segment(300, 4000),
                segment(1200, 4000),
                segment(1200, 4000),
                segment(4300, 4000),
                segment(1850, 2000),
            ],
            stalls: vec![
                Stall { start: at(15_500), length: ms(1000) },
                Stall { start: at(20_500), length: ms(500) },
            ],
            behind: Vec::new(),
            end: at(31_000),
        }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn stalls_bitrates_and_switches_by_hand() {
        let experience = playback().experience();
        assert_eq!(experience.start_up, Some(ms(1500)));
        assert_eq!((experience.stalls, experience.stall_time), (2, ms(1500)));
        near(experience.stall_ratio, 1.5 / 19.5);
        assert_eq!(experience.mean_bitrate, kbit(1770));
        // (4 (300 + 1200 + 1200 + 4300) + 2 x 1850) / 18 = 31,700 / 18.
        assert_eq!(experience.time_weighted_bitrate, Rate::from_bits_per_sec(1_761_111));
        assert_eq!((experience.switches, experience.switches_up), (3, 2));
        assert_eq!(experience.switched, kbit(900 + 3100 + 2450));
        assert_eq!(experience.mean_switch, kbit(2150));
        assert_eq!(experience.mean_latency, None);
    }

    /// Mao et al. 2017, table 1, on the same playback.
    #[test]
    fn the_three_sums_by_hand() {
        let [lin, log, hd] = playback().experience().qoe;
        // 8.85 - 4.3 x 1.5 - 6.45.
        near(lin.quality, 8.85);
        near(lin.rebuffering, 6.45);
        near(lin.switching, 6.45);
        near(lin.total, -4.05);
        near(lin.per_segment, -0.81);
        // ln 1, twice ln 4, ln(43/3) and ln(37/6); the changes are ln 4, ln(43/12) and ln(86/37).
        let quality = 2.0 * 4.0_f64.ln() + (43.0_f64 / 3.0).ln() + (37.0_f64 / 6.0).ln();
        let changes = 4.0_f64.ln() + (43.0_f64 / 12.0).ln() + (86.0_f64 / 37.0).ln();
        near(log.total, quality - 2.66 * 1.5 - changes);
        // 1 + 3 + 3 + 20 + 12 = 39, 8 x 1.5, and 2 + 17 + 8.
        near(hd.quality, 39.0);
        near(hd.total, 39.0 - 12.0 - 27.0);
        let weights = Weights { start_up: 2.0, ..Scale::Linear.weights() };
        near(playback().qoe(Scale::Linear, &weights).total, -7.05);
    }

    #[test]
    fn points_of_high_definition_for_other_ladders() {
        let of = |rate| Scale::HighDefinition.quality(kbit(rate), kbit(100));
        for (rate, points) in [(300, 1.0), (750, 2.0), (1200, 3.0), (1850, 12.0), (2850, 15.0), (4300, 20.0)]
        {
            near(of(rate), points);
        }
        near(of(150), 0.5);
        near(of(2350), 13.5);
        near(of(6000), 20.0);
        near(Scale::HighDefinition.quality(Rate::ZERO, Rate::ZERO), 1.0 / 300_000.0);
    }

    #[test]
    fn words_of_scales() {
        for (scale, word) in Scale::ALL.into_iter().zip(Scale::WORDS) {
            assert_eq!(Scale::of_word(word), Some(scale));
        }
        assert_eq!(Scale::of_word("linear"), None);
    }

    /// 2 s of latency for 6 s, 3 s for 3 s, 10 s for 1 s.
    #[test]
    fn latency_counts_by_time() {
        let part = |latency, lasted| Behind { latency: ms(latency), lasted: ms(lasted) };
        let playback = Playback {
            behind: vec![part(3000, 3000), part(2000, 6000), part(10_000, 1000), part(99_000, 0)],
            ..playback()
        };
        assert_eq!(playback.experience().mean_latency, Some(ms(3100)));
        let percentile = |part| playback.latency_percentile(part);
        assert_eq!(percentile(0.0), Some(ms(2000)));
        assert_eq!(percentile(0.5), Some(ms(2000)));
        assert_eq!(percentile(0.6), Some(ms(2000)), "not exceeded for 6 of 10 s");
        assert_eq!(percentile(0.61), Some(ms(3000)));
        assert_eq!((percentile(0.95), percentile(1.0)), (Some(ms(10_000)), Some(ms(10_000))));
        assert_eq!(Playback::default().latency_percentile(0.5), None);
    }

    #[test]
    fn a_playback_that_never_began() {
        let playback = Playback { end: at(5000), ..Playback::default() };
        let experience = playback.experience();
        assert_eq!((experience.start_up, experience.stalls, experience.switches), (None, 0, 0));
        assert_eq!((experience.mean_bitrate, experience.time_weighted_bitrate), (Rate::ZERO, Rate::ZERO));
        assert_eq!((experience.stall_ratio, experience.qoe[0]), (0.0, Qoe::default()));
        let nothing = Playback { start_up: Some(ms(5000)), ..playback };
        assert_eq!(nothing.experience().stall_ratio, 0.0, "it ended with the first picture");
    }
}
