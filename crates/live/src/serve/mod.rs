//! A web server on the wire: serves the files of a folder over HTTP/3 or hq-interop.

mod files;
mod folder;
mod limits;
mod memory;
mod responder;

pub use limits::Limits;
pub use responder::Responder;

use crate::clock::Clock;
use crate::driver::{Applications, Driver};
use crate::entropy::system_random;
use crate::error::LiveError;
use crate::known_paths::KnownPathsFile;
use crate::records::{Log, Recording, Records};
use crate::settings::Settings;
use crate::socket::Socket;
use files::Files;
use folder::Folder;
use memory::Memory;
use quic::{Connection, Endpoint, EndpointOptions, EndpointStats, Event, Handle, QuicTransport};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tls::{Context, Identity, Trust};
use trace::Side;
use transport::Application;
use units::{Duration, Time};
use web::WebServer;
use wire::Direction;

/// The interval at which connections that lack memory are offered more.
const LOOK: Duration = Duration::from_millis(10);
/// The interval at which connections without a request are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// The options of a server.
#[derive(Debug)]
pub struct ServeOptions {
    /// The folder.
    pub root: PathBuf,
    /// The addresses to listen on; port 0 selects a free one.
    pub listen: Vec<SocketAddr>,
    /// The address to which clients are asked to move after the handshake (RFC 9000 section 9.6). Default:
    /// none.
    pub preferred: Option<SocketAddr>,
    /// The certificates and their key.
    pub identity: Identity,
    /// The options of connections.
    pub settings: Settings,
    /// The application protocols (RFC 7301), the preferred first: `h3`, `hq-interop`.
    pub protocols: Vec<String>,
    /// Whether files whose names start with a dot are served.
    pub hidden: bool,
    /// The limits on what clients can make it keep.
    pub limits: Limits,
    /// The file that keeps what the server learns of paths (the option `resume`) for its next start. Default: none.
    pub known_paths: Option<PathBuf>,
    /// The files to write.
    pub recording: Recording,
}

/// The counters of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServeStats {
    /// Those of the endpoint.
    pub endpoint: EndpointStats,
    /// Connections with a complete handshake.
    pub connections: u64,
    /// Sent datagrams, and the system calls that sent them.
    pub sent: (u64, u64),
    /// Received datagrams, and the system calls that received them.
    pub received: (u64, u64),
    /// Bytes read from files and not acknowledged: the current number, and the maximum. The latter is an upper
    /// bound: an acknowledgement without further activity of its connection is only noticed when its memory is
    /// needed.
    pub kept: (u64, u64),
    /// Open files.
    pub open_files: usize,
    /// Connections with incomplete records.
    pub unrecorded: u64,
    /// Paths whose capacity is known (the option `resume`).
    pub known_paths: usize,
    /// Saved capacities that connections have taken over, and those that were refused.
    pub capacities: (u64, u64),
}

/// A running server.
pub struct Server {
    driver: Driver,
    /// The number of its sockets that it listens on.
    listening: usize,
    sites: Sites,
    known_paths: Option<KnownPathsFile>,
}

