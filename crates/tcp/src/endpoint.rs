//! The TCP endpoint of one end of a flow, as its host sees it.

use crate::{Arrival, Connection, Ports, TcpConnections};
use std::net::{IpAddr, SocketAddr};
use transport::{Datagram, Handle, Outgoing, Stack, Transmit};
use units::Time;
use wire::tcp::{Flags, Header};

/// All TCP connections of an end are one connection to its application.
const HANDLE: Handle = Handle::new(0, 0);

/// How an arriving segment is assigned to a connection.
enum Demultiplexer {
    /// At the client, by the local port.
    Client(Ports),
    /// At the server, by the port of the client at this address. Other addresses are those of a NAT: each has the next
    /// connection, in the order of their first segments.
    Server { ports: Ports, client: IpAddr, translated: Vec<SocketAddr> },
}

/// The TCP connections of a flow at one end, as a [`Stack`] with a single connection: each stream of that is a TCP
/// connection.
pub struct Endpoint {
    connections: TcpConnections,
    demultiplexer: Demultiplexer,
}

impl Endpoint {
    /// The endpoint of a client with these ports.
    pub fn client(connections: TcpConnections, ports: Ports) -> Endpoint {
        Endpoint { connections, demultiplexer: Demultiplexer::Client(ports) }
    }

    /// The endpoint of a server for the client with this address and these ports. `None` if its connections cannot be
    /// created.
    pub fn server(mut connections: TcpConnections, client: IpAddr, ports: Ports) -> Option<Endpoint> {
        connections.open_first(Time::ZERO, None)?;
        let demultiplexer = Demultiplexer::Server { ports, client, translated: Vec::new() };
        Some(Endpoint { connections, demultiplexer })
    }

    /// The connection that a segment belongs to.
    fn connection_of(&mut self, now: Time, datagram: &Datagram<'_>) -> Option<&mut Connection> {
        let index = match &mut self.demultiplexer {
            Demultiplexer::Client(ports) => {
                // The client has opened all the connections it knows.
                return self.connections.get(ports.connection(datagram.local.port())?);
            }
            Demultiplexer::Server { ports, client, .. } if datagram.remote.ip() == *client => {
                ports.connection(datagram.remote.port())?
            }
            Demultiplexer::Server { ports, translated, .. } => {
                translated_index(translated, usize::from(ports.count), datagram)?
            }
        };
        self.connections.get_or_create(now, index)
    }
}

/// The index of the connection from a translated address; a SYN from an unknown address begins the next one.
fn translated_index(
    translated: &mut Vec<SocketAddr>,
    limit: usize,
    datagram: &Datagram<'_>,
) -> Option<usize> {
    if let Some(index) = translated.iter().position(|remote| *remote == datagram.remote) {
        return Some(index);
    }
    let (header, _) = Header::decode(datagram.bytes).ok()?;
    let opens = header.flags.has(Flags::SYN) && !header.flags.has(Flags::ACK);
    (opens && translated.len() < limit).then(|| {
        translated.push(datagram.remote);
        translated.len() - 1
    })
}

impl Stack for Endpoint {
    type Connection = TcpConnections;
    /// The address of the server.
    type Opening = SocketAddr;

    fn connect(&mut self, now: Time, remote: SocketAddr) -> Result<Handle, String> {
        let opened = self.connections.open_first(now, Some(remote));
        opened.map(|_| HANDLE).ok_or_else(|| "no such controller".to_owned())
    }
    #[inline]
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        if let Some(connection) = self.connection_of(now, &datagram) {
            let Datagram { remote, ecn, hole, damage, .. } = datagram;
            connection.receive(now, Arrival { remote, ecn, bytes: datagram.bytes, hole, damage });
        }
    }
    #[inline]
    fn transmit(&mut self, now: Time, out: Outgoing<'_>) -> Option<Transmit> {
        let buffer = out.bytes;
        let (local, transmit) = self.connections.transmit(now, buffer)?;
        let crate::Transmit { remote, ecn, hole, carries_data } = transmit;
        let length = buffer.len() + hole.map_or(0, |hole| hole.length as usize);
        Some(Transmit { local, remote, ecn, hole, carries_data, length, last: false })
    }
    #[inline]
    fn wake_at(&self) -> Option<Time> {
        Some(self.connections.wake_at()).filter(|at| *at != Time::NEVER)
    }
    fn wake(&mut self, now: Time) {
        self.connections.wake(now);
    }
    #[inline]
    fn next_active(&self) -> Option<Handle> {
        self.connections.is_touched().then_some(HANDLE)
    }
    #[inline]
    fn active(&mut self) -> Option<(Handle, &mut Self::Connection)> {
        self.connections.is_touched().then_some((HANDLE, &mut self.connections))
    }
    fn sender(&self) -> Option<Handle> {
        Some(HANDLE)
    }
    #[inline]
    fn has_sent(&self, handle: Handle) -> bool {
        handle == HANDLE
    }
    fn get(&self, handle: Handle) -> Option<&Self::Connection> {
        (handle == HANDLE).then_some(&self.connections)
    }
    fn get_mut(&mut self, handle: Handle) -> Option<&mut Self::Connection> {
        (handle == HANDLE).then_some(&mut self.connections)
    }
}
