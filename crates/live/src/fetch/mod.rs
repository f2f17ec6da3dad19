//! A web client on the wire: fetches URLs into files, over HTTP/3 or hq-interop.

mod store;
mod url;

pub use store::FetchProgress;
pub use url::Url;

use crate::clock::Clock;
use crate::driver::{Applications, Driver};
use crate::entropy::system_random;
use crate::error::LiveError;
use crate::records::{Log, Recording, Records};
use crate::settings::Settings;
use crate::socket::Socket;
use quic::{
    CloseReason, Connection, Endpoint, EndpointOptions, Event, Handle, Memory, MigrateError, Migration,
    Opening, QuicTransport, Stats,
};
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;
use tls::{Context, Trust};
use trace::Side;
use transport::Application;
use units::{Duration, Size, Time};
use web::WebClient;
use web::{Failure, Fetched, Request};

/// The interval between two calls of the observer.
const TURN: Duration = Duration::from_millis(20);

/// The options of a fetch.
#[derive(Debug)]
pub struct FetchOptions {
    /// The URLs. Those of one host and port share a connection.
    pub urls: Vec<Url>,
    /// The folder for the files; it is created if necessary.
    pub out: PathBuf,
    /// How the server is authenticated.
    pub trust: Trust,
    /// The options of connections.
    pub settings: Settings,
    /// The application protocols (RFC 7301), the preferred first: `h3`, `hq-interop`.
    pub protocols: Vec<String>,
    /// Whether only addresses of IPv6, or of IPv4, are used; `None` for the preference of the system.
    pub ipv6: Option<bool>,
    /// The maximum number of concurrent requests.
    pub concurrency: usize,
    /// The urgencies of the URLs in their order, over HTTP/3: 0 to 7 (RFC 9218 section 4.1). They repeat for
    /// further URLs; without any, all have the default, 3.
    pub urgencies: Vec<u8>,
    /// Whether parts of a response are useful (RFC 9218 section 4.2), over HTTP/3. A file is only stored when
    /// it is whole, so that the default loses nothing.
    pub incremental: bool,
    /// The connections for the URLs of one host and port.
    pub connections: Connections,
    /// Whether a resumed connection sends requests in 0-RTT packets, which an attacker can replay.
    pub early_data: bool,
    /// Each connection moves to another local port this long after its handshake (RFC 9000 section 9.2), unless
    /// it has ended. Default: it does not move.
    pub migrate_after: Option<Duration>,
    /// The maximum duration of the fetch. Default: unlimited.
    pub timeout: Option<Duration>,
    /// The maximum size of each file. Default: unlimited.
    pub max_size: Option<Size>,
    /// The maximum duration of a handshake at one address of the server before the next one is tried.
    pub connect_timeout: Duration,
    /// The maximum time without response data before a connection is abandoned.
    pub stall_timeout: Duration,
    /// The files to write.
    pub recording: Recording,
}

/// The connections for the URLs of one host and port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connections {
    /// One connection for all.
    #[default]
    One,
    /// One for the first, and a second for the others, which resumes the TLS session of the first (RFC 8446
    /// section 2.2).
    Resumed,
    /// One for each, in sequence, with a full handshake each.
    Each,
}

/// The result for one URL.
#[derive(Debug, Clone)]
pub struct FetchedUrl {
    /// The URL.
    pub url: String,
    /// The file, if it was stored.
    pub file: Option<PathBuf>,
    /// The response. Its times count from the start of the fetch.
    pub fetched: Fetched,
    /// The reason why there is no file.
    pub problem: Option<String>,
}

/// The result for one connection.
#[derive(Debug, Clone)]
pub struct FetchedOver {
    /// The address of the server.
    pub remote: SocketAddr,
    /// The negotiated protocol.
    pub protocol: String,
    /// The QUIC version.
    pub version: u32,
    /// Whether it resumed a session.
    pub resumed: bool,
    /// The capacity in bytes that was sent back to the server in a BDP_FRAME; `None` if none was.
    pub capacity_returned: Option<u64>,
    /// The capacity in bytes that the server has passed on in a BDP_FRAME, for the next connection; `None` if it has not.
    pub capacity_kept: Option<u64>,
    /// The time from the first packet to the end of the handshake.
    pub handshake: Option<Duration>,
    /// The time from the first packet to the last byte.
    pub duration: Duration,
    /// The reason for its end.
    pub ended: String,
    /// The counters of the endpoint.
    pub stats: Stats,
}

