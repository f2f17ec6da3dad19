//! Laws for every row of the table, and laws promised by only some definitions.

use proptest::prelude::*;
use random::Generator;
use schedule::Priority;
use schedule::SCHEDULERS;
use schedule::fuzz::{Sender, schedulers};
use units::{Duration, Time};

fn row(name: &str) -> usize {
    SCHEDULERS.iter().position(|row| row.name == name).unwrap()
}

fn weight(weight: u16) -> Priority {
    Priority { weight, ..Priority::default() }
}

/// Every scheduler is work-conserving and stable, returns only ready streams, sends lost data first if requested, does
/// not panic, and is deterministic. The sender asserts the laws.
#[test]
fn every_scheduler_keeps_the_laws_in_any_order_of_events() {
    let count = SCHEDULERS.len();
    for (which, known) in (0..2 * count).map(|which| (which, &SCHEDULERS[which % count])) {
        for seed in 0..40 {
            let mut data = vec![0; 4001];
            Generator::new(seed, "events").fill(&mut data);
            data[0] = which as u8;
            let heard = schedulers(&data);
            if seed == 0 {
                assert_eq!(schedulers(&data), heard, "{}", known.name);
            }
        }
    }
}

/// Schedulers whose definition promises it do not let a stream starve: each of these streams, which always have data,
/// has a turn within a bounded number of turns.
#[test]
fn no_stream_starves_where_the_definition_forbids_it() {
    let weights = [1, 5, 2, 7, 1, 3];
    let sum = weights.iter().map(|weight| usize::from(*weight)).sum::<usize>();
    for (name, within) in [("rr", 6), ("wrr", sum), ("wfq", 2 * sum), ("rfc9218", 6), ("fifo", 6)] {
        let mut sender = Sender::new(row(name), false);
        for weight in weights {
            let slot = sender.open();
            sender.set_priority(slot, Priority { weight, incremental: true, ..Priority::default() });
            sender.write(slot, 1200);
        }
        let mut last = [0; 6];
        for turn in 1..5000 {
            let slot = sender.turn(1200).unwrap().slot;
            last[slot as usize] = turn;
            sender.write(slot, 1200);
            let longest = last.iter().map(|last| turn - last).max().unwrap();
            assert!(longest <= within, "{name}: one of {weights:?} waited for {longest} turns");
        }
    }
}

