//! A client that loads pages from several servers, over a connection to each.

use crate::load::{Loaded, load};
use crate::{Fetched, Head, Order, Request, Sink, Take, WebClient, Windows};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use transport::{Application, Event, Opening, Program, Progress, Report, Transport};
use units::{Duration, Time};

/// A host of which pages have objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Its name, which requests carry.
    pub name: Rc<str>,
    /// The connection that carries its requests. Hosts that share one have a certificate in common (RFC 9113 section 9.1.1).
    pub connection: usize,
    /// The time to resolve its name, before the first request for it.
    pub dns: Duration,
}

/// What is known of a connection before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The maximum number of concurrent requests.
    pub concurrency: usize,
    /// The flow-control windows granted to an HTTP/2 server.
    pub windows: Windows,
}

/// Loads pages whose objects come from several hosts. The first object of the first page is of the first origin, whose
/// connection, the first one, opens at the start. Each other connection opens with the first request for one of its hosts, once
/// that name is resolved; it stays open until the last page is over. A connection that was lost is not opened again: what it
/// still had to carry fails.
pub struct PageLoader {
    requests: Vec<Request>,
    /// The origin of each request.
    from: Vec<usize>,
    order: Order,
    /// The number of requests that are not over.
    left: usize,
    origins: Vec<Origin>,
    /// When the name of each origin is resolved, if that has begun.
    resolved: Vec<Option<Time>>,
    connections: Vec<Connection>,
    /// Where the result of each request is: its number among the requests of its connection.
    places: Vec<Option<usize>>,
    /// The result of a request that was never sent.
    nothing: Fetched,
}

/// A connection, with the requests that it has carried.
struct Connection {
    client: WebClient,
    opening: Opening,
    state: State,
    /// The requests that it is to carry, with the time from which they may be sent.
    waiting: Vec<(Time, usize)>,
    /// The requests that its client was given, in this order.
    asked: Vec<usize>,
    news: News,
    /// The number of its requests that are not complete.
    incomplete: usize,
    /// When its last request was complete.
    completed_at: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not opened.
    Closed,
    Open,
    /// Open, and no more requests will follow.
    Closing,
    Ended,
}

impl Connection {
    fn is_live(&self) -> bool {
        matches!(self.state, State::Open | State::Closing)
    }

    /// Notes that a request is over, successful or not.
    fn note_over(&mut self, now: Time, request: usize) {
        if self.client.results()[request].is_complete() {
            debug_assert!(self.incomplete > 0, "a request is complete once");
            self.incomplete -= 1;
            if self.incomplete == 0 {
                self.completed_at = Some(now);
            }
        }
    }
}

impl PageLoader {
    /// A loader of these requests, each with its origin, over these connections.
    ///
    /// # Panics
    /// If a request has no origin, an origin no connection, or if the first connection is not that of the first origin.
    pub fn new(
        requests: Vec<Request>,
        order: Order,
        from: Vec<usize>,
        origins: Vec<Origin>,
        ways: Vec<Way>,
    ) -> PageLoader {
        assert_eq!(requests.len(), from.len(), "each request has an origin");
        assert_eq!(origins[0].connection, 0, "the first connection is that of the first origin");
        let connection = |(number, way): (usize, Way)| {
            let name = origins.iter().find(|origin| origin.connection == number);
            let news = News::default();
            let name = name.map_or("", |origin| &origin.name);
            let client = WebClient::session(name, way.concurrency, Box::new(news.clone()));
            Connection {
                client: client.with_windows(way.windows),
                opening: Opening::Undecided,
                state: State::Closed,
                waiting: Vec::new(),
                asked: Vec::new(),
                news,
                incomplete: from.iter().filter(|origin| origins[**origin].connection == number).count(),
                completed_at: None,
            }
        };
        let mut connections: Vec<Connection> = ways.into_iter().enumerate().map(connection).collect();
        connections[0].opening = Opening::After(origins[0].dns);
        PageLoader {
            left: requests.len(),
            places: vec![None; requests.len()],
            resolved: vec![None; origins.len()],
            requests,
            from,
            order,
            origins,
            connections,
            nothing: Fetched::default(),
        }
    }