/// The result of a fetch.
#[derive(Debug, Clone, Default)]
pub struct FetchReport {
    /// The URLs, in their order.
    pub urls: Vec<FetchedUrl>,
    /// The connections, in the order of their opening.
    pub connections: Vec<FetchedOver>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl FetchReport {
    /// Whether all files were stored.
    pub fn is_complete(&self) -> bool {
        !self.interrupted && self.urls.iter().all(|url| url.file.is_some())
    }
}

/// Fetches URLs. `watch` is called several times a second with the progress, and returns whether to continue.
///
/// # Errors
/// See [`LiveError`]; a URL that could not be fetched is not an error, but part of the report.
pub fn fetch(
    options: &FetchOptions,
    watch: &mut dyn FnMut(&FetchProgress) -> bool,
) -> Result<FetchReport, LiveError> {
    std::fs::create_dir_all(&options.out).map_err(|error| LiveError::File(options.out.clone(), error))?;
    let mut places: Vec<PathBuf> = Vec::new();
    for url in &options.urls {
        let place = options.out.join(url.file_name());
        if places.contains(&place) {
            return Err(LiveError::SameFile(url.as_str().to_owned(), place));
        }
        places.push(place);
    }
    let clock = Clock::start();
    let alpn: Vec<&[u8]> = options.protocols.iter().map(String::as_bytes).collect();
    let context = Context::real(&options.settings.tls, &alpn, &options.trust, None, clock.date_of_zero())?;
    let mut client = Client {
        options,
        clock,
        context,
        memory: Memory::default(),
        records: Rc::new(RefCell::new(Records::new(Side::Client, &options.recording)?)),
        progress: Rc::new(RefCell::new(FetchProgress::default())),
        report: FetchReport::default(),
    };
    client.report.urls = options
        .urls
        .iter()
        .map(|url| FetchedUrl {
            url: url.as_str().to_owned(),
            file: None,
            fetched: Fetched::default(),
            problem: None,
        })
        .collect();
    for group in groups(options) {
        if client.report.interrupted || client.is_out_of_time() {
            break;
        }
        client.fetch_group(&group, &places, watch)?;
    }
    Ok(client.report)
}

/// The indices of the URLs for each connection.
fn groups(options: &FetchOptions) -> Vec<Vec<usize>> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (number, url) in options.urls.iter().enumerate() {
        let authority = url.authority();
        match groups.iter_mut().find(|(known, _)| *known == authority) {
            Some((_, group)) => group.push(number),
            None => groups.push((authority, vec![number])),
        }
    }
    let mut connections = Vec::new();
    for (_, mut group) in groups {
        match options.connections {
            Connections::Each => connections.extend(group.into_iter().map(|number| vec![number])),
            Connections::Resumed if group.len() > 1 => {
                let rest = group.split_off(1);
                connections.extend([group, rest]);
            }
            _ => connections.push(group),
        }
    }
    connections
}

/// The state that the connections of a fetch share.
struct Client<'a> {
    options: &'a FetchOptions,
    clock: Clock,
    context: Context,
    memory: Memory,
    records: Rc<RefCell<Records>>,
    progress: Rc<RefCell<FetchProgress>>,
    report: FetchReport,
}

