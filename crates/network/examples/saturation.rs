//! What a packet costs on a saturated link, in CPU time: `cargo run --release -p network --example saturation`.

#[path = "../tests/support/mod.rs"]
mod support;

use cpu_time::ProcessTime;
use network::{Exits, Node, Packet, Port, Step, World};
use support::{Source, chain};
use units::{Duration, Time};

const LINK: &[(&str, &str)] =
    &[("rate", "fixed rate=100 Mbit/s"), ("delay", "10 ms"), ("queue", "drop-tail limit=1 BDP")];

/// Sends a new packet for each that comes back acknowledged: a window without timers.
#[derive(Debug)]
struct Window {
    inner: Source,
    answers: bool,
    heard: u32,
}

impl Node for Window {
    fn accept(&mut self, _now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.inner.received += 1;
        self.heard += 1;
        let (replies, size) =
            if self.answers { (u32::from(self.heard.is_multiple_of(2)), 68) } else { (2, 1500) };
        let (from, to) = (packet.destination, packet.source);
        exits.discard(packet);
        for _ in 0..replies {
            let mut bytes = exits.buffer();
            bytes.resize(40, 0);
            exits.send_new(from, to, bytes, None).size = size;
        }
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        self.inner.wake(now, exits);
    }
    fn wake_at(&self) -> Option<Time> {
        self.inner.wake_at()
    }
}

fn measure<H: Node>(name: &str, hops: u64, mut world: World<H>, seconds: u64) {
    let mut run = |until: u64| {
        while world.run(Time::from_nanos(until * 1_000_000_000), 1 << 20) == Ok(Step::Budget) {}
        world.links().iter().map(|link| link.stats().delivered.packets).sum::<u64>()
    };
    let before = run(seconds / 10);
    let start = ProcessTime::now();
    let packets = run(seconds / 10 + seconds) - before;
    let ns = start.elapsed().as_nanos() as f64 / packets as f64;
    println!("{name}, {hops} hops: {ns:.1} ns for each packet and hop, {packets} of them");
}

fn main() {
    // 1200 virtual seconds are ten million packets.
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1200);
    // 1500 B at 100 Mbit/s take 120 us: 1 % more is offered than fits.
    let source = |left| Source::new(0, 1, Duration::from_nanos(118_800), left);
    measure("open loop with 1 % dropped", 1, chain(1, LINK, source(u64::MAX), source(0)), seconds);
    let window = |from, to, left, answers| {
        let inner = Source::new(from, to, Duration::ZERO, left);
        Window { inner, answers, heard: 0 }
    };
    for hops in [1, 4] {
        let hosts = (window(0, hops, 300, false), window(hops, 0, 0, true));
        let name = "window of 300 packets with acknowledgements 1:2";
        measure(name, u64::from(hops), chain(hops, LINK, hosts.0, hosts.1), seconds);
    }
}
