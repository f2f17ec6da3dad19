//! Laws that hold for every row of every table: bytes are conserved, equal seeds give equal outputs, a run in
//! pieces is the same run, and no component affects the draws of another.

mod support;

use network::medium::MEDIA;
use network::queue::QUEUES;
use network::{DirectionOptions, Exits, LINK, Link, LinkOptions, Packet, rooms};
use proptest::prelude::*;
use support::{address, arguments, chain, deliveries, traced};
use trace::{Interest, Record};
use units::parameter::{Default, Kind, Parameter};
use units::{Duration, Time};

/// A value for an option that has no default.
fn sample(parameter: &Parameter) -> &'static str {
    match (parameter.name, parameter.kind) {
        ("steps", Kind::Pairs(_, Kind::Rate)) => "[[0 s, 20 Mbit/s], [5 ms, 0 bit/s], [9 ms, 7 Mbit/s]]",
        ("steps", Kind::Pairs(_, Kind::Probability)) => "[[0 s, 0.0], [5 ms, 0.5], [9 ms, 0.1]]",
        ("steps", _) => "[[0 s, 4 ms], [5 ms, 1 ms], [20 ms, 3 ms]]",
        (_, Kind::Duration) => "7 ms",
        (_, Kind::Choice(words)) => words[0],
        (_, Kind::Rate) => "15 Mbit/s",
        (_, Kind::Size) => "3 kB",
        (_, Kind::Probability) => "0.2",
        (_, Kind::Integer(..)) => "3",
        ("classes", _) => "[[call], [film]]",
        (_, Kind::List(_)) => "[1, 4, 5, 9]",
        (_, Kind::File(example)) => example,
        (name, kind) => panic!("no sample of {kind:?} for {name}"),
    }
}

/// Every row of every table, as a value of the link option to which it belongs.
fn every_row() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for room in rooms() {
        // Rooms that are not options of a link belong to its components, and are added below.
        let of_room = |parameter: &&Parameter| parameter.kind == Kind::Component(room.name);
        let Some(option) = LINK.iter().find(of_room) else { continue };
        for row in &room.rows {
            let required = row.parameters.iter().filter(|parameter| parameter.default == Default::Required);
            let mut options: Vec<String> =
                required.map(|parameter| format!("{}={}", parameter.name, sample(parameter))).collect();
            if row.name == "geo" {
                // The sky is clear at its beginning.
                options.push("duration=300 s;offset=random".to_owned());
            }
            all.push((option.name, format!("{} {}", row.name, options.join(";"))));
        }
    }
    let played = all.iter().filter(|(_, row)| row.starts_with("series") || row.starts_with("trace"));
    let anywhere: Vec<_> = played
        .filter(|(option, _)| *option == "rate")
        .map(|(option, row)| (*option, format!("{row};offset=random")))
        .collect();
    assert_eq!(anywhere.len(), 2);
    all.extend(anywhere);
    all
}

/// Everything that is visible from outside: arrivals with the whole packet, counters, log.
type Outcome = (Vec<(Time, Packet)>, network::CarrierStats, Vec<Record>);

/// Sends 300 packets of varying sizes in bursts, and returns the outcome. `pause` observes the link in between.
fn outcome(mut link: Link, mut pause: impl FnMut(&mut Link, Time, &mut Exits)) -> Outcome {
    let (mut exits, mut seen) = (Exits::default(), Vec::new());
    let mut collect = |link: &mut Link, until: Time, exits: &mut Exits| {
        while let Some(at) = link.wake_at().filter(|at| *at <= until) {
            link.wake(at, exits);
            seen.extend(std::iter::from_fn(|| exits.take()).map(|packet| (at, *packet)));
        }
    };
    for n in 0..300u32 {
        let at = Time::from_nanos(u64::from(n / 10) * 3_000_000 + u64::from(n % 10 / 3) * 250_000);
        collect(&mut link, Time::from_nanos(at.as_nanos().saturating_sub(1)), &mut exits);
        pause(&mut link, at, &mut exits);
        let hole = (n % 2 == 0).then_some(wire::Hole { at: 1, length: n % 5 * 200, offset: u64::from(n) });
        let mut packet = Packet::new(address(0), address(1), vec![n as u8; 100 + n as usize], hole);
        (packet.flow, packet.data) = (n, n % 4 != 0);
        link.accept(at, packet, &mut exits);
    }
    let end = Time::from_nanos(10_000_000_000);
    collect(&mut link, end, &mut exits);
    link.catch_up(end, &mut exits);
    let records = link.log().drain().collect();
    (seen, link.stats(), records)
}

fn says_that_it_draws(options: &[(&str, &str)]) -> bool {
    let (arguments, flows) = (arguments(LINK, options), support::flows());
    let round_trip = Duration::from_millis(10);
    let options = LinkOptions {
        arguments: &arguments,
        round_trip,
        seed: 1,
        name: "a",
        shared: "a",
        flows: &flows,
        delays: false,
        interest: Interest::ALL,
    };
    Link::draws(&options).unwrap()
}

fn new(name: &str, options: &[(&str, &str)], seed: u64) -> Link {
    traced(name, options, seed, Interest::ALL)
}

