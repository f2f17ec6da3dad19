//! The limit on what all streams of a connection keep until it is acknowledged: the send queue of the INET paper, section
//! III. When it is full the application is told to stop, and when it has fallen to a low-water mark to go on.

use crate::config::Config;
use std::collections::BTreeMap;
use std::ops::Bound;
use wire::StreamId;

/// What is queued, and who waits for room.
#[derive(Debug)]
pub(crate) struct SendQueue {
    limit: u64,
    low: u64,
    /// Bytes that were written, to streams that were not reset, and not acknowledged.
    queued: u64,
    /// Streams whose application was told to stop, and how much of its data was not taken.
    waiting: BTreeMap<StreamId, u64>,
    /// Which of them was told first when there was room the last time, and which was told last since.
    first: Option<StreamId>,
    last: Option<StreamId>,
}

impl SendQueue {
    /// The queue that the options ask for, if they do.
    pub(crate) fn new(config: &Config) -> Option<Box<SendQueue>> {
        let limit = config.send_queue?.as_bytes().max(1);
        let low = config.send_queue_low.map_or(limit, |low| low.as_bytes()).min(limit - 1);
        Some(Box::new(SendQueue::of(limit, low)))
    }

    fn of(limit: u64, low: u64) -> SendQueue {
        SendQueue { limit, low, queued: 0, waiting: BTreeMap::new(), first: None, last: None }
    }

    /// How many bytes it takes.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.queued)
    }
    /// So much was written, and so much more was not taken for want of room.
    pub(crate) fn note_written(&mut self, id: StreamId, length: u64, refused: u64) {
        self.queued += length;
        if refused > 0 {
            self.waiting.insert(id, refused);
        }
    }
    /// So much is kept no more.
    pub(crate) fn note_released(&mut self, length: u64) {
        self.queued = self.queued.saturating_sub(length);
    }
    /// The next stream whose application is to go on, and how much of its data was not taken; `promised` is that of those
    /// that were told to just now. Of many that wait no more are told than there is room for: the others would be told to stop
    /// again. Once the queue is empty all are told, for nothing would be released any more. Who is told first may take all the
    /// room: that is another one each time, in the order of their ids, round and round.
    pub(crate) fn next_to_go_on(&mut self, promised: u64) -> Option<(StreamId, u64)> {
        let is_time = self.queued == 0 || self.queued <= self.low && promised < self.room();
        let behind = |id| self.waiting.range((Bound::Excluded(id), Bound::Unbounded)).next();
        let after = self.last.or(self.first);
        let next = after.and_then(behind).or(self.waiting.first_key_value()).filter(|_| is_time);
        let next = next.map(|(id, wanted)| (*id, *wanted));
        let id = next.map(|(id, _)| id);
        if self.last.is_none() {
            self.first = id.or(self.first);
        }
        self.last = id;
        id.inspect(|id| {
            self.waiting.remove(id);
        });
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The streams that are told to go on.
    fn told(queue: &mut SendQueue) -> Vec<u64> {
        let (mut told, mut promised) = (Vec::new(), 0);
        while let Some((id, wanted)) = queue.next_to_go_on(promised) {
            promised += wanted;
            told.push(id.value());
        }
        told
    }

    #[test]
    fn no_more_are_told_to_go_on_than_there_is_room_for() {
        let mut queue = SendQueue::of(1000, 999);
        let id = |index: u64| StreamId::from_value(4 * index);
        queue.note_written(id(9), 1000, 500);
        for index in 0..5 {
            queue.note_written(id(index), 0, 100);
        }
        assert_eq!(told(&mut queue), [0; 0]);
        queue.note_released(250);
        assert_eq!(told(&mut queue), [0, 4, 8], "the third has room for a part");
        queue.note_written(id(0), 100, 0);
        queue.note_written(id(1), 100, 0);
        queue.note_written(id(2), 50, 50);
        assert_eq!(told(&mut queue), [0; 0]);
        queue.note_released(1);
        assert_eq!(told(&mut queue), [8]);
        // It writes nothing after all: the others are told by the next release.
        queue.note_released(1);
        assert_eq!(told(&mut queue), [12]);
    }

    #[test]
    fn the_low_water_mark_is_waited_for_and_an_empty_queue_tells_all() {
        let mut queue = SendQueue::of(1000, 300);
        let id = |index: u64| StreamId::from_value(4 * index);
        queue.note_written(id(0), 1000, 1 << 60);
        queue.note_written(id(1), 0, 1 << 60);
        queue.note_written(id(2), 0, 1 << 60);
        queue.note_released(699);
        assert_eq!(told(&mut queue), [0; 0]);
        queue.note_released(1);
        assert_eq!(told(&mut queue), [0]);
        // It has nothing more to say.
        queue.note_released(300);
        assert_eq!(told(&mut queue), [4, 8]);
    }

    #[test]
    fn who_is_told_first_changes() {
        let id = |index: u64| StreamId::from_value(4 * index);
        for all in [true, false] {
            let mut queue = SendQueue::of(10, 9);
            for first in [0, 1, 2, 0, 1] {
                queue.note_written(id(first), 10, 10);
                (0..3).for_each(|index| queue.note_written(id(index), 0, 10));
                assert_eq!(queue.next_to_go_on(0), None, "it is full");
                queue.note_released(if all { 10 } else { 5 });
                let order = [0, 1, 2].map(|n| 4 * ((first + n) % 3));
                assert_eq!(told(&mut queue), order[..if all { 3 } else { 1 }]);
                queue.note_released(10);
            }
        }
    }
}
