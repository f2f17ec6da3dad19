//! Packet types and their names in qlog and tables.

/// The packet types of QUIC (RFC 9000 section 17), and a segment of TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// Long header, Initial.
    Initial,
    /// Long header, 0-RTT.
    ZeroRtt,
    /// Long header, Handshake.
    Handshake,
    /// Short header, 1-RTT.
    OneRtt,
    /// Retry.
    Retry,
    /// Version Negotiation.
    VersionNegotiation,
    /// A stateless reset.
    StatelessReset,
    /// Unknown.
    Unknown,
    /// A TCP segment, which has no type. Its number is that of its first byte, counted from the SYN.
    Segment,
}

impl PacketKind {
    /// All types in the order of their discriminants.
    pub const ALL: [PacketKind; 9] = [
        PacketKind::Initial,
        PacketKind::ZeroRtt,
        PacketKind::Handshake,
        PacketKind::OneRtt,
        PacketKind::Retry,
        PacketKind::VersionNegotiation,
        PacketKind::StatelessReset,
        PacketKind::Unknown,
        PacketKind::Segment,
    ];
    /// The name in qlog, which has no TCP segments.
    pub const fn qlog_name(self) -> &'static str {
        match self {
            PacketKind::Segment => PacketKind::Unknown.name(),
            kind => kind.name(),
        }
    }
    /// The name in tables: that in qlog, except for TCP segments.
    pub const fn name(self) -> &'static str {
        match self {
            PacketKind::Initial => "initial",
            PacketKind::ZeroRtt => "0RTT",
            PacketKind::Handshake => "handshake",
            PacketKind::OneRtt => "1RTT",
            PacketKind::Retry => "retry",
            PacketKind::VersionNegotiation => "version_negotiation",
            PacketKind::StatelessReset => "stateless_reset",
            PacketKind::Unknown => "unknown",
            PacketKind::Segment => "segment",
        }
    }
}
