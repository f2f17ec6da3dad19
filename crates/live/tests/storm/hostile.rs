//! An endpoint that violates HTTP/3: what it writes on its streams, and how it ends them.

use http::qpack::{self, Field};
use http::{Settings, frame};
use quic::{Connection, Data, Event};
use random::Generator;
use units::Time;
use wire::{Direction, Side, StreamId, varint};

/// The maximum number of streams that it keeps open.
const MOST_OPEN: usize = 40;

fn number(random: &mut Generator) -> u64 {
    match random.below(5) {
        0 => random.below(4),
        1 => random.below(64),
        2 => random.below(20_000),
        3 => varint::MAX - random.below(3),
        _ => random.bits() & varint::MAX,
    }
}

fn noise(random: &mut Generator, most: u64) -> Vec<u8> {
    let mut bytes = vec![0; random.below(most) as usize];
    random.fill(&mut bytes);
    bytes
}

/// Truncates, alters or repeats a part.
fn mangle(random: &mut Generator, bytes: &mut Vec<u8>) {
    if bytes.is_empty() || random.chance(0.6) {
        return;
    }
    let at = random.below(bytes.len() as u64) as usize;
    match random.below(4) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = [0, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff][random.below(7) as usize],
        _ => bytes.extend_from_within(at..),
    }
}

fn fields(random: &mut Generator, of_request: bool) -> Vec<Field> {
    let mut fields = match of_request {
        true => vec![
            Field::new(":method", "GET"),
            Field::new(":scheme", "https"),
            Field::new(":authority", "example.org"),
            Field::new(":path", ["/large", "/", "/../x", "/%2e%2e/%00", "/sub/"][random.below(5) as usize]),
        ],
        false => vec![Field::new(":status", ["200", "404", "100", "999", "x"][random.below(5) as usize])],
    };
    let odd = [
        (":method", "POST"),
        (":method", "CONNECT"),
        (":status", "200"),
        (":unknown", "x"),
        ("Upper", "x"),
        ("content-length", "5"),
        ("content-length", "99999999999999999999"),
        ("connection", "close"),
        ("te", "gzip"),
        ("host", "elsewhere"),
        ("priority", "u=99999999999, i=?7"),
        ("expect", "100-continue"),
        ("bad value", "a\r\nb: c"),
    ];
    for _ in 0..random.below(4) {
        let (name, value) = odd[random.below(odd.len() as u64) as usize];
        let at = random.below(fields.len() as u64 + 1) as usize;
        fields.insert(at, Field::new(name, value));
    }
    if random.chance(0.2) && !fields.is_empty() {
        fields.remove(random.below(fields.len() as u64) as usize);
    }
    if random.chance(0.05) {
        fields.push(Field::new("x-long", "X".repeat(random.below(70_000) as usize)));
    }
    fields
}

fn section(random: &mut Generator, of_request: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    qpack::encode(&mut bytes, &fields(random, of_request));
    if random.chance(0.2) {
        // References to a dynamic table that does not exist.
        bytes[..2].copy_from_slice(&[random.below(256) as u8, random.below(256) as u8]);
    }
    mangle(random, &mut bytes);
    bytes
}

