//! An attacker without keys: it replays packets, spoofs addresses, and forges packets that need no keys.

use crate::applications::Applications;
use crate::weather::flip;
use crate::world::{DatagramInFlight, ID_LENGTH, World, client_address, server_address};
use random::Generator;
use std::net::{IpAddr, SocketAddr};
use units::Duration;
use wire::{ConnectionId, Damage, Ecn, Version};

/// Addresses without a client.
fn victim(random: &mut Generator) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, random.below(4) as u8], 7000 + random.below(3) as u16))
}

fn is_victim(address: SocketAddr) -> bool {
    matches!(address.ip(), IpAddr::V4(ip) if ip.octets()[..3] == [192, 0, 2])
}

/// A supported version, or any.
fn version(random: &mut Generator) -> Version {
    match random.below(4) {
        0 | 1 => Version::V1,
        2 => Version::V2,
        _ => Version(random.bits() as u32),
    }
}

/// Performs one attack. Returns whether it may end a client's connection: a Version Negotiation packet is not
/// authenticated.
pub(crate) fn act<A: Applications>(random: &mut Generator, world: &mut World<A>) -> bool {
    let client = random.below(world.clients.len() as u64) as usize;
    let delay = Duration::from_micros(random.below(50_000));
    match random.below(7) {
        // A copy of a datagram in flight from another address, possibly altered.
        0 | 1 => {
            let count = world.in_flight().len() as u64;
            if count == 0 {
                return false;
            }
            let picked = world.in_flight().nth(random.below(count) as usize).cloned();
            let Some(mut copy) = picked else { return false };
            if random.chance(0.7) {
                copy.from = victim(random);
                copy.client = None;
            }
            if random.chance(0.3) {
                flip(random, &mut copy);
            }
            world.launch(delay, copy);
        }
        // A packet of one connection, sent to another client.
        2 => {
            let picked = world.in_flight().next().cloned();
            let Some(mut copy) = picked else { return false };
            if copy.to != server_address() {
                if is_victim(copy.to) {
                    world.laws.forwarded(copy.to);
                }
                copy.to = client_address(client);
                // With null protection packets have no real tag: those that must be refused are marked as damaged.
                copy.damage = Some(Damage { first: 0, last: u32::MAX });
            }
            world.launch(delay, copy);
        }
        // Noise, some of it with a plausible start.
        3 => {
            let mut bytes = vec![0; random.below(1500) as usize];
            random.fill(&mut bytes);
            if let Some(known) = overheard(random, world)
                && bytes.len() > 40
            {
                match random.below(3) {
                    // Including the format of a stateless reset.
                    0 => {
                        bytes[0] = 0x40 | bytes[0] & 0x3f;
                        bytes[1..1 + known.len()].copy_from_slice(known.as_bytes());
                    }
                    1 => {
                        bytes[0] |= 0xc0;
                        bytes[1..5].copy_from_slice(&version(random).0.to_be_bytes());
                        bytes[5] = known.len() as u8;
                        bytes[6..6 + known.len()].copy_from_slice(known.as_bytes());
                    }
                    _ => {}
                }
            }
            let from = if random.chance(0.5) { victim(random) } else { world.clients[client].outside };
            inject(world, delay, random.chance(0.5), client, from, bytes);
        }
        // A random Initial packet of full size, which a server may answer.
        4 => {
            let mut bytes = vec![0; 1200 + random.below(200) as usize];
            random.fill(&mut bytes[6..]);
            bytes[0] = 0xc0 | random.below(4) as u8;
            bytes[1..5].copy_from_slice(&version(random).0.to_be_bytes());
            bytes[5] = 8;
            bytes[14] = 8;
            bytes[23] = 0;
            bytes[24] = 0x44;
            let from = victim(random);
            inject(world, delay, true, client, from, bytes);
        }
        // Version Negotiation towards a client.
        5 => {
            let known = world.overheard.iter().find(|known| known.to_server && known.client == client);
            let Some(known) = known.copied() else { return false };
            let mut bytes = Vec::new();
            let listed = [Version(0x1a2a_3a4a), version(random)];
            let (destination, source) = (known.source.as_bytes(), known.destination.as_bytes());
            wire::header::version_negotiation(&mut bytes, 0, destination, source, &listed);
            inject(world, delay, false, client, server_address(), bytes);
            return true;
        }
        // Retry towards a client: its tag is a guess.
        _ => {
            let known = world.overheard.iter().find(|known| known.to_server && known.client == client);
            let Some(known) = known.copied() else { return false };
            let mut bytes = vec![0xf0];
            bytes.extend_from_slice(&version(random).0.to_be_bytes());
            for id in [known.source, known.destination] {
                bytes.push(id.len() as u8);
                bytes.extend_from_slice(id.as_bytes());
            }
            let tail = bytes.len();
            bytes.resize(tail + 16 + 1 + random.below(60) as usize, 0);
            random.fill(&mut bytes[tail..]);
            inject(world, delay, false, client, server_address(), bytes);
        }
    }
    false
}

/// An id of the usual length seen on the wire.
fn overheard<A>(random: &mut Generator, world: &World<A>) -> Option<ConnectionId> {
    let count = world.overheard.len() as u64;
    let known = (count > 0).then(|| world.overheard[random.below(count) as usize].destination)?;
    (known.len() == ID_LENGTH).then_some(known)
}

fn inject<A: Applications>(
    world: &mut World<A>,
    delay: Duration,
    to_server: bool,
    client: usize,
    from: SocketAddr,
    bytes: Vec<u8>,
) {
    let (from, to) = match to_server {
        true => (from, server_address()),
        false => (server_address(), client_address(client)),
    };
    // With null protection packets have no real tag: those that must be refused are marked as damaged.
    let damage = Some(Damage { first: 0, last: u32::MAX });
    world.launch(
        delay,
        DatagramInFlight { from, to, bytes, hole: None, damage, ecn: Ecn::NotEct, client: None },
    );
}
