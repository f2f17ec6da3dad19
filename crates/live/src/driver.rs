//! The loop between sockets and clock on one side and the endpoint on the other.
//!
//! It has one thread, and waits in `poll` until a datagram arrives, a timer is due, or a full socket has room
//! again. Everything else is up to the endpoint: what is sent, when, and where to.

use crate::clock::Clock;
use crate::outbox::{Outbox, Sent};
use crate::socket::{Inbox, Socket};
use quic::{Connection, Datagram, Endpoint, Handle, Transmit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::net::SocketAddr;
use transport::Outgoing;
use units::{Duration, Time};

/// The number of datagrams sent before the sockets are read again: acknowledgements must not wait for long.
const SEND_BUDGET: usize = 1024;
/// Calls that read a single socket before the next wait. Of several sockets each is read once, so that datagrams of one
/// connection on two of them are hardly reordered.
const RECEIVE_BUDGET: usize = 4;

/// The applications of the connections.
pub(crate) trait Applications {
    /// Handles a connection that may have events or records, or whose handshake is in progress.
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut Connection);
    /// The time of their timer.
    fn wake_at(&self) -> Option<Time>;
    /// Handles the expiry of the timer.
    fn wake(&mut self, now: Time, endpoint: &mut Endpoint);
    /// Handles a datagram to this address that was not delivered, according to the system or to ICMP.
    fn unreachable(&mut self, remote: SocketAddr, error: io::Error);
}

/// The counters of the driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Sent datagrams.
    pub(crate) datagrams_sent: u64,
    /// System calls that sent them.
    pub(crate) send_calls: u64,
    /// Received datagrams.
    pub(crate) datagrams_received: u64,
    /// System calls that received them.
    pub(crate) receive_calls: u64,
    /// Number of waits.
    pub(crate) waits: u64,
}

/// An endpoint with its sockets.
pub(crate) struct Driver {
    clock: Clock,
    endpoint: Endpoint,
    sockets: Vec<Socket>,
    inbox: Inbox,
    outbox: Outbox,
    /// The socket that is full, if any.
    blocked: Option<usize>,
    datagram: Vec<u8>,
    counters: Counters,
}

