//! The recovery state of one path (RFC 9002): packets in flight, RTT estimate, loss detection, congestion controller
//! and pacer.

use crate::config::Config;
use crate::loss::{self, LossRun};
use crate::sent::{Contents, SentFrame, SentKind, SentPacket};
use crate::space::Space;
use congestion::{
    Acked, Capacity, Controller, Learned, Limit, Pacer, PathMetrics, Phase, Regulator, RttEstimate,
    SentState, Setup, Signal,
};
use trace::event::LossTrigger;
use trace::{Log, Wait};
use units::{Duration, Time};

/// The packets newly acknowledged by one ACK frame, combined.
#[derive(Debug, Default)]
pub(crate) struct NewlyAcked {
    /// Whether there is any packet.
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
    /// Adds one packet.
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
            debug_assert!(
                size <= recovery.bytes_in_flight,
                "what is acknowledged was counted when it was sent"
            );
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

/// A packet declared lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub number: u64,
    pub trigger: LossTrigger,
    pub kind: SentKind,
    /// Its size in bytes.
    pub size: u32,
    pub sent_at: Time,
}

/// The recovery state of one path.
pub(crate) struct Recovery {
    /// The epoch of the packets that count for this path. Each new path starts one (RFC 9000 section 9.4).
    pub epoch: u32,
    pub rtt: RttEstimate,
    regulator: Regulator,
    pub bytes_in_flight: u64,
    pub pto_count: u32,
    /// The start of a client's probe timeout while nothing is in flight: the last time that an ack-eliciting packet
    /// was sent or the timer was restarted (RFC 9002 section A.8).
    pub probe_base: Time,
    first_sample_at: Option<Time>,
}

impl Recovery {
    pub(crate) fn new(config: &Config, controller: Box<dyn Controller>) -> Recovery {
        let packet = u64::from(config.first_payload());
        let pacer = Pacer::new(packet, config.pacing_burst, config.pacing_quantum);
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

    /// The state of a new path, with this initial RTT, if known, instead of the option.
    pub(crate) fn fresh(config: &Config, rtt: Option<Duration>, seed: u64) -> Recovery {
        let known = Config { initial_rtt: rtt.unwrap_or(config.initial_rtt), ..config.clone() };
        let chosen = &config.controller;
        let controller = congestion::build(chosen.name, &chosen.arguments, Recovery::setup(&known, seed));
        Recovery::new(
            &known,
            controller.expect("the controller of the first path can be built for another one"),
        )
    }

    /// The setup of a controller; `seed` determines its random draws.
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

    /// Reports a new datagram size to the controller (RFC 9002 section 7.2).
    pub(crate) fn set_datagram_size(&mut self, now: Time, bytes: u64) {
        self.regulator.signal(now, &Signal::DatagramSize { bytes });
    }

    /// Prefetches the controller.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.regulator.prefetch();
    }

    /// The regulator, for Careful Resume.
    pub(crate) fn regulator(&mut self) -> &mut Regulator {
        &mut self.regulator
    }
    /// Whether packets of the Unvalidated phase of Careful Resume are being sent.
    pub(crate) fn is_unvalidated(&self) -> bool {
        self.regulator.resuming().is_some_and(|resuming| resuming.phase() == Phase::Unvalidated)
    }
    /// See [`Regulator::jump`].
    pub(crate) fn jump(&mut self, now: Time, limit: Limit) {
        self.regulator.jump(now, limit, self.bytes_in_flight);
    }
    /// Saves what was learned of the path, see [`Capacity::observe`].
    pub(crate) fn save(&self, now: Time, capacity: &mut Capacity, last: bool) -> Option<Learned> {
        capacity.observe(now, &self.regulator, &self.rtt, last)
    }

