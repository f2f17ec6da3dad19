//! The control frames of a connection, which are sent until they are acknowledged (RFC 9000 section 13.3). Each is
//! queued, in flight, or done; frames that are done are removed.
//!
//! There are few of them: new ids (at most 8), retired ids (32, see [`crate::ids`]), tokens (4), one ACK_FREQUENCY
//! and HANDSHAKE_DONE. The frames of streams are in `stream::notices`.

use crate::delivery::Delivery;
use crate::sent::SentFrame;

/// One unacknowledged frame.
#[derive(Debug, Clone, Copy)]
struct Entry {
    frame: SentFrame,
    delivery: Delivery,
}

/// The unacknowledged control frames.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// In the order of their first request.
    entries: Vec<Entry>,
    waiting: u32,
}

impl Control {
    /// Whether no frame is queued.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }
    fn find(&mut self, frame: SentFrame) -> Option<usize> {
        self.entries.iter().position(|entry| entry.frame == frame)
    }

    /// Stops if the number of queued frames is not the one that is counted.
    pub(crate) fn check(&self) {
        let queued = self.entries.iter().filter(|entry| entry.delivery.is_queued()).count();
        assert_eq!(queued, self.waiting as usize, "the queued control frames are counted");
    }

    /// Queues a frame, unless it is queued or in flight already.
    pub(crate) fn ask(&mut self, frame: SentFrame) {
        if self.find(frame).is_none() {
            let mut delivery = Delivery::default();
            self.waiting += u32::from(delivery.ask());
            self.entries.push(Entry { frame, delivery });
        }
    }
    /// The first queued frame.
    pub(crate) fn next(&self) -> Option<SentFrame> {
        self.entries.iter().find(|entry| entry.delivery.is_queued()).map(|entry| entry.frame)
    }
    /// Whether the frame is unacknowledged and still needed.
    pub(crate) fn is_open(&self, frame: SentFrame) -> bool {
        self.entries.iter().any(|entry| entry.frame == frame)
    }

    /// Notes that a copy of the frame was sent.
    pub(crate) fn on_sent(&mut self, frame: SentFrame) {
        if let Some(at) = self.find(frame) {
            let delivery = &mut self.entries[at].delivery;
            delivery.add();
            self.waiting -= u32::from(delivery.dequeue());
        }
    }
    /// Removes a frame that was acknowledged or is not needed any more.
    pub(crate) fn on_done(&mut self, frame: SentFrame) {
        if let Some(at) = self.find(frame) {
            self.waiting -= u32::from(self.entries.remove(at).delivery.is_queued());
        }
    }
    /// Notes that a copy was lost. The frame is queued again if no other copy is in flight.
    pub(crate) fn on_lost(&mut self, frame: SentFrame) {
        if let Some(at) = self.find(frame) {
            let delivery = &mut self.entries[at].delivery;
            self.waiting += u32::from(delivery.lose() && delivery.ask());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const FRAMES: [SentFrame; 4] = [
        SentFrame::HandshakeDone,
        SentFrame::AckFrequency,
        SentFrame::NewConnectionId { sequence: 3 },
        SentFrame::RetireConnectionId { sequence: 3 },
    ];

    /// Sends all queued frames in one packet; returns them.
    fn packet(control: &mut Control) -> Vec<SentFrame> {
        let mut frames = Vec::new();
        while let Some(frame) = control.next() {
            control.on_sent(frame);
            frames.push(frame);
        }
        assert!(control.is_empty());
        frames
    }

    /// RFC 9000-13.3-2 and section 13.3: "sending ceases when a packet containing that information is acknowledged".
    #[test]
    fn a_frame_is_sent_until_one_copy_is_acknowledged() {
        let mut control = Control::default();
        let frame = SentFrame::HandshakeDone;
        control.ask(frame);
        control.ask(frame);
        assert_eq!(packet(&mut control), [frame], "asked for twice, sent once");
        // A probe repeats it.
        control.on_sent(frame);
        control.on_lost(frame);
        assert!(control.is_empty(), "the copy of the probe is in flight");
        control.on_lost(frame);
        control.on_lost(frame);
        assert_eq!(packet(&mut control), [frame]);
        control.on_lost(frame);
        assert!(!control.is_empty());
        // The first packet was only late.
        control.on_done(frame);
        assert!(control.is_empty() && !control.is_open(frame));
        control.on_lost(frame);
        assert_eq!(control.next(), None);
    }

    proptest! {
        /// For any order of losses, probes and acknowledgements, including late acknowledgements of lost packets: no
        /// packet contains a frame twice, and no frame is sent after its acknowledgement. A lost frame without
        /// another copy in flight is sent again.
        #[test]
        fn no_frame_is_sent_twice_at_a_time_or_after_it_arrived(
            steps in prop::collection::vec((0u8..4, 0usize..64), 1..200),
        ) {
            let mut control = Control::default();
            FRAMES.iter().for_each(|frame| control.ask(*frame));
            // The frames of each packet, and whether it is still in flight.
            let mut packets: Vec<(Vec<SentFrame>, bool)> = Vec::new();
            let mut done: Vec<SentFrame> = Vec::new();
            for (step, which) in steps {
                match step {
                    0 => {
                        let frames = packet(&mut control);
                        prop_assert_eq!(frames.len(), BTreeSet::from_iter(frames.iter().map(|f| format!("{f:?}"))).len());
                        prop_assert!(frames.iter().all(|frame| !done.contains(frame)), "{:?}", frames);
                        packets.push((frames, true));
                    }
                    1 => {
                        // A probe repeats the unacknowledged frames of a packet.
                        let Some((frames, _)) = packets.get(which % packets.len().max(1)).cloned() else { continue };
                        let again: Vec<_> = frames.into_iter().filter(|frame| control.is_open(*frame)).collect();
                        prop_assert!(again.iter().all(|frame| !done.contains(frame)));
                        again.iter().for_each(|frame| control.on_sent(*frame));
                        packets.push((again, true));
                    }
                    2 => {
                        let count = packets.len().max(1);
                        let Some((frames, in_flight)) = packets.get_mut(which % count) else { continue };
                        if std::mem::take(in_flight) {
                            frames.iter().for_each(|frame| control.on_lost(*frame));
                        }
                    }
                    _ => {
                        // The packet arrived, even if it was declared lost.
                        let count = packets.len().max(1);
                        let Some((frames, in_flight)) = packets.get_mut(which % count) else { continue };
                        *in_flight = false;
                        for frame in std::mem::take(frames) {
                            control.on_done(frame);
                            done.push(frame);
                        }
                    }
                }
                for frame in FRAMES.into_iter().filter(|frame| !done.contains(frame)) {
                    let in_flight = packets.iter().any(|(frames, in_flight)| *in_flight && frames.contains(&frame));
                    let waits = control.entries.iter().any(|entry| entry.frame == frame && entry.delivery.is_queued());
                    prop_assert!(in_flight != waits, "{:?} is in flight or waits", frame);
                }
                prop_assert!(control.entries.len() <= FRAMES.len());
            }
        }
    }
}