    /// Sets the total size of the bodies that each connection carries, for [`Progress::total`].
    #[must_use]
    pub fn expecting(mut self, totals: &[u64]) -> PageLoader {
        assert_eq!(totals.len(), self.connections.len(), "each connection carries a number of bytes");
        for (connection, total) in self.connections.iter_mut().zip(totals) {
            connection.client.expect(*total);
        }
        self
    }

    /// The connection that watches over the times of the pages: the first one that is open.
    fn keeper(&self) -> Option<usize> {
        self.connections.iter().position(Connection::is_live)
    }

    /// Goes on with a connection after something has happened.
    fn turn(&mut self, now: Time, number: usize, transport: &mut dyn Transport) {
        self.order.wake(now);
        loop {
            let news = self.connections[number].news.take();
            let is_quiet = news.is_empty();
            for (request, is_over) in news {
                let index = self.connections[number].asked[request];
                if is_over {
                    self.connections[number].note_over(now, request);
                    self.over(now, index);
                } else {
                    self.order.on_response_started(now, index);
                }
            }
            self.place(now);
            if !self.ask(now, number, transport) && is_quiet {
                break;
            }
        }
        self.give_up_if_alone(now);
        if self.left == 0 {
            self.finish(now, number, transport);
        }
    }

    fn over(&mut self, now: Time, index: usize) {
        debug_assert!(self.left > 0, "a request is over once");
        self.left -= 1;
        self.order.on_over(now, index);
    }

    /// Hands the requests that have become known to their connections.
    fn place(&mut self, now: Time) {
        while let Some(index) = self.order.next() {
            self.order.take(index);
            let origin = self.from[index];
            let Origin { connection, dns, .. } = self.origins[origin];
            let ready_at = *self.resolved[origin].get_or_insert(now + dns);
            let connection = &mut self.connections[connection];
            match connection.state {
                State::Ended => {
                    self.over(now, index);
                    continue;
                }
                State::Closed if connection.opening == Opening::Undecided => {
                    connection.opening = Opening::At(ready_at.max(now));
                }
                _ => {}
            }
            connection.waiting.push((ready_at, index));
        }
    }

    /// Gives a client its next requests, the most urgent ones first. Returns whether there were any.
    fn ask(&mut self, now: Time, number: usize, transport: &mut dyn Transport) -> bool {
        let connection = &mut self.connections[number];
        let before = connection.asked.len();
        while connection.is_live() && connection.client.has_room() {
            let ready = connection.waiting.iter().enumerate().filter(|(_, (at, _))| *at <= now);
            let first = ready.min_by_key(|(_, (_, index))| (self.requests[*index].priority.urgency, *index));
            let Some((place, _)) = first else { break };
            let (_, index) = connection.waiting.remove(place);
            connection.asked.push(index);
            let request = connection.client.ask(now, self.requests[index].clone(), transport);
            debug_assert_eq!(request + 1, connection.asked.len(), "a client numbers its requests in turn");
            self.places[index] = Some(request);
        }
        connection.asked.len() > before
    }

    /// When a connection has ended: what it still had to carry fails.
    fn end(&mut self, now: Time, number: usize) {
        self.connections[number].state = State::Ended;
        for (_, index) in std::mem::take(&mut self.connections[number].waiting) {
            self.over(now, index);
        }
    }

    /// Without a connection, and without one that will open, the rest fails.
    fn give_up_if_alone(&mut self, now: Time) {
        let lives = |connection: &Connection| {
            connection.is_live()
                || connection.state == State::Closed
                    && matches!(connection.opening, Opening::At(_) | Opening::After(_))
        };
        if self.left == 0 || self.connections.iter().any(lives) {
            return;
        }
        // This includes requests of pages that were never started.
        self.order.start(now);
        while let Some(index) = self.order.give_up(now) {
            self.over(now, index);
        }
    }

