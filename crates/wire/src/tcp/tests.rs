//! Tests of the TCP headers: known bytes, and every error.

use super::*;
use crate::ip::TcpPacket;

fn syn() -> Header {
    Header {
        source: 34_433,
        destination: 443,
        sequence: 0x0102_0304,
        flags: Flags::SYN,
        window: 64_240,
        options: Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x1122_3344, echo: 0 }),
            ..Options::default()
        },
        ..Header::default()
    }
}

#[test]
fn a_syn_byte_by_byte() {
    let mut out = Vec::new();
    assert_eq!(syn().encode(&mut out), 40);
    #[rustfmt::skip]
    assert_eq!(out, [
        0x86, 0x81, 0x01, 0xbb, 1, 2, 3, 4, 0, 0, 0, 0, 0xa0, 0x02, 0xfa, 0xf0, 0, 0, 0, 0,
        2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0, 1, 3, 3, 7,
    ]);
    assert_eq!(Header::decode(&out), Ok((syn(), 40)));
}

#[test]
fn three_blocks_fit_beside_timestamps_and_four_without() {
    let mut header = Header { flags: Flags::ACK, ..Header::default() };
    (0..4).for_each(|i| header.options.sack.push(i * 10, i * 10 + 5));
    assert_eq!(header.options.size(), 36);
    header.options.timestamps = Some(Timestamps::default());
    assert!(header.options.size() > MAX_OPTIONS);
    header.options.sack.truncate(3);
    assert_eq!(header.options.size(), MAX_OPTIONS);
    let mut out = Vec::new();
    assert_eq!(header.encode(&mut out), MAX_HEADER);
    assert_eq!(Header::decode(&out), Ok((header, MAX_HEADER)));
}

#[test]
fn a_cookie_round_trips_and_its_length_is_checked() {
    for length in [0, 4, 8, 16] {
        let cookie = Cookie::new(&vec![7; length]).unwrap();
        let mut header = syn();
        header.options.fast_open = Some(cookie);
        let mut out = Vec::new();
        let size = header.encode(&mut out);
        assert_eq!(Header::decode(&out), Ok((header, size)));
    }
    // RFC 7413 section 4.1.1.
    assert_eq!([2, 3, 5, 18].map(|length| Cookie::new(&vec![7; length])), [None; 4]);
}

/// RFC 9293 section 3.1: illegal option lengths are errors, not crashes; unknown options are skipped.
#[test]
fn options_are_read_strictly() {
    let with = |options: &[u8]| {
        let mut bytes = vec![0; HEADER_SIZE];
        bytes[12] = ((HEADER_SIZE + options.len()) / 4) as u8 * 16;
        bytes.extend_from_slice(options);
        Header::decode(&bytes).map(|(header, _)| header.options)
    };
    for illegal in [
        [8, 0, 0, 0],
        [8, 1, 0, 0],
        [8, 4, 0, 0],
        [2, 3, 1, 0],
        [3, 4, 1, 1],
        [5, 2, 0, 0],
        [1, 1, 1, 2],
        [34, 3, 1, 0],
        [99, 5, 0, 0],
    ] {
        assert_eq!(with(&illegal), Err(TcpError::Option), "{illegal:?}");
    }
    assert_eq!(with(&[99, 4, 1, 2]), Ok(Options::default()));
    assert_eq!(with(&[1, 0, 2, 4]), Ok(Options::default()), "nothing behind the end counts");
    assert_eq!(with(&[2, 4, 1, 0]).map(|options| options.mss), Ok(Some(256)));
}

#[test]
fn invalid_headers_are_rejected() {
    let mut out = Vec::new();
    syn().encode(&mut out);
    for cut in 0..out.len() {
        assert_eq!(Header::decode(&out[..cut]), Err(TcpError::Truncated));
    }
    out[12] = 0x40;
    assert_eq!(Header::decode(&out), Err(TcpError::DataOffset));
}

#[test]
fn flags_have_names() {
    assert_eq!(Flags::SYN.with(Flags::ACK).to_string(), "SYN,ACK");
    assert_eq!(Flags::none().with_if(false, Flags::FIN).to_string(), "");
    assert!(Flags(0x1ff).has(Flags::AE) && !Flags::SYN.has(Flags::SYN.with(Flags::ACK)));
}

#[test]
fn a_packet_has_a_checksum_that_detects_flipped_bits() {
    for (source, destination) in [("10.0.0.1:34433", "10.0.0.2:443"), ("[::1]:34433", "[::2]:443")] {
        let mut segment = Vec::new();
        syn().encode(&mut segment);
        segment.extend_from_slice(b"odd");
        let packet = TcpPacket {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            ecn: crate::Ecn::Ect0,
            dscp: 0,
            hop_limit: 64,
            segment: &segment,
        };
        let mut out = Vec::new();
        packet.encode(&mut out).unwrap();
        let read = TcpPacket::decode(&out).unwrap();
        assert_eq!(
            (read.source, read.destination, read.ecn),
            (packet.source, packet.destination, packet.ecn)
        );
        assert_eq!(Header::decode(read.segment), Ok((syn(), 40)));
        let headers = out.len() - segment.len();
        for bit in headers * 8..out.len() * 8 {
            let mut altered = out.clone();
            altered[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(TcpPacket::decode(&altered), Err(crate::ip::IpError::Checksum), "bit {bit}");
        }
    }
}
