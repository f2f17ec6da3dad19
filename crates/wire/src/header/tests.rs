//! Tests of the headers: round trips, every error, coalescing, holes, and the Initial of RFC 9001 appendix A.

use super::*;
use crate::number::Truncated;
use crate::{ConnectionId, Hole, PacketKind, Version};

fn id(bytes: &[u8]) -> ConnectionId {
    ConnectionId::new(bytes).unwrap()
}

fn long(kind: PacketKind, token: &[u8], payload: usize) -> Vec<u8> {
    let header = LongHeader {
        kind,
        version: Version::V1,
        destination: id(&[1, 2, 3, 4, 5, 6, 7, 8]),
        source: id(&[9; 20]),
        token,
        number: Truncated::with_length(0x1234, 2),
    };
    let mut out = Vec::new();
    let written = header.write(&mut out);
    assert_eq!(out.len(), header.size());
    out.resize(out.len() + payload, 0xee);
    written.set_length(&mut out, payload);
    out
}

fn short(payload: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let number = Truncated::with_length(0xabcdef, 3);
    let header = ShortHeader { destination: id(&[7; 8]), spin: true, key_phase: true, number };
    assert_eq!(header.write(&mut out), 9);
    assert_eq!(out.len(), header.size());
    out.resize(out.len() + payload, 0xee);
    out
}

#[test]
fn the_client_initial_of_rfc_9001_a_2() {
    // The unprotected header, and the same protected; the packet is padded to 1200 bytes.
    for (first, number) in [(0xc3, [0, 0, 0, 2]), (0xc0, [0x7b, 0x9a, 0xec, 0x34])] {
        let mut packet =
            vec![first, 0, 0, 0, 1, 8, 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08, 0, 0, 0x44, 0x9e];
        packet.extend(number);
        packet.resize(1200, 0);
        let header = Header::parse(&packet, 0).unwrap();
        assert_eq!((header.kind, header.version), (PacketKind::Initial, Version::V1));
        assert_eq!(header.destination.to_string(), "8394c8f03e515708");
        assert!(header.source.is_empty() && header.token(&packet).is_empty());
        assert_eq!((header.number_offset, header.end), (18, 1200));
        if first == 0xc3 {
            assert_eq!(header.number(&packet), Ok(Truncated::with_length(2, 4)));
            assert!(FirstByte(first).reserved_bits_are_zero());
        }
    }
}

/// RFC 9000-17.2.5.2-4.
#[test]
fn the_retry_of_rfc_9001_a_4() {
    let mut packet = Vec::new();
    retry(
        &mut packet,
        Version::V1,
        ConnectionId::EMPTY,
        id(&[0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5]),
        b"token",
    );
    assert_eq!(
        packet[1..],
        [0, 0, 0, 1, 0, 8, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62, 0xb5, b't', b'o', b'k', b'e', b'n']
    );
    packet.extend(1..=16);
    let header = Header::parse(&packet, 8).unwrap();
    assert_eq!(header.kind, PacketKind::Retry);
    assert_eq!(header.token(&packet), b"token");
    assert_eq!(header.retry_tag(&packet).unwrap()[..3], [1, 2, 3]);
    assert_eq!(header.end, packet.len());
    assert_eq!(header.number(&packet), Err(HeaderError::Length));
    // Without a token, and too short for its tag.
    packet.truncate(15);
    assert_eq!(Header::parse(&packet, 8), Err(HeaderError::Truncated));
    packet.resize(15 + 16, 0);
    assert_eq!(Header::parse(&packet, 8), Err(HeaderError::EmptyRetryToken));
}

/// RFC 9000-17.2-6.
#[test]
fn long_headers_round_trip() {
    for (kind, token) in
        [(PacketKind::Initial, &b"abc"[..]), (PacketKind::ZeroRtt, b""), (PacketKind::Handshake, b"")]
    {
        let packet = long(kind, token, 30);
        let header = Header::parse(&packet, 8).unwrap();
        assert_eq!((header.kind, header.version), (kind, Version::V1));
        assert_eq!((header.destination, header.source), (id(&[1, 2, 3, 4, 5, 6, 7, 8]), id(&[9; 20])));
        assert_eq!(header.token(&packet), token);
        assert!(FirstByte(packet[0]).reserved_bits_are_zero());
        assert_eq!(header.end, packet.len());
        assert_eq!(header.end - header.number_offset, 32);
        assert_eq!(header.number(&packet), Ok(Truncated::with_length(0x1234, 2)));
        assert!(header.has_number());
        // Every truncation is an error: within the header, or by a Length that no longer fits.
        for cut in 0..packet.len() {
            let error = Header::parse(&packet[..cut], 8).unwrap_err();
            assert_eq!(error == HeaderError::Length, cut >= header.number_offset, "{cut}");
        }
    }
}

