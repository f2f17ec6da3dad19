//! UDP sockets: segmentation offload, ECN, and the address and time of each received datagram.

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{ReceiveTimestampns, UdpGroSegment};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, TransportErrorPayload, UdpSocketState};
use rustix::net::sockopt;
use socket2::{Domain, Protocol, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;
use wire::Ecn;

/// The size of the kernel's buffers, if permitted: a path of 1 Gbit/s and 50 ms.
const BUFFER: usize = 8 << 20;
/// The kernel joins datagrams up to this size (`GRO_LEGACY_MAX_SIZE`).
const SLOT: usize = 1 << 16;
/// The maximum size of a train of segments: less than the payload of an IPv4 packet.
pub(crate) const MAX_TRAIN: usize = 65_000;
/// `UDP_MAX_SEGMENTS` of older kernels.
const MAX_SEGMENTS: usize = 64;

/// A non-blocking socket.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
}

/// A train of datagrams of one size, except for a smaller last one, that is sent by one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Train<'a> {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) segment: usize,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Train<'a> {
    /// A single datagram.
    pub(crate) fn single(local: SocketAddr, remote: SocketAddr, ecn: Ecn, bytes: &'a [u8]) -> Train<'a> {
        Train { local, remote, ecn, segment: bytes.len(), bytes }
    }
}

impl Socket {
    /// Opens a socket at this address. A socket at `::` only receives IPv6, so that IPv4 addresses have one
    /// form everywhere.
    ///
    /// # Errors
    /// Those of the system: the address is in use, or not of this machine.
    pub(crate) fn bind(local: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::open(local)?;
        // quinn-udp 0.6 requests the kernel's timestamps but reserves too little room for them: the ECN mark of
        // a joined train would be cut off.
        setsockopt(&socket.io, ReceiveTimestampns, &false)?;
        Ok(socket)
    }

    /// Opens a socket with the time of each received datagram, and without joined datagrams.
    ///
    /// # Errors
    /// Those of [`Socket::bind`].
    pub(crate) fn bind_with_times(local: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::open(local)?;
        setsockopt(&socket.io, UdpGroSegment, &false)?;
        Ok(socket)
    }

