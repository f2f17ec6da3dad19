//! The types of packets, by the words that qlog and tables have for them.

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
    /// Not to be told.
    Unknown,
    /// A segment of TCP, which has no types. Its number is that of its first byte, counted from the SYN.
    Segment,
}

impl PacketKind {
    /// All of them in the order of their discriminants.
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
    /// The word for it in qlog, which knows no segments of TCP.
    pub const fn qlog_name(self) -> &'static str {
        match self {
            PacketKind::Segment => PacketKind::Unknown.name(),
            kind => kind.name(),
        }
    }
    /// The word for it in tables: that of qlog, but for segments of TCP.
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
