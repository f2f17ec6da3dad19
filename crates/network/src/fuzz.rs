//! Fuzzing entry points: arbitrary bytes are a queue, its options and a sequence of calls, and the laws of
//! queues are checked after each of them. The property tests of this crate and the fuzz target call the same
//! function.

mod impairments;

pub use impairments::{jitters, losses};

use crate::count::Count;
use crate::error::BuildError;
use crate::packet::Packet;
use crate::queue::{self, Bound, LinkProperties, QUEUES, Queue, Report};
use crate::rate;
use crate::series::{self, Series};
use random::Generator;
use std::collections::BTreeMap;
use units::parameter::{Arguments, Component, Default, File, Kind, Parameter, Value};
use units::{Duration, Rate, Time};
use wire::Ecn;

/// The tested limits, in place of each row's own.
const LIMITS: [&str; 7] = ["1 BDP", "3 packets", "0 packets", "4 kB", "2 ms", "100 packets", "unlimited"];
/// The tested classes, by names of flows.
const CLASSES: [&[&str]; 2] = [&["a", "b"], &["c"]];
/// The time between two calls in nanoseconds: from zero to a year.
const STEPS: [u64; 8] =
    [0, 1000, 100_000, 1_200_000, 5_000_000, 100_000_000, 10_000_000_000, 31_536_000_000_000_000];

/// The outcome of a queue: for each packet that left it, in order, its number, its ECN field, and whether it
/// was sent.
pub type Outcome = Vec<(usize, Ecn, bool)>;

/// Runs a queue with a sequence of calls: one byte for the row, one for the limit, one for the seed and its
/// flags, then two for each call. Returns the outcome.
///
/// # Panics
/// If a law of queues is violated: a packet is lost or duplicated, overtakes another of its flow and kind,
/// leaves with an unexpected mark, waits beyond the limit, or is not returned although it waits.
pub fn queues(data: &[u8]) -> Outcome {
    let Some(([row, limit, seed], calls)) = data.split_first_chunk::<3>() else { return Outcome::new() };
    let row = &QUEUES[usize::from(*row) % QUEUES.len()];
    let limit = LIMITS[usize::from(*limit) % LIMITS.len()];
    // The link of the queue.
    let rate = Some(Rate::from_bits_per_sec(10_000_000));
    let flows = CLASSES.iter().copied().flatten().map(|name| (*name).to_owned());
    let flows: Vec<(String, u32)> = flows.zip(0..).collect();
    let setup = LinkProperties { rate, round_trip: Duration::from_millis(20), mtu: 1500, flows: &flows };
    let arguments =
        Arguments(row.parameters.iter().filter_map(|option| value(option, limit, *seed)).collect());
    let built = queue::build(row.name, &arguments, setup, Generator::new(u64::from(*seed), "fuzz"));
    let Ok(queue) = built else { return Outcome::new() };
    let parsed = limit.parse().unwrap_or(units::parameter::Limit::Unlimited);
    let bound = Bound::new(parsed, setup);
    // A limit for each class, and one for all other flows.
    let classes = row.parameters.iter().any(|option| option.name == "classes");
    let parts = if classes { CLASSES.len() as u64 + 1 } else { 1 };
    let bound =
        Bound { packets: bound.packets.saturating_mul(parts), bytes: bound.bytes.saturating_mul(parts) };
    let mut trial = Trial {
        name: row.name,
        queue: Box::new(queue),
        bound,
        now: Time::ZERO,
        given: 0,
        inside: BTreeMap::new(),
        marked: 0,
        outcome: Outcome::new(),
        report: Report::default(),
    };
    for call in calls.chunks_exact(2) {
        trial.now += Duration::from_nanos(STEPS[usize::from(call[0] >> 5)]);
        trial.call(call[0] & 31, call[1]);
    }
    while trial.queue.waiting().packets > 0 {
        trial.take();
    }
    assert!(trial.inside.is_empty(), "{}: what waited is gone", row.name);
    trial.outcome
}

/// The value of an option: its default except for limits and flags, or a sample if it has no default.
fn value(option: &Parameter, limit: &str, flags: u8) -> Option<(&'static str, Value)> {
    if flags & 1 == 0 && option.default == Default::Absent {
        return None;
    }
    let value = match (option.kind, option.default_value(&[])) {
        (Kind::Limit, _) if option.name == "limit" => Value::Limit(limit.parse().ok()?),
        (Kind::Flag, known) => Value::Flag((known == Some(Value::Flag(true))) ^ (flags & 2 != 0)),
        // The last word and the first one.
        (Kind::Choice(words), _) => {
            Value::Text(if flags & 4 != 0 { words.last()? } else { words.first()? }.to_string())
        }
        (Kind::List(Kind::List(_)), _) => {
            let names = |names: &&[&str]| names.iter().map(|name| Value::Text((*name).to_owned())).collect();
            Value::List(CLASSES.iter().map(names).map(Value::List).collect())
        }
        (Kind::List(_) | Kind::Pairs(..) | Kind::File(_) | Kind::Component(_), _) => return None,
        (_, Some(known)) => known,
        (Kind::Integer(least, _), None) => Value::Integer(least),
        (kind, None) => {
            let sample = match kind {
                Kind::Limit => "5 packets",
                Kind::Duration => "1 ms",
                Kind::Rate => "5 Mbit/s",
                Kind::Size => "3 kB",
                Kind::Number(..) | Kind::Probability => "0.1",
                _ => "",
            };
            kind.read(sample, &[])?
        }
    };
    Some((option.name, value))
}

