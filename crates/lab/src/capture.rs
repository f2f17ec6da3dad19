//! A packet capture of a run: pcapng with the TLS secrets inside, as Wireshark and tshark read it.
//!
//! The file is written as the packets come and in their order, and nothing is held back but one buffer. Secrets have a
//! block of their own at the place where they became known (draft-ietf-opsawg-pcapng, sections 4.1 to 4.7).
//!
//! What makes tshark open everything in one pass is the order, which is up to the caller. The secrets of a level, those
//! of both sides, must stand before the first packet of that level, and the server's Initial before its Handshake
//! packets. A packet that comes too early is not opened, and tshark 4.0 then opens none of that level any more, in a
//! second pass neither. Both hold by themselves if packets are captured where they are sent, before anything can lose
//! or reorder them, and an endpoint's new secrets are written before the packets that it sent at that time: whoever
//! sends the first packet of a level knows the secrets of both sides by then (RFC 9001 section 4.1.4).

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use units::Time;
use wire::header::Header;
use wire::ip::{self, IpError};
use wire::{Damage, Ecn, Side};

/// Nanoseconds: a power of ten with this negative exponent.
const NANOSECONDS: u8 = 9;
/// `"TLSK"`: the secrets are lines of an NSS key log.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// The type of a block with secrets, which `pcap_file` does not know.
const DECRYPTION_SECRETS: u32 = 10;

/// What a router's stack would write first; the simulated network does not count hops.
const HOP_LIMIT: u8 = 64;
/// Where the checksum stands in a TCP header (RFC 9293 section 3.1).
const TCP_CHECKSUM: usize = 16;
/// The size of the buffer in front of the file.
const BUFFER: usize = 128 * 1024;

/// A capture that is being written. Writes to what is behind are large: a buffer around a file is not needed.
pub struct Capture<W: Write> {
    out: PcapNgWriter<BufWriter<W>>,
    /// The packet that is written next.
    packet: Vec<u8>,
    failed: Option<io::ErrorKind>,
}

