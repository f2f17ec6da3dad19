//! What probes repeat (RFC 9002 section 6.2.4): packet after packet of what is underway, so that each probe carries other
//! data as long as there is other data.

use crate::sent::{SentFrame, SentPackets};

/// How far the probes of one space have come.
#[derive(Debug, Default)]
pub(crate) struct Probing {
    /// Probe packets that are still to be sent for a probe timeout.
    pub(crate) left: u8,
    /// Packets below this number have been repeated.
    next: u64,
    /// The number of the probe that was sent last.
    last: Option<u64>,
    /// Frames of the packet that was begun last, and parts of them, for which its probe had no room; the first one last.
    rest: Vec<SentFrame>,
}

impl Probing {
    /// A probe was sent as the packet with this number.
    pub(crate) fn on_probe(&mut self, number: u64) {
        self.left -= 1;
        self.last = Some(number);
    }
    /// What was left over of a packet is not to be repeated: it arrived, or waits to be sent again anyway.
    pub(crate) fn forget_rest(&mut self) {
        self.rest.clear();
    }
    /// The next frame that is to be repeated.
    pub(crate) fn frame(&self) -> Option<SentFrame> {
        self.rest.last().copied()
    }
    /// It has been repeated, but for this part.
    pub(crate) fn leave(&mut self, rest: Option<SentFrame>) {
        self.rest.pop();
        self.rest.extend(rest);
    }

    /// Takes the next packet whose frames are to be repeated: behind those that have been, and from the oldest on again when
    /// all have been. One in which `matters` finds no frame is passed over. So is one that says no more than the last
    /// probe, the other one of the timeout perhaps, unless there is no other.
    pub(crate) fn begin_packet(&mut self, sent: &SentPackets, mut matters: impl FnMut(SentFrame) -> bool) {
        let mut spare = None;
        let twin = self.last.and_then(|number| sent.outstanding(number));
        let later = sent.outstanding_from(self.next);
        let earlier = sent.outstanding_from(0).take_while(|(number, _)| *number < self.next);
        for (number, packet) in later.chain(earlier).filter(|(_, packet)| packet.ack_eliciting) {
            if !sent.frames_of(packet).any(&mut matters) {
                continue;
            }
            let is_said = |frame: SentFrame| {
                twin.is_some_and(|twin| sent.frames_of(twin).any(|said| said.covers(&frame)))
            };
            if sent.frames_of(packet).filter(|frame| matters(*frame)).all(is_said) {
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
            contents.frames.extend(*frame);
            sent.push(Time::ZERO, 100, SentState::default(), &contents);
        }
    }
    /// What the next probe repeats; it is sent.
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
    fn probes_go_on_come_round_and_pass_over_what_says_nothing() {
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

    /// RFC 9002 section 6.2.4: whatever stands between the two of a timeout, a number that is left out or a packet with an
    /// ACK frame only.
    #[test]
    fn two_probes_differ_wherever_anything_else_is_underway() {
        let nothing = |_: &mut SentPackets| ();
        let gap = |sent: &mut SentPackets| sent.skip(Time::ZERO);
        let ack = |sent: &mut SentPackets| {
            let contents = Contents { acked: Some(7), ..Contents::default() };
            sent.push(Time::ZERO, 40, SentState::default(), &contents);
        };
        for between in [nothing, gap, ack] {
            let (mut probing, mut sent) = (Probing::default(), SentPackets::default());
            let [a, b] = [0, 10].map(crypto);
            // One of them was sent again after it was thought lost.
            send(&mut sent, &[Some(a), Some(a), Some(b)]);
            let mut probe = |done: &[SentFrame]| {
                between(&mut sent);
                super::tests::probe(&mut probing, &mut sent, done)
            };
            let probes: Vec<_> = (0..4).map(|_| probe(&[])).collect();
            assert!(probes.windows(2).all(|two| two[0] != two[1]), "{probes:?}");
            // Alone it goes twice.
            let probes: Vec<_> = (0..2).map(|_| probe(&[b])).collect();
            assert_eq!(probes, [a, a].map(Some));
        }
    }

    /// Packets at the front that were acknowledged take the probes round to what is left.
    #[test]
    fn what_is_acknowledged_is_not_repeated() {
        let (mut probing, mut sent) = (Probing::default(), SentPackets::default());
        let [a, b] = [0, 10].map(crypto);
        send(&mut sent, &[Some(a), Some(b)]);
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(a));
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(b));
        assert!((1..4).all(|number| sent.acknowledge(number, |_| ()).is_some()));
        assert_eq!(probe(&mut probing, &mut sent, &[]), Some(a), "the oldest again");
    }
}
