//! BOLA: Spiteri, Urgaonkar, Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016 and IEEE/ACM
//! Transactions on Networking 28(4), 2020; BOLA-E: Spiteri, Sitaraman, Sparacio, "From Theory to Practice: Improving Bitrate
//! Adaptation in the DASH Reference Player", MMSys 2018.

use super::abandonment::Retry;
use super::estimate::{self, Estimate};
use super::insufficient_buffer::InsufficientBuffer;
use super::levels::Levels;
use super::throughput::RateOptions;
use super::{Abr, Choice, Underway, View, bits, highest_at_most, rate_of};
use units::parameter::{Options, Row};
use units::{Duration, Rate, Time};

/// The options of its variants, which [`super::Dynamic`] shares.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct VariantOptions {
    /// with a placeholder buffer (2018), for a presentation of finite length, or the algorithm of the proof (2016)
    #[option(default = "bola-e")]
    variant: Variant,
    /// not bola-basic, if the throughput lies between two bitrates: stay at the lower one (bola-o, dash.js), alternate
    /// (bola-u), or follow the buffer (none)
    #[option(default = "bola-o")]
    oscillation: Oscillation,
    /// bola-basic, bola-finite: weight of playing on (gamma p)
    #[option(default = 5.0, within = 1e-3..=1e6)]
    gp: f64,
    /// bola-basic, bola-finite: maximum buffer (Qmax p), from which V follows; at most that of the player
    #[option(default = "25 s")]
    bmax: Duration,
    /// bola-e: buffer up to which the lowest representation is preferred (dash.js: MINIMUM_BUFFER_S)
    #[option(default = "10 s")]
    minimum_buffer: Duration,
    /// bola-e: the highest representation is preferred from the minimum buffer plus this for each representation
    /// (dash.js: MINIMUM_BUFFER_PER_BITRATE_LEVEL_S)
    #[option(default = "2 s")]
    minimum_buffer_per_level: Duration,
}

/// The option of the placeholder buffer, which [`super::Dynamic`] shares.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct PlaceholderOptions {
    /// bola-e: what is left of the placeholder buffer after each download (dash.js: PLACEHOLDER_BUFFER_DECAY; 1 in the
    /// paper)
    #[option(default = 0.99, within = 0.0..=1.0)]
    placeholder_decay: f64,
}

/// The options of BOLA.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct BolaOptions {
    #[options]
    pub(super) shared: VariantOptions,
    /// bola-e: buffer from which the highest representation is preferred, if that is more (dash.js 4:
    /// stableBufferTime; 18 s in 5: bufferTimeDefault)
    #[option(default = "12 s")]
    pub(super) stable_buffer: Duration,
    #[options]
    pub(super) placeholder: PlaceholderOptions,
    #[options]
    pub(super) rate: RateOptions,
    /// not bola-basic: give up a download if another representation has a better score (2016)
    #[option(default = true)]
    pub(super) abandon: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, units::parameter::Choice)]
enum Variant {
    #[word("bola-e")]
    E,
    #[word("bola-finite")]
    Finite,
    #[word("bola-basic")]
    Basic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, units::parameter::Choice)]
enum Oscillation {
    #[word("bola-o")]
    Avoid,
    #[word("bola-u")]
    Alternate,
    #[word("none")]
    Follow,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "bola",
    about: "by the buffer, as a Lyapunov optimization (BOLA, Spiteri et al. 2016 and 2018)",
    parameters: BolaOptions::PARAMETERS,
    build: &|arguments| Box::new(Bola::new(BolaOptions::of(arguments))),
};

/// The segments with which BOLA-FINITE begins and ends, as a buffer; it counts half of those that were and will be played.
const FEWEST_SEGMENTS: f64 = 3.0;

impl BolaOptions {
    /// The minimum buffer in seconds.
    fn minimum(&self) -> f64 {
        self.shared.minimum_buffer.as_secs_f64()
    }
}

