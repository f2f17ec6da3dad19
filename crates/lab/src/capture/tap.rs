//! The interfaces of a capture: the places in the network where packets are captured.

use super::{Capture, Carried};
use network::{Packet, Protocol, gate};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use units::Time;

/// A capture that is written to a file.
pub(crate) type Captured = Capture<Box<dyn Write>>;

/// An interface of a capture that several parts of a run share. The capture is taken at the end of the run.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    capture: Rc<RefCell<Option<Captured>>>,
    interface: u32,
}

impl Tap {
    /// The first interface of a capture.
    pub(crate) fn new(capture: Captured) -> Tap {
        Tap { capture: Rc::new(RefCell::new(Some(capture))), interface: 0 }
    }

    /// Adds an interface with a name to the capture.
    pub(crate) fn interface(&self, name: &str) -> io::Result<Tap> {
        let mut capture = self.capture.borrow_mut();
        let interface =
            capture.as_mut().expect("interfaces are added while packets are captured").interface(name)?;
        Ok(Tap { capture: Rc::clone(&self.capture), interface })
    }

    /// Captures a packet.
    pub(crate) fn packet(&self, now: Time, packet: &Packet) -> io::Result<()> {
        let mut whole = Cow::Borrowed(packet);
        if !packet.is_written_out() {
            whole.to_mut().write_out();
        }
        let Packet { source, destination, ecn, .. } = *whole;
        let carried = Carried { source, destination, ecn, bytes: &whole.bytes };
        let mut capture = self.capture.borrow_mut();
        let Some(capture) = &mut *capture else { return Ok(()) };
        capture.select(self.interface);
        match (whole.protocol(), whole.damage()) {
            (Protocol::Tcp, damage) => capture.segment(now, &carried, damage),
            (Protocol::Udp, None) => capture.packet(now, source, destination, ecn.bits(), &whole.bytes),
            (Protocol::Udp, Some(damage)) => capture.altered_packet(now, &carried, damage),
            (Protocol::Ip, _) => {
                let mut bytes = Vec::new();
                gate::write(whole.to_mut(), &mut bytes).map_err(io::Error::other)?;
                capture.whole(now, &bytes)
            }
        }
    }

    /// Adds secrets (see [`Capture::secrets`]).
    pub(crate) fn secrets(&self, lines: &str) -> io::Result<()> {
        self.capture.borrow_mut().as_mut().map_or(Ok(()), |capture| capture.secrets(lines))
    }

    /// Ends the capture.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self.capture.borrow_mut().take() {
            Some(capture) => capture.finish()?.flush(),
            None => Ok(()),
        }
    }
}
