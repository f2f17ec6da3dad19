//! Entry points for fuzzing. Each decodes arbitrary bytes and panics if a decoded value changes when it is encoded and
//! decoded again. The property tests of this crate and the fuzz targets call the same functions.

use crate::frame::{Ack, Data, Frame, Frames};
use crate::header::{self, Header, HeaderError, Invariants, LongHeader, ShortHeader, WrittenLong};
use crate::{Hole, PacketKind, Side, TransportParameters, ip as internet, pattern, varint};

/// A datagram: one byte for the length of local connection ids, four for a hole, then its packets.
///
/// # Panics
/// If a header does not round-trip, or if a hole and its written bytes give different results.
pub fn header(data: &[u8]) {
    let Some(([id_length, hole @ ..], mut rest)) = data.split_first_chunk::<5>() else { return };
    let id_length = usize::from(id_length % 21);
    let [at, length] =
        [[hole[0], hole[1]], [hole[2], hole[3]]].map(|pair| u32::from(u16::from_be_bytes(pair)));
    let mut hole = (length > 0 && at as usize <= rest.len()).then_some(Hole { at, length, offset: 0 });
    let _ = header::reset_token(rest);
    while !rest.is_empty() {
        let header = match Header::parse_with_hole(rest, id_length, hole) {
            Ok(header) => header,
            Err(HeaderError::UnsupportedVersion(version)) => {
                assert_eq!(Invariants::parse(rest).map(|seen| seen.version), Ok(version));
                return;
            }
            Err(_) => return,
        };
        assert!(header.number_offset <= header.end && 0 < header.end && header.end <= rest.len());
        check_round_trip(&header, rest, id_length);
        if let Some(hole) = hole {
            check_written_out(&header, rest, id_length, hole);
        }
        rest = &rest[header.end..];
        hole = hole.and_then(|hole| hole.behind(header.end));
    }
}

fn check_round_trip(header: &Header, datagram: &[u8], id_length: usize) {
    let mut out = Vec::new();
    match header.kind {
        PacketKind::VersionNegotiation => {
            let versions: Vec<_> = header.versions(datagram).collect();
            let ids = [header.destination.as_bytes(), header.source.as_bytes()];
            header::version_negotiation(&mut out, 0, ids[0], ids[1], &versions);
            assert!(Header::parse(&out, id_length).unwrap().versions(&out).eq(versions));
        }
        PacketKind::Retry => {
            header::retry(
                &mut out,
                header.version,
                header.destination,
                header.source,
                header.token(datagram),
            );
            out.extend(header.retry_tag(datagram).unwrap());
            assert_eq!(Header::parse(&out, id_length).unwrap().retry_tag(&out), header.retry_tag(datagram));
        }
        kind => {
            let Ok(number) = header.number(datagram) else { return };
            let payload = header.end - header.number_offset - number.length();
            if kind == PacketKind::OneRtt {
                let first = crate::FirstByte(datagram[0]);
                let (spin, key_phase) = (first.spin(), first.key_phase());
                let written = ShortHeader { destination: header.destination, spin, key_phase, number };
                assert_eq!(written.write(&mut out), header.number_offset);
                assert_eq!(out.len(), written.size());
                assert_eq!(out[0], datagram[0] & !0x18);
                out.resize(out.len() + payload, 0);
            } else {
                let (destination, source) = (header.destination, header.source);
                let token = header.token(datagram);
                let long = LongHeader { kind, version: header.version, destination, source, token, number };
                let written = long.write(&mut out);
                assert_eq!(out.len(), long.size());
                let payload = payload.min(WrittenLong::MAX_LENGTH);
                out.resize(out.len() + payload, 0);
                written.set_length(&mut out, payload);
            }
            assert_eq!(Header::parse(&out, id_length).unwrap().number(&out), Ok(number));
        }
    }
    let again = Header::parse(&out, id_length).unwrap();
    assert_eq!((again.kind, again.version), (header.kind, header.version));
    assert_eq!((again.destination, again.source), (header.destination, header.source));
    assert_eq!(again.token(&out), header.token(datagram));
    assert_eq!(again.end, out.len());
}

fn check_written_out(header: &Header, datagram: &[u8], id_length: usize, hole: Hole) {
    let at = hole.at as usize;
    if !header.has_number() || at < header.number_offset {
        return;
    }
    let mut whole = datagram.to_vec();
    hole.write_out(&mut whole);
    let mut expected = *header;
    // A packet that ends where the hole starts does not own it, unless it extends to the end of the datagram.
    let end = Header::parse(&whole, id_length).unwrap().end;
    assert!(end == header.end && end <= at || end == header.end + hole.length as usize && at <= header.end);
    expected.end = end;
    assert_eq!(Header::parse(&whole, id_length), Ok(expected));
}

