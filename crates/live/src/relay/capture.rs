//! Captures of the traffic of a relay at the client and at the server.

use lab::capture::{Capture, Carried};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use units::{Duration, Time};
use wire::{Damage, Ecn};

/// `client.pcapng` has the datagrams that clients send, before any impairment, and those that reach them;
/// `server.pcapng` has the same of servers.
#[derive(Debug)]
pub(super) struct Captures {
    pub(super) client: Capture<File>,
    pub(super) server: Capture<File>,
    /// The date of the zero of the relay's clock, since 1970.
    date_of_zero: Duration,
}

/// A captured datagram.
pub(super) struct Seen<'a> {
    pub(super) at: Time,
    pub(super) ends: (SocketAddr, SocketAddr),
    pub(super) ecn: Ecn,
    pub(super) damage: Option<Damage>,
    pub(super) bytes: &'a [u8],
}

impl Captures {
    pub(super) fn new(folder: &Path) -> io::Result<Captures> {
        std::fs::create_dir_all(folder)?;
        let open = |name: &str| Capture::new(File::create(folder.join(name))?);
        Ok(Captures {
            client: open("client.pcapng")?,
            server: open("server.pcapng")?,
            date_of_zero: Duration::ZERO,
        })
    }

    /// The zero of the relay's clock has this date.
    pub(super) fn begin(&mut self, date: std::time::Duration) {
        self.date_of_zero = Duration::from_nanos(u64::try_from(date.as_nanos()).unwrap_or(0));
    }

    pub(super) fn at_client(&mut self, seen: &Seen<'_>) -> io::Result<()> {
        write(&mut self.client, self.date_of_zero, seen)
    }
    pub(super) fn at_server(&mut self, seen: &Seen<'_>) -> io::Result<()> {
        write(&mut self.server, self.date_of_zero, seen)
    }
    pub(super) fn finish(self) -> io::Result<()> {
        self.client.finish()?;
        self.server.finish()?;
        Ok(())
    }
}

fn write(capture: &mut Capture<File>, date_of_zero: Duration, seen: &Seen<'_>) -> io::Result<()> {
    let Seen { at, ends, ecn, damage, bytes } = *seen;
    let at = at + date_of_zero;
    match damage {
        None => capture.packet(at, ends.0, ends.1, ecn.bits(), bytes),
        Some(damage) => {
            let carried = Carried { source: ends.0, destination: ends.1, ecn, bytes };
            capture.altered_packet(at, &carried, damage)
        }
    }
}
