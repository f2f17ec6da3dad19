//! Runs the decoders on arbitrary bytes and on valid inputs with a few changes: the fuzz targets on a stable
//! toolchain.

use http::hpack::Encoder;
use http::qpack::{self, Field};
use http::{frame, http2};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A position, taken modulo the length, and the new byte there.
fn changes() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let byte = prop_oneof![any::<u8>(), select(vec![0, 0x1f, 0x20, 0x3f, 0x7f, 0x80, 0xc0, 0xff])];
    vec((0usize..4096, byte), 0..4)
}

fn changed(mut bytes: Vec<u8>, changes: &[(usize, u8)]) -> Vec<u8> {
    let length = bytes.len().max(1);
    for (at, byte) in changes {
        if let Some(place) = bytes.get_mut(at % length) {
            *place = *byte;
        }
    }
    bytes
}

/// A section of common field lines, after two bytes for the size limit.
fn section() -> impl Strategy<Value = Vec<u8>> {
    let known = select(vec![
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "example.org"),
        (":path", "/a/../b?c"),
        (":status", "404"),
        ("content-length", "12"),
        ("priority", "u=2, i"),
        ("te", "trailers"),
        ("host", "example.org"),
        ("x-frame-options", "deny"),
    ])
    .prop_map(|(name, value)| Field::new(name, value));
    let other = ("[a-z-]{1,12}", "[ -~]{0,30}").prop_map(|(name, value)| Field::new(name, value));
    let limit = prop_oneof![3 => Just(u16::MAX), 1 => any::<u16>()];
    (limit, vec(prop_oneof![3 => known, 1 => other], 0..12)).prop_map(|(limit, fields)| {
        let mut out = limit.to_be_bytes().to_vec();
        qpack::encode(&mut out, &fields);
        out
    })
}

/// A stream of frames, after one byte for the piece size.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let kind = select(vec![0, 1, 3, 4, 5, 7, 0x0d, 0x21, 0xf0700, 0xf0701]);
    let payload = prop_oneof![
        vec(any::<u8>(), 0..40),
        vec(0u8..64, 0..12),
        "[ui=0-9, ?;]{0,12}".prop_map(|text| [b"\x04", text.as_bytes()].concat()),
    ];
    (any::<u8>(), vec((kind, payload), 0..6)).prop_map(|(step, all)| {
        let mut out = vec![step];
        all.iter().for_each(|(kind, payload)| frame::encode(&mut out, *kind, payload));
        out
    })
}

/// Messages of HTTP/1.1, some of them chunked, after one byte for the piece size.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    let first = select(vec!["GET /a HTTP/1.1\r\n", "HEAD * HTTP/1.0\r\n", "HTTP/1.1 200 OK\r\n", "\r\n"]);
    let line = select(vec![
        "Host: a\r\n",
        "content-length: 5\r\n",
        "Connection: close, x\r\n",
        "Transfer-Encoding: chunked\r\n",
        "priority: u=2\r\n",
        " folded\r\n",
        "expect: 100-continue\r\n",
        "\r\n",
    ]);
    let chunk =
        select(vec!["3\r\nabc\r\n", "1;x=y\r\na\r\n", "0\r\n\r\n", "0\r\na: b\r\n\r\n", "00a \t;\r\n"]);
    (any::<u8>(), vec((first, vec(line, 0..5), vec(chunk, 0..4)), 0..4)).prop_map(|(step, all)| {
        let mut out = vec![step];
        for (first, lines, chunks) in all {
            out.extend_from_slice(first.as_bytes());
            lines.iter().for_each(|line| out.extend_from_slice(line.as_bytes()));
            out.extend_from_slice(b"\r\n");
            chunks.iter().for_each(|chunk| out.extend_from_slice(chunk.as_bytes()));
        }
        out
    })
}

/// Field blocks of HTTP/2, each after its length, all after two bytes for the size limit.
fn blocks() -> impl Strategy<Value = Vec<u8>> {
    let field = ("[a-d]{1,2}", "[a-d]{0,3}").prop_map(|(name, value)| Field::new(name, value));
    let limit = prop_oneof![3 => Just(u16::MAX), 1 => any::<u16>()];
    (limit, vec(vec(field, 0..6), 0..5)).prop_map(|(limit, all)| {
        let (mut out, mut encoder) = (limit.to_be_bytes().to_vec(), Encoder::default());
        for fields in all {
            let mut block = Vec::new();
            encoder.encode(&mut block, &fields);
            out.push(block.len() as u8);
            out.extend(block);
        }
        out
    })
}

/// Frames of HTTP/2.
fn http2_frames() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        vec(any::<u8>(), 0..20),
        Just(vec![0, 4, 0, 0, 1, 0]),
        Just(vec![0, 0, 0, 1]),
        Just(vec![0; 8]),
    ];
    vec((0u8..18, any::<u8>(), 0u32..3, payload), 0..6).prop_map(|all| {
        let mut out = Vec::new();
        for (kind, flags, stream, payload) in all {
            let (kind, flags, length) = (http2::Kind(kind), http2::Flags(flags), payload.len() as u32);
            http2::FrameHead { length, kind, flags, stream }.encode(&mut out);
            out.extend(payload);
        }
        out
    })
}

/// Prints a failing input, smallest first; writes no files.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn arbitrary_bytes(data in vec(any::<u8>(), 0..300)) {
        http::fuzz::section(&data);
        http::fuzz::section(&[&[0xff, 0xff, 0, 0], &data[..]].concat());
        http::fuzz::instructions(&data);
        http::fuzz::frames(&data);
        http::fuzz::target(&data);
        http::fuzz::http1(&data);
        http::fuzz::blocks(&data);
        http::fuzz::http2_frames(&data);
    }

    #[test]
    fn altered_heads(bytes in heads(), changes in changes()) {
        http::fuzz::http1(&changed(bytes, &changes));
    }

    #[test]
    fn altered_blocks(bytes in blocks(), changes in changes()) {
        http::fuzz::blocks(&changed(bytes, &changes));
    }

    #[test]
    fn altered_http2_frames(bytes in http2_frames(), changes in changes()) {
        http::fuzz::http2_frames(&changed(bytes, &changes));
    }

    #[test]
    fn altered_sections(bytes in section(), changes in changes()) {
        http::fuzz::section(&changed(bytes, &changes));
    }

    #[test]
    fn altered_frames(bytes in frames(), changes in changes()) {
        http::fuzz::frames(&changed(bytes, &changes));
    }

    #[test]
    fn instructions(data in vec(select(vec![0x20, 0x3f, 0x40, 0x7f, 0x80, 0xff, 0x01, 0x00]), 0..30)) {
        http::fuzz::instructions(&data);
    }

    #[test]
    fn paths(data in "/[a-z./%2eEfF\\\\?]{0,30}") {
        http::fuzz::target(data.as_bytes());
    }

    #[test]
    fn the_inputs_are_valid_before_they_are_altered(section in section()) {
        prop_assert!(qpack::decode(&section[2..], 1 << 20).is_ok());
    }
}
