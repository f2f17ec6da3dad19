//! The calls of the application (RFC 9293 section 3.9.1).

use super::{Connection, Reset};
use crate::data::{Data, Read, Run};
use crate::event::{CloseReason, Event, NO_CODE};
use crate::state::State;
use transport::StreamError;
use units::Time;
use wire::tcp::Timestamps;

impl Connection {
    /// Writes data and returns the number of accepted bytes. Virtual bytes need no buffer space and are always
    /// accepted.
    ///
    /// # Errors
    /// See [`StreamError`].
    pub fn write(&mut self, data: Data<'_>) -> Result<u64, StreamError> {
        self.may_write()?;
        if self.unsent() >= self.writing.unsent_limit && !data.is_empty() {
            self.writing.blocked = true;
            return Err(StreamError::Blocked);
        }
        let at = self.written();
        let data = match data {
            // A stream has at most 2^62 bytes.
            Data::Virtual(length) => Data::Virtual(length.min((1 << 62) - at)),
            Data::Bytes(bytes) => {
                let kept = self.outgoing.stored() + self.tls.as_ref().map_or(0, |tls| tls.pending());
                let room = self.config.send_buffer.as_bytes().saturating_sub(kept);
                let taken = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
                self.writing.blocked |= taken < bytes.len();
                if taken == 0 && !bytes.is_empty() {
                    return Err(StreamError::Blocked);
                }
                Data::Bytes(&bytes[..taken])
            }
        };
        match (&mut self.tls, data) {
            (Some(tls), data) => tls.write(data),
            (None, Data::Bytes(bytes)) => self.outgoing.push_bytes(bytes),
            (None, Data::Virtual(length)) => self.outgoing.push_virtual(length, at),
        }
        Ok(data.len())
    }

    /// Blocks writes while at least `bytes` bytes wait to be sent for the first time, like the socket option
    /// TCP_NOTSENT_LOWAT; [`Event::Writable`] follows. By default only real bytes are limited,
    /// by the option `send_buffer`.
    pub fn limit_unsent(&mut self, bytes: u64) {
        self.writing.unsent_limit = bytes.max(1);
    }

    /// Bytes that have not been sent yet.
    fn unsent(&self) -> u64 {
        // A FIN, or the SYN before it was sent, takes a number beyond the data.
        let framed = (self.outgoing.end() + 1).saturating_sub(self.recovery.nxt);
        framed + self.tls.as_ref().map_or(0, |tls| tls.pending())
    }

    /// Reports that a blocked or partial write can continue, if it can.
    #[inline]
    pub(super) fn report_writable(&mut self) {
        if self.writing.blocked
            && self.outgoing.stored() < self.config.send_buffer.as_bytes()
            && self.unsent() < self.writing.unsent_limit
        {
            self.writing.blocked = false;
            self.events.push_back(Event::Writable);
        }
    }

    /// Application bytes written so far.
    fn written(&self) -> u64 {
        self.tls.as_ref().map_or(self.outgoing.end(), |tls| tls.written())
    }

    pub(super) fn may_write(&self) -> Result<(), StreamError> {
        match self.ending.reason {
            Some(CloseReason::Finished | CloseReason::Application { .. }) => Err(StreamError::Finished),
            Some(_) => Err(StreamError::Reset(NO_CODE)),
            None if self.writing.fin_wanted => Err(StreamError::Finished),
            None => Ok(()),
        }
    }

    /// Ends the data of this side (RFC 9293 section 3.10.4). The peer can still send.
    ///
    /// # Errors
    /// See [`StreamError`].
    pub fn finish_writing(&mut self) -> Result<(), StreamError> {
        self.may_write()?;
        self.writing.fin_wanted = true;
        Ok(())
    }

    /// Reads into `out`.
    ///
    /// # Errors
    /// [`StreamError::Reset`] if the connection ended before the data did.
    pub fn read(&mut self, now: Time, out: &mut [u8]) -> Result<Read, StreamError> {
        let mut at = 0;
        let limit = out.len() as u64;
        self.take(now, limit, |run| {
            let place = &mut out[at..at + run.len() as usize];
            at += place.len();
            match run {
                Run::Bytes(bytes) => place.copy_from_slice(bytes),
                Run::Virtual { from, .. } => wire::pattern::fill(from, place),
            }
        })
    }

    /// Discards up to `limit` bytes of the available data.
    ///
    /// # Errors
    /// See [`Connection::read`].
    pub fn skip(&mut self, now: Time, limit: u64) -> Result<Read, StreamError> {
        self.take(now, limit, |_| ())
    }

    pub(super) fn take(
        &mut self,
        now: Time,
        limit: u64,
        each: impl FnMut(Run<'_>),
    ) -> Result<Read, StreamError> {
        self.reading.reported = false;
        let bytes = match &mut self.tls {
            Some(tls) => tls.ready.take(limit, each),
            None => self.incoming.read(limit, each),
        };
        let unread = self.unread();
        let finished = unread == 0 && self.peer_is_done();
        let broken = self.ending.reason.as_ref().is_some_and(CloseReason::is_broken);
        if bytes == 0 && !finished && broken {
            return Err(StreamError::Reset(NO_CODE));
        }
        self.reading.read_to_end |= finished;
        self.window.on_read(now, self.incoming.next().saturating_sub(unread));
        self.stats.receive_window = self.stats.receive_window.max(self.window.size());
        let can_receive = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if can_receive
            && self.window.should_update(self.rcv_nxt(), unread, u64::from(self.opening.negotiated.mss))
        {
            self.acks.at_once();
        }
        Ok(Read { bytes, finished })
    }

    /// Application bytes acknowledged by the peer.
    pub fn acked_bytes(&self) -> u64 {
        self.stats.acked_bytes
    }

    /// Closes the connection. The code and the reason stay local. Data that was finished is still delivered, and the
    /// peer's end is still acknowledged; but if this side has not finished, or the peer sends more data, the connection
    /// is reset (RFC 9293 section 3.10.5, RFC 2525 section 2.17).
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        if self.ending.closed {
            return;
        }
        self.ending.closed = true;
        self.finish(now, CloseReason::Application { code, reason: reason.to_owned() });
        let done = self.writing.fin_wanted && self.unread() == 0;
        match self.state {
            State::Listen | State::SynSent => self.abort(now, CloseReason::Finished),
            State::Closed | State::TimeWait => {}
            State::FinWait2 if done => self.timers.time_wait_until = Some(now + self.config.time_wait),
            _ if done => {}
            _ => self.reset_peer(now),
        }
    }

    /// Ends the connection with a reset (RFC 9293 section 3.10.5).
    pub(super) fn reset_peer(&mut self, now: Time) {
        if let Some(remote) = self.ends.remote {
            let acknowledgement = Some(self.numbers.theirs.wire(self.rcv_nxt()));
            let sequence = self.numbers.ours.wire(self.recovery.nxt);
            let timestamps =
                Timestamps { value: self.timestamps.clock.value(now), echo: self.timestamps.recent.echo() };
            let timestamps = self.opening.negotiated.timestamps.then_some(timestamps);
            self.answers.reset = Some(Reset { remote, sequence, acknowledgement, timestamps });
        }
        self.abort(now, CloseReason::Finished);
    }
}
