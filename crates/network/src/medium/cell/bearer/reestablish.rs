//! A bearer begins anew after a handover.

use super::{Bearer, Far, Held, Piece, Span, State};
use std::collections::VecDeque;
use units::Time;

impl Bearer {
    /// Begins anew, after a handover. What the far end has received whole stays there. The other packets are lost, but for
    /// those of the acknowledged mode if the sender keeps them: these are sent again from their first bytes, and the
    /// order is kept (TS 36.323 sections 5.2.1 and 5.2.2, with a status report of PDCP).
    pub(in super::super) fn reestablish(&mut self, now: Time, keeps: bool, far: &mut impl Far) {
        let resends = keeps && self.arq.is_some();
        let pieces = std::mem::take(&mut self.pieces);
        let (mut start, mut received_at, mut at) = (self.done, self.received_at, 0);
        let (base, first) = (self.end, self.next_number);
        let mut again = VecDeque::new();
        for held in std::mem::take(&mut self.packets) {
            let mut is_whole = held.end <= self.sent;
            // The pieces that the packet has a part in; the last one may belong to the next packet, too.
            while let Some(piece) = pieces.get(at).filter(|_| start < held.end) {
                match piece.state {
                    State::Received(time) => received_at = received_at.max(time),
                    State::Missing | State::Gone => is_whole = false,
                }
                if piece.end > held.end {
                    break;
                }
                (start, at) = (piece.end, at + 1);
            }
            start = held.end;
            let received = std::mem::take(&mut received_at);
            let Some(packet) = &held.packet else { continue };
            if resends {
                let from = self.end;
                self.end += u64::from(self.size_of(packet.size));
                let state = if is_whole { State::Received(received) } else { State::Missing };
                if !is_whole {
                    again.push_back(Span { from, to: self.end });
                }
                self.pieces.push_back(Piece { end: self.end, number: self.next_number, repeats: 0, state });
                self.next_number += 1;
                self.packets.push_back(Held { end: self.end, ..held });
            } else if is_whole {
                self.hand_over(now, held, received, far);
            } else if let Some(packet) = held.packet {
                self.inside.remove(packet.size);
                far.lose(now, packet);
            }
        }
        let from = self.pieces.iter().rev().nth(1).map_or(base, |piece| piece.end);
        (self.done, self.highest, self.reported) = (base, base, base);
        (self.sent, self.clear_since, self.received_at, self.reordering) = (self.end, now, Time::ZERO, None);
        if let Some(arq) = &mut self.arq {
            arq.begin(first, again, Span { from, to: self.end });
        }
        self.advance(now, far);
    }
}
