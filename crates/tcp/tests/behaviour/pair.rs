//! Two ends of a connection in a virtual network: a queue of segments for each direction, and the faults that it may
//! apply.

use random::Generator;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::{Arrival, Config, Connection, ConnectionInputs, Data, Event, State, TlsSizes};
use trace::Interest;
use units::{Duration, Time};
use wire::tcp::{Flags, Header};
use wire::{Ecn, Hole, Side};

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
pub(crate) fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

pub(crate) fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, 1 + end as u8], [34_433, 4433][end]).into()
}

/// A sent segment, possibly still in transit.
#[derive(Debug, Clone)]
pub(crate) struct Flying {
    pub(crate) sent_at: Time,
    pub(crate) from: usize,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hole: Option<Hole>,
}

impl Flying {
    pub(crate) fn header(&self) -> Header {
        Header::decode(&self.bytes).unwrap().0
    }
    pub(crate) fn payload(&self) -> u64 {
        let (_, length) = Header::decode(&self.bytes).unwrap();
        self.bytes.len() as u64 - length as u64 + self.hole.map_or(0, |hole| u64::from(hole.length))
    }
    pub(crate) fn has(&self, flags: Flags) -> bool {
        self.header().flags.has(flags)
    }
}

/// The fate of a segment in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Delivered,
    Lost,
    Marked,
    Late(Duration),
    Twice,
}

/// One end and its application, which writes its data and reads everything.
pub(crate) struct End {
    pub(crate) connection: Connection,
    pub(crate) events: Vec<Event>,
    /// Received bytes, checked against the pattern.
    pub(crate) received: u64,
    pub(crate) finished: bool,
    pub(crate) reads: bool,
    /// Whether the received data must equal the sent data.
    pub(crate) checks: bool,
    /// Bytes to be written once connected.
    pub(crate) to_write: u64,
    pub(crate) finishes: bool,
    real: bool,
    written: u64,
}

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) ends: [End; 2],
    pub(crate) delay: Duration,
    network: BTreeMap<(Time, u64), Flying>,
    count: u64,
    /// All segments that were sent.
    pub(crate) sent: Vec<Flying>,
    fate: Box<dyn FnMut(&Flying) -> Fate>,
}

pub(crate) fn tls() -> TlsSizes {
    TlsSizes { server_name: "server.example".to_owned(), certificate_chain: 3000, alpn: b"", hybrid: false }
}

pub(crate) fn setup(end: usize, config: &Config, seed: u64) -> ConnectionInputs {
    ConnectionInputs {
        local: address(end),
        config: Arc::new(config.clone()),
        random: Generator::new(seed, ["client", "server"][end]),
        interest: Interest::ALL,
        tls: tls(),
        cookie_key: 7,
        known_paths: tcp::DatedPaths::default(),
        initial_sequence: None,
    }
}

impl Pair {
    pub(crate) fn new(config: &Config, seed: u64) -> Pair {
        Pair::of(config, config, seed, None)
    }

    /// Creates ends with options of their own and this initial sequence number.
    pub(crate) fn of(client: &Config, server: &Config, seed: u64, initial: Option<u32>) -> Pair {
        let setup = |end, config| ConnectionInputs { initial_sequence: initial, ..setup(end, config, seed) };
        let client = Connection::connect(Time::ZERO, setup(CLIENT, client), address(SERVER)).unwrap();
        let server = Connection::listen(setup(SERVER, server)).unwrap();
        Pair::with([client, server])
    }

    pub(crate) fn with(connections: [Connection; 2]) -> Pair {
        let ends = connections.map(|connection| End {
            connection,
            events: Vec::new(),
            received: 0,
            finished: false,
            reads: true,
            checks: true,
            to_write: 0,
            finishes: false,
            real: false,
            written: 0,
        });
        Pair {
            now: Time::ZERO,
            ends,
            delay: ms(50),
            network: BTreeMap::new(),
            count: 0,
            sent: Vec::new(),
            fate: Box::new(|_| Fate::Delivered),
        }
    }

    /// Writes this number of virtual or real bytes at one end, and finishes.
    pub(crate) fn write(&mut self, end: usize, bytes: u64, real: bool) {
        let end = &mut self.ends[end];
        (end.to_write, end.real, end.finishes) = (bytes, real, true);
    }

    pub(crate) fn fate(&mut self, fate: impl FnMut(&Flying) -> Fate + 'static) {
        self.fate = Box::new(fate);
    }

    fn attend(&mut self, index: usize) {
        let now = self.now;
        let end = &mut self.ends[index];
        let mut events = Vec::new();
        while let Some(event) = end.connection.poll_event() {
            events.push(event);
            if event == Event::Readable && end.reads {
                end.read_all(now);
            }
        }
        end.events.extend(events);
        let open = end.events.contains(&Event::Connected) && !end.events.contains(&Event::Ended);
        if open {
            end.write_some();
        }
        let mut bytes = Vec::new();
        while let Some(transmit) = self.ends[index].connection.transmit(now, &mut bytes) {
            let flying = Flying {
                sent_at: now,
                from: index,
                ecn: transmit.ecn,
                bytes: std::mem::take(&mut bytes),
                hole: transmit.hole,
            };
            assert_eq!(transmit.carries_data, flying.payload() > 0);
            self.launch(flying);
        }
        self.ends[index].connection.check();
    }

