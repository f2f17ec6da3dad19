//! The data that probes repeat (RFC 9002 section 6.2.4): one packet in flight after the other, so that each probe
//! carries different data if possible.

use crate::sent::{SentFrame, SentPackets};

/// The state of the probes of one space.
#[derive(Debug, Default)]
pub(crate) struct Probing {
    /// The number of probe packets still to send for a probe timeout.
    pub(crate) left: u8,
    /// Packets below this number have been repeated.
    next: u64,
    /// The number of the last probe.
    last: Option<u64>,
    /// Frames of the current packet, or parts of them, that did not fit into its probe, in reverse order.
    rest: Vec<SentFrame>,
}

impl Probing {
    /// Notes that a probe was sent with this packet number.
    pub(crate) fn on_probe(&mut self, number: u64) {
        debug_assert!(self.left > 0, "a probe is sent when one is left to send");
        self.left -= 1;
        self.last = Some(number);
    }
    /// Forgets the rest of the current packet: it arrived, or is retransmitted anyway.
    pub(crate) fn forget_rest(&mut self) {
        self.rest.clear();
    }
    /// The next frame to repeat.
    pub(crate) fn frame(&self) -> Option<SentFrame> {
        self.rest.last().copied()
    }
    /// Notes that the frame was repeated, except for this part.
    pub(crate) fn leave(&mut self, rest: Option<SentFrame>) {
        self.rest.pop();
        self.rest.extend(rest);
    }

    /// Selects the next packet to repeat: the one after the last repeated, and from the oldest again after the
    /// newest. Skips packets in which `is_unacked` finds no frame, and, if there are others, packets that carry no
    /// more than the last probe, which may be the other one of the same timeout.
    pub(crate) fn begin_packet(&mut self, sent: &SentPackets, mut is_unacked: impl FnMut(SentFrame) -> bool) {
        let mut spare = None;
        let last_probe = self.last.and_then(|number| sent.outstanding(number));
        let later = sent.outstanding_from(self.next);
        let earlier = sent.outstanding_from(0).take_while(|(number, _)| *number < self.next);
        for (number, packet) in later.chain(earlier).filter(|(_, packet)| packet.ack_eliciting) {
            if !sent.frames_of(packet).any(&mut is_unacked) {
                continue;
            }
            let is_repeated = |frame: SentFrame| {
                last_probe.is_some_and(|last| sent.frames_of(last).any(|repeated| repeated.covers(&frame)))
            };
            if sent.frames_of(packet).filter(|frame| is_unacked(*frame)).all(is_repeated) {
                spare = spare.or(Some((number, packet)));
                continue;
            }
            spare = Some((number, packet));
            break;
        }
        if let Some((number, packet)) = spare {
            self.next = number + 1;
            self.rest.clear();
            self.rest.extend(sent.frames_of(packet));
            self.rest.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sent::Contents;
    use congestion::SentState;
    use units::Time;

    fn crypto(offset: u64) -> SentFrame {
        SentFrame::Crypto { offset, length: 10 }
    }
    /// Packets of one CRYPTO frame each; `None` is a PING.
    fn send(sent: &mut SentPackets, frames: &[Option<SentFrame>]) {
        for frame in frames {
            let mut contents = Contents { ack_eliciting: true, in_flight: true, ..Contents::default() };
            frame.iter().for_each(|frame| contents.push(*frame));
            sent.push(Time::ZERO, 100, SentState::default(), &contents);
        }
    }
    /// Sends the next probe; returns the frame that it repeats.
    fn probe(probing: &mut Probing, sent: &mut SentPackets, done: &[SentFrame]) -> Option<SentFrame> {
        probing.forget_rest();
        probing.left = 1;
        probing.begin_packet(sent, |frame| !done.contains(&frame));
        let frame = probing.frame();
        probing.on_probe(sent.next_number());
        send(sent, &[frame]);
        frame
    }

    #[test]
    fn probes_cycle_through_packets_and_skip_those_with_nothing_to_repeat() {
        let (mut probing, mut sent) = (Probing::default(), SentPackets::default());
        assert_eq!(probe(&mut probing, &mut sent, &[]), None, "a PING");
        let [a, b, c] = [0, 10, 20].map(crypto);
        send(&mut sent, &[Some(a), None, Some(b), None, Some(c)]);
        let probes: Vec<_> = (0..7).map(|_| probe(&mut probing, &mut sent, &[])).collect();
        assert_eq!(probes, [a, b, c, a, b, c, a].map(Some));
        let probes: Vec<_> = (0..3).map(|_| probe(&mut probing, &mut sent, &[b])).collect();
        assert_eq!(probes, [c, a, c].map(Some));
        assert_eq!(probe(&mut probing, &mut sent, &[a, b, c]), None);
    }

    /// RFC 9002 section 6.2.4: whatever is sent between the two probes of a timeout: nothing, a skipped number, or a
    /// packet with only an ACK frame.
    #[test]
    fn two_probes_differ_if_other_data_is_in_flight() {
        let nothing = |_: &mut SentPackets| ();
        let gap = |sent: &mut SentPackets| sent.skip(Time::ZERO);
        let ack = |sent: &mut SentPackets| {
            let contents = Contents { acked: Some(7), ..Contents::default() };
            sent.push(Time::ZERO, 40, SentState::default(), &contents);
        };
        for between in [nothing, gap, ack] {
            let (mut probing, mut sent) = (Probing::default(), SentPackets::default());
            let [a, b] = [0, 10].map(crypto);
            // One frame was retransmitted after a spurious loss.
            send(&mut sent, &[Some(a), Some(a), Some(b)]);
            let mut probe = |done: &[SentFrame]| {
                between(&mut sent);
                super::tests::probe(&mut probing, &mut sent, done)
            };
            let probes: Vec<_> = (0..4).map(|_| probe(&[])).collect();
            assert!(probes.windows(2).all(|two| two[0] != two[1]), "{probes:?}");
            // A single frame is repeated in both probes.
            let probes: Vec<_> = (0..2).map(|_| probe(&[b])).collect();
            assert_eq!(probes, [a, a].map(Some));
        }
    }

    /// After acknowledgements of the oldest packets, probes continue with the remaining ones.
    #[test]
    fn acknowledged_data_is_not_repeated() {
        let (mut probing, mut sent) = (Probing::default(), SentPackets::default());
        let [a, b] = [0, 10].map(crypto);
        send(&mut sent, &[Some(a), Some(b)]);
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(a));
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(b));
        assert!((1..4).all(|number| sent.acknowledge(number, |_| ()).is_some()));
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(a), "the oldest again");
    }
}