/// The payload of a packet: two bytes for the number of virtual bytes after it, then the frames.
///
/// # Panics
/// If a frame does not round-trip, or if virtual data and its written bytes give different results.
pub fn frames(data: &[u8]) {
    let Some((tail, payload)) = data.split_first_chunk() else { return };
    let tail = usize::from(u16::from_be_bytes(*tail));
    let Ok(frames) = Frames::new(payload, tail).collect::<Result<Vec<Frame<'_>>, _>>() else { return };
    assert!(!frames.is_empty());
    let mut out = Vec::new();
    for frame in &frames {
        let start = out.len();
        frame.encode(&mut out);
        assert_eq!(out.len() - start, frame.encoded_size());
        assert_eq!(varint::Reader::new(&out[start..]).varint(), Ok(frame.frame_type()));
        assert!(frame.allowed_in(PacketKind::OneRtt));
        if let Frame::Ack(ack) = frame {
            let _ = ack.scaled_delay((tail % 21) as u8);
        }
        if let Frame::Ack(ack) = frame {
            check_limit(ack, tail);
        }
    }
    let again = Frames::new(&out, tail).collect::<Result<Vec<_>, _>>();
    assert_eq!(again.as_ref(), Ok(&frames));
    let (offset, length) = match frames.last() {
        Some(Frame::Stream { offset, data: Data::Virtual { length }, .. }) => (*offset, *length),
        Some(Frame::Datagram { data: Data::Virtual { length }, .. }) => (0, *length),
        _ => return,
    };
    let mut whole = payload.to_vec();
    whole.resize(payload.len() + length, 0);
    pattern::fill(offset, &mut whole[payload.len()..]);
    let mut written_out = frames.clone();
    if let Some(Frame::Stream { data, .. } | Frame::Datagram { data, .. }) = written_out.last_mut() {
        *data = Data::Bytes(&whole[payload.len()..]);
    }
    assert_eq!(Frames::new(&whole, 0).collect::<Result<Vec<_>, _>>(), Ok(written_out));
}

fn check_limit(ack: &Ack<'_>, limit: usize) {
    let mut out = Vec::new();
    let count = crate::frame::ack(&mut out, ack.ranges(), ack.delay(), ack.ecn(), limit);
    assert!(out.len() <= limit);
    match Frames::new(&out, 0).next() {
        Some(Ok(Frame::Ack(shorter))) => {
            assert_eq!(shorter.range_count(), count as u64);
            assert!(shorter.ranges().eq(ack.ranges().take(count)));
            assert_eq!((shorter.delay(), shorter.ecn()), (ack.delay(), ack.ecn()));
        }
        other => assert!(count == 0 && out.is_empty(), "{other:?}"),
    }
}

/// Transport parameters: one byte whose lowest bit is the side, then the parameters.
///
/// # Panics
/// If they do not round-trip.
pub fn parameters(data: &[u8]) {
    let Some((side, bytes)) = data.split_first() else { return };
    let side = if side & 1 == 0 { Side::Client } else { Side::Server };
    let Ok(parameters) = TransportParameters::decode(bytes, side) else { return };
    let mut out = Vec::new();
    parameters.encode(&mut out, Some((27, bytes)));
    assert_eq!(TransportParameters::decode(&out, side), Ok(parameters));
    assert_eq!(parameters.integers().len(), 12);
}

/// An IP packet.
///
/// # Panics
/// If it does not round-trip.
pub fn ip(data: &[u8]) {
    let Ok(packet) = internet::Packet::decode(data) else { return };
    let mut out = Vec::new();
    packet.encode(&mut out).unwrap();
    assert_eq!(internet::Packet::decode(&out), Ok(packet));
}

/// A TCP segment.
///
/// # Panics
/// If its header does not round-trip.
pub fn tcp(data: &[u8]) {
    let Ok((header, length)) = crate::tcp::Header::decode(data) else { return };
    assert!(length <= data.len());
    let mut out = Vec::new();
    // The encoder never writes more options than fit; other senders may have omitted the padding.
    if header.options.size() > crate::tcp::MAX_OPTIONS {
        return;
    }
    let size = header.encode(&mut out);
    assert_eq!((size, size), (out.len(), crate::tcp::HEADER_SIZE + header.options.size()));
    assert_eq!(crate::tcp::Header::decode(&out), Ok((header, size)));
    let _ = internet::TcpPacket::decode(data);
}
