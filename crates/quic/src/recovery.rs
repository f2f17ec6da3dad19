//! What one path has in flight, what it tells of itself, and when more may be sent: the sum of RTT estimate, loss
//! detection, controller and pacer (RFC 9002).

use crate::config::Config;
use crate::loss::{self, LossRun};
use crate::sent::{Contents, SentFrame, SentKind, SentPacket};
use crate::space::Space;
use congestion::{
    Acked, Controller, Limit, Pacer, PathMetrics, Regulator, RttEstimate, SentState, Setup, Signal,
};
use trace::Log;
use trace::event::LossTrigger;
use units::{Duration, Time};

/// Packets acknowledged by one ACK frame, taken together.
#[derive(Debug, Default)]
pub(crate) struct NewlyAcked {
    /// Any packet at all.
    pub any: bool,
    ack_eliciting: bool,
    largest: u64,
    largest_sent_at: Time,
    acked: Acked,
}

impl NewlyAcked {
    /// Whether the largest of them has this number.
    pub(crate) fn is_largest(&self, number: u64) -> bool {
        self.any && self.largest == number
    }
    /// Takes one packet in.
    #[inline]
    pub(crate) fn add(
        &mut self,
        recovery: &mut Recovery,
        now: Time,
        number: u64,
        packet: &SentPacket,
        was_lost: bool,
    ) {
        let size = u64::from(packet.size);
        if was_lost {
            self.acked.count_spurious(size, packet.sent_at);
        } else if packet.in_flight {
            recovery.bytes_in_flight -= size;
            self.acked.count(size);
        }
        if packet.in_flight {
            recovery.regulator.on_delivered(now, size, packet.sent_at, &packet.rate);
        }
        if !self.any || number > self.largest {
            self.largest = number;
            self.largest_sent_at = packet.sent_at;
        }
        self.any = true;
        self.ack_eliciting |= packet.ack_eliciting;
        self.acked.saw(packet.sent_at);
    }
}

/// A packet that was declared lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub number: u64,
    pub trigger: LossTrigger,
    pub kind: SentKind,
    /// Its size in bytes.
    pub size: u32,
    pub sent_at: Time,
}

/// What one path has in flight, and what it tells of itself.
pub(crate) struct Recovery {
    /// Which packets count here: those that were sent in this epoch. Each new path begins one (RFC 9000 section 9.4).
    pub epoch: u32,
    pub rtt: RttEstimate,
    regulator: Regulator,
    pub bytes_in_flight: u64,
    pub pto_count: u32,
    /// From when a client counts to its next probe while nothing is in flight: the last time that something ack-eliciting
    /// was sent or the timer was set anew (RFC 9002 section A.8).
    pub probe_base: Time,
    first_sample_at: Option<Time>,
}

impl Recovery {
    pub(crate) fn new(config: &Config, controller: Box<dyn Controller>) -> Recovery {
        let packet = u64::from(config.first_payload());
        let pacer = Pacer::new(config.pacing_burst * packet, config.pacing_quantum * packet);
        Recovery {
            epoch: 0,
            rtt: RttEstimate::new(config.initial_rtt),
            regulator: Regulator::new(Time::ZERO, controller, pacer),
            bytes_in_flight: 0,
            pto_count: 0,
            probe_base: Time::ZERO,
            first_sample_at: None,
        }
    }

    /// A path that nothing was sent on, with this RTT in the place of the option's where it is known; `None` without a
    /// controller of the name in the options.
    pub(crate) fn fresh(config: &Config, rtt: Option<Duration>, seed: u64) -> Option<Recovery> {
        let known = Config { initial_rtt: rtt.unwrap_or(config.initial_rtt), ..config.clone() };
        let chosen = &config.controller;
        let controller = congestion::build(chosen.name, &chosen.arguments, Recovery::setup(&known, seed))?;
        Some(Recovery::new(&known, controller))
    }

    /// What a controller is made from; all that it draws follows from `seed`.
    pub(crate) fn setup(config: &Config, seed: u64) -> Setup {
        let packet = u64::from(config.first_payload());
        Setup {
            max_datagram_size: packet,
            initial_window: congestion::initial_window(config.initial_window, packet),
            initial_packets: config.initial_window,
            initial_rtt: config.initial_rtt,
            seed,
        }
    }

    /// Datagrams have another size from now on (RFC 9002 section 7.2).
    pub(crate) fn set_datagram_size(&mut self, now: Time, bytes: u64) {
        self.regulator.signal(now, &Signal::DatagramSize { bytes });
    }