/// A frame of any kind.
fn frame(random: &mut Generator, out: &mut Vec<u8>, of_request: bool) {
    let kinds = [0, 1, 1, 3, 4, 5, 7, 0x0d, 0xf0700, 0xf0701, 2, 6, 8, 9, 0x21];
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let kind = if random.chance(0.05) { number(random) } else { kind };
    let mut payload = Vec::new();
    match kind {
        frame::HEADERS => payload = section(random, of_request),
        frame::SETTINGS => {
            for _ in 0..random.below(70) * random.below(2) + random.below(4) {
                varint::encode(
                    &mut payload,
                    if random.chance(0.5) { random.below(10) } else { number(random) },
                );
                varint::encode(&mut payload, number(random));
            }
        }
        frame::CANCEL_PUSH | frame::GOAWAY | frame::MAX_PUSH_ID => {
            varint::encode(&mut payload, number(random))
        }
        frame::PUSH_PROMISE | frame::PRIORITY_UPDATE_REQUEST | frame::PRIORITY_UPDATE_PUSH => {
            varint::encode(&mut payload, if random.chance(0.7) { random.below(40) } else { number(random) });
            let value = ["u=1, i", "u=9", "", "i=?0;x", "u=\"", "u=1,u=2,u=3"][random.below(6) as usize];
            payload.extend_from_slice(value.as_bytes());
        }
        _ => payload = noise(random, 3_000),
    }
    mangle(random, &mut payload);
    if random.chance(0.05) {
        // A wrong length: the frame may never be complete.
        frame::FrameHead { kind, length: number(random) }.encode(out);
        out.extend_from_slice(&payload);
    } else {
        frame::encode(out, kind, &payload);
    }
}

/// Instructions of QPACK, or bytes that resemble them.
fn instructions(random: &mut Generator) -> Vec<u8> {
    let mut bytes = noise(random, 60);
    if random.chance(0.5) {
        // Set Dynamic Table Capacity; Insert with Literal Name.
        bytes.splice(0..0, [0x3f, 0xe1, 0x1f, 0x43, b'a', b'b', b'c', 0x01, b'v']);
    }
    bytes
}

/// The start of a unidirectional stream, and some of what follows.
fn unidirectional(random: &mut Generator) -> Vec<u8> {
    let mut bytes = Vec::new();
    let kind = match random.below(8) {
        0..=2 => 0,
        3 => 1,
        4 => 2,
        5 => 3,
        6 => 0x21 + 0x1f * random.below(9),
        _ => number(random),
    };
    varint::encode(&mut bytes, kind);
    match kind {
        0 => {
            if random.chance(0.8) {
                settings(&mut bytes);
            }
            for _ in 0..random.below(6) {
                frame(random, &mut bytes, true);
            }
        }
        2 | 3 => bytes.extend(instructions(random)),
        _ => bytes.extend(noise(random, 4_000)),
    }
    mangle(random, &mut bytes);
    bytes
}

fn settings(out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    Settings { max_field_section_size: Some(10_000), ..Settings::default() }.encode(&mut payload);
    frame::encode(out, frame::SETTINGS, &payload);
}

/// A message, valid or not; over hq-interop a line.
pub(crate) fn message(random: &mut Generator, of_request: bool, is_hq: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    if is_hq {
        let line = ["GET /large\r\n", "GET /sub/\r\n", "GET ", "POST /one\r\n", "/one\r\n", "GET /%zz\n"];
        bytes.extend_from_slice(line[random.below(line.len() as u64) as usize].as_bytes());
        bytes.extend(noise(random, 20));
    } else {
        if random.chance(0.7) {
            let mut head = Vec::new();
            qpack::encode(&mut head, &fields(random, of_request));
            frame::encode(&mut bytes, frame::HEADERS, &head);
        }
        for _ in 0..random.below(4) {
            frame(random, &mut bytes, of_request);
        }
    }
    mangle(random, &mut bytes);
    bytes
}

/// The start of a stream of this kind.
pub(crate) fn begin(random: &mut Generator, direction: Direction, of_request: bool, is_hq: bool) -> Vec<u8> {
    match direction {
        Direction::Unidirectional => unidirectional(random),
        Direction::Bidirectional => message(random, of_request, is_hq),
    }
}

/// A stream with data to write.
struct Writing {
    stream: StreamId,
    /// The data that the transport has not accepted yet.
    rest: Vec<u8>,
    ends: bool,
}

/// A hostile end.
pub(crate) struct Hostile {
    side: Side,
    is_hq: bool,
    /// The number of actions left.
    acts: u64,
    started: bool,
    writing: Vec<Writing>,
    seen: Vec<StreamId>,
}