#[test]
fn every_row_builds_and_equal_seeds_give_equal_outputs() {
    let rows = every_row();
    assert!(rows.len() >= 13, "{rows:?}");
    for (option, row) in rows {
        for reorder in ["false", "true"] {
            let options = [("rate", "fixed rate=10 Mbit/s"), ("reorder", reorder), (option, row.as_str())];
            let options = &options[usize::from(option == "rate")..];
            let one = outcome(new("a", options, 5), |_, _, _| ());
            assert_eq!(one, outcome(new("a", options, 5), |_, _, _| ()), "{row}");
            let kind = row.split(' ').next().unwrap();
            let draws = match option {
                "loss" => !["none", "periodic", "list"].contains(&kind),
                "jitter" => !["none", "changes", "trace"].contains(&kind),
                "series" => kind != "none",
                "rate" => kind == "generated" || row.ends_with("offset=random"),
                _ => kind == "red",
            };
            let other = outcome(new("a", options, 6), |_, _, _| ());
            let named = outcome(new("b", options, 5), |_, _, _| ());
            assert_eq!((one != other, one != named), (draws, draws), "{row}");
            // A component that reports draws need not make any, but one whose outcome depends on the seed must
            // report them.
            assert!(!draws || says_that_it_draws(options), "{row}");
            let never = option != "queue" && !draws;
            assert!(!never || !says_that_it_draws(options), "{row}");
            let times: Vec<Time> = one.2.iter().map(|record| record.time).collect();
            assert!(times.is_sorted(), "the log of {row} is in the order of time");
            assert!(one.0.is_sorted_by_key(|(at, _)| *at));
        }
    }
}

#[test]
fn observing_a_link_changes_nothing() {
    for (option, row) in every_row() {
        let options =
            [("rate", "fixed rate=10 Mbit/s"), ("delay", "3 ms"), ("duplicate", "0.1"), (option, &row)];
        let options = &options[usize::from(option == "rate")..];
        let left_alone = outcome(new("a", options, 5), |_, _, _| ());
        let watched = outcome(new("a", options, 5), |link, now, exits| {
            link.catch_up(now, exits);
            link.stats();
        });
        assert_eq!(left_alone, watched, "{row}");
    }
}

#[test]
fn a_component_does_not_move_another_ones_draws() {
    let base = [("delay", "20 ms"), ("jitter", "uniform maximum=5 ms"), ("reorder", "true")];
    let with = |more: &[(&'static str, &'static str)]| {
        let options: Vec<(&str, &str)> = base.iter().chain(more).copied().collect();
        let (mut seen, ..) = outcome(new("a", &options, 5), |_, _, _| ());
        seen.sort_by_key(|(_, packet)| packet.flow);
        seen
    };
    let plain = with(&[]);
    assert_eq!(plain.len(), 300);
    // Packets that are not lost arrive at the same time as without loss.
    let lossy = with(&[("loss", "random probability=0.3")]);
    assert!(lossy.len() < 250 && lossy.iter().all(|seen| plain.contains(seen)));
    let burst = with(&[("loss", "gilbert-elliott to_bad=0.1;to_good=0.3"), ("duplicate", "0.2")]);
    assert!(burst.iter().all(|seen| plain.contains(seen)));
    // The same packets are altered in the same bytes, with and without copies, and arrive at the same time as
    // unaltered.
    let altered = with(&[("corrupt", "0.2")]);
    assert!(
        altered.iter().zip(&plain).all(|((at, one), (then, other))| at == then && one.flow == other.flow)
    );
    let mut copied = with(&[("corrupt", "0.2"), ("duplicate", "0.2")]);
    assert!(copied.len() > 320);
    copied.dedup();
    assert_eq!(copied, altered);
    // With loss the same packets are altered, as far as they arrive.
    let hit = |seen: &[(Time, Packet)]| -> Vec<u32> {
        seen.iter().filter(|(_, packet)| packet.damage().is_some()).map(|(_, packet)| packet.flow).collect()
    };
    let both = with(&[("corrupt", "0.2"), ("loss", "random probability=0.3")]);
    let survivors: Vec<u32> = both.iter().map(|(_, packet)| packet.flow).collect();
    let expected: Vec<u32> = hit(&altered).into_iter().filter(|flow| survivors.contains(flow)).collect();
    assert_eq!(hit(&both), expected);
}

#[test]
fn a_run_in_pieces_is_the_same_run() {
    let options = [
        ("rate", "fixed rate=10 Mbit/s"),
        ("delay", "3 ms"),
        ("queue", "drop-tail limit=20 packets"),
        ("loss", "random probability=0.1"),
        ("jitter", "normal deviation=2 ms"),
        ("reorder", "true"),
    ];
    let world = || {
        let source = |from, to, us| support::Source::new(from, to, Duration::from_micros(us), 2000);
        chain(3, &options, source(0, 3, 1190), source(3, 0, 1700))
    };
    let end = Time::from_nanos(5_000_000_000);
    let counters = |world: &network::World<support::Source>| {
        let stats: Vec<_> = world.links().iter().map(Link::stats).collect();
        (world.now(), stats, world.hosts().map(|host| host.received).collect::<Vec<_>>())
    };
    let mut whole = world();
    whole.run(end, u64::MAX).unwrap();
    let mut pieces = world();
    while pieces.run(end, 7).unwrap() == network::Step::Budget {
        pieces.catch_up();
    }
    let mut slices = world();
    for n in 1..=5000 {
        slices.run(Time::from_nanos(n * 1_000_000), u64::MAX).unwrap();
    }
    assert!(counters(&whole).2.iter().all(|received| *received > 500));
    assert_eq!(counters(&whole), counters(&pieces));
    assert_eq!(counters(&whole), counters(&slices));
}

