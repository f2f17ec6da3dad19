//! A UDP relay in the middle of a real path, built from the elements of the simulated network: `quiclab relay`.
//!
//! Clients send to one of its addresses. It forwards to a server what the network of a scenario lets through,
//! at the time of its arrival there: links with rate, delay, queue, loss, corruption, duplication and
//! reordering, with the random streams of a run of the scenario with this seed. The clock of the network is the
//! monotonic one. A packet enters it at the time at which the system received it from the sender, so that a
//! late wake-up of the relay has no effect unless it exceeds the packet's own delay. The lateness of sent
//! packets is measured.
//!
//! Each client address has its own address towards the server, as behind a NAT, and can be moved to another
//! port or another loopback address at a given time. ECN fields are carried in both directions (RFC 3168).
//!
//! It has one thread, and does not allocate per packet once warm.

mod capture;
mod path;
mod script;
mod sessions;
mod stats;

pub use stats::{Lateness, RelayStats};

use crate::Clock;
use crate::socket::{Inbox, Socket, Train};
use capture::{Captures, Seen};
use lab::Scenario;
use path::{Crossing, Path, Way};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use script::Script;
use sessions::Sessions;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use units::{Duration, Time};
use wire::Ecn;

/// An address of the relay, and the server behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The address that clients send to.
    pub listen: SocketAddr,
    /// The address of the server.
    pub to: SocketAddr,
}

/// A change of a client's address towards the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebind {
    /// Another port.
    Port,
    /// Another port of another loopback address, from 127.0.0.2 on. Only if the server is at a loopback address
    /// of IPv4.
    Address,
}

/// The options of a relay.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// The addresses, at least one. Several represent several addresses of one server, such as a preferred
    /// address.
    pub pairs: Vec<Pair>,
    /// The network between client and server of the scenario's first flow. Its flows have no other effect.
    pub scenario: Scenario,
    /// The seed of the network's random streams.
    pub seed: u64,
    /// Periods in which all arriving packets are lost, with start and end counted from the first packet of a
    /// client.
    pub blackouts: Vec<(Duration, Duration)>,
    /// The times of clients' moves, counted likewise.
    pub rebinds: Vec<(Duration, Rebind)>,
    /// A folder for two captures: `client.pcapng` as seen at the client, `server.pcapng` at the server.
    pub capture: Option<PathBuf>,
}

/// The reason why a relay cannot be created, or cannot continue.
#[derive(Debug)]
pub enum RelayError {
    /// The network cannot be built.
    Scenario(lab::RunError),
    /// The network cannot continue.
    Network(network::RunError),
    /// A socket or a file failed.
    System {
        /// The failed action.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
}

impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelayError::Scenario(error) => error.fmt(f),
            RelayError::Network(error) => error.fmt(f),
            RelayError::System { what, error } => write!(f, "{what}: {error}"),
        }
    }
}
impl std::error::Error for RelayError {}
impl From<lab::RunError> for RelayError {
    fn from(error: lab::RunError) -> RelayError {
        RelayError::Scenario(error)
    }
}
impl From<network::RunError> for RelayError {
    fn from(error: network::RunError) -> RelayError {
        RelayError::Network(error)
    }
}

fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> RelayError {
    let what = what.into();
    |error| RelayError::System { what, error }
}

/// A relay with open sockets. It only works during [`Relay::run_for`].
pub struct Relay {
    clock: Clock,
    pairs: Vec<Pair>,
    doors: Vec<Socket>,
    sessions: Sessions,
    path: Path,
    script: Script,
    captures: Option<Captures>,
    inbox: Inbox,
    /// Received datagrams that have not entered the network; empty between rounds.
    coming: Coming,
    /// Datagrams that have left the network and were not sent; empty between rounds.
    leaving: Vec<Crossing>,
    stats: RelayStats,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("pairs", &self.pairs)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

/// The datagrams of one round, with their bytes in one buffer.
#[derive(Debug, Default)]
struct Coming {
    datagrams: Vec<(Time, Origin, wire::Ecn, std::ops::Range<usize>)>,
    bytes: Vec<u8>,
}

/// The origin of a datagram.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// At the address of this pair, from this client, with this local address.
    Client(usize, SocketAddr, SocketAddr),
    /// At the address of this session, from this server.
    Server(u32, SocketAddr),
    /// At an address that the client has left.
    Nowhere,
}

impl Coming {
    fn add(&mut self, at: Time, origin: Origin, ecn: Ecn, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.datagrams.push((at, origin, ecn, start..self.bytes.len()));
    }
}

