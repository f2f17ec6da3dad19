//! By the buffer alone: Huang, Johari, McKeown, Trunnell, Watson, "A Buffer-Based Approach to Rate Adaptation: Evidence from a
//! Large Video Streaming Service", SIGCOMM 2014.

use super::{Abr, Choice, View, bits};
use units::Duration;
use units::parameter::{Options, Row};

/// The options of BBA.
#[derive(Debug, Clone, Copy, Options)]
struct BbaOptions {
    /// a map to bitrates (section 4), a map to sizes of segments (section 5), or that with a start-up by throughput
    /// (section 6)
    #[option(default = "bba-0")]
    variant: Variant,
    /// bba-0: buffer up to which the lowest bitrate is chosen (90 s in the paper, with a buffer of 240 s)
    #[option(default = "5 s")]
    reservoir: Duration,
    /// bba-0: buffer above the reservoir over which the bitrate rises to the highest (126 s in the paper)
    #[option(default = "10 s")]
    cushion: Duration,
    /// bba-1, bba-2: minimum reservoir (section 5)
    #[option(default = "8 s")]
    min_reservoir: Duration,
    /// bba-1, bba-2: maximum reservoir (section 5)
    #[option(default = "140 s")]
    max_reservoir: Duration,
    /// bba-1, bba-2: part of the maximum buffer at which the highest bitrate is reached
    #[option(default = 0.9, within = 0.0..=1.0)]
    upper: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, units::parameter::Choice)]
enum Variant {
    #[word("bba-0")]
    Bitrates,
    #[word("bba-1")]
    Sizes,
    #[word("bba-2")]
    SizesWithStartUp,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "bba",
    about: "BBA: by the buffer alone, with a linear map from buffer to bitrate (Huang et al. 2014)",
    parameters: BbaOptions::PARAMETERS,
    build: &|arguments| Box::new(Bba::new(BbaOptions::of(arguments))),
};

/// The drop in time per segment that a step up in start-up needs, in segments: with an empty buffer, and with a full cushion.
const STEP_UP: [f64; 2] = [0.875, 0.5];
/// The segments whose sizes decide on the reservoir, in maximum buffers.
const LOOK_AHEAD: u64 = 2;

/// The start-up of BBA-2.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// The buffer at the last choice, if there was one.
    StartUp(Option<Duration>),
    Steady,
}

/// The map and the rule that stays at a bitrate until the map passes the next one.
#[derive(Debug, Clone)]
pub struct Bba {
    options: BbaOptions,
    phase: Phase,
}

impl Bba {
    fn new(options: BbaOptions) -> Bba {
        Bba { options, phase: Phase::StartUp(None) }
    }

    /// BBA-0 (algorithm 1).
    fn by_bitrate(&self, view: &View<'_>) -> usize {
        let bitrates = view.line.bitrates(view.segment);
        let levels: Vec<f64> = bitrates.iter().copied().map(bits).collect();
        let last = view.last_bitrate().map_or(levels[0], bits);
        let BbaOptions { reservoir, cushion, .. } = self.options;
        let map = Map { buffer: view.buffer, reservoir, upper: reservoir + cushion };
        map.choose(&levels, last, view.continued().unwrap_or(0))
    }

    /// BBA-1: the levels are the sizes of this segment, the ends of the map those of a mean segment.
    fn by_size(&self, view: &View<'_>) -> usize {
        let bitrates = view.line.bitrates(view.segment);
        let sizes: Vec<f64> =
            (0..bitrates.len()).map(|at| view.line.size(view.segment, at) as f64 * 8.0).collect();
        let duration = view.line.duration(view.segment).as_secs_f64();
        let last = view.continued().unwrap_or(0);
        let map = self.map_of_sizes(view);
        let Some(part) = map.part() else { return map.end(bitrates.len()) };
        let (low, high) = (bits(bitrates[0]) * duration, bits(bitrates[bitrates.len() - 1]) * duration);
        step(&sizes, low + part * (high - low), sizes[last], last)
    }

    fn map_of_sizes(&self, view: &View<'_>) -> Map {
        let reservoir = needed(view).min(self.options.max_reservoir).max(self.options.min_reservoir);
        let upper = Duration::from_secs_f64(view.max_buffer.as_secs_f64() * self.options.upper);
        Map { buffer: view.buffer, reservoir, upper: upper.max(reservoir) }
    }

