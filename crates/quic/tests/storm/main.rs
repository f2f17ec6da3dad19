//! The endpoint under attack: several clients, one server, and an attacker between them who loses, repeats, reorders,
//! truncates and alters datagrams, changes and spoofs addresses, replays and forges packets, with and without keys.
//!
//! In all cases: no panic, no deadlock, bounded memory, at most three bytes sent per byte received to an address that
//! is not validated, and each connection completes with all bytes intact or closes with the error code of the RFC.
//! Each case is a seed, which a failure prints. `QUIC_STORM_CASES` sets the number of cases for each kind of attack,
//! `QUIC_STORM_FIRST` the first seed (0).

mod allocator;
mod applications;
mod cases;
#[path = "../behaviour/pair/options.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod defaults;
mod exchange;
mod insider;
mod laws;
mod options;
mod outsider;
mod thief;
mod weather;
mod wiretap;
mod world;

use allocator::start_anew;
use cases::{Tally, for_seeds, is_downgrade, is_lost_token, is_natural, is_refusal, run};
use exchange::Exchange;
use quic::CloseReason;
use random::Generator;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use thief::Thief;
use tls::{Cipher, Protection};
use weather::Weather;
use wiretap::Wiretap;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

type World = world::World<Exchange>;

/// Contexts without tickets, with tickets for single use, and with tickets that can be replayed.
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
    let mut random = Generator::new(seed, "options");
    let exchange = Exchange::new(Generator::new(seed, "exchange"));
    World::new(seed, &context(protection, seed), || options::config(&mut random), exchange)
}

fn case_of_weather(seed: u64, protection: Protection) -> Tally {
    let mut weather = Weather::new(seed);
    let moves = weather.moves > 0.0;
    let allowed = |_, reason: &CloseReason| {
        is_natural(reason) || moves && (is_lost_token(reason) || is_refusal(reason))
    };
    run(world(seed, protection), &mut weather, protection, |_| (), allowed)
}

fn under_weather(name: &str, default: u64, protection: Protection) {
    let tally = for_seeds(name, default, |seed| case_of_weather(seed, protection));
    // A client that moves during the handshake fails (RFC 9000 section 9); afterwards it can move at will.
    assert!(tally.established * 10 >= tally.connections * 8, "{tally:?}");
    assert!(tally.finished * 100 >= tally.established * 97, "{tally:?}");
}

