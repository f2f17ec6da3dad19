//! Sending limits and notifications of the controller: the common part of loss recovery in QUIC and TCP. It works on
//! bytes and times; the packets, and which of them are lost, are up to the transport.

use crate::prr::{Progress, Prr};
use crate::resume::limits::Resuming;
use crate::resume::observe::Observer;
use crate::{
    AckSample, Adjustment, Allowance, CarefulResume, Congestion, Controller, DeliveryRate, Limit, LostPacket,
    Pacer, Phase, RateSample, ResumeOptions, RttEstimate, Saved, Sent, SentState, Signal, Transition,
};
use units::{Duration, Rate, Time};

/// The sum of the packets newly acknowledged by one acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Acked {
    bytes: u64,
    packets: u64,
    newest_sent_at: Time,
    oldest_sent_at: Option<Time>,
    spurious: Spurious,
    /// The increase of the count of CE marks since the previous acknowledgement.
    pub marked: u64,
    /// The RTT sample of the acknowledgement: see [`AckSample::rtt_sample`].
    pub rtt_sample: Option<Duration>,
}

/// Packets that were declared lost and then acknowledged.
#[derive(Debug, Clone, Copy, Default)]
struct Spurious {
    packets: u64,
    bytes: u64,
    newest_sent_at: Time,
}

impl Acked {
    /// Adds a newly acknowledged packet of any kind, sent at this time.
    #[inline]
    pub fn saw(&mut self, sent_at: Time) {
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        self.oldest_sent_at = Some(self.oldest_sent_at.map_or(sent_at, |known| known.min(sent_at)));
    }
    /// Adds a packet that was in flight, with its size.
    #[inline]
    pub fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.packets += 1;
    }
    /// Adds a packet that had wrongly been declared lost.
    #[cold]
    pub fn count_spurious(&mut self, bytes: u64, sent_at: Time) {
        self.spurious.packets += 1;
        self.spurious.bytes += bytes;
        self.spurious.newest_sent_at = self.spurious.newest_sent_at.max(sent_at);
    }
    /// Bytes that were in flight.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Packets that had been declared lost.
    #[inline]
    pub fn spurious(&self) -> u64 {
        self.spurious.packets
    }
    /// When the newest of them was sent.
    #[inline]
    pub fn newest_sent_at(&self) -> Time {
        self.newest_sent_at
    }
}

/// Controller, pacer and delivery-rate samples of one path.
pub struct Regulator {
    controller: Box<dyn Controller>,
    /// The controller's allowance after its last notification.
    allowance: Allowance,
    pacer: Pacer,
    delivery: DeliveryRate,
    /// Why the sender last stopped.
    limit: Limit,
    /// When the pacer would have allowed a packet while there was nothing to send.
    dry_from: Option<Time>,
    last_rate: Option<Rate>,
    /// Bytes in flight, and bytes lost, before the acknowledgement being processed.
    prior_in_flight: u64,
    prior_lost: u64,
    /// Packets declared lost together, for the controller; the memory is reused.
    lost: Vec<LostPacket>,
    /// The recovery in which the flight falls to the controller's window.
    reduction: Option<Prr>,
    /// What was learned of this path, and what is being learned; `None` unless a later connection may resume.
    learning: Option<Box<Learning>>,
}

/// Observing a path, and resuming from an earlier observation.
#[derive(Debug, Default)]
struct Learning {
    observer: Observer,
    /// Careful Resume, once it was asked for.
    resuming: Option<Resuming>,
}

impl Regulator {
    /// Creates the state of an unused path; `pacer` paces if the controller asks for it.
    pub fn new(now: Time, controller: Box<dyn Controller>, pacer: Pacer) -> Regulator {
        let mut regulator = Regulator {
            allowance: controller.allowance(),
            controller,
            pacer,
            delivery: DeliveryRate::default(),
            limit: Limit::default(),
            dry_from: None,
            last_rate: None,
            prior_in_flight: 0,
            prior_lost: 0,
            lost: Vec::new(),
            reduction: None,
            learning: None,
        };
        regulator.set_pacer(now);
        regulator
    }