    /// BBA-2 begins with the lowest bitrate, and rises by one for each segment that came much faster than it plays, until the
    /// map suggests more, or the buffer shrinks.
    fn by_size_after_start_up(&mut self, view: &View<'_>) -> usize {
        let suggested = self.by_size(view);
        let Phase::StartUp(before) = self.phase else { return suggested };
        let (Some(before), Some(last)) = (before, view.continued()) else {
            self.phase = Phase::StartUp(Some(view.buffer));
            return 0;
        };
        if view.buffer < before || suggested > last {
            self.phase = Phase::Steady;
            return suggested;
        }
        self.phase = Phase::StartUp(Some(view.buffer));
        let Some(download) = view.downloads.last() else { return last };
        let duration = view.line.duration(download.segment).as_secs_f64();
        let gained = duration - download.last_at.since(download.asked_at).as_secs_f64();
        let filled = view.buffer.as_secs_f64() / self.map_of_sizes(view).upper.as_secs_f64().max(1e-9);
        let [empty, full] = STEP_UP;
        let is_fast = gained > duration * (empty + (full - empty) * filled.min(1.0));
        (last + usize::from(is_fast)).min(view.line.bitrates(view.segment).len() - 1)
    }
}

/// The reservoir that the sizes of the next segments need: what the buffer loses while they come at the lowest bitrate.
fn needed(view: &View<'_>) -> Duration {
    let lowest = bits(view.line.bitrates(view.segment)[0]).max(1.0);
    let (mut played, mut bytes) = (Duration::ZERO, 0.0);
    let span = view.max_buffer * LOOK_AHEAD;
    for segment in view.segment..view.line.segments() {
        if played >= span {
            break;
        }
        played += view.line.duration(segment);
        bytes += view.line.size(segment, 0) as f64;
    }
    Duration::from_secs_f64(bytes * 8.0 / lowest - played.as_secs_f64())
}

/// The map from the buffer to a part of the way from the lowest to the highest level.
#[derive(Debug, Clone, Copy)]
struct Map {
    buffer: Duration,
    reservoir: Duration,
    upper: Duration,
}

impl Map {
    /// The part; `None` below the reservoir and above the cushion.
    fn part(&self) -> Option<f64> {
        let inside = self.reservoir < self.buffer && self.buffer < self.upper;
        let of = |end: Duration| (end - self.reservoir).as_secs_f64();
        inside.then(|| of(self.buffer) / of(self.upper))
    }
    /// The representation below the reservoir, or above the cushion.
    fn end(&self, representations: usize) -> usize {
        if self.buffer <= self.reservoir { 0 } else { representations - 1 }
    }
    /// The level that the buffer maps to, if the last one was `last`, which stands for the representation `stay`.
    fn choose(&self, levels: &[f64], last: f64, stay: usize) -> usize {
        let Some(part) = self.part() else { return self.end(levels.len()) };
        let (low, high) = (levels[0], levels[levels.len() - 1]);
        step(levels, low + part * (high - low), last, stay)
    }
}

/// Stays until the map passes the next higher or the next lower level (algorithm 1).
fn step(levels: &[f64], mapped: f64, last: f64, stay: usize) -> usize {
    let (low, high) = (levels[0], levels[levels.len() - 1]);
    let higher = levels.iter().copied().find(|level| *level > last).unwrap_or(high);
    let lower = levels.iter().copied().rfind(|level| *level < last).unwrap_or(low);
    if mapped >= higher {
        levels.iter().rposition(|level| *level < mapped).unwrap_or(0)
    } else if mapped <= lower {
        levels.iter().position(|level| *level > mapped).unwrap_or(levels.len() - 1)
    } else {
        stay
    }
}