struct Trial {
    name: &'static str,
    queue: Box<dyn Queue>,
    bound: Bound,
    now: Time,
    /// The number of packets so far: the number of the next one.
    given: usize,
    /// Waiting packets by number: ECN field, flow and size at arrival.
    inside: BTreeMap<usize, (Ecn, u32, u32)>,
    /// Packets that were marked in the queue.
    marked: u64,
    outcome: Outcome,
    report: Report,
}

impl Trial {
    fn call(&mut self, what: u8, how: u8) {
        match what {
            // Half of the calls enqueue packets, up to four at once, so that queues fill.
            0..16 => (0..=what / 4).for_each(|_| self.put(how)),
            _ => {
                (0..(what - 16) / 4 + 1).for_each(|_| self.take());
            }
        }
    }

    /// Enqueues a packet; a byte determines its flow, ECN field and size.
    fn put(&mut self, how: u8) {
        let flow = u16::from(how & 7);
        let at = std::net::SocketAddr::from(([10, 0, 0, 1], 1000 + flow));
        let number = self.given;
        let mut packet = Packet::new(at, at, number.to_le_bytes().to_vec(), None);
        packet.flow = u32::from(flow);
        packet.size = [40, 576, 1500, 1500, 9000, 1200, 100, 28][usize::from(how >> 5)];
        packet.ecn = Ecn::from_bits(how >> 3);
        packet.entered = self.now;
        self.given += 1;
        self.inside.insert(number, (packet.ecn, packet.flow, packet.size));
        let before = self.queue.waiting();
        let packet = Box::new(packet);
        if before.packets == 0 && number.is_multiple_of(2) {
            let sent = self.queue.pass(self.now, packet, &mut self.report);
            self.settle(sent);
            return;
        }
        self.queue.enqueue(self.now, packet, &mut self.report);
        self.settle(None);
        let after = self.queue.waiting();
        let fits = |now: u64, was: u64, bound: u64| now <= bound.max(was);
        assert!(fits(after.packets, before.packets, self.bound.packets), "{}: {after:?} wait", self.name);
        assert!(fits(after.bytes, before.bytes, self.bound.bytes), "{}: {after:?} wait", self.name);
    }

    fn take(&mut self) {
        if self.queue.waiting().packets == 0 {
            return;
        }
        let sent = self.queue.dequeue(self.now, &mut self.report);
        let idle = sent.is_none();
        self.settle(sent);
        assert!(
            !idle || self.queue.waiting().packets == 0,
            "{}: something waits and nothing comes",
            self.name
        );
    }

    /// Checks the packets that left the queue and those in it.
    fn settle(&mut self, sent: Option<Box<Packet>>) {
        let mut marks = 0;
        let dropped: Vec<Box<Packet>> = self.report.dropped.drain(..).collect();
        let leaving =
            dropped.into_iter().map(|packet| (packet, false)).chain(sent.map(|packet| (packet, true)));
        for (packet, sent) in leaving {
            let bytes = packet.bytes.first_chunk::<8>().copied().unwrap_or_default();
            let number = usize::from_le_bytes(bytes);
            let Some((ecn, flow, size)) = self.inside.remove(&number) else {
                panic!("{}: packet {number} was not in it", self.name)
            };
            assert_eq!((flow, size), (packet.flow, packet.size), "{}: altered", self.name);
            assert!(packet.ecn == ecn || packet.ecn == Ecn::Ce && ecn.is_capable(), "{}: marked", self.name);
            marks += u64::from(packet.ecn != ecn);
            // Within a flow and a kind no packet overtakes another.
            let first = self.inside.iter().find(|(_, other)| **other == (ecn, flow, size));
            assert!(
                !sent || first.is_none_or(|(first, _)| *first > number),
                "{}: {number} overtook",
                self.name
            );
            self.outcome.push((number, packet.ecn, sent));
        }
        // Every mark was reported. Packets whose marks were reported may still wait, and some came with the mark.
        self.marked += marks;
        assert!(self.marked <= self.report.marked, "{}: a mark is not reported", self.name);
        let mut count = Count::default();
        self.inside.values().for_each(|(_, _, size)| count.add(*size));
        assert_eq!(self.queue.waiting(), count, "{}: the count is wrong", self.name);
        let mut shown = Count::default();
        self.queue.each(&mut |packet| shown.add(packet.size));
        assert_eq!(shown, count, "{}: what waits is not shown", self.name);
        assert!(!self.report.overflow, "{}: so few packets do not overflow", self.name);
        self.queue.check();
    }
}

