//! Round robin: the streams that have something to send take turns, a packet each.

use super::{PathView, Scheduler};
use std::collections::VecDeque;
use units::Time;
use units::parameter::Row;
use wire::StreamId;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "rr",
    about: "round robin: streams with data take turns, one packet's worth each",
    parameters: &[],
    build: |_| Box::new(RoundRobin::default()),
};

/// The ring of ready streams. A stream that becomes ready comes last.
#[derive(Debug, Default)]
pub struct RoundRobin {
    ring: VecDeque<StreamId>,
}

impl Scheduler for RoundRobin {
    fn on_ready(&mut self, stream: StreamId, _now: Time) {
        self.ring.push_back(stream);
    }

    #[inline]
    fn on_sent(&mut self, stream: StreamId, _bytes: u64) {
        if self.ring.front() == Some(&stream) {
            self.ring.rotate_left(1);
        }
    }

    fn on_idle(&mut self, stream: StreamId) {
        // The stream that goes idle was nearly always the last to send: look from the back.
        if let Some(at) = self.ring.iter().rposition(|known| *known == stream) {
            self.ring.remove(at);
        }
    }

    #[inline]
    fn next(&mut self, _view: &PathView) -> Option<StreamId> {
        self.ring.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn streams_take_turns_and_idle_ones_are_left_out() {
        let view = PathView { now: Time::ZERO, window: 0, smoothed_rtt: Duration::ZERO };
        let [a, b, c] = [0, 4, 8].map(StreamId::from_value);
        let mut ring = RoundRobin::default();
        for stream in [a, b, c] {
            ring.on_ready(stream, Time::ZERO);
        }
        let mut order = Vec::new();
        for turn in 0..7 {
            let stream = ring.next(&view).unwrap();
            order.push(stream);
            ring.on_sent(stream, 1000);
            if turn == 3 {
                ring.on_idle(b);
            }
        }
        assert_eq!(order, [a, b, c, a, c, a, c]);
    }
}
