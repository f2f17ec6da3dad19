//! A world with gates whose surroundings are a loop: what an emulated packet costs without devices and without a clock.
//!
//!     cargo run --release -p emulated -- benches/emulated/emulated.toml [PACKETS]
//!
//! Every 100 us a datagram of 1,228 bytes enters by the first gate of the scenario for the second one, and every second one is
//! answered by 68 bytes. Packets are read from the bytes that a system hands over, and written as the bytes that it takes. Time
//! passes as the world wants it, so that the same is done each time: `benches/instruction_check.py` counts it.

use lab::emulation::{Arrivals, Counts, Emulation, Outside, gates};
use lab::{Options, Prepared, Scenario};
use network::{Packet, gate};
use std::error::Error;
use std::path::PathBuf;
use units::{Duration, Time};
use wire::Ecn;

const INTERVAL: Duration = Duration::from_micros(100);
const PAYLOAD: usize = 1_228 - 28;
const ANSWER: usize = 68 - 28;

struct Loop {
    now: Time,
    next: Time,
    left_to_send: u64,
    /// What enters by the first gate, and what answers by the second one, as a system sends them.
    sent: [Vec<u8>; 2],
    /// The time at which the last packet has been answered.
    end: Time,
    written: Vec<u8>,
    left: [u64; 2],
    left_bytes: u64,
    answers: Vec<Time>,
}

impl Loop {
    fn enter(&self, arrivals: &mut Arrivals, at: Time, gate: usize) {
        // What the loop sends is a packet.
        if let Ok(packet) = gate::packet_of(&self.sent[gate], arrivals.buffer()) {
            arrivals.add(at, gate, packet);
        }
    }
}

impl Outside for Loop {
    fn begin(&mut self) {}
    fn now(&self) -> Time {
        self.now
    }
    fn wait(&mut self, next: Time, arrivals: &mut Arrivals) -> Option<Time> {
        if self.left_to_send == 0 && self.now >= self.end {
            return None;
        }
        let next = if self.left_to_send > 0 { next.min(self.next) } else { next };
        self.now = self.now.max(next.min(self.end));
        while let Some(at) = self.answers.pop() {
            self.enter(arrivals, at, 1);
        }
        if self.left_to_send > 0 && self.next <= self.now {
            self.enter(arrivals, self.next, 0);
            self.left_to_send -= 1;
            self.next += INTERVAL;
        }
        Some(self.now)
    }
    fn leave(&mut self, gate: usize, at: Time, mut packet: Packet) -> Vec<u8> {
        self.written.clear();
        // A packet that came in as one goes out as one.
        let _ = gate::write(&mut packet, &mut self.written);
        self.left[gate] += 1;
        self.left_bytes += self.written.len() as u64;
        if gate == 1 && self.left[1].is_multiple_of(2) {
            self.answers.push(at);
        }
        packet.bytes
    }
    fn flush(&mut self) {}
    fn counted(&mut self, _: Time, _: &Counts<'_>) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("usage: emulated SCENARIO [PACKETS]")?);
    let packets = arguments.next().map_or(Ok(20_000), |count| count.parse())?;
    let scenario = Scenario::parse(&std::fs::read_to_string(&path)?, &path, &[])?;
    let ends = gates(&scenario);
    let [from, to, ..] = ends.as_slice() else { return Err("expected a scenario with two gates".into()) };
    let (from, to) = (from.addresses[0], to.addresses[0]);
    let datagram = |source, destination, length| {
        let (payload, mut bytes) = (vec![7; length], Vec::new());
        let packet = wire::ip::Packet {
            source,
            destination,
            ecn: Ecn::NotEct,
            dscp: 0,
            hop_limit: 64,
            payload: &payload,
        };
        packet.encode(&mut bytes).map(|()| bytes)
    };
    let sent = [
        datagram((from, 5000).into(), (to, 6000).into(), PAYLOAD)?,
        datagram((to, 6000).into(), (from, 5000).into(), ANSWER)?,
    ];
    let end = Time::ZERO + INTERVAL * packets + Duration::from_secs(1);
    let mut outside = Loop {
        now: Time::ZERO,
        next: Time::ZERO,
        left_to_send: packets,
        sent,
        end,
        written: Vec::new(),
        left: [0; 2],
        left_bytes: 0,
        answers: Vec::new(),
    };
    let options = Options::default();
    let prepared = Prepared::new(&scenario)?;
    Emulation {
        scenario: &scenario,
        prepared: &prepared,
        options: &options,
        end,
        captured: &[],
        altered_leave: false,
    }
    .run(&mut outside)?;
    println!(
        "{} packets left by the second gate and {} by the first: {} bytes",
        outside.left[1], outside.left[0], outside.left_bytes
    );
    Ok(())
}