impl Relay {
    /// Opens the sockets of a relay.
    ///
    /// # Errors
    /// If an address is unavailable, a file cannot be written, or the network cannot be built.
    pub fn new(options: &RelayOptions) -> Result<Relay, RelayError> {
        let clock = Clock::start();
        let mut pairs = options.pairs.clone();
        let mut doors = Vec::new();
        for pair in &mut pairs {
            let door = Socket::bind_with_times(pair.listen)
                .map_err(failed(format!("listening on {}", pair.listen)))?;
            pair.listen = door.local();
            doors.push(door);
        }
        let captures = match &options.capture {
            None => None,
            Some(folder) => Some(
                Captures::new(folder, clock.date_of_zero())
                    .map_err(failed(format!("writing to {}", folder.display())))?,
            ),
        };
        Ok(Relay {
            clock,
            pairs,
            doors,
            sessions: Sessions::default(),
            path: Path::new(&options.scenario, options.seed)?,
            script: Script::new(&options.blackouts, &options.rebinds),
            captures,
            inbox: Inbox::new(),
            coming: Coming::default(),
            leaving: Vec::new(),
            stats: RelayStats::default(),
        })
    }

    /// The addresses and servers; a port given as 0 is the one that the system has chosen.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The counters.
    pub fn stats(&self) -> RelayStats {
        RelayStats { links: self.path.links(), ..self.stats.clone() }
    }

    /// Relays for this time.
    ///
    /// # Errors
    /// If a socket or a capture fails, or a link of the network overflows.
    pub fn run_for(&mut self, time: Duration) -> Result<(), RelayError> {
        let end = self.clock.now() + time;
        loop {
            let now = self.clock.now();
            self.path.run(now)?;
            self.leave()?;
            if let Some(rebind) = self.script.due(now) {
                self.sessions.rebind(rebind).map_err(failed("moving a client"))?;
                self.stats.rebinds += 1;
            }
            if now >= end {
                return Ok(());
            }
            let next = [self.path.next_at(), self.script.next_at()].into_iter().flatten().min();
            self.wait(next.map_or(end, |next| next.min(end)))?;
            self.enter()?;
        }
    }

    /// Ends the relay and completes the captures.
    ///
    /// # Errors
    /// If a capture cannot be written.
    pub fn finish(mut self) -> Result<RelayStats, RelayError> {
        if let Some(captures) = self.captures.take() {
            captures.finish().map_err(failed("writing a capture"))?;
        }
        Ok(self.stats())
    }

