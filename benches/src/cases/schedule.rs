//! Choosing one of 10,000 ready streams: each scheduler alone, without a connection.

use crate::case::Case;
use crate::clock;
use quic::Priority;
use quic::schedule::{Head, PathView, SCHEDULERS, Scheduler, StreamKey};
use units::parameter::Arguments;
use units::{Duration, Time};
use wire::StreamId;

const STREAMS: u32 = 10_000;
const TURNS: u64 = 2_000_000;

/// The case: nanoseconds per turn of a scheduler.
pub(super) struct Choosing {
    row: usize,
    name: &'static str,
    /// Whether the stream runs empty in each turn and immediately gets new data.
    leaves: bool,
}

/// Two cases for each scheduler.
pub(super) fn cases() -> impl Iterator<Item = Choosing> {
    let one = |row: usize, leaves| {
        let name = SCHEDULERS[row].name;
        let name = if leaves { format!("schedule-{name}-leave") } else { format!("schedule-{name}") };
        Choosing { row, name: String::leak(name), leaves }
    };
    (0..SCHEDULERS.len()).flat_map(move |row| [one(row, false), one(row, true)])
}

/// A scheduler in which all streams are ready, with all urgencies and weights.
fn full(row: usize) -> Box<dyn Scheduler> {
    let row = &SCHEDULERS[row];
    let arguments = Arguments::filled(row.parameters, &[], &[]).expect("every option has a default");
    let mut scheduler = (row.build)(&arguments);
    for slot in 0..STREAMS {
        let key = StreamKey { id: StreamId::from_value(u64::from(slot) * 4), slot };
        // A scrambled order, which is not yet that of a heap.
        let mixed = slot.wrapping_mul(2_654_435_761) >> 8;
        let priority = Priority {
            urgency: (mixed % 8) as u8,
            incremental: true,
            weight: 1 + (mixed % 16) as u16,
            deadline: None,
            latency: Some(Duration::from_millis(u64::from(mixed % 1000))),
        };
        scheduler.on_priority(key, priority);
        scheduler.on_head(key, Head { written: Time::ZERO, order: u64::from(mixed) });
        scheduler.on_ready(key, Time::ZERO);
    }
    scheduler
}

impl Case for Choosing {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unit(&self) -> &'static str {
        "ns"
    }

    fn about(&self) -> &'static str {
        if self.leaves {
            "the same, where each stream has nothing left after its turn and becomes ready again"
        } else {
            "quiclab, choosing one of 10,000 ready streams and telling what it sent and what is next"
        }
    }

    fn run(&mut self) -> f64 {
        let mut scheduler = full(self.row);
        let heads = scheduler.wants_heads();
        let mut view = PathView { now: Time::ZERO, window: 12_000, smoothed_rtt: Duration::from_millis(20) };
        let (sum, seconds) = clock::time(|| {
            let mut sum = 0u64;
            for turn in 0..TURNS {
                view.now += Duration::from_micros(10);
                let Some(key) = scheduler.next(&view) else { break };
                sum = sum.wrapping_add(u64::from(key.slot) + 1);
                scheduler.on_sent(key, 1200);
                if self.leaves {
                    scheduler.on_idle(key);
                }
                if heads {
                    scheduler.on_head(key, Head { written: view.now, order: (1 << 30) + turn });
                }
                if self.leaves {
                    scheduler.on_ready(key, view.now);
                }
            }
            sum
        });
        assert!(sum > 0, "streams were chosen");
        seconds * 1e9 / TURNS as f64
    }
}
