//! Valid scripts and error messages.

use crate::Script;

fn mistake(text: &str) -> String {
    Script::parse("x.quic", text).unwrap_err().to_string()
}

#[test]
fn a_script_is_read() {
    let text = "// RFC 9002\noption role = \"client\"\nhandshake rtt 40ms\n+0 write(0, 5000) = 5000\n\
                +0 > 1rtt #$n [ecn ect0] STREAM(0, 0, length $l, ..), *\n& 1rtt PING\n\
                +40ms < 1rtt ACK(0..$n, 7, delay 0), PING\n+25ms~1ms > 1rtt\n+1s silence\n";
    let script = Script::parse("x.quic", text).unwrap();
    assert_eq!((script.options.len(), script.statements.len()), (1, 6));
}

#[test]
fn a_mistake_says_where_what_and_the_nearest_word() {
    for (text, expected) in [
        ("> 1rtt PNIG", "x.quic:1:8: unknown frame \"PNIG\", allowed: PADDING"),
        ("> 1rtt PNIG", "did you mean \"PING\"?"),
        ("\n> 2rtt PING", "x.quic:2:3: unknown packet \"2rtt\""),
        ("> 1rtt STREAM(0)", "x.quic:1:8: STREAM lacks its field \"offset\": name it, or write .. for"),
        ("< 1rtt STREAM(0)", "x.quic:1:8: STREAM lacks its field \"offset\""),
        ("< 1rtt STREAM(0, offset $x, length 1)", "x.quic:1:25: unknown variable \"x\""),
        ("> 1rtt STREAM(0, ofset 3, ..)", "x.quic:1:18: unknown field of STREAM \"ofset\""),
        ("> 1rtt STREAM(0, stream 3, ..)", "x.quic:1:18: \"stream\" is given twice"),
        ("+5 silence", "x.quic:1:2: the unit is missing, found \"5\"; expected a time with its unit"),
        ("+5ms~1ms silence", "x.quic:1:1: only an expected packet can have a range of times"),
        ("+9ms..5ms > 1rtt", "x.quic:1:2: the end of the range is before its start"),
        ("silense", "did you mean \"silence\"?"),
        ("wirte(0, 1)", "did you mean \"write\"?"),
        ("event Conected", "did you mean \"Connected\"?"),
        ("check cnwd 5", "did you mean \"cwnd\"?"),
        ("> 1rtt CONNECTION_CLOSE(FLOW_CONTROL_EROR)", "did you mean \"FLOW_CONTROL_ERROR\"?"),
        ("silence\noption role = client", "x.quic:2:1: options come before all statements"),
        ("& 1rtt PING", "x.quic:1:1: & continues the datagram"),
        ("> 1rtt PING PING", "x.quic:1:13: found \"PING\"; expected \",\""),
        ("silence 5", "x.quic:1:9: found \"5\"; expected the end of the line"),
        ("> 1rtt PING(5)", "nothing: PING has no fields"),
        (
            "< 1rtt MAX_DATA(4611686018427387904)",
            "x.quic:1:17: 4611686018427387904 is above the greatest number",
        ),
        ("< 1rtt PATH_RESPONSE(0x123)", "expected bytes"),
        ("option role client", "x.quic:1:13: found \"client\"; expected \"=\""),
        ("open(bido)", "did you mean \"bidi\"?"),
        ("let $x = $y", "x.quic:1:10: unknown variable \"y\""),
    ] {
        let found = mistake(text);
        assert!(found.contains(expected), "{text}: {found}");
        assert!(!found.contains('\n'));
    }
}

proptest::proptest! {
    #[test]
    fn whatever_the_text_is_the_reader_comes_back(text in "[ -~\n]{0,200}") {
        let _ = Script::parse("x", &text);
    }

    #[test]
    fn words_in_any_order_come_back(words in proptest::collection::vec(
        proptest::sample::select(vec![">", "<", "1rtt", "ACK", "(", ")", "0", "..", "3", ",", "$n", "#", "[", "]",
            "+", "5ms", "~", "check", "cwnd", "=", "STREAM", "fin", "\n", "&", "let", "?", ">=", "0x"]), 0..40)) {
        let _ = Script::parse("x", &words.join(" "));
    }
}

/// Found by fuzzing: an error quoted a number of thousands of digits.
#[test]
fn a_word_without_end_is_not_quoted() {
    let text = format!("+{} silence", "4".repeat(10_000));
    let error = Script::parse("x.quic", &text).unwrap_err().to_string();
    assert_eq!(error, "x.quic:1:2: a word of 10000 characters; expected at most 500");
}
