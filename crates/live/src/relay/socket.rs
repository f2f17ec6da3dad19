//! A UDP socket of the relay: datagrams with their ECN field and the time at which the system took them.

use crate::Clock;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use units::{Duration, Time};
use wire::Ecn;

/// What the system is asked to keep of what has not been read: a burst that comes while the relay waits for its turn.
const BUFFER: usize = 4 << 20;
/// As large as what the system hands over at one time: one datagram, or several that came as one.
const LARGEST: usize = 1 << 16;

/// One socket.
#[derive(Debug)]
pub(super) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
}

/// A datagram that has come.
#[derive(Debug)]
pub(super) struct Came<'a> {
    /// When the system took it.
    pub(super) at: Time,
    pub(super) from: SocketAddr,
    /// Which of the addresses of this machine it was sent to.
    pub(super) to: Option<IpAddr>,
    pub(super) ecn: Ecn,
    pub(super) bytes: &'a [u8],
}

/// The memory that datagrams are read into; one for all sockets.
pub(super) struct Buffers(Vec<u8>);

impl Buffers {
    pub(super) fn new() -> Buffers {
        Buffers(vec![0; BATCH_SIZE * LARGEST])
    }
}

impl Socket {
    /// A socket bound to this address.
    pub(super) fn bind(address: SocketAddr) -> io::Result<Socket> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        // As large as the system permits; what does not fit is lost, as in any router.
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let local = socket.local_addr()?;
        Ok(Socket { socket, state, local })
    }
    /// The address that it is bound to.
    pub(super) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Reads one batch; gives whether there was any.
    pub(super) fn receive(
        &self,
        clock: &Clock,
        buffers: &mut Buffers,
        mut each: impl FnMut(Came<'_>),
    ) -> io::Result<bool> {
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> = buffers.0.chunks_mut(LARGEST).map(IoSliceMut::new).collect();
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut meta) {
            Ok(count) => count,
            // What the other end's system says of a port that nobody listens at: a router would not care either.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {
                return Ok(false);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        let (now, date) = (clock.now(), clock.date());
        for (meta, buffer) in meta.iter().zip(&slices).take(count) {
            let age = meta.timestamp.and_then(|stamp| date.checked_sub(stamp)).unwrap_or_default();
            let age = Duration::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(0));
            let at = Time::from_nanos(now.as_nanos().saturating_sub(age.as_nanos()));
            for bytes in buffer[..meta.len].chunks(meta.stride.max(1)) {
                each(Came { at, from: meta.addr, to: meta.dst_ip, ecn: ecn_of(meta.ecn), bytes });
            }
        }
        Ok(true)
    }

    /// Sends a datagram, from this of the machine's addresses if one is given. What the system does not take is lost.
    pub(super) fn send(
        &self,
        to: SocketAddr,
        from: Option<IpAddr>,
        ecn: Ecn,
        bytes: &[u8],
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination: to,
            ecn: EcnCodepoint::from_bits(ecn.bits()),
            contents: bytes,
            segment_size: None,
            src_ip: from,
        };
        self.state.try_send((&self.socket).into(), &transmit)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn ecn_of(codepoint: Option<EcnCodepoint>) -> Ecn {
    Ecn::from_bits(codepoint.map_or(0, |codepoint| codepoint as u8))
}
