//! The UDP sockets around a network in real time: what comes enters by its gates, what leaves them is sent.

use super::capture::{Captures, Seen};
use super::ends::Ends;
use super::script::Script;
use super::sessions::{Outside, Sessions};
use super::{Pair, RelayError, RelayStats, failed};
use crate::Clock;
use crate::socket::{Inbox, Socket, Train};
use lab::emulation::{self, Arrivals, Counts};
use network::{Packet, Protocol};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use units::{Duration, Time};
use wire::Ecn;

/// How long the relay sleeps at most before it asks whether it is to go on.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// What a relay does while it runs.
pub(super) struct Surroundings<'p> {
    pub(super) clock: Clock,
    pub(super) pairs: Vec<Pair>,
    pub(super) doors: Vec<Socket>,
    pub(super) ends: Ends,
    /// Each with the address of the relay as the client sees it.
    pub(super) clients: Sessions<SocketAddr>,
    pub(super) outsides: Sessions<Outside>,
    pub(super) script: Script,
    pub(super) captures: Option<Captures>,
    pub(super) inbox: Inbox,
    /// Received datagrams that have not entered the network; empty between rounds.
    pub(super) coming: Vec<Coming>,
    /// The time of the datagram that came last.
    pub(super) last: Time,
    pub(super) stats: RelayStats,
    pub(super) progress: &'p mut dyn FnMut(&RelayStats) -> ControlFlow<()>,
    /// When progress was last reported.
    pub(super) reported: Time,
    pub(super) is_over: bool,
    pub(super) failure: Option<RelayError>,
}

/// A received datagram.
#[derive(Debug)]
pub(super) struct Coming {
    at: Time,
    origin: Origin,
    ecn: Ecn,
    bytes: Vec<u8>,
}

/// The origin of a datagram.
#[derive(Debug, Clone, Copy)]
enum Origin {
    /// At the address of this pair, from this client, with this local address.
    Client(usize, SocketAddr, SocketAddr),
    /// At the socket with this number, from this server.
    Server(u16, SocketAddr),
    /// At an address that the client has left.
    Nowhere,
}

/// The owner of a polled socket.
#[derive(Debug, Clone, Copy)]
enum Watched {
    Door(usize),
    Outside(u16),
    Left,
}

