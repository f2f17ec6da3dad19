//! Errors of a server or a fetch, before it runs or later.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Size;

/// Whether an error is temporary: the process or the system has too many open files, or no memory.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    let lacking = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    lacking.into_iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// The reason why a server cannot run, or a fetch fails: one line that says what, where and what would be
/// right.
#[derive(Debug)]
pub enum LiveError {
    /// No socket can be opened at this address.
    Bind(SocketAddr, io::Error),
    /// A file or folder cannot be used.
    File(PathBuf, io::Error),
    /// The operating system cannot provide random numbers, or wait for sockets.
    System(io::Error),
    /// Certificates, keys or protocols are invalid.
    Tls(tls::Error),
    /// An option is unknown, or has no such value.
    Setting(lab::scenario::ScenarioError),
    /// The memory is too small for the number of clients.
    Memory {
        /// The available memory.
        memory: Size,
        /// The number of clients.
        connections: usize,
        /// The required memory.
        least: Size,
    },
    /// The file of known paths cannot be used: the reason, and what is expected.
    Document(PathBuf, String),
    /// A client sends no capacity back, because it resumes from none.
    NoResumption,
    /// What is learned of paths cannot be kept in a file: nothing is learned (`true`), or it is not stored by address.
    NothingToKeep(bool),
    /// The file of known paths cannot be written.
    NotKept(PathBuf, io::Error),
    /// A URL is malformed or cannot be fetched: the text, and the reason.
    Url(String, String),
    /// This URL would be written to the same file as another one.
    SameFile(String, PathBuf),
    /// The name of a host is unknown.
    Host(String, String),
    /// The connection could not be opened.
    Connect(String),
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Bind(address, error) => write!(f, "cannot listen on {address}: {error}"),
            LiveError::File(path, error) => write!(f, "{}: {error}", path.display()),
            LiveError::System(error) => write!(f, "the operating system reports an error: {error}"),
            LiveError::Tls(error) => write!(f, "{error}"),
            LiveError::Setting(error) => write!(f, "{error}"),
            LiveError::Memory { memory, connections, least } => {
                let clients = if *connections == 1 { "client" } else { "clients" };
                write!(
                    f,
                    "{memory} of memory is too little for {connections} {clients}: expected at least {least}"
                )
            }
            LiveError::Document(path, problem) => write!(f, "{}: {problem}", path.display()),
            LiveError::NoResumption => write!(
                f,
                "only a client that resumes sends a capacity back, but transport.resume is none; expected \
                 careful or seed"
            ),
            LiveError::NothingToKeep(nothing) => {
                let why = if *nothing {
                    "transport.resume is none"
                } else {
                    "the store of transport.resume is not by address"
                };
                write!(
                    f,
                    "{why}, so there is nothing to remember; expected careful or seed, with store = \
                     \"address\", or no --remember"
                )
            }
            LiveError::NotKept(path, error) => write!(
                f,
                "{}: cannot be written ({error}); expected a file in a folder that can be written",
                path.display()
            ),
            LiveError::Url(url, why) => write!(f, "{url:?} cannot be fetched: {why}"),
            LiveError::SameFile(url, path) => {
                write!(f, "{url:?} and a URL before it would both be written to {}", path.display())
            }
            LiveError::Host(host, why) => write!(f, "no address for {host:?}: {why}"),
            LiveError::Connect(why) => write!(f, "no connection: {why}"),
        }
    }
}
impl std::error::Error for LiveError {}

impl From<tls::Error> for LiveError {
    fn from(error: tls::Error) -> LiveError {
        LiveError::Tls(error)
    }
}