/// What was so at the last choice, or when a download was given up.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    at: Time,
    /// The buffer in seconds when the segment is asked for.
    buffer: f64,
    wait: Duration,
    is_playing: bool,
}

/// BOLA in its variants.
#[derive(Debug, Clone)]
pub struct Bola {
    options: BolaOptions,
    levels: Levels,
    estimate: Estimate,
    insufficient: InsufficientBuffer,
    retry: Retry,
    /// BOLA-E chooses by throughput until the buffer holds a segment.
    is_starting: bool,
    /// BOLA-E adds this to the buffer, in seconds: time in which the buffer could have grown, but was not allowed to.
    placeholder: f64,
    chosen: Option<Chosen>,
    /// The throughput of the last download in bit/s.
    last_throughput: Option<f64>,
    /// The segment from which playback began.
    origin: Option<usize>,
}

impl Bola {
    pub(super) fn new(options: BolaOptions) -> Bola {
        Bola {
            options,
            levels: Levels::default(),
            estimate: Estimate::new(&options.rate.estimate),
            insufficient: InsufficientBuffer::new(options.rate.insufficient),
            retry: Retry::default(),
            is_starting: true,
            placeholder: 0.0,
            chosen: None,
            last_throughput: None,
            origin: None,
        }
    }

    /// A download was given up for a lower representation, by its own rule or another one. That shows that the placeholder was
    /// too large: it is reduced to what the lower representation needs.
    pub(super) fn give_up(&mut self, view: &View<'_>, segment: usize, lower: usize) {
        self.levels.set_ladder(view.line.bitrates(segment));
        if self.options.shared.variant == Variant::E {
            self.set_by_levels();
        }
        let lower = lower.min(self.levels.len() - 1);
        let wanted = if lower > 0 { self.levels.min_buffer(lower) } else { self.options.minimum() };
        let buffer = view.buffer.as_secs_f64();
        self.placeholder = self.placeholder.min((wanted - buffer).max(0.0));
        self.chosen =
            Some(Chosen { at: view.now, buffer, wait: Duration::ZERO, is_playing: view.is_playing });
        self.retry.note(segment, Some(lower));
    }

    /// A segment is asked for after this wait, whoever chose it.
    pub(super) fn note(&mut self, view: &View<'_>, wait: Duration) {
        let played = if view.is_playing { wait } else { Duration::ZERO };
        let buffer = (view.buffer - played).as_secs_f64();
        self.chosen = Some(Chosen { at: view.now, buffer, wait, is_playing: view.is_playing });
    }

    /// The choice of BOLA-BASIC for the parameters in `levels`: it asks for nothing while all scores are negative.
    fn basic(&self, buffer: f64) -> (usize, f64) {
        let full = self.levels.max_buffer(self.levels.len() - 1);
        (self.levels.best(buffer), (buffer - full).max(0.0))
    }

    /// The parameters of BOLA-BASIC and BOLA-FINITE, whose buffer is that of a shorter presentation at its ends.
    fn set_by_gp(&mut self, view: &View<'_>) {
        let segment = view.line.duration(view.segment).as_secs_f64();
        let mut most = self.options.shared.bmax.as_secs_f64().min(view.max_buffer.as_secs_f64());
        if self.options.shared.variant == Variant::Finite {
            let since = view.segment.saturating_sub(self.origin.unwrap_or(0));
            let left = view.line.segments().saturating_sub(view.segment);
            most = most.min((since.min(left) as f64 / 2.0).max(FEWEST_SEGMENTS) * segment);
        }
        self.levels.set_by_gp(self.options.shared.gp, most, segment);
    }

    /// A representation above the last one, and the highest that the throughput can keep up with: what to choose instead. The
    /// flag says whether it was lowered to the throughput.
    fn steady(&self, best: usize, last: usize, sustainable: usize) -> (usize, bool) {
        if best <= last || best <= sustainable {
            return (best, false);
        }
        match self.options.shared.oscillation {
            Oscillation::Follow => (best, false),
            _ if last > sustainable => (last, false),
            Oscillation::Avoid => (sustainable, true),
            Oscillation::Alternate => (sustainable + 1, false),
        }
    }