impl Server {
    /// Opens the sockets.
    ///
    /// # Errors
    /// See [`LiveError`].
    pub fn bind(options: &ServeOptions) -> Result<Server, LiveError> {
        options.limits.check()?;
        let folder = Folder::new(&options.root, options.hidden, Files::new(&options.limits))
            .map_err(|error| LiveError::File(options.root.clone(), error))?;
        let clock = Clock::start();
        let alpn: Vec<&[u8]> = options.protocols.iter().map(String::as_bytes).collect();
        let settings = &options.settings;
        let known_paths = options
            .known_paths
            .as_deref()
            .map(|file| KnownPathsFile::open(file, settings.transport.resume, clock))
            .transpose()?;
        let context = Context::real(
            &settings.tls,
            &alpn,
            &Trust::Anyone,
            Some(&options.identity),
            clock.date_of_zero(),
        )?;
        let mut sockets = Vec::new();
        for address in &options.listen {
            sockets.push(Socket::bind(*address).map_err(|error| LiveError::Bind(*address, error))?);
        }
        let local = sockets.first().map_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)), Socket::local);
        let endpoint = EndpointOptions {
            accept: Some(Arc::new(settings.transport.clone())),
            interest: options.recording.interest(),
            ..EndpointOptions::new(local, context).with_places(options.limits.places)
        };
        let mut endpoint = Endpoint::new(endpoint, system_random().map_err(LiveError::System)?);
        if let Some(known) = &known_paths {
            endpoint.set_known_paths(known.store().clone());
        }
        let listening = sockets.len();
        if let Some(address) = options.preferred {
            let socket = Socket::bind(address).map_err(|error| LiveError::Bind(address, error))?;
            match socket.local() {
                SocketAddr::V4(address) => endpoint.set_preferred_address(Some(address), None),
                SocketAddr::V6(address) => endpoint.set_preferred_address(None, Some(address)),
            }
            sockets.push(socket);
        }
        let records = Records::new(Side::Server, &options.recording)?;
        let sites = Sites::new(folder, &options.limits, records);
        Ok(Server { driver: Driver::new(clock, endpoint, sockets), listening, sites, known_paths })
    }

    /// The addresses that it listens on, with the ports chosen by the system.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.driver.sockets().iter().take(self.listening).map(Socket::local).collect()
    }

    /// Serves for this time. An error in writing records or the file of known paths does not stop it: see
    /// [`Server::take_complaint`].
    ///
    /// # Errors
    /// If the system cannot wait for the sockets.
    pub fn run_for(&mut self, duration: Duration) -> Result<(), LiveError> {
        let end = self.driver.now() + duration;
        while self.driver.now() < end {
            let due = self.known_paths.as_ref().and_then(KnownPathsFile::due);
            self.driver
                .turn(&mut self.sites, due.map_or(end, |at| at.min(end)))
                .map_err(LiveError::System)?;
            if let Some(known) = &mut self.known_paths {
                known.look(self.driver.now());
            }
        }
        // Connections that ended silently.
        let endpoint = self.driver.endpoint();
        let over = |handle: &&Handle| endpoint.get(**handle).is_none();
        let over: Vec<Handle> = self.sites.connections.keys().filter(over).copied().collect();
        over.into_iter().for_each(|handle| self.sites.forget(handle));
        Ok(())
    }

    /// The first error in writing records, once, and that in writing the file of known paths ([`LiveError::NotKept`]). Later
    /// ones are still attempted, and failures with records are counted in [`ServeStats::unrecorded`].
    pub fn take_complaint(&mut self) -> Option<LiveError> {
        let known_paths = self.known_paths.as_mut().and_then(KnownPathsFile::take_complaint);
        known_paths.or_else(|| self.sites.records.take_complaint())
    }

    /// The counters so far.
    pub fn stats(&mut self) -> ServeStats {
        self.sites.look_at_all(self.driver.endpoint());
        let counters = self.driver.counters();
        ServeStats {
            endpoint: self.driver.endpoint().stats(),
            connections: self.sites.established,
            sent: (counters.datagrams_sent, counters.send_calls),
            received: (counters.datagrams_received, counters.receive_calls),
            kept: self.sites.memory.kept(),
            open_files: self.sites.folder.open_files(),
            unrecorded: self.sites.records.incomplete(),
            known_paths: self.driver.endpoint().known_paths().len(),
            capacities: self.sites.capacities,
        }
    }

    /// Accepts no more clients and requests, completes transfers in progress for at most `grace`, closes all
    /// connections, and writes the file of known paths.
    ///
    /// # Errors
    /// As [`Server::run_for`].
    pub fn shut_down(&mut self, grace: Duration) -> Result<ServeStats, LiveError> {
        self.driver.endpoint().refuse_new(true);
        self.sites.closing = true;
        let end = self.driver.now() + grace;
        self.sites.for_each(&mut self.driver, |now, web, connection| {
            web.shut_down(&mut QuicTransport { connection, now });
        });
        while self.driver.now() < end && !self.sites.is_idle() {
            self.driver.turn(&mut self.sites, end).map_err(LiveError::System)?;
        }
        self.sites.for_each(&mut self.driver, |now, web, connection| {
            connection.close(now, web.no_error(), "the server ends");
        });
        // This sends the final packets.
        let now = self.driver.now();
        self.driver.turn(&mut self.sites, now).map_err(LiveError::System)?;
        if let Some(known) = &mut self.known_paths {
            known.finish();
        }
        Ok(self.stats())
    }
}