impl<W: Write> std::fmt::Debug for Capture<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl<W: Write> Capture<W> {
    /// Begins a capture: one section with one interface.
    ///
    /// # Errors
    /// What the writer behind answered.
    pub fn new(out: W) -> io::Result<Capture<W>> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed("quiclab"))],
            ..SectionHeaderBlock::default()
        };
        // Packets that begin with the IP header, without a link layer, and no limit on their length.
        let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
        interface.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
        let out = BufWriter::with_capacity(BUFFER, out);
        let out = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        let mut capture = Capture { out, packet: Vec::new(), failed: None };
        capture.block(interface)?;
        capture.out.get_mut().flush()?;
        Ok(capture)
    }

    /// Adds secrets: lines of an NSS key log, as `CLIENT_HANDSHAKE_TRAFFIC_SECRET <client random> <secret>`. They must
    /// come before the packets that need them, see above. Empty text leaves no trace.
    ///
    /// # Errors
    /// What the writer behind answered; `InvalidInput` for more than 4 GB.
    pub fn secrets(&mut self, lines: &str) -> io::Result<()> {
        self.alive()?;
        if lines.is_empty() {
            return Ok(());
        }
        // A line without its end would run into the first line of the next block.
        let end = if lines.ends_with('\n') { "" } else { "\n" };
        let length = length_of(lines.len() + end.len())?;
        let head = [TLS_KEY_LOG.to_le_bytes(), length.to_le_bytes()].concat();
        let body = [&head, lines.as_bytes(), end.as_bytes()].concat();
        self.block(UnknownBlock::new(DECRYPTION_SECRETS, length, &body))
    }

    /// Adds a UDP datagram in an IP packet. `ecn` is the field of the IP header in its two low bits.
    ///
    /// # Errors
    /// What the writer behind answered; `InvalidInput` if the addresses are of two families or the datagram is too
    /// long for IP, and then the capture goes on without it.
    pub fn packet(
        &mut self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        ecn: u8,
        bytes: &[u8],
    ) -> io::Result<()> {
        let ecn = Ecn::from_bits(ecn);
        let packet = ip::Packet { source, destination, ecn, dscp: 0, hop_limit: HOP_LIMIT, payload: bytes };
        self.write(now, ip::headers_size(source) + bytes.len(), None, |body| packet.encode(body))
    }

    /// Adds a TCP segment in an IP packet, with its checksum. Of one that was altered on its way the checksum is wrong, and
    /// a comment says why.
    ///
    /// # Errors
    /// Those of [`Capture::packet`].
    pub fn segment(
        &mut self,
        now: Time,
        (source, destination): (SocketAddr, SocketAddr),
        ecn: u8,
        segment: &[u8],
        damage: Option<Damage>,
    ) -> io::Result<()> {
        let ecn = Ecn::from_bits(ecn);
        let packet = ip::TcpPacket { source, destination, ecn, dscp: 0, hop_limit: HOP_LIMIT, segment };
        let length = ip_header_size(source) + segment.len();
        let comment = damage.map(|damage| words(damage, "TCP segment"));
        let cut = comment.as_deref().map(|comment| (length, comment));
        self.write(now, length, cut, |body| {
            packet.encode(body)?;
            if damage.is_some() {
                let end = body.len();
                body[end - segment.len() + TCP_CHECKSUM] ^= 0xff;
            }
            Ok(())
        })
    }

    /// Adds a datagram that was altered on its way: what stands before the altered QUIC packet, cut off there, with a
    /// comment. The rest would do harm: tshark 4.0 takes key phase and packet number out of a header before it knows
    /// whether the packet opens, and if it believes in wrong ones, it opens nothing of that direction from there on.
    ///
    /// # Errors
    /// Those of [`Capture::packet`].
    pub fn altered_packet(
        &mut self,
        now: Time,
        (source, destination): (SocketAddr, SocketAddr),
        ecn: u8,
        bytes: &[u8],
        damage: Damage,
    ) -> io::Result<()> {
        let ecn = Ecn::from_bits(ecn);
        let packet = ip::Packet { source, destination, ecn, dscp: 0, hop_limit: HOP_LIMIT, payload: bytes };
        let headers = ip::headers_size(source);
        let cut = headers + before_damage(bytes, damage);
        let comment = words(damage, "UDP payload");
        self.write(now, headers + bytes.len(), Some((cut, &comment)), |body| packet.encode(body))
    }

    /// Adds a packet of this length, which `encode` appends. With `cut`, only so many bytes of it, and a comment.
    fn write(
        &mut self,
        now: Time,
        length: usize,
        cut: Option<(usize, &str)>,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), IpError>,
    ) -> io::Result<()> {
        self.alive()?;
        let original_len = length_of(length)?;
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        let encoded = encode(&mut packet).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error));
        let kept = cut.map_or(packet.len(), |(kept, _)| kept.min(packet.len()));
        let written = encoded.and_then(|()| {
            self.block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: std::time::Duration::from_nanos(now.as_nanos()),
                original_len,
                data: Cow::Borrowed(&packet[..kept]),
                options: cut
                    .map(|(_, comment)| EnhancedPacketOption::Comment(comment.into()))
                    .into_iter()
                    .collect(),
            })
        });
        self.packet = packet;
        written
    }

    /// Ends the capture and gives back the writer behind, flushed.
    ///
    /// # Errors
    /// What the writer behind answered.
    pub fn finish(self) -> io::Result<W> {
        self.alive()?;
        let mut out = self.out.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
        out.flush()?;
        Ok(out)
    }

    fn block<'a>(&mut self, block: impl PcapNgBlock<'a>) -> io::Result<()> {
        let result = self.out.write_pcapng_block(block).map_err(io_error);
        result.map(|_| ()).inspect_err(|error| self.failed = Some(error.kind()))
    }

    fn alive(&self) -> io::Result<()> {
        match self.failed {
            None => Ok(()),
            Some(kind) => Err(io::Error::new(kind, "the capture was cut off by an error before")),
        }
    }
}

/// Where a packet was altered, for a comment.
fn words(damage: Damage, of: &str) -> String {
    match damage {
        Damage { first, last } if first == last => format!("altered underway: byte {first} of the {of}"),
        Damage { first, last } => format!("altered underway: bytes {first} to {last} of the {of}"),
    }
}

/// The bytes of an IP header without options.
fn ip_header_size(address: SocketAddr) -> usize {
    ip::headers_size(address) - ip::UDP_SIZE
}

/// The length of the packets in a datagram that come before the first altered one (RFC 9000 section 12.2).
fn before_damage(bytes: &[u8], damage: Damage) -> usize {
    let mut start = 0;
    // A short header ends the datagram, whatever the length of its connection id.
    while let Ok(header) = Header::parse(&bytes[start..], 0) {
        let end = start + header.end;
        if end >= bytes.len() || damage.touches(start, end) {
            break;
        }
        start = end;
    }
    start
}

/// The error of the writer behind.
fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// A length that fits a block with all that stands around it.
fn length_of(length: usize) -> io::Result<u32> {
    const MOST: usize = u32::MAX as usize - 1024;
    match u32::try_from(length) {
        Ok(length) if length as usize <= MOST => Ok(length),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "too long for a block of a capture")),
    }
}

/// Whether a secret is known here before any packet of its level reaches the client, where packets are captured: so a
/// reader knows the keys before the packets. That of 0-RTT is the client's, who sends it first; all others are known to
/// the server first.
pub(crate) fn is_first_at(side: Side, secret: &str) -> bool {
    (side == Side::Client) == secret.starts_with("CLIENT_EARLY_TRAFFIC_SECRET")
}

#[cfg(test)]
mod early_data;
#[cfg(test)]
mod tests;