impl Driver {
    pub(crate) fn new(clock: Clock, endpoint: Endpoint, sockets: Vec<Socket>) -> Driver {
        Driver {
            clock,
            endpoint,
            sockets,
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            blocked: None,
            datagram: Vec::with_capacity(2048),
            counters: Counters::default(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }
    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }
    /// Adds a socket for the endpoint's datagrams.
    pub(crate) fn add_socket(&mut self, socket: Socket) {
        self.sockets.push(socket);
    }
    pub(crate) fn sockets(&self) -> &[Socket] {
        &self.sockets
    }
    pub(crate) fn counters(&self) -> Counters {
        Counters { send_calls: self.outbox.calls(), ..self.counters }
    }

    /// Waits until something happens, at most until `deadline`, and handles it. A signal also ends the wait.
    ///
    /// # Errors
    /// If the system cannot wait for the sockets.
    pub(crate) fn turn(&mut self, applications: &mut dyn Applications, deadline: Time) -> io::Result<()> {
        let ready = self.wait(applications, deadline)?;
        let now = self.clock.now();
        for (at, flags) in ready.into_iter().enumerate() {
            if flags.contains(PollFlags::ERR) {
                while let Some((remote, true)) = self.sockets[at].take_error() {
                    applications.unreachable(remote, io::ErrorKind::ConnectionRefused.into());
                }
            }
            if flags.contains(PollFlags::OUT) && self.blocked == Some(at) {
                self.blocked = None;
                self.flush(applications);
            }
            if flags.contains(PollFlags::IN) {
                self.receive(now, at, applications);
            }
        }
        let now = self.clock.now();
        if self.endpoint.wake_at().is_some_and(|at| at <= now) {
            self.endpoint.wake(now);
        }
        if applications.wake_at().is_some_and(|at| at <= now) {
            applications.wake(now, &mut self.endpoint);
        }
        self.drain(now, applications);
        Ok(())
    }

    fn wait(&mut self, applications: &dyn Applications, deadline: Time) -> io::Result<Vec<PollFlags>> {
        let now = self.clock.now();
        let busy = self.blocked.is_none() && self.endpoint.next_active().is_some();
        let timers = [self.endpoint.wake_at(), applications.wake_at(), Some(deadline), busy.then_some(now)];
        let at = timers.into_iter().flatten().min().unwrap_or(deadline);
        let timeout = timespec(at.since(now));
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(self.sockets.len());
        for (at, socket) in self.sockets.iter().enumerate() {
            let room = if self.blocked == Some(at) { PollFlags::OUT } else { PollFlags::empty() };
            polled.push(PollFd::new(socket, PollFlags::IN | room));
        }
        self.counters.waits += 1;
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => Ok(polled.iter().map(PollFd::revents).collect()),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self, now: Time, at: usize, applications: &mut dyn Applications) {
        let calls = if self.sockets.len() == 1 { RECEIVE_BUDGET } else { 1 };
        for _ in 0..calls {
            // An error here concerns a sent datagram, and is also reported by the socket's own queue.
            let Ok(all) = self.inbox.receive(&self.sockets[at]) else { return };
            self.counters.receive_calls += 1;
            for arrived in all {
                let (local, remote, ecn) = (arrived.local, arrived.remote, arrived.ecn);
                for bytes in arrived.datagrams {
                    self.counters.datagrams_received += 1;
                    let datagram = Datagram { local, remote, ecn, bytes, hole: None, damage: None };
                    self.endpoint.receive(now, datagram);
                }
            }
            self.drain(now, applications);
        }
    }

    /// Serves the endpoint and the applications until nothing more can be done now.
    fn drain(&mut self, now: Time, applications: &mut dyn Applications) {
        let Driver { endpoint, sockets, outbox, blocked, datagram, counters, .. } = self;
        let budget = SEND_BUDGET;
        let mut stage = Stage { applications, sockets, outbox, blocked, datagram, counters, budget };
        transport::serve(endpoint, &mut stage, now);
        if stage.blocked.is_none() {
            stage.flush();
        }
    }

    fn flush(&mut self, applications: &mut dyn Applications) {
        let Driver { sockets, outbox, blocked, datagram, counters, .. } = self;
        Stage { applications, sockets, outbox, blocked, datagram, counters, budget: 0 }.flush();
    }
}

/// The surroundings of the endpoint: the applications, and the sockets.
struct Stage<'d> {
    applications: &'d mut dyn Applications,
    sockets: &'d [Socket],
    outbox: &'d mut Outbox,
    blocked: &'d mut Option<usize>,
    datagram: &'d mut Vec<u8>,
    counters: &'d mut Counters,
    /// The number of datagrams that may still be sent.
    budget: usize,
}

impl Stage<'_> {
    fn flush(&mut self) {
        match self.outbox.flush(self.sockets) {
            Sent::Yes => {}
            Sent::Blocked(at) => *self.blocked = Some(at),
            Sent::Failed(remote, error) => self.applications.unreachable(remote, error),
        }
    }
}

impl transport::Environment<Endpoint> for Stage<'_> {
    type Key = ();
    type Buffer = Vec<u8>;

    fn attend(&mut self, now: Time, handle: Handle, connection: &mut Connection) {
        if connection.has_events() || !connection.is_established() || !connection.log().is_empty() {
            self.applications.attend(now, handle, connection);
        }
    }
    fn buffer(&mut self) -> Option<Vec<u8>> {
        if self.blocked.is_some() {
            return None;
        }
        self.budget = self.budget.checked_sub(1)?;
        Some(std::mem::take(self.datagram))
    }
    fn outgoing(buffer: &mut Vec<u8>) -> Outgoing<'_> {
        Outgoing::bytes(buffer)
    }
    fn recycle(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        *self.datagram = buffer;
    }
    fn sender(&mut self, _: Option<Handle>) {}
    fn send(&mut self, _: Time, (): (), transmit: &Transmit, mut bytes: Vec<u8>) {
        if let Some(hole) = transmit.hole {
            hole.write_out(&mut bytes);
        }
        self.counters.datagrams_sent += 1;
        if !self.outbox.fits(transmit) {
            self.flush();
        }
        // Behind a waiting train there is no room: this datagram is lost, as in any full queue.
        if self.blocked.is_none() {
            self.outbox.push(transmit, &bytes, self.sockets);
        }
        self.recycle(bytes);
    }
}

fn timespec(wait: Duration) -> Timespec {
    let nanos = wait.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}
