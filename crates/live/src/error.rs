//! What can go wrong with a server or a fetch before it runs, or in the middle.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Size;

/// Whether an error says that the process or the system has too many files open, or no memory: it will pass.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    let lacking = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    lacking.into_iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Why a server cannot serve, or nothing can be fetched. One line that says what, where and what would be right.
#[derive(Debug)]
pub enum LiveError {
    /// No socket at this address.
    Bind(SocketAddr, io::Error),
    /// A file or folder.
    File(PathBuf, io::Error),
    /// The operating system: random numbers, or waiting for sockets.
    System(io::Error),
    /// Certificates, keys, protocols.
    Tls(tls::Error),
    /// An option that does not exist, or has no such value.
    Setting(lab::scenario::ScenarioError),
    /// The memory is too little for the number of clients.
    Memory {
        /// What there would be.
        memory: Size,
        /// The number of clients.
        connections: usize,
        /// The least there has to be.
        least: Size,
    },
    /// A URL that is malformed, or cannot be fetched here: the text, and why.
    Url(String, String),
    /// Two URLs, the second of which this is, would be written to the same file.
    SameFile(String, PathBuf),
    /// The name of a host that nothing is known of.
    Host(String, String),
    /// The connection could not be opened.
    Connect(String),
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Bind(address, error) => write!(f, "cannot listen at {address}: {error}"),
            LiveError::File(path, error) => write!(f, "{}: {error}", path.display()),
            LiveError::System(error) => write!(f, "the operating system refuses: {error}"),
            LiveError::Tls(error) => write!(f, "{error}"),
            LiveError::Setting(error) => write!(f, "{error}"),
            LiveError::Memory { memory, connections, least } => {
                let clients = if *connections == 1 { "client" } else { "clients" };
                write!(
                    f,
                    "{memory} of memory is too little for {connections} {clients}: expected at least {least}"
                )
            }
            LiveError::Url(url, why) => write!(f, "{url:?} cannot be fetched: {why}"),
            LiveError::SameFile(url, path) => {
                write!(f, "{url:?} and a URL before it would both be written to {}", path.display())
            }
            LiveError::Host(host, why) => write!(f, "no address of {host:?}: {why}"),
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
