//! The endpoint in a storm: several clients, one server, and an attacker between them who loses, repeats, reorders,
//! cuts and alters datagrams, moves and spoofs addresses, replays, and invents packets, with keys and without.
//!
//! Whatever happens: no panic, no standing still, bounded memory, at most three bytes for one to an address that is not
//! proven, and each connection comes to its end with all bytes intact or closes with the code that the RFC names.
//! Each case is a seed; a failure prints it. `QUIC_STORM_CASES` sets how many there are for each kind of attack,
//! `QUIC_STORM_FIRST` the first seed (0).

mod allocator;
#[path = "../behaviour/pair/options.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod defaults;
mod exchange;
mod insider;
mod laws;
mod options;
mod outsider;
mod weather;
mod world;

use allocator::{held, start_anew};
use quic::CloseReason;
use random::Stream;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use tls::Protection;
use units::{Duration, Time};
use weather::Weather;
use world::{World, connection_number};

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

/// When a connection that could still finish has had all the time for it.
const LAST: Duration = Duration::from_secs(900);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What came of some cases.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    connections: u64,
    established: u64,
    finished: u64,
    peak: i64,
}

/// Runs a case for each seed and says which one failed.
fn for_seeds(name: &str, default: u64, mut case: impl FnMut(u64) -> Tally) -> Tally {
    let first = number("QUIC_STORM_FIRST").unwrap_or(0);
    let count = number("QUIC_STORM_CASES").unwrap_or(default);
    let mut sum = Tally::default();
    for seed in first..first + count {
        start_anew();
        match catch_unwind(AssertUnwindSafe(|| case(seed))) {
            Ok(tally) => {
                sum.connections += tally.connections;
                sum.established += tally.established;
                sum.finished += tally.finished;
                sum.peak = sum.peak.max(tally.peak);
            }
            Err(panic) => {
                eprintln!("{name}: failed with QUIC_STORM_FIRST={seed} QUIC_STORM_CASES=1");
                resume_unwind(panic);
            }
        }
    }
    println!("{name}: seeds {first}..{}: {sum:?}", first + count);
    sum
}

/// Contexts without tickets, with tickets that are good once, and with tickets that can be replayed.
fn context(protection: Protection, seed: u64) -> tls::Context {
    static MADE: OnceLock<Vec<tls::Context>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let kinds = [Protection::Null, Protection::Tls];
        let tickets = [(0, true), (2, true), (2, false)];
        let options = kinds.into_iter().flat_map(|protection| {
            tickets.map(|(tickets, replay_protection)| tls::Options {
                protection,
                tickets,
                early_data: tickets > 0,
                replay_protection,
                ..tls::Options::default()
            })
        });
        options.map(|options| defaults::context(&options)).collect()
    });
    let first = if protection == Protection::Null { 0 } else { 3 };
    made[first + (seed % 3) as usize].clone()
}

/// A world whose connections have options of all kinds.
fn world(seed: u64, protection: Protection) -> World {
    let mut random = Stream::new(seed, "options");
    World::new(seed, &context(protection, seed), || options::config(&mut random))
}

/// Goes on until all is over; `allowed` judges how each connection ended.
fn run(
    mut world: World,
    weather: &mut Weather,
    protection: Protection,
    mut meddle: impl FnMut(&mut World),
    allowed: impl Fn(&CloseReason) -> bool,
) -> Tally {
    let end = Time::ZERO + LAST;
    while !world.is_over() && world.now < end {
        weather.meddle(&mut world);
        meddle(&mut world);
        if !world.step(weather) {
            break;
        }
    }
    let mut tally = Tally { peak: world.laws.peak, ..Tally::default() };
    // A Version Negotiation packet has nothing that shows that it was altered on its way.
    let negotiated = world.server.stats().version_negotiations_sent > 0;
    let allowed = |reason: &CloseReason| {
        allowed(reason) || negotiated && matches!(reason, CloseReason::VersionMismatch)
    };
    for (index, client) in world.clients.iter().enumerate() {
        for (round, close) in client.closes.iter().enumerate() {
            let number = connection_number(index, round);
            let done = world.exchange.is_done(number);
            tally.connections += 1;
            tally.established += u64::from(world.exchange.is_established(number));
            tally.finished += u64::from(done);
            assert!(
                // Who lies about what arrived can keep the truth waiting for ever.
                done || close.is_some() || !world.exchange.strict,
                "client {index} neither finishes nor ends by {}\n{}",
                world.now,
                world.exchange.describe(number)
            );
            if let Some(reason) = close {
                assert!(allowed(reason), "client {index}: {reason}");
            }
        }
    }
    for (_, reason) in &world.accepted {
        if let Some(reason) = reason {
            assert!(allowed(reason), "server: {reason}");
        }
    }
    world.end();
    if protection == Protection::Null {
        assert_eq!(held(), 0, "what the endpoints allocated is given back");
    }
    tally
}

