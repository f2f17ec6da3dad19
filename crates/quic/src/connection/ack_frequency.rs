//! When the peer acknowledges, and when it asks this side to: ACK_FREQUENCY and IMMEDIATE_ACK
//! (draft-ietf-quic-ack-frequency), or by a bit of the header. The bit is that of Völker,
//! Volodina, Tüxen and Rathgeb (IFIP Networking 2020, section V): a sender whose window is full has nothing to do until an
//! acknowledgement comes, so that it asks for one with the last packet before that.

use super::Connection;
use crate::announced::MAX_ACK_DELAY_MS;
use crate::assemble::Payload;
use crate::config::{AckRequest, ImmediateAck};
use crate::error::TransportError;
use crate::schedule::PathView;
use crate::sent::SentFrame;
use units::Duration;
use wire::{Code, FirstByte, Frame, TransportParameters};

/// RFC 9000 section 18.2: a max_ack_delay of 2^14 ms or more is invalid.
const TOO_LONG: Duration = Duration::from_millis(MAX_ACK_DELAY_MS + 1);

impl Connection {
    /// The peer asks when it wants acknowledgements (sections 4 and 5).
    #[cold]
    pub(super) fn on_ack_request(&mut self, frame: &Frame<'_>) -> Result<(), TransportError> {
        let error = |code, reason| {
            Err(TransportError { frame_type: Some(frame.frame_type()), ..TransportError::new(code, reason) })
        };
        let Some(least_us) = self.local_parameters.min_ack_delay_us else {
            // RFC 9000-12.4-4: without the parameter it is a type that is not known.
            return error(Code::FRAME_ENCODING_ERROR, "a request for acknowledgements that was not admitted");
        };
        let &Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } = frame
        else {
            self.data.received.hurry();
            return Ok(());
        };
        if max_ack_delay_us < least_us || max_ack_delay_us >= TOO_LONG.as_micros() {
            return error(Code::PROTOCOL_VIOLATION, "a maximum of the delay that was not admitted");
        }
        // Section 4: what an older frame asks is void.
        if self.ack_requests_heard.is_none_or(|heard| sequence > heard) {
            self.ack_requests_heard = Some(sequence);
            self.ack_policy.on_request(&AckRequest {
                ratio: threshold.saturating_add(1),
                max_delay: Duration::from_micros(max_ack_delay_us),
                reordering_threshold,
            });
        }
        Ok(())
    }

    /// The handshake is complete: the peer is asked, if the options say so and it admits it.
    pub(super) fn ask_for_acknowledgements(&mut self) {
        if self.config.peer_ack.is_some() && self.peer_admits_requests() {
            self.control.ask(SentFrame::AckFrequency);
        }
    }

    fn peer_admits_requests(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer: &TransportParameters| peer.min_ack_delay_us.is_some())
    }

    /// The one request of a connection; it is the same whenever it is sent.
    pub(super) fn ack_frequency(&self) -> Option<Frame<'static>> {
        let (wanted, peer) = (self.config.peer_ack.as_ref()?, self.peer.as_ref()?);
        let least = Duration::from_micros(peer.min_ack_delay_us?);
        let longest = Duration::from_micros(TOO_LONG.as_micros() - 1);
        Some(Frame::AckFrequency {
            sequence: 0,
            threshold: wanted.ratio - 1,
            max_ack_delay_us: wanted.max_delay.max(least).min(longest).as_micros(),
            reordering_threshold: wanted.reordering_threshold,
        })
    }

    /// The request leaves: from now on the peer may take so long (section 4). It is not known when it begins to, so that a
    /// shorter delay is not counted on.
    pub(super) fn note_ack_frequency_sent(&mut self, max_ack_delay_us: u64) {
        self.paths.allow_ack_delay(Duration::from_micros(max_ack_delay_us));
    }

    /// A packet has reserved bits that are not 0: whether this is the one bit that was announced.
    #[cold]
    pub(super) fn on_immediate_ack_bit(&mut self, first: FirstByte) -> bool {
        let admitted = self.local_parameters.immediate_ack_bit && first.asks_for_ack();
        if admitted {
            self.data.received.hurry();
        }
        admitted
    }

    /// Puts IMMEDIATE_ACK into a packet with data behind which the window has no room for another full one.
    #[cold]
    pub(super) fn fill_immediate_ack(&mut self, payload: &mut Payload<'_>, view: &PathView) {
        if self.config.immediate_ack == ImmediateAck::Frame
            && self.peer_admits_requests()
            && self.streams.has_pending(view)
            && payload.room() > 1
            && self.paths.current.fills_window(self.paths.current.route.payload() as u64)
        {
            payload.passing_frame(&Frame::ImmediateAck, true);
        }
    }

    /// The bit that does the same in the first byte of a packet of this size, which carries data.
    #[cold]
    pub(super) fn immediate_ack_bit(&self, size: u64) -> u8 {
        let admitted = self.peer.as_ref().is_some_and(|peer| peer.immediate_ack_bit);
        let set = self.config.immediate_ack == ImmediateAck::Bit
            && admitted
            && self.paths.current.fills_window(size);
        if set { FirstByte::IMMEDIATE_ACK } else { 0 }
    }
}