    /// Asks for the controller.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.regulator.prefetch();
    }

    /// The congestion window in bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.regulator.window()
    }
    /// Whether the window admits a packet of this size.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        self.bytes_in_flight + bytes <= self.window()
    }
    /// When the pacer lets the next packet go, if not now.
    #[inline]
    pub(crate) fn paced_until(&mut self, now: Time) -> Option<Time> {
        self.regulator.paced_until(now)
    }
    /// See [`Regulator::note_stop`].
    #[inline]
    pub(crate) fn note_stop(&mut self, now: Time, limit: Limit) {
        self.regulator.note_stop(now, limit, self.bytes_in_flight);
    }
    /// See [`Regulator::note_dry`].
    #[inline]
    pub(crate) fn note_dry(&mut self, now: Time) {
        self.regulator.note_dry(now);
    }
    /// See [`Regulator::trace`].
    pub(crate) fn trace(&self, now: Time, told: &mut &'static str, log: &mut Log) {
        let Recovery { rtt, bytes_in_flight, pto_count, .. } = self;
        let path = PathMetrics { rtt, bytes_in_flight: *bytes_in_flight, pto_count: *pto_count };
        self.regulator.trace(now, &path, told, log);
    }

    /// A packet leaves.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, space: &mut Space, size: u32, contents: &Contents) {
        let rate = if contents.in_flight {
            self.regulator.before_sent(now, u64::from(size), self.bytes_in_flight)
        } else {
            // Section 2.2: packets of ACK frames alone are no part of what is in flight.
            SentState::default()
        };
        space.sent.push(now, size, rate, contents);
        if contents.ack_eliciting {
            space.last_eliciting_at = now;
            self.probe_base = now;
        }
        if contents.in_flight {
            let bytes = u64::from(size);
            self.bytes_in_flight += bytes;
            self.regulator.on_sent(now, bytes, self.bytes_in_flight, &rate);
        }
    }

    /// Before an ACK frame is taken in.
    #[inline]
    pub(crate) fn begin_ack(&mut self) {
        self.regulator.begin_ack(self.bytes_in_flight);
    }

    /// The RTT sample of an ACK frame (RFC 9002 section 5.1): only if it newly acknowledged its largest packet and
    /// something ack-eliciting. Gives the sample.
    #[inline]
    pub(crate) fn sample_rtt(
        &mut self,
        now: Time,
        largest: u64,
        newly: &mut NewlyAcked,
        ack_delay: Duration,
    ) -> Option<Duration> {
        if newly.largest != largest || !newly.ack_eliciting {
            return None;
        }
        let sample = now.since(newly.largest_sent_at);
        self.rtt.update(sample, ack_delay);
        self.first_sample_at.get_or_insert(now);
        newly.acked.rtt_sample = Some(sample);
        Some(sample)
    }

    /// Finds what is lost in a space (RFC 9002 section A.10); the frames go to `lost_frame`, the packets into `losses`.
    pub(crate) fn detect_losses(
        &mut self,
        now: Time,
        space: &mut Space,
        max_ack_delay: Duration,
        losses: &mut Vec<Loss>,
        mut lost_frame: impl FnMut(SentFrame),
    ) {
        space.loss_time = None;
        let Some(largest_acked) = space.largest_acked else { return };
        if space.sent.first_number() >= largest_acked {
            return;
        }
        let threshold = loss::time_threshold(&self.rtt);
        losses.clear();
        for (number, packet) in space.sent.outstanding_to(largest_acked) {
            match loss::judge((number, packet.sent_at), largest_acked, threshold, now) {
                Ok(trigger) => {
                    let SentPacket { kind, size, sent_at, .. } = *packet;
                    losses.push(Loss { number, trigger, kind, size, sent_at });
                }
                Err(at) => {
                    space.loss_time = Some(space.loss_time.map_or(at, |known: Time| known.min(at)));
                }
            }
        }
        if losses.is_empty() {
            return;
        }
        let mut run = LossRun::default();
        for loss in &*losses {
            let Some(packet) = space.sent.lose(loss.number, &mut lost_frame) else { continue };
            // RFC 9000-9.4-1: what another path lost says nothing of this one.
            if packet.epoch != self.epoch {
                continue;
            }
            // RFC 9000 section 14.4: what is larger than what is known to pass may be lost without congestion.
            let probe = packet.kind == SentKind::MtuProbe;
            if probe {
                self.bytes_in_flight -= u64::from(packet.size);
            } else if packet.in_flight {
                let bytes = u64::from(packet.size);
                self.bytes_in_flight -= bytes;
                self.regulator.on_lost(bytes, packet.sent_at, &packet.rate);
            }
            if self.first_sample_at.is_some_and(|first| packet.sent_at > first) {
                run.lost(loss.number, packet.sent_at, packet.ack_eliciting && !probe);
            }
        }
        // RFC 9000-13.3-4.
        let told = self.regulator.end_losses(now, self.bytes_in_flight);
        if told && run.longest() >= loss::persistent_congestion_period(&self.rtt, max_ack_delay) {
            self.regulator.signal(now, &Signal::PersistentCongestion);
        }
    }

    /// The peer has told of more packets that came with CE (RFC 9002 sections 7.1 and B.7).
    pub(crate) fn on_marked(&mut self, now: Time, packets: u64, newly: &mut NewlyAcked) {
        newly.acked.marked = packets;
        let newest_sent_at = newly.largest_sent_at;
        self.regulator.signal(now, &Signal::Marked { now, packets, newest_sent_at });
    }

    /// Tells the controller of an ACK frame whose losses are already told.
    #[inline]
    pub(crate) fn finish_ack(&mut self, now: Time, newly: &NewlyAcked) {
        // RFC 9002 section A.7: the timer is set anew with every acknowledgement.
        self.probe_base = now;
        self.regulator.end_ack(now, &newly.acked, self.bytes_in_flight, &self.rtt);
    }

    /// The delay of a path validation is the first guess of the RTT (RFC 9002 section 6.2.2), not a sample.
    pub(crate) fn guess_rtt(&mut self, delay: Duration) {
        if self.first_sample_at.is_none() {
            self.rtt = RttEstimate::new(delay);
        }
    }

    /// A space is given up with all that it has in flight (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, now: Time, space: &mut Space) {
        self.probe_base = now;
        self.bytes_in_flight -= space.sent.discard_all();
        self.pto_count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SentKind::{MtuProbe, Plain};

    /// Packets that were sent at these times are lost, one behind them is acknowledged: the window then. `sampled`: whether
    /// there was a sample of the RTT, of 20 ms, before the first.
    fn window_after(sampled: bool, lost: &[(u64, SentKind)]) -> u64 {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let config = Config::default();
        let setup = Recovery::setup(&config, 1);
        let controller = congestion::build("newreno", &config.controller.arguments, setup).unwrap();
        let mut recovery = Recovery::new(&config, controller);
        if sampled {
            recovery.rtt.update(Duration::from_millis(20), Duration::ZERO);
            recovery.first_sample_at = Some(at(0));
        }
        let mut space = Space::new();
        for (sent_at, kind) in lost.iter().chain(&[(2000, Plain)]) {
            let contents =
                Contents { ack_eliciting: true, in_flight: true, kind: *kind, ..Contents::default() };
            recovery.on_sent(at(*sent_at), &mut space, 1000, &contents);
        }
        let (now, number) = (at(2020), lost.len() as u64);
        recovery.begin_ack();
        let mut newly = NewlyAcked::default();
        let (packet, was_lost) = space.sent.acknowledge(number, |_| ()).unwrap();
        newly.add(&mut recovery, now, number, packet, was_lost);
        space.largest_acked = Some(number);
        recovery.sample_rtt(now, number, &mut newly, Duration::ZERO);
        let mut losses = Vec::new();
        let max_ack_delay = Duration::from_millis(25);
        recovery.detect_losses(now, &mut space, max_ack_delay, &mut losses, |_| ());
        assert_eq!(losses.len(), lost.len());
        recovery.finish_ack(now, &newly);
        recovery.window()
    }

    /// RFC 9002 section 7.6.2: two ack-eliciting packets, both sent behind the first sample. RFC 9000 section 14.4: the loss
    /// of a probe of the MTU says nothing of congestion.
    #[test]
    fn what_persistent_congestion_is_made_of() {
        let long = window_after(true, &[(100, Plain), (600, Plain), (1100, Plain)]);
        assert!(long < 5_000, "{long}");
        let (first, halved) = (14_720, 7_360);
        assert!(window_after(true, &[(100, MtuProbe), (600, MtuProbe), (1100, MtuProbe)]) >= first);
        for (sampled, lost) in [
            (true, [(100, Plain), (600, MtuProbe), (1100, MtuProbe)]),
            (false, [(100, Plain), (600, Plain), (1100, Plain)]),
        ] {
            let window = window_after(sampled, &lost);
            assert!(window >= halved && window < first, "{window}");
        }
    }
}
