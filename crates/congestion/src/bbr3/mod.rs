//! BBRv3 (draft-ietf-ccwg-bbr-06). Functions and variables have the draft's names; bare section numbers refer to the
//! draft.

mod control;
mod loss;
mod model;
mod options;
mod phases;
mod state;

use crate::bbr_outputs::{Controls, Model};
use crate::bbr_rounds::{HeldBack, Rounds};
use crate::{AckSample, Adjustment, Allowance, Controller, Limit, Sent, Setup, Signal};
use options::Bbr3Options;
use random::Generator;
use state::{
    Bounds, CwndLimited, Cycle, ExtraAcked, FullBandwidth, INFINITY, Latest, MaxBandwidth, MinRtt, Recovery,
    Sample, State,
};
use units::parameter::{Arguments, Options, Row};
use units::{Rate, Time};

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "bbr3",
    about: "BBRv3: a model of the path from delivery rate, least RTT and loss sets pacing rate and window (draft-ietf-ccwg-bbr-06)",
    parameters: Bbr3Options::PARAMETERS,
    build: &|arguments, setup| Box::new(Bbr3::new(arguments, setup)),
};

/// One BBRv3 sender.
#[derive(Debug)]
pub struct Bbr3 {
    options: Bbr3Options,
    random: Generator,
    // The connection (2.2), as last reported to the controller.
    now: Time,
    delivered: u64,
    in_flight: u64,
    cwnd_limited: CwndLimited,
    // The model of the path (2.9).
    sample: Sample,
    max_bw: MaxBandwidth,
    bounds: Bounds,
    bw: u64,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    latest: Latest,
    // The state machine (2.7).
    state: State,
    rounds: Rounds,
    drain_start_round: u64,
    idle_restart: bool,
    full_bw: FullBandwidth,
    cycle: Cycle,
    recovery: Recovery,
    held_back: HeldBack,
    controls: Controls,
    max_inflight: u64,
}

impl Bbr3 {
    /// Creates a sender in Startup.
    pub fn new(arguments: &Arguments, setup: Setup) -> Bbr3 {
        let mut options = Bbr3Options::of(arguments);
        // The value 1 would move the point of `InflightAtLoss()` to infinity.
        options.loss_thresh = options.loss_thresh.min(0.99);
        Bbr3::start(options, setup)
    }

    /// `OnInit()` (5.2.1). The clock is still unknown, so the first sample sets the time stamps of the filters.
    fn start(options: Bbr3Options, setup: Setup) -> Bbr3 {
        let mut sender = Bbr3 {
            random: Generator::new(setup.seed, "bbr3"),
            now: Time::ZERO,
            delivered: 0,
            in_flight: 0,
            cwnd_limited: CwndLimited::default(),
            sample: Sample::default(),
            max_bw: MaxBandwidth::default(),
            bounds: Bounds::NONE,
            bw: 0,
            min_rtt: MinRtt::default(),
            extra_acked: ExtraAcked::default(),
            latest: Latest::default(),
            state: State::Startup,
            rounds: Rounds::default(),
            drain_start_round: 0,
            idle_restart: false,
            full_bw: FullBandwidth::default(),
            cycle: Cycle::default(),
            recovery: Recovery::default(),
            held_back: HeldBack::default(),
            controls: Controls::new(setup, options.startup_pacing_gain, options.default_cwnd_gain),
            max_inflight: 0,
            options,
        };
        sender.set_send_quantum();
        sender.controls.allow();
        sender
    }

    /// MinPipeCwnd in bytes.
    fn min_pipe_cwnd(&self) -> u64 {
        self.options.min_pipe_cwnd * self.controls.packet()
    }

    /// Converts the transport's report of an ACK frame to RS (2.3).
    fn take_sample(&mut self, ack: &AckSample<'_>) {
        debug_assert!(ack.now >= self.now, "time does not go back");
        self.now = ack.now;
        self.delivered = ack.delivered;
        self.in_flight = ack.bytes_in_flight;
        let Some(rate) = ack.rate else {
            self.sample = Sample { newly_acked: ack.acked_bytes, app_limited: true, ..Sample::default() };
            return;
        };
        self.sample = Sample {
            delivery_rate: rate.rate.map_or(0, Rate::as_bits_per_sec),
            delivered: rate.delivered,
            prior_delivered: rate.prior_delivered,
            newly_acked: ack.acked_bytes,
            prior_in_flight: ack.prior_in_flight,
            tx_in_flight: rate.in_flight,
            lost: rate.lost,
            app_limited: rate.app_limited || self.held_back.covers(rate.prior_delivered),
        };
    }