    fn launch(&mut self, mut flying: Flying) {
        let fate = (self.fate)(&flying);
        self.sent.push(flying.clone());
        let arrives = self.now + self.delay;
        let mut enter = |at: Time, flying: Flying| {
            self.count += 1;
            self.network.insert((at, self.count), flying);
        };
        match fate {
            Fate::Delivered => enter(arrives, flying),
            Fate::Lost => {}
            Fate::Marked => {
                flying.ecn = if flying.ecn.is_capable() { Ecn::Ce } else { flying.ecn };
                enter(arrives, flying);
            }
            Fate::Late(more) => enter(arrives + more, flying),
            Fate::Twice => {
                enter(arrives, flying.clone());
                enter(arrives + ms(1), flying);
            }
        }
    }

    /// Delivers a forged segment to an end.
    pub(crate) fn inject(&mut self, end: usize, header: &Header, payload: &[u8]) {
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        bytes.extend_from_slice(payload);
        self.arrive(end, Ecn::NotEct, &bytes, None);
    }

    /// Delivers a segment that appears to be from the server, at the given offset of its data and acknowledging the
    /// given number of the client's bytes: once the handshake is complete, regardless of what the server has sent.
    pub(crate) fn answer(&mut self, own: u32, acknowledged: u32, window: u16, payload: &[u8]) {
        let (first, answer) = (self.sent[2].header(), self.sent[1].header());
        let header = Header {
            source: answer.source,
            destination: answer.destination,
            flags: Flags::ACK,
            sequence: answer.sequence.wrapping_add(1 + own),
            acknowledgement: first.sequence.wrapping_add(acknowledged),
            window,
            ..Header::default()
        };
        self.inject(CLIENT, &header, payload);
    }

    pub(crate) fn arrive(&mut self, end: usize, ecn: Ecn, bytes: &[u8], hole: Option<Hole>) {
        let arrival = Arrival { remote: address(1 - end), ecn, bytes, hole, damage: None };
        self.ends[end].connection.receive(self.now, arrival);
        self.attend(end);
    }

    fn next(&self) -> Option<Time> {
        let network = self.network.keys().next().map(|(at, _)| *at);
        let timers = self.ends.iter().filter_map(|end| end.connection.wake_at());
        network.into_iter().chain(timers).min()
    }

    /// Runs everything up to and including this time.
    pub(crate) fn run_to(&mut self, end: Time) {
        (0..2).for_each(|index| self.attend(index));
        let mut steps = 0;
        while let Some(next) = self.next().filter(|next| *next <= end) {
            steps += 1;
            assert!(steps < 2_000_000, "time does not pass");
            self.now = self.now.max(next);
            while let Some(entry) = self.network.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let flying = entry.remove();
                self.arrive(1 - flying.from, flying.ecn, &flying.bytes, flying.hole);
            }
            for index in 0..2 {
                if self.ends[index].connection.wake_at().is_some_and(|at| at <= self.now) {
                    self.ends[index].connection.wake(self.now);
                    self.attend(index);
                }
            }
        }
        self.now = end;
    }

    pub(crate) fn run(&mut self, ms: u64) {
        self.run_to(at(ms));
    }

    pub(crate) fn states(&self) -> [State; 2] {
        [self.ends[0].connection.state(), self.ends[1].connection.state()]
    }

    /// The data segments sent by an end, in order: the time in ms, the offset and the length.
    pub(crate) fn data(&self, from: usize) -> Vec<(u64, u64, u64)> {
        let syn = self.sent.iter().find(|s| s.from == from && s.has(Flags::SYN)).unwrap().header().sequence;
        let segments = self.sent.iter().filter(|flying| flying.from == from && flying.payload() > 0);
        segments
            .map(|flying| {
                let first = flying.header().sequence.wrapping_add(u32::from(flying.has(Flags::SYN)));
                let offset = first.wrapping_sub(syn.wrapping_add(1));
                (flying.sent_at.as_nanos() / 1_000_000, u64::from(offset), flying.payload())
            })
            .collect()
    }
}

impl End {
    pub(crate) fn read_all(&mut self, now: Time) {
        let mut buffer = [0; 5000];
        loop {
            let Ok(read) = self.connection.read(now, &mut buffer) else { return };
            let right = wire::pattern::matches(self.received, &buffer[..read.bytes as usize]);
            assert!(right || !self.checks, "at {}", self.received);
            self.received += read.bytes;
            self.finished |= read.finished;
            if read.bytes == 0 {
                return;
            }
        }
    }

    fn write_some(&mut self) {
        let mut bytes = [0; 3000];
        while self.to_write > 0 {
            let data = if self.real {
                let length = self.to_write.min(3000) as usize;
                wire::pattern::fill(self.written, &mut bytes[..length]);
                Data::Bytes(&bytes[..length])
            } else {
                Data::Virtual(self.to_write)
            };
            let Ok(taken) = self.connection.write(data) else { return };
            self.to_write -= taken;
            self.written += taken;
        }
        if self.finishes {
            self.finishes = false;
            self.connection.finish_writing().unwrap();
        }
    }

    pub(crate) fn side(&self) -> Side {
        self.connection.side()
    }
}

/// A random network, whose parameters follow from the seed; it loses at most this share of the packets.
pub(crate) fn weather(seed: u64, most_loss: f64) -> impl FnMut(&Flying) -> Fate {
    let mut chance = Generator::new(seed, "weather");
    let (loss, late, twice, mark) =
        (most_loss * chance.unit(), 0.3 * chance.unit(), 0.1 * chance.unit(), 0.1 * chance.unit());
    move |_| {
        let late_by = ms(chance.below(120));
        if chance.chance(loss) {
            Fate::Lost
        } else if chance.chance(late) {
            Fate::Late(late_by)
        } else if chance.chance(twice) {
            Fate::Twice
        } else if chance.chance(mark) {
            Fate::Marked
        } else {
            Fate::Delivered
        }
    }
}
