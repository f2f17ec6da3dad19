//! Round robin: streams with data take turns of a packet each.

use super::ring::Ring;
use super::{PathView, Scheduler, SchedulerOptions, StreamKey};
use units::Time;
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "rr",
    about: "round robin: streams with data take turns, one packet's worth each",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(RoundRobin::default()),
};

/// The ring of ready streams. A new or unblocked stream comes last; one that has sent everything, including its FIN,
/// leaves.
#[derive(Debug, Default)]
pub struct RoundRobin {
    ring: Ring,
}

impl Scheduler for RoundRobin {
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        self.ring.join(stream);
    }

    #[inline]
    fn on_sent(&mut self, stream: StreamKey, _bytes: u64) {
        if self.ring.is_front(stream) {
            self.ring.rotate();
        }
    }

    fn on_idle(&mut self, stream: StreamKey) {
        self.ring.leave(stream);
    }

    #[inline]
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ring.front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{VIEW, key};
    use super::*;

    #[test]
    fn ready_streams_take_turns() {
        let [a, b, c] = [0, 1, 2].map(key);
        let mut ring = RoundRobin::default();
        for stream in [a, b, c] {
            ring.on_ready(stream, Time::ZERO);
        }
        let mut order = Vec::new();
        for turn in 0..7 {
            let stream = ring.next(&VIEW).unwrap();
            order.push(stream);
            ring.on_sent(stream, 1000);
            if turn == 3 {
                ring.on_idle(b);
            }
        }
        assert_eq!(order, [a, b, c, a, c, a, c]);
    }
}
