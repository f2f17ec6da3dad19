//! A program that is server and client at once: a cache between a client and an origin.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use traffic::{Branch, Ends, Many, Profile};
use transport::{Application, Data, Event, Opening, Owned, Program, Progress, Report, Tally, Transport};
use units::parameter::{Default, Kind, Parameter, Row};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

const QUESTION: u64 = 200;
const ANSWER: u64 = 40_000;
/// Questions of the client, which differ in nothing.
const QUESTIONS: u64 = 3;
/// The connections of the cache: from the client, and to the origin.
const CLIENT: usize = 0;
const ORIGIN: usize = 1;

/// Writes all of it: the transports of this test have room.
fn send(stream: StreamId, bytes: u64, transport: &mut dyn Transport) {
    assert_eq!(transport.write(stream, Data::Virtual(bytes)), Ok(bytes));
    transport.finish(stream).unwrap();
}

/// Whether all of a stream has arrived, and how many bytes now.
fn all(stream: StreamId, transport: &mut dyn Transport) -> (bool, u64) {
    transport.skip(stream, u64::MAX).map_or((false, 0), |read| (read.finished, read.bytes))
}

/// The client asks the next question a second after the last answer.
struct Asker {
    next: Option<Time>,
    asked: Time,
    tally: Tally,
    progress: Progress,
}

impl Application for Asker {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => self.next = Some(now),
            Event::Readable(stream) => {
                let (finished, bytes) = all(stream, transport);
                self.progress.note(now, bytes);
                if !finished {
                    return;
                }
                self.tally.add(now.since(self.asked), None);
                self.next = Some(now + Duration::from_secs(1)).filter(|_| self.tally.done < QUESTIONS);
                if self.next.is_none() {
                    self.progress.finished_at = Some(now);
                    transport.close(0, "done");
                }
            }
            _ => {}
        }
    }
    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.next.take_if(|at| *at <= now).is_some() {
            let stream = transport.open(Direction::Bidirectional).unwrap();
            send(stream, QUESTION, transport);
            self.asked = now;
            self.tally.started += 1;
        }
    }
    fn wake_at(&self) -> Option<Time> {
        self.next
    }
    fn progress(&self) -> Progress {
        self.progress
    }
    fn report(&mut self, _now: Time) -> Report {
        Report { progress: self.progress, tally: Some(self.tally.clone()), ..Report::default() }
    }
}

struct Origin;

impl Application for Origin {
    fn on_event(&mut self, _now: Time, event: &Event, transport: &mut dyn Transport) {
        if let Event::Readable(stream) = *event
            && all(stream, transport).0
        {
            send(stream, ANSWER, transport);
        }
    }
    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// It asks the origin once, when the client has asked first, and answers from what it has.
#[derive(Default)]
struct Cache {
    /// When the connection to the origin is opened.
    opens_at: Option<Time>,
    /// Whether it has the answer.
    has_answer: bool,
    /// The client's questions that were not answered.
    waiting: Vec<StreamId>,
    /// When each connection has something to do.
    due: BTreeMap<usize, Time>,
    client_is_gone: bool,
    /// What came from the origin.
    filled: Progress,
}

impl Cache {
    fn answer(&mut self, transport: &mut dyn Transport) {
        self.waiting.drain(..).for_each(|stream| send(stream, ANSWER, transport));
    }
}

impl Program for Cache {
    fn opening(&self, connection: usize) -> Opening {
        match self.opens_at {
            Some(at) if connection == ORIGIN => Opening::At(at),
            _ if self.client_is_gone => Opening::Never,
            _ => Opening::Undecided,
        }
    }
    fn on_open(&mut self, _now: Time, connection: usize) {
        assert_eq!(connection, ORIGIN, "of the other connection the cache is the server");
    }
    fn on_event(&mut self, now: Time, connection: usize, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Readable(stream) if connection == CLIENT => {
                if all(stream, transport).0 {
                    self.waiting.push(stream);
                    self.opens_at.get_or_insert(now);
                }
                if self.has_answer {
                    self.answer(transport);
                }
            }
            Event::Connected if connection == ORIGIN => {
                let stream = transport.open(Direction::Bidirectional).unwrap();
                send(stream, QUESTION, transport);
            }
            Event::Readable(stream) => {
                let (finished, bytes) = all(stream, transport);
                self.filled.note(now, bytes);
                if finished {
                    self.has_answer = true;
                    self.filled.finished_at = Some(now);
                    // The client is answered with its own transport at hand.
                    self.due.insert(CLIENT, now);
                }
            }
            Event::Ended if connection == CLIENT => {
                self.client_is_gone = true;
                self.due.insert(ORIGIN, now);
            }
            _ => {}
        }
    }
    fn on_wake(&mut self, _now: Time, connection: usize, transport: &mut dyn Transport) {
        if self.due.remove(&connection).is_some() {
            if connection == CLIENT {
                self.answer(transport);
            } else {
                transport.close(0, "no client");
            }
        }
    }
    fn wake_at(&self, connection: usize) -> Option<Time> {
        self.due.get(&connection).copied()
    }
    fn progress(&self, connection: usize) -> Progress {
        if connection == ORIGIN { Progress { receives: true, ..self.filled } } else { Progress::default() }
    }
    fn report(&mut self, _now: Time, connection: usize) -> Report {
        Report { progress: Program::progress(self, connection), ..Report::default() }
    }
    fn no_error(&self, _connection: usize) -> u64 {
        0
    }
}

