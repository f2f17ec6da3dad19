//! First in, first out: data goes in the order in which it was written, over all streams.

use super::heap::Heap;
use super::{Head, PathView, RETRANSMISSIONS, Scheduler, StreamKey, entry};
use units::Time;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "fifo",
    about: "first in, first out: data of all streams in the order in which it was written",
    parameters: &[RETRANSMISSIONS],
    build: &|_| Box::new(Fifo::default()),
};

/// Ready streams in the order in which the data was written that each would send next. No two writes are equal, so there
/// are no ties. A stream that was blocked comes back at the place of its data. Lost data was written before all data that
/// has not been sent yet, so it goes first either way; a FIN goes with the data before it.
#[derive(Debug, Default)]
pub struct Fifo {
    ready: Heap<u64>,
    /// By slot: the order of what the stream would send next.
    orders: Vec<u64>,
}

impl Scheduler for Fifo {
    fn wants_heads(&self) -> bool {
        true
    }
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        *entry(&mut self.orders, stream.slot) = head.order;
        self.ready.change(stream, head.order);
    }
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        let order = *entry(&mut self.orders, stream.slot);
        self.ready.join(stream, order);
    }
    fn on_sent(&mut self, _stream: StreamKey, _bytes: u64) {}
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
        *entry(&mut self.orders, stream.slot) = 0;
    }
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ready.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{VIEW, head, key, turns};
    use super::*;

    #[test]
    fn data_goes_as_it_was_written() {
        let mut fifo = Fifo::default();
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
