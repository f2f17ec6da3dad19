//! A packet capture of a run: pcapng with TLS secrets, for Wireshark and tshark.
//!
//! Packets are written at once and in order, through one buffer. Secrets are in blocks of their own, at the place where they
//! became known (draft-ietf-opsawg-pcapng, sections 4.1 to 4.7).
//!
//! The caller is responsible for an order in which tshark decrypts everything in one pass: the secrets of both sides for a
//! level precede the first packet of that level, and the server's Initial precedes its Handshake packets. Otherwise,
//! tshark 4.0 decrypts no packet of that level, not even in a second pass. The order is right if packets are captured where
//! they are sent, before the network can lose or reorder them, and if an endpoint's new secrets are written before the
//! packets that it sent at the same time: the sender of the first packet of a level knows the secrets of both sides (RFC
//! 9001 section 4.1.4).

mod tap;

pub(crate) use tap::Tap;

use network::gate::HOP_LIMIT;
use pcap_file::pcapng::blocks::ENHANCED_PACKET_BLOCK;
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

/// The resolution of timestamps: 10^-9 s.
const NANOSECONDS: u8 = 9;
/// The type of secrets that are lines of an NSS key log: `"TLSK"`.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// The type of a block with secrets, which `pcap_file` does not support.
const DECRYPTION_SECRETS: u32 = 10;

/// The offset of the checksum in a TCP header (RFC 9293 section 3.1).
const TCP_CHECKSUM: usize = 16;
/// The length of an Enhanced Packet Block before the packet: seven words.
const PACKET_HEAD: usize = 28;
/// The size of the buffer in front of the file.
const BUFFER: usize = 128 * 1024;

/// What a packet carries on its way, and from where to where.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// The address of the sender.
    pub source: SocketAddr,
    /// The address of the receiver.
    pub destination: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The TCP segment, or the payload of UDP.
    pub bytes: &'a [u8],
}

/// A capture that is written. It has a buffer of its own, so the writer needs none.
pub struct Capture<W: Write> {
    out: PcapNgWriter<BufWriter<W>>,
    /// The number of interfaces.
    interfaces: u32,
    /// The interface of the next packets.
    selected: u32,
    /// The buffer for the next packet with its block.
    packet: Vec<u8>,
    failed: Option<io::ErrorKind>,
}

