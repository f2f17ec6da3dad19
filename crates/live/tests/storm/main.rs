//! HTTP/3 in a storm: web clients and the file server over two QUIC endpoints, and parties that break the
//! rules: the network, hostile clients beside honest ones, a hostile server, and an attacker with the keys of a
//! connection.
//!
//! In all cases: no panic, no deadlock, bounded memory, and each honest request gets the bytes of its file, or
//! its connection ends for a reason that another party caused. The world, the weather and the attackers are
//! those of the endpoint's own storm (`crates/quic/tests/storm`), and so are `QUIC_STORM_CASES` and
//! `QUIC_STORM_FIRST`.
#![cfg(target_os = "linux")]

#[path = "../../../quic/tests/storm/allocator.rs"]
mod allocator;
#[path = "../../../quic/tests/storm/applications.rs"]
#[allow(dead_code, reason = "the endpoint's own storm uses all of it")]
mod applications;
#[path = "../../../quic/tests/storm/cases.rs"]
#[allow(dead_code, reason = "the endpoint's own storm uses all of it")]
mod cases;
mod hostile;
#[path = "../../../quic/tests/storm/insider.rs"]
mod insider;
#[path = "../../../quic/tests/storm/laws.rs"]
#[allow(dead_code, reason = "the endpoint's own storm uses all of it")]
mod laws;
#[path = "../../../quic/tests/storm/options.rs"]
mod options;
#[path = "../../../lab/tests/own_folder/mod.rs"]
mod own_folder;
mod site;
#[path = "../../../quic/tests/storm/weather.rs"]
mod weather;
mod web;
#[path = "../../../quic/tests/storm/wiretap.rs"]
mod wiretap;
#[path = "../../../quic/tests/storm/world.rs"]
#[allow(dead_code, reason = "the endpoint's own storm uses all of it")]
mod world;

use applications::End;
use cases::{Tally, for_seeds, is_lost_token, is_natural, is_refusal, run};
use http::Code;
use insider::CODES;
use quic::CloseReason;
use random::Generator;
use std::cell::Cell;
use std::sync::OnceLock;
use tls::{Cipher, Protection};
use trace::PacketKind;
use weather::Weather;
use web::{Villain, Web};
use wire::{Direction, Frame, Side, StreamId};
use wiretap::Wiretap;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

type World = world::World<Web>;

/// One case in `HQ` runs over hq-interop.
const HQ: u64 = 7;

fn is_hq(seed: u64) -> bool {
    seed % HQ == HQ - 1
}

/// A context with tickets that permit 0-RTT, and its cipher.
fn context(protection: Protection, seed: u64) -> (tls::Context, Cipher) {
    static MADE: OnceLock<Vec<(tls::Context, Cipher)>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let kinds = [
            (Protection::Null, Cipher::Aes128Gcm),
            (Protection::Tls, Cipher::Aes256Gcm),
            (Protection::Tls, Cipher::ChaCha20Poly1305),
        ];
        let context = |alpn: &[u8], (protection, cipher)| {
            let options =
                tls::Options { protection, cipher, tickets: 2, early_data: true, ..tls::Options::default() };
            (tls::Context::new(&options, &[alpn], 7).unwrap(), cipher)
        };
        let alpn: [&[u8]; 2] = [b"h3", b"hq-interop"];
        alpn.iter().flat_map(|alpn| kinds.map(|kind| context(alpn, kind))).collect()
    });
    let kind = if protection == Protection::Null { 0 } else { 1 + seed as usize % 2 };
    made[usize::from(is_hq(seed)) * 3 + kind].clone()
}

fn world(seed: u64, protection: Protection, villain: Villain) -> World {
    let (context, cipher) = context(protection, seed);
    let mut random = Generator::new(seed, "options");
    let web = Web::new(seed, villain, is_hq(seed));
    let mut world = World::new(seed, &context, || options::config(&mut random), web);
    world.wiretap = (protection == Protection::Tls).then(|| Wiretap::new(cipher));
    world
}

/// Whether an application may close a connection with this code because of its peer. H3_INTERNAL_ERROR is not
/// such a code (RFC 9114 section 8.1).
fn is_verdict(code: u64) -> bool {
    matches!(code, 0x100..=0x110 | 0x200..=0x202) && code != Code::INTERNAL_ERROR.0
}

fn is_web_end(reason: &CloseReason) -> bool {
    let done = Code::NO_ERROR.0;
    match reason {
        CloseReason::Local { code, .. } | CloseReason::PeerApplication { code, .. } if *code == done => true,
        // This replaces an application's code before the handshake is complete (RFC 9000 section 10.2.3): a
        // client may already have received everything that it requested in 0-RTT.
        CloseReason::PeerTransport { code: wire::Code::APPLICATION_ERROR, .. } => true,
        _ => is_natural(reason),
    }
}

/// Whether an end closed because its peer broke a rule (a `guilty` end with any code), or was told that it
/// broke one itself.
fn is_judged(reason: &CloseReason, guilty: bool) -> bool {
    match reason {
        CloseReason::Local { code, .. } => guilty || is_verdict(*code),
        CloseReason::PeerApplication { .. } => true,
        _ => false,
    }
}