impl Abr for Bba {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let representation = match self.options.variant {
            Variant::Bitrates => self.by_bitrate(view),
            Variant::Sizes => self.by_size(view),
            Variant::SizesWithStartUp => self.by_size_after_start_up(view),
        };
        Choice { representation, wait: Duration::ZERO }
    }
    fn on_seek(&mut self) {
        self.phase = Phase::StartUp(None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, download, rates, view};
    use super::*;

    fn bba(options: &[(&str, &str)]) -> Bba {
        Bba::new(BbaOptions::written(options).unwrap())
    }

    fn choice(line: &Strip, segment: usize, last: Option<usize>, buffer: u64) -> usize {
        bba(&[]).choose(&view(line, segment, last, buffer, 30_000)).representation
    }

    /// Reservoir 5 s, cushion 10 s: f(B) = 230 + 577 (B - 5) kbit/s between 5 and 15 s.
    #[test]
    fn bba_0_by_hand() {
        let line = Strip::new(&LADDER, 9, 3);
        assert_eq!(choice(&line, 0, None, 0), 0);
        assert_eq!(choice(&line, 1, Some(0), 5000), 0, "all of the reservoir");
        assert_eq!(choice(&line, 1, Some(9), 4999), 0, "the lowest at once");
        assert_eq!(choice(&line, 1, Some(0), 15_000), 9, "the end of the cushion");
        assert_eq!(choice(&line, 1, Some(0), 14_999), 8, "5,999 kbit/s");
        assert_eq!(choice(&line, 1, Some(0), 8000), 5, "1,961: the highest below it");
        assert_eq!(choice(&line, 1, Some(5), 8000), 5, "2,056 is not reached");
        assert_eq!(choice(&line, 1, Some(6), 8000), 6, "1,427 is not passed");
        assert_eq!(choice(&line, 1, Some(6), 7075), 6, "1,427.3 neither");
        assert_eq!(choice(&line, 1, Some(6), 7074), 5, "1,426.7: the lowest above it is 1,427");
        assert_eq!(choice(&line, 1, Some(8), 8000), 6, "below 2,962: the lowest above 1,961");
        assert_eq!(choice(&line, 1, Some(9), 14_000), 9, "5,423 is not below 5,027");
    }

    #[test]
    fn bba_0_with_the_numbers_of_the_paper() {
        let line = Strip::new(&[235, 375, 560, 750, 1050, 1750, 2350, 3000], 9, 4);
        let mut abr = bba(&[("reservoir", "90 s"), ("cushion", "126 s")]);
        let mut at = |buffer, last| abr.choose(&view(&line, 1, Some(last), buffer, 240_000)).representation;
        assert_eq!((at(90_000, 3), at(216_000, 3)), (0, 7));
        assert_eq!(at(153_000, 0), 4, "half of the cushion: 1,617.5 kbit/s");
        assert_eq!(at(153_000, 5), 5);
    }

    #[test]
    fn another_period_has_another_ladder() {
        let mut line = Strip::new(&LADDER, 9, 3);
        line.ladders[4] = rates(&[500, 2000]);
        line.ladders[5] = rates(&[800]);
        assert_eq!(choice(&line, 4, Some(9), 8000), 1, "f = 950: the lowest above it");
        assert_eq!(choice(&line, 4, Some(0), 8000), 0, "f = 950: the highest below it");
        assert_eq!(choice(&line, 5, Some(1), 8000), 0);
        assert_eq!(choice(&line, 6, Some(0), 8000), 5, "800 kbit/s before, f = 1,961");
    }

    /// A buffer of 40 s: the reservoir is at least 8 s, the map ends at 36 s, and rises from 690 to 18,000 kbit for 3 s.
    #[test]
    fn bba_1_maps_to_sizes() {
        let mut line = Strip::new(&LADDER, 40, 3);
        let mut abr = bba(&[("variant", "bba-1")]);
        let mut at = |line: &Strip, buffer, last| {
            abr.choose(&view(line, 1, Some(last), buffer, 40_000)).representation
        };
        assert_eq!((at(&line, 8000, 9), at(&line, 36_000, 0)), (0, 9));
        assert_eq!(at(&line, 22_000, 0), 7, "9,345 kbit: 2,962 x 3 fits");
        line.permille[1] = 2000;
        assert_eq!(at(&line, 22_000, 0), 5, "a segment of twice the size: 1,427 x 6");
        assert_eq!(at(&line, 22_000, 6), 6, "12,336 was there, 8,562 is not passed");
        line.permille[1] = 1000;
        line.permille[2..7].fill(3000);
        assert_eq!(at(&line, 30_000, 9), 0, "five segments of three times the size need 30 s");
        assert_eq!(at(&line, 30_001, 0), 0, "a map from 30 to 36 s begins at 690 kbit");
    }

    /// Segments of 4 s. With an empty buffer a step up needs 3.5 s to be gained, with a full one 2 s.
    #[test]
    fn bba_2_starts_by_throughput() {
        let line = Strip::new(&LADDER, 40, 4);
        let mut abr = bba(&[("variant", "bba-2")]);
        let mut at = |segment: usize, last, buffer, took| {
            let downloads = [download(segment.saturating_sub(1), 1, [0, 0, took])];
            let view = View { downloads: &downloads, ..view(&line, segment, last, buffer, 40_000) };
            abr.choose(&view).representation
        };
        assert_eq!(at(0, None, 0, 0), 0);
        assert_eq!(at(1, Some(0), 4000, 100), 1, "3.9 s gained of 3.33 needed");
        assert_eq!(at(2, Some(1), 7000, 1000), 1, "3 s of 3.2");
        assert_eq!(at(3, Some(1), 7500, 500), 2);
        assert_eq!(at(4, Some(2), 7400, 100), 0, "the buffer shrinks: the map, which is below the reservoir");
        assert_eq!(at(5, Some(2), 7900, 100), 0);
        abr.on_seek();
        assert_eq!(abr.phase, Phase::StartUp(None));
    }
}