impl Client<'_> {
    fn is_out_of_time(&self) -> bool {
        self.options.timeout.is_some_and(|timeout| self.clock.now() >= Time::ZERO + timeout)
    }

    fn fetch_group(
        &mut self,
        group: &[usize],
        places: &[PathBuf],
        watch: &mut dyn FnMut(&FetchProgress) -> bool,
    ) -> Result<(), LiveError> {
        let Some(first) = group.first().map(|number| &self.options.urls[*number]) else { return Ok(()) };
        let addresses = resolve(first, self.options.ipv6)?;
        let mut last = String::new();
        for remote in addresses {
            let visit = self.connect(first, remote, group, places, watch)?;
            let established = visit.established.is_some();
            let ended = visit.ended.clone();
            self.note(remote, group, places, visit);
            if established || self.report.interrupted || self.is_out_of_time() {
                return Ok(());
            }
            last = format!("{} at {remote}: {ended}", first.authority());
        }
        Err(LiveError::Connect(last))
    }

    /// The request for the URL with this index.
    fn request(&self, number: usize) -> Request {
        let mut request = Request::get(self.options.urls[number].path());
        request.priority.incremental = self.options.incremental;
        let urgencies = &self.options.urgencies;
        if let Some(urgency) = urgencies.get(number % urgencies.len().max(1)) {
            request.priority.urgency = (*urgency).min(7);
        }
        request
    }

    /// Runs one connection from start to end.
    fn connect(
        &mut self,
        url: &Url,
        remote: SocketAddr,
        group: &[usize],
        places: &[PathBuf],
        watch: &mut dyn FnMut(&FetchProgress) -> bool,
    ) -> Result<Visit, LiveError> {
        let any = match remote {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = Socket::bind_with_errors(any).map_err(|error| LiveError::Bind(any, error))?;
        let mut endpoint = EndpointOptions::new(socket.local(), self.context.clone());
        endpoint.interest = self.options.recording.interest();
        let mut endpoint = Endpoint::new(endpoint, system_random().map_err(LiveError::System)?);
        endpoint.set_memory(self.memory.clone());
        let requests = group.iter().map(|number| self.request(*number)).collect();
        let places = group.iter().map(|number| places[*number].clone()).collect();
        let store = Store::new(places, self.progress.clone()).with_max_size(self.options.max_size);
        let web = WebClient::new(url.authority(), requests, self.options.concurrency, Box::new(store));
        let began = self.clock.now();
        let config = Arc::new(self.options.settings.transport.clone());
        let server = format!("{}:{}", url.host(), remote.port());
        let opening = Opening {
            authority: Some(server.clone()),
            early_data: self.options.early_data,
            resume: self.options.connections != Connections::Each,
            ..Opening::new(remote, config)
        };
        // What the server has passed on before, and the connection may send back.
        let known = self.memory.capacity(&server).map(|(bytes, _)| bytes);
        let handle = endpoint.connect(began, opening.to_host(url.host()));
        let handle = handle.map_err(|error| LiveError::Connect(format!("{}: {error}", url.authority())))?;
        let mut visit = Visit::new(web, began, self.records.clone());
        let mut driver = Driver::new(self.clock, endpoint, vec![socket]);
        let give_up = began + self.options.connect_timeout;
        let end = self.options.timeout.map_or(Time::NEVER, |timeout| Time::ZERO + timeout);
        let mut migrate_after = self.options.migrate_after;
        let mut tell_at = began;
        // The received data, and when it last grew.
        let mut last = ((0, 0), began);
        while !visit.is_over {
            let now = driver.now();
            driver.turn(&mut visit, now + TURN).map_err(LiveError::System)?;
            let now = driver.now();
            let goes_on = now < tell_at || watch(&self.progress.borrow());
            if now >= tell_at {
                tell_at = now + TURN;
                let came = visit.came();
                if came != last.0 || visit.established.is_none() {
                    last = (came, now);
                }
            }
            let stalled = now >= last.1 + self.options.stall_timeout;
            let too_long = visit.established.is_none() && now >= give_up;
            let out_of_time = now >= end;
            if let (Some(wait), Some(established)) = (migrate_after, visit.established)
                && now >= established + wait
                && !visit.is_over
            {
                migrate_after = None;
                migrate(&mut driver, handle, any)?;
            }
            let failed = visit.records.borrow().failed.is_some();
            if (!goes_on || too_long || out_of_time || stalled || failed || visit.refused)
                && let Some(connection) = driver.endpoint().get_mut(handle)
                && !connection.is_over()
            {
                self.report.interrupted |= !goes_on;
                let code = visit.web.no_error();
                connection.close(now, code, "the client gave up");
                if visit.refused {
                    visit.ended = "nothing listens there".to_owned();
                } else if too_long {
                    visit.ended = format!("no handshake within {}", self.options.connect_timeout);
                } else if out_of_time {
                    visit.ended = format!("not finished within {}", self.options.timeout.unwrap_or_default());
                } else if stalled {
                    visit.ended = format!("no data for {}", self.options.stall_timeout);
                }
            }
        }
        // This sends the final packets.
        let now = driver.now();
        driver.turn(&mut visit, now).map_err(LiveError::System)?;
        visit.capacity_returned = known.filter(|_| visit.stats.capacities_returned > 0);
        visit.capacity_kept = self.memory.capacity(&server).map(|(bytes, _)| bytes);
        let failed = self.records.borrow_mut().failed.take();
        failed.map_or(Ok(visit), Err)
    }

    /// Adds the results of a connection to the report.
    fn note(&mut self, remote: SocketAddr, group: &[usize], places: &[PathBuf], visit: Visit) {
        for (number, fetched) in group.iter().zip(visit.web.results()) {
            let told = &mut self.report.urls[*number];
            told.file = fetched.is_complete().then(|| places[*number].clone());
            told.fetched = fetched.clone();
            told.problem = fetched.failure.as_ref().map(|failure| match failure {
                Failure::ConnectionLost | Failure::NotProcessed if !visit.ended.is_empty() => {
                    format!("{failure}: {}", visit.ended)
                }
                _ => failure.to_string(),
            });
        }
        let last = visit.web.results().iter().filter_map(|fetched| fetched.finished_at).max();
        self.report.connections.push(FetchedOver {
            remote,
            protocol: visit.protocol,
            version: visit.version,
            resumed: visit.resumed,
            capacity_returned: visit.capacity_returned,
            capacity_kept: visit.capacity_kept,
            handshake: visit.established.map(|at| at.since(visit.began)),
            duration: last.unwrap_or(visit.began).since(visit.began),
            ended: visit.ended,
            stats: visit.stats,
        });
    }
}

