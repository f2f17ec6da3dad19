//! The limit on unacknowledged data of all streams: the send queue of the INET paper, section III. When it is full,
//! the application is blocked until it has fallen to a low-water mark.

use crate::config::Config;
use std::collections::BTreeSet;
use std::ops::Bound;
use wire::StreamId;

/// The fill level of the queue, and the streams that wait for room.
#[derive(Debug)]
pub(crate) struct SendQueue {
    limit: u64,
    low: u64,
    /// Unacknowledged bytes of streams that were not reset.
    queued: u64,
    /// Streams whose application is blocked.
    waiting: BTreeSet<StreamId>,
    /// The stream that was resumed first when there last was room, and the one resumed most recently since then.
    first: Option<StreamId>,
    last: Option<StreamId>,
}

impl SendQueue {
    /// The queue with the limits in the options, if they set any.
    pub(crate) fn new(config: &Config) -> Option<Box<SendQueue>> {
        let limit = config.send_queue?.as_bytes().max(1);
        let low = config.send_queue_low.map_or(limit, |low| low.as_bytes()).min(limit - 1);
        Some(Box::new(SendQueue { limit, low, queued: 0, waiting: BTreeSet::new(), first: None, last: None }))
    }

    /// The number of bytes that it accepts.
    pub(crate) fn room(&self) -> u64 {
        self.limit.checked_sub(self.queued).expect("the queue accepts no more than its room")
    }
    /// Whether an application waits for room.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }
    /// Adds written bytes; `all`: whether the application had no more to write.
    pub(crate) fn note_written(&mut self, id: StreamId, length: u64, all: bool) {
        self.queued += length;
        if !all {
            self.waiting.insert(id);
        }
    }
    /// Forgets all streams.
    pub(crate) fn forget(&mut self) {
        (self.queued, self.first, self.last) = (0, None, None);
        self.waiting.clear();
    }
    /// Removes bytes that are not kept any more.
    pub(crate) fn note_released(&mut self, length: u64) {
        let left = self.queued.checked_sub(length);
        self.queued = left.expect("what is acknowledged or dropped was written before");
    }
    /// The next stream to resume. The first one may use all the room, so the first one rotates, in the order of ids.
    pub(crate) fn next_to_resume(&mut self) -> Option<StreamId> {
        let room = self.queued <= self.low;
        let behind = |id| self.waiting.range((Bound::Excluded(id), Bound::Unbounded)).next();
        let next =
            self.last.or(self.first).and_then(behind).or(self.waiting.first()).filter(|_| room).copied();
        if let (Some(next), None) = (next, self.last) {
            self.first = Some(next);
        }
        self.last = next;
        next.inspect(|next| {
            self.waiting.remove(next);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::build;
    use crate::stream::{Data, Streams};
    use units::Time;
    use units::parameter::Arguments;
    use wire::{Direction, Side, TransportParameters};

    #[test]
    fn the_stream_resumed_first_rotates() {
        let id = |index| StreamId::new(Side::Client, Direction::Bidirectional, index);
        let mut queue =
            SendQueue { limit: 10, low: 9, queued: 0, waiting: BTreeSet::new(), first: None, last: None };
        for first in [0, 1, 2, 0, 1] {
            queue.note_written(id(0), 10, false);
            (1..3).for_each(|index| queue.note_written(id(index), 0, false));
            assert_eq!(queue.next_to_resume(), None, "it is full");
            queue.note_released(10);
            let told: Vec<u64> = std::iter::from_fn(|| queue.next_to_resume()).map(StreamId::index).collect();
            assert_eq!(told, [first, (first + 1) % 3, (first + 2) % 3]);
        }
    }

    /// RFC 9001 section 4.6.2: after a rejection "[t]he client therefore MUST reset the state of all streams". The data
    /// that they kept is removed from the queue.
    #[test]
    fn forgotten_streams_leave_room() {
        let config = Config { send_queue: Some(units::Size::from_bytes(1000)), ..Config::default() };
        let rr = || build("rr", &Arguments::default()).unwrap();
        let mut streams = Streams::new(Side::Client, &config, rr());
        let peer = TransportParameters { initial_max_streams_bidi: 9, ..TransportParameters::default() };
        streams.set_peer_parameters(Time::ZERO, &peer);
        for _ in 0..2 {
            let id = streams.open(Direction::Bidirectional).unwrap();
            assert_eq!(streams.write(Time::ZERO, id, Data::Bytes(&[1; 2000])), Ok(1000));
            streams.forget(rr());
            streams.set_peer_parameters(Time::ZERO, &peer);
        }
    }
}