/// A connection with its application.
struct Visit {
    web: WebServer,
    log: Log,
    /// The bytes kept for it, as far as is known: acknowledgements reduce them without an event.
    kept: u64,
    /// Saved capacities that it has taken over or refused.
    capacities: (u64, u64),
    /// When a request was last in progress; before the first, when the connection began.
    used_at: Time,
    /// When the first delayed response continues.
    wake_at: Option<Time>,
}

impl Visit {
    /// Sets its time in the list of waiting connections.
    fn wait_until(&mut self, handle: Handle, at: Option<Time>, waiting: &mut BTreeSet<(Time, Handle)>) {
        if at != self.wake_at {
            self.wake_at.map(|at| waiting.remove(&(at, handle)));
            waiting.extend(at.map(|at| (at, handle)));
            self.wake_at = at;
        }
    }

    /// Updates the bytes kept for it; zero if the connection is gone.
    fn look(&mut self, handle: Handle, connection: Option<&Connection>, memory: &mut Memory<Handle>) {
        let kept = connection.map_or(0, Connection::kept_bytes);
        memory.note(handle, std::mem::replace(&mut self.kept, kept), kept);
    }
}

/// The applications of all connections.
struct Sites {
    folder: Folder,
    connections: BTreeMap<Handle, Visit>,
    /// The number of connections so far.
    visits: u64,
    memory: Memory<Handle>,
    /// Connections with streams that wait for memory kept by others, and when to check that again. Connections
    /// without waiting streams get their memory at their next event.
    scarce: BTreeSet<Handle>,
    look_at: Time,
    /// Connections with a delayed response.
    waiting: BTreeSet<(Time, Handle)>,
    /// The time that a connection may be open without a request, and when that is looked at again.
    unused: Duration,
    sweep_at: Time,
    records: Records,
    established: u64,
    /// Saved capacities that connections have taken over, and those that were refused.
    capacities: (u64, u64),
    closing: bool,
}

impl Sites {
    fn new(folder: Folder, limits: &Limits, records: Records) -> Sites {
        Sites {
            folder,
            connections: BTreeMap::new(),
            visits: 0,
            memory: Memory::new(limits),
            scarce: BTreeSet::new(),
            look_at: Time::ZERO,
            waiting: BTreeSet::new(),
            unused: limits.unused,
            sweep_at: Time::ZERO,
            records,
            established: 0,
            capacities: (0, 0),
            closing: false,
        }
    }

    /// Removes a connection that has ended.
    fn forget(&mut self, handle: Handle) {
        self.scarce.remove(&handle);
        if let Some(mut visit) = self.connections.remove(&handle) {
            visit.wait_until(handle, None, &mut self.waiting);
            self.memory.note(handle, visit.kept, 0);
            self.records.end(&mut visit.log);
        }
    }

    /// Updates the bytes kept for each connection.
    fn look_at_all(&mut self, endpoint: &Endpoint) {
        for (handle, visit) in &mut self.connections {
            visit.look(*handle, endpoint.get(*handle), &mut self.memory);
        }
    }
    /// Updates the bytes kept for the connections that use the shared memory.
    fn look_at_sharing(&mut self, endpoint: &Endpoint) {
        let sharing: Vec<Handle> = self.memory.sharing().iter().copied().collect();
        for handle in sharing {
            if let Some(visit) = self.connections.get_mut(&handle) {
                visit.look(handle, endpoint.get(handle), &mut self.memory);
            }
        }
    }

