//! Streams under limits that change: those of an earlier connection before those of this one, and none of what was
//! sent where the server did not take 0-RTT (RFC 9001 section 4.6.2).

use super::lists::List;
use super::marks::Marks;
use super::{Index, Streams, direction_index};
use crate::event::Event;
use crate::schedule::Scheduler;
use units::Time;
use wire::{Direction, StreamId, TransportParameters};

const DIRECTIONS: [Direction; 2] = [Direction::Bidirectional, Direction::Unidirectional];

impl Streams {
    /// The peer's transport parameters have come: its limits on what this side sends. They may come twice: as they are
    /// remembered, and as they are (RFC 9000 section 7.4.1), and then are no lower.
    pub(crate) fn set_peer_parameters(&mut self, now: Time, peer: &TransportParameters) {
        self.credit.raise(peer.initial_max_data);
        // What the peer calls remote is what this side opens.
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
        // 9000 section 7.4.1: "the client updates the flow control limits on all sending streams".
        self.clear_starved();
        for id in self.own() {
            let credit = self.send_credits[self.kind(id)];
            if let Some(half) = self.send_half(id) {
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

    /// The streams that this side has opened and that are not over.
    fn own(&self) -> Vec<StreamId> {
        let of = |direction| {
            let opened = 0..self.counts[direction_index(direction)].opened;
            opened.map(move |index| StreamId::new(self.side, direction, index))
        };
        let known = |id: &StreamId| self.index.contains(*id);
        DIRECTIONS.into_iter().flat_map(of).filter(known).collect()
    }

    /// Whether all streams that were opened can be under these limits.
    pub(crate) fn fit(&self, peer: &TransportParameters) -> bool {
        let limits = [peer.initial_max_streams_bidi, peer.initial_max_streams_uni];
        self.counts.iter().zip(limits).all(|(counts, limit)| counts.opened <= limit)
    }

    /// Nothing that was sent has arrived, and no limit is known: all of it waits to be sent again from the start, under
    /// the limits that come.
    pub(crate) fn rewind(&mut self) {
        self.credit.rewind();
        self.starved.clear();
        for counts in &mut self.counts {
            counts.may_open = 0;
            counts.blocked_at = None;
        }
        for id in self.own() {
            let Some(half) = self.send_half(id) else { continue };
            let scheduled = half.scheduled;
            self.stats.sent_bytes -= self.send_half(id).map_or(0, |half| half.rewind());
            if scheduled && let Some(key) = self.key(id) {
                self.scheduler.on_idle(key);
            }
        }
    }

    /// No stream was ever opened. Those that there were are gone without a word.
    pub(crate) fn forget(&mut self, scheduler: Box<dyn Scheduler>) {
        self.drop_notices();
        self.rewind();
        self.marks = Marks::wanted(&*scheduler);
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
    }
}
