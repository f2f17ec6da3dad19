//! The properties of frames in RFC 9000 table 3 (RFC 9221 section 4 for DATAGRAM).

use crate::PacketKind;
use crate::frame::table::has;
use crate::frame::{Frame, FrameError, FrameProblem};

impl<'a> Frame<'a> {
    /// Whether the frame may be in a packet of this type: the column "Pkts" of RFC 9000 table 3.
    #[inline]
    pub const fn allowed_in(&self, kind: PacketKind) -> bool {
        match kind {
            PacketKind::OneRtt => true,
            PacketKind::Initial => has(self.packets(), b'I'),
            PacketKind::Handshake => has(self.packets(), b'H'),
            PacketKind::ZeroRtt => has(self.packets(), b'0'),
            PacketKind::Retry
            | PacketKind::VersionNegotiation
            | PacketKind::StatelessReset
            | PacketKind::Unknown
            | PacketKind::Segment => false,
        }
    }

    /// Returns the frame if it may be in a packet of this type.
    ///
    /// # Errors
    /// [`FrameProblem::Forbidden`] otherwise: a PROTOCOL_VIOLATION (RFC 9000 section 12.4).
    #[inline]
    pub fn check_allowed_in(self, kind: PacketKind) -> Result<Frame<'a>, FrameError> {
        if self.allowed_in(kind) {
            Ok(self)
        } else {
            Err(FrameError { frame_type: self.frame_type(), problem: FrameProblem::Forbidden })
        }
    }

    /// Whether a packet with this frame counts towards bytes in flight: "when they are ack-eliciting or contain a
    /// PADDING frame" (RFC 9002 section 2).
    #[inline]
    pub const fn is_in_flight(&self) -> bool {
        self.is_ack_eliciting() || matches!(self, Frame::Padding { .. })
    }
}
