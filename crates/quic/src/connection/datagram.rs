//! Datagrams of a connection (RFC 9221): the application's calls and the peer's frames.

use super::Connection;
use crate::assemble::Payload;
use crate::datagrams::Datagrams;
use crate::error::{DatagramError, TransportError};
use crate::stats::Stats;
use crate::stream::Data;
use wire::Code;
use wire::frame::datagram_header_size;

impl Connection {
    /// Queues a datagram, which is sent at most once, whole, and in no particular order (RFC 9221). It leaves as soon
    /// as window and pacer permit, before stream data. Returns its number, which [`crate::Event::DatagramAcked`] and
    /// [`crate::Event::DatagramLost`] contain.
    ///
    /// # Errors
    /// [`DatagramError::TooLarge`] above [`Connection::max_datagram_size`], [`DatagramError::Blocked`] while the
    /// queue is full (option `datagram_queue`), [`DatagramError::NotNegotiated`], [`DatagramError::Closed`].
    pub fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        if self.is_over() {
            return Err(DatagramError::Closed);
        }
        // RFC 9221-3-1; 9000-19.21-1: DATAGRAM is the only extension frame.
        let maximum = self.max_datagram_size().ok_or(DatagramError::NotNegotiated)?;
        if data.len() > maximum as u64 {
            return Err(DatagramError::TooLarge { maximum });
        }
        self.datagrams().send(data)
    }
    /// Takes the oldest received datagram and appends its bytes to `into`. Returns its length, or `None` if there is
    /// none: [`crate::Event::DatagramReadable`] reports the next one only after that.
    pub fn read_datagram(&mut self, into: &mut Vec<u8>) -> Option<u64> {
        self.datagrams.as_mut()?.read(Some(into))
    }
    /// Takes the oldest received datagram like [`Connection::read_datagram`], but drops its bytes.
    pub fn discard_datagram(&mut self) -> Option<u64> {
        self.datagrams.as_mut()?.read(None)
    }
    /// The length in bytes of the longest datagram that can be sent now; it changes with the path. `None` if the peer
    /// accepts none, or its parameters are not known yet.
    pub fn max_datagram_size(&self) -> Option<usize> {
        // RFC 9221-3-2: no larger "than the max_datagram_frame_size value it has received". This includes the
        // frame type; the Length field can be omitted.
        let frame = self.peer_datagram_frame().checked_sub(datagram_header_size(None))?;
        Some(frame.min(self.room_for_frames() - datagram_header_size(None)))
    }

    fn peer_datagram_frame(&self) -> usize {
        self.peer.as_ref().map_or(0, |peer| peer.max_datagram_frame_size.min(u64::from(u16::MAX)) as usize)
    }
    fn datagrams(&mut self) -> &mut Datagrams {
        let capacity = self.config.datagram_queue as usize;
        self.datagrams.get_or_insert_with(|| Box::new(Datagrams::new(capacity)))
    }
    /// Adds the datagram counters to `stats`.
    pub(super) fn with_datagram_stats(&self, stats: Stats) -> Stats {
        let datagram_frames = self.datagrams.as_ref().map(|datagrams| datagrams.stats).unwrap_or_default();
        Stats { datagram_frames, ..stats }
    }
    #[inline]
    pub(super) fn has_datagrams(&self) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| datagrams.has_pending())
    }
    #[inline]
    pub(super) fn has_datagram_events(&self) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| !datagrams.events.is_empty())
    }
    /// Appends the datagrams that fit. RFC 9221-5-1, 9221-6-1: only in packets that may carry stream data;
    /// 9221-5.4-1, 9000-19.21-2: only if window and pacer permit.
    pub(super) fn fill_datagrams(&mut self, payload: &mut Payload<'_>) {
        // A server that rejects 0-RTT may not accept datagrams any more: then none fits.
        let (maximum, frame) = (self.max_datagram_size().unwrap_or(0), self.peer_datagram_frame());
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.fill(payload, maximum, frame);
        }
    }

    /// Handles DATAGRAM, a frame of `size` bytes not counting virtual ones.
    pub(super) fn on_datagram(&mut self, data: wire::Data<'_>, size: usize) -> Result<(), TransportError> {
        let hollow = if let wire::Data::Virtual { length } = data { length } else { 0 };
        let violation = |what| Err(TransportError::new(Code::PROTOCOL_VIOLATION, what));
        match self.config.max_datagram_frame_size {
            // RFC 9221-3-3: "when it has not indicated support".
            0 => violation("DATAGRAM was not negotiated"),
            // RFC 9221-3-4: "larger than the value it sent in its max_datagram_frame_size".
            most if (size + hollow) as u64 > most => {
                violation("DATAGRAM larger than max_datagram_frame_size")
            }
            _ => {
                self.datagrams().receive(data);
                Ok(())
            }
        }
    }
}
