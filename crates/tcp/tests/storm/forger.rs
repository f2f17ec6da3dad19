//! An attacker who forges segments.

use crate::pair::{Pair, address};
use random::Generator;
use wire::Ecn;
use wire::tcp::{Flags, Header, Options, SackBlocks, Timestamps};

pub(crate) struct Forger {
    random: Generator,
    /// Whether it sees the segments of both ends.
    knows: bool,
    /// The mean time between attacks in milliseconds.
    calm: u64,
}

/// What an end has last sent, as the attacker sees it.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The number after its newest segment.
    next: u32,
    acknowledged: u32,
    timestamps: Option<Timestamps>,
}

impl Forger {
    pub(crate) fn blind(seed: u64) -> Forger {
        Forger::new(seed, "blind", false)
    }
    pub(crate) fn knowing(seed: u64) -> Forger {
        Forger::new(seed, "insider", true)
    }
    fn new(seed: u64, name: &str, knows: bool) -> Forger {
        let mut random = Generator::new(seed, name);
        let calm = 1 + random.below(80);
        Forger { random, knows, calm }
    }

    /// The time until the next attack in milliseconds.
    pub(crate) fn pause(&mut self) -> u64 {
        self.random.below(2 * self.calm + 1)
    }

    /// Sends a few segments to one end, as if they came from the other.
    pub(crate) fn attack(&mut self, pair: &mut Pair) {
        let victim = self.random.below(2) as usize;
        let (source, destination) = (address(1 - victim).port(), address(victim).port());
        for _ in 0..=self.random.below(3) {
            let (peer, own) = (self.seen(pair, 1 - victim), self.seen(pair, victim));
            let header = Header { source, destination, ..self.header(peer, own) };
            let mut bytes = Vec::new();
            header.encode(&mut bytes);
            let length = if self.random.chance(0.5) { 0 } else { self.random.below(3_000) as usize };
            bytes.resize(bytes.len() + length, self.random.bits() as u8);
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][self.random.below(4) as usize];
            pair.arrive(victim, ecn, &bytes, None);
        }
    }

    fn seen(&self, pair: &Pair, end: usize) -> Seen {
        let sent = pair.sent.iter().rev().filter(|sent| self.knows && sent.from == end);
        let mut seen = Seen::default();
        // The newest ones are enough: retransmissions are among them.
        for (at, sent) in sent.take(30).enumerate() {
            let header = sent.header();
            let takes = sent.payload() as u32
                + u32::from(header.flags.has(Flags::SYN))
                + u32::from(header.flags.has(Flags::FIN));
            let next = header.sequence.wrapping_add(takes);
            if at == 0 || (next.wrapping_sub(seen.next) as i32) > 0 {
                seen.next = next;
            }
            if at == 0 {
                seen.acknowledged = header.acknowledgement;
                seen.timestamps = header.options.timestamps;
            }
        }
        seen
    }

    /// A header from `peer`, whose numbers are those of the connection or near them.
    fn header(&mut self, peer: Seen, own: Seen) -> Header {
        let sequence = self.near([peer.next, own.acknowledged]);
        let acknowledgement = self.near([own.next, peer.acknowledged]);
        let flags = self.flags();
        let timestamps = peer.timestamps.filter(|_| self.random.chance(0.8)).map(|last| Timestamps {
            value: self.near([last.value, last.value]),
            echo: self.near([last.echo, last.echo]),
        });
        let mut sack = SackBlocks::default();
        if self.random.chance(0.4) {
            for _ in 0..=self.random.below(4) {
                let left = self.near([own.next, peer.acknowledged]);
                sack.push(left, left.wrapping_add(self.random.below(10_000) as u32).wrapping_sub(100));
            }
            sack.truncate(if timestamps.is_some() { 3 } else { 4 });
        }
        let opens = flags.has(Flags::SYN);
        let with = |random: &mut Generator| opens && random.chance(0.5);
        let options = Options {
            mss: with(&mut self.random).then(|| self.random.below(2_000) as u16),
            window_scale: with(&mut self.random).then(|| self.random.below(20) as u8),
            sack_permitted: with(&mut self.random),
            timestamps,
            sack: if opens { SackBlocks::default() } else { sack },
            fast_open: None,
        };
        let windows = [0, 1, 500, u16::MAX, self.random.bits() as u16];
        let window = windows[self.random.below(5) as usize];
        Header { sequence, acknowledgement, flags, window, options, ..Header::default() }
    }

    fn flags(&mut self) -> Flags {
        let random = &mut self.random;
        let mut flags = Flags::none().with_if(random.chance(0.9), Flags::ACK);
        for (flag, share) in [
            (Flags::RST, 0.04),
            (Flags::SYN, 0.05),
            (Flags::FIN, 0.04),
            (Flags::PSH, 0.3),
            (Flags::URG, 0.02),
            (Flags::ECE, 0.1),
            (Flags::CWR, 0.1),
        ] {
            flags = flags.with_if(random.chance(share), flag);
        }
        flags
    }

    /// One of two numbers of the connection, or one at some distance: a byte, a few segments, a window, half of all numbers.
    fn near(&mut self, known: [u32; 2]) -> u32 {
        if !self.knows {
            return self.random.bits() as u32;
        }
        let from = known[self.random.below(2) as usize];
        let spread = [1, 1, 4, 3_000, 70_000, 1 << 20, 1 << 31, u64::from(u32::MAX)];
        let spread = spread[self.random.below(spread.len() as u64) as usize];
        let distance = self.random.below(spread) as u32;
        if self.random.chance(0.5) { from.wrapping_add(distance) } else { from.wrapping_sub(distance) }
    }
}
