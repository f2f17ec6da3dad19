//! Networks that lose, reorder, duplicate and mark: for every seed all data arrives complete and in order.

use crate::pair::{CLIENT, Pair, SERVER, at, weather};
use random::Generator;
use tcp::{Config, FastOpen, State};
use wire::tcp::Flags;

fn config(seed: u64) -> Config {
    let bit = |n: u64| seed >> n & 1 == 0;
    Config {
        sack: bit(0) || bit(5),
        timestamps: bit(1),
        rack: bit(2),
        tlp: bit(3),
        ecn: bit(4),
        limited_transmit: bit(5),
        window_scaling: bit(6),
        nagle: bit(7),
        tls: if seed % 7 == 3 { tcp::Layer::Tls13 } else { tcp::Layer::None },
        fast_open: [FastOpen::Off, FastOpen::Request, FastOpen::Cached][seed as usize % 11 % 3],
        ..Config::default()
    }
}

fn run(seed: u64) -> Pair {
    let configs = [config(seed), Config { tls: config(seed).tls, ..config(seed / 3) }];
    // The sequence numbers of every other connection wrap around in the middle.
    let initial = seed.is_multiple_of(2).then_some(u32::MAX - 30_000);
    let mut pair = Pair::of(&configs[0], &configs[1], seed, initial);
    pair.fate(weather(seed, 0.2));
    pair.write(CLIENT, 40_000, seed.is_multiple_of(3));
    pair.write(SERVER, 150_000, seed.is_multiple_of(5));
    pair.run_to(at(2_000_000));
    pair
}

#[test]
fn all_data_arrives_whole_and_in_order() {
    for seed in 0..400 {
        let pair = run(seed);
        for (end, bytes) in [(CLIENT, 150_000), (SERVER, 40_000)] {
            let end = &pair.ends[end];
            assert_eq!(
                (end.received, end.finished),
                (bytes, true),
                "seed {seed}: {:?} {:?}",
                end.side(),
                pair.states()
            );
            let stats = end.connection.stats();
            let (lost, spurious) = (stats.segments_declared_lost, stats.segments_spuriously_lost);
            assert!(spurious <= lost, "seed {seed}: {spurious} of {lost} losses were spurious");
        }
        assert!(
            pair.states().iter().all(|state| *state == State::Closed),
            "seed {seed}: {:?}",
            pair.states()
        );
    }
}

#[test]
fn equal_seeds_give_equal_bytes() {
    for seed in 0..5 {
        let [first, second] = [run(seed), run(seed)];
        assert_eq!(first.sent.len(), second.sent.len());
        assert!(
            first.sent.iter().zip(&second.sent).all(|(a, b)| (a.sent_at, &a.bytes) == (b.sent_at, &b.bytes))
        );
    }
}

/// Segments altered in any way, with a correct checksum: no panic, and the connection either continues or ends.
#[test]
fn altered_segments_do_no_harm() {
    for seed in 0..300 {
        let mut pair = Pair::new(&config(seed), seed);
        pair.write(CLIENT, 20_000, true);
        pair.write(SERVER, 50_000, false);
        pair.ends.iter_mut().for_each(|end| end.checks = false);
        let mut chance = Generator::new(seed, "storm");
        for step in 0..150 {
            pair.run_to(at(step * 7));
            let Some(sent) = pair.sent.get(chance.below(pair.sent.len() as u64) as usize).cloned() else {
                continue;
            };
            let (mut bytes, length) = (sent.bytes, sent.hole);
            for _ in 0..1 + chance.below(4) {
                let place = chance.below(bytes.len().min(70) as u64) as usize;
                bytes[place] = match chance.below(3) {
                    0 => chance.bits() as u8,
                    1 => bytes[place].wrapping_add(1),
                    _ => bytes[place] ^ 1 << chance.below(8),
                };
            }
            if chance.chance(0.1) {
                bytes.truncate(chance.below(bytes.len() as u64) as usize);
            }
            let length = length.filter(|hole| hole.at as usize <= bytes.len());
            pair.arrive(chance.below(2) as usize, wire::Ecn::Ce, &bytes, length);
        }
        // What remains ends by itself: nothing continues forever.
        pair.ends.iter_mut().for_each(|end| end.connection.close(pair.now, 0, "enough"));
        pair.run_to(at(4_000_000));
        assert!(
            pair.states().iter().all(|s| *s == State::Closed || *s == State::Listen),
            "{seed}: {:?}",
            pair.states()
        );
        assert!(pair.sent.iter().filter(|sent| sent.has(Flags::SYN)).count() < 40);
    }
}
