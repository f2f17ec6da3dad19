//! An application: a client that asks for the next answer some time after it has the last.

use traffic::{Ends, Profile};
use transport::{Application, Data, Event, Progress, Report, Tally, Transport};
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Time};
use wire::{Direction, StreamId};

/// How scenarios name it, and what they can say: `application = { type = "asking", count = 5, think = "1 s" }`.
pub(crate) const ROW: Row<Profile> = Row {
    name: "asking",
    about: "an example: questions one after the other on one stream",
    parameters: &[
        Parameter {
            name: "count",
            kind: Kind::Integer(1, 1_000_000),
            default: Default::Is("10"),
            about: "questions",
        },
        Parameter {
            name: "think",
            kind: Kind::Duration,
            default: Default::Is("\"100 ms\""),
            about: "time from an answer to the next question",
        },
    ],
    build: Profile {
        // One stream is one TCP connection.
        over_tcp: Some(&|_| Ok(1)),
        ..Profile::of(&|arguments, _random| build(arguments))
    },
};

const QUESTION: u64 = 300;
const ANSWER: u64 = 20_000;

fn build(arguments: &Arguments) -> Ends {
    let client = Client {
        left: arguments.integer("count"),
        think: arguments.duration("think"),
        stream: None,
        next: None,
        asked: Time::ZERO,
        missing: 0,
        tally: Tally::of("requests", false),
        progress: Progress { receives: true, ..Progress::default() },
    };
    Ends { client: Box::new(client), server: Box::new(Server::default()) }
}

struct Client {
    /// The questions that were not asked yet.
    left: u64,
    think: Duration,
    stream: Option<StreamId>,
    /// When the next one is asked.
    next: Option<Time>,
    /// When the last one was asked.
    asked: Time,
    /// The bytes that are missing of its answer.
    missing: u64,
    tally: Tally,
    progress: Progress,
}

impl Client {
    fn ask(&mut self, now: Time, transport: &mut dyn Transport) {
        self.next = None;
        let Some(stream) = self.stream else { return };
        let asked = transport.write(stream, Data::Virtual(QUESTION));
        assert_eq!(asked, Ok(QUESTION), "an empty stream has room for a question");
        (self.left, self.asked, self.missing) = (self.left - 1, now, ANSWER);
        self.tally.started += 1;
    }
}

impl Application for Client {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => {
                self.stream = transport.open(Direction::Bidirectional).ok();
                self.ask(now, transport);
            }
            Event::Readable(stream) => {
                let Ok(read) = transport.skip(stream, self.missing) else { return };
                self.progress.note(now, read.bytes);
                self.missing -= read.bytes;
                if self.missing > 0 || read.bytes == 0 {
                    return;
                }
                self.tally.add(now.since(self.asked), None);
                if self.left > 0 {
                    self.next = Some(now + self.think);
                } else {
                    self.progress.finished_at = Some(now);
                    transport.close(0, "done");
                }
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.next.is_some_and(|at| at <= now) {
            self.ask(now, transport);
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

/// It answers each question once it has all of it.
#[derive(Default)]
struct Server {
    /// The bytes of a question that is not complete.
    got: u64,
    /// The bytes of answers that are still to be written.
    rest: u64,
}

impl Application for Server {
    fn on_event(&mut self, _now: Time, event: &Event, transport: &mut dyn Transport) {
        let (Event::Readable(stream) | Event::Writable(stream)) = *event else { return };
        if let Ok(read) = transport.skip(stream, u64::MAX) {
            self.got += read.bytes;
            self.rest += self.got / QUESTION * ANSWER;
            self.got %= QUESTION;
        }
        // An error means that there is no room now, or that the client is gone.
        while self.rest > 0
            && let Ok(taken) = transport.write(stream, Data::Virtual(self.rest))
        {
            self.rest -= taken;
        }
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}
