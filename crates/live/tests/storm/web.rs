//! The applications of connections: web clients, honest or hostile, and a file server or a hostile one.

use crate::allocator::inside;
use crate::applications::{Applications, End};
use crate::hostile::Hostile;
use crate::site::{Expected, request, site};
use crate::world::MOST_ROUNDS;
use live::{Limits, Responder};
use quic::{Config, Connection, Handle, QuicTransport};
use random::Generator;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use transport::Application;
use units::Time;
use web::WebClient;
use web::{Fetched, Head, Sink, Take};
use wire::Side;

/// The memory of a message in flight: its fields, what is read of a file, and a client's buffer.
const PER_MESSAGE: i64 = 128 * 1024;

/// The party that breaks the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Villain {
    Nobody,
    /// Some of the clients.
    Clients,
    Server,
    /// An attacker with the keys: what an end receives may not be from its peer.
    Insider,
}

enum Player {
    Honest(Box<WebClient>),
    Hostile(Box<Hostile>),
}

/// The applications of all connections.
pub(crate) struct Web {
    random: Generator,
    villain: Villain,
    is_hq: bool,
    /// Whether each client is hostile.
    hostile: [bool; 3],
    server: Option<Responder>,
    players: BTreeMap<End, Player>,
}

/// Compares received data with the files.
struct Compared {
    expected: Vec<Expected>,
    strict: bool,
}

impl Sink for Compared {
    fn begin(&mut self, _request: usize, _head: &Head) -> io::Result<Take> {
        Ok(Take::Bytes)
    }
    fn bytes(&mut self, request: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(expected) = self.expected[request].filter(|_| self.strict) {
            let at = offset as usize;
            assert!(
                expected.get(at..at + bytes.len()) == Some(bytes),
                "request {request} at {offset}: wrong bytes"
            );
        }
        Ok(())
    }
    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()> {
        if self.strict && fetched.is_complete() {
            match self.expected[request] {
                Some(bytes) => {
                    assert!(
                        fetched.status.is_none_or(|status| status == 200),
                        "request {request}: {fetched:?}"
                    );
                    assert_eq!(fetched.bytes, bytes.len() as u64, "request {request}: {fetched:?}");
                }
                None => assert_eq!(fetched.status, Some(404), "request {request}: {fetched:?}"),
            }
        }
        Ok(())
    }
}

impl Web {
    pub(crate) fn new(seed: u64, villain: Villain, is_hq: bool) -> Web {
        let root = &site().root;
        let mut random = Generator::new(seed, "web");
        // The first client is hostile, and perhaps others.
        let hostile =
            [true, random.chance(0.5), random.chance(0.5)].map(|is| is && villain == Villain::Clients);
        let server =
            (villain != Villain::Server).then(|| inside(|| Responder::new(root, &Limits::of(1000)).unwrap()));
        Web { random, villain, is_hq, hostile, server, players: BTreeMap::new() }
    }

    fn player(&mut self, end: End) -> &mut Player {
        if !self.players.contains_key(&end) {
            let player = match end {
                End::Client(number) if !self.hostile[number / MOST_ROUNDS] => self.honest(),
                End::Client(_) => self.hostile(Side::Client),
                End::Server(_) => self.hostile(Side::Server),
            };
            self.players.insert(end, player);
        }
        self.players.get_mut(&end).expect("it is there")
    }

    fn honest(&mut self) -> Player {
        let count = 1 + self.random.below(12);
        let asked = (0..count).map(|_| request(&mut self.random, self.is_hq));
        let (requests, expected) = asked.unzip();
        let concurrency = 1 + self.random.below(12) as usize;
        let sink = Box::new(Compared { expected, strict: self.is_strict() });
        Player::Honest(Box::new(WebClient::new("server.example", requests, concurrency, sink)))
    }

    fn hostile(&mut self, side: Side) -> Player {
        Player::Hostile(Box::new(Hostile::new(&mut self.random, side, self.is_hq)))
    }
}

impl Applications for Web {
    fn attend(&mut self, now: Time, end: End, handle: Handle, connection: &mut Connection) {
        inside(|| {
            if let (End::Server(_), Some(server)) = (end, &mut self.server) {
                server.attend(now, handle, connection);
                return;
            }
            // The draws of one action do not depend on those of others.
            let mut random = self.random.fork("act");
            match self.player(end) {
                Player::Honest(client) => {
                    while let Some(event) = connection.poll_event() {
                        client.on_event(
                            now,
                            &event,
                            &mut QuicTransport { connection: &mut *connection, now },
                        );
                    }
                }
                Player::Hostile(hostile) => hostile.attend(&mut random, now, connection),
            }
        });
    }

    fn is_done(&self, client: usize, _accepted: usize) -> bool {
        match self.players.get(&End::Client(client)) {
            Some(Player::Honest(web)) => web.is_over() && web.results().iter().all(Fetched::is_complete),
            Some(Player::Hostile(hostile)) => hostile.is_over(),
            None => false,
        }
    }

    fn is_strict(&self) -> bool {
        matches!(self.villain, Villain::Nobody | Villain::Clients)
    }

    fn counts(&self, client: usize) -> bool {
        !self.hostile[client / MOST_ROUNDS]
    }

    fn most_memory(&self, config: &Config) -> i64 {
        (config.initial_max_streams_bidi as i64 + 2) * PER_MESSAGE
    }

    fn end(self) {
        inside(|| drop(self));
    }

    fn check(&self) {
        // A closed connection is forgotten; draining connections may exist in addition to open ones.
        if let Some(server) = &self.server {
            let most = 2 * crate::world::MAX_CONNECTIONS;
            assert!(server.connections() <= most, "{} connections have something", server.connections());
        }
    }

    fn describe(&self, client: usize, _accepted: Option<usize>) -> String {
        let mut text = String::new();
        if let Some(Player::Honest(web)) = self.players.get(&End::Client(client)) {
            for (at, fetched) in
                web.results().iter().enumerate().filter(|(_, fetched)| !fetched.is_complete())
            {
                let _ = writeln!(text, "  request {at}: {fetched:?}");
            }
        }
        text
    }
}