impl Hostile {
    pub(crate) fn new(random: &mut Generator, side: Side, is_hq: bool) -> Hostile {
        let acts = 1 + random.below(60);
        Hostile { side, is_hq, acts, started: false, writing: Vec::new(), seen: Vec::new() }
    }

    /// Whether it has performed all its actions.
    pub(crate) fn is_over(&self) -> bool {
        self.acts == 0
    }

    pub(crate) fn attend(&mut self, random: &mut Generator, now: Time, connection: &mut Connection) {
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Connected | Event::EarlyDataReady if !self.started => {
                    self.started = true;
                    self.begin_well(random, connection);
                }
                Event::Opened(stream) => {
                    self.note(stream);
                    if stream.direction() == Direction::Bidirectional {
                        self.write_message(random, stream);
                    }
                }
                // Otherwise it leaves received data unread.
                Event::Readable(stream) if random.chance(0.5) => {
                    let _ = connection.discard(stream);
                }
                _ => {}
            }
        }
        if !self.started {
            return;
        }
        for _ in 0..1 + random.below(8) {
            if self.acts > 0 {
                self.acts -= 1;
                self.act(random, connection);
            }
        }
        self.writing.retain_mut(|writing| {
            while !writing.rest.is_empty() {
                match connection.write(now, writing.stream, Data::Bytes(&writing.rest)) {
                    Ok(taken) => drop(writing.rest.drain(..taken as usize)),
                    Err(quic::StreamError::Blocked) => return true,
                    Err(_) => return false,
                }
            }
            if writing.ends {
                let _ = connection.finish(now, writing.stream);
            }
            false
        });
        if self.acts == 0 && self.side == Side::Server {
            connection.close(now, number(random), "enough");
        }
    }

    /// Usually follows the rules, so that the peer processes more of what comes after it.
    fn begin_well(&mut self, random: &mut Generator, connection: &mut Connection) {
        if self.is_hq || random.chance(0.3) {
            return;
        }
        let mut bytes = vec![0];
        settings(&mut bytes);
        if let Ok(stream) = connection.open(Direction::Unidirectional) {
            self.write(stream, bytes, false);
        }
    }

    fn note(&mut self, stream: StreamId) {
        if self.seen.len() < MOST_OPEN {
            self.seen.push(stream);
        }
    }

    fn write(&mut self, stream: StreamId, rest: Vec<u8>, ends: bool) {
        self.note(stream);
        if self.writing.len() < MOST_OPEN {
            self.writing.push(Writing { stream, rest, ends });
        }
    }

    fn write_message(&mut self, random: &mut Generator, stream: StreamId) {
        let bytes = message(random, self.side == Side::Client, self.is_hq);
        let ends = random.chance(0.6);
        self.write(stream, bytes, ends);
    }

    fn act(&mut self, random: &mut Generator, connection: &mut Connection) {
        let known = (!self.seen.is_empty()).then(|| self.seen[random.below(self.seen.len() as u64) as usize]);
        match (random.below(10), known) {
            (0..=3, _) => {
                let pick =
                    if random.chance(0.6) { Direction::Bidirectional } else { Direction::Unidirectional };
                let Ok(stream) = connection.open(pick) else { return };
                let bytes = begin(random, pick, self.side == Side::Client, self.is_hq);
                let ends = random.chance(0.5);
                self.write(stream, bytes, ends);
            }
            (4..=5, Some(stream)) => {
                let mut bytes = Vec::new();
                frame(random, &mut bytes, self.side == Side::Client);
                let ends = random.chance(0.1);
                self.write(stream, bytes, ends);
            }
            (6, Some(stream)) => drop(connection.reset(stream, number(random))),
            (7, Some(stream)) => drop(connection.stop(stream, number(random))),
            (8, Some(stream)) => drop(connection.discard(stream)),
            (9, _) => {
                let bytes = noise(random, 200);
                let _ = connection.send_datagram(Data::Bytes(&bytes));
            }
            _ => {}
        }
    }
}
