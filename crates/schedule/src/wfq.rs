//! Weighted fair queuing by bytes: start-time fair queuing (Goyal, Vin, Cheng: "Start-time Fair Queuing: A Scheduling
//! Algorithm for Integrated Services Packet Switching Networks", 1997).

use super::heap::{Heap, rank};
use super::{PathView, Priority, Scheduler, SchedulerOptions, StreamKey, entry};
use units::Time;
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "wfq",
    about: "weighted fair queuing: bytes in proportion to weights (start-time fair queuing)",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(FairQueuing::default()),
};

/// The virtual time of a byte at weight 1; it is divided by the weight.
const BYTE: u64 = 1 << 16;

/// The state of a stream.
#[derive(Debug)]
struct State {
    weight: u16,
    /// The virtual time at which the service of the stream's sent bytes finishes.
    finish: u64,
}

impl Default for State {
    fn default() -> State {
        State { weight: 1, finish: 0 }
    }
}

/// Orders ready streams by start tag. The start tag of a stream is the finish of its last bytes, or the virtual time
/// when it became ready, whichever is later; the finish is the start tag plus the number of bytes divided by the
/// weight. The virtual time is the start tag of the data being sent, or the latest finish when nothing is ready.
/// Therefore a new stream starts with the others, a blocked or idle stream gets no credit for that time, and no stream
/// starves. Ties go to the stream that reached its tag first. Retransmitted bytes count like others, in or out of turn;
/// a FIN alone costs nothing.
#[derive(Debug, Default)]
pub struct FairQueuing {
    ready: Heap<u128>,
    states: Vec<State>,
    now: u64,
    /// The latest finish.
    last: u64,
    /// The number of tags given so far.
    count: u64,
}

impl FairQueuing {
    /// The start tag of a ready stream.
    fn start(&self, stream: StreamKey) -> Option<u64> {
        self.ready.rank(stream).map(|rank| (rank >> 64) as u64)
    }

    fn charge(&mut self, stream: StreamKey, bytes: u64) {
        self.count += 1;
        let start = self.start(stream);
        let state = entry(&mut self.states, stream.slot);
        // Virtual time saturates after 2^48 bytes: then all tags are equal, and the streams take turns.
        let cost = bytes.saturating_mul(BYTE) / u64::from(state.weight);
        state.finish = start.unwrap_or(state.finish).saturating_add(cost);
        self.last = self.last.max(state.finish);
        self.ready.change(stream, rank(state.finish, self.count));
    }
}

impl Scheduler for FairQueuing {
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        self.count += 1;
        let start = entry(&mut self.states, stream.slot).finish.max(self.now);
        self.ready.join(stream, rank(start, self.count));
    }
    fn on_sent(&mut self, stream: StreamKey, bytes: u64) {
        if let Some(start) = self.start(stream) {
            self.now = self.now.max(start);
        }
        self.charge(stream, bytes);
    }
    fn on_sent_out_of_turn(&mut self, stream: StreamKey, bytes: u64) {
        self.charge(stream, bytes);
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
        if self.ready.is_empty() {
            self.now = self.last;
        }
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        // Sent data keeps its cost; new data costs according to the new weight.
        entry(&mut self.states, stream.slot).weight = priority.weight.max(1);
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.on_idle(stream);
        *entry(&mut self.states, stream.slot) = State::default();
    }
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ready.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{VIEW, key, turns, weight};
    use super::*;

    #[test]
    fn bytes_are_shared_by_weight() {
        let mut wfq = FairQueuing::default();
        wfq.on_priority(key(0), weight(3));
        for slot in 0..2 {
            wfq.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut wfq, 8), [0, 1, 0, 0, 0, 1, 0, 0]);
        let mut sent = [0, 0];
        for _ in 0..4000 {
            let stream = wfq.next(&VIEW).unwrap();
            // Packets of different sizes.
            let bytes = if stream.slot == 0 { 500 } else { 1200 };
            wfq.on_sent(stream, bytes);
            sent[stream.slot as usize] += bytes;
        }
        let share = sent[0] as f64 / (sent[0] + sent[1]) as f64;
        assert!((share - 0.75).abs() < 0.001, "{share}");
    }

    #[test]
    fn idle_time_earns_no_credit() {
        let mut wfq = FairQueuing::default();
        wfq.on_ready(key(0), Time::ZERO);
        assert_eq!(turns(&mut wfq, 100), [0; 100]);
        wfq.on_ready(key(1), Time::ZERO);
        assert_eq!(turns(&mut wfq, 5), [1, 0, 1, 0, 1], "not a hundred turns");
        wfq.on_idle(key(0));
        wfq.on_idle(key(1));
        wfq.on_ready(key(2), Time::ZERO);
        wfq.on_ready(key(0), Time::ZERO);
        assert_eq!(turns(&mut wfq, 4), [2, 0, 2, 0]);
    }
}