/// The number of packets sent over each rate.
const PACKETS: u32 = 200;

/// A text as the file of a rate, `trace` or `series`, over which packets are sent. Returns when they arrived, or `None` if it is
/// not such a file.
///
/// # Panics
/// If there is no such kind of file, an error has more than one line, time goes backwards, or more is sent than the rate says
/// that it can carry.
pub fn rates(kind: &str, text: &str) -> Option<Vec<Time>> {
    let file = File { path: "the-file".to_owned(), text: text.into() };
    let circle = text.len().is_multiple_of(2);
    let row = rate::RATES.iter().find(|row| row.name == kind).expect("a kind of file");
    let given = [("file", Value::File(file)), ("circle", Value::Flag(circle))];
    let given =
        given.into_iter().filter(|(name, _)| row.parameters.iter().any(|option| option.name == *name));
    let given: Vec<(&str, Value)> = given.collect();
    let arguments =
        Arguments::filled(row.parameters, &given, &crate::rooms()).expect("all others have defaults");
    let mut server = match rate::build(kind, &arguments, Generator::new(1, "rate")) {
        Ok(server) => server,
        Err(error) => {
            let said = error.to_string();
            assert!(!matches!(error, rate::RateError::Unknown(_)), "{said}");
            assert!(!said.chars().any(char::is_control) && said.len() < 4_000, "{said:?}");
            return None;
        }
    };
    let mean = server.mean_rate().expect("a file limits the rate");
    assert!(server.period().is_none_or(|period| period > Duration::ZERO), "a round without a duration");
    let (mut times, mut at, mut sent) = (Vec::new(), Time::ZERO, 0u64);
    for number in 0..PACKETS {
        let size = [40, 1500, 9000, 1][number as usize % 4];
        let start = server.ready(at);
        assert!(start >= at, "{start} is before {at}");
        if start == Time::NEVER {
            break;
        }
        let end = server.serve(start, size);
        assert!(end >= start, "{end} is before {start}");
        if end == Time::NEVER {
            break;
        }
        sent += u64::from(size);
        times.push(end);
        // Now and then the link is idle.
        at = if number % 16 == 15 { end + Duration::from_millis(7) } else { end };
    }
    if let Some(last) = times.last() {
        // An opportunity at the very end counts, which is at most one packet of the maximum size beside
        // rounding.
        let could =
            server.capacity(Time::ZERO, *last + Duration::from_nanos(1)).map_or(0, |size| size.as_bytes());
        assert!(sent <= could.saturating_add(9000), "{sent} bytes were sent by {last}, of {could} at {mean}");
    }
    Some(times)
}

/// Reads a text as a jitter and as a loss over time. Returns which of them it is.
///
/// # Panics
/// If an error has more than one line, or if there are notes about a file that is neither.
pub fn courses(text: &str) -> [bool; 2] {
    let file = || Value::File(File { path: "the-file".to_owned(), text: text.into() });
    let arguments = || Arguments(vec![("file", file())]);
    let told = |error: BuildError| {
        let said = error.to_string();
        assert!(!said.chars().any(char::is_control) && said.len() < 4_000, "{said:?}");
    };
    let stream = || Generator::new(1, "courses");
    let jitter = crate::jitter::build("trace", &arguments(), stream()).map_err(told).is_ok();
    let loss = crate::loss::build("trace", &arguments(), stream()).map_err(told).is_ok();
    for (room, is_read) in [("jitters", jitter), ("losses", loss)] {
        let notes = crate::notes(&Component { room, name: "trace", arguments: arguments() });
        assert!(is_read || notes.is_empty(), "{notes:?}");
        assert!(notes.iter().all(|note| !note.chars().any(char::is_control)), "{notes:?}");
    }
    [jitter, loss]
}

/// Reads the file of a series; returns it, or `None` if it is refused.
///
/// # Panics
/// If an error has more than one line, the text that is written for a series is not that series, or a value is out of range.
pub fn series(text: &str) -> Option<Series> {
    let read = match Series::parse(text) {
        Ok(read) => read,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.chars().any(char::is_control) && said.len() < 4_000, "{said:?}");
            return None;
        }
    };
    assert_eq!(Series::parse(&read.to_csv()).as_ref(), Ok(&read), "written and read again");
    assert!(read.times().is_sorted() && read.alive() <= read.duration());
    assert!(read.losses().is_none_or(|losses| losses.iter().all(|loss| (0.0..=1.0).contains(loss))));
    let longest = series::LONGEST_DELAY;
    assert!(read.delays().is_none_or(|delays| delays.iter().all(|delay| *delay <= longest)));
    Some(read)
}
