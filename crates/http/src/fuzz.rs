//! Entry points for fuzzing: each takes arbitrary bytes, decodes them, and panics if what it decoded does not come back,
//! is above its limit, or depends on the pieces in which it came. The property tests of this crate and the fuzz targets
//! call the same functions.

use crate::message::{RequestHead, ResponseHead, check_trailers};
use crate::qpack::{self, BadSection, DecoderStream, EncoderStream, Field};
use crate::{MAX_TARGET, Priority, Settings, Target, frame};
use wire::Reader;

/// A field section: two bytes for the limit on its size, then the section.
///
/// # Panics
/// If its fields are above the limit or do not come back, or if a larger limit is not enough for what was too large.
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
    // No section can be two kinds of header section: each has a pseudo-header field that the others do not have.
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
/// If a segment is no name that can be joined to a root.
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
/// If the verdict depends on the pieces in which they came.
pub fn instructions(data: &[u8]) {
    let (mut whole, mut pieces) = (EncoderStream::default(), EncoderStream::default());
    assert_eq!(whole.push(data), data.iter().try_for_each(|byte| pieces.push(&[*byte])));
    let (mut whole, mut pieces) = (DecoderStream::default(), DecoderStream::default());
    assert_eq!(whole.push(data), data.iter().try_for_each(|byte| pieces.push(&[*byte])));
}

/// The frames of a stream: one byte for the size of the pieces, then the stream.
///
/// # Panics
/// If a head is not read as it stands there, or a payload does not come back.
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
