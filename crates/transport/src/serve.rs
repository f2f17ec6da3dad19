//! The loop that drives an endpoint and its applications.

use crate::{Handle, Outgoing, Stack, Transmit};
use units::Time;

/// The surroundings of an endpoint: the applications of its connections, and a network.
pub trait Environment<S: Stack> {
    /// How it identifies a connection.
    type Key: Copy;
    /// What a datagram is built in.
    type Buffer;

    /// Notifies the application of a connection of its events; returns the key of the connection.
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut S::Connection) -> Self::Key;
    /// An empty buffer for a datagram; `None` if no more datagrams can be sent now.
    fn buffer(&mut self) -> Option<Self::Buffer>;
    /// The place in a buffer for the payload.
    fn outgoing(buffer: &mut Self::Buffer) -> Outgoing<'_>;
    /// Takes back an unused buffer.
    fn recycle(&mut self, buffer: Self::Buffer);
    /// The key of a connection that has sent a datagram out of its turn; for `None`, that of the endpoint's own answers.
    fn sender(&mut self, handle: Option<Handle>) -> Self::Key;
    /// Sends a datagram of a connection.
    fn send(&mut self, now: Time, key: Self::Key, transmit: &Transmit, buffer: Self::Buffer);
}

/// Serves an endpoint until nothing more can be done now: notifies applications of events, and sends datagrams.
#[inline(always)]
pub fn serve<S: Stack, E: Environment<S>>(stack: &mut S, environment: &mut E, now: Time) {
    loop {
        let mut active = None;
        if let Some((handle, connection)) = stack.active() {
            active = Some((handle, environment.attend(now, handle, connection)));
        }
        let Some(mut buffer) = environment.buffer() else { return };
        // By reference: moving the value costs more than reading it in place.
        let transmitted = stack.transmit(now, E::outgoing(&mut buffer));
        let Some(transmit) = &transmitted else {
            environment.recycle(buffer);
            if stack.next_active().is_some() {
                continue;
            }
            return;
        };
        let key = match active {
            Some((handle, key)) if stack.has_sent(handle) => key,
            _ => environment.sender(stack.sender()),
        };
        environment.send(now, key, transmit, buffer);
        if transmit.last && stack.next_active().is_none() {
            return;
        }
    }
}
