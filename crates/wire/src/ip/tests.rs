//! Tests of the IP and UDP headers: known packets, round trips, and every error.

use super::*;

fn packet<'a>(source: &str, destination: &str, payload: &'a [u8]) -> Packet<'a> {
    Packet {
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
        ecn: Ecn::Ect0,
        dscp: 46,
        hop_limit: 64,
        payload,
    }
}

fn encoded(packet: &Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.encode(&mut out).unwrap();
    assert_eq!(out.len(), headers_size(packet.source) + packet.payload.len());
    out
}

/// The sum of RFC 1071 in its simplest form, as an independent check.
fn plain_sum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded + (folded >> 16)) as u16
}

#[test]
fn an_ipv4_packet_byte_by_byte() {
    let bytes = encoded(&packet("10.0.0.1:443", "10.0.0.2:50000", b"abc"));
    assert_eq!(bytes[..10], [0x45, 46 << 2 | 2, 0, 31, 0, 0, 0x40, 0, 64, 17]);
    assert_eq!(bytes[12..28 - 2], [10, 0, 0, 1, 10, 0, 0, 2, 1, 187, 0xc3, 0x50, 0, 11]);
    assert_eq!(plain_sum(&bytes[..20]), 0xffff);
    let pseudo = [&bytes[12..20], &[0, 17, 0, 11], &bytes[20..]].concat();
    assert_eq!(plain_sum(&pseudo), 0xffff);
    assert_eq!(&bytes[28..], b"abc");
}

#[test]
fn an_ipv6_packet_byte_by_byte() {
    let bytes = encoded(&packet("[2001:db8::1]:1", "[2001:db8::2]:2", b"abcd"));
    assert_eq!(bytes[..8], [0x6b, 0xa0, 0, 0, 0, 12, 17, 64]);
    assert_eq!((bytes[23], bytes[39]), (1, 2));
    let pseudo = [&bytes[8..40], &[0, 0, 0, 12, 0, 0, 0, 17], &bytes[40..]].concat();
    assert_eq!(plain_sum(&pseudo), 0xffff);
    assert_eq!(&bytes[48..], b"abcd");
}

#[test]
fn packets_round_trip() {
    let payload: Vec<u8> = (0..1472u32).map(|i| (i * 7) as u8).collect();
    for (source, destination) in [("192.0.2.1:443", "198.51.100.7:9"), ("[2001:db8::5]:443", "[::1]:65535")] {
        for length in [0, 1, 2, 3, 4, 5, 1471, 1472] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let packet = Packet { ecn, ..packet(source, destination, &payload[..length]) };
                let mut bytes = encoded(&packet);
                assert_eq!(Packet::decode(&bytes), Ok(packet));
                for cut in 0..bytes.len() {
                    assert_eq!(Packet::decode(&bytes[..cut]), Err(IpError::Truncated));
                }
                bytes.extend([0; 7]);
                assert_eq!(Packet::decode(&bytes), Ok(packet), "with a padding of the link");
            }
        }
    }
    assert!(Ecn::Ce.is_capable() && Ecn::Ect0.is_capable() && !Ecn::NotEct.is_capable());
}

#[test]
fn a_checksum_of_zero_is_sent_as_all_ones() {
    // A payload equal to the checksum for a zero payload makes the sum all ones, so its complement is 0.
    for (source, destination) in [("10.0.0.1:443", "10.0.0.2:50000"), ("[::1]:443", "[::2]:50000")] {
        let at = headers_size(source.parse().unwrap()) - 2;
        let without = encoded(&packet(source, destination, &[0, 0]));
        let payload = [without[at], without[at + 1]];
        let packet = packet(source, destination, &payload);
        let mut bytes = encoded(&packet);
        assert_eq!(bytes[at..at + 2], [0xff, 0xff]);
        assert_eq!(Packet::decode(&bytes), Ok(packet));
        bytes[at..at + 2].fill(0);
        let unchecked = Packet::decode(&bytes);
        assert_eq!(unchecked, if packet.source.is_ipv4() { Ok(packet) } else { Err(IpError::Checksum) });
    }
}

#[test]
fn a_flipped_bit_is_detected() {
    for (source, destination) in [("10.0.0.1:443", "10.0.0.2:50000"), ("[::1]:443", "[::2]:50000")] {
        let packet = packet(source, destination, b"payload");
        let bytes = encoded(&packet);
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            // The checksums do not cover the traffic class, flow label and hop limit of IPv6.
            let unprotected =
                packet.source.is_ipv6() && (4..32).contains(&bit) || packet.source.is_ipv6() && bit / 8 == 7;
            assert_eq!(Packet::decode(&bytes).is_ok(), unprotected, "bit {bit}");
        }
    }
}

/// Sets bytes of an IPv4 header and corrects its checksum.
fn altered(bytes: &[u8], changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    changes.iter().for_each(|(at, value)| bytes[*at] = *value);
    bytes[10..12].fill(0);
    let sum = !plain_sum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn invalid_udp_datagrams_are_rejected() {
    let v4 = encoded(&packet("10.0.0.1:443", "10.0.0.2:50000", b"payload"));
    let v6 = encoded(&packet("[::1]:443", "[::2]:50000", b"payload"));
    for (bytes, error) in [
        (vec![0x50; 60], IpError::Version),
        (altered(&v4, &[(6, 0x20)]), IpError::Fragment),
        (altered(&v4, &[(7, 1)]), IpError::Fragment),
        (altered(&v4, &[(9, 6)]), IpError::Protocol(6)),
        (altered(&v4, &[(0, 0x44)]), IpError::Length),
        (altered(&v4, &[(3, 19)]), IpError::Length),
        (altered(&v4, &[(3, 27)]), IpError::Length),
        // A UDP length above that of IP, and one below its own header.
        (altered(&v4, &[(25, 16)]), IpError::Length),
        (altered(&v4, &[(25, 7)]), IpError::Length),
        (
            {
                let mut v6 = v6.clone();
                v6[6] = 0;
                v6
            },
            IpError::Protocol(0),
        ),
        (
            {
                let mut v6 = v6.clone();
                v6[5] = 7;
                v6
            },
            IpError::Length,
        ),
    ] {
        assert_eq!(Packet::decode(&bytes), Err(error), "{bytes:02x?}");
    }
    // IPv4 options are skipped.
    let mut options = v4[..20].to_vec();
    options.extend([1, 1, 1, 0]);
    options.extend(&v4[20..]);
    (options[0], options[3]) = (0x46, v4[3] + 4);
    options[10..12].fill(0);
    let sum = !plain_sum(&options[..24]);
    options[10..12].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(Packet::decode(&options).map(|packet| packet.payload), Ok(&b"payload"[..]));
}

#[test]
fn packets_that_cannot_be_encoded_are_rejected() {
    let mixed = packet("10.0.0.1:443", "[::2]:50000", b"");
    assert_eq!(mixed.encode(&mut Vec::new()), Err(IpError::Version));
    let payload = vec![0; 65528];
    for (source, most) in [("10.0.0.1:443", 65507), ("[::1]:443", 65527)] {
        let mut out = Vec::new();
        assert_eq!(packet(source, source, &payload[..most]).encode(&mut out), Ok(()));
        out.clear();
        assert_eq!(packet(source, source, &payload[..most + 1]).encode(&mut out), Err(IpError::Length));
        assert!(out.is_empty());
    }
}