    /// Waits for a datagram or until this time, and receives datagrams.
    fn wait(&mut self, until: Time) -> Result<(), RelayError> {
        let left = until.since(self.clock.now()).as_nanos();
        let timeout = Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let readable = PollFlags::IN;
        let mut watched: Vec<(&Socket, Watched)> = Vec::new();
        watched.extend(self.doors.iter().enumerate().map(|(pair, door)| (door, Watched::Door(pair))));
        for (number, session) in self.sessions.iter() {
            watched.push((&session.outside, Watched::Outside(number)));
            watched.extend(session.left.iter().map(|left| (left, Watched::Left)));
        }
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(socket, _)| PollFd::new(*socket, readable)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed("waiting")(error.into())),
        }
        // One reading for all, so that datagrams stay in the order in which the system received them.
        let reading = self.clock.reading();
        let ready = polled.iter().map(|polled| !polled.revents().is_empty()).collect::<Vec<bool>>();
        for ((socket, which), _) in watched.iter().zip(ready).filter(|(_, ready)| *ready) {
            let all = match self.inbox.receive(socket) {
                Ok(all) => all,
                Err(error) if is_nothing(&error) => continue,
                Err(error) => return Err(failed("receiving")(error)),
            };
            for arrived in all {
                let origin = match *which {
                    Watched::Door(pair) => Origin::Client(pair, arrived.remote, arrived.local),
                    Watched::Outside(number) => Origin::Server(number, arrived.remote),
                    Watched::Left => Origin::Nowhere,
                };
                let at = reading.time_at(arrived.date);
                for bytes in arrived.datagrams {
                    self.coming.add(at, origin, arrived.ecn, bytes);
                }
            }
        }
        Ok(())
    }

    /// Puts received datagrams into the network, in the order of their reception by the system.
    fn enter(&mut self) -> Result<(), RelayError> {
        let mut coming = std::mem::take(&mut self.coming);
        let now = self.clock.now();
        coming.datagrams.sort_by_key(|(at, ..)| *at);
        for (at, origin, ecn, range) in coming.datagrams.drain(..) {
            self.stats.waiting.note(now.since(at));
            let bytes = &coming.bytes[range];
            // The network cannot go back in time.
            let at = at.max(self.path.now());
            match origin {
                Origin::Client(pair, client, facing) => {
                    self.of_client((pair, client, facing), at, ecn, bytes)?;
                }
                Origin::Server(number, server) => self.of_server(number, server, at, ecn, bytes)?,
                Origin::Nowhere => self.stats.astray += 1,
            }
        }
        coming.bytes.clear();
        self.coming = coming;
        Ok(())
    }

    fn of_client(
        &mut self,
        (index, client, facing): (usize, SocketAddr, SocketAddr),
        at: Time,
        ecn: wire::Ecn,
        bytes: &[u8],
    ) -> Result<(), RelayError> {
        let pair = &self.pairs[index];
        let number =
            self.sessions.of(client, (index, pair), facing, at).map_err(failed("opening a socket"))?;
        self.stats.from_clients += 1;
        self.stats.clients = self.stats.clients.max(u64::from(number) + 1);
        self.script.hear(at);
        if let Some(captures) = &mut self.captures {
            let seen = Seen { at, ends: (client, facing), ecn, damage: None, bytes };
            captures.at_client(&seen).map_err(failed("writing a capture"))?;
        }
        if self.script.is_dark(at) {
            self.stats.blacked_out += 1;
            return Ok(());
        }
        self.path.run(at)?;
        self.path.enter(Way::ToServer, number, ecn, bytes, client.is_ipv6());
        Ok(())
    }

    fn of_server(
        &mut self,
        number: u32,
        server: SocketAddr,
        at: Time,
        ecn: wire::Ecn,
        bytes: &[u8],
    ) -> Result<(), RelayError> {
        let session = self.sessions.get(number).filter(|session| self.pairs[session.pair].to == server);
        let Some(session) = session else {
            self.stats.astray += 1;
            return Ok(());
        };
        self.stats.from_servers += 1;
        if let Some(captures) = &mut self.captures {
            let ends = (server, session.outside.local());
            let seen = Seen { at, ends, ecn, damage: None, bytes };
            captures.at_server(&seen).map_err(failed("writing a capture"))?;
        }
        if self.script.is_dark(at) {
            self.stats.blacked_out += 1;
            return Ok(());
        }
        self.path.run(at)?;
        self.path.enter(Way::ToClient, number, ecn, bytes, server.is_ipv6());
        Ok(())
    }

    /// Sends the datagrams that have left the network.
    fn leave(&mut self) -> Result<(), RelayError> {
        let mut leaving = std::mem::take(&mut self.leaving);
        self.path.take(&mut leaving);
        for packet in leaving.drain(..) {
            self.send(&packet)?;
            self.path.recycle(packet.bytes);
        }
        self.leaving = leaving;
        Ok(())
    }

    fn send(&mut self, packet: &Crossing) -> Result<(), RelayError> {
        let Crossing { way, session, at: due, ecn, damage, bytes } = packet;
        // The session was removed: there were too many.
        let Some(session) = self.sessions.get(*session) else {
            self.stats.astray += 1;
            return Ok(());
        };
        let at = self.clock.now();
        let seen = |ends| Seen { at, ends, ecn: *ecn, damage: *damage, bytes };
        let sent = match way {
            Way::ToServer => {
                let server = self.pairs[session.pair].to;
                if let Some(captures) = &mut self.captures {
                    let seen = seen((session.outside.local(), server));
                    captures.at_server(&seen).map_err(failed("writing a capture"))?;
                }
                self.stats.to_servers += 1;
                session.outside.send(&Train::single(session.outside.local(), server, *ecn, bytes))
            }
            Way::ToClient => {
                if let Some(captures) = &mut self.captures {
                    let seen = seen((session.facing, session.client));
                    captures.at_client(&seen).map_err(failed("writing a capture"))?;
                }
                self.stats.to_clients += 1;
                self.doors[session.pair].send(&Train::single(session.facing, session.client, *ecn, bytes))
            }
        };
        // An interface that is full, or whose MTU is too small, loses the datagram, like that of any router.
        if sent.is_err() {
            self.stats.not_sent += 1;
        }
        self.stats.lateness.note(self.clock.now().since(*due));
        Ok(())
    }
}

/// Whether nothing was received: an ICMP error about a closed port is nothing to a router, either.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::Interrupted)
}

/// The owner of a polled socket.
#[derive(Debug, Clone, Copy)]
enum Watched {
    Door(usize),
    Outside(u32),
    Left,
}

#[cfg(test)]
mod tests;
