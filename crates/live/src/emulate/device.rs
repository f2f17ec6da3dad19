//! A TUN device: whole IP packets to and from the network stack of the system, many in a call.

use lab::emulation::Arrivals;
use network::Packet;
use network::gate;
use rustix::io::Errno;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, GROTable, IDEAL_BATCH_SIZE, SyncDevice, VIRTIO_NET_HDR_LEN};
use units::Time;

/// The longest IP packet.
const LONGEST: usize = 65_535;
/// Reads of one device before the world goes on.
const READS: usize = 64;

/// The packets of a device that this end could not pass on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceCounts {
    /// Bytes from the system that were no IP packet.
    pub unreadable: u64,
    /// Packets that the system did not take, or that are too long for IP.
    pub not_sent: u64,
    /// Whether somebody has deleted the device: it takes and gives no packets any more.
    pub is_deleted: bool,
}

/// A device, with the packets that are to be written to it.
pub(super) struct Device {
    device: SyncDevice,
    pub(super) counts: DeviceCounts,
    whole: Vec<u8>,
    parts: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    groups: GROTable,
    /// The packets to be written, each behind room for the header of the device; the first `filled` are.
    leaving: Vec<Vec<u8>>,
    filled: usize,
}

impl Device {
    /// Creates a device of this name, which vanishes with this value.
    pub(super) fn new(name: &str, mtu: u16) -> io::Result<Device> {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).offload(true).enable(false);
        let device = builder.build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Device {
            device,
            counts: DeviceCounts::default(),
            whole: vec![0; VIRTIO_NET_HDR_LEN + LONGEST],
            // A part is as long as the MTU at most, but for a packet that the system did not split.
            parts: vec![vec![0; LONGEST]; IDEAL_BATCH_SIZE],
            sizes: vec![0; IDEAL_BATCH_SIZE],
            groups: GROTable::default(),
            leaving: Vec::new(),
            filled: 0,
        })
    }

    /// Reads what has come from the system, up to a limit: it comes at this time, by the gate with this number.
    pub(super) fn read(&mut self, now: Time, gate: usize, arrivals: &mut Arrivals) -> io::Result<()> {
        for _ in 0..READS {
            let read = self.device.recv_multiple(&mut self.whole, &mut self.parts, &mut self.sizes, 0);
            let count = match read {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.raw_os_error() == Some(Errno::BADFD.raw_os_error()) => {
                    self.counts.is_deleted = true;
                    return Ok(());
                }
                // The library's own errors have no number: bytes that it cannot split.
                Err(error) if error.raw_os_error().is_none() => {
                    self.counts.unreadable += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            for (part, size) in self.parts.iter().zip(&self.sizes).take(count) {
                match gate::packet_of(&part[..*size], arrivals.buffer()) {
                    Ok(packet) => arrivals.add(now, gate, packet),
                    Err(_) => self.counts.unreadable += 1,
                }
            }
        }
        Ok(())
    }

    /// Queues a packet for the system. Returns the memory of its payload.
    pub(super) fn write(&mut self, mut packet: Packet) -> Vec<u8> {
        if self.filled == self.leaving.len() {
            self.leaving.push(Vec::new());
        }
        let bytes = &mut self.leaving[self.filled];
        bytes.clear();
        bytes.resize(VIRTIO_NET_HDR_LEN, 0);
        match gate::write(&mut packet, bytes) {
            Ok(()) => self.filled += 1,
            Err(_) => self.counts.not_sent += 1,
        }
        if self.filled == IDEAL_BATCH_SIZE {
            self.flush();
        }
        packet.bytes
    }

    /// Hands the queued packets over to the system.
    pub(super) fn flush(&mut self) {
        let filled = std::mem::take(&mut self.filled);
        if filled == 0 {
            return;
        }
        let bufs = &mut self.leaving[..filled];
        if self.device.send_multiple(&mut self.groups, bufs, VIRTIO_NET_HDR_LEN).is_err() {
            // One of them was refused; which others were taken is not known.
            self.counts.not_sent += 1;
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
