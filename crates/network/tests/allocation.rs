//! Once the network is warm, nothing is allocated per packet, as a counting allocator shows.
#![allow(unsafe_code, reason = "an allocator can only be written with it; this one hands on to the system's")]

mod support;

use network::middlebox::{self, MiddleboxOptions};
use network::{Exits, NodeId, Packet, Port, World};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{Source, chain};
use units::{Duration, Time};

struct Counting;

thread_local! {
    /// The allocations of this thread, since tests run in parallel.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // At the end of a thread there is no counter any more.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed unchanged to the system's allocator, which keeps the contract; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut action: impl FnMut()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    action();
    ALLOCATIONS.with(Cell::get) - before
}

/// The number of allocations between the third and the tenth second, and of delivered packets. The first queue
/// fills within 1.2 s.
fn of_a_run(options: &[(&str, &str)]) -> (u64, u64) {
    between(3, 10, options)
}

/// The number of allocations between these seconds, and of delivered packets.
fn between(from: u64, to: u64, options: &[(&str, &str)]) -> (u64, u64) {
    let source = |from, to| Source::new(from, to, Duration::from_micros(118), u64::MAX);
    let mut world: World<Source> = chain(2, options, source(0, 2), source(2, 0));
    let second = |n: u64| Time::from_nanos(1_000_000_000 * n);
    world.run(second(from), u64::MAX).unwrap();
    let before = world.links().iter().map(|link| link.stats().delivered.packets).sum::<u64>();
    let count = allocations(|| drop(world.run(second(to), u64::MAX)));
    (count, world.links().iter().map(|link| link.stats().delivered.packets).sum::<u64>() - before)
}

const RATE: (&str, &str) = ("rate", "fixed rate=100 Mbit/s");
const DELAY: (&str, &str) = ("delay", "10 ms");

#[test]
fn a_warm_network_allocates_nothing() {
    let cases: [&[(&str, &str)]; 5] = [
        &[DELAY],
        &[RATE, DELAY],
        &[RATE, DELAY, ("loss", "periodic every=100"), ("jitter", "uniform maximum=0 s"), ("corrupt", "1")],
        &[("rate", "changes steps=[[0 s, 100 Mbit/s], [50 ms, 50 Mbit/s]];repeat=100 ms"), DELAY],
        &[("rate", "trace file=1\n1\n1\n2\n2\n3\n"), DELAY, ("loss", "periodic every=100")],
    ];
    for options in cases {
        let (count, packets) = of_a_run(options);
        assert_eq!(count, 0, "{options:?}");
        assert!(packets > 50_000, "{packets}");
    }
}

/// The same for every queue, at slightly more than the capacity of the link. CoDel first drains its queue after
/// about 7 s.
#[test]
fn a_warm_queue_allocates_nothing() {
    for row in network::queue::QUEUES {
        let more = match row.name {
            "priority" => ";classes=[[call], [film]]",
            "policer" => ";rate=90 Mbit/s;burst=30 kB",
            _ => "",
        };
        let queue = format!("{} limit=100 packets{more}", row.name);
        let (count, packets) = between(20, 25, &[RATE, DELAY, ("queue", &queue)]);
        assert_eq!(count, 0, "{queue}");
        assert!(packets > 50_000, "{queue} {packets}");
    }
}

#[test]
fn only_a_new_maximum_of_packets_in_flight_allocates() {
    // By chance, a new maximum of packets in flight occurs now and then, and each additional packet needs
    // memory.
    let cases: [&[(&str, &str)]; 3] = [
        &[RATE, DELAY, ("loss", "random probability=0.01")],
        &[RATE, DELAY, ("loss", "gilbert-elliott to_bad=0.01;to_good=0.5"), ("corrupt", "0.05")],
        &[RATE, DELAY, ("duplicate", "0.05"), ("jitter", "uniform maximum=5 ms"), ("reorder", "true")],
    ];
    for options in cases {
        let (count, packets) = of_a_run(options);
        assert!(count < 30 && packets > 100_000, "{count} allocations for {packets} packets");
    }
}

/// Every tenth acknowledgement of two packets is 12 ms late.
#[test]
fn a_warm_access_node_allocates_nothing() {
    for name in ["ack-pacer", "ldad"] {
        let row = middlebox::MIDDLEBOXES.iter().find(|row| row.name == name).unwrap();
        let arguments = support::arguments(row.parameters, &[]);
        let carriers = ["radio", "backhaul"].map(str::to_owned);
        let options = MiddleboxOptions {
            arguments: &arguments,
            node: NodeId(1),
            carriers: &carriers,
            links: 2,
            name: "node ap",
            stream: &|name| random::Generator::new(1, name),
            interest: trace::Interest::NONE,
        };
        let mut node = middlebox::build(name, &options).unwrap();
        let mut exits = Exits::default();
        let (terminal, server) = (support::address(0), support::address(1));
        let mut cycle = |n: u64| {
            let start = Time::from_nanos(100_000_000 * n);
            let delay = Duration::from_millis(if n % 10 == 9 { 22 } else { 10 });
            for (at, up) in [(start, false), (start, false), (start + delay, true)] {
                while let Some(due) = node.wake_at().filter(|due| *due <= at) {
                    node.wake(due, &mut exits);
                }
                let (from, to) = if up { (terminal, server) } else { (server, terminal) };
                let mut bytes = exits.buffer();
                bytes.resize(if up { 30 } else { 1000 }, 0);
                let packet = exits.place(Packet::new(from, to, bytes, None));
                node.accept(at, Port(u16::from(!up)), packet, &mut exits);
            }
            while let Some(packet) = exits.take() {
                exits.discard(packet);
            }
        };
        (0..1000).for_each(&mut cycle);
        assert_eq!(allocations(|| (1000..5000).for_each(&mut cycle)), 0, "{name}");
        let busy = if name == "ldad" { "held_packets" } else { "ack_only_packets" };
        let counts = node.counters();
        assert!(counts.iter().any(|(name, count)| *name == busy && *count > 400), "{counts:?}");
    }
}

#[test]
fn statistics_allocate_nothing() {
    let mut link = support::link("a", &[RATE, DELAY]);
    let mut exits = Exits::default();
    (0..100).for_each(|n| link.accept(Time::ZERO, support::packet(n, 1500), &mut exits));
    let look = || assert_eq!(std::hint::black_box(&link).stats().accepted.packets, 100);
    assert_eq!(allocations(look), 0);
}