/// Moves a connection to another local port, after validation of the path.
fn migrate(driver: &mut Driver, handle: Handle, any: SocketAddr) -> Result<(), LiveError> {
    let socket = Socket::bind_with_errors(any).map_err(|error| LiveError::Bind(any, error))?;
    let (now, local) = (driver.now(), socket.local());
    driver.add_socket(socket);
    let Some(connection) = driver.endpoint().get_mut(handle) else { return Ok(()) };
    match connection.migrate(now, local, Migration::Probe) {
        Ok(()) | Err(MigrateError::Closed) => Ok(()),
        Err(error) => Err(LiveError::Connect(format!("{}: {error}", connection.remote()))),
    }
}

/// The addresses of a URL's host, in the order of the system's preference.
fn resolve(url: &Url, ipv6: Option<bool>) -> Result<Vec<SocketAddr>, LiveError> {
    let wanted = |address: &SocketAddr| ipv6.is_none_or(|ipv6| address.is_ipv6() == ipv6);
    let found: Vec<SocketAddr> = match url.host().parse::<IpAddr>() {
        Ok(ip) => vec![SocketAddr::new(ip, url.port())],
        Err(_) => (url.host(), url.port())
            .to_socket_addrs()
            .map_err(|error| LiveError::Host(url.host().to_owned(), error.to_string()))?
            .collect(),
    };
    let found: Vec<SocketAddr> = found.into_iter().filter(wanted).collect();
    if found.is_empty() {
        let why = if ipv6 == Some(true) { "it has no IPv6 address" } else { "it has no IPv4 address" };
        return Err(LiveError::Host(url.host().to_owned(), why.to_owned()));
    }
    Ok(found)
}

/// A connection with its application.
struct Visit {
    web: WebClient,
    records: Rc<RefCell<Records>>,
    log: Log,
    began: Time,
    established: Option<Time>,
    protocol: String,
    version: u32,
    resumed: bool,
    capacity_returned: Option<u64>,
    capacity_kept: Option<u64>,
    ended: String,
    stats: Stats,
    is_over: bool,
    /// Whether its end was recorded.
    is_noted: bool,
    /// Whether the system has reported that the server's port is closed.
    refused: bool,
}

impl Visit {
    /// The number of completed responses, and the number of received bytes.
    fn came(&self) -> (usize, u64) {
        let results = self.web.results();
        let finished = results.iter().filter(|fetched| fetched.finished_at.is_some()).count();
        (finished, results.iter().map(|fetched| fetched.bytes).sum())
    }

    fn new(web: WebClient, began: Time, records: Rc<RefCell<Records>>) -> Visit {
        Visit {
            web,
            records,
            log: Log::default(),
            began,
            established: None,
            protocol: String::new(),
            version: 0,
            resumed: false,
            capacity_returned: None,
            capacity_kept: None,
            ended: String::new(),
            stats: Stats::default(),
            is_over: false,
            is_noted: false,
            refused: false,
        }
    }
}

impl Applications for Visit {
    fn attend(&mut self, now: Time, _handle: Handle, connection: &mut Connection) {
        if self.is_over {
            // Its records are complete.
            drop(connection.log().drain());
            return;
        }
        while let Some(event) = connection.poll_event() {
            if event == Event::Connected {
                self.established = Some(now);
                self.protocol = connection
                    .alpn()
                    .map(|alpn| String::from_utf8_lossy(alpn).into_owned())
                    .unwrap_or_default();
                self.resumed = connection.is_resumed();
            }
            self.web.on_event(now, &event, &mut QuicTransport { connection: &mut *connection, now });
            if event == Event::Ended {
                self.is_over = true;
                if self.ended.is_empty() {
                    self.ended = connection.close_reason().map(CloseReason::to_string).unwrap_or_default();
                }
                self.stats = connection.stats();
                self.version = connection.version().0;
            }
        }
        if self.is_noted {
            return;
        }
        let records = &mut *self.records.borrow_mut();
        records.take(&mut self.log, connection);
        if self.is_over {
            records.end(&mut self.log);
            self.is_noted = true;
        }
    }

    fn wake_at(&self) -> Option<Time> {
        None
    }
    fn wake(&mut self, _now: Time, _endpoint: &mut Endpoint) {}
    fn unreachable(&mut self, _remote: SocketAddr, error: io::Error) {
        // In the middle of a connection anyone could have forged such a message (RFC 9000 section 21.5.5).
        self.refused |= self.established.is_none() && error.kind() == io::ErrorKind::ConnectionRefused;
    }
}
