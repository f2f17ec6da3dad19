//! Careful Resume at a regulator: its limits on what the controller allows, and the changes of its phase.

use super::careful::{Adjustment, CarefulResume, Congestion, Phase, Place, Transition};
use crate::{Allowance, Signal};
use std::collections::VecDeque;
use units::{Duration, Rate, Size, Time};

/// The least window in packets: kMinimumWindow (RFC 9002 section 7.2).
const LEAST_PACKETS: u64 = 2;

/// Careful Resume of one path.
#[derive(Debug)]
pub(crate) struct Resuming {
    state: CarefulResume,
    /// Whether the controller paces and limits the jump itself.
    rate_based: bool,
    /// The least RTT of the connection, once there is a sample.
    rtt: Option<Duration>,
    /// The pacing rate in the Unvalidated phase.
    rate: Option<Rate>,
    /// The largest window in the Unvalidated and in the Safe Retreat phase, in bytes.
    hold: u64,
    /// The largest packet that was sent, in bytes.
    packet: u64,
    /// The changes that nobody has taken; there are four at most.
    changes: VecDeque<Transition>,
}

impl Resuming {
    pub(crate) fn new(state: CarefulResume, rate_based: bool) -> Resuming {
        Resuming {
            state,
            rate_based,
            rtt: None,
            rate: None,
            hold: u64::MAX,
            packet: 0,
            changes: VecDeque::new(),
        }
    }

    pub(crate) fn state(&self) -> &CarefulResume {
        &self.state
    }
    pub(crate) fn next_transition(&mut self) -> Option<Transition> {
        self.changes.pop_front()
    }

    /// The controller's allowance within the limits of the phase. RFC 9959-3.3-2: the Unvalidated phase has the window of the jump,
    /// paced over the current RTT. RFC 9959-3.5-2: "The CWND MUST NOT be increased in the Safe Retreat Phase."
    pub(crate) fn limit(&self, allowance: Allowance) -> Allowance {
        match self.state.phase() {
            _ if self.rate_based => allowance,
            Phase::Unvalidated => {
                Allowance { window: allowance.window.min(self.hold), pacing: self.rate, ..allowance }
            }
            Phase::SafeRetreat => Allowance { window: allowance.window.min(self.hold), ..allowance },
            _ => allowance,
        }
    }

    fn note(&mut self, change: Option<Transition>) -> Option<Transition> {
        if let Some(change) = change {
            match change.adjustment {
                Some(Adjustment::Jump { window, rtt }) => {
                    self.rate = Some(Rate::of(Size::from_bytes(window), rtt));
                    self.hold = window;
                }
                // RFC 9959-3.5-1, but the "minimum CWND in QUIC is 2 packets": with less, nothing might ever be sent again.
                Some(Adjustment::Retreat { window }) => self.hold = window.max(LEAST_PACKETS * self.packet),
                _ => {}
            }
            self.changes.push_back(change);
        }
        change
    }