    /// Closes the connections that have had no request for too long: a client that keeps one open by PINGs has no
    /// use for it.
    fn sweep(&mut self, now: Time, endpoint: &mut Endpoint) {
        self.sweep_at = now + SWEEP;
        for (handle, visit) in &mut self.connections {
            let Some(connection) = endpoint.get(*handle).filter(|connection| connection.is_established())
            else {
                continue;
            };
            if connection.requests() > 0 {
                visit.used_at = now;
            } else if now.since(visit.used_at) >= self.unused
                && let Some(connection) = endpoint.get_mut(*handle)
            {
                connection.close(now, visit.web.no_error(), &format!("no request for {}", self.unused));
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.connections.values().all(|visit| visit.web.is_idle())
    }

    fn for_each(&mut self, driver: &mut Driver, mut act: impl FnMut(Time, &mut WebServer, &mut Connection)) {
        let now = driver.now();
        for (handle, visit) in &mut self.connections {
            if let Some(connection) = driver.endpoint().get_mut(*handle) {
                act(now, &mut visit.web, connection);
            }
        }
    }
}

impl Applications for Sites {
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut Connection) {
        if connection.is_over() && !self.connections.contains_key(&handle) {
            // Its application is already gone.
            while connection.poll_event().is_some() {}
            return;
        }
        let visit = self.connections.entry(handle).or_insert_with(|| {
            self.visits += 1;
            let web = WebServer::new(Box::new(self.folder.of(self.visits)));
            Visit { web, log: Log::default(), kept: 0, capacities: (0, 0), used_at: now, wake_at: None }
        });
        let allowance = self.memory.allowance(visit.kept);
        connection.set_send_allowance(allowance);
        let mut ended = false;
        if visit.wake_at.is_some_and(|at| at <= now) {
            visit.web.on_wake(now, &mut QuicTransport { connection: &mut *connection, now });
        }
        while let Some(event) = connection.poll_event() {
            self.established += u64::from(event == Event::Connected);
            ended |= event == Event::Ended;
            if matches!(event, Event::Opened(stream) if stream.direction() == Direction::Bidirectional) {
                visit.used_at = now;
            }
            visit.web.on_event(now, &event, &mut QuicTransport { connection: &mut *connection, now });
            if event == Event::Connected && self.closing {
                visit.web.shut_down(&mut QuicTransport { connection: &mut *connection, now });
            }
        }
        if connection.requests() > 0 {
            visit.used_at = now;
        }
        visit.wait_until(handle, visit.web.wake_at(), &mut self.waiting);
        visit.look(handle, Some(connection), &mut self.memory);
        let (accepted, refused) = connection.capacities();
        self.capacities.0 += accepted - visit.capacities.0;
        self.capacities.1 += refused - visit.capacities.1;
        visit.capacities = (accepted, refused);
        if self.memory.is_scarce(allowance) && connection.waits_for_allowance() {
            self.scarce.insert(handle);
        }
        self.records.take(&mut visit.log, connection);
        if ended {
            self.forget(handle);
        }
    }

    fn wake_at(&self) -> Option<Time> {
        let scarce = (!self.scarce.is_empty()).then_some(self.look_at);
        let sweep = (!self.connections.is_empty()).then_some(self.sweep_at);
        scarce.into_iter().chain(sweep).chain(self.waiting.first().map(|(at, _)| *at)).min()
    }
    /// Continues delayed responses, offers released memory to connections that lacked it, and closes unused connections.
    fn wake(&mut self, now: Time, endpoint: &mut Endpoint) {
        while let Some((at, handle)) = self.waiting.first().copied().filter(|(at, _)| *at <= now) {
            if let Some(connection) = endpoint.get_mut(handle) {
                self.attend(now, handle, connection);
            }
            // Also if the connection no longer exists.
            self.waiting.remove(&(at, handle));
        }
        if self.sweep_at <= now {
            self.sweep(now, endpoint);
        }
        if self.scarce.is_empty() || self.look_at > now {
            return;
        }
        self.look_at = now + LOOK;
        self.look_at_sharing(endpoint);
        for handle in std::mem::take(&mut self.scarce) {
            let (Some(visit), Some(connection)) = (self.connections.get(&handle), endpoint.get_mut(handle))
            else {
                continue;
            };
            let allowance = self.memory.allowance(visit.kept);
            connection.set_send_allowance(allowance);
            if self.memory.is_scarce(allowance) && connection.waits_for_allowance() {
                self.scarce.insert(handle);
            }
        }
    }
    /// The connection notices it by itself.
    fn unreachable(&mut self, _remote: SocketAddr, _error: io::Error) {}
}
