//! The endpoint on its sockets, and the applications on its connections.

use crate::Failure;
use crate::diary::{Diary, Page, note};
use crate::socket::{Buffers, Socket};
use live::Clock;
use quic::{CloseReason, Connection, Datagram, Endpoint, Event, Handle, QuicTransport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use trace::Side;
use transport::Application;
use units::{Duration, Time};
use wire::Ecn;

/// Datagrams that are made before the sockets are read again.
const BUDGET: usize = 256;

/// What is on a connection.
pub(crate) struct Host {
    pub(crate) handle: Handle,
    pub(crate) application: Box<dyn Application>,
    /// Its qlog.
    pub(crate) page: Option<Page>,
    /// When its handshake was complete.
    pub(crate) connected_at: Option<Time>,
    /// Why it ended, if it has.
    pub(crate) ended: Option<String>,
}

/// How a server makes the application of a new connection.
pub(crate) type Welcome = Box<dyn Fn() -> Box<dyn Application>>;

pub(crate) struct Stack {
    pub(crate) clock: Clock,
    pub(crate) endpoint: Endpoint,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) hosts: Vec<Host>,
    welcome: Option<Welcome>,
    key_log: Option<File>,
    diary: Option<Diary>,
    buffers: Buffers,
    datagram: Vec<u8>,
}

impl Stack {
    pub(crate) fn new(
        clock: Clock,
        endpoint: Endpoint,
        diary: Option<Diary>,
        sockets: Vec<Socket>,
        welcome: Option<Welcome>,
    ) -> Result<Stack, Failure> {
        let key_log = match std::env::var_os("SSLKEYLOGFILE") {
            Some(name) => Some(File::options().append(true).create(true).open(name)?),
            None => None,
        };
        let (buffers, datagram) = (Buffers::new(), Vec::with_capacity(2048));
        let hosts = Vec::new();
        Ok(Stack { clock, endpoint, sockets, hosts, welcome, key_log, diary, buffers, datagram })
    }

    /// Puts an application on a connection.
    pub(crate) fn host(&mut self, handle: Handle, application: Box<dyn Application>) -> Result<(), Failure> {
        let page = self.diary.as_mut().map(|diary| diary.page(Side::Client)).transpose()?;
        self.hosts.push(Host { handle, application, page, connected_at: None, ended: None });
        Ok(())
    }

    /// Waits until there is something to do, at most until `deadline`, and does it.
    pub(crate) fn turn(&mut self, deadline: Time) -> Result<(), Failure> {
        self.wait(deadline)?;
        let (clock, endpoint) = (&self.clock, &mut self.endpoint);
        let now = clock.now();
        for socket in &self.sockets {
            let local = socket.local();
            let take = |remote: SocketAddr, ecn: Ecn, bytes: &mut [u8]| {
                endpoint.receive(now, Datagram { local, remote, ecn, bytes, hole: None, damage: None });
            };
            socket.receive(&mut self.buffers, take)?;
        }
        let now = self.clock.now();
        self.endpoint.wake(now);
        for host in &mut self.hosts {
            if host.application.wake_at().is_some_and(|at| at <= now)
                && let Some(connection) = self.endpoint.get_mut(host.handle)
            {
                host.application.on_wake(now, &mut QuicTransport { connection, now });
            }
        }
        self.send(now)
    }

    fn wait(&self, deadline: Time) -> Result<(), Failure> {
        let now = self.clock.now();
        let busy = self.endpoint.next_active().map(|_| now);
        let applications = self.hosts.iter().filter_map(|host| host.application.wake_at());
        let next = applications.chain(self.endpoint.wake_at()).chain(busy).chain([deadline]).min();
        let left = next.unwrap_or(deadline).since(now).as_nanos();
        let timeout =
            Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
        let mut polled: Vec<PollFd<'_>> =
            self.sockets.iter().map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets applications and endpoint do all that they have to do now.
    fn send(&mut self, now: Time) -> Result<(), Failure> {
        for _ in 0..BUDGET {
            self.attend(now, true)?;
            self.datagram.clear();
            let Some(transmit) = self.endpoint.transmit(now, &mut self.datagram) else {
                if self.endpoint.next_active().is_some() {
                    continue;
                }
                break;
            };
            if let Some(hole) = transmit.hole {
                hole.write_out(&mut self.datagram);
            }
            let from = self.sockets.iter_mut().find(|socket| socket.local().port() == transmit.local.port());
            if let Some(socket) = from {
                socket.push(transmit.remote, transmit.ecn, &self.datagram)?;
            }
        }
        // What is touched here is busy in the next turn, so only what has something to say.
        self.attend(now, false)?;
        for socket in &mut self.sockets {
            socket.flush()?;
        }
        Ok(())
    }

    /// Tells applications what has happened. `all`: also looks after connections without events, for their secrets and
    /// records.
    fn attend(&mut self, now: Time, all: bool) -> Result<(), Failure> {
        if let (Some(welcome), Some(handle)) = (&self.welcome, self.endpoint.next_active())
            && !self.hosts.iter().any(|host| host.handle == handle)
        {
            let application = welcome();
            self.hosts.retain(|host| self.endpoint.get(host.handle).is_some());
            let page = self.diary.as_mut().map(|diary| diary.page(Side::Server)).transpose()?;
            self.hosts.push(Host { handle, application, page, connected_at: None, ended: None });
        }
        for host in &mut self.hosts {
            let Some(connection) = self.endpoint.get(host.handle) else { continue };
            let quiet = !connection.has_events() && host.connected_at.is_some() && self.diary.is_none();
            if connection.has_events() || all && !quiet {
                let connection = self.endpoint.get_mut(host.handle).ok_or("a connection is gone")?;
                attend(now, host, connection, &mut self.key_log)?;
                if let Some(page) = &mut host.page {
                    note(page, connection)?;
                }
            }
        }
        Ok(())
    }
}

/// Tells an application what has happened.
fn attend(
    now: Time,
    host: &mut Host,
    connection: &mut Connection,
    key_log: &mut Option<File>,
) -> Result<(), Failure> {
    for secret in connection.take_secrets() {
        if let Some(file) = key_log {
            writeln!(file, "{secret}")?;
        }
    }
    while let Some(event) = connection.poll_event() {
        match event {
            Event::Connected => host.connected_at = Some(now),
            Event::Ended => {
                host.ended = Some(told(connection.close_reason()));
            }
            _ => {}
        }
        host.application.on_event(now, &event, &mut QuicTransport { connection: &mut *connection, now });
    }
    Ok(())
}

fn told(reason: Option<&CloseReason>) -> String {
    reason.map_or_else(String::new, |reason| format!("{reason:?}"))
}

/// So much time after an event.
pub(crate) fn after(event: Option<Time>, wait: std::time::Duration) -> Option<Time> {
    let wait = Duration::from_nanos(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
    Some(event? + wait)
}
