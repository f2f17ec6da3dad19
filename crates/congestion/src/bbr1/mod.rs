//! BBRv1 (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00): bare section numbers are the draft's.

mod control;
mod model;
mod options;
mod phases;

use crate::bbr_outputs::{Controls, Model};
use crate::bbr_rounds::{HeldBack, Rounds};
use crate::filter::WindowedMax;
use crate::{AckSample, Adjustment, Allowance, Controller, Sent, Setup, Signal};
use control::Recovery;
use options::Bbr1Options;
use phases::{FullPipe, State};
use random::Generator;
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "bbr1",
    about: "BBRv1: paces at the maximum delivery rate of ten rounds, with a window of two bandwidth-delay products, and ignores losses (ACM Queue 2016)",
    parameters: Bbr1Options::PARAMETERS,
    build: &|arguments, setup| Box::new(Bbr1::new(arguments, setup)),
};

/// One BBRv1 sender, with the names of the draft, sections 4.1 to 4.3.
#[derive(Debug)]
pub struct Bbr1 {
    options: Bbr1Options,
    random: Generator,
    state: State,
    controls: Controls,
    /// The maximum of delivery rates in bit/s over round trips.
    bandwidths: WindowedMax,
    /// `None` before the first sample.
    min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    /// Bytes delivered so far.
    delivered: u64,
    round: Rounds,
    full_pipe: FullPipe,
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// Samples of packets sent in PROBE_RTT do not measure the bandwidth.
    held_back: HeldBack,
    recovery: Recovery,
}

impl Bbr1 {
    /// Creates a sender in STARTUP.
    pub fn new(arguments: &Arguments, setup: Setup) -> Bbr1 {
        let mut options = Bbr1Options::of(arguments);
        // No gains to cycle through are a gain that stays.
        if options.cycle_gains.is_empty() {
            options.cycle_gains.push(1.0);
        }
        Bbr1::start(options, setup)
    }

    fn start(options: Bbr1Options, setup: Setup) -> Bbr1 {
        let mut sender = Bbr1 {
            random: Generator::new(setup.seed, "bbr1"),
            state: State::Startup,
            controls: Controls::new(setup, options.high_gain, options.high_gain),
            bandwidths: WindowedMax::default(),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            delivered: 0,
            round: Rounds::default(),
            full_pipe: FullPipe::default(),
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            held_back: HeldBack::default(),
            recovery: Recovery::default(),
            options,
        };
        sender.set_send_quantum();
        sender.controls.allow();
        sender
    }

    /// RFC 9959 appendix B: unvalidated packets are sent in STARTUP only; the retreat is DRAIN.
    fn resume(&mut self, now: Time, adjustment: Adjustment) {
        match adjustment {
            Adjustment::Jump { window, rtt } | Adjustment::Seed { window, rtt }
                if self.state == State::Startup =>
            {
                self.round.begin(self.delivered);
                self.controls.resuming.begin(window, rtt, self.round.count);
                self.set_pacing_rate(self.controls.pacing_gain);
                self.set_send_quantum();
                self.controls.cwnd = self.controls.cwnd.max(self.inflight(self.controls.cwnd_gain));
            }
            Adjustment::Retreat { .. }
                if self.state == State::Startup && self.controls.resuming.retreat() =>
            {
                self.full_pipe.filled = true;
                self.check_drain(now, u64::MAX);
                self.set_pacing_rate(self.controls.pacing_gain);
            }
            _ => {}
        }
    }

    fn min_pipe_cwnd(&self) -> u64 {
        self.options.min_pipe_cwnd * self.controls.packet()
    }
}

impl Controller for Bbr1 {
    /// 4.3.4.4: after a pause in PROBE_BW, packets are paced at the estimated bandwidth.
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.begins_flight() && sent.app_limited {
            self.idle_restart = true;
            if self.state == State::ProbeBw {
                self.set_pacing_rate(1.0);
                self.controls.allow();
            }
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.leave_recovery(ack.newest_sent_at);
        let mut app_limited = true;
        self.delivered = ack.delivered;
        self.round.start = false;
        if let Some(sample) = &ack.rate {
            app_limited = sample.app_limited || self.held_back.covers(sample.prior_delivered);
            self.update_bandwidth(ack, sample, app_limited);
        }
        if self.recovery.entering {
            // The round trip of packet conservation begins with the recovery.
            self.recovery.conserving = true;
            self.round.begin(ack.delivered);
        }
        self.check_cycle(ack);
        self.check_full_pipe(app_limited);
        self.check_drain(ack.now, ack.bytes_in_flight);
        self.controls.end_resuming(self.round.count, self.state == State::Drain, self.full_pipe.filled);
        let expired = self.update_min_rtt(ack.now, ack.rtt_sample);
        self.check_probe_rtt(ack, expired);
        self.set_pacing_rate(self.controls.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd(ack);
        self.controls.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            // RFC 3168 section 5: the response to a mark is that to a loss.
            Signal::Lost { now, .. } | Signal::Marked { now, .. } => self.enter_recovery(now),
            Signal::PersistentCongestion => {
                // 4.2.3.4: as after a retransmission timeout.
                self.save_cwnd();
                self.controls.cwnd = self.controls.packet();
                self.recovery.conserving = false;
                self.recovery.entering = false;
            }
            Signal::Spurious { .. } => {
                // Another path: earlier evidence of a full pipe is void.
                self.full_pipe.bandwidth = 0.0;
                self.full_pipe.rounds = 0;
                self.controls.restore_cwnd();
                self.recovery = Recovery::default();
            }
            Signal::DatagramSize { bytes } => {
                self.controls.setup.resize(bytes);
                self.set_send_quantum();
            }
            Signal::PathChanged => *self = Bbr1::start(self.options.clone(), self.controls.setup),
            Signal::Resume { now, adjustment } => self.resume(now, adjustment),
        }
        self.controls.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.controls.allowance
    }

    fn is_rate_based(&self) -> bool {
        true
    }

    /// The initial phase of the gain cycle is random.
    fn draws(&self) -> bool {
        true
    }

    fn state(&self) -> &'static str {
        self.state.name()
    }

    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let model = Model {
            max_bw: self.bandwidth(),
            min_rtt: self.min_rtt,
            pacing_gain: self.controls.pacing_gain,
            cwnd_gain: self.controls.cwnd_gain,
            round_count: self.round.count,
        };
        model.record(record);
    }
}