    /// Replaces controller and pacer for packets sent from now on; the counts of delivered and lost bytes are kept.
    pub fn begin_anew(&mut self, now: Time, controller: Box<dyn Controller>, pacer: Pacer) {
        self.allowance = controller.allowance();
        self.controller = controller;
        self.pacer = pacer;
        self.reduction = None;
        if let Some(learning) = &mut self.learning {
            **learning = Learning::default();
        }
        self.set_pacer(now);
    }

    /// Begins to observe the capacity of the path, for a later connection.
    pub fn observe(&mut self) {
        self.learning.get_or_insert_default();
    }
    /// The observed capacity; `None` before there is one, and below four initial windows (in bytes).
    pub fn observed(&self, rtt: &RttEstimate, initial_window: u64) -> Option<Saved> {
        let learning = self.learning.as_deref().filter(|_| rtt.is_sampled())?;
        learning.observer.saved(rtt.min(), initial_window)
    }
    /// Whether the observation may replace a larger one.
    pub fn has_observed_long(&self) -> bool {
        self.learning.as_deref().is_some_and(|learning| learning.observer.is_settled())
    }
    /// Begins Careful Resume (RFC 9959) with what an earlier connection saved, and when that expires; `initial_window` in bytes.
    pub fn resume(
        &mut self,
        (saved, expires_at): (Saved, Option<Time>),
        initial_window: u64,
        options: ResumeOptions,
    ) {
        let state = CarefulResume::new(saved, expires_at, initial_window, options);
        let resuming = Resuming::new(state, self.controller.is_rate_based());
        self.learning.get_or_insert_default().resuming = Some(resuming);
    }
    /// The next change of the phase of Careful Resume that was not taken yet.
    pub fn next_transition(&mut self) -> Option<Transition> {
        self.learning.as_mut()?.resuming.as_mut()?.next_transition()
    }
    /// The state of Careful Resume, if it was begun.
    pub fn resuming(&self) -> Option<&CarefulResume> {
        self.learning.as_ref()?.resuming.as_ref().map(Resuming::state)
    }

    /// Makes a change of the phase of Careful Resume: tells the controller, and paces the jump.
    #[cold]
    #[inline(never)]
    fn resumed(&mut self, now: Time, change: impl FnOnce(&mut Resuming) -> Option<Transition>) {
        let resuming = self.learning.as_mut().and_then(|learning| learning.resuming.as_mut());
        let Some(transition) = resuming.and_then(change) else { return };
        if let Some(adjustment) = transition.adjustment {
            self.controller.on_signal(&Signal::Resume { now, adjustment });
            if let Adjustment::Retreat { .. } = adjustment {
                // RFC 9959 section 4.5: PRR assumes that the rate may fall gradually.
                self.reduction = None;
            }
        }
        self.update_allowance(now);
        if let Some(Adjustment::Jump { .. }) = transition.adjustment {
            self.pacer.empty(now);
        }
    }

    /// Learns from an acknowledgement.
    #[cold]
    #[inline(never)]
    fn learn(
        &mut self,
        now: Time,
        acked: &Acked,
        bytes_in_flight: u64,
        rtt: &RttEstimate,
        rate: Option<&RateSample>,
    ) {
        let (delivered, lost) = (self.delivery.delivered(), self.delivery.lost());
        let learning = self.learning.as_deref_mut().expect("a path that is learned of is being observed");
        if let Some(sample) = rate {
            learning.observer.on_sample(sample, delivered);
        }
        if learning.resuming.is_some() {
            if rtt.is_sampled() {
                let window = self.allowance.window;
                self.resumed(now, |resuming| resuming.on_rtt(rtt.min(), acked.bytes, window));
            }
            let newest = (acked.newest_sent_at, rate.map_or(0, |sample| sample.sent(lost)));
            let acked = (acked.bytes, newest);
            self.resumed(now, |resuming| resuming.on_ack(now, acked, bytes_in_flight));
        }
    }

    #[inline]
    fn update_allowance(&mut self, now: Time) {
        let mut allowance = self.controller.allowance();
        if let Some(resuming) = self.learning.as_ref().and_then(|learning| learning.resuming.as_ref()) {
            allowance = resuming.limit(allowance);
        }
        let Allowance { window, pacing, quantum } = allowance;
        self.allowance.window = window;
        if pacing != self.allowance.pacing || quantum != self.allowance.quantum {
            self.allowance.pacing = pacing;
            self.allowance.quantum = quantum;
            self.set_pacer(now);
        }
    }

