//! Fuzzing entry points. Each decodes arbitrary bytes and panics if the result does not survive a round trip, exceeds
//! its limit, or depends on how the input was split into pieces. The property tests of this crate and the fuzz
//! targets call the same functions.

use crate::hpack::{BadBlock, Decoder, Encoder};
use crate::http1::HeadReader;
use crate::message::{RequestHead, ResponseHead, check_trailers};
use crate::qpack::{self, BadSection, DecoderStream, EncoderStream, Field};
use crate::{MAX_TARGET, Priority, Settings, Target, frame, http1, http2};
use wire::Reader;

/// A field section: two bytes for the size limit, then the section.
///
/// # Panics
/// If the fields exceed the limit, do not survive a round trip, or do not fit a larger limit after exceeding a
/// smaller one.
pub fn section(data: &[u8]) {
    let Some(([high, low], section)) = data.split_first_chunk::<2>() else { return };
    let limit = u64::from(u16::from_be_bytes([*high, *low]));
    let fields = match qpack::decode(section, limit) {
        Ok(fields) => fields,
        Err(BadSection::TooLarge) => {
            if let Ok(fields) = qpack::decode(section, u64::MAX) {
                assert!(fields.iter().map(Field::size).sum::<u64>() > limit);
            }
            return;
        }
        Err(BadSection::Undecodable(_)) => return,
    };
    assert!(fields.iter().map(Field::size).sum::<u64>() <= limit);
    let mut again = Vec::new();
    qpack::encode(&mut again, &fields);
    assert_eq!(qpack::decode(&again, limit).as_ref(), Ok(&fields));
    let request = RequestHead::read(&fields);
    let response = ResponseHead::read(&fields);
    let trailers = check_trailers(&fields);
    // No section can be of two kinds: each kind of header section has a pseudo-header field that the others lack.
    assert!([request.is_ok(), response.is_ok(), trailers.is_ok()].into_iter().filter(|ok| *ok).count() <= 1);
    if let Ok(response) = response {
        assert!((100..1000).contains(&response.status) && response.status != 101);
    }
    if let Some(path) = request.ok().and_then(|request| request.path) {
        target(path.as_bytes());
    }
}

/// The target of a request.
///
/// # Panics
/// If a segment is not a name that can be joined to a root.
pub fn target(data: &[u8]) {
    let Ok(target) = Target::parse(data) else { return };
    assert!(data.len() <= MAX_TARGET && data.starts_with(b"/"));
    for segment in &target.segments {
        assert!(!matches!(segment.as_str(), "" | "." | "..") && !segment.contains(['/', '\\', '\0']));
    }
}

/// The instructions of an encoder and of a decoder.
///
/// # Panics
/// If the result depends on the pieces.
pub fn instructions(data: &[u8]) {
    let (mut whole, mut pieces) = (EncoderStream::default(), EncoderStream::default());
    assert_eq!(whole.push(data), data.iter().try_for_each(|byte| pieces.push(&[*byte])));
    let (mut whole, mut pieces) = (DecoderStream::default(), DecoderStream::default());
    assert_eq!(whole.push(data), data.iter().try_for_each(|byte| pieces.push(&[*byte])));
}

/// The frames of a stream: one byte for the piece size, then the stream.
///
/// # Panics
/// If a header is misread, or a payload does not survive a round trip.
pub fn frames(data: &[u8]) {
    let Some((step, mut rest)) = data.split_first() else { return };
    let step = 1 + usize::from(step % 16);
    let mut heads = frame::HeadReader::default();
    loop {
        let start = rest;
        let head = loop {
            let (piece, behind) = rest.split_at(heads.wanted().min(step).min(rest.len()));
            if piece.is_empty() {
                return;
            }
            rest = behind;
            if let Some(head) = heads.push(piece) {
                break head;
            }
        };
        let mut reader = Reader::new(start);
        assert_eq!((reader.varint(), reader.varint()), (Ok(head.kind), Ok(head.length)));
        assert_eq!(reader.rest(), rest, "never a byte of the payload");
        assert!(heads.is_empty());
        let Some((payload, behind)) =
            usize::try_from(head.length).ok().and_then(|length| rest.split_at_checked(length))
        else {
            return;
        };
        rest = behind;
        self::payload(head.kind, payload);
    }
}

fn payload(kind: u64, payload: &[u8]) {
    match kind {
        frame::SETTINGS => {
            let Ok(settings) = Settings::decode(payload) else { return };
            let mut again = Vec::new();
            settings.encode(&mut again);
            assert_eq!(Settings::decode(&again), Ok(settings));
        }
        frame::PRIORITY_UPDATE_REQUEST => {
            if let Ok((stream, Some(priority))) = frame::read_priority_update(payload) {
                assert_eq!(frame::request_stream(stream.value()), Ok(stream));
                assert!(priority.urgency < 8);
                assert_eq!(Priority::parse(priority.to_string().as_bytes()), Some(priority));
            }
        }
        _ => {
            if let Ok(id) = frame::read_id(payload) {
                assert!(payload.len() >= wire::varint::size(id));
            }
        }
    }
}

