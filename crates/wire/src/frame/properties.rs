//! What each frame may do: RFC 9000 table 3, RFC 9221 section 4 for DATAGRAM, draft-ietf-quic-ack-frequency for ACK_FREQUENCY
//! and IMMEDIATE_ACK.

use crate::PacketKind;
use crate::frame::{Frame, FrameError, FrameProblem};

impl<'a> Frame<'a> {
    /// Whether the frame may be in a packet of this type: the column "Pkts" of RFC 9000 table 3.
    #[inline]
    pub const fn allowed_in(&self, kind: PacketKind) -> bool {
        match kind {
            PacketKind::OneRtt => true,
            PacketKind::Initial | PacketKind::Handshake => matches!(
                self,
                Frame::Padding { .. }
                    | Frame::Ping
                    | Frame::Ack(_)
                    | Frame::Crypto { .. }
                    // Only of type 0x1c: what an application says must not be readable before the handshake is done
                    // (RFC 9000 section 10.2.3).
                    | Frame::ConnectionClose { .. }
            ),
            PacketKind::ZeroRtt => !matches!(
                self,
                Frame::Ack(_)
                    | Frame::Crypto { .. }
                    | Frame::NewToken { .. }
                    | Frame::PathResponse { .. }
                    | Frame::HandshakeDone
                    // Section 3 of the draft: min_ack_delay is not remembered.
                    | Frame::AckFrequency { .. }
                    | Frame::ImmediateAck
            ),
            PacketKind::Retry
            | PacketKind::VersionNegotiation
            | PacketKind::StatelessReset
            | PacketKind::Unknown
            | PacketKind::Segment => false,
        }
    }

    /// The frame itself if it may be in a packet of this type, and else the error that it is.
    ///
    /// # Errors
    /// [`FrameProblem::Forbidden`]: a PROTOCOL_VIOLATION (RFC 9000 section 12.4).
    #[inline]
    pub fn check_allowed_in(self, kind: PacketKind) -> Result<Frame<'a>, FrameError> {
        if self.allowed_in(kind) {
            Ok(self)
        } else {
            Err(FrameError { frame_type: self.frame_type(), problem: FrameProblem::Forbidden })
        }
    }

    /// Whether a packet with this frame is to be acknowledged: all but those marked N (RFC 9000 table 3).
    #[inline]
    pub const fn is_ack_eliciting(&self) -> bool {
        !matches!(
            self,
            Frame::Padding { .. }
                | Frame::Ack(_)
                | Frame::ConnectionClose { .. }
                | Frame::ApplicationClose { .. }
        )
    }

    /// Whether a packet with this frame counts towards bytes in flight: "when they are ack-eliciting or contain a
    /// PADDING frame" (RFC 9002 section 2).
    #[inline]
    pub const fn is_in_flight(&self) -> bool {
        self.is_ack_eliciting() || matches!(self, Frame::Padding { .. })
    }

    /// Whether the frame may be in a packet that probes a path: those marked P (RFC 9000 table 3, section 9.1).
    #[inline]
    pub const fn is_probing(&self) -> bool {
        matches!(
            self,
            Frame::Padding { .. }
                | Frame::NewConnectionId { .. }
                | Frame::PathChallenge { .. }
                | Frame::PathResponse { .. }
        )
    }

    /// The name in its document.
    pub const fn name(&self) -> &'static str {
        match self {
            Frame::Padding { .. } => "PADDING",
            Frame::Ping => "PING",
            Frame::Ack(_) => "ACK",
            Frame::ResetStream { .. } => "RESET_STREAM",
            Frame::StopSending { .. } => "STOP_SENDING",
            Frame::Crypto { .. } => "CRYPTO",
            Frame::NewToken { .. } => "NEW_TOKEN",
            Frame::Stream { .. } => "STREAM",
            Frame::MaxData { .. } => "MAX_DATA",
            Frame::MaxStreamData { .. } => "MAX_STREAM_DATA",
            Frame::MaxStreams { .. } => "MAX_STREAMS",
            Frame::DataBlocked { .. } => "DATA_BLOCKED",
            Frame::StreamDataBlocked { .. } => "STREAM_DATA_BLOCKED",
            Frame::StreamsBlocked { .. } => "STREAMS_BLOCKED",
            Frame::NewConnectionId { .. } => "NEW_CONNECTION_ID",
            Frame::RetireConnectionId { .. } => "RETIRE_CONNECTION_ID",
            Frame::PathChallenge { .. } => "PATH_CHALLENGE",
            Frame::PathResponse { .. } => "PATH_RESPONSE",
            Frame::ConnectionClose { .. } | Frame::ApplicationClose { .. } => "CONNECTION_CLOSE",
            Frame::HandshakeDone => "HANDSHAKE_DONE",
            Frame::Datagram { .. } => "DATAGRAM",
            Frame::AckFrequency { .. } => "ACK_FREQUENCY",
            Frame::ImmediateAck => "IMMEDIATE_ACK",
        }
    }
}