    /// Closes a connection after the last page; those that were never needed are not opened.
    fn finish(&mut self, now: Time, number: usize, transport: &mut dyn Transport) {
        for connection in &mut self.connections {
            if connection.state == State::Closed {
                connection.opening = Opening::Never;
            }
        }
        let connection = &mut self.connections[number];
        if connection.state == State::Open {
            connection.state = State::Closing;
            connection.client.end(now, transport);
        }
    }
}

impl Program for PageLoader {
    fn opening(&self, connection: usize) -> Opening {
        self.connections[connection].opening
    }

    fn on_open(&mut self, now: Time, connection: usize) {
        self.connections[connection].state = State::Open;
        if connection == 0 {
            self.resolved[0] = Some(now);
        }
    }

    fn on_event(&mut self, now: Time, connection: usize, event: &Event, transport: &mut dyn Transport) {
        if connection == 0 && matches!(event, Event::EarlyDataReady | Event::Connected) {
            self.order.start(now);
        }
        self.connections[connection].client.on_event(now, event, transport);
        if *event == Event::Ended {
            self.end(now, connection);
        }
        self.turn(now, connection, transport);
    }

    fn on_wake(&mut self, now: Time, connection: usize, transport: &mut dyn Transport) {
        self.connections[connection].client.on_wake(now, transport);
        self.turn(now, connection, transport);
    }

    fn wake_at(&self, number: usize) -> Option<Time> {
        let connection = &self.connections[number];
        if !connection.is_live() {
            return None;
        }
        let is_due = self.left == 0 && connection.state == State::Open;
        let close = is_due.then_some(Time::ZERO);
        let ready =
            connection.waiting.iter().map(|(at, _)| *at).min().filter(|_| connection.client.has_room());
        let pages = self.order.wake_at().filter(|_| self.keeper() == Some(number));
        [close, ready, pages, connection.client.wake_at()].into_iter().flatten().min()
    }

    fn progress(&self, number: usize) -> Progress {
        let connection = &self.connections[number];
        // The end of its last request, not that of the last page.
        Progress { finished_at: connection.completed_at, ..connection.client.progress() }
    }

    fn report(&mut self, _: Time, number: usize) -> Report {
        let progress = self.progress(number);
        if number > 0 {
            return Report { progress, ..Report::default() };
        }
        let object = |index: usize| {
            let connection = self.origins[self.from[index]].connection;
            let results = self.connections[connection].client.results();
            Loaded {
                connection,
                urgency: self.requests[index].priority.urgency,
                result: self.places[index].map_or(&self.nothing, |place| &results[place]),
            }
        };
        let load = load(&self.order, (0..self.requests.len()).map(object));
        Report { progress, load: Some(load), ..Report::default() }
    }

    fn no_error(&self, connection: usize) -> u64 {
        self.connections[connection].client.no_error()
    }
}

/// A sink that tells which responses have started and which requests are over.
#[derive(Debug, Clone, Default)]
struct News(Rc<RefCell<Vec<(usize, bool)>>>);

impl News {
    /// The requests of which there are news, in order: a response has started, or with `true`, the request is over.
    fn take(&self) -> Vec<(usize, bool)> {
        std::mem::take(&mut *self.0.borrow_mut())
    }
}

impl Sink for News {
    fn begin(&mut self, request: usize, _: &Head) -> io::Result<Take> {
        self.0.borrow_mut().push((request, false));
        Ok(Take::Length)
    }
    fn bytes(&mut self, _: usize, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn end(&mut self, request: usize, _: &Fetched) -> io::Result<()> {
        self.0.borrow_mut().push((request, true));
        Ok(())
    }
}
