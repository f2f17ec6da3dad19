//! A scenario in real time, with UDP sockets at two of its gates: `quiclab real relay`.
//!
//! Clients send to one of its addresses. What they send enters the world of the scenario at one gate, and what the world brings
//! to the other gate is sent on to a server; answers go the other way. The world is that of a simulation with this seed: links,
//! media, middleboxes, events, and simulated hosts with their flows. Its clock is the
//! monotonic one. A packet enters it at the time at which the system received it from the sender, so that a
//! late wake-up of the relay has no effect unless it exceeds the packet's own delay. The lateness of sent
//! packets is measured.
//!
//! In the world a client has the address of its gate and a port of its own. Each address at which such packets reach the other gate,
//! which a NAT on the way may have chosen, has its own socket towards the server, and can be moved to another
//! port or another loopback address at a given time. ECN fields are carried in both directions (RFC 3168).
//!
//! It has one thread. Once warm it allocates for a turn, in which it reads and sends many packets, and not for a packet.

mod capture;
mod ends;
mod script;
mod sessions;
mod stats;
mod surroundings;

pub use stats::RelayStats;

use crate::Clock;
use crate::socket::{Inbox, Socket};
use capture::Captures;
use ends::{Ends, ends};
use lab::emulation::{Emulation, tolerance};
use lab::{Options, Outcome, Prepared, Scenario};
use script::Script;
use sessions::Sessions;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;
use surroundings::Surroundings;
use units::{Duration, Time};

/// The maximum number of pairs: each has a port in the network.
const MAX_PAIRS: usize = 1000;

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
    /// The addresses, at least one and at most 1000. Several represent several addresses of one server, such as a preferred
    /// address.
    pub pairs: Vec<Pair>,
    /// The world. If it has no gate, client and server of its first flow become gates ([`Scenario::with_gates`]).
    pub scenario: Scenario,
    /// The names of the gates of clients and of servers; needed if there are more than two. Default: the first and the second.
    pub gates: [Option<String>; 2],
    /// When it ends; default: never. The scenario's duration does not end it.
    pub duration: Option<Duration>,
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
    /// The world cannot be built, or cannot continue.
    Run(lab::RunError),
    /// A socket or a file failed.
    System {
        /// The failed action.
        what: String,
        /// The error of the system.
        error: io::Error,
    },
    /// More than 1000 pairs.
    TooManyPairs,
}

impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelayError::Run(error) => error.fmt(f),
            RelayError::System { what, error } => write!(f, "{what}: {error}"),
            RelayError::TooManyPairs => {
                write!(f, "too many addresses to listen on; expected {MAX_PAIRS} at most")
            }
        }
    }
}
impl std::error::Error for RelayError {}
impl From<lab::RunError> for RelayError {
    fn from(error: lab::RunError) -> RelayError {
        RelayError::Run(error)
    }
}

fn failed(what: impl Into<String>) -> impl FnOnce(io::Error) -> RelayError {
    let what = what.into();
    |error| RelayError::System { what, error }
}

/// A relay with open sockets, before its world begins.
pub struct Relay {
    pairs: Vec<Pair>,
    doors: Vec<Socket>,
    scenario: Scenario,
    prepared: Prepared,
    ends: Ends,
    end: Time,
    script: Script,
    captures: Option<Captures>,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("pairs", &self.pairs).field("ends", &self.ends).finish_non_exhaustive()
    }
}

impl Relay {
    /// Opens the sockets of a relay.
    ///
    /// # Errors
    /// If an address is unavailable, a file cannot be written, or it is not clear which gates are meant.
    pub fn new(options: &RelayOptions) -> Result<Relay, RelayError> {
        let (scenario, ends) = ends(&options.scenario, options.gates.each_ref().map(Option::as_deref))?;
        let mut pairs = options.pairs.clone();
        if pairs.len() > MAX_PAIRS {
            return Err(RelayError::TooManyPairs);
        }
        let mut doors = Vec::new();
        for pair in &mut pairs {
            let door = Socket::bind_with_times(pair.listen)
                .map_err(failed(format!("listening on {}", pair.listen)))?;
            pair.listen = door.local();
            doors.push(door);
        }
        let captures = options
            .capture
            .as_ref()
            .map(|folder| Captures::new(folder).map_err(failed(format!("writing to {}", folder.display()))));
        Ok(Relay {
            pairs,
            doors,
            prepared: Prepared::new(&scenario)?,
            scenario,
            ends,
            end: options.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration),
            script: Script::new(&options.blackouts, &options.rebinds),
            captures: captures.transpose()?,
        })
    }

    /// The addresses and servers; a port given as 0 is the one that the system has chosen.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Relays until the end, or until `progress` breaks it, which is called when the world begins and then every 20 ms. Completes
    /// the captures.
    ///
    /// # Errors
    /// If the world cannot be built, a socket or a capture fails, or the world cannot continue.
    pub fn run(
        self,
        options: &Options,
        progress: &mut dyn FnMut(&RelayStats) -> ControlFlow<()>,
    ) -> Result<(Outcome, RelayStats), RelayError> {
        let mut surroundings = Surroundings {
            clock: Clock::start(),
            pairs: self.pairs,
            doors: self.doors,
            ends: self.ends,
            clients: Sessions::default(),
            outsides: Sessions::default(),
            script: self.script,
            captures: self.captures,
            inbox: Inbox::new(),
            coming: Vec::new(),
            last: Time::ZERO,
            stats: RelayStats { tolerance: tolerance(&self.scenario), ..RelayStats::default() },
            progress,
            reported: Time::ZERO,
            is_over: false,
            failure: None,
        };
        let emulation = Emulation {
            scenario: &self.scenario,
            prepared: &self.prepared,
            options,
            end: self.end,
            captured: &[],
            altered_leave: true,
        };
        let emulated = emulation.run(&mut surroundings);
        let Surroundings { captures, failure, stats, .. } = surroundings;
        if let Some(captures) = captures {
            captures.finish().map_err(failed("writing a capture"))?;
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let emulated = emulated?;
        let stats = RelayStats { links: emulated.links, world: emulated.lateness, ..stats };
        Ok((emulated.outcome, stats))
    }
}

#[cfg(test)]
mod tests;
