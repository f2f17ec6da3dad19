//! Reports of failing scripts: both traces side by side, and the first difference.

use script::{Script, Verdict};

fn report(text: &str) -> String {
    let script = Script::parse("x.quic", text).unwrap();
    match script.run().unwrap() {
        Verdict::Passed { .. } => panic!("the script holds: {text}"),
        Verdict::Failed(failure) => failure.to_string(),
    }
}

#[test]
fn a_frame_that_is_not_there_is_shown_beside_what_is() {
    let text =
        "handshake rtt 40ms\n+0 open(bidi) = 0\n+0 write(0, 100) // a comment\n+0 > 1rtt STREAM(0, 0, 101)\n";
    let expected = "x.quic:4: no frame is the expected STREAM; the packet has STREAM(0, offset 0, length 100)
   line  expected                    | actual
      1  handshake rtt 40ms          | the handshake is complete
      2  +0 open(bidi) = 0           | @0ms = 0
      3  +0 write(0, 100)            | @0ms = 100
!     4  +0 > 1rtt STREAM(0, 0, 101) | @0ms > 1rtt #2 STREAM(0, offset 0, length 100)
";
    assert_eq!(report(text), expected);
}

/// Every kind of line can fail with a reason.
#[test]
fn every_kind_of_line_bites() {
    let start = "handshake rtt 40ms\nopen(bidi) = 0\nwrite(0, 100)\n";
    for (rest, reason) in [
        ("+1ms > 1rtt STREAM(..)", "sent @0ms, expected between @0.9ms and @1.1ms"),
        ("> 1rtt STREAM(..)\n+10ms > 1rtt PING", "nothing was sent between @9.9ms and @10.1ms"),
        ("> initial STREAM(..)", "the packet is 1rtt, not initial"),
        ("> 1rtt #9 STREAM(..)", "the packet number is 2"),
        ("> 1rtt [ecn ce] STREAM(..)", "ecn of the packet is not_ect"),
        ("> 1rtt PING, *", "the packet has no frame PING"),
        ("> 1rtt", "the packet has an unexpected frame: STREAM(0, offset 0, length 100)"),
        ("> 1rtt STREAM(0, 0, 100, fin)", "no frame is the expected STREAM"),
        ("> 1rtt STREAM\n& 1rtt PING", "the datagram has no further packet"),
        ("silence", "no line expects this packet"),
        ("+1ms silence", "no line expects this packet"),
        ("", "no line expects this packet"),
        ("> 1rtt STREAM\ncheck cwnd 5", "cwnd is 14720"),
        ("> 1rtt STREAM\nevent Readable(0)", "the connection has not reported Readable"),
        ("> 1rtt STREAM\nwrite(4, 1)", "the call returned unknown"),
        ("> 1rtt STREAM\nwrite(0, 1) = 5", "the call returned 1"),
        ("> 1rtt STREAM\n+500ms silence", "no line expects this packet"),
        (
            "> 1rtt STREAM\n+5ms < 1rtt PING\n@1ms write(0, 1)",
            "this was due at @1ms, but that time has passed",
        ),
    ] {
        let text = format!("{start}{rest}\n");
        let found = report(&text);
        assert!(found.contains(reason), "{rest}: {found}");
    }
}

/// Data that cannot be encoded is a mistake of the script, reported with its place.
#[test]
fn what_no_packet_can_say_is_a_mistake() {
    for (line, problem) in [
        ("< 1rtt [key_phase 2] PING", "x.quic:2:3: \"key_phase\" is a bit: expected 0 or 1, found 2"),
        ("< 1rtt [spin 7] PING", "\"spin\" is a bit"),
        ("< 1rtt [from \"here\"] PING", "\"here\" is no address, like \"10.0.0.9:443\""),
        (
            "< 1rtt [destination 0x000102030405060708090a0b0c0d0e0f1011121314] PING",
            "\"destination\" has 21 bytes",
        ),
        ("< 1rtt PATH_RESPONSE(0x00)", "\"data\" has 1 bytes, not 8"),
        ("< 1rtt STREAM(0, 0, 70000)", "70000 bytes do not fit into a datagram"),
        ("< 1rtt ACK(3..1)", "an ACK range ends below its start"),
        ("< 1rtt ACK(1..2, 3)", "two ACK ranges touch or overlap"),
        ("< 1rtt CRYPTO(5000, 1)", "TLS has written"),
        ("< initial [version 4294967296] CRYPTO", "\"version\" has 32 bits"),
        ("< initial [size 65527] PING", "a packet with a long header cannot have 65527 bytes here"),
    ] {
        let script = Script::parse("x.quic", &format!("handshake\n{line}\n")).unwrap();
        let found = script.run().unwrap_err().to_string();
        assert!(found.starts_with("x.quic:2:3: ") && found.contains(problem), "{line}: {found}");
    }
}

/// RFC 9000 section 19.8: a stream ends at offset 2^62 - 1.
#[test]
fn a_stream_takes_no_more_than_it_can_have() {
    let text = "handshake\nopen(uni) = 2\nwrite(2, 4611686018427387900) = 4611686018427387900\n\
                write(2, 100) = 3\nwrite(2, 100) = 0\n";
    assert!(report(&format!("{text}silence\n")).contains("no line expects this packet"));
}