fn ends() -> Vec<Ends> {
    let asker = Asker {
        next: None,
        asked: Time::ZERO,
        tally: Tally::of("requests", false),
        progress: Progress { receives: true, ..Progress::default() },
    };
    let mut owned = Owned::all(Cache::default(), 2).map(Box::new);
    let mut next = || owned.next().unwrap();
    vec![Ends { client: Box::new(asker), server: next() }, Ends { client: next(), server: Box::new(Origin) }]
}

const CACHED: Row<Profile> = Row {
    name: "cached",
    about: "a client that asks a cache",
    parameters: &[],
    build: Profile {
        over_tcp: Some(&|_| Ok(QUESTIONS as usize)),
        many: Some(Many {
            names: |_, branches| Ok(branches.iter().map(|_| vec![String::new()]).collect()),
            build: |_, _, _| ends(),
        }),
        ..Profile::of(&|_, _| ends().remove(0))
    },
};
const FILLS: Row<Profile> = Row {
    name: "fills",
    about: "the connection of a cache to its origin",
    parameters: &[Parameter {
        name: "of",
        kind: Kind::Text,
        default: Default::Required,
        about: "the flow of the client",
    }],
    build: Profile {
        over_tcp: Some(&|_| Ok(1)),
        branch: Some(Branch { of: |arguments| arguments.text("of"), from: Side::Server }),
        ..Profile::of(&|_, _| ends().remove(1))
    },
};

const TEXT: &str = r#"
duration = "20 s"
[[node]]
name = "client"
[[node]]
name = "cache"
[[node]]
name = "origin"
[[link]]
name = "near"
from = "cache"
to = "client"
both = { rate = "100 Mbit/s", delay = "5 ms" }
[[link]]
name = "far"
from = "origin"
to = "cache"
both = { rate = "100 Mbit/s", delay = "100 ms" }
[[flow]]
name = "get"
client = "client"
server = "cache"
application = "cached"
[[flow]]
name = "fill"
client = "cache"
server = "origin"
PROTOCOL
application = { type = "fills", of = "get" }
"#;

/// The summary of a run, or the error of the scenario.
fn summary(text: &str) -> Result<String, String> {
    traffic::plug(CACHED).and_then(|()| traffic::plug(FILLS)).unwrap();
    let scenario =
        lab::Scenario::parse(text, Path::new("cache.toml"), &[]).map_err(|error| error.to_string())?;
    let outcome = lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(()));
    Ok(outcome.unwrap().summary.to_string())
}

/// The numbers behind a key, one for each flow that has it as a number.
fn numbers(summary: &str, key: &str) -> Vec<f64> {
    let key = format!("\"{key}\": ");
    let (flows, _) = summary.split_once("\"links\"").unwrap();
    let rest = flows.split(&key).skip(1);
    rest.filter_map(|rest| rest.split([',', '\n']).next().unwrap().parse().ok()).collect()
}

#[test]
fn a_cache_asks_its_origin_once_over_any_protocol() {
    for protocol in ["", "protocol = \"tcp\""] {
        let summary = summary(&TEXT.replace("PROTOCOL", protocol)).unwrap();
        let delivered = numbers(&summary, "delivered_bytes");
        assert_eq!(delivered, [QUESTIONS as f64 * ANSWER as f64, ANSWER as f64], "{protocol}");
        assert_eq!(numbers(&summary, "completed"), [QUESTIONS as f64], "{protocol}");
        // The first answer waits for the handshake with the origin and for its answer, the others for the cache alone.
        let (first, others) = (numbers(&summary, "delay_max_ms")[0], numbers(&summary, "delay_p50_ms")[0]);
        assert!(first > 2.0 * 200.0 && others < 100.0, "{protocol}: {first} ms, then {others} ms");
        let begun = numbers(&summary, "start_s");
        assert!(begun.len() == 1 && begun[0] > 0.01, "the connection to the origin begins when it is needed");
    }
}

#[test]
fn it_stands_at_the_server_of_the_client() {
    let text = TEXT.replace("PROTOCOL", "").replace("client = \"cache\"", "client = \"client\"");
    let error = summary(&text).unwrap_err();
    assert!(error.contains("not the server of flow \"get\"; expected the same node"), "{error}");
}
