//! Changes of the peer's stream limits, from remembered to new ones, and the reset of streams after the server has
//! rejected 0-RTT (RFC 9001 section 4.6.2).

use super::lists::List;
use super::marks::WriteTimes;
use super::{Index, Streams, direction_index};
use crate::event::Event;
use crate::schedule::Scheduler;
use units::Time;
use wire::{Direction, StreamId, TransportParameters};

const DIRECTIONS: [Direction; 2] = [Direction::Bidirectional, Direction::Unidirectional];

impl Streams {
    /// Applies the limits in the peer's transport parameters. This may happen twice: with remembered parameters and
    /// then with the new ones (RFC 9000 section 7.4.1), which are not lower.
    pub(crate) fn set_peer_parameters(&mut self, now: Time, peer: &TransportParameters) {
        self.credit.raise(peer.initial_max_data);
        self.takes_parts = peer.reset_stream_at;
        // Streams that are remote for the peer are opened by this endpoint.
        self.send_credits = [
            peer.initial_max_stream_data_bidi_remote,
            peer.initial_max_stream_data_bidi_local,
            peer.initial_max_stream_data_uni,
        ];
        let limits = [peer.initial_max_streams_bidi, peer.initial_max_streams_uni];
        for (direction, limit) in DIRECTIONS.into_iter().zip(limits) {
            let counts = &mut self.counts[direction_index(direction)];
            if limit > counts.may_open {
                counts.may_open = limit;
                self.events.push_back(Event::StreamsAvailable(direction));
            }
        }
        // RFC 9000 section 7.4.1: "the client updates the flow control limits on all sending streams".
        self.clear_starved();
        for id in self.own() {
            let credit = self.send_credits[self.kind(id)];
            if let Some(half) = self.send_half(id) {
                if !peer.reset_stream_at {
                    half.give_up_part();
                }
                let before = half.waiting();
                half.credit = half.credit.max(credit);
                let waiting = half.waiting();
                self.credit.note_waiting(before, waiting);
                self.schedule(now, id);
                self.offer(id);
            }
        }
    }

    fn clear_starved(&mut self) {
        while let Some(id) = self.starved.pop_front() {
            if let Some(half) = self.send_half(id) {
                half.lists.leave(List::Starved);
            }
        }
    }

    /// The open streams that this endpoint has opened.
    fn own(&self) -> Vec<StreamId> {
        let of = |direction| {
            let opened = 0..self.counts[direction_index(direction)].opened;
            opened.map(move |index| StreamId::new(self.side, direction, index))
        };
        let known = |id: &StreamId| self.index.contains(*id);
        DIRECTIONS.into_iter().flat_map(of).filter(known).collect()
    }

    /// Whether these limits permit all streams opened so far.
    pub(crate) fn fit(&self, peer: &TransportParameters) -> bool {
        let limits = [peer.initial_max_streams_bidi, peer.initial_max_streams_uni];
        self.counts.iter().zip(limits).all(|(counts, limit)| counts.opened <= limit)
    }

    /// Resets all streams to their state before sending: all data will be sent again from the start, with limits that
    /// are not known yet.
    pub(crate) fn rewind(&mut self) {
        self.credit.rewind();
        self.starved.clear();
        for counts in &mut self.counts {
            counts.may_open = 0;
            counts.blocked_at = None;
        }
        for id in self.own() {
            let half = self.send_half(id).expect("an endpoint sends on the streams that it opens");
            let (scheduled, written, sent) = (half.scheduled, half.written(), half.rewind());
            let abandoned = written - half.written();
            self.stats.abandoned_bytes += u128::from(abandoned);
            self.stats.sent_bytes -= sent;
            if scheduled {
                let key = self.key(id).expect("a stream that is rewound stays open");
                self.scheduler.on_idle(key);
            }
        }
    }

    /// Removes all streams without reporting it, as if none had been opened.
    pub(crate) fn forget(&mut self, scheduler: Box<dyn Scheduler>) {
        self.drop_notices();
        self.rewind();
        self.marks = WriteTimes::wanted(&*scheduler);
        self.scheduler = scheduler;
        self.slots.clear();
        self.free.clear();
        self.index = Index::default();
        self.events.clear();
        self.forget_kept();
        if let Some(queue) = &mut self.queue {
            queue.forget();
        }
        for counts in &mut self.counts {
            counts.opened = 0;
        }
        (self.stats.written_bytes, self.stats.abandoned_bytes) = (0, 0);
    }
}