/// RFC 9000-17.3.1-2.
#[test]
fn short_headers_round_trip() {
    let packet = short(20);
    let header = Header::parse(&packet, 8).unwrap();
    assert_eq!((header.kind, header.destination), (PacketKind::OneRtt, id(&[7; 8])));
    assert_eq!((header.number_offset, header.end), (9, 32));
    assert_eq!(header.number(&packet), Ok(Truncated::with_length(0xabcdef, 3)));
    let first = FirstByte(packet[0]);
    assert!(first.spin() && first.key_phase() && first.fixed_bit() && first.reserved_bits_are_zero());
    assert!(!FirstByte(packet[0] | 0x08).reserved_bits_are_zero());
    assert_eq!(Header::parse(&packet[..8], 8), Err(HeaderError::Truncated));
    assert_eq!(Header::parse(&packet, 21), Err(HeaderError::ConnectionIdLength));
    // The id may be the whole packet as far as is visible, but then there is no packet number.
    assert_eq!(Header::parse(&packet[..9], 8).unwrap().number(&packet[..9]), Err(HeaderError::Length));
}

#[test]
fn coalesced_packets_are_split() {
    let mut datagram = long(PacketKind::Initial, b"t", 40);
    datagram.extend(long(PacketKind::Handshake, b"", 50));
    datagram.extend(short(60));
    let mut rest = &datagram[..];
    let mut kinds = Vec::new();
    while !rest.is_empty() {
        let header = Header::parse(rest, 8).unwrap();
        kinds.push((header.kind, header.end - header.number_offset));
        rest = &rest[header.end..];
    }
    assert_eq!(kinds, [(PacketKind::Initial, 42), (PacketKind::Handshake, 52), (PacketKind::OneRtt, 63)]);
}

#[test]
fn a_hole_counts_for_the_length_but_has_no_bytes() {
    let whole = long(PacketKind::ZeroRtt, b"", 300);
    let start = Header::parse(&whole, 8).unwrap().number_offset;
    // 300 bytes behind the number of 2: 10 real ones, a hole of 274, a tag of 16.
    let hole = Hole { at: (start + 12) as u32, length: 274, offset: 0 };
    let mut datagram = whole[..start + 12 + 16].to_vec();
    let header = Header::parse_with_hole(&datagram, 8, Some(hole)).unwrap();
    assert_eq!((header.number_offset, header.end), (start, datagram.len()));
    // Another packet after it; and the hole in that one.
    datagram.extend(short(20));
    assert_eq!(Header::parse_with_hole(&datagram, 8, Some(hole)).unwrap().end, start + 28);
    let mut datagram = long(PacketKind::Handshake, b"", 50);
    let end = datagram.len();
    datagram.extend(short(20));
    let later = Hole { at: end as u32 + 16, length: 1000, offset: 0 };
    assert_eq!(Header::parse_with_hole(&datagram, 8, Some(later)).unwrap().end, end);
    assert_eq!(later.behind(end), Some(Hole { at: 16, ..later }));
    assert_eq!(later.behind(end + 17), None);
    // A packet that ends within the hole, or a hole within a header, is never sent.
    for hole in [Hole { at: end as u32 - 1, length: 9, offset: 0 }, Hole { at: 3, length: 1, offset: 0 }] {
        assert_eq!(Header::parse_with_hole(&datagram, 8, Some(hole)), Err(HeaderError::Length));
    }
}

/// RFC 9000-17.2.1-2.
#[test]
fn version_negotiation_lists_versions() {
    let mut packet = Vec::new();
    version_negotiation(&mut packet, 0x2a, &[1; 8], &[2; 3], &[Version::V1, Version(0x0a1a_2a3a)]);
    let header = Header::parse(&packet, 8).unwrap();
    assert_eq!((header.kind, header.version), (PacketKind::VersionNegotiation, Version::NEGOTIATION));
    assert_eq!((header.destination, header.source), (id(&[1; 8]), id(&[2; 3])));
    assert_eq!(header.versions(&packet).collect::<Vec<_>>(), [Version::V1, Version(0x0a1a_2a3a)]);
    assert!(!header.has_number());
    assert_eq!(Header::parse(&packet[..packet.len() - 1], 8), Err(HeaderError::VersionList));
    assert_eq!(Header::parse(&packet[..packet.len() - 8], 8), Err(HeaderError::VersionList));
    // The fixed bit is ignored here (RFC 8999 section 6).
    packet[0] = 0x80;
    assert_eq!(Header::parse(&packet, 8), Ok(header));
}

