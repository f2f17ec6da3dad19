//! The state machine: Startup, Drain, the cycle of ProbeBW, ProbeRTT (5.3).

use super::Bbr3;
use super::state::{AckPhase, INFINITY, State};
use units::Duration;

impl Bbr3 {
    /// The gains of each state: the table of 5.6.1.
    fn enter(&mut self, state: State) {
        let options = &self.options;
        (self.controls.pacing_gain, self.controls.cwnd_gain) = match state {
            State::Startup => (options.startup_pacing_gain, options.default_cwnd_gain),
            State::Drain => (options.drain_pacing_gain, options.default_cwnd_gain),
            State::ProbeBwDown => (options.probe_down_pacing_gain, options.default_cwnd_gain),
            State::ProbeBwCruise | State::ProbeBwRefill => (1.0, options.default_cwnd_gain),
            State::ProbeBwUp => (options.probe_up_pacing_gain, options.probe_up_cwnd_gain),
            State::ProbeRtt => (1.0, options.probe_rtt_cwnd_gain),
        };
        self.state = state;
    }

    // ---- 5.3.1: Startup ----

    /// `EnterStartup()`.
    pub(super) fn enter_startup(&mut self) {
        self.enter(State::Startup);
    }

    /// `CheckFullBWReached()` (5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full_bw.now || !self.rounds.start || self.sample.app_limited {
            return;
        }
        let rate = self.sample.delivery_rate;
        if rate as f64 >= self.full_bw.bw as f64 * self.options.full_bw_growth {
            self.full_bw.reset(rate);
            return;
        }
        self.full_bw.count += 1;
        self.full_bw.now = self.full_bw.count >= self.options.full_bw_rounds;
        self.full_bw.reached |= self.full_bw.now;
    }

    /// `CheckStartupDone()`.
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_bw.reached {
            // 5.3.2: EnterDrain().
            self.enter(State::Drain);
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss()` (5.3.1.3): a full round trip of recovery has passed, with too much loss in enough
    /// places.
    fn check_startup_high_loss(&mut self) {
        let lossy = self.latest.round_start && self.latest.was_loss_in_round;
        if self.state != State::Startup
            || !lossy
            || self.latest.ranges < self.options.startup_full_loss_count
            || !self.is_inflight_too_high(&self.sample)
        {
            return;
        }
        self.recovery.undo_state = Some(State::Startup);
        // A.2: both.
        self.full_bw.now = true;
        self.full_bw.reached = true;
        self.bounds.inflight_longterm = self.bdp().max(self.latest.inflight);
    }

    // ---- 5.3.2: Drain ----

    /// `CheckDrainDone()`.
    pub(super) fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.in_flight <= self.inflight(self.bw, 1.0)
                || self.rounds.count > self.drain_start_round + 3)
        {
            self.start_probe_bw_down();
        }
    }

    // ---- 5.3.3: ProbeBW ----

    /// `PickProbeWait()` (5.3.3.8.3).
    fn pick_probe_wait(&mut self) {
        self.cycle.rounds_since_up = self.random.below(2);
        let spread = self.options.bw_probe_wait_spread.as_nanos().saturating_add(1);
        self.cycle.wait = self.options.bw_probe_wait + Duration::from_nanos(self.random.below(spread));
    }

    /// `StartProbeBW_DOWN()`.
    pub(super) fn start_probe_bw_down(&mut self) {
        self.reset_congestion_signals();
        self.cycle.acked_per_increase = INFINITY;
        self.pick_probe_wait();
        self.cycle.stamp = self.now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin(self.delivered);
        self.enter(State::ProbeBwDown);
    }

    /// `StartProbeBW_CRUISE()`.
    fn start_probe_bw_cruise(&mut self) {
        self.enter(State::ProbeBwCruise);
    }

    /// `StartProbeBW_REFILL()`.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.prev_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.begin(self.delivered);
        self.enter(State::ProbeBwRefill);
    }

    /// `StartProbeBW_UP()`.
    fn start_probe_bw_up(&mut self) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.begin(self.delivered);
        self.full_bw.reset(self.sample.delivery_rate);
        self.enter(State::ProbeBwUp);
        self.raise_inflight_longterm_slope();
    }

    /// `UpdateProbeBWCyclePhase()`.
    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw.reached || self.adapt_long_term_model() {
            return;
        }
        let state = self.state;
        match state {
            State::ProbeBwDown if self.is_time_to_probe_bw() => self.start_probe_bw_refill(),
            State::ProbeBwDown if self.is_time_to_cruise() => self.start_probe_bw_cruise(),
            State::ProbeBwCruise if self.is_time_to_probe_bw() => self.start_probe_bw_refill(),
            State::ProbeBwRefill if self.rounds.start => {
                self.cycle.is_sample = true;
                self.start_probe_bw_up();
            }
            State::ProbeBwUp if self.is_time_to_go_down() => {
                self.cycle.prev_too_high = false;
                self.start_probe_bw_down();
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW()` (5.3.3.8.3).
    fn is_time_to_probe_bw(&self) -> bool {
        let elapsed = self.now > self.cycle.stamp + self.cycle.wait;
        // IsRenoCoexistenceProbeTime(): as many round trips as Reno would have packets in flight.
        let reno_rounds = self.target_inflight() / self.controls.packet().max(1);
        let rounds = reno_rounds.min(self.options.bw_probe_max_rounds);
        elapsed || self.cycle.rounds_since_up >= rounds
    }

    /// `IsTimeToCruise()`.
    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom()
            && self.in_flight <= self.inflight(self.max_bw.get(), 1.0)
    }

    /// `IsTimeToGoDown()` (5.3.3.7).
    fn is_time_to_go_down(&mut self) -> bool {
        let longterm = self.bounds.inflight_longterm;
        // 5.3.3.6: the last probe went too high, so this one stops as soon as it reaches that bound. The bytes in
        // flight before this acknowledgement count, because afterwards they are below the window and thus below the
        // bound.
        if self.cycle.prev_too_high && self.sample.prior_in_flight + self.controls.packet() > longterm {
            self.cycle.prev_precautionary = true;
            return true;
        }
        if self.cwnd_limited.get() && self.controls.cwnd >= longterm {
            // The bound limits the rate, not the path.
            self.full_bw.reset(self.sample.delivery_rate);
            return false;
        }
        self.full_bw.now
    }

    /// `RaiseInflightLongtermSlope()` (5.3.3.9).
    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = 1u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_increase = (self.controls.cwnd / growth_this_round).max(self.controls.packet());
    }

    /// `ProbeInflightLongtermUpward()` (5.3.3.9).
    fn probe_inflight_longterm_upward(&mut self) {
        if !self.cwnd_limited.get() || self.controls.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.cycle.up_acked += self.sample.newly_acked;
        let per_increase = self.cycle.acked_per_increase.max(1);
        let delta = self.cycle.up_acked / per_increase;
        debug_assert!(delta * per_increase <= self.cycle.up_acked, "only acknowledged bytes are spent");
        self.cycle.up_acked -= delta * per_increase;
        let longterm = &mut self.bounds.inflight_longterm;
        *longterm = longterm.saturating_add(delta.saturating_mul(self.controls.setup.max_datagram_size));
        if self.rounds.start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `AdaptLongTermModel()` (5.3.3.9). Returns whether it has chosen a state.
    fn adapt_long_term_model(&mut self) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.rounds.start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.rounds.start {
            self.cycle.is_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !self.sample.app_limited {
                self.max_bw.advance();
            }
            // 5.3.3.6: the cautious probe found no excess, so the next one need not be cautious.
            if self.state.is_probe_bw() && self.cycle.prev_precautionary && !self.cycle.prev_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if self.is_inflight_too_high(&self.sample) || self.bounds.inflight_longterm == INFINITY {
            return false;
        }
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(self.sample.tx_in_flight);
        if self.state == State::ProbeBwUp {
            self.probe_inflight_longterm_upward();
        }
        false
    }

    // ---- 5.3.4: ProbeRTT ----

    /// `CheckProbeRTT()`.
    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.enter(State::ProbeRtt);
            self.save_cwnd();
            self.min_rtt.done_stamp = None;
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT()`.
    fn handle_probe_rtt(&mut self) {
        // MarkConnectionAppLimited(): the low rates of this period are meaningless.
        self.held_back.mark(self.delivered, self.in_flight);
        if self.min_rtt.done_stamp.is_none() {
            if self.in_flight <= self.probe_rtt_cwnd() {
                self.min_rtt.done_stamp = Some(self.now + self.options.probe_rtt_duration);
                self.min_rtt.round_done = false;
                self.rounds.begin(self.delivered);
            }
            return;
        }
        self.min_rtt.round_done |= self.rounds.start;
        if self.min_rtt.round_done {
            self.check_probe_rtt_done();
        }
    }

    /// `CheckProbeRTTDone()`.
    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.min_rtt.done_stamp.is_some_and(|done| self.now > done) {
            self.min_rtt.probe_stamp = self.now;
            self.controls.restore_cwnd();
            self.exit_probe_rtt();
        }
    }

    /// `ExitProbeRTT()` (5.3.4.4).
    fn exit_probe_rtt(&mut self) {
        self.reset_short_term_model();
        if self.full_bw.reached {
            self.start_probe_bw_down();
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }
}
