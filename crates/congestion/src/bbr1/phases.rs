//! The state machine (section 4.3): STARTUP, DRAIN, PROBE_BW, and occasionally PROBE_RTT.

use super::Bbr1;
use crate::AckSample;
use units::{Duration, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Detects a full pipe in STARTUP (section 4.3.2.1).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FullPipe {
    pub(super) bandwidth: f64,
    pub(super) rounds: u64,
    pub(super) filled: bool,
}

impl State {
    /// The name in traces.
    pub(super) fn name(self) -> &'static str {
        match self {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw => "probe_bw",
            State::ProbeRtt => "probe_rtt",
        }
    }
}

impl Bbr1 {
    pub(super) fn check_full_pipe(&mut self, app_limited: bool) {
        if self.full_pipe.filled || !self.round.start || app_limited {
            return;
        }
        let bandwidth = self.bandwidth();
        if bandwidth >= self.full_pipe.bandwidth * self.options.full_pipe_growth {
            self.full_pipe = FullPipe { bandwidth, rounds: 0, filled: false };
            return;
        }
        self.full_pipe.rounds += 1;
        self.full_pipe.filled = self.full_pipe.rounds >= self.options.full_pipe_rounds;
    }

    pub(super) fn check_drain(&mut self, now: Time, bytes_in_flight: u64) {
        if self.state == State::Startup && self.full_pipe.filled {
            self.state = State::Drain;
            self.controls.pacing_gain = self.options.drain_gain;
            self.controls.cwnd_gain = self.options.high_gain;
        }
        if self.state == State::Drain && bytes_in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.controls.pacing_gain = self.options.high_gain;
        self.controls.cwnd_gain = self.options.high_gain;
    }

    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.controls.cwnd_gain = self.options.cwnd_gain;
        // 4.3.4.3: a random phase other than the second, which drains; the next advance moves on from index to index
        // + 1.
        let phases = self.options.cycle_gains.len();
        let back = self.random.below((phases as u64).saturating_sub(1).max(1)) as usize;
        self.cycle_index = phases - 1 - back;
        self.advance_cycle(now);
    }

    pub(super) fn advance_cycle(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % self.options.cycle_gains.len();
        self.controls.pacing_gain = self.options.cycle_gains[self.cycle_index];
    }

    pub(super) fn check_cycle(&mut self, ack: &AckSample<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let full_length = ack.now.since(self.cycle_stamp) > self.min_rtt.unwrap_or(Duration::MAX);
        let gain = self.controls.pacing_gain;
        let next = if gain > 1.0 {
            // Until the pipe holds what the gain asks for, or losses show that it cannot.
            full_length && (ack.lost_bytes > 0 || ack.prior_in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            // Until the queue is empty, but no longer than an RTT.
            full_length || ack.prior_in_flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.advance_cycle(ack.now);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, ack: &AckSample<'_>, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.controls.pacing_gain = 1.0;
            self.controls.cwnd_gain = 1.0;
            self.probe_rtt_done_stamp = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        self.idle_restart = false;
    }

    pub(super) fn handle_probe_rtt(&mut self, ack: &AckSample<'_>) {
        self.held_back.mark(ack.delivered, ack.bytes_in_flight);
        match self.probe_rtt_done_stamp {
            None if ack.bytes_in_flight <= self.min_pipe_cwnd() => {
                self.probe_rtt_done_stamp = Some(ack.now + self.options.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round.begin(ack.delivered);
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.round.start;
                if self.probe_rtt_round_done && ack.now > done {
                    self.exit_probe_rtt(ack.now);
                }
            }
        }
    }

    pub(super) fn exit_probe_rtt(&mut self, now: Time) {
        self.min_rtt_stamp = now;
        self.controls.restore_cwnd();
        if self.full_pipe.filled {
            self.enter_probe_bw(now);
        } else {
            self.enter_startup();
        }
    }
}