    /// `UpdateModelAndState()` (5.2.3).
    fn update_model_and_state(&mut self, ack: &AckSample<'_>) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.controls.end_resuming(self.rounds.count, self.state == State::Drain, self.full_bw.reached);
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt(ack.rtt_sample);
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }

    /// RFC 9959 appendix B: unvalidated packets are sent in Startup only; the retreat is Drain.
    fn resume(&mut self, adjustment: Adjustment) {
        match adjustment {
            Adjustment::Jump { window, rtt } | Adjustment::Seed { window, rtt }
                if self.state == State::Startup =>
            {
                self.rounds.begin(self.delivered);
                self.controls.resuming.begin(window, rtt, self.rounds.count);
                self.set_pacing_rate(self.controls.pacing_gain);
                self.set_send_quantum();
                let bandwidth = (self.bw as f64).max(self.controls.resuming.rate()) as u64;
                self.controls.cwnd =
                    self.controls.cwnd.max(self.bdp_multiple(bandwidth, self.controls.cwnd_gain));
            }
            Adjustment::Retreat { .. }
                if self.state == State::Startup && self.controls.resuming.retreat() =>
            {
                (self.full_bw.now, self.full_bw.reached) = (true, true);
                self.check_startup_done();
                self.set_pacing_rate(self.controls.pacing_gain);
            }
            _ => {}
        }
    }
}

impl Controller for Bbr3 {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        self.now = sent.now;
        self.in_flight = sent.bytes_in_flight;
        if sent.bytes_in_flight + self.controls.packet() > self.controls.cwnd {
            self.cwnd_limited.note();
        }
        if sent.begins_flight() && sent.app_limited {
            self.handle_restart_from_idle();
            self.controls.allow();
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.take_sample(ack);
        if ack.limit == Limit::Window {
            self.cwnd_limited.note();
        }
        self.leave_recovery(ack.newest_sent_at);
        self.update_model_and_state(ack);
        self.set_pacing_rate(self.controls.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd();
        self.controls.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, bytes_in_flight, packets, .. } => {
                self.now = now;
                self.in_flight = bytes_in_flight;
                self.enter_recovery(newest_sent_at);
                packets.iter().for_each(|packet| self.handle_lost_packet(packet));
            }
            Signal::Marked { now, packets, newest_sent_at } => {
                self.now = now;
                self.handle_marked(packets, newest_sent_at);
            }
            Signal::PersistentCongestion => self.enter_rto(),
            Signal::Spurious { now, bytes, newest_sent_at, .. } => {
                self.now = now;
                self.handle_spurious(bytes, newest_sent_at);
            }
            Signal::DatagramSize { bytes } => {
                self.controls.setup.resize(bytes);
                self.set_send_quantum();
            }
            Signal::PathChanged => *self = Bbr3::start(self.options.clone(), self.controls.setup),
            Signal::Resume { now, adjustment } => {
                self.now = now;
                self.resume(adjustment);
            }
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

    /// The time to probe for bandwidth is random.
    fn draws(&self) -> bool {
        true
    }

    fn state(&self) -> &'static str {
        self.state.name()
    }

    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let mbps = |bits: u64| bits as f64 / 1e6;
        let model = Model {
            max_bw: self.max_bw.get() as f64,
            min_rtt: self.min_rtt.value,
            pacing_gain: self.controls.pacing_gain,
            cwnd_gain: self.controls.cwnd_gain,
            round_count: self.rounds.count,
        };
        model.record(record);
        record("bw_mbps", mbps(self.bw));
        record("max_inflight_bytes", self.max_inflight as f64);
        record("extra_acked_bytes", self.extra_acked.filter.get() as f64);
        let Bounds { bw_shortterm, inflight_shortterm, inflight_longterm } = self.bounds;
        if bw_shortterm != INFINITY {
            record("bw_shortterm_mbps", mbps(bw_shortterm));
        }
        if inflight_shortterm != INFINITY {
            record("inflight_shortterm_bytes", inflight_shortterm as f64);
        }
        if inflight_longterm != INFINITY {
            record("inflight_longterm_bytes", inflight_longterm as f64);
        }
        record("full_bw_count", self.full_bw.count as f64);
        record("full_bw_now", f64::from(u8::from(self.full_bw.now)));
        record("idle_restart", f64::from(u8::from(self.idle_restart)));
        record("full_bw_reached", f64::from(u8::from(self.full_bw.reached)));
    }
}
