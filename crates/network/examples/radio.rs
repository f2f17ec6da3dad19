//! What a packet costs on a medium with a link layer, compared with a link of a fixed rate, in CPU time of one process:
//! `cargo run --release -p network --example radio [SECONDS [MEDIUM]]`.

#[path = "../tests/support/mod.rs"]
mod support;

use cpu_time::ProcessTime;
use network::medium::{self, MediumOptions};
use network::{Carriers, Place, Step, Topology, World};
use random::Stream;
use support::{Source, arguments, chain};
use trace::Interest;
use units::{Duration, Time};

/// Nanoseconds of CPU time for each delivered packet, and the number of packets.
fn measure(mut world: World<Source>, seconds: u64) -> (f64, u64) {
    let mut run = |until: u64| {
        while world.run(Time::from_nanos(until * 1_000_000_000), 1 << 20) == Ok(Step::Budget) {}
        world.hosts().map(|host| host.received).sum::<u64>()
    };
    let before = run(1);
    let start = ProcessTime::now();
    let packets = run(1 + seconds) - before;
    (start.elapsed().as_nanos() as f64 / packets as f64, packets)
}

/// Terminals of a station: servers behind it send to them, or they to the servers, each at this interval.
fn star(
    name: &str,
    given: &[(&str, &str)],
    (terminals, up): (u32, bool),
    interval: Duration,
) -> World<Source> {
    let row = medium::MEDIA.iter().find(|row| row.name == name).unwrap();
    let arguments = arguments(row.parameters, given);
    let attachments: Vec<_> =
        (0..=terminals).map(|n| (format!("medium air {n}"), arguments.clone())).collect();
    let options = MediumOptions {
        arguments: &arguments,
        attachments: &attachments,
        station: true,
        name: "medium air",
        stream: &|name| Stream::new(1, name),
        flows: &[],
        delays: false,
        interest: Interest::NONE,
    };
    let built = medium::build(name, &options).unwrap();
    // Each terminal has a server of its own behind the station.
    let mut topology = Topology::default();
    topology.add_node("station").unwrap();
    let names: Vec<String> = (0..terminals).map(|n| format!("terminal {n}")).collect();
    for name in &names {
        topology.add_node(name).unwrap();
    }
    let mut links = Vec::new();
    for n in 0..terminals {
        let server = format!("server {n}");
        topology.add_node(&server).unwrap();
        topology.add_link(&format!("link {n}"), &server, "station").unwrap();
        for way in ["forward", "backward"] {
            links.push(support::link(&format!("link {n} {way}"), &[("delay", "1 ms")]));
        }
    }
    let attached: Vec<&str> = std::iter::once("station").chain(names.iter().map(String::as_str)).collect();
    topology.add_medium("air", &attached, true).unwrap();
    let mut places: Vec<Place<Source>> = vec![Place::Router];
    let side = |own: u32, other: u32, sends: bool| {
        let (interval, count) = if sends { (interval, u64::MAX) } else { (Duration::ZERO, 0) };
        Place::Host(Source::new(own, other, interval, count))
    };
    places.extend((0..terminals).map(|n| side(1 + n, 1 + terminals + n, up)));
    places.extend((0..terminals).map(|n| side(1 + terminals + n, 1 + n, !up)));
    World::new(&topology, Carriers { links, media: vec![built] }, places)
}

/// The ways of a medium's traffic, and what each is compared with.
fn compare(
    name: &str,
    given: &[(&str, &str)],
    counts: &[u32],
    interval: Duration,
    (base, seconds): (f64, u64),
) {
    if std::env::args().nth(2).is_some_and(|only| only != name) {
        return;
    }
    for terminals in counts {
        let each = Duration::from_nanos(interval.as_nanos() * u64::from(*terminals));
        for (way, up) in [("down", false), ("up", true)] {
            let (ns, packets) = measure(star(name, given, (*terminals, up), each), seconds);
            println!(
                "{name}, {terminals} terminals, {way}: {ns:.0} ns for each of {packets} packets, {:.2} times as much",
                ns / base
            );
        }
    }
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    // A link of the rate of the cell, behind the same link as there; 1 % more is offered than fits.
    let interval = Duration::from_nanos(164_000);
    let fixed: &[(&str, &str)] =
        &[("rate", "fixed rate=73 Mbit/s"), ("delay", "1 ms"), ("queue", "drop-tail limit=100 packets")];
    let (base, packets) = measure(
        chain(2, fixed, Source::new(0, 2, interval, u64::MAX), Source::new(2, 0, interval, 0)),
        seconds,
    );
    println!("link of a fixed rate behind another: {base:.0} ns for each of {packets} packets");
    let cell: &[(&str, &str)] = &[
        ("mcs", "28"),
        ("rlc", "am"),
        ("queue", "drop-tail limit=100 packets"),
        ("block_errors", "target bler=0.1"),
    ];
    compare("lte", cell, &[1, 10, 100], interval, (base, seconds));
    // 802.11g: 1 % more than a single station can send.
    let wlan: &[(&str, &str)] = &[("standard", "g"), ("queue", "drop-tail limit=100 packets")];
    let interval = Duration::from_nanos(390_000);
    // The same senders with a link of a fixed rate each, instead of the WLAN.
    compare("wlan", wlan, &[1, 10, 50], interval, (base, seconds));
    let shared: &[(&str, &str)] =
        &[("rate", "fixed rate=30 Mbit/s"), ("queue", "drop-tail limit=100 packets")];
    compare("shared", shared, &[1, 10, 50], interval, (base, seconds));
}