/// The others state in their definition who waits: less urgent streams get nothing as long as more urgent ones have
/// data.
#[test]
fn less_urgent_streams_wait_where_the_definition_says_so() {
    for name in ["pfifo", "abs", "rfc9218", "adaptive"] {
        let mut sender = Sender::new(row(name), false);
        // 5/4 of 12,000 bytes in 100 ms: below the target of `adaptive`.
        let [low, high] = [(); 2].map(|()| sender.open());
        sender.set_priority(high, Priority { urgency: 1, ..Priority::default() });
        sender.write(low, 1_000_000);
        sender.write(high, 120_000);
        let turns: Vec<_> = (0..101).map(|_| sender.turn(1200).unwrap().slot).collect();
        assert!(turns[..100].iter().all(|slot| *slot == high), "{name}");
        assert_eq!(turns[100], low, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Packets are shared by weight within 2 %, over 10,000 of them.
    #[test]
    fn wrr_meets_weights(weights in proptest::collection::vec(1u16..40, 2..6)) {
        let mut sender = Sender::new(row("wrr"), false);
        for known in &weights {
            let slot = sender.open();
            sender.set_priority(slot, weight(*known));
            sender.write(slot, 1 << 40);
        }
        let mut packets = vec![0u64; weights.len()];
        for _ in 0..10_000 {
            packets[sender.turn(1200).unwrap().slot as usize] += 1;
        }
        check_shares(&packets, &weights)?;
    }

    /// Bytes are shared by weight within 2 %, over 10,000 packets of all sizes, on streams some of which start late or
    /// pause.
    #[test]
    fn wfq_meets_weights(weights in proptest::collection::vec(1u16..9, 2..6), seed in any::<u64>()) {
        let mut sender = Sender::new(row("wfq"), false);
        let mut random = Generator::new(seed, "sizes");
        for known in &weights {
            let slot = sender.open();
            sender.set_priority(slot, weight(*known));
            sender.write(slot, 1 << 40);
            // Bytes sent before it starts do not count.
            for _ in 0..random.below(100) {
                sender.turn(1200);
            }
        }
        sender.set_blocked(0, true);
        for _ in 0..100 {
            sender.turn(1200);
        }
        sender.set_blocked(0, false);
        let mut bytes = vec![0u64; weights.len()];
        for _ in 0..10_000 {
            let turn = sender.turn(100 + random.below(1300)).unwrap();
            bytes[turn.slot as usize] += turn.bytes;
        }
        check_shares(&bytes, &weights)?;
    }

    /// Messages on one stream each, or consecutive ones on few streams, which some order sends in time at a packet per
    /// millisecond.
    #[test]
    fn edf_meets_all_deadlines_that_can_be_met(seed in any::<u64>(), one_each in any::<bool>()) {
        let messages = feasible(seed, one_each);
        prop_assert_eq!(late("edf", &messages), 0, "{:?}", messages);
    }

    /// Data written first is sent first, over all streams and whatever is lost.
    #[test]
    fn fifo_sends_in_the_order_of_writing(
        writes in proptest::collection::vec((0u32..8, 1u64..4000), 1..60),
        first in any::<bool>(),
    ) {
        let mut sender = Sender::new(row("fifo"), first);
        for _ in 0..8 {
            sender.open();
        }
        for (slot, bytes) in &writes {
            sender.write(*slot, *bytes);
        }
        let (mut order, mut sent) = (0, 0);
        while let Some(turn) = sender.turn(1200) {
            prop_assert!(turn.lost || turn.head.order >= order, "{:?} after {}", turn, order);
            order = order.max(turn.head.order);
            sent += turn.bytes;
            if order.is_multiple_of(7) && !turn.lost {
                sender.lose(turn.slot);
                let again = sender.turn(1200).unwrap();
                prop_assert!(again.lost && again.slot == turn.slot, "what is lost is older than all else");
            }
        }
        prop_assert_eq!(sent, writes.iter().map(|(_, bytes)| bytes).sum::<u64>());
    }
}

fn check_shares(got: &[u64], weights: &[u16]) -> Result<(), TestCaseError> {
    let all = got.iter().sum::<u64>() as f64;
    let sum = weights.iter().map(|weight| u64::from(*weight)).sum::<u64>() as f64;
    for (got, weight) in got.iter().zip(weights) {
        let expected = all * f64::from(*weight) / sum;
        let error = (*got as f64 - expected).abs() / expected;
        prop_assert!(error <= 0.02, "{error} for weight {weight} of {weights:?}");
    }
    Ok(())
}

/// A message: the stream, the time of writing, the packets and the deadline. In milliseconds.
#[derive(Debug, Clone, Copy)]
struct Message {
    stream: u32,
    written: u64,
    packets: u64,
    deadline: u64,
}

/// Messages that a random order with one packet per millisecond sends in time.
fn feasible(seed: u64, one_each: bool) -> Vec<Message> {
    let mut random = Generator::new(seed, "messages");
    let streams = 1 + random.below(6);
    // The order that meets all deadlines: each millisecond belongs to a stream or is idle.
    let slots: Vec<_> = (0..150).map(|at| (at, random.below(streams + 1))).collect();
    let mut messages = Vec::new();
    for stream in 0..streams {
        let mine: Vec<u64> = slots.iter().filter(|(_, whose)| *whose == stream).map(|(at, _)| *at).collect();
        let (mut rest, mut written) = (&mine[..], 0);
        let from = messages.len();
        while !rest.is_empty() {
            let (now, later) = rest.split_at((1 + random.below(5) as usize).min(rest.len()));
            rest = later;
            // Within a stream, data written earlier is sent earlier.
            written = now[0].saturating_sub(random.below(20)).max(written);
            let deadline = now[now.len() - 1] + 1;
            messages.push(Message { stream: stream as u32, written, packets: now.len() as u64, deadline });
        }
        let mine = &mut messages[from..];
        if one_each {
            continue;
        }
        // One latency budget for the whole stream, no longer than necessary.
        let latency = mine.iter().map(|message| message.deadline - message.written).max().unwrap_or(0);
        for message in mine {
            message.deadline = message.written + latency;
        }
    }
    if one_each {
        for (stream, message) in (0..).zip(&mut messages) {
            message.stream = stream;
        }
    }
    messages
}

/// The number of late messages with this scheduler.
fn late(name: &str, messages: &[Message]) -> usize {
    let mut sender = Sender::new(row(name), false);
    for stream in 0..=messages.iter().map(|message| message.stream).max().unwrap_or(0) {
        sender.open();
        let mine: Vec<_> = messages.iter().filter(|message| message.stream == stream).collect();
        let Some(first) = mine.first() else { continue };
        let priority = match mine.len() {
            1 => Priority { deadline: Some(at(first.deadline)), ..Priority::default() },
            _ => {
                let latency = Duration::from_millis(first.deadline - first.written);
                Priority { latency: Some(latency), ..Priority::default() }
            }
        };
        sender.set_priority(stream, priority);
    }
    let mut waiting: Vec<_> = messages.to_vec();
    let (mut late, mut now) = (0, 0);
    let mut underway: Vec<Message> = Vec::new();
    while now < 1000 {
        for message in waiting.extract_if(.., |message| message.written == now) {
            sender.write(message.stream, message.packets * 1000);
            underway.push(message);
        }
        sender.pass(Duration::from_millis(1));
        now += 1;
        if let Some(turn) = sender.turn(1000) {
            let at = underway.iter().position(|message| message.stream == turn.slot).unwrap();
            underway[at].packets -= 1;
            if underway[at].packets == 0 {
                late += usize::from(underway.remove(at).deadline < now);
            }
        }
    }
    assert!(waiting.is_empty() && underway.is_empty(), "all is sent");
    late
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// The sets are not trivial: other schedulers miss deadlines.
#[test]
fn other_schedulers_miss_deadlines() {
    for name in ["rr", "fifo", "wfq", "abs"] {
        let missed: usize = (0..20).map(|seed| late(name, &feasible(seed, seed % 2 == 0))).sum();
        assert!(missed > 20, "{name} missed {missed}");
    }
}
