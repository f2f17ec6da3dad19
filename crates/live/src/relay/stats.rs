//! The counters of a relay, and its lateness.

use network::CarrierStats;
use units::{Duration, Lateness};

/// The counters of a relay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelayStats {
    /// Received datagrams of clients.
    pub from_clients: u64,
    /// Datagrams of servers, received at the current address of the client.
    pub from_servers: u64,
    /// Datagrams sent to servers.
    pub to_servers: u64,
    /// Datagrams sent to clients.
    pub to_clients: u64,
    /// Datagrams that arrived during a blackout.
    pub blacked_out: u64,
    /// Datagrams of servers to a former address of the client, datagrams of unknown origin, and packets that reached an end of the
    /// network and belong to no client or server.
    pub astray: u64,
    /// Datagrams that the system did not accept: too large for the interface, or without memory.
    pub not_sent: u64,
    /// Distinct addresses of clients.
    pub clients: u64,
    /// Completed moves.
    pub rebinds: u64,
    /// The delay between the due time of a datagram and its sending.
    pub lateness: Lateness,
    /// The time that a datagram waited in the system before the relay read it. The delay of the network starts at
    /// its reception.
    pub waiting: Lateness,
    /// How late all elements of the network were for what they did.
    pub world: Lateness,
    /// Lateness beyond this spoils results ([`lab::emulation::tolerance`]).
    pub tolerance: Duration,
    /// The directions of the links by name, with their counters; empty before the end.
    pub links: Vec<(String, CarrierStats)>,
}
