//! A bad network: it loses, repeats, delays, alters and truncates datagrams, and changes clients' addresses.

use crate::applications::Applications;
use crate::world::{Attacker, DatagramInFlight, World};
use random::Generator;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::{Damage, Ecn};

/// The severity of the impairments, and their end.
pub(crate) struct Weather {
    random: Generator,
    loss: f64,
    damage: f64,
    cut: f64,
    repeat: f64,
    /// How often a client's address changes.
    pub moves: f64,
    /// Longer datagrams are lost.
    mtu: usize,
    /// How often the ECN field changes.
    remark: f64,
    delay: Duration,
    jitter: Duration,
    /// The end of the impairments.
    pub until: Time,
}

impl Weather {
    pub(crate) fn new(seed: u64) -> Weather {
        let mut random = Generator::new(seed, "weather");
        let mut bad = |most: f64| random.unit() * random.unit() * most;
        let (loss, damage, cut, repeat, moves) = (bad(0.3), bad(0.3), bad(0.1), bad(0.3), bad(0.01));
        // A separate stream, so that it changes no other draws.
        let mut marks = Generator::new(seed, "marks");
        let mtu = [65_535, 65_535, 1_200, 1_200 + marks.below(400) as usize][marks.below(4) as usize];
        let remark = [0.0, 1.0, 0.1, 0.001][marks.below(4) as usize];
        let delay = Duration::from_micros(500 + random.below(60_000));
        let jitter = Duration::from_micros(1 + random.below(2_000) * random.below(60));
        let until = Time::ZERO + Duration::from_millis(random.below(6_000));
        Weather { random, loss, damage, cut, repeat, moves, mtu, remark, delay, jitter, until }
    }

    fn delay(&mut self) -> Duration {
        self.delay + Duration::from_nanos(self.random.below(self.jitter.as_nanos()))
    }

    /// The impairments between datagrams.
    pub(crate) fn meddle<A: Applications>(&mut self, world: &mut World<A>) {
        if world.now < self.until && self.random.chance(self.moves) {
            let client = self.random.below(world.clients.len() as u64) as usize;
            let mut outside = world.clients[client].outside;
            if self.random.chance(0.5) {
                outside.set_port(1024 + self.random.below(60_000) as u16);
            } else {
                outside = SocketAddr::from(([10, 1, client as u8, self.random.below(250) as u8], 50_000));
            }
            world.translate(client, outside);
        }
    }
}

/// Inverts a bit.
pub(crate) fn flip(random: &mut Generator, flying: &mut DatagramInFlight) {
    if flying.bytes.is_empty() {
        return;
    }
    let at = random.below(flying.bytes.len() as u64) as usize;
    flying.bytes[at] ^= 1 << random.below(8);
    let behind = flying.hole.filter(|hole| at >= hole.at as usize).map_or(0, |hole| hole.length);
    let at = at as u32 + behind;
    let damage = Damage { first: at, last: at };
    flying.damage = Some(flying.damage.map_or(damage, |known| known.and(damage)));
}

impl Attacker for Weather {
    fn on_datagram(&mut self, now: Time, flying: &mut DatagramInFlight, delays: &mut Vec<Duration>) {
        if now >= self.until {
            delays.push(self.delay);
            return;
        }
        if self.random.chance(self.loss) || flying.length() > self.mtu {
            return;
        }
        if self.random.chance(self.damage) {
            flip(&mut self.random, flying);
        }
        if self.random.chance(self.remark) {
            flying.ecn = Ecn::from_bits(self.random.below(4) as u8);
        }
        let length = flying.length() as u64;
        if self.random.chance(self.cut) && flying.hole.is_none() && length > 1 {
            flying.bytes.truncate(1 + self.random.below(length - 1) as usize);
            let cut = Damage { first: flying.bytes.len() as u32 - 1, last: u32::MAX };
            flying.damage = Some(flying.damage.map_or(cut, |known| known.and(cut)));
        }
        delays.push(self.delay());
        while self.random.chance(self.repeat) && delays.len() < 5 {
            let late = Duration::from_micros(self.random.below(2_000) * self.random.below(1_000));
            delays.push(self.delay() + late);
        }
    }
}