    fn set_pacer(&mut self, now: Time) {
        if let Some(bytes) = self.allowance.quantum {
            self.pacer.set_quantum(bytes);
        }
        self.pacer.set_rate(now, self.allowance.pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
    }

    /// Notifies the controller and updates the allowance.
    pub fn signal(&mut self, now: Time, signal: &Signal<'_>) {
        self.controller.on_signal(signal);
        self.update_allowance(now);
        if self.learning.is_some() {
            self.resumed(now, |resuming| resuming.on_signal(signal));
        }
    }

    /// Stops if window, pacer and recovery contradict each other, with the certainty that is broken. For tests and builds with debug
    /// assertions.
    pub fn check(&self) {
        self.pacer.check();
        assert!(self.allowance.window > 0, "a controller allows a window");
        assert!(self.prior_lost <= self.delivery.lost(), "the count of lost bytes does not fall");
        if let Some(reduction) = &self.reduction {
            reduction.check();
            assert!(self.controller.ssthresh().is_some(), "a flight falls to a threshold");
        }
        if let Some(resuming) = self.resuming() {
            resuming.check();
        }
    }

    /// The controller.
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }
    /// The congestion window in bytes: the controller's, or during a recovery that of PRR.
    #[inline]
    pub fn window(&self) -> u64 {
        self.reduction.as_ref().map_or(self.allowance.window, Prr::window)
    }
    /// The window that the controller allows, which is the target of a recovery.
    pub fn target(&self) -> u64 {
        self.allowance.window
    }