impl Surroundings<'_> {
    /// Waits for a datagram or until this time, and receives datagrams.
    fn receive(&mut self, until: Time, arrivals: &mut Arrivals) -> Result<(), RelayError> {
        let left = until.since(self.clock.now()).min(LONGEST_SLEEP).as_nanos();
        let timeout = Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let readable = PollFlags::IN;
        let mut watched: Vec<(&Socket, Watched)> = Vec::new();
        watched.extend(self.doors.iter().enumerate().map(|(pair, door)| (door, Watched::Door(pair))));
        for (number, session) in self.outsides.iter() {
            watched.push((&session.end.socket, Watched::Outside(number)));
            watched.extend(session.end.left.iter().map(|left| (left, Watched::Left)));
        }
        let mut polled: Vec<PollFd<'_>> =
            watched.iter().map(|(socket, _)| PollFd::new(*socket, readable)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed("waiting")(error.into())),
        }
        // One reading for all, so that datagrams stay in the order in which the system received them.
        let reading = self.clock.reading();
        let ready = polled.iter().map(|polled| !polled.revents().is_empty());
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
                let (at, ecn) = (reading.time_at(arrived.date), arrived.ecn);
                for datagram in arrived.datagrams {
                    let mut bytes = arrivals.buffer();
                    bytes.extend_from_slice(datagram);
                    self.coming.push(Coming { at, origin, ecn, bytes });
                }
            }
        }
        Ok(())
    }

    /// Hands received datagrams over to the network, in the order of their reception by the system.
    fn enter(&mut self, arrivals: &mut Arrivals) -> Result<(), RelayError> {
        let mut coming = std::mem::take(&mut self.coming);
        let now = self.clock.now();
        coming.sort_by_key(|datagram| datagram.at);
        for mut datagram in coming.drain(..) {
            self.stats.waiting.note(now.since(datagram.at));
            // A clock of the system that was set back does not turn the order around.
            self.last = self.last.max(datagram.at);
            datagram.at = self.last;
            let ends = match datagram.origin {
                Origin::Client(pair, client, facing) => {
                    Some(self.of_client(pair, client, facing, &datagram)?)
                }
                Origin::Server(number, server) => self.of_server(number, server, &datagram)?,
                Origin::Nowhere => None,
            };
            let Some((gate, source, destination)) = ends else {
                self.stats.astray += 1;
                arrivals.recycle(datagram.bytes);
                continue;
            };
            if self.script.is_dark(datagram.at) {
                self.stats.blacked_out += 1;
                arrivals.recycle(datagram.bytes);
                continue;
            }
            let mut packet = Packet::new(source, destination, datagram.bytes, None);
            (packet.ecn, packet.data) = (datagram.ecn, true);
            arrivals.add(datagram.at, gate, packet);
        }
        self.coming = coming;
        Ok(())
    }

    /// Where a client's datagram enters, with its source and destination there.
    fn of_client(
        &mut self,
        pair: usize,
        client: SocketAddr,
        facing: SocketAddr,
        datagram: &Coming,
    ) -> Result<(usize, SocketAddr, SocketAddr), RelayError> {
        let number = self.clients.of(client, pair, datagram.at, || Ok(facing));
        let number = number.map_err(failed("a client"))?;
        self.stats.from_clients += 1;
        self.stats.clients = self.clients.opened;
        self.script.hear(datagram.at);
        if let Some(captures) = &mut self.captures {
            captures.at_client(&datagram.seen(client, facing)).map_err(failed("writing a capture"))?;
        }
        let ipv6 = client.is_ipv6();
        Ok((self.ends.client, self.ends.of_client(number, ipv6), self.ends.of_server(pair, ipv6)))
    }

    /// Where a server's datagram enters, with its source and destination there; `None` if nobody waits for it.
    fn of_server(
        &mut self,
        number: u16,
        server: SocketAddr,
        datagram: &Coming,
    ) -> Result<Option<(usize, SocketAddr, SocketAddr)>, RelayError> {
        let session = self.outsides.get(number).filter(|session| self.pairs[session.pair].to == server);
        let Some(session) = session else { return Ok(None) };
        self.stats.from_servers += 1;
        if let Some(captures) = &mut self.captures {
            let seen = datagram.seen(server, session.end.socket.local());
            captures.at_server(&seen).map_err(failed("writing a capture"))?;
        }
        let source = self.ends.of_server(session.pair, session.address.is_ipv6());
        Ok(Some((self.ends.server, source, session.address)))
    }

    /// Sends a packet that has reached one of the two gates. Returns whether it belongs to a client or a server.
    fn send(&mut self, gate: usize, packet: &Packet) -> Result<bool, RelayError> {
        if packet.protocol() != Protocol::Udp {
            return Ok(false);
        }
        let at = self.clock.now();
        let (ecn, bytes) = (packet.ecn, &packet.bytes[..]);
        let seen = |ends| Seen { at, ends, ecn, damage: packet.damage(), bytes };
        let sent = if gate == self.ends.server {
            let index = Ends::pair_at(packet.destination);
            let Some((index, pair)) = index.and_then(|index| Some((index, self.pairs.get(index)?))) else {
                return Ok(false);
            };
            let number = self.outsides.of(packet.source, index, at, || Outside::open(pair));
            let number = number.map_err(failed("opening a socket"))?;
            let Some(session) = self.outsides.get(number) else { return Ok(false) };
            let socket = &session.end.socket;
            if let Some(captures) = &mut self.captures {
                captures.at_server(&seen((socket.local(), pair.to))).map_err(failed("writing a capture"))?;
            }
            self.stats.to_servers += 1;
            socket.send(&Train::single(socket.local(), pair.to, ecn, bytes))
        } else if gate == self.ends.client {
            let client = Ends::client_at(packet.destination).and_then(|number| self.clients.get(number));
            // The session was removed: there were too many.
            let Some(client) = client.filter(|client| Ends::pair_at(packet.source) == Some(client.pair))
            else {
                return Ok(false);
            };
            if let Some(captures) = &mut self.captures {
                captures
                    .at_client(&seen((client.end, client.address)))
                    .map_err(failed("writing a capture"))?;
            }
            self.stats.to_clients += 1;
            self.doors[client.pair].send(&Train::single(client.end, client.address, ecn, bytes))
        } else {
            return Ok(false);
        };
        // An interface that is full, or whose MTU is too small, loses the datagram, like that of any router.
        if sent.is_err() {
            self.stats.not_sent += 1;
        }
        Ok(true)
    }

    /// Moves clients when it is time, waits, and takes what has come.
    fn turn(&mut self, next: Time, arrivals: &mut Arrivals) -> Result<(), RelayError> {
        if let Some(rebind) = self.script.due(self.clock.now()) {
            self.outsides.rebind(rebind).map_err(failed("moving a client"))?;
            self.stats.rebinds += 1;
        }
        self.receive(self.script.next_at().map_or(next, |at| at.min(next)), arrivals)?;
        self.enter(arrivals)
    }

    fn fail(&mut self, error: RelayError) {
        self.failure.get_or_insert(error);
        self.is_over = true;
    }
}

impl Coming {
    fn seen(&self, source: SocketAddr, destination: SocketAddr) -> Seen<'_> {
        Seen { at: self.at, ends: (source, destination), ecn: self.ecn, damage: None, bytes: &self.bytes }
    }
}

impl emulation::Outside for Surroundings<'_> {
    fn begin(&mut self) {
        self.clock = Clock::start();
        if let Some(captures) = &mut self.captures {
            captures.begin(self.clock.date_of_zero());
        }
        self.is_over = (self.progress)(&self.stats).is_break();
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, next: Time, arrivals: &mut Arrivals) -> Option<Time> {
        if !self.is_over
            && let Err(error) = self.turn(next, arrivals)
        {
            self.fail(error);
        }
        (!self.is_over).then(|| self.clock.now())
    }

    fn leave(&mut self, gate: usize, at: Time, mut packet: Packet) -> Vec<u8> {
        packet.write_out();
        match self.send(gate, &packet) {
            Ok(true) => self.stats.lateness.note(self.clock.now().since(at)),
            Ok(false) => self.stats.astray += 1,
            Err(error) => self.fail(error),
        }
        packet.bytes
    }

    fn flush(&mut self) {}

    fn counted(&mut self, now: Time, counts: &Counts<'_>) {
        if now.since(self.reported) >= LONGEST_SLEEP && !self.is_over {
            self.reported = now;
            self.stats.world.clone_from(counts.lateness);
            self.is_over = (self.progress)(&self.stats).is_break();
        }
    }
}

/// Whether nothing was received: an ICMP error about a closed port is nothing to a router, either.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::Interrupted)
}