fn is_natural(reason: &CloseReason) -> bool {
    reason.is_clean() || matches!(reason, CloseReason::IdleTimeout | CloseReason::StatelessReset)
}

/// The token of a Retry is good for one address: RFC 9000 section 8.1.3.
fn is_lost_token(reason: &CloseReason) -> bool {
    is_error(reason, wire::Code::INVALID_TOKEN)
}

/// Who leads a client to a version that both like less is found out: RFC 9368 section 4.
fn is_downgrade(reason: &CloseReason) -> bool {
    is_error(reason, wire::Code::VERSION_NEGOTIATION_ERROR)
}

fn is_error(reason: &CloseReason, expected: wire::Code) -> bool {
    match reason {
        CloseReason::PeerTransport { code, .. } => *code == expected,
        CloseReason::Transport(error) => error.code == expected,
        _ => false,
    }
}

/// Who fills the server up makes it refuse others. So does a first packet that comes again from other addresses: to the
/// server each is another client.
fn is_refusal(reason: &CloseReason) -> bool {
    matches!(reason, CloseReason::PeerTransport { code: wire::Code::CONNECTION_REFUSED, .. })
}

fn case_of_weather(seed: u64, protection: Protection) -> Tally {
    let mut weather = Weather::new(seed);
    let moves = weather.moves > 0.0;
    let allowed =
        |reason: &CloseReason| is_natural(reason) || moves && (is_lost_token(reason) || is_refusal(reason));
    run(world(seed, protection), &mut weather, protection, |_| (), allowed)
}

fn under_weather(name: &str, default: u64, protection: Protection) {
    let tally = for_seeds(name, default, |seed| case_of_weather(seed, protection));
    // Who moves during the handshake is lost (RFC 9000 section 9); whose handshake succeeded can move as he likes.
    assert!(tally.established * 10 >= tally.connections * 8, "{tally:?}");
    assert!(tally.finished * 100 >= tally.established * 97, "{tally:?}");
}

/// Cases that found something.
#[test]
fn what_was_found_stays_mended() {
    // A window that a lost packet of ACK and PADDING frames held for ever, beside an MTU probe that wanted the rest.
    start_anew();
    case_of_weather(63_578, Protection::Tls);
}

#[test]
fn bad_weather_leaves_data_intact() {
    under_weather("weather", 150, Protection::Null);
}

#[test]
fn bad_weather_leaves_data_intact_under_tls() {
    under_weather("weather, tls", 15, Protection::Tls);
}

fn under_outsiders(name: &str, default: u64, protection: Protection) {
    let tally = for_seeds(name, default, |seed| {
        let mut weather = Weather::new(seed);
        let mut random = Stream::new(seed, "outsider");
        let rate = random.unit() * random.unit() * 0.5;
        let (until, moves) = (weather.until, weather.moves > 0.0);
        let forged = std::cell::Cell::new(false);
        let meddle = |world: &mut World| {
            if world.now < until && random.chance(rate) {
                let fatal = outsider::act(&mut random, world);
                forged.set(forged.get() || fatal);
            }
        };
        let allowed = |reason: &CloseReason| {
            is_natural(reason)
                || is_refusal(reason)
                || moves && is_lost_token(reason)
                || forged.get() && (matches!(reason, CloseReason::VersionMismatch) || is_downgrade(reason))
        };
        run(world(seed, protection), &mut weather, protection, meddle, allowed)
    });
    assert!(tally.established * 10 >= tally.connections * 6, "{tally:?}");
    assert!(tally.finished * 10 >= tally.established * 9, "{tally:?}");
}

#[test]
fn who_has_no_keys_does_no_harm() {
    under_outsiders("outsider", 150, Protection::Null);
}

#[test]
fn who_has_no_keys_does_no_harm_under_tls() {
    under_outsiders("outsider, tls", 15, Protection::Tls);
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection() {
    let filler = vec![0x5a; 800];
    for_seeds("insider", 400, |seed| {
        let mut weather = Weather::new(seed);
        let mut random = Stream::new(seed, "insider");
        let rate = random.unit() * random.unit() * 0.5;
        let until = weather.until;
        let mut world = world(seed, Protection::Null);
        world.exchange.strict = false;
        let meddle = |world: &mut World| {
            if world.now < until && random.chance(rate) {
                insider::act(&mut random, world, &filler);
            }
        };
        let allowed = |reason: &CloseReason| match reason {
            CloseReason::Transport(error) => {
                insider::CODES.contains(&error.code) || error.code.alert().is_some()
            }
            _ => true,
        };
        run(world, &mut weather, Protection::Null, meddle, allowed)
    });
}
