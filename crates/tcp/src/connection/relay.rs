//! The calls of a proxy, which ends connections on both of its sides and passes their data on (RFC 3135 section 2.4).

use super::Connection;
use crate::data::Run;
use crate::state::State;
use transport::{Read, StreamError};
use units::Time;

impl Connection {
    /// Bytes that wait for the application.
    pub fn readable_bytes(&self) -> u64 {
        self.unread()
    }
    /// Written bytes, virtual ones included, that the peer has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        // The SYN takes the number 0.
        (self.outgoing.end() + 1).saturating_sub(self.recovery.una.max(1))
    }

    /// Moves data that has arrived here into the send buffer of another connection, as far as its option `send_buffer`
    /// allows; virtual bytes take as much room as real ones. What does not fit stays, so that the receive window closes.
    /// Virtual bytes remain virtual, wherever in the stream they are. Neither connection has TLS of its own: what passes
    /// are the bytes of the stream.
    ///
    /// # Errors
    /// Those of [`Connection::read`] here and of [`Connection::write`] there.
    pub fn relay(&mut self, now: Time, to: &mut Connection) -> Result<Read, StreamError> {
        debug_assert!(self.tls.is_none() && to.tls.is_none(), "a proxy relays the bytes of the stream");
        if self.unread() == 0 && (self.reading.read_to_end || !self.peer_is_done()) {
            return Ok(Read { bytes: 0, finished: self.reading.read_to_end });
        }
        to.may_write()?;
        let room = to.config.send_buffer.as_bytes().saturating_sub(to.unacknowledged_bytes());
        self.take(now, room, |run| match run {
            Run::Bytes(bytes) => to.outgoing.push_bytes(bytes),
            Run::Virtual { length, from } => to.outgoing.push_virtual(length, from),
        })
    }

    /// Ends the connection with a reset, whatever is in flight (RFC 9293 section 3.10.5: ABORT).
    pub fn reset(&mut self, now: Time) {
        self.ending.closed = true;
        match self.state {
            State::Closed | State::TimeWait => {}
            State::Listen | State::SynSent => self.abort(now, crate::CloseReason::Finished),
            _ => self.reset_peer(now),
        }
    }
}