    /// Begins a recovery, after the controller has responded to losses. If it has a slow start threshold, the flight
    /// falls to the new window by Proportional Rate Reduction (RFC 9937 section 6) until
    /// [`Regulator::end_reduction`]. `smss`: the size of a full segment in bytes; `outstanding`: RecoverFS; `exact`:
    /// whether the transport knows deliveries from SACK.
    pub fn begin_reduction(&mut self, smss: u64, outstanding: u64, exact: bool, bytes_in_flight: u64) {
        // RFC 9959 section 4.5: PRR "is therefore not appropriate" in a safe retreat.
        let retreats = self.resuming().is_some_and(|resuming| resuming.phase() == Phase::SafeRetreat);
        if self.controller.ssthresh().is_some() && !retreats {
            self.reduction = Some(Prr::new(smss, outstanding, exact, bytes_in_flight));
        }
    }
    /// Processes an acknowledgement that begins a recovery or arrives in it: newly reported bytes, the bytes in
    /// flight after it, and whether it makes progress without further loss (RFC 9937 section 5: DeliveredData,
    /// inflight, SafeACK).
    pub fn reduce(&mut self, delivered: u64, bytes_in_flight: u64, safe: bool) {
        if let Some(reduction) = &mut self.reduction {
            let ack = Progress { delivered, in_flight: bytes_in_flight, safe };
            reduction.on_ack(self.allowance.window, ack);
        }
    }
    /// A timer has found losses in a recovery: bytes in flight before and after them.
    pub fn reduce_by_timer(&mut self, prior_in_flight: u64, bytes_in_flight: u64) {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_timer(prior_in_flight, bytes_in_flight);
        }
    }
    /// Ends the recovery: the window is the controller's again (RFC 9937 section 6.4).
    pub fn end_reduction(&mut self) {
        self.reduction = None;
    }
    /// The pacing rate, if any.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.allowance.pacing
    }
    /// The latest delivery-rate sample.
    pub fn last_rate(&self) -> Option<Rate> {
        self.last_rate
    }
    /// When the pacer allows the next packet; `None` if now.
    #[inline]
    pub fn paced_until(&mut self, now: Time) -> Option<Time> {
        self.allowance.pacing?;
        self.pacer.blocked_until(now)
    }

    /// The sender has data to send but stopped, for this reason and with this number of bytes in flight.
    #[inline]
    pub fn note_stop(&mut self, now: Time, limit: Limit, bytes_in_flight: u64) {
        self.limit = limit;
        if limit != Limit::Application {
            self.settle_dry(now, bytes_in_flight);
        }
    }

    /// The sender has more data to send than this limit admits. If a saved capacity is to be tried, the limit may admit it after
    /// this (RFC 9959 section 3.3). A window is full, or the pacer holds back a sender whose rate is its first limit (appendix B).
    pub fn jump(&mut self, now: Time, limit: Limit, bytes_in_flight: u64) {
        let waits = self.resuming().is_some_and(|resuming| resuming.phase() == Phase::Reconnaissance);
        if limit != Limit::Window && !(waits && self.controller.is_rate_based()) {
            return;
        }
        let window = self.allowance.window;
        self.resumed(now, |resuming| resuming.on_window_limited(now, window, bytes_in_flight));
    }

    /// The sender stopped because nothing was left to send or retransmit, while the window had room.
    #[inline]
    pub fn note_dry(&mut self, now: Time) {
        self.limit = Limit::Application;
        if self.dry_from.is_none() {
            self.dry_from = Some(self.paced_until(now).unwrap_or(now));
        }
    }

    /// There is data to send. If it could have been sent earlier, the application limited the rate, and packets sent
    /// within the next round trip do not measure the network (draft-ietf-ccwg-bbr-06 section 4.1.2.4).
    #[inline]
    fn settle_dry(&mut self, now: Time, bytes_in_flight: u64) {
        if self.dry_from.take().is_some_and(|from| now > from) {
            self.delivery.on_app_limited(bytes_in_flight);
        }
    }

    /// A packet that counts towards bytes in flight is about to be sent; `bytes_in_flight` excludes it. The result is
    /// stored with the packet.
    #[inline]
    pub fn before_sent(&mut self, now: Time, bytes: u64, bytes_in_flight: u64) -> SentState {
        self.settle_dry(now, bytes_in_flight);
        if self.learning.is_some() {
            let sent = self.delivery.delivered() + self.delivery.lost() + bytes_in_flight + bytes;
            self.resumed(now, |resuming| resuming.before_sent(bytes, (now, sent), bytes_in_flight));
        }
        self.delivery.on_sent(now, bytes, bytes_in_flight)
    }

    /// The packet was sent; `bytes_in_flight` includes it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, bytes_in_flight: u64, state: &SentState) {
        debug_assert!(bytes <= bytes_in_flight, "a packet that was sent is in flight");
        let app_limited = state.app_limited();
        self.controller.on_sent(&Sent { now, bytes, bytes_in_flight, app_limited });
        self.update_allowance(now);
        self.pacer.on_sent(now, bytes);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(bytes);
        }
    }

    /// Begins the processing of an acknowledgement.
    #[inline]
    pub fn begin_ack(&mut self, bytes_in_flight: u64) {
        self.prior_in_flight = bytes_in_flight;
        self.prior_lost = self.delivery.lost();
    }

    /// A packet that counts towards bytes in flight was delivered.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, bytes: u64, sent_at: Time, state: &SentState) {
        self.delivery.on_acked(now, bytes, sent_at, state);
    }

    /// A packet was declared lost, to be reported by [`Regulator::end_losses`].
    #[inline]
    pub fn on_lost(&mut self, bytes: u64, sent_at: Time, state: &SentState) {
        self.lost.push(self.delivery.on_lost(bytes, sent_at, state));
    }

    /// Reports everything declared lost since the last call to the controller; `bytes_in_flight` excludes it. Returns
    /// whether there was anything.
    pub fn end_losses(&mut self, now: Time, bytes_in_flight: u64) -> bool {
        let Some(newest_sent_at) = self.lost.iter().map(|packet| packet.sent_at).max() else { return false };
        let bytes = self.lost.iter().map(|packet| packet.bytes).sum();
        let packets = &self.lost[..];
        self.controller.on_signal(&Signal::Lost { now, bytes, newest_sent_at, bytes_in_flight, packets });
        self.update_allowance(now);
        self.lost.clear();
        if self.learning.is_some() {
            self.resumed(now, |resuming| resuming.on_congestion(Congestion::Loss));
        }
        true
    }

    /// Drops unreported losses that belong to an event the controller has already responded to. The delivery-rate
    /// samples count them all the same.
    pub fn keep_losses_back(&mut self) {
        self.lost.clear();
    }

    /// Ends the processing of an acknowledgement after its losses were reported; `bytes_in_flight` and `rtt` are
    /// current.
    #[inline]
    pub fn end_ack(&mut self, now: Time, acked: &Acked, bytes_in_flight: u64, rtt: &RttEstimate) {
        if acked.spurious.packets > 0 {
            let Spurious { packets, bytes, newest_sent_at } = acked.spurious;
            let reduced = self.controller.allowance().window;
            self.controller.on_signal(&Signal::Spurious { now, packets, bytes, newest_sent_at });
            if self.controller.allowance().window > reduced {
                // RFC 9438 section 4.9: the controller has reversed its reduction, so no flight falls to it.
                self.reduction = None;
            }
        }
        let rate = self.delivery.sample(now, rtt.min());
        self.last_rate = rate.and_then(|sample| sample.rate).or(self.last_rate);
        debug_assert!(acked.newest_sent_at <= now, "a packet is sent before it is acknowledged");
        debug_assert!(self.prior_lost <= self.delivery.lost(), "the count of lost bytes does not fall");
        if acked.bytes > 0 {
            self.controller.on_ack(&AckSample {
                now,
                acked_bytes: acked.bytes,
                newest_sent_at: acked.newest_sent_at,
                oldest_sent_at: acked.oldest_sent_at.expect("a packet that counts was seen with its time"),
                bytes_in_flight,
                prior_in_flight: self.prior_in_flight,
                lost_bytes: self.delivery.lost() - self.prior_lost,
                acked_packets: acked.packets,
                marked_packets: acked.marked,
                delivered: self.delivery.delivered(),
                limit: self.limit,
                rtt,
                rtt_sample: acked.rtt_sample,
                rate,
            });
        }
        self.update_allowance(now);
        if self.learning.is_some() {
            self.learn(now, acked, bytes_in_flight, rtt, rate.as_ref());
        }
    }

    /// Prefetches the controller ([`units::cache`]).
    #[inline]
    pub fn prefetch(&self) {
        units::cache::ask_for(&*self.controller);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{SETUP, arguments, at, ms};
    use std::sync::{Arc, Mutex};

    /// The notifications of a controller, and its answer.
    #[derive(Debug)]
    pub(crate) struct Heard {
        pub(crate) told: Vec<String>,
        pub(crate) allowance: Allowance,
    }
    /// A controller that only records.
    pub(crate) struct Witness(pub(crate) Arc<Mutex<Heard>>);

    impl Witness {
        fn hears(&self, text: String) {
            self.0.lock().unwrap().told.push(text);
        }
    }

    impl Controller for Witness {
        fn on_sent(&mut self, sent: &Sent) {
            self.hears(format!(
                "sent {} of {}, limited {}",
                sent.bytes, sent.bytes_in_flight, sent.app_limited
            ));
        }
        fn on_ack(&mut self, ack: &AckSample<'_>) {
            let AckSample { acked_bytes, acked_packets, marked_packets, bytes_in_flight, .. } = *ack;
            let AckSample { prior_in_flight, lost_bytes, delivered, limit, .. } = *ack;
            let sent = (ack.oldest_sent_at.as_nanos() / 1_000_000, ack.newest_sent_at.as_nanos() / 1_000_000);
            self.hears(format!(
                "acked {acked_bytes} in {acked_packets}, {marked_packets} marked, sent {sent:?}, flight {prior_in_flight} to \
                 {bytes_in_flight}, lost {lost_bytes}, delivered {delivered}, {limit:?}"
            ));
        }
        fn on_signal(&mut self, signal: &Signal<'_>) {
            self.hears(match *signal {
                Signal::Lost { bytes, newest_sent_at, bytes_in_flight, packets, .. } => {
                    let newest = newest_sent_at.as_nanos() / 1_000_000;
                    format!("lost {bytes} in {}, newest {newest}, flight {bytes_in_flight}", packets.len())
                }
                Signal::Spurious { packets, bytes, .. } => format!("spurious {bytes} in {packets}"),
                other => format!("{other:?}"),
            });
        }
        fn allowance(&self) -> Allowance {
            self.0.lock().unwrap().allowance
        }
        fn state(&self) -> &'static str {
            "listening"
        }
        fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
            record("told", self.0.lock().unwrap().told.len() as f64);
        }
    }

    /// A window of 10,000 bytes without pacing; bursts of 2000 bytes with it.
    pub(crate) fn regulator() -> (Regulator, Arc<Mutex<Heard>>) {
        let allowance = Allowance::new(10_000, None);
        let heard = Arc::new(Mutex::new(Heard { told: Vec::new(), allowance }));
        let witness = Box::new(Witness(heard.clone()));
        (Regulator::new(Time::ZERO, witness, Pacer::new(1000, 2, 1)), heard)
    }

    /// Its controller alone.
    pub(crate) fn controller() -> Box<dyn Controller> {
        let allowance = Allowance::new(10_000, None);
        Box::new(Witness(Arc::new(Mutex::new(Heard { told: Vec::new(), allowance }))))
    }

    fn send(regulator: &mut Regulator, now: Time, in_flight: u64) -> SentState {
        let state = regulator.before_sent(now, 1000, in_flight);
        regulator.on_sent(now, 1000, in_flight + 1000, &state);
        state
    }

    /// draft-ietf-ccwg-bbr-06 section 4.1.2.4.
    #[test]
    fn what_follows_on_a_dry_spell_is_limited_by_the_application() {
        let (mut regulator, _) = regulator();
        assert!(!send(&mut regulator, at(0), 0).app_limited());
        regulator.note_dry(at(0));
        assert!(!send(&mut regulator, at(0), 1000).app_limited(), "there was no time in between");
        regulator.note_dry(at(0));
        regulator.note_dry(at(3));
        assert!(send(&mut regulator, at(3), 2000).app_limited(), "dry since the first time");
        // Until the bytes in flight at that time are delivered.
        for sent in 0..4 {
            let state = SentState::default();
            regulator.on_delivered(at(10 + sent), 1000, at(0), &state);
            regulator.end_ack(at(10 + sent), &Acked::default(), 0, &RttEstimate::new(ms(10)));
        }
        assert!(!send(&mut regulator, at(20), 1000).app_limited());
    }

    #[test]
    fn a_full_window_ends_a_dry_spell_and_flow_control_does_not() {
        for (limit, limited) in [(Limit::Window, true), (Limit::Pacer, true), (Limit::Application, false)] {
            let (mut regulator, _) = regulator();
            regulator.note_dry(at(0));
            regulator.note_stop(at(5), limit, 1000);
            // A packet sent right after the limit itself is not marked.
            let state = regulator.before_sent(at(0), 1000, 1000);
            assert_eq!(state.app_limited(), limited, "{limit:?}");
        }
    }

    #[test]
    fn a_paced_sender_is_dry_from_when_the_pacer_lets_it_go() {
        let (mut regulator, heard) = regulator();
        // 1000 bytes per millisecond.
        heard.lock().unwrap().allowance.pacing = Some(Rate::from_bits_per_sec(8_000_000));
        regulator.signal(at(0), &Signal::PersistentCongestion);
        send(&mut regulator, at(0), 0);
        send(&mut regulator, at(0), 1000);
        assert_eq!(regulator.paced_until(at(0)), Some(at(1)));
        regulator.note_dry(at(0));
        assert!(!send(&mut regulator, at(1), 2000).app_limited(), "it could not have gone earlier");
        heard.lock().unwrap().allowance.pacing = None;
        assert!(regulator.paced_until(at(1)).is_some(), "the controller was not asked yet");
        send(&mut regulator, at(1), 3000);
        assert_eq!((regulator.paced_until(at(1)), regulator.pacing_rate()), (None, None));
    }

    #[test]
    fn losses_are_told_together_and_once() {
        let (mut regulator, heard) = regulator();
        let state = send(&mut regulator, at(0), 0);
        assert!(!regulator.end_losses(at(9), 0));
        regulator.on_lost(1000, at(4), &state);
        regulator.on_lost(500, at(2), &state);
        assert!(regulator.end_losses(at(9), 7000) && !regulator.end_losses(at(9), 7000));
        regulator.on_lost(700, at(5), &state);
        regulator.keep_losses_back();
        assert!(!regulator.end_losses(at(10), 7000));
        assert_eq!(heard.lock().unwrap().told[1..], ["lost 1500 in 2, newest 4, flight 7000"]);
    }

    #[test]
    fn an_acknowledgement_is_told_with_its_losses() {
        let (mut regulator, heard) = regulator();
        let states = [0, 1, 2, 3].map(|i| send(&mut regulator, at(i), 1000 * i));
        heard.lock().unwrap().told.clear();
        regulator.note_stop(at(3), Limit::Pacer, 4000);
        regulator.begin_ack(4000);
        let mut acked = Acked::default();
        for i in [2, 1] {
            acked.count(1000);
            acked.saw(at(i));
            regulator.on_delivered(at(10), 1000, at(i), &states[i as usize]);
        }
        acked.count_spurious(700, at(3));
        acked.marked = 1;
        regulator.on_lost(1000, at(0), &states[0]);
        regulator.end_losses(at(10), 1000);
        let rtt = RttEstimate::new(ms(10));
        regulator.end_ack(at(10), &acked, 1000, &rtt);
        // Nothing that counts was acknowledged, so there is no notification.
        regulator.end_ack(at(11), &Acked::default(), 1000, &rtt);
        let expected = [
            "lost 1000 in 1, newest 0, flight 1000",
            "spurious 700 in 1",
            "acked 2000 in 2, 1 marked, sent (1, 2), flight 4000 to 1000, lost 1000, delivered 2000, Pacer",
        ];
        assert_eq!(heard.lock().unwrap().told, expected);
        assert_eq!((acked.bytes(), acked.spurious(), acked.newest_sent_at()), (2000, 1, at(2)));
        // 2000 bytes in 9 ms, from when the first of them was sent.
        assert!(regulator.last_rate().is_some());
    }

    /// RFC 9937 section 6: an episode leads to the threshold of the controller that responded to the losses. A new
    /// controller begins with its own window.
    #[test]
    fn another_controller_begins_without_a_recovery() {
        let (mut regulator, _) = regulator();
        let reno =
            || crate::build("newreno", &arguments(crate::newreno::ROW.parameters, &[]), SETUP).unwrap();
        regulator.begin_anew(at(0), reno(), Pacer::new(1000, 1, 1));
        regulator.on_lost(1000, at(0), &SentState::default());
        regulator.end_losses(at(1), 7000);
        regulator.begin_reduction(1000, 10_000, true, 7000);
        assert_eq!((regulator.target(), regulator.window()), (5000, 8000));
        regulator.begin_anew(at(2), reno(), Pacer::new(1000, 1, 1));
        assert_eq!((regulator.target(), regulator.window()), (10_000, 10_000));
    }

    /// RFC 9438 section 4.9: when all losses turn out to be spurious, CUBIC has its window back, also in the middle of a recovery.
    #[test]
    fn a_reversed_reduction_ends_with_its_episode() {
        let (mut regulator, _) = regulator();
        let cubic = crate::build("cubic", &arguments(crate::cubic::ROW.parameters, &[]), SETUP).unwrap();
        regulator.begin_anew(at(0), cubic, Pacer::new(1000, 1, 1));
        let state = send(&mut regulator, at(0), 0);
        regulator.on_lost(1000, at(0), &state);
        regulator.end_losses(at(1), 7000);
        regulator.begin_reduction(1000, 10_000, true, 7000);
        assert_eq!((regulator.target(), regulator.window()), (7000, 8000));
        let mut acked = Acked::default();
        acked.saw(at(0));
        acked.count_spurious(1000, at(0));
        regulator.begin_ack(7000);
        regulator.end_ack(at(2), &acked, 7000, &RttEstimate::new(ms(100)));
        assert_eq!((regulator.target(), regulator.window()), (10_000, 10_000));
        regulator.check();
    }

    #[test]
    fn another_controller_takes_over_what_was_counted() {
        let (mut regulator, old) = regulator();
        let state = send(&mut regulator, at(0), 0);
        regulator.on_delivered(at(10), 1000, at(0), &state);
        let heard = Arc::new(Mutex::new(Heard { told: vec![], allowance: Allowance::new(5000, None) }));
        regulator.begin_anew(at(10), Box::new(Witness(heard.clone())), Pacer::new(1, 1, 1));
        assert_eq!((regulator.window(), old.lock().unwrap().told.len()), (5000, 1));
        assert_eq!(send(&mut regulator, at(20), 0).delivered, 1000);
        assert_eq!(heard.lock().unwrap().told, ["sent 1000 of 1000, limited false"]);
    }
}
