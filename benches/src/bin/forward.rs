//! A forwarder between two TUN devices and nothing else: what passing packets through a process costs, beside which
//! `benches/emulate.py` measures a world.
//!
//! It creates the devices `gate0` and `gate1` in its network namespace, says `ready`, and carries what comes from one to the
//! other until it is killed. Large segments are split into packets, as for a network, and joined again.
#![cfg(target_os = "linux")]

use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, ErrorKind};
use tun_rs::{DeviceBuilder, GROTable, IDEAL_BATCH_SIZE, SyncDevice, VIRTIO_NET_HDR_LEN};

/// The longest IP packet.
const LONGEST: usize = 65_535;
/// Reads of one device before the other has its turn.
const READS: usize = 64;

/// What is carried from one device to the other.
struct Way {
    whole: Vec<u8>,
    parts: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    leaving: Vec<Vec<u8>>,
    groups: GROTable,
}

impl Way {
    fn new() -> Way {
        Way {
            whole: vec![0; VIRTIO_NET_HDR_LEN + LONGEST],
            parts: vec![vec![0; LONGEST]; IDEAL_BATCH_SIZE],
            sizes: vec![0; IDEAL_BATCH_SIZE],
            leaving: vec![Vec::new(); IDEAL_BATCH_SIZE],
            groups: GROTable::default(),
        }
    }

    /// Carries what there is. Returns whether there was anything.
    fn carry(&mut self, from: &SyncDevice, to: &SyncDevice) -> io::Result<bool> {
        for turn in 0..READS {
            let count = match from.recv_multiple(&mut self.whole, &mut self.parts, &mut self.sizes, 0) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(turn > 0),
                Err(error) if error.raw_os_error().is_none() => continue,
                Err(error) => return Err(error),
            };
            for at in 0..count {
                let leaving = &mut self.leaving[at];
                leaving.clear();
                leaving.resize(VIRTIO_NET_HDR_LEN, 0);
                leaving.extend_from_slice(&self.parts[at][..self.sizes[at]]);
            }
            // A device that is full drops what it does not take, as any interface does.
            let _ = to.send_multiple(&mut self.groups, &mut self.leaving[..count], VIRTIO_NET_HDR_LEN);
        }
        Ok(true)
    }
}

fn main() -> io::Result<()> {
    let device = |name: &str| {
        let device = DeviceBuilder::new().name(name).mtu(1500).offload(true).enable(false).build_sync()?;
        device.set_nonblocking(true)?;
        io::Result::Ok(device)
    };
    let (first, second) = (device("gate0")?, device("gate1")?);
    println!("ready");
    let (mut there, mut back) = (Way::new(), Way::new());
    loop {
        let carried = [there.carry(&first, &second)?, back.carry(&second, &first)?];
        if carried == [false; 2] {
            let mut polled = [&first, &second].map(|device| PollFd::new(device, PollFlags::IN));
            match poll(&mut polled, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