/// Any row of the room of this option.
fn any_of(option: &'static str) -> impl Strategy<Value = String> {
    let rows: Vec<String> = every_row().into_iter().filter(|row| row.0 == option).map(|row| row.1).collect();
    prop::sample::select(rows)
}

prop_compose! {
    fn any_options()(
        rate in any_of("rate"),
        queue in any_of("queue"),
        limit in prop::sample::select(vec!["1 BDP", "3 packets", "0 packets", "4 kB", "2 ms", "unlimited"]),
        loss in any_of("loss"),
        jitter in any_of("jitter"),
        (delay_us, reorder) in (0u64..30_000, any::<bool>()),
        (mtu, duplicate, corrupt) in (600u32..1600, 0.0..0.5f64, 0.0..0.5f64),
    ) -> Vec<(&'static str, String)> {
        vec![
            ("rate", rate),
            ("queue", format!("{queue};limit={limit}")),
            ("loss", loss),
            ("jitter", jitter),
            ("delay", format!("{delay_us} us")),
            ("reorder", reorder.to_string()),
            ("mtu", mtu.to_string()),
            ("duplicate", duplicate.to_string()),
            ("corrupt", corrupt.to_string()),
        ]
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_and_bytes_are_conserved(
        options in any_options(),
        seed: u64,
        offered in prop::collection::vec((0u64..3_000_000, 28u32..1601), 1..200),
    ) {
        let given: Vec<(&str, &str)> = options.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let arguments = arguments(LINK, &given);
        let round_trip = Duration::from_millis(10);
        let flows = support::flows();
        let interest = Interest::ALL;
        let options = LinkOptions { arguments: &arguments, round_trip, seed, name: "a", shared: "a", flows: &flows, delays: false, interest };
        let mut link = Link::new(&options).unwrap();
        let (mut exits, mut now, mut received) = (Exits::default(), Time::ZERO, 0);
        for (number, (gap, size)) in offered.iter().enumerate() {
            now += Duration::from_nanos(*gap);
            received += deliveries(&mut link, now, &mut exits).len() as u64;
            link.accept(now, support::packet(number as u32, *size), &mut exits);
            let stats = link.stats();
            prop_assert_eq!(stats.accepted + stats.duplicated, stats.delivered + stats.dropped() + stats.inside);
            prop_assert!(stats.busy <= now.since(Time::ZERO));
        }
        received += deliveries(&mut link, Time::from_nanos(1 << 50), &mut exits).len() as u64;
        link.catch_up(Time::from_nanos(1 << 50), &mut exits);
        let stats = link.stats();
        prop_assert_eq!(stats.accepted + stats.duplicated, stats.delivered + stats.dropped() + stats.inside);
        prop_assert_eq!(stats.delivered.packets, received);
        prop_assert_eq!(stats.inside, network::Count::default());
        // The counters and the log agree.
        let (mut told, mut told_drops) = (0, 0);
        for record in link.log().drain() {
            match record.event {
                trace::Event::Delivered { length } => told += u64::from(length),
                trace::Event::NetworkDrop { length, .. } => told_drops += u64::from(length),
                _ => {}
            }
        }
        prop_assert_eq!((told, told_drops), (stats.delivered.bytes, stats.dropped().bytes));
        let drops: u64 = (0..offered.len() as u32).map(|flow| link.drops_of(flow)).sum();
        prop_assert_eq!(drops, stats.dropped().packets);
    }
}

#[test]
fn media_and_queues_have_the_options_that_are_read_of_any_of_them() {
    let kind = |of: &[Parameter], name: &str| of.iter().find(|row| row.name == name).map(|row| row.kind);
    let [delay, queue, mtu] =
        [DirectionOptions::DELAY.name, DirectionOptions::QUEUE.name, DirectionOptions::MTU.name];
    for row in MEDIA {
        assert_eq!(kind(row.parameters, delay), Some(Kind::Duration), "{}", row.name);
        assert_eq!(kind(row.parameters, queue), Some(Kind::Component("queues")), "{}", row.name);
        assert!(matches!(kind(row.parameters, mtu), Some(Kind::Integer(..))), "{}", row.name);
        for option in [queue, mtu] {
            assert!(row.build.of_attachment.contains(&option), "{}: {option}", row.name);
        }
    }
    for row in QUEUES {
        assert!(kind(row.parameters, "limit").is_none_or(|kind| kind == Kind::Limit), "{}", row.name);
    }
}
