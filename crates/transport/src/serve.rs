//! The loop that serves an endpoint and its applications.

use crate::{Handle, Stack, Transmit};
use units::Time;

/// What an endpoint stands on: it has the applications of its connections, and a network.
pub trait Host<S: Stack> {
    /// What it knows a connection by.
    type Place: Copy;

    /// Something may have happened on a connection: lets its application hear of it. Returns its place.
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut S::Connection) -> Self::Place;
    /// An empty buffer for a datagram; `None`: no more are to be made now.
    fn buffer(&mut self) -> Option<Vec<u8>>;
    /// Takes back a buffer that no datagram was made in.
    fn recycle(&mut self, buffer: Vec<u8>);
    /// The place of the connection that has made a datagram out of its turn, or, if it is `None`, of the endpoint's own answers.
    fn sender(&mut self, handle: Option<Handle>) -> Self::Place;
    /// Takes a datagram that a connection sends.
    fn send(&mut self, now: Time, place: Self::Place, transmit: &Transmit, bytes: Vec<u8>);
}

/// Lets the connections of an endpoint and their applications do all that they have to do now.
#[inline(always)]
pub fn serve<S: Stack, H: Host<S>>(stack: &mut S, host: &mut H, now: Time) {
    loop {
        let mut active = None;
        if let Some((handle, connection)) = stack.active() {
            active = Some((handle, host.attend(now, handle, connection)));
        }
        let Some(mut bytes) = host.buffer() else { return };
        // By reference: to move what was just written costs more than to read it where it is.
        let made = stack.transmit(now, &mut bytes);
        let Some(transmit) = &made else {
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