impl<W: Write> std::fmt::Debug for Capture<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl<W: Write> Capture<W> {
    /// Starts a capture with one section and one interface.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn new(out: W) -> io::Result<Capture<W>> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed("quiclab"))],
            ..SectionHeaderBlock::default()
        };
        let out = BufWriter::with_capacity(BUFFER, out);
        let out = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        let mut capture = Capture { out, interfaces: 0, selected: 0, packet: Vec::new(), failed: None };
        capture.add_interface(None)?;
        capture.out.get_mut().flush()?;
        Ok(capture)
    }

    /// Adds an interface with a name, and returns its number. The first interface has the number 0.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        self.alive()?;
        self.add_interface(Some(name))
    }

    fn add_interface(&mut self, name: Option<&str>) -> io::Result<u32> {
        // Packets start with the IP header, without a link layer, and have any length.
        let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
        if let Some(name) = name {
            interface.options.push(InterfaceDescriptionOption::IfName(Cow::Borrowed(name)));
        }
        interface.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
        self.block(interface)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Selects the interface of the packets that follow.
    pub fn select(&mut self, interface: u32) {
        self.selected = interface;
    }

    /// Adds secrets: lines of an NSS key log, like `CLIENT_HANDSHAKE_TRAFFIC_SECRET <client random> <secret>`. They must
    /// precede the packets that need them. Empty text adds nothing.
    ///
    /// # Errors
    /// An error of the writer; `InvalidInput` for more than 4 GB.
    pub fn secrets(&mut self, lines: &str) -> io::Result<()> {
        self.alive()?;
        if lines.is_empty() {
            return Ok(());
        }
        // Without a newline, the last line would continue in the next block.
        let end = if lines.ends_with('\n') { "" } else { "\n" };
        let length = length_of(lines.len() + end.len())?;
        let head = [TLS_KEY_LOG.to_le_bytes(), length.to_le_bytes()].concat();
        let body = [&head, lines.as_bytes(), end.as_bytes()].concat();
        self.block(UnknownBlock::new(DECRYPTION_SECRETS, length, &body))
    }

    /// Adds a UDP datagram in an IP packet. `ecn` is the field of the IP header in its two low bits.
    ///
    /// # Errors
    /// An error of the writer; `InvalidInput` if the addresses are of two families or the datagram is too long for IP, in
    /// which case the capture continues without it.
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

    /// Adds an IP packet as it is.
    ///
    /// # Errors
    /// Those of [`Capture::packet`].
    pub fn whole(&mut self, now: Time, bytes: &[u8]) -> io::Result<()> {
        self.write(now, bytes.len(), None, |body| {
            body.extend_from_slice(bytes);
            Ok(())
        })
    }

    /// Adds a TCP segment in an IP packet, with its checksum. A segment that was altered on the way has a wrong checksum and a
    /// comment.
    ///
    /// # Errors
    /// Those of [`Capture::packet`].
    pub fn segment(&mut self, now: Time, carried: &Carried<'_>, damage: Option<Damage>) -> io::Result<()> {
        let Carried { source, destination, ecn, bytes: segment } = *carried;
        let packet = ip::TcpPacket { source, destination, ecn, dscp: 0, hop_limit: HOP_LIMIT, segment };
        let length = ip_header_size(source) + segment.len();
        let comment = damage.map(|damage| comment_of(damage, "TCP segment"));
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

    /// Adds a datagram that was altered on the way, with a comment. It is cut off before the altered QUIC packet, since tshark
    /// 4.0 trusts key phase and packet number before it decrypts a packet. Wrong ones would keep it from decrypting all later
    /// packets of that direction.
    ///
    /// # Errors
    /// Those of [`Capture::packet`].
    pub fn altered_packet(&mut self, now: Time, carried: &Carried<'_>, damage: Damage) -> io::Result<()> {
        let Carried { source, destination, ecn, bytes } = *carried;
        let packet = ip::Packet { source, destination, ecn, dscp: 0, hop_limit: HOP_LIMIT, payload: bytes };
        let headers = ip::headers_size(source);
        let cut = headers + before_damage(bytes, damage);
        let comment = comment_of(damage, "UDP payload");
        self.write(now, headers + bytes.len(), Some((cut, &comment)), |body| packet.encode(body))
    }

    /// Adds a packet of this length, which `encode` writes. `cut` is the number of bytes to keep, and a comment.
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
        packet.resize(PACKET_HEAD, 0);
        let encoded = encode(&mut packet).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error));
        let written = encoded.and_then(|()| match cut {
            None => self.plain_packet(now, original_len, &mut packet),
            Some((kept, comment)) => {
                let data = &packet[PACKET_HEAD..];
                self.block(EnhancedPacketBlock {
                    interface_id: self.selected,
                    timestamp: std::time::Duration::from_nanos(now.as_nanos()),
                    original_len,
                    data: Cow::Borrowed(&data[..kept.min(data.len())]),
                    options: vec![EnhancedPacketOption::Comment(comment.into())],
                })
            }
        });
        self.packet = packet;
        written
    }

    /// Adds an Enhanced Packet Block without options (draft-ietf-opsawg-pcapng section 4.3) in one piece: nearly all blocks
    /// are of this kind, and `pcap_file` builds them twice. `packet` has room for the head before the packet.
    fn plain_packet(&mut self, now: Time, original_length: u32, packet: &mut Vec<u8>) -> io::Result<()> {
        let captured = length_of(packet.len() - PACKET_HEAD)?;
        packet.resize(packet.len().next_multiple_of(4), 0);
        let block = (packet.len() + 4) as u32;
        let nanos = now.as_nanos();
        let head = [
            ENHANCED_PACKET_BLOCK,
            block,
            self.selected,
            (nanos >> 32) as u32,
            nanos as u32,
            captured,
            original_length,
        ];
        for (place, word) in packet.chunks_exact_mut(4).zip(head) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        packet.extend_from_slice(&block.to_le_bytes());
        self.out.get_mut().write_all(packet).inspect_err(|error| self.failed = Some(error.kind()))
    }

    /// Ends the capture and returns the flushed writer.
    ///
    /// # Errors
    /// An error of the writer.
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
            Some(kind) => Err(io::Error::new(kind, "an earlier error cut the capture off")),
        }
    }
}

/// The comment of an altered packet.
fn comment_of(damage: Damage, of: &str) -> String {
    match damage {
        Damage { first, last } if first == last => format!("altered in transit: byte {first} of the {of}"),
        Damage { first, last } => format!("altered in transit: bytes {first} to {last} of the {of}"),
    }
}

/// The size of an IP header without options.
fn ip_header_size(address: SocketAddr) -> usize {
    ip::headers_size(address) - ip::UDP_SIZE
}

/// The length of the QUIC packets before the first altered one in a datagram (RFC 9000 section 12.2).
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

/// The error of the writer.
fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// The length of a part of a block, which must leave room for the other parts.
fn length_of(length: usize) -> io::Result<u32> {
    const MOST: usize = u32::MAX as usize - 1024;
    match u32::try_from(length) {
        Ok(length) if length as usize <= MOST => Ok(length),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "too long for a block of a capture")),
    }
}

/// Whether this side knows a secret first. It writes the secret, so that the keys precede all packets of their level, which
/// are captured at the client. The client is the first to know the secret of 0-RTT, and the server all others.
pub(crate) fn is_first_at(side: Side, secret: &str) -> bool {
    (side == Side::Client) == secret.starts_with("CLIENT_EARLY_TRAFFIC_SECRET")
}

#[cfg(test)]
mod early_data;
#[cfg(test)]
mod tests;