    /// The congestion window in bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.regulator.window()
    }
    /// Whether the window has room for a packet of this size.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        self.bytes_in_flight + bytes <= self.window()
    }
    /// The time at which the pacer releases the next packet, if not now.
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
    /// The meaning of a full window.
    pub(crate) fn wait(&self) -> Wait {
        Wait::window(self.pto_count, self.regulator.controller().state())
    }
    /// The wait after everything has been sent.
    pub(crate) fn after_all(&self) -> Wait {
        Wait::after_all(self.bytes_in_flight, self.pto_count)
    }
    /// See [`Regulator::trace`].
    pub(crate) fn trace(&self, now: Time, traced_state: &mut &'static str, log: &mut Log) {
        let Recovery { rtt, bytes_in_flight, pto_count, .. } = self;
        let path = PathMetrics { rtt, bytes_in_flight: *bytes_in_flight, pto_count: *pto_count };
        self.regulator.trace(now, &path, traced_state, log);
    }

    /// Records a sent packet.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, space: &mut Space, size: u32, contents: &Contents) {
        let rate = if contents.in_flight {
            self.regulator.before_sent(now, u64::from(size), self.bytes_in_flight)
        } else {
            // RFC 9002 section 2: packets with only ACK frames do not count as in flight.
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

    /// Starts processing an ACK frame.
    #[inline]
    pub(crate) fn begin_ack(&mut self) {
        self.regulator.begin_ack(self.bytes_in_flight);
    }

    /// The RTT sample of an ACK frame (RFC 9002 section 5.1): returned only if the frame newly acknowledges its
    /// largest packet and an ack-eliciting one.
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
        debug_assert!(newly.largest_sent_at <= now, "a packet is sent before it is acknowledged");
        let sample = now.since(newly.largest_sent_at);
        self.rtt.update(sample, ack_delay);
        self.first_sample_at.get_or_insert(now);
        newly.acked.rtt_sample = Some(sample);
        Some(sample)
    }

    /// Detects the lost packets of a space (RFC 9002 section A.10); passes their frames to `lost_frame` and stores
    /// the packets in `losses`.
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
        debug_assert!(largest_acked < space.sent.next_number(), "the peer acknowledges only what was sent");
        let threshold = loss::time_threshold(&self.rtt);
        losses.clear();
        for (number, packet) in space.sent.outstanding_to(largest_acked) {
            match loss::judge(number, packet.sent_at, largest_acked, threshold, now) {
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
            let packet = space.sent.lose(loss.number, &mut lost_frame);
            let packet = packet.expect("a packet that was judged is still outstanding");
            // RFC 9000-9.4-1: "Packets sent on the old path MUST NOT contribute".
            if packet.epoch != self.epoch {
                continue;
            }
            // RFC 9000 section 14.4: the loss of an MTU probe is not a congestion signal.
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
        // RFC 9000-13.3-4: "a sender MUST take appropriate congestion control action".
        let signalled = self.regulator.end_losses(now, self.bytes_in_flight);
        if signalled && run.longest() >= loss::persistent_congestion_period(&self.rtt, max_ack_delay) {
            self.regulator.signal(now, &Signal::PersistentCongestion);
        }
    }

    /// Handles newly reported CE marks (RFC 9002 sections 7.1 and B.7).
    pub(crate) fn on_marked(&mut self, now: Time, packets: u64, newly: &mut NewlyAcked) {
        newly.acked.marked = packets;
        let newest_sent_at = newly.largest_sent_at;
        self.regulator.signal(now, &Signal::Marked { now, packets, newest_sent_at });
    }

    /// Reports an ACK frame to the controller, after its losses.
    #[inline]
    pub(crate) fn finish_ack(&mut self, now: Time, newly: &NewlyAcked) {
        // RFC 9002 section A.7: every acknowledgement restarts the timer.
        self.probe_base = now;
        self.regulator.end_ack(now, &newly.acked, self.bytes_in_flight, &self.rtt);
    }

    /// Sets the initial RTT to the delay of a path validation (RFC 9002 section 6.2.2), which is not a sample.
    pub(crate) fn guess_rtt(&mut self, delay: Duration) {
        if self.first_sample_at.is_none() {
            self.rtt = RttEstimate::new(delay);
        }
    }

    /// Stops unless the packets in flight, by their spaces, are those that are counted.
    pub(crate) fn check<'a>(&self, spaces: impl Iterator<Item = &'a Space>) {
        let in_flight: u64 = spaces.map(|space| space.sent.in_flight_of(self.epoch)).sum();
        assert_eq!(self.bytes_in_flight, in_flight, "the bytes in flight are those of the packets in flight");
        self.rtt.check();
        self.regulator.check();
    }

    /// Discards a space with everything in flight (RFC 9002 section 6.4).
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

    /// The window after packets sent at these times are lost and a later one is acknowledged. `sampled`: whether
    /// there was an RTT sample, of 20 ms, before the first.
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

    /// RFC 9002 section 7.6.2: two lost ack-eliciting packets, both sent after the first RTT sample. RFC 9000 section
    /// 14.4: the loss of an MTU probe is not a congestion signal.
    #[test]
    fn persistent_congestion_needs_two_plain_packets_after_the_first_sample() {
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
