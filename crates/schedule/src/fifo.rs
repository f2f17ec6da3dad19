//! First in, first out: sends the data of all streams in the order of writing.

use super::{Discipline, Head, Ranked, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "fifo",
    about: "first in, first out: data of all streams in the order in which it was written",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(Ranked::<Fifo>::default()),
};

/// Orders ready streams by the time at which their next data was written. No two writes are equal, so there are no
/// ties. An unblocked stream returns at the position of its data. Lost data was written before all unsent data, so it
/// always goes first; a FIN goes with the data before it.
#[derive(Debug)]
pub struct Fifo;

impl Discipline for Fifo {
    /// The order of the stream's next data.
    type State = u64;
    type Rank = u64;
    const BY_DATA: bool = true;

    #[inline]
    fn rank(_: StreamKey, order: &u64) -> u64 {
        *order
    }
    fn set_head(order: &mut u64, head: Head) {
        *order = head.order;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::testing::{VIEW, head, key, turns};
    use super::*;
    use units::Time;

    #[test]
    fn data_is_sent_in_the_order_of_writing() {
        let mut fifo = Ranked::<Fifo>::default();
        for (slot, order) in [(0, 1), (1, 2)] {
            fifo.on_head(key(slot), head(0, order));
            fifo.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut fifo, 2), [0, 0], "until something changes");
        fifo.on_head(key(0), head(0, 3));
        assert_eq!(turns(&mut fifo, 2), [1, 1]);
        fifo.on_idle(key(1));
        assert_eq!(turns(&mut fifo, 1), [0]);
        fifo.on_ready(key(1), Time::ZERO);
        assert_eq!(turns(&mut fifo, 1), [1], "at the place of its data");
        fifo.on_closed(key(1));
        fifo.on_idle(key(0));
        assert_eq!(fifo.next(&VIEW), None);
    }
}
