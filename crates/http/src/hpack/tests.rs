//! The examples of RFC 7541 appendix C, and invalid blocks.

use super::{BadBlock, Decoder, Encoder};
use crate::qpack::Field;
use proptest::prelude::*;

fn fields(lines: &[(&str, &str)]) -> Vec<Field> {
    lines.iter().map(|(name, value)| Field::new((*name).to_owned(), (*value).to_owned())).collect()
}
fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// RFC 7541 appendices C.3 and C.4: three requests on one connection, without and with Huffman code.
#[test]
fn the_requests_of_appendix_c() {
    let first = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")];
    let second = [&first[..], &[("cache-control", "no-cache")]].concat();
    let third = [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ];
    let plain = [
        "828684410f7777772e6578616d706c652e636f6d",
        "828684be58086e6f2d6361636865",
        "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
    ];
    let coded = [
        "828684418cf1e3c2e5f23a6ba0ab90f4ff",
        "828684be5886a8eb10649cbf",
        "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
    ];
    let (mut of_plain, mut of_coded, mut encoder) =
        (Decoder::default(), Decoder::default(), Encoder::default());
    let requests = [&first[..], &second, &third];
    for (at, (request, size)) in requests.into_iter().zip([57, 110, 164]).enumerate() {
        let request = fields(request);
        assert_eq!(of_plain.decode(&bytes(plain[at]), 1000).as_ref(), Ok(&request));
        assert_eq!(of_coded.decode(&bytes(coded[at]), 1000).as_ref(), Ok(&request));
        let mut out = Vec::new();
        encoder.encode(&mut out, &request);
        assert_eq!(out, bytes(coded[at]), "{at}");
        assert_eq!((of_plain.table().size(), encoder.table().size()), (size, size));
    }
}

/// RFC 7541 appendix C.6: responses, with a table of 256 bytes out of which entries fall.
#[test]
fn the_responses_of_appendix_c() {
    let blocks = [
        "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        "4883640effc1c0bf",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
    ];
    let location = ("location", "https://www.example.com");
    let date = |second: &str| format!("Mon, 21 Oct 2013 20:13:{second} GMT");
    let (early, late) = (date("21"), date("22"));
    let cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
    let expected = [
        fields(&[(":status", "302"), ("cache-control", "private"), ("date", &early), location]),
        fields(&[(":status", "307"), ("cache-control", "private"), ("date", &early), location]),
        fields(&[
            (":status", "200"),
            ("cache-control", "private"),
            ("date", &late),
            location,
            ("content-encoding", "gzip"),
            ("set-cookie", cookie),
        ]),
    ];
    let mut decoder = Decoder::default();
    // A size change to 256, as an encoder signals it.
    decoder.decode(&[0x3f, 0xe1, 0x01], 0).unwrap();
    for ((block, fields), size) in blocks.into_iter().zip(expected).zip([222, 222, 215]) {
        assert_eq!(decoder.decode(&bytes(block), 1000), Ok(fields));
        assert_eq!(decoder.table().size(), size);
    }
}

/// RFC 7541 sections 2.3.3, 4.2, 5.1, 5.2 and 6.1.
#[test]
fn invalid_blocks_are_refused() {
    for bad in [
        &[0x80][..],                                                         // index 0
        &[0xbe],             // behind the static table, with nothing in the dynamic one
        &[0x7e, 0x01, b'a'], // the same as a name
        &[0x40],             // cut off
        &[0x40, 0x01],       // cut off
        &[0x40, 0x01, b'a'], // cut off
        &[0x82, 0x20],       // a size behind a field
        &[0x3f, 0xe2, 0x1f], // a size of 4097
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // an integer without end
        &[0x00, 0x81, 0x00, 0x00], // padding of Huffman code that is no EOS
    ] {
        assert!(matches!(Decoder::default().decode(bad, 1000), Err(BadBlock::Undecodable(_))), "{bad:?}");
    }
    assert_eq!(Decoder::default().decode(&[0x3f, 0xe1, 0x1f], 0), Ok(Vec::new()));
}

/// RFC 9113 section 10.5.1: a block that is too large is rejected, but the table stays in step.
#[test]
fn a_block_that_is_too_large_leaves_the_table_in_step() {
    let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
    let lines = fields(&[("x-name", "value"), ("x-other", "value")]);
    let mut out = Vec::new();
    encoder.encode(&mut out, &lines);
    assert_eq!(decoder.decode(&out, 50), Err(BadBlock::TooLarge));
    out.clear();
    encoder.encode(&mut out, &lines);
    assert_eq!((out.len(), decoder.decode(&out, 1000)), (2, Ok(lines)));
    // Indices alone: those of both tables count towards the limit.
    let many = [0x82, 0xbe].repeat(20);
    let size = 20 * (7 + 3 + 32) + 20 * (7 + 5 + 32);
    assert_eq!(decoder.decode(&many, size).map(|fields| fields.len()), Ok(40));
    assert_eq!(decoder.decode(&many, size - 1), Err(BadBlock::TooLarge));
    assert!(matches!(decoder.decode(&[0xc0], 0), Err(BadBlock::Undecodable(_))));
}

/// RFC 7541 section 4.2.
#[test]
fn a_smaller_table_is_signalled() {
    let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
    let lines = fields(&[("x-name", "value")]);
    for limit in [4096, 0, 30, 4096, 1 << 30] {
        encoder.set_limit(limit);
        let mut out = Vec::new();
        encoder.encode(&mut out, &lines);
        assert_eq!(decoder.decode(&out, 1000).as_ref(), Ok(&lines), "{limit}");
        assert_eq!(encoder.table().capacity(), limit.min(4096));
        assert_eq!(encoder.table().size(), decoder.table().size());
    }
    // Down and up between two blocks: both sizes are signalled.
    encoder.set_limit(0);
    encoder.set_limit(100);
    let mut out = Vec::new();
    encoder.encode(&mut out, &lines);
    assert_eq!(out[..3], [0x20, 0x3f, 0x45]);
    assert_eq!(decoder.decode(&out, 1000), Ok(lines));
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(blocks: Vec<Vec<(u8, String)>>) {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        for lines in blocks {
            let lines: Vec<Field> =
                lines.into_iter().map(|(name, value)| Field::new(format!("name-{name}"), value)).collect();
            let mut out = Vec::new();
            encoder.encode(&mut out, &lines);
            prop_assert_eq!(decoder.decode(&out, u64::MAX), Ok(lines));
            prop_assert_eq!(encoder.table().size(), decoder.table().size());
            prop_assert!(decoder.table().size() <= decoder.table().capacity());
        }
    }
}