    /// BOLA-FINITE.
    fn finite(&self, view: &View<'_>, buffer: f64) -> (usize, f64) {
        let (best, full) = self.basic(buffer);
        let (Some(last), Some(throughput)) = (view.continued(), self.last_throughput) else {
            return (best, full);
        };
        let sustainable = highest_at_most(view.line.bitrates(view.segment), throughput);
        let (chosen, is_lowered) = self.steady(best, last, sustainable);
        // BOLA-O waits until the lower representation has a score of 0, as in SABRE. In the paper (2020, figure 6, line 15) it
        // waits longer: until that score is no less than the one above.
        let wait = if is_lowered { (buffer - self.levels.max_buffer(chosen)).max(0.0) } else { full };
        (chosen, wait)
    }

    fn set_by_levels(&mut self) {
        let minimum = self.options.minimum();
        let per_level = self.options.shared.minimum_buffer_per_level.as_secs_f64();
        let stable = self.options.stable_buffer.as_secs_f64();
        let target = stable.max(minimum + per_level * self.levels.len() as f64);
        self.levels.set_by_levels(minimum, target);
    }

    /// BOLA-E by throughput, with the placeholder for which it would choose the same by the buffer.
    fn start(&mut self, view: &View<'_>, buffer: f64) -> usize {
        let bitrates = view.line.bitrates(view.segment);
        let Some(throughput) = self.estimate.throughput() else {
            return highest_at_most(bitrates, bits(self.options.rate.start.bitrate()));
        };
        let duration = view.line.duration(view.segment);
        let safe = throughput * self.options.rate.safety_factor;
        let representation = self.estimate.sustainable(bitrates, duration, safe);
        self.placeholder = (self.levels.min_buffer(representation) - buffer).max(0.0);
        if buffer >= duration.as_secs_f64() {
            self.is_starting = false;
        }
        representation
    }

    /// BOLA-E.
    fn enhanced(&mut self, view: &View<'_>, buffer: f64) -> (usize, f64) {
        if self.is_starting {
            return (self.start(view, buffer), 0.0);
        }
        self.placeholder += self.idle(view);
        if view.buffer.is_zero() {
            self.placeholder = 0.0;
        }
        let bitrates = view.line.bitrates(view.segment);
        let mut chosen = self.levels.best(buffer + self.placeholder);
        if let (Some(last), Some(throughput)) = (view.continued(), self.estimate.throughput()) {
            let duration = view.line.duration(view.segment);
            let safe = throughput * self.options.rate.safety_factor;
            let sustainable = self.estimate.sustainable(bitrates, duration, safe);
            chosen = self.steady(chosen, last, sustainable).0;
        }
        let mut wait = (buffer + self.placeholder - self.levels.max_buffer(chosen)).max(0.0);
        let from_placeholder = wait.min(self.placeholder);
        self.placeholder -= from_placeholder;
        wait -= from_placeholder;
        if chosen == self.levels.len() - 1 {
            wait = 0.0;
        }
        match self.insufficient.limit(view, &self.estimate) {
            Some(limit) if limit < chosen => {
                let most = (self.levels.min_buffer(limit) - buffer).max(0.0);
                self.placeholder = self.placeholder.min(most);
                (limit, 0.0)
            }
            _ => (chosen, wait),
        }
    }

    /// The seconds in which nothing was asked for, because the buffer had no room or the segment did not exist.
    fn idle(&self, view: &View<'_>) -> f64 {
        let Some(chosen) = self.chosen else { return 0.0 };
        let since = view.downloads.last().map_or(chosen.at, |download| download.last_at.max(chosen.at));
        view.now.since(since).as_secs_f64()
    }