/// HTTP/1.1 heads and chunked bodies: one byte for the piece size, then the stream.
///
/// # Panics
/// If a head or body depends on the pieces, a head exceeds its limit or does not survive a round trip, or a body is
/// longer than the input.
pub fn http1(data: &[u8]) {
    let Some((step, stream)) = data.split_first() else { return };
    let step = 1 + usize::from(*step);
    let whole = messages(stream, usize::MAX);
    assert_eq!(whole, messages(stream, step));
    for (head, _) in whole {
        assert!(head.len() <= http1::MAX_HEAD);
        if let Ok(message) = http1::read_request(&head)
            && let (method, Some(path), Some(host)) =
                (message.head.method.as_str(), &message.head.path, &message.head.authority)
        {
            let mut again = Vec::new();
            http1::write_request(&mut again, method, path, host, &[]);
            let again = http1::read_request(&again[..again.len() - 4]).map(|message| message.head);
            let same = again.is_ok_and(|head| {
                (&head.method, &head.path, &head.authority)
                    == (&message.head.method, &message.head.path, &message.head.authority)
            });
            assert!(same, "{message:?}");
        }
        if let Ok(message) = http1::read_response(&head) {
            assert!((100..1000).contains(&message.head.status));
        }
    }
}

/// The heads of a stream in pieces, each with its content if that is chunked.
fn messages(stream: &[u8], step: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut reader, mut chunks) = (HeadReader::default(), None::<http1::ChunkReader>);
    let (mut messages, mut rest) = (Vec::<(Vec<u8>, Vec<u8>)>::new(), stream);
    while !rest.is_empty() {
        let piece = &rest[..step.min(rest.len())];
        if let (Some(body), Some((_, content))) = (&mut chunks, messages.last_mut()) {
            match body.next() {
                http1::Next::End => chunks = None,
                http1::Next::Content(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                    content.extend_from_slice(&piece[..taken]);
                    body.note_content(taken as u64);
                    rest = &rest[taken..];
                }
                http1::Next::Framing => match body.push(piece) {
                    Ok(used) => rest = &rest[used..],
                    Err(_) => break,
                },
            }
            assert!(content.len() < stream.len());
            continue;
        }
        match reader.push(piece) {
            Ok(Some((head, used))) => {
                let is_chunked =
                    http1::read_request(&head).map(|message| message.is_chunked).unwrap_or(false)
                        || http1::read_response(&head).is_ok_and(|message| message.is_chunked);
                chunks = is_chunked.then(http1::ChunkReader::default);
                messages.push((head, Vec::new()));
                rest = &rest[used..];
            }
            Ok(None) => rest = &rest[piece.len()..],
            Err(_) => break,
        }
    }
    messages
}

/// Field blocks of one connection: two bytes for the size limit, then blocks, each after a byte for its length.
///
/// # Panics
/// If the fields of a block exceed the limit, or do not survive a round trip on a separate connection.
pub fn blocks(data: &[u8]) {
    let Some(([high, low], mut rest)) = data.split_first_chunk::<2>() else { return };
    let limit = u64::from(u16::from_be_bytes([*high, *low]));
    let (mut decoder, mut encoder, mut again) = (Decoder::default(), Encoder::default(), Decoder::default());
    while let Some((length, behind)) = rest.split_first() {
        let (block, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = behind;
        match decoder.decode(block, limit) {
            Ok(fields) => {
                assert!(fields.iter().map(Field::size).sum::<u64>() <= limit);
                let mut out = Vec::new();
                encoder.encode(&mut out, &fields);
                assert_eq!(again.decode(&out, limit), Ok(fields));
            }
            Err(BadBlock::TooLarge) => {}
            Err(BadBlock::Undecodable(_)) => return,
        }
    }
}

/// Frames of HTTP/2.
///
/// # Panics
/// If a header or settings do not survive a round trip.
pub fn http2_frames(data: &[u8]) {
    let (mut rest, mut settings) = (data, http2::Settings::default());
    while let Some((bytes, behind)) = rest.split_first_chunk::<{ http2::FRAME_HEAD }>() {
        let Ok(head) = http2::FrameHead::decode(*bytes) else { return };
        let mut again = Vec::new();
        head.encode(&mut again);
        // The reserved bit is not preserved (RFC 9113 section 4.1).
        assert_eq!(http2::FrameHead::decode(*again.first_chunk().unwrap_or(bytes)), Ok(head));
        let Some((payload, behind)) = behind.split_at_checked(head.length as usize) else { return };
        rest = behind;
        if head.check().is_err() || head.kind == http2::Kind::DATA {
            continue;
        }
        match http2::Frame::decode(&head, payload) {
            Ok(http2::Frame::Fields(block)) => assert!(block.len() <= payload.len()),
            Ok(http2::Frame::Settings(payload)) => {
                if settings.update(payload).is_err() {
                    return;
                }
                let (mut out, mut again) = (Vec::new(), http2::Settings::default());
                settings.encode(&mut out);
                assert_eq!(again.update(&out), Ok(()));
                assert_eq!(again, settings);
            }
            Ok(http2::Frame::WindowUpdate(more)) => assert!(more > 0 && more <= http2::MAX_WINDOW),
            _ => {}
        }
    }
}
