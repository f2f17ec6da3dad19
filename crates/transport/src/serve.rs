//! The loop that drives an endpoint and its applications.

use crate::{Handle, Outgoing, Stack, Transmit};
use units::Time;

/// The surroundings of an endpoint: the applications of its connections, and a network.
pub trait Host<S: Stack> {
    /// How it identifies a connection.
    type Place: Copy;
    /// What a datagram is built in.
    type Buffer;

    /// Notifies the application of a connection of its events; returns the place of the connection.
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut S::Connection) -> Self::Place;
    /// An empty buffer for a datagram; `None` if no more datagrams can be sent now.
    fn buffer(&mut self) -> Option<Self::Buffer>;
    /// The place in a buffer for the payload.
    fn outgoing(buffer: &mut Self::Buffer) -> Outgoing<'_>;
    /// Takes back an unused buffer.
    fn recycle(&mut self, buffer: Self::Buffer);
    /// The place of a connection that has sent a datagram out of its turn; for `None`, that of the endpoint's own answers.
    fn sender(&mut self, handle: Option<Handle>) -> Self::Place;
    /// Sends a datagram of a connection.
    fn send(&mut self, now: Time, place: Self::Place, transmit: &Transmit, buffer: Self::Buffer);
}

/// Serves an endpoint until nothing more can be done now: notifies applications of events, and sends datagrams.
#[inline(always)]
pub fn serve<S: Stack, H: Host<S>>(stack: &mut S, host: &mut H, now: Time) {
    loop {
        let mut active = None;
        if let Some((handle, connection)) = stack.active() {
            active = Some((handle, host.attend(now, handle, connection)));
        }
        let Some(mut buffer) = host.buffer() else { return };
        // By reference: moving the value costs more than reading it in place.
        let transmitted = stack.transmit(now, H::outgoing(&mut buffer));
        let Some(transmit) = &transmitted else {
            host.recycle(buffer);
            if stack.next_active().is_some() {
                continue;
            }
            return;
        };
        let place = match active {
            Some((handle, place)) if stack.has_sent(handle) => place,
            _ => host.sender(stack.sender()),
        };
        host.send(now, place, transmit, buffer);
        if transmit.last && stack.next_active().is_none() {
            return;
        }
    }
}