    /// BOLA-E after a download: the placeholder fits what was chosen.
    fn fit_placeholder(&mut self, view: &View<'_>) {
        let (Some(chosen), Some(download)) = (self.chosen, view.downloads.last()) else { return };
        self.levels.set_ladder(view.line.bitrates(download.segment));
        self.set_by_levels();
        let representation = download.representation.min(self.levels.len() - 1);
        let most = self.levels.max_buffer(representation) - chosen.buffer;
        self.placeholder = (self.placeholder * self.options.placeholder.placeholder_decay).min(most.max(0.0));
        let took = download.last_at.since(chosen.at).as_secs_f64() - chosen.wait.as_secs_f64();
        if chosen.is_playing && took > chosen.buffer {
            // Playback was interrupted: a placeholder would hide it.
            self.placeholder = 0.0;
        } else if !self.is_starting {
            // Smaller than this only if another algorithm chose.
            let least = self.levels.min_buffer(representation) - chosen.buffer;
            self.placeholder = self.placeholder.max(least);
        }
    }
}

impl Abr for Bola {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.origin.get_or_insert(view.segment);
        self.levels.set_ladder(view.line.bitrates(view.segment));
        let buffer = view.buffer.as_secs_f64();
        let choice = match self.retry.take(view) {
            Some(choice) => choice,
            None => {
                let (representation, wait) = match self.options.shared.variant {
                    Variant::E => {
                        self.set_by_levels();
                        self.enhanced(view, buffer)
                    }
                    Variant::Finite => {
                        self.set_by_gp(view);
                        self.finite(view, buffer)
                    }
                    Variant::Basic => {
                        self.set_by_gp(view);
                        self.basic(buffer)
                    }
                };
                Choice { representation, wait: Duration::from_secs_f64(wait) }
            }
        };
        self.note(view, choice.wait);
        choice
    }

    fn on_download(&mut self, view: &View<'_>) {
        self.insufficient.on_download();
        let Some(download) = view.downloads.last() else { return };
        self.estimate.add(download);
        self.last_throughput = estimate::from_request(download).or(self.last_throughput);
        if self.options.shared.variant == Variant::E {
            self.fit_placeholder(view);
        }
    }

    fn abandon(&mut self, view: &View<'_>, underway: &Underway) -> Option<usize> {
        let left = underway.total.saturating_sub(underway.bytes) as f64 * 8.0;
        let is_possible = self.options.abandon && self.options.shared.variant != Variant::Basic;
        if !is_possible || underway.bytes == 0 || left <= 0.0 {
            return None;
        }
        let bitrates = view.line.bitrates(underway.segment);
        self.levels.set_ladder(bitrates);
        let mut buffer = view.buffer.as_secs_f64();
        let mut left_by_then = left;
        if self.options.shared.variant == Variant::E {
            self.set_by_levels();
            // Another request has its own latency, in which the buffer shrinks and this download would go on.
            let latency = underway.first_at.since(underway.asked_at).as_secs_f64();
            let rate = estimate::progress(underway.bytes, view.now.since(underway.first_at));
            buffer = (buffer + self.placeholder - latency).max(0.0);
            left_by_then -= latency * rate;
        }
        let now = underway.representation.min(bitrates.len() - 1);
        let mut score = self.levels.score(now, buffer, left_by_then);
        if left_by_then <= 0.0 || score < 0.0 {
            return None;
        }
        let mut better = None;
        let total = underway.total as f64 * 8.0;
        for (lower, rate) in bitrates[..now].iter().enumerate() {
            let size = total * bits(*rate) / bits(bitrates[now]).max(1.0);
            let other = self.levels.score(lower, buffer, size);
            if size < left_by_then && other > score {
                (better, score) = (Some(lower), other);
            }
        }
        if let Some(lower) = better {
            self.give_up(view, underway.segment, lower);
        }
        better
    }

    fn on_seek(&mut self) {
        self.insufficient.on_seek();
        (self.retry, self.chosen, self.origin) = (Retry::default(), None, None);
        (self.is_starting, self.placeholder) = (true, 0.0);
    }

    fn estimate(&self) -> Option<Rate> {
        self.estimate.throughput().map(rate_of)
    }
}

#[cfg(test)]
mod tests;
