//! Where playback does not simply go on: gaps, seeks, and a live presentation that keeps its distance from what is filmed.

use super::clock::{Clock, UNIT};
use super::lane;
use super::record::{Outcome, What};
use super::{CATCH_UP_EVERY, Phase, Player};
use units::{Duration, Time};

impl Player {
    /// Playback has come to media that never come, or behind them.
    pub(super) fn pass_gaps(&mut self, at: Time) {
        let position = self.clock.position(at);
        self.gaps.retain(|gap| gap.end > position);
        let phase = match self.gaps.iter().any(|gap| gap.start <= position) {
            true => Phase::Missing,
            false => Phase::Playing,
        };
        if phase == self.phase {
            return;
        }
        self.enter(at, phase);
        self.show(at);
        self.note(at, if phase == Phase::Missing { What::Gap } else { What::Resume });
    }

    /// Playback goes on at another position.
    pub(super) fn seek(&mut self, at: Time, to: Duration) {
        let to = to.min(self.end);
        let position = self.clock.position(at);
        let is_held =
            to >= position && self.lanes.iter().all(|lane| lane.limit().is_none_or(|limit| to < limit));
        if self.is_running() && is_held {
            // The media are there: playback goes on at once.
            self.enter(at, Phase::Playing);
            self.clock = Clock::standing(at, to);
            self.clock.set_rate(at, UNIT);
            self.counted = (at, to);
            self.catch_up_at = at + CATCH_UP_EVERY;
            self.show(at);
        } else {
            let phase = if self.phase == Phase::StartUp { Phase::StartUp } else { Phase::Seeking };
            self.enter(at, phase);
            self.go_to(at, to);
        }
        self.note(at, What::Seek);
        if to == self.end {
            self.finish(at);
        } else if self.is_running() {
            self.pass_gaps(at);
        }
    }

    /// Cancels what is underway, and begins anew at a position with nothing in the buffer.
    pub(super) fn go_to(&mut self, now: Time, position: Duration) {
        self.clock = Clock::standing(now, position);
        self.counted = (now, position);
        self.shown = None;
        self.gaps.clear();
        for number in 0..self.lanes.len() {
            let underway = self.lanes[number].underway;
            self.lanes[number].restart(position);
            self.lanes[number].abr.on_seek();
            if let Some(fetch) = underway {
                self.end_record(now, fetch.id, Outcome::Cancelled);
                self.cancelled.push_back(fetch.id);
            }
        }
    }

    /// Keeps a live presentation near its target latency.
    pub(super) fn catch_up(&mut self, now: Time) {
        let Some(live) = self.settings.live.as_ref().filter(|_| self.is_running()) else { return };
        let latency = live.latency(now, self.clock.position(now));
        if live.max_drift.is_some_and(|drift| latency >= live.target + drift) {
            let to = lane::ahead(live.edge(now), live.target);
            return self.seek(now, to);
        }
        if now < self.catch_up_at {
            return;
        }
        let rate = live.rate(latency, self.clock.rate());
        self.count_played(now);
        self.catch_up_at = now + CATCH_UP_EVERY;
        if rate != self.clock.rate() {
            self.clock.set_rate(now, rate);
            self.note(now, What::Rate);
        }
    }
}
