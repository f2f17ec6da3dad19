//! A UDP socket: datagrams with ECN fields, several in one call where the kernel has it.

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use wire::Ecn;

/// As large as what the system hands over at one time.
const LARGEST: usize = 1 << 16;
/// What the system is asked to keep of what has not been read.
const BUFFER: usize = 4 << 20;
/// The most bytes in one call that sends.
const TRAIN: usize = 60_000;

/// One socket, and datagrams of one size to one address that wait to be sent together.
pub(crate) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    local: SocketAddr,
    train: Vec<u8>,
    segment: usize,
    /// Whether a datagram that was shorter than the others has ended it.
    complete: bool,
    to: Option<(SocketAddr, Ecn)>,
}

/// Memory that datagrams are read into.
pub(crate) struct Buffers(Vec<u8>);

impl Buffers {
    pub(crate) fn new() -> Buffers {
        Buffers(vec![0; BATCH_SIZE * LARGEST])
    }
}

impl Socket {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Socket> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        // As large as the system permits.
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let local = socket.local_addr()?;
        Ok(Socket { socket, state, local, train: Vec::new(), segment: 0, complete: false, to: None })
    }
    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// Reads one batch; gives whether there was any.
    pub(crate) fn receive(
        &self,
        buffers: &mut Buffers,
        mut each: impl FnMut(SocketAddr, Ecn, &mut [u8]),
    ) -> io::Result<bool> {
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> = buffers.0.chunks_mut(LARGEST).map(IoSliceMut::new).collect();
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut meta) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {
                return Ok(false);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        for (meta, buffer) in meta.iter().zip(&mut slices).take(count) {
            let ecn = Ecn::from_bits(meta.ecn.map_or(0, |codepoint| codepoint as u8));
            for bytes in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                each(meta.addr, ecn, bytes);
            }
        }
        Ok(true)
    }

    /// Takes a datagram; what does not go together with those that wait sends them first.
    pub(crate) fn push(&mut self, to: SocketAddr, ecn: Ecn, bytes: &[u8]) -> io::Result<()> {
        let segments = self.train.len() / self.segment.max(1);
        let fits = self.to == Some((to, ecn))
            && !self.complete
            && bytes.len() <= self.segment
            && self.train.len() + bytes.len() <= TRAIN
            && segments < self.state.max_gso_segments();
        if !fits {
            self.flush()?;
            self.segment = bytes.len();
            self.to = Some((to, ecn));
        }
        self.complete = bytes.len() < self.segment;
        self.train.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends what waits. What the system does not take is lost, except that it is waited for room.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some((to, ecn)) = self.to.take() else { return Ok(()) };
        let transmit = quinn_udp::Transmit {
            destination: to,
            ecn: EcnCodepoint::from_bits(ecn.bits()),
            contents: &self.train,
            segment_size: (self.train.len() > self.segment).then_some(self.segment),
            src_ip: None,
        };
        while let Err(error) = self.state.try_send((&self.socket).into(), &transmit) {
            match error.kind() {
                ErrorKind::WouldBlock => {
                    let mut polled = [PollFd::new(&self.socket, PollFlags::OUT)];
                    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }))?;
                }
                ErrorKind::Interrupted => {}
                // A port that nobody listens at, an interface that does not carry so much.
                _ => break,
            }
        }
        self.train.clear();
        self.complete = false;
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
