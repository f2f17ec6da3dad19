//! The attacks. Each runs for four seconds against servers for 10, 100 and 1000 clients. Meanwhile three good clients come,
//! one after the other, from networks of their own; each has its response within a second of its first packet.

use crate::world::{Conduct, World};
use quic::Places;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use units::Duration;

/// When the good clients come, in milliseconds.
const GOOD: [u64; 3] = [1500, 2300, 3100];
const END: u64 = 4200;
/// The most connections that an attack begins in one instant.
const MOST_AT_ONCE: usize = 400;
const SIZES: [usize; 3] = [10, 100, 1000];

/// Where attackers come from.
#[derive(Debug, Clone, Copy)]
enum From {
    /// A number of IPv4 /24, in turn.
    Networks(u64),
    /// One IPv4 /24.
    One,
    /// One IPv6 /48, each from another /56 in turn.
    Site,
    /// One IPv6 /56.
    Home,
}

impl From {
    fn address(self, number: u64) -> SocketAddr {
        let port = 1024 + (number % 60_000) as u16;
        let v4 = |network: u64, host: u64| {
            let [.., b, c] = (network as u16).to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(100, 64 + b, c, host as u8))
        };
        let v6 = |home: u64, host: u64| {
            IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, (home as u16 & 0xff) << 8, 0, 0, 0, host as u16))
        };
        let ip = match self {
            From::Networks(count) => v4(number % count, number / count % 250),
            From::One => v4(77, number % 250),
            From::Site => v6(number, number / 256),
            From::Home => v6(9, number),
        };
        SocketAddr::new(ip, port)
    }
}

/// Lets good clients in while `attack` runs, which gets the number of the millisecond.
fn withstands(name: &str, clients: usize, mut attack: impl FnMut(&mut World, u64)) -> World {
    let mut world = World::new(clients);
    let mut good = Vec::new();
    world.run_until(END, |world, ms| {
        attack(world, ms);
        if let Some(number) = GOOD.iter().position(|at| *at == ms) {
            let address = SocketAddr::from(([198, 51, 100 + number as u8, 7], 50_000));
            good.push(world.open(address, Conduct::Good));
        }
    });
    for (number, at) in good.iter().zip(GOOD) {
        let after = world.client(*number).served_after;
        assert!(
            after.is_some_and(|after| after <= Duration::from_secs(1)),
            "{name}, {clients} places: the good client at {at} ms: {after:?}; {:?}",
            world.stats()
        );
    }
    // What the server keeps is limited: places for clients and for handshakes, and for those that are told in this
    // instant that they have given way, at most as many as came in it.
    let most = clients + Places::of(clients).half_open + MOST_AT_ONCE;
    assert!(world.most_connections <= most, "{name}: {}", world.most_connections);
    world
}

/// An attack of one conduct: this many connections per second from there, on servers of all sizes.
fn flood(name: &str, from: From, conduct: Conduct, per_second: u64) {
    for clients in SIZES {
        let mut opened = 0;
        withstands(name, clients, |world, ms| {
            while opened < ms * per_second / 1000 {
                world.open(from.address(opened), conduct);
                opened += 1;
            }
        });
    }
}

#[test]
fn ten_networks_with_half_open_handshakes() {
    flood("ten networks", From::Networks(10), Conduct::HalfOpen, 157);
}

#[test]
fn ten_networks_at_a_low_rate() {
    flood("ten networks, slowly", From::Networks(10), Conduct::HalfOpen, 35);
}

#[test]
fn ten_networks_at_a_high_rate() {
    flood("ten networks, fast", From::Networks(10), Conduct::HalfOpen, 1000);
}

#[test]
fn a_site_of_ipv6_with_half_open_handshakes() {
    flood("one /48", From::Site, Conduct::HalfOpen, 400);
}

#[test]
fn a_home_of_ipv6_with_half_open_handshakes() {
    flood("one /56", From::Home, Conduct::HalfOpen, 400);
}

#[test]
fn one_network_with_half_open_handshakes() {
    flood("one /24", From::One, Conduct::HalfOpen, 400);
}

#[test]
fn a_thousand_networks_with_half_open_handshakes() {
    flood("a thousand networks", From::Networks(1000), Conduct::HalfOpen, 400);
}

#[test]
fn forged_addresses_of_all_networks() {
    flood("forged", From::Networks(4096), Conduct::Spoofed, 1000);
}

#[test]
fn slow_handshakes() {
    flood("slow", From::Networks(40), Conduct::Slow, 100);
}

#[test]
fn clients_that_never_ask() {
    flood("silent", From::Networks(20), Conduct::Silent, 100);
}

#[test]
fn clients_that_only_send_pings() {
    flood("PING", From::Networks(20), Conduct::Pings, 60);
}

#[test]
fn clients_of_one_network_that_only_send_pings() {
    flood("PING, one network", From::One, Conduct::Pings, 60);
}

