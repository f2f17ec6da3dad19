//! Joins datagrams of one size to one destination into a train that is sent by one call.

use crate::socket::{MAX_TRAIN, Socket, Train};
use quic::Transmit;
use std::io;
use std::net::SocketAddr;
use wire::Ecn;

/// The train that is being assembled, or that waits for a full socket.
#[derive(Debug)]
pub(crate) struct Outbox {
    local: SocketAddr,
    remote: SocketAddr,
    ecn: Ecn,
    segment: usize,
    /// Whether the last datagram is smaller than the others, so that no more can follow.
    closed: bool,
    count: usize,
    max_segments: usize,
    bytes: Vec<u8>,
    /// The number of bytes already sent, if the train is sent in pieces.
    sent: usize,
    calls: u64,
}

/// The result of sending a train.
#[derive(Debug)]
pub(crate) enum Sent {
    /// It was sent, or there was none.
    Yes,
    /// The socket with this number is full.
    Blocked(usize),
    /// A datagram was not sent: the destination is unreachable, or it is too large. The rest was sent.
    Failed(SocketAddr, io::Error),
}

impl Outbox {
    pub(crate) fn new() -> Outbox {
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        Outbox {
            local: nowhere,
            remote: nowhere,
            ecn: Ecn::NotEct,
            segment: 0,
            closed: false,
            count: 0,
            max_segments: 1,
            bytes: Vec::with_capacity(MAX_TRAIN),
            sent: 0,
            calls: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of calls that have sent something.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Whether this datagram can be the next one of the train.
    pub(crate) fn fits(&self, transmit: &Transmit) -> bool {
        self.is_empty()
            || (!self.closed
                && self.count < self.max_segments
                && transmit.length <= self.segment
                && self.bytes.len() + transmit.length <= MAX_TRAIN
                && (transmit.local, transmit.remote, transmit.ecn) == (self.local, self.remote, self.ecn))
    }

    /// Adds a datagram for which [`Outbox::fits`] is true.
    pub(crate) fn push(&mut self, transmit: &Transmit, bytes: &[u8], sockets: &[Socket]) {
        if self.is_empty() {
            (self.local, self.remote, self.ecn) = (transmit.local, transmit.remote, transmit.ecn);
            self.segment = bytes.len();
            self.max_segments =
                socket_for(sockets, transmit.local).map_or(1, |at| sockets[at].max_segments());
        }
        self.closed = bytes.len() < self.segment;
        self.count += 1;
        self.bytes.extend_from_slice(bytes);
    }

    /// Sends the train, whole or, if the system cannot segment it, one datagram at a time.
    pub(crate) fn flush(&mut self, sockets: &[Socket]) -> Sent {
        let mut failed = Sent::Yes;
        while self.sent < self.bytes.len() {
            let Some(at) = socket_for(sockets, self.local) else {
                failed = Sent::Failed(self.remote, io::ErrorKind::AddrNotAvailable.into());
                break;
            };
            let whole = self.sent == 0 && self.count <= sockets[at].max_segments();
            let end = if whole { self.bytes.len() } else { self.bytes.len().min(self.sent + self.segment) };
            let train = Train {
                local: self.local,
                remote: self.remote,
                ecn: self.ecn,
                segment: self.segment,
                bytes: &self.bytes[self.sent..end],
            };
            self.calls += 1;
            match sockets[at].send(&train) {
                Ok(()) => self.sent = end,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Sent::Blocked(at),
                // The system cannot segment trains; it says so once, and `max_segments` is 1 from then on.
                Err(_) if whole && self.count > 1 && sockets[at].max_segments() == 1 => {}
                Err(error) => {
                    failed = Sent::Failed(self.remote, error);
                    self.sent = end;
                }
            }
        }
        self.bytes.clear();
        (self.sent, self.count, self.closed) = (0, 0, false);
        failed
    }
}

/// The number of the socket for datagrams from this address: with the same port, and with the same address if
/// possible.
fn socket_for(sockets: &[Socket], local: SocketAddr) -> Option<usize> {
    let same_port = |socket: &Socket| {
        socket.local().port() == local.port() && socket.local().is_ipv4() == local.is_ipv4()
    };
    let exact = sockets.iter().position(|socket| same_port(socket) && socket.local().ip() == local.ip());
    exact.or_else(|| sockets.iter().position(same_port))
}