fn storm(name: &str, default: u64, protection: Protection, villain: Villain) -> Tally {
    for_seeds(name, default, |seed| {
        let mut weather = Weather::new(seed);
        let world = world(seed, protection, villain);
        let moves = weather.moves > 0.0;
        let hostile: Vec<bool> = (0..100)
            .map(|number| !applications::Applications::counts(&world.applications, number % 9))
            .collect();
        let broken = Cell::new(false);
        let allowed = |end: End, reason: &CloseReason| {
            // Whether this end or its peer breaks the rules. A server's end does not tell which client is its
            // peer.
            let (guilty, wronged) = match (villain, end) {
                (Villain::Clients, End::Client(number)) => (hostile[number], hostile[number]),
                (Villain::Clients, End::Server(_)) => (false, true),
                (Villain::Server, End::Client(_)) => (false, true),
                (Villain::Server, End::Server(_)) => (true, true),
                (Villain::Nobody | Villain::Insider, _) => (false, false),
            };
            let judged = (guilty || wronged) && is_judged(reason, guilty);
            let found =
                matches!(reason, CloseReason::Local { code, .. } if !guilty && *code != Code::NO_ERROR.0);
            broken.set(broken.get() || judged && found);
            is_web_end(reason) || judged || moves && (is_lost_token(reason) || is_refusal(reason))
        };
        let tally = run(world, &mut weather, protection, |_| (), allowed);
        Tally { broken: u64::from(broken.get()), ..tally }
    })
}

/// Nearly all honest clients that complete the handshake get what they request.
fn assert_served(tally: Tally) {
    assert!(tally.established * 10 >= tally.connections * 8, "{tally:?}");
    assert!(tally.finished * 100 >= tally.established * 97, "{tally:?}");
}

#[test]
fn bad_weather_leaves_files_intact() {
    assert_served(storm("web, weather", 60, Protection::Null, Villain::Nobody));
}

#[test]
fn bad_weather_leaves_files_intact_under_tls() {
    assert_served(storm("web, weather, tls", 15, Protection::Tls, Villain::Nobody));
}

#[test]
fn hostile_clients_harm_nobody_else() {
    let tally = storm("web, clients", 150, Protection::Null, Villain::Clients);
    assert_served(tally);
    assert!(tally.broken > 0, "{tally:?}");
}

#[test]
fn hostile_clients_harm_nobody_else_under_tls() {
    let tally = storm("web, clients, tls", 60, Protection::Tls, Villain::Clients);
    assert_served(tally);
    assert!(tally.broken > 0, "{tally:?}");
}

#[test]
fn a_hostile_server_does_no_more_than_end_its_connection() {
    let tally = storm("web, server", 150, Protection::Null, Villain::Server);
    assert!(tally.broken * 10 > tally.connections, "{tally:?}");
}

#[test]
fn a_hostile_server_does_no_more_than_end_its_connection_under_tls() {
    let tally = storm("web, server, tls", 20, Protection::Tls, Villain::Server);
    assert!(tally.broken > 0, "{tally:?}");
}

/// Sends a packet with the start of an HTTP/3 stream, as a hostile end would write it.
fn speak(random: &mut Generator, world: &mut World, is_hq: bool) {
    let count = world.overheard.len() as u64;
    if count == 0 {
        return;
    }
    let known = world.overheard[random.below(count) as usize];
    let unidirectional = random.chance(0.5);
    let (side, direction) = match (known.to_server, unidirectional) {
        (true, true) => (Side::Client, Direction::Unidirectional),
        (false, true) => (Side::Server, Direction::Unidirectional),
        (_, false) => (Side::Client, Direction::Bidirectional),
    };
    let bytes = hostile::begin(random, direction, known.to_server, is_hq);
    let id = StreamId::new(side, direction, random.below(16));
    let data = wire::Data::Bytes(&bytes[..bytes.len().min(1100)]);
    let mut payload = Vec::new();
    Frame::Stream { id, offset: 0, data, fin: random.chance(0.3) }.encode(&mut payload);
    insider::send(random, world, &known, PacketKind::OneRtt, &payload);
}

fn under_insiders(name: &str, default: u64, protection: Protection) {
    let tally = for_seeds(name, default, |seed| {
        let mut weather = Weather::new(seed);
        let mut random = Generator::new(seed, "insider");
        let rate = random.unit() * 0.6;
        let until = weather.until;
        let world = world(seed, protection, Villain::Insider);
        let broken = Cell::new(false);
        let meddle = |world: &mut World| {
            if world.now < until && random.chance(rate) {
                if random.chance(0.7) {
                    speak(&mut random, world, is_hq(seed));
                } else {
                    let filler = hostile::message(&mut random, true, is_hq(seed));
                    insider::act(&mut random, world, &[&filler[..filler.len().min(800)], &[0x5a]].concat());
                }
            }
        };
        let allowed = |_, reason: &CloseReason| match reason {
            CloseReason::Transport(error) => CODES.contains(&error.code) || error.code.alert().is_some(),
            CloseReason::Local { code, .. } => {
                broken.set(broken.get() || is_verdict(*code) && *code != Code::NO_ERROR.0);
                is_verdict(*code) || *code == 0
            }
            _ => true,
        };
        let tally = run(world, &mut weather, protection, meddle, allowed);
        Tally { broken: u64::from(broken.get()), ..tally }
    });
    // Packets that cannot be opened, or that arrive too late, have no effect.
    assert!(tally.broken * 60 >= tally.connections, "{tally:?}");
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection() {
    under_insiders("web, insider", 150, Protection::Null);
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection_under_tls() {
    under_insiders("web, insider, tls", 30, Protection::Tls);
}
