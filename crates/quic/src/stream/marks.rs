//! The times at which stream data was written, for schedulers that order by them.

use crate::schedule::{Head, Scheduler, entry};
use std::collections::VecDeque;
use units::Time;

/// The maximum number of distinct unacknowledged writes of one stream; further writes are merged into the last.
const MAX_MARKS: usize = 1 << 16;

/// One write: the data from the previous mark to `end`.
#[derive(Debug, Clone, Copy)]
struct Write {
    end: u64,
    head: Head,
}

#[derive(Debug, Default)]
struct Writes {
    /// Ascending, without fully acknowledged writes at the start.
    marks: VecDeque<Write>,
    /// The order last reported to the scheduler; 0: none yet.
    reported: u64,
}

/// The writes of all streams of a connection, by slot.
#[derive(Debug, Default)]
pub(super) struct WriteTimes {
    writes: Vec<Writes>,
    /// The order of the newest write.
    newest: u64,
}

impl WriteTimes {
    /// Empty marks, if this scheduler needs them.
    pub(super) fn wanted(scheduler: &dyn Scheduler) -> Option<Box<WriteTimes>> {
        scheduler.wants_heads().then(Box::default)
    }

    /// Records a write up to `end`. A FIN is written up to `u64::MAX` and belongs to the last write.
    pub(super) fn note_written(&mut self, slot: u32, end: u64, now: Time) {
        let marks = &mut entry(&mut self.writes, slot).marks;
        let full = marks.len() >= MAX_MARKS;
        let latest = Head { written: now, order: self.newest };
        match marks.back_mut() {
            Some(last) if last.head == latest || end == u64::MAX || full => last.end = end,
            _ => {
                self.newest += 1;
                if marks.capacity() == 0 {
                    // Most streams have at most one write at a time.
                    marks.reserve_exact(1);
                }
                marks.push_back(Write { end, head: Head { written: now, order: self.newest } });
            }
        }
    }

    /// The write of the data at `offset`, which the stream sends next; `None` if the scheduler knows it.
    pub(super) fn change_of_head(&mut self, slot: u32, offset: u64) -> Option<Head> {
        let writes = self.writes.get_mut(slot as usize)?;
        let at = match writes.marks.front() {
            Some(first) if first.end > offset => 0,
            _ => writes.marks.partition_point(|mark| mark.end <= offset),
        };
        let head = writes.marks.get(at)?.head;
        (std::mem::replace(&mut writes.reported, head.order) != head.order).then_some(head)
    }

    /// Removes writes below `offset`, which are acknowledged.
    pub(super) fn release(&mut self, slot: u32, offset: u64) {
        let Some(writes) = self.writes.get_mut(slot as usize) else { return };
        while writes.marks.front().is_some_and(|first| first.end <= offset) {
            writes.marks.pop_front();
        }
        if writes.marks.is_empty() {
            // An idle stream keeps no memory.
            writes.marks = VecDeque::new();
        }
    }

    /// Forgets a closed stream.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(writes) = self.writes.get_mut(slot as usize) {
            *writes = Writes::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + units::Duration::from_millis(ms)
    }

    #[test]
    fn data_is_found_by_its_offset() {
        let mut marks = WriteTimes::default();
        marks.note_written(1, 100, at(1));
        marks.note_written(1, 200, at(1));
        marks.note_written(0, 50, at(1));
        marks.note_written(1, 300, at(1));
        marks.note_written(1, u64::MAX, at(9));
        let head = |written, order| Some(Head { written: at(written), order });
        assert_eq!(marks.change_of_head(1, 0), head(1, 1));
        assert_eq!(marks.change_of_head(1, 150), None, "one write");
        assert_eq!(marks.change_of_head(1, 200), head(1, 3));
        assert_eq!(marks.change_of_head(1, 300), None, "the FIN goes with the data before it");
        assert_eq!(marks.change_of_head(0, 0), head(1, 2));
        marks.release(1, 200);
        assert_eq!(marks.writes[1].marks.len(), 1);
        marks.forget(1);
        assert_eq!(marks.change_of_head(1, 0), None);
        assert_eq!(marks.change_of_head(7, 0), None, "nothing was written there");
    }

    #[test]
    fn the_marks_of_a_stream_are_bounded() {
        let mut marks = WriteTimes::default();
        for write in 1..MAX_MARKS as u64 + 100 {
            marks.note_written(0, write, at(write));
        }
        assert_eq!(marks.writes[0].marks.len(), MAX_MARKS);
        assert_eq!(
            marks.change_of_head(0, MAX_MARKS as u64 + 50).map(|head| head.order),
            Some(MAX_MARKS as u64)
        );
    }
}