/// RFC 9000-17.2-3, 9000-17.2-5.
#[test]
fn other_versions_show_the_invariants() {
    let mut packet = vec![0x80, 0x0a, 0x0a, 0x0a, 0x0a, 30];
    packet.extend([3; 30]);
    packet.push(255);
    packet.extend([4; 255]);
    packet.extend([5; 900]);
    assert_eq!(Header::parse(&packet, 8), Err(HeaderError::UnsupportedVersion(Version(0x0a0a_0a0a))));
    let invariants = Invariants::parse(&packet).unwrap();
    assert_eq!((invariants.destination, invariants.source), (&[3; 30][..], &[4; 255][..]));
    assert_eq!(invariants.rest, 1 + 4 + 31 + 256);
    assert_eq!(Invariants::parse(&packet[..290]), Err(HeaderError::Truncated));
    assert_eq!(Invariants::parse(&short(3)), Err(HeaderError::ShortHeader));
    let mut answer = Vec::new();
    version_negotiation(&mut answer, 0, invariants.source, invariants.destination, &Version::SUPPORTED);
    let answer = Invariants::parse(&answer).unwrap();
    assert_eq!((answer.version, answer.destination.len()), (Version::NEGOTIATION, 255));
    for version in Version::SUPPORTED {
        packet[1..5].copy_from_slice(&version.0.to_be_bytes());
        packet[0] = 0x80;
        assert_eq!(Header::parse(&packet, 8), Err(HeaderError::FixedBit));
        packet[0] = 0xc0;
        assert_eq!(Header::parse(&packet, 8), Err(HeaderError::ConnectionIdLength));
    }
}

/// RFC 9369 section 3.2.
#[test]
fn the_types_of_version_2_are_other_bits() {
    use PacketKind::{Handshake, Initial, ZeroRtt};
    for (kind, bits) in [(Initial, 0x50), (ZeroRtt, 0x60), (Handshake, 0x70)] {
        let header = LongHeader {
            kind,
            version: Version::V2,
            destination: ConnectionId::new(&[1; 8]).unwrap(),
            source: ConnectionId::new(&[2; 8]).unwrap(),
            token: b"",
            number: Truncated::with_length(7, 2),
        };
        let mut packet = Vec::new();
        let written = header.write(&mut packet);
        packet.extend([0; 30]);
        written.set_length(&mut packet, 30);
        assert_eq!(packet[0] & 0xf0, 0x80 | bits);
        let parsed = Header::parse(&packet, 8).unwrap();
        assert_eq!((parsed.kind, parsed.version, parsed.source), (kind, Version::V2, header.source));
    }
    let mut packet = Vec::new();
    retry(&mut packet, Version::V2, ConnectionId::EMPTY, ConnectionId::EMPTY, b"token");
    packet.extend([0; 16]);
    assert_eq!(packet[0], 0xc0);
    assert_eq!(Header::parse(&packet, 8).unwrap().kind, PacketKind::Retry);
}

/// RFC 9000-17.2-1, 9000-17.3.1-1.
#[test]
fn the_fixed_bit_is_fixed() {
    for mut packet in [short(30), long(PacketKind::Initial, b"", 30)] {
        packet[0] &= !0x40;
        assert_eq!(Header::parse(&packet, 8), Err(HeaderError::FixedBit));
        let any = Header::parse_with_any_quic_bit(&packet, 8, None);
        packet[0] |= 0x40;
        assert_eq!(any, Header::parse(&packet, 8));
    }
    assert_eq!(Header::parse(&[], 8), Err(HeaderError::Truncated));
}

#[test]
fn a_length_of_zero_or_beyond_all_bytes_is_refused() {
    let packet = long(PacketKind::Handshake, b"", 20);
    let at = packet.len() - 24;
    let mut zero = packet.clone();
    zero[at..at + 2].copy_from_slice(&[0x40, 0]);
    assert_eq!(Header::parse(&zero, 8), Err(HeaderError::Length));
    let mut huge = packet[..at].to_vec();
    huge.extend([0xff; 30]);
    assert_eq!(Header::parse(&huge, 8), Err(HeaderError::Length));
    // Length 1 with a packet number of two bytes.
    let mut tiny = packet;
    tiny[at..at + 2].copy_from_slice(&[0x40, 1]);
    assert_eq!(Header::parse(&tiny, 8).unwrap().number(&tiny), Err(HeaderError::Length));
}

/// RFC 9000-10.3-4.
#[test]
fn stateless_resets_look_like_short_headers() {
    let mut datagram = Vec::new();
    stateless_reset(&mut datagram, &[0xff; 5], [3; 16]);
    assert_eq!(datagram.len(), RESET_MIN_LENGTH);
    assert_eq!(reset_token(&datagram), Some([3; 16]));
    assert_eq!(Header::parse(&datagram, 4).unwrap().kind, PacketKind::OneRtt);
    assert_eq!(reset_token(&datagram[1..]), None);
    let mut datagram = long(PacketKind::Initial, b"", 40);
    datagram.extend([3; 16]);
    assert_eq!(reset_token(&datagram), Some([3; 16]), "RFC 9000-10.3-5: behind a long header, too");
}