/// Cases that have found errors.
#[test]
fn past_errors_stay_fixed() {
    // A lost packet with only ACK and PADDING frames occupied the window forever, beside an MTU probe that needed the
    // rest.
    start_anew();
    case_of_weather(63_578, Protection::Tls);
    // A probe repeated a TLS message after virtual stream data.
    start_anew();
    case_of_weather(4_427, Protection::Null);
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
        let mut random = Generator::new(seed, "outsider");
        let rate = random.unit() * random.unit() * 0.5;
        let (until, moves) = (weather.until, weather.moves > 0.0);
        let forged = std::cell::Cell::new(false);
        let meddle = |world: &mut World| {
            if world.now < until && random.chance(rate) {
                let fatal = outsider::act(&mut random, world);
                forged.set(forged.get() || fatal);
            }
        };
        let allowed = |_, reason: &CloseReason| {
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
fn an_attacker_without_keys_does_no_harm() {
    under_outsiders("outsider", 150, Protection::Null);
}

#[test]
fn an_attacker_without_keys_does_no_harm_under_tls() {
    under_outsiders("outsider, tls", 15, Protection::Tls);
}

/// Clients that come back, with what they got from the server or with what somebody made of it, under all attacks without keys.
fn under_thieves(name: &str, default: u64, protection: Protection) {
    let mut saved_paths: BTreeMap<&'static str, u64> = BTreeMap::new();
    let tally = for_seeds(name, default, |seed| {
        let mut weather = Weather::new(seed);
        let mut random = Generator::new(seed, "thief");
        let rate = random.unit() * random.unit() * 0.5;
        let (until, moves) = (weather.until, weather.moves > 0.0);
        let forged = Cell::new(false);
        // Contexts with tickets; all worlds are traced.
        let context = context(protection, 1 + seed % 2);
        let (mut options, mut resume) = (Generator::new(seed, "options"), Generator::new(seed, "resume"));
        let config = || {
            let mut config = options::config(&mut options);
            config.resume = thief::resume(&mut resume);
            // Four initial windows are enough to be saved.
            config.initial_window = Some(1 + resume.below(3));
            config
        };
        let exchange = Exchange::new(Generator::new(seed, "exchange"));
        let world = World::new(4 * seed, &context, config, exchange);
        let mut thief = Thief::default();
        let meddle = |world: &mut World| {
            thief.watch(&mut random, world);
            if world.now < until && random.chance(rate) {
                thief.act(&mut random, world);
            }
            if world.now < until && random.chance(rate / 4.0) {
                let fatal = outsider::act(&mut random, world);
                forged.set(forged.get() || fatal);
            }
            for (result, count) in std::mem::take(&mut world.saved_paths) {
                *saved_paths.entry(result).or_default() += count;
            }
        };
        let allowed = |_, reason: &CloseReason| {
            is_natural(reason)
                || is_refusal(reason)
                || moves && is_lost_token(reason)
                || forged.get() && (matches!(reason, CloseReason::VersionMismatch) || is_downgrade(reason))
        };
        run(world, &mut weather, protection, meddle, allowed)
    });
    println!("{name}: {saved_paths:?}");
    assert!(tally.established * 10 >= tally.connections * 6, "{tally:?}");
    assert!(tally.finished * 10 >= tally.established * 9, "{tally:?}");
    // What was saved is used, refused for each reason, and tried.
    let counted = |word: &str| saved_paths.get(word).copied().unwrap_or_default();
    let seen = ["accepted", "unvalidated", "other_path", "expired"].map(counted);
    assert!(tally.connections < 100 || seen.iter().all(|count| *count > 0), "{saved_paths:?}");
    // These are rare: five to twenty in a thousand worlds.
    let rare: u64 = ["forged", "replayed", "in_use"].map(counted).iter().sum();
    assert!(tally.connections < 3000 || rare > 0, "{saved_paths:?}");
}

#[test]
fn what_connections_resume_from_is_no_weapon() {
    under_thieves("thief", 150, Protection::Null);
}

#[test]
fn what_connections_resume_from_is_no_weapon_under_tls() {
    under_thieves("thief, tls", 15, Protection::Tls);
}

/// Contexts whose secrets an attacker can use, by a wiretap.
fn tapped_context(seed: u64) -> (tls::Context, Cipher) {
    static MADE: OnceLock<Vec<(tls::Context, Cipher)>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let kinds = [(Cipher::Aes256Gcm, 0), (Cipher::ChaCha20Poly1305, 2)];
        let context = |(cipher, tickets)| {
            let protection = Protection::Tls;
            let early_data = tickets > 0;
            let options = tls::Options { protection, cipher, tickets, early_data, ..tls::Options::default() };
            (defaults::context(&options), cipher)
        };
        kinds.map(context).to_vec()
    });
    made[(seed % 2) as usize].clone()
}

fn under_insiders(name: &str, default: u64, protection: Protection) {
    let filler = vec![0x5a; 800];
    let tally = for_seeds(name, default, |seed| {
        let mut weather = Weather::new(seed);
        let mut random = Generator::new(seed, "insider");
        let rate = random.unit() * random.unit() * 0.5;
        let until = weather.until;
        let mut world = match protection {
            Protection::Null => world(seed, protection),
            Protection::Tls => {
                let (context, cipher) = tapped_context(seed);
                let mut options = Generator::new(seed, "options");
                let exchange = Exchange::new(Generator::new(seed, "exchange"));
                let mut world = World::new(seed, &context, || options::config(&mut options), exchange);
                world.wiretap = Some(Wiretap::new(cipher));
                world
            }
        };
        world.applications.strict = false;
        let broken = std::cell::Cell::new(false);
        let meddle = |world: &mut World| {
            if world.now < until && random.chance(rate) {
                insider::act(&mut random, world, &filler);
            }
        };
        let allowed = |_, reason: &CloseReason| match reason {
            CloseReason::Transport(error) => {
                broken.set(true);
                insider::CODES.contains(&error.code) || error.code.alert().is_some()
            }
            _ => true,
        };
        let tally = run(world, &mut weather, protection, meddle, allowed);
        Tally { broken: u64::from(broken.get()), ..tally }
    });
    // Packets that cannot be opened would have no effect.
    assert!(tally.broken * 10 >= tally.connections, "{tally:?}");
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection() {
    under_insiders("insider", 400, Protection::Null);
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection_under_tls() {
    under_insiders("insider, tls", 40, Protection::Tls);
}
