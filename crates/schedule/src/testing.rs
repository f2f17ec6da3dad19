//! Helpers for tests of schedulers.

use super::{Head, PathView, Priority, Scheduler, StreamKey};
use units::{Duration, Time};
use wire::StreamId;

/// A path without estimates.
pub(super) const VIEW: PathView = PathView { now: Time::ZERO, window: 0, smoothed_rtt: Duration::ZERO };

/// The stream in this slot.
pub(super) fn key(slot: u32) -> StreamKey {
    StreamKey { id: StreamId::from_value(u64::from(slot) * 4), slot }
}

/// The slots of the next streams to send 1000 bytes each.
pub(super) fn turns(scheduler: &mut dyn Scheduler, count: usize) -> Vec<u32> {
    let turn = |_| {
        let stream = scheduler.next(&VIEW).unwrap();
        scheduler.on_sent(stream, 1000);
        stream.slot
    };
    (0..count).map(turn).collect()
}

/// Data written after this many milliseconds by this write.
pub(super) fn head(written: u64, order: u64) -> Head {
    Head { written: Time::ZERO + Duration::from_millis(written), order }
}

/// A priority with this urgency.
pub(super) fn urgency(urgency: u8) -> Priority {
    Priority { urgency, ..Priority::default() }
}

/// A priority with this weight.
pub(super) fn weight(weight: u16) -> Priority {
    Priority { weight, ..Priority::default() }
}
