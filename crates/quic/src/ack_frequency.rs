//! Requests for acknowledgements in both directions: ACK_FREQUENCY and IMMEDIATE_ACK (draft-ietf-quic-ack-frequency),
//! or a bit of the header. The bit is from Völker, Volodina, Tüxen and Rathgeb (IFIP Networking 2020, section V): a
//! sender whose window is full can do nothing until an acknowledgement comes, so it requests one with the last packet
//! that fits.

use crate::ack_policy::AckPolicy;
use crate::announced::MAX_ACK_DELAY_MS;
use crate::config::{AckRequest, Config, ImmediateAck};
use crate::error::TransportError;
use units::Duration;
use wire::{Code, FirstByte, Frame, TransportParameters};

/// RFC 9000 section 18.2: a max_ack_delay of 2^14 ms or more is invalid.
const TOO_LONG: Duration = Duration::from_millis(MAX_ACK_DELAY_MS + 1);

/// The requests that one end accepts.
#[derive(Debug, Clone, Copy, Default)]
struct AcceptedRequests {
    /// The shortest delay that a frame may request, in microseconds; `None`: no frames are accepted.
    min_delay_us: Option<u64>,
    /// Whether the header bit is accepted.
    bit: bool,
}

impl AcceptedRequests {
    fn of(parameters: &TransportParameters) -> AcceptedRequests {
        AcceptedRequests { min_delay_us: parameters.min_ack_delay_us, bit: parameters.immediate_ack_bit }
    }
}

/// The acknowledgement policy of a connection, and the requests in both directions.
#[derive(Debug)]
pub(crate) struct AckRequests {
    /// When this side acknowledges.
    pub(crate) policy: AckPolicy,
    /// The sequence number of the peer's newest ACK_FREQUENCY frame.
    newest_sequence: Option<u64>,
    /// The request to the peer, if the options set one.
    wanted: Option<AckRequest>,
    /// How an immediate acknowledgement is requested from the peer.
    immediate: ImmediateAck,
    own: AcceptedRequests,
    peer: AcceptedRequests,
}

impl AckRequests {
    /// From the options of a connection and the transport parameters that it sends.
    pub(crate) fn new(config: &Config, own: &TransportParameters) -> AckRequests {
        AckRequests {
            policy: AckPolicy::new(&config.ack),
            newest_sequence: None,
            wanted: config.peer_ack.request(),
            immediate: config.immediate_ack,
            own: AcceptedRequests::of(own),
            peer: AcceptedRequests::default(),
        }
    }

    /// Takes the peer's transport parameters.
    pub(crate) fn on_peer_parameters(&mut self, peer: &TransportParameters) {
        self.peer = AcceptedRequests::of(peer);
    }

    // ---- requests from the peer ----

    /// Handles ACK_FREQUENCY or IMMEDIATE_ACK (sections 4 and 5). Returns whether the packet being read must be
    /// acknowledged immediately.
    #[cold]
    pub(crate) fn on_request(&mut self, frame: &Frame<'_>) -> Result<bool, TransportError> {
        let error = |code, reason| {
            Err(TransportError { frame_type: Some(frame.frame_type()), ..TransportError::new(code, reason) })
        };
        let Some(min_delay_us) = self.own.min_delay_us else {
            // RFC 9000-12.4-4: "receipt of a frame of unknown type".
            return error(Code::FRAME_ENCODING_ERROR, "the ACK frequency extension was not negotiated");
        };
        let &Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } = frame
        else {
            return Ok(true);
        };
        if max_ack_delay_us < min_delay_us || max_ack_delay_us >= TOO_LONG.as_micros() {
            return error(Code::PROTOCOL_VIOLATION, "Requested Max Ack Delay is out of range");
        }
        // Section 4: an older frame is ignored.
        if self.newest_sequence.is_none_or(|newest_sequence| sequence > newest_sequence) {
            self.newest_sequence = Some(sequence);
            self.policy.on_request(&AckRequest {
                ratio: threshold.saturating_add(1),
                max_delay: Duration::from_micros(max_ack_delay_us),
                reordering_threshold,
            });
        }
        Ok(false)
    }

    /// Whether the only nonzero reserved bit of this first byte is the announced one, which requests an immediate
    /// acknowledgement.
    #[cold]
    pub(crate) fn admits_bit(&self, first: FirstByte) -> bool {
        self.own.bit && first.asks_for_ack()
    }

    // ---- requests to the peer ----

    /// Whether ACK_FREQUENCY is to be sent: the options contain a request, and the peer accepts requests.
    pub(crate) fn asks(&self) -> bool {
        self.wanted.is_some() && self.peer.min_delay_us.is_some()
    }
    /// The only ACK_FREQUENCY frame of a connection; a retransmission is identical.
    pub(crate) fn request(&self) -> Option<Frame<'static>> {
        let wanted = self.wanted.as_ref()?;
        let least = Duration::from_micros(self.peer.min_delay_us?);
        let longest = Duration::from_micros(TOO_LONG.as_micros() - 1);
        Some(Frame::AckFrequency {
            sequence: 0,
            threshold: wanted.ratio - 1,
            max_ack_delay_us: wanted.max_delay.max(least).min(longest).as_micros(),
            reordering_threshold: wanted.reordering_threshold,
        })
    }
    /// Whether a packet that leaves no window for another full one carries IMMEDIATE_ACK.
    #[inline]
    pub(crate) fn asks_by_frame(&self) -> bool {
        self.immediate == ImmediateAck::Frame && self.peer.min_delay_us.is_some()
    }
    /// Whether such a packet sets the header bit instead.
    #[inline]
    pub(crate) fn asks_by_bit(&self) -> bool {
        self.immediate == ImmediateAck::Bit && self.peer.bit
    }
}
