//! The functions `serve` and `fetch`, which run the web server and the web client of the crate `live` until they are
//! done or interrupted.

use crate::error::{Error, OutputError};
use live::{
    Connections, FetchOptions, FetchReport, Limits, LiveError, Recording, ServeOptions, Server, Settings, Url,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::SocketAddr;
use std::path::PathBuf;
use tls::{Identity, Trust};
use units::{Duration, Size, Time};

/// The maximum delay before a signal takes effect.
const TURN: Duration = Duration::from_millis(50);
/// The time that a stopping server waits for requests in progress.
const GRACE: Duration = Duration::from_secs(2);

/// The number of bytes in a size such as `512 MB`. Rejects a size that is too small for this number of clients.
#[pyfunction]
pub(crate) fn server_memory(size: &str, max_connections: usize) -> PyResult<u64> {
    let size: Size =
        size.parse().map_err(|error: units::ParseError| PyValueError::new_err(error.to_string()))?;
    let limits = Limits::of(max_connections).with_memory(size);
    limits.map(|limits| limits.memory.as_bytes()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Serves the files of a folder until a signal handler raises an exception. Returns its statistics.
///
/// `identity` is the PEM of the certificates and of their key; without one a certificate for `names` is created.
/// `ready` is called once, when the sockets are open, with the addresses, the SHA-256 of the certificate in hexadecimal
/// digits, that of its public key in base64, and the certificate as PEM. `max_of_source`, `max_memory` (bytes) and
/// `max_files` are limits, by default those of [`Limits::of`]. `known_paths` is the file that keeps what is learned of paths.
/// `complain` is called with the first record that cannot be written, and when that file cannot be.
#[pyfunction]
#[pyo3(signature = (root, listen, *, identity, names, preferred, sets, only_cipher, protocols, hidden, max_connections, max_of_source, max_memory, max_files, known_paths, key_log, qlog, ready, complain))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn serve<'py>(
    py: Python<'py>,
    root: PathBuf,
    listen: Vec<String>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    names: Vec<String>,
    preferred: Option<String>,
    sets: Vec<String>,
    only_cipher: bool,
    protocols: Vec<String>,
    hidden: bool,
    max_connections: usize,
    max_of_source: Option<usize>,
    max_memory: Option<u64>,
    max_files: Option<usize>,
    known_paths: Option<PathBuf>,
    key_log: Option<PathBuf>,
    qlog: Option<PathBuf>,
    ready: Py<PyAny>,
    complain: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let identity = match identity {
        Some((chain, key)) => Identity::from_pem(&chain, &key),
        None => Identity::self_signed(&names, live::Clock::start().date_of_zero()),
    };
    let mut limits = Limits::of(max_connections);
    if let Some(most) = max_of_source {
        limits.places.clients_of_source = most;
        limits.places.half_open_of_source = most;
    }
    if let Some(bytes) = max_memory {
        limits = limits.with_memory(Size::from_bytes(bytes)).map_err(failed)?;
    }
    if let Some(files) = max_files {
        limits.files = files;
        limits.files_of_connection = limits.files_of_connection.min(files);
    }
    let options = ServeOptions {
        root,
        listen: listen.iter().map(|text| address(text)).collect::<PyResult<_>>()?,
        preferred: preferred.as_deref().map(address).transpose()?,
        identity: identity.map_err(|error| failed(error.into()))?,
        settings: with_only_cipher(Settings::of_server(&[at_the_door(&limits), sets].concat()), only_cipher)?,
        protocols,
        hidden,
        limits,
        known_paths,
        recording: Recording { key_log, qlog },
    };
    let stats = py.detach(|| run(&options, &ready, &complain))?;
    let dict = PyDict::new(py);
    for (name, count) in [
        ("connections", stats.connections),
        ("refused", stats.endpoint.refused),
        ("retries_sent", stats.endpoint.retries_sent),
        ("handshakes_gave_way", stats.endpoint.handshakes_gave_way),
        ("handshakes_timed_out", stats.endpoint.handshakes_timed_out),
        ("clients_gave_way", stats.endpoint.clients_gave_way),
        ("resets_sent", stats.endpoint.resets_sent),
        ("datagrams_sent", stats.sent.0),
        ("send_calls", stats.sent.1),
        ("datagrams_received", stats.received.0),
        ("receive_calls", stats.received.1),
        ("most_kept_bytes", stats.kept.1),
        ("unrecorded", stats.unrecorded),
        ("known_paths", stats.known_paths as u64),
        ("capacities_accepted", stats.capacities.0),
        ("capacities_refused", stats.capacities.1),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}

/// The options with which a server asks for addresses while a tenth of its places for handshakes are taken.
fn at_the_door(limits: &Limits) -> Vec<String> {
    let above = limits.places.half_open / 10;
    vec!["transport.retry=busy".to_owned(), format!("transport.retry_above={above}")]
}

/// The settings, with no other cipher suite than the one that they name, if that is wanted.
fn with_only_cipher(settings: Result<Settings, LiveError>, only_cipher: bool) -> PyResult<Settings> {
    let mut settings = settings.map_err(failed)?;
    settings.tls.real.only_cipher = only_cipher;
    Ok(settings)
}

/// The value of an option that is a size, such as `100 MB`.
fn size(option: &str, text: &str) -> PyResult<Size> {
    text.parse().map_err(|error: units::ParseError| PyValueError::new_err(format!("{option}: {error}")))
}

fn seconds(value: f64) -> Duration {
    Duration::from_nanos((value * 1e9) as u64)
}

/// Runs without the GIL, except for short calls.
fn run(options: &ServeOptions, ready: &Py<PyAny>, complain: &Py<PyAny>) -> PyResult<live::ServeStats> {
    let mut server = Server::bind(options).map_err(failed)?;
    let addresses: Vec<String> = server.addresses().iter().map(SocketAddr::to_string).collect();
    let identity = &options.identity;
    let fingerprint: String = identity.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    let key = tls::base64(&identity.key_fingerprint());
    let told =
        Python::attach(|py| ready.call1(py, (addresses, fingerprint, key, identity.to_pem())).map(drop));
    // Whoever reads that it is ready may interrupt it before that call returns.
    let mut interrupted = match told {
        Err(error) if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => true,
        told => told.map(|()| false)?,
    };
    while !interrupted {
        server.run_for(TURN).map_err(failed)?;
        report(&mut server, complain)?;
        interrupted = Python::attach(|py| py.check_signals()).is_err();
    }
    let stats = server.shut_down(GRACE).map_err(failed)?;
    report(&mut server, complain)?;
    Ok(stats)
}

/// Passes on what the server complains about.
fn report(server: &mut Server, complain: &Py<PyAny>) -> PyResult<()> {
    while let Some(complaint) = server.take_complaint() {
        let consequence = match complaint {
            LiveError::NotKept(..) => "what is learned of paths is not kept",
            _ => "the records are not complete",
        };
        let text = format!("{complaint}: {consequence}");
        Python::attach(|py| complain.call1(py, (text,)).map(drop))?;
    }
    Ok(())
}

/// Fetches URLs into files. Returns the results of the URLs and of the connections.
///
/// `connections` is "one", "resumed" or "each", see [`Connections`]; times are in seconds.
/// `trust` is ("roots", PEM of authorities), ("pin", SHA-256 in hexadecimal digits) or ("anyone", b""). `watch` is
/// called a few times per second with the received bytes, the total if known, and the number of complete files. An
/// exception from it or from a signal handler ends all transfers, and is raised after partial files are removed.
#[pyfunction]
#[pyo3(signature = (urls, out, *, trust, sets, protocols, ipv6, concurrency, urgencies, incremental, connections, early_data, bdp_frame, migrate_after, only_cipher, connect_timeout, stall_timeout, timeout, max_size, key_log, qlog, watch))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn fetch<'py>(
    py: Python<'py>,
    urls: Vec<String>,
    out: PathBuf,
    trust: (String, Vec<u8>),
    sets: Vec<String>,
    protocols: Vec<String>,
    ipv6: Option<bool>,
    concurrency: usize,
    urgencies: Vec<u8>,
    incremental: bool,
    connections: &str,
    early_data: bool,
    bdp_frame: bool,
    migrate_after: Option<f64>,
    only_cipher: bool,
    connect_timeout: f64,
    stall_timeout: f64,
    timeout: Option<f64>,
    max_size: Option<String>,
    key_log: Option<PathBuf>,
    qlog: Option<PathBuf>,
    watch: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = with_only_cipher(Settings::read(&sets), only_cipher)?;
    if bdp_frame {
        settings.send_capacity_back().map_err(failed)?;
    }
    let options = FetchOptions {
        urls: urls.iter().map(|url| Url::parse(url)).collect::<Result<_, _>>().map_err(failed)?,
        out,
        trust: trusted(&trust)?,
        settings,
        protocols,
        ipv6,
        concurrency,
        urgencies,
        incremental,
        connections: match connections {
            "each" => Connections::Each,
            "resumed" => Connections::Resumed,
            _ => Connections::One,
        },
        early_data,
        migrate_after: migrate_after.map(seconds),
        connect_timeout: seconds(connect_timeout),
        stall_timeout: seconds(stall_timeout),
        timeout: timeout.map(seconds),
        max_size: max_size.map(|size| self::size("--max-size", &size)).transpose()?,
        recording: Recording { key_log, qlog },
    };
    let (report, stopped) = py.detach(|| {
        let mut stopped = None;
        let report = live::fetch(&options, &mut |progress| {
            if stopped.is_some() {
                return false;
            }
            let called = Python::attach(|py| {
                py.check_signals()?;
                watch.call1(py, (progress.bytes, progress.total, progress.files)).map(drop)
            });
            stopped = called.err();
            stopped.is_none()
        });
        (report, stopped)
    });
    match stopped {
        Some(stopped) => Err(stopped),
        None => to_dict(py, &report.map_err(failed)?),
    }
}

fn trusted((kind, data): &(String, Vec<u8>)) -> PyResult<Trust> {
    match kind.as_str() {
        "roots" => Trust::from_pem(data).map_err(|error| failed(error.into())),
        "anyone" => Ok(Trust::Anyone),
        _ => {
            let digits: Vec<u8> = data.iter().copied().filter(|byte| *byte != b':').collect();
            let mut pin = [0; 32];
            let read = digits.len() == 64
                && pin.iter_mut().zip(digits.chunks(2)).all(|(byte, pair)| {
                    let value =
                        std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
                    value.map(|value| *byte = value).is_some()
                });
            let expected = "a pin is a SHA-256: 64 hexadecimal digits, with or without colons, or 44 characters of base64";
            if read { Ok(Trust::Pin(pin)) } else { Err(PyValueError::new_err(expected)) }
        }
    }
}

fn to_dict<'py>(py: Python<'py>, report: &FetchReport) -> PyResult<Bound<'py, PyDict>> {
    let seconds = |duration: Duration| duration.as_nanos() as f64 / 1e9;
    let since_begin = |at: Time| seconds(at.since(Time::ZERO));
    let urls = PyList::empty(py);
    for url in &report.urls {
        let row = PyDict::new(py);
        row.set_item("url", &url.url)?;
        row.set_item("file", url.file.as_ref().map(|path| path.display().to_string()))?;
        row.set_item("status", url.fetched.status)?;
        row.set_item("bytes", url.fetched.bytes)?;
        row.set_item("early_data", url.fetched.early)?;
        row.set_item("asked_s", url.fetched.requested_at.map(since_begin))?;
        row.set_item("first_byte_s", url.fetched.first_at.map(since_begin))?;
        row.set_item(
            "complete_s",
            url.fetched.finished_at.filter(|_| url.fetched.is_complete()).map(since_begin),
        )?;
        row.set_item("problem", &url.problem)?;
        urls.append(row)?;
    }
    let connections = PyList::empty(py);
    for over in &report.connections {
        let row = PyDict::new(py);
        row.set_item("remote", over.remote.to_string())?;
        row.set_item("protocol", &over.protocol)?;
        row.set_item("version", over.version)?;
        row.set_item("resumed", over.resumed)?;
        row.set_item("capacity_returned_bytes", over.capacity_returned)?;
        row.set_item("capacity_kept_bytes", over.capacity_kept)?;
        row.set_item("handshake_s", over.handshake.map(seconds))?;
        row.set_item("duration_s", seconds(over.duration))?;
        row.set_item("ended", &over.ended)?;
        row.set_item("datagrams_sent", over.stats.datagrams_sent)?;
        row.set_item("datagrams_received", over.stats.datagrams_received)?;
        row.set_item("packets_lost", over.stats.packets_declared_lost)?;
        row.set_item("key_updates", over.stats.key_updates)?;
        connections.append(row)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("complete", report.is_complete())?;
    dict.set_item("urls", urls)?;
    dict.set_item("connections", connections)?;
    Ok(dict)
}

fn address(text: &str) -> PyResult<SocketAddr> {
    let expected = "expected an address with a port, as 127.0.0.1:4433 or [::1]:4433";
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is not an address: {expected}")))
}

fn failed(error: LiveError) -> PyErr {
    match error {
        LiveError::File(..) => OutputError::new_err(error.to_string()),
        error => Error::new_err(error.to_string()),
    }
}
