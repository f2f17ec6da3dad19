//! A connection under attack: two ends in bad weather, and an attacker on the path who repeats old segments, forges them
//! without knowing the connection, or forges them knowing all its numbers: sequence and acknowledgement numbers, windows, SACK
//! blocks, timestamps, RST, SYN, FIN, options, overlapping data.
//!
//! After each step each end checks itself. In all cases: no panic, no deadlock, no flood of answers, and both ends are over
//! when their applications close. Who repeats or does not know the connection does no harm: all data arrives whole. Each case
//! is a seed, which a failure prints. `QUIC_STORM_CASES` sets the number of cases for each kind of attack, `QUIC_STORM_FIRST`
//! the first seed (0), as for the storms of other crates.

#[path = "../behaviour/pair.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod pair;

mod forger;

use forger::Forger;
use pair::{CLIENT, Pair, SERVER, at, weather};
use random::Generator;
use tcp::{Config, FastOpen, State};
use units::parameter::Component;

/// The bytes that each end writes.
const WRITTEN: [u64; 2] = [40_000, 120_000];
/// When the attack ends, and when everything has, in milliseconds.
const ATTACKED: u64 = 3_000;
const LAST: u64 = 4_000_000;

/// Runs a case for each seed, and says which one fails.
fn for_seeds(name: &str, default: u64, case: impl Fn(u64)) {
    struct Named<'a>(&'a str, u64);
    impl Drop for Named<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("{}: seed {}", self.0, self.1);
            }
        }
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("QUIC_STORM_FIRST").unwrap_or(0);
    let cases = number("QUIC_STORM_CASES").unwrap_or(default);
    for seed in first..first + cases {
        let _named = Named(name, seed);
        case(seed);
    }
    println!("tcp, {name}: seeds {first} to {}", first + cases - 1);
}

fn config(random: &mut Generator) -> Config {
    let controllers = ["newreno", "cubic", "bbr1", "bbr3"];
    let controller = controllers[random.below(controllers.len() as u64) as usize];
    let row = congestion::CONTROLLERS.iter().find(|row| row.name == controller).expect("a controller");
    let arguments = congestion::fuzz::arguments(row.parameters, &[]);
    let mut even = || random.chance(0.5);
    Config {
        controller: Component { room: "controllers", name: row.name, arguments },
        sack: even() || even(),
        timestamps: even(),
        rack: even(),
        tlp: even(),
        ecn: even(),
        limited_transmit: even(),
        window_scaling: even(),
        nagle: even(),
        fast_open: if even() { FastOpen::Off } else { FastOpen::Request },
        ..Config::default()
    }
}

fn pair(seed: u64) -> Pair {
    let mut random = Generator::new(seed, "options");
    let tls = if random.chance(0.3) { tcp::Layer::Tls13 } else { tcp::Layer::None };
    let client = Config { tls, ..config(&mut random) };
    let server = Config { tls, ..config(&mut random) };
    // The sequence numbers of every other connection wrap around in the middle.
    let initial = seed.is_multiple_of(2).then_some(u32::MAX - 30_000);
    let mut pair = Pair::of(&client, &server, seed, initial);
    pair.fate(weather(seed, 0.15));
    pair.write(CLIENT, WRITTEN[CLIENT], seed.is_multiple_of(3));
    pair.write(SERVER, WRITTEN[SERVER], seed.is_multiple_of(5));
    pair
}

/// Both ends have what the other one wrote, and are over.
fn all_is_well(pair: &Pair) {
    for (end, bytes) in [(CLIENT, WRITTEN[SERVER]), (SERVER, WRITTEN[CLIENT])] {
        let end = &pair.ends[end];
        assert_eq!((end.received, end.finished), (bytes, true), "{:?} {:?}", end.side(), pair.states());
    }
    assert!(pair.states().iter().all(|state| *state == State::Closed), "{:?}", pair.states());
}

#[test]
fn repeated_segments_do_no_harm() {
    for_seeds("replay", 150, |seed| {
        let mut pair = pair(seed);
        let mut random = Generator::new(seed, "replay");
        let mut now = 0;
        while now < ATTACKED {
            now += random.below(60);
            pair.run_to(at(now));
            let Some(old) = pair.sent.get(random.below(pair.sent.len() as u64) as usize).cloned() else {
                continue;
            };
            (0..=random.below(4)).for_each(|_| pair.arrive(1 - old.from, old.ecn, &old.bytes, old.hole));
        }
        pair.run(LAST);
        all_is_well(&pair);
    });
}

/// RFC 5961: who has to guess numbers of 32 bits does no harm.
#[test]
fn an_attacker_who_does_not_know_the_connection_does_no_harm() {
    for_seeds("blind", 150, |seed| {
        let mut pair = pair(seed);
        let mut forger = Forger::blind(seed);
        // Before, anybody's SYN opens a connection.
        let mut now = 0;
        while pair.states().iter().any(|state| *state != State::Established) && now < ATTACKED {
            now += 10;
            pair.run_to(at(now));
        }
        while now < ATTACKED {
            now += forger.pause();
            pair.run_to(at(now));
            forger.attack(&mut pair);
        }
        pair.run(LAST);
        all_is_well(&pair);
    });
}

/// Who knows the connection can end it, or fill it with other data. It still ends when its applications do.
#[test]
fn an_attacker_who_knows_the_connection_breaks_no_end() {
    for_seeds("insider", 300, |seed| {
        let mut pair = pair(seed);
        pair.ends.iter_mut().for_each(|end| end.checks = false);
        let mut forger = Forger::knowing(seed);
        let mut now = 0;
        while now < ATTACKED {
            now += forger.pause();
            pair.run_to(at(now));
            let before = pair.sent.len();
            forger.attack(&mut pair);
            // A window opens at most: as much as two ends have written, and an acknowledgement for each segment.
            let answers = pair.sent.len() - before;
            assert!(answers <= 2_000, "{answers} segments answer one");
        }
        pair.ends.iter_mut().for_each(|end| end.connection.close(pair.now, 0, "enough"));
        pair.run(LAST);
        let over = |state: &State| matches!(state, State::Closed | State::Listen);
        for end in &pair.ends {
            let (connection, stats) = (&end.connection, end.connection.stats());
            let at = (pair.now, connection.wake_at(), connection.flight());
            assert!(over(&connection.state()), "{:?} {:?} {at:?}: {stats:?}", end.side(), connection.state());
        }
        assert!(pair.sent.len() < 100_000, "{} segments in all", pair.sent.len());
    });
}
