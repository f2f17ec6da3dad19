//! When each end acknowledges, and how it asks the other for that: ACK_FREQUENCY and IMMEDIATE_ACK
//! (draft-ietf-quic-ack-frequency), or a bit of the header. The bit is that of Völker,
//! Volodina, Tüxen and Rathgeb (IFIP Networking 2020, section V): a sender whose window is full has nothing to do until an
//! acknowledgement comes, so that it asks for one with the last packet before that.

use crate::ack_policy::AckPolicy;
use crate::announced::MAX_ACK_DELAY_MS;
use crate::config::{AckRequest, Config, ImmediateAck};
use crate::error::TransportError;
use units::Duration;
use wire::{Code, FirstByte, Frame, TransportParameters};

/// RFC 9000 section 18.2: a max_ack_delay of 2^14 ms or more is invalid.
const TOO_LONG: Duration = Duration::from_millis(MAX_ACK_DELAY_MS + 1);

/// What one end admits of such requests.
#[derive(Debug, Clone, Copy, Default)]
struct Admission {
    /// The frames: the shortest delay that may be asked for, in microseconds.
    least_us: Option<u64>,
    /// The bit.
    bit: bool,
}

impl Admission {
    fn of(parameters: &TransportParameters) -> Admission {
        Admission { least_us: parameters.min_ack_delay_us, bit: parameters.immediate_ack_bit }
    }
}

/// The acknowledgements of a connection, and the requests for them in both directions.
#[derive(Debug)]
pub(crate) struct AckRequests {
    /// When this side acknowledges.
    pub(crate) policy: AckPolicy,
    /// The newest ACK_FREQUENCY frame of the peer.
    heard: Option<u64>,
    /// What the peer is asked for.
    wanted: Option<AckRequest>,
    /// How it is asked for one acknowledgement.
    immediate: ImmediateAck,
    own: Admission,
    peer: Admission,
}

impl AckRequests {
    /// With the options of a connection, of which the peer is told these parameters.
    pub(crate) fn new(config: &Config, own: &TransportParameters) -> AckRequests {
        AckRequests {
            policy: AckPolicy::new(&config.ack),
            heard: None,
            wanted: config.peer_ack,
            immediate: config.immediate_ack,
            own: Admission::of(own),
            peer: Admission::default(),
        }
    }

    /// The peer's parameters have come.
    pub(crate) fn on_peer_parameters(&mut self, peer: &TransportParameters) {
        self.peer = Admission::of(peer);
    }

    // ---- the peer asks ----

    /// ACK_FREQUENCY or IMMEDIATE_ACK (sections 4 and 5). Gives whether the packet that is being read is to be acknowledged
    /// at once.
    #[cold]
    pub(crate) fn on_request(&mut self, frame: &Frame<'_>) -> Result<bool, TransportError> {
        let error = |code, reason| {
            Err(TransportError { frame_type: Some(frame.frame_type()), ..TransportError::new(code, reason) })
        };
        let Some(least_us) = self.own.least_us else {
            // RFC 9000-12.4-4: without the parameter it is a type that is not known.
            return error(Code::FRAME_ENCODING_ERROR, "a request for acknowledgements that was not admitted");
        };
        let &Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } = frame
        else {
            return Ok(true);
        };
        if max_ack_delay_us < least_us || max_ack_delay_us >= TOO_LONG.as_micros() {
            return error(Code::PROTOCOL_VIOLATION, "a maximum of the delay that was not admitted");
        }
        // Section 4: what an older frame asks is void.
        if self.heard.is_none_or(|heard| sequence > heard) {
            self.heard = Some(sequence);
            self.policy.on_request(&AckRequest {
                ratio: threshold.saturating_add(1),
                max_delay: Duration::from_micros(max_ack_delay_us),
                reordering_threshold,
            });
        }
        Ok(false)
    }

    /// A packet has reserved bits that are not 0: whether this is the one bit that was announced, which asks for an
    /// acknowledgement at once.
    #[cold]
    pub(crate) fn admits_bit(&self, first: FirstByte) -> bool {
        self.own.bit && first.asks_for_ack()
    }

    // ---- this side asks ----

    /// Whether the peer is asked to acknowledge less often, or more: if the options say so and it admits it.
    pub(crate) fn asks(&self) -> bool {
        self.wanted.is_some() && self.peer.least_us.is_some()
    }
    /// The one request of a connection; it is the same whenever it is sent.
    pub(crate) fn request(&self) -> Option<Frame<'static>> {
        let wanted = self.wanted.as_ref()?;
        let least = Duration::from_micros(self.peer.least_us?);
        let longest = Duration::from_micros(TOO_LONG.as_micros() - 1);
        Some(Frame::AckFrequency {
            sequence: 0,
            threshold: wanted.ratio - 1,
            max_ack_delay_us: wanted.max_delay.max(least).min(longest).as_micros(),
            reordering_threshold: wanted.reordering_threshold,
        })
    }
    /// Whether IMMEDIATE_ACK goes into packets behind which the window has no room for another full one.
    #[inline]
    pub(crate) fn asks_by_frame(&self) -> bool {
        self.immediate == ImmediateAck::Frame && self.peer.least_us.is_some()
    }
    /// Whether a bit in the first byte of such packets does the same.
    #[inline]
    pub(crate) fn asks_by_bit(&self) -> bool {
        self.immediate == ImmediateAck::Bit && self.peer.bit
    }
}
