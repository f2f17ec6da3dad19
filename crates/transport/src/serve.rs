//! The loop that drives an endpoint and its applications.

use crate::{Handle, Stack, Transmit};
use units::Time;

/// The surroundings of an endpoint: the applications of its connections, and a network.
pub trait Host<S: Stack> {
    /// How it identifies a connection.
    type Place: Copy;

    /// Notifies the application of a connection of its events; returns the place of the connection.
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut S::Connection) -> Self::Place;
    /// An empty buffer for a datagram; `None` if no more datagrams can be sent now.
    fn buffer(&mut self) -> Option<Vec<u8>>;
    /// Takes back an unused buffer.
    fn recycle(&mut self, buffer: Vec<u8>);
    /// The place of a connection that has sent a datagram out of its turn; for `None`, that of the endpoint's own answers.
    fn sender(&mut self, handle: Option<Handle>) -> Self::Place;
    /// Sends a datagram of a connection.
    fn send(&mut self, now: Time, place: Self::Place, transmit: &Transmit, bytes: Vec<u8>);
}

/// Serves an endpoint until nothing more can be done now: notifies applications of events, and sends datagrams.
#[inline(always)]
pub fn serve<S: Stack, H: Host<S>>(stack: &mut S, host: &mut H, now: Time) {
    loop {
        let mut active = None;
        if let Some((handle, connection)) = stack.active() {
            active = Some((handle, host.attend(now, handle, connection)));
        }
        let Some(mut bytes) = host.buffer() else { return };
        // By reference: moving the value costs more than reading it in place.
        let transmitted = stack.transmit(now, &mut bytes);
        let Some(transmit) = &transmitted else {
            host.recycle(bytes);
            if stack.next_active().is_some() {
                continue;
            }
            return;
        };
        let place = match active {
            Some((handle, place)) if stack.has_sent(handle) => place,
            _ => host.sender(stack.sender()),
        };
        host.send(now, place, transmit, bytes);
    }
}