    fn open(local: SocketAddr) -> io::Result<Socket> {
        let socket = socket2::Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
        if local.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&local.into())?;
        // Beyond the limits of the system if permitted, otherwise up to them: a smaller buffer only costs
        // speed.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, BUFFER));
        let _ = sockopt::set_socket_send_buffer_size(&socket, BUFFER);
        let io = UdpSocket::from(socket);
        // This also makes the socket non-blocking, sets DF and GRO, and requests ECN and the local address of
        // each datagram.
        let state = UdpSocketState::new((&io).into())?;
        let local = io.local_addr()?;
        Ok(Socket { io, state, local })
    }

    /// Opens a socket whose ICMP errors are reported by [`Socket::take_error`].
    ///
    /// # Errors
    /// Those of [`Socket::bind`].
    pub(crate) fn bind_with_errors(local: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::bind(local)?;
        socket.state.enable_transport_errors((&socket.io).into())?;
        Ok(socket)
    }

    /// The local address, with its port.
    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// The maximum number of datagrams per call.
    pub(crate) fn max_segments(&self) -> usize {
        self.state.max_gso_segments().clamp(1, MAX_SEGMENTS)
    }

    /// Sends a train.
    ///
    /// # Errors
    /// `WouldBlock` while the socket's buffer is full; others concern the destination or the size.
    pub(crate) fn send(&self, train: &Train<'_>) -> io::Result<()> {
        let chosen = self.local.ip().is_unspecified() && !train.local.ip().is_unspecified();
        let transmit = quinn_udp::Transmit {
            destination: train.remote,
            ecn: EcnCodepoint::from_bits(train.ecn.bits()),
            contents: train.bytes,
            segment_size: Some(train.segment),
            src_ip: chosen.then(|| train.local.ip()),
        };
        self.state.try_send((&self.io).into(), &transmit)
    }

    /// The next ICMP error: its destination, and whether that is unreachable.
    pub(crate) fn take_error(&self) -> Option<(SocketAddr, bool)> {
        loop {
            let error = self.state.recv_transport_error((&self.io).into()).ok().flatten()?;
            let unreachable = matches!(error.payload, TransportErrorPayload::Unreachable);
            if let Some(addr) = error.addr {
                return Some((addr, unreachable));
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

/// The buffers for received datagrams.
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    meta: [RecvMeta; BATCH_SIZE],
}

/// Received datagrams of one size, except for a smaller last one.
pub(crate) struct Arrived<'a> {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) ecn: Ecn,
    /// The time of reception by the system since 1970, at a socket that requests it.
    pub(crate) date: Option<Duration>,
    pub(crate) datagrams: std::slice::ChunksMut<'a, u8>,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { bytes: vec![0; SLOT * BATCH_SIZE], meta: [RecvMeta::default(); BATCH_SIZE] }
    }

    /// Receives as many datagrams as fit into the buffers.
    ///
    /// # Errors
    /// `WouldBlock` if there are none; others concern earlier sent datagrams.
    pub(crate) fn receive<'a>(
        &'a mut self,
        socket: &Socket,
    ) -> io::Result<impl Iterator<Item = Arrived<'a>> + use<'a>> {
        let mut slots = self.bytes.chunks_mut(SLOT);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(slots.next().unwrap_or_default()));
        let count = socket.state.recv((&socket.io).into(), &mut slices, &mut self.meta)?;
        let local = socket.local;
        let arrived = self.bytes.chunks_mut(SLOT).zip(&self.meta).take(count);
        Ok(arrived.map(move |(slot, meta)| {
            let length = meta.len.min(slot.len());
            Arrived {
                local: SocketAddr::new(meta.dst_ip.map_or(local.ip(), IpAddr::from), local.port()),
                remote: meta.addr,
                ecn: meta.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8)),
                date: meta.timestamp,
                // An empty datagram has an empty stride.
                datagrams: slot[..length].chunks_mut(meta.stride.max(1)),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn receive(socket: &Socket) -> Vec<(SocketAddr, SocketAddr, Ecn, Vec<u8>)> {
        let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
        poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout)).unwrap();
        let mut inbox = Inbox::new();
        let mut all = Vec::new();
        for arrived in inbox.receive(socket).unwrap() {
            let (local, remote, ecn) = (arrived.local, arrived.remote, arrived.ecn);
            all.extend(arrived.datagrams.map(|bytes| (local, remote, ecn, bytes.to_vec())));
        }
        all
    }

    #[test]
    fn a_train_arrives_as_its_datagrams_with_addresses_and_ecn() {
        for (any, one) in [("0.0.0.0:0", "127.0.0.1"), ("[::]:0", "::1")] {
            let server = Socket::bind(any.parse().unwrap()).unwrap();
            let client = Socket::bind(any.parse().unwrap()).unwrap();
            let remote = SocketAddr::new(one.parse().unwrap(), server.local().port());
            let bytes: Vec<u8> = (0..2500).map(|i| i as u8).collect();
            let train = Train { local: client.local(), remote, ecn: Ecn::Ect0, segment: 1000, bytes: &bytes };
            client.send(&train).unwrap();
            let mut all = Vec::new();
            while all.len() < 3 {
                all.extend(receive(&server));
            }
            let back = SocketAddr::new(one.parse().unwrap(), client.local().port());
            for (i, chunk) in bytes.chunks(1000).enumerate() {
                assert_eq!(all[i], (remote, back, Ecn::Ect0, chunk.to_vec()));
            }
        }
    }

    #[test]
    fn each_datagram_of_a_train_has_its_time_and_its_ecn_mark() {
        let server = Socket::bind_with_times("127.0.0.1:0".parse().unwrap()).unwrap();
        let client = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let bytes = [7; 2500];
        let (local, remote) = (client.local(), server.local());
        client.send(&Train { local, remote, ecn: Ecn::Ce, segment: 1000, bytes: &bytes }).unwrap();
        let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
        let mut inbox = Inbox::new();
        let mut lengths = Vec::new();
        while lengths.len() < 3 {
            poll(&mut [PollFd::new(&server, PollFlags::IN)], Some(&timeout)).unwrap();
            for arrived in inbox.receive(&server).unwrap() {
                assert_eq!((arrived.ecn, arrived.date.is_some()), (Ecn::Ce, true));
                lengths.extend(arrived.datagrams.map(|bytes| bytes.len()));
            }
        }
        assert_eq!(lengths, [1000, 1000, 500]);
    }

    #[test]
    fn an_empty_datagram_is_nothing_and_does_no_harm() {
        let server = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        client.send_to(&[], server.local()).unwrap();
        assert_eq!(receive(&server), []);
    }

    #[test]
    fn a_closed_port_is_told() {
        let gone = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap().local();
        let client = Socket::bind_with_errors("127.0.0.1:0".parse().unwrap()).unwrap();
        let train = Train { local: client.local(), remote: gone, ecn: Ecn::NotEct, segment: 1, bytes: &[1] };
        client.send(&train).unwrap();
        let timeout = Timespec { tv_sec: 5, tv_nsec: 0 };
        poll(&mut [PollFd::new(&client, PollFlags::ERR)], Some(&timeout)).unwrap();
        let (address, unreachable) = client.take_error().unwrap();
        assert!(address.ip() == gone.ip() && unreachable);
        assert_eq!(client.take_error(), None);
    }
}