    pub(crate) fn on_window_limited(&mut self, now: Time, window: u64, in_flight: u64) -> Option<Transition> {
        let change = self.state.on_window_limited(now, (window, in_flight), self.rtt);
        self.note(change)
    }
    /// A packet of this size is about to be sent, and where it is among those that were sent.
    pub(crate) fn before_sent(&mut self, bytes: u64, packet: Place, in_flight: u64) -> Option<Transition> {
        self.packet = self.packet.max(bytes);
        let change = self.state.before_sent(packet.0, in_flight);
        self.state.on_sent(packet);
        self.note(change)
    }
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        (acked, newest): (u64, Place),
        in_flight: u64,
    ) -> Option<Transition> {
        let change = self.state.on_ack(now, acked, newest, in_flight);
        self.note(change)
    }
    /// The least RTT of the connection: see [`CarefulResume::on_rtt`].
    pub(crate) fn on_rtt(&mut self, rtt: Duration, acked: u64, window: u64) -> Option<Transition> {
        self.rtt = Some(rtt);
        let change = self.state.on_rtt(rtt, acked, window);
        self.note(change)
    }
    pub(crate) fn on_congestion(&mut self, congestion: Congestion) -> Option<Transition> {
        let change = self.state.on_congestion(congestion);
        self.note(change)
    }
    pub(crate) fn on_signal(&mut self, signal: &Signal<'_>) -> Option<Transition> {
        let change = match signal {
            Signal::Marked { .. } => self.state.on_congestion(Congestion::Mark),
            Signal::PersistentCongestion | Signal::PathChanged => self.state.on_persistent_congestion(),
            _ => None,
        };
        self.note(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regulator::tests::{Heard, regulator};
    use crate::testing::at;
    use crate::{Acked, Limit, Regulator, Resume, RttEstimate, Saved, SentState};
    use std::sync::{Arc, Mutex};

    const RTT: Duration = Duration::from_millis(600);

    /// A sender of packets of 1000 bytes that has jumped with this many bytes in flight, whose controller would allow a megabyte
    /// without pacing.
    fn jumped(in_flight: u64) -> (Regulator, Arc<Mutex<Heard>>, RttEstimate) {
        let (mut regulator, heard) = regulator();
        let saved = Saved { window: 300_000, rtt: RTT };
        regulator.resume((saved, None), 10_000, Resume::default().careful);
        let mut rtt = RttEstimate::new(RTT);
        rtt.update(RTT, Duration::ZERO);
        acknowledge(&mut regulator, 600, (10_000, 0, SentState::default()), 0, &rtt);
        heard.lock().unwrap().allowance.window = 1_000_000;
        regulator.jump(at(600), Limit::Window, in_flight);
        assert_eq!(regulator.resuming().unwrap().phase(), Phase::Unvalidated);
        (regulator, heard, rtt)
    }
    /// At this time in ms: this many bytes of packets that were sent until that time, the state of the last of them, and the
    /// bytes in flight after it.
    fn acknowledge(
        regulator: &mut Regulator,
        now: u64,
        (bytes, sent, state): (u64, u64, SentState),
        in_flight: u64,
        rtt: &RttEstimate,
    ) {
        let mut acked = Acked::default();
        acked.count(bytes);
        acked.saw(at(sent));
        regulator.begin_ack(in_flight + bytes);
        regulator.on_delivered(at(now), bytes, at(sent), &state);
        regulator.end_ack(at(now), &acked, in_flight, rtt);
    }
    fn lose(regulator: &mut Regulator, now: u64, in_flight: u64) {
        regulator.on_lost(1000, at(now), &SentState::default());
        assert!(regulator.end_losses(at(now), in_flight));
    }

    /// RFC 9959-3.3-2: 150,000 bytes in 600 ms are 2 Mbit/s, and nothing leaves in a burst.
    #[test]
    fn a_jump_is_paced_over_a_round_trip() {
        let (mut regulator, heard, _) = jumped(10_000);
        assert_eq!(
            heard.lock().unwrap().told.last().unwrap(),
            "Resume { now: Time(600000000), adjustment: Jump { window: 150000, rtt: Duration(600000000) } }"
        );
        assert_eq!(regulator.window(), 150_000);
        assert_eq!(regulator.pacing_rate(), Some(Rate::from_bits_per_sec(2_000_000)));
        // A packet each 4 ms, after the first one.
        let mut sent = Vec::new();
        for now in 600..640 {
            if regulator.paced_until(at(now)).is_none() {
                let state = regulator.before_sent(at(now), 1000, 10_000);
                regulator.on_sent(at(now), 1000, 11_000, &state);
                sent.push(now);
            }
        }
        assert!(
            (9..=11).contains(&sent.len()) && sent.windows(2).all(|pair| pair[1] - pair[0] >= 4),
            "{sent:?}"
        );
    }

    /// RFC 9959-3.5-1, 9959-3.5-2: half of the PipeSize, until the last unvalidated packet is acknowledged, whatever the controller
    /// allows.
    #[test]
    fn nothing_grows_in_a_safe_retreat() {
        let (mut regulator, _, rtt) = jumped(10_000);
        let [.., before, last] = [604, 608, 612].map(|now| {
            let state = regulator.before_sent(at(now), 1000, 10_000);
            regulator.on_sent(at(now), 1000, 11_000, &state);
            state
        });
        lose(&mut regulator, 700, 12_000);
        assert_eq!((regulator.resuming().unwrap().phase(), regulator.window()), (Phase::SafeRetreat, 5_000));
        acknowledge(&mut regulator, 1208, (9_000, 608, before), 3_000, &rtt);
        assert_eq!((regulator.window(), regulator.resuming().unwrap().pipe_size()), (5_000, 10_000));
        acknowledge(&mut regulator, 1212, (2_000, 612, last), 1_000, &rtt);
        let phase = regulator.resuming().unwrap().phase();
        assert_eq!((phase, regulator.window()), (Phase::Normal, 1_000_000), "the controller's own again");
    }

    /// RFC 9002 section 7.2: two packets at least. With less than one, nothing would be sent that could end the retreat.
    #[test]
    fn a_retreat_leaves_two_packets() {
        let (mut regulator, _, _) = jumped(1_000);
        let state = regulator.before_sent(at(604), 1000, 1_000);
        regulator.on_sent(at(604), 1000, 2_000, &state);
        lose(&mut regulator, 700, 0);
        assert_eq!((regulator.resuming().unwrap().phase(), regulator.window()), (Phase::SafeRetreat, 2_000));
    }

    #[test]
    fn persistent_congestion_gives_the_window_back() {
        let (mut regulator, _, _) = jumped(10_000);
        regulator.signal(at(700), &Signal::PersistentCongestion);
        assert_eq!((regulator.window(), regulator.pacing_rate()), (1_000_000, None));
    }
}
