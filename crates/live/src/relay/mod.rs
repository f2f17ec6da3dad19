//! A UDP relay in the middle of a real path, made from the elements of the simulated network: `quiclab relay`.
//!
//! Clients send to one of its addresses, and it sends on to a server what the network of a scenario lets through, at the
//! time at which it would arrive there: links with rate, delay, queue, loss, corruption, duplication and reordering, with
//! the random streams that a run of the scenario with this seed has. The network's clock is the monotonic one; a packet
//! enters it at the time at which the system took it from the sender, so that it is of no consequence if the relay is
//! woken late, unless it is later than the packet's own way takes. How late packets leave is measured.
//!
//! Each client address has an address of its own towards the server, as behind a NAT, and can be moved to another port or
//! another loopback address at a given time. ECN fields are carried both ways (RFC 3168).
//!
//! One thread, no allocation per packet once warm.

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

/// An address of the relay, and the server that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Where clients send to.
    pub listen: SocketAddr,
    /// Where their packets go.
    pub to: SocketAddr,
}

/// How a client's address changes as the server sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebind {
    /// Another port.
    Port,
    /// Another port of another loopback address, 127.0.0.2 and on. Only where the server is at a loopback address of IPv4.
    Address,
}

/// What a relay is made from.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// Its addresses, one at least. Several stand for several addresses of one server, as a preferred address is.
    pub pairs: Vec<Pair>,
    /// The network: what is between client and server of its first flow. Of its flows nothing else counts.
    pub scenario: Scenario,
    /// The seed of the network's random streams.
    pub seed: u64,
    /// Times in which every packet is lost that comes, from and until, counted from the first packet of a client.
    pub blackouts: Vec<(Duration, Duration)>,
    /// When clients move, counted likewise.
    pub rebinds: Vec<(Duration, Rebind)>,
    /// A folder for two captures: `client.pcapng` as seen at the client, `server.pcapng` at the server.
    pub capture: Option<PathBuf>,
}

/// Why a relay cannot be made, or cannot go on.
#[derive(Debug)]
pub enum RelayError {
    /// The network cannot be built.
    Scenario(lab::RunError),
    /// The network cannot go on.
    Network(network::RunError),
    /// A socket or a file.
    System {
        /// What was done.
        what: String,
        /// What the system says.
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

/// A relay that stands ready. It does nothing but during [`Relay::run_for`].
pub struct Relay {
    clock: Clock,
    pairs: Vec<Pair>,
    doors: Vec<Socket>,
    sessions: Sessions,
    path: Path,
    script: Script,
    captures: Option<Captures>,
    inbox: Inbox,
    /// What has come and has not entered the network; empty between rounds.
    coming: Coming,
    /// What has left the network and has not been sent; empty between rounds.
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

/// Datagrams of one round, with their bytes in one buffer.
#[derive(Debug, Default)]
struct Coming {
    datagrams: Vec<(Time, Origin, wire::Ecn, std::ops::Range<usize>)>,
    bytes: Vec<u8>,
}

/// Where a datagram came to.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// The door of this pair, from this client, to this address.
    Client(usize, SocketAddr, SocketAddr),
    /// The address of this session, from this server.
    Server(u32, SocketAddr),
    /// An address that the client had left.
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
    /// A relay whose sockets are open.
    ///
    /// # Errors
    /// If an address is not to be had, a file not to be written, or the network not to be built.
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

    /// Its addresses and servers; a port that was given as 0 is here what the system chose.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// What it has done.
    pub fn stats(&self) -> RelayStats {
        RelayStats { links: self.path.links(), ..self.stats.clone() }
    }

    /// Relays for so long.
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

    /// Ends it and completes the captures.
    ///
    /// # Errors
    /// If a capture cannot be written.
    pub fn finish(mut self) -> Result<RelayStats, RelayError> {
        if let Some(captures) = self.captures.take() {
            captures.finish().map_err(failed("writing a capture"))?;
        }
        Ok(self.stats())
    }

    /// Waits until a datagram comes or the time is there, and reads what has come.
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
        // One for all, so that datagrams stay in the order in which the system took them.
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

    /// What has come enters the network, in the order of the times at which the system took it.
    fn enter(&mut self) -> Result<(), RelayError> {
        let mut coming = std::mem::take(&mut self.coming);
        let now = self.clock.now();
        coming.datagrams.sort_by_key(|(at, ..)| *at);
        for (at, origin, ecn, range) in coming.datagrams.drain(..) {
            self.stats.waiting.note(now.since(at));
            let bytes = &coming.bytes[range];
            // The network cannot go back to before it was last moved on.
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

    /// Sends what has left the network.
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
        // Gone meanwhile: there were too many.
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
        // An interface that is full or does not carry so much loses the datagram, as that of any router.
        if sent.is_err() {
            self.stats.not_sent += 1;
        }
        self.stats.lateness.note(self.clock.now().since(*due));
        Ok(())
    }
}

/// Whether nothing came: what the other end's system says of a port that nobody listens at is nothing to a router either.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::Interrupted)
}

/// Whose socket is polled.
#[derive(Debug, Clone, Copy)]
enum Watched {
    Door(usize),
    Outside(u32),
    Left,
}

#[cfg(test)]
mod tests;