#[test]
fn clients_that_ask_once_and_stay() {
    flood("ask once", From::Networks(20), Conduct::AsksOnce, 60);
}

#[test]
fn readers_that_give_no_credit() {
    flood("no credit", From::Networks(5), Conduct::Blocks, 30);
}

#[test]
fn readers_without_credit_in_as_many_networks_as_a_small_server_has_places() {
    flood("no credit, ten networks", From::Networks(10), Conduct::Blocks, 30);
}

#[test]
fn readers_of_a_site_that_read_slowly() {
    flood("slow readers", From::Site, Conduct::Trickles, 30);
}

/// All places are taken by clients that move, some of each network.
#[test]
fn readers_of_a_few_networks_that_read_slowly() {
    for (networks, per_second) in [(2, 60), (5, 100), (10, 400)] {
        // As many networks as places are that many customers.
        let sizes = SIZES.into_iter().filter(|places| networks < *places as u64);
        for clients in sizes {
            let mut opened = 0;
            withstands("moving readers", clients, |world, ms| {
                while opened < ms * per_second / 1000 {
                    world.open(From::Networks(networks).address(opened), Conduct::Trickles);
                    opened += 1;
                }
            });
        }
    }
}

#[test]
fn half_a_request_and_bytes_aside() {
    flood("unidirectional", From::Networks(20), Conduct::Chatters, 100);
}

#[test]
fn requests_that_are_never_ended() {
    flood("many streams", From::Networks(5), Conduct::ManyStreams, 20);
}

#[test]
fn hoarded_tokens_of_retry_in_one_burst() {
    for clients in SIZES {
        let mut opened = 0;
        let world = withstands("hoarded tokens", clients, |world, ms| {
            // Some half-open handshakes keep the server asking for addresses; the tokens are used all at once.
            while opened < ms * 300 / 1000 && ms < 2295 {
                let hoards = opened % 2 == 0;
                let conduct = if hoards { Conduct::Hoards(2290) } else { Conduct::HalfOpen };
                world.open(From::Networks(30).address(opened), conduct);
                opened += 1;
            }
        });
        assert!(world.stats().retry_tokens_accepted > 100, "{:?}", world.stats());
    }
}

#[test]
fn replayed_first_packets() {
    for clients in SIZES {
        let mut first = Vec::new();
        withstands("replayed", clients, |world, ms| {
            if first.is_empty() {
                first = (0..5).map(|seed| world.first_datagram(seed)).collect();
            }
            for copy in 0..2 {
                let number = 2 * ms + copy;
                let bytes = first[number as usize % first.len()].clone();
                world.send(From::Networks(300).address(number), bytes);
            }
        });
    }
}

#[test]
fn versions_that_nobody_knows() {
    for clients in SIZES {
        let world = withstands("version negotiation", clients, |world, ms| {
            for copy in 0..if ms.is_multiple_of(10) { 100 } else { 0 } {
                let mut bytes = vec![0xc0, 0xfa, 0xce, 0, copy, 8, 1, 2, 3, 4, 5, 6, 7, 8, 8];
                bytes.resize(1200, copy);
                world.send(From::Networks(500).address(ms + u64::from(copy)), bytes);
            }
        });
        assert!(world.stats().version_negotiations_sent > 1000);
    }
}

#[test]
fn first_packets_that_are_too_small_or_malformed() {
    for clients in SIZES {
        let mut first = Vec::new();
        let world = withstands("small Initials", clients, |world, ms| {
            if first.is_empty() {
                first = world.first_datagram(1);
            }
            for copy in 0..3 {
                let mut bytes = first.clone();
                match copy {
                    0 => bytes.truncate(300),
                    1 => bytes.truncate(1199),
                    // The length of the destination id.
                    _ => bytes[5] = 7,
                }
                world.send(From::Networks(500).address(3 * ms + copy), bytes);
            }
        });
        assert!(world.stats().dropped > 5000, "{:?}", world.stats());
        // Nothing is kept of them.
        assert!(world.connections() < 10);
    }
}

#[test]
fn everything_at_once() {
    let conducts = [
        Conduct::HalfOpen,
        Conduct::Spoofed,
        Conduct::Silent,
        Conduct::Pings,
        Conduct::Blocks,
        Conduct::Slow,
        Conduct::AsksOnce,
    ];
    for clients in SIZES {
        let mut opened = 0;
        withstands("mixed", clients, |world, ms| {
            while opened < ms * 200 / 1000 {
                let conduct = conducts[opened as usize % conducts.len()];
                world.open(From::Networks(8).address(opened), conduct);
                opened += 1;
            }
        });
    }
}

#[test]
fn bursts_between_pauses() {
    for clients in SIZES {
        let mut opened = 0;
        withstands("bursts", clients, |world, ms| {
            for _ in 0..if ms.is_multiple_of(500) { 300 } else { 0 } {
                world.open(From::Networks(60).address(opened), Conduct::HalfOpen);
                opened += 1;
            }
        });
    }
}
