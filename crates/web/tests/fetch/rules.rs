//! The rules of HTTP/3: the error code in the RFC for each violation, and what must be tolerated.

use crate::script::Script;
use crate::shelf::{Basket, Shelf};
use http::frame::{self, FrameHead};
use http::qpack::{self, Field};
use http::{Code, Settings};
use transport::{Application, Event};
use units::Time;
use web::{Failure, Request};
use web::{WebClient, WebServer};
use wire::{Side, StreamId};

/// The reaction of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Nothing.
    Fine,
    /// It closes the connection.
    Close(Code),
    /// It resets the request stream 0.
    Reset(Code),
}
use Verdict::{Close, Fine, Reset};

/// The stream, the bytes, and whether the stream ends after them.
type Piece = (u64, Vec<u8>, bool);

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::encode(&mut out, kind, payload);
    out
}
fn headers(lines: &[(&'static str, &'static str)]) -> Vec<u8> {
    let fields: Vec<Field> = lines.iter().map(|(name, value)| Field::new(*name, *value)).collect();
    let mut section = Vec::new();
    qpack::encode(&mut section, &fields);
    frame(frame::HEADERS, &section)
}
const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "https"), (":authority", "host"), (":path", "/whole/3")];
fn get() -> Vec<u8> {
    headers(&GET)
}
fn get_and(line: (&'static str, &'static str)) -> Vec<u8> {
    headers(&[&GET[..], &[line]].concat())
}
fn settings() -> Vec<u8> {
    frame(frame::SETTINGS, &[])
}
/// A control stream: its type, SETTINGS, and these bytes.
fn control(more: &[u8]) -> Vec<u8> {
    [&[0][..], &settings(), more].concat()
}
/// Concatenated bytes.
fn all(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn server() -> WebServer {
    WebServer::new(Box::new(Shelf::default()))
}
fn client(count: usize) -> WebClient {
    let requests = (0..count).map(|n| Request::get(format!("/{n}"))).collect();
    WebClient::new("host", requests, 10, Box::new(Basket::default()))
}

/// Feeds pieces to an application, whole or byte by byte.
fn play(
    application: &mut dyn Application,
    side: Side,
    pieces: &[Piece],
    bytewise: bool,
) -> (Verdict, Script) {
    let mut script = Script::of(side);
    application.on_event(Time::ZERO, &Event::Connected, &mut script);
    for (stream, bytes, finished) in pieces {
        if bytewise {
            bytes.iter().for_each(|byte| script.send(application, *stream, &[*byte], false));
            script.send(application, *stream, &[], *finished);
        } else {
            script.send(application, *stream, bytes, *finished);
        }
    }
    let reset = script.resets.get(&StreamId::from_value(0)).map(|code| Reset(Code(*code)));
    let closed = script.closed.filter(|code| *code != Code::NO_ERROR.0);
    (closed.map(|code| Close(Code(code))).or(reset).unwrap_or(Fine), script)
}

fn check(side: Side, cases: &[(&str, Verdict, Vec<Piece>)]) {
    for (name, verdict, pieces) in cases {
        for bytewise in [false, true] {
            let mut server = server();
            let mut client = client(1);
            let application: &mut dyn Application =
                if side == Side::Server { &mut server } else { &mut client };
            assert_eq!(play(application, side, pieces, bytewise).0, *verdict, "{name}, bytewise: {bytewise}");
        }
    }
}

/// RFC 9114 sections 4.1, 4.2, 4.3, 7.1 and 7.2; RFC 9204 section 2.2; RFC 9218 section 7.2.
#[test]
fn request_streams() {
    let push = frame(frame::PUSH_PROMISE, &[0, 0, 0]);
    let on_request = |bytes: Vec<u8>| vec![(0, bytes, true)];
    let data = |bytes: &[u8]| frame(frame::DATA, bytes);
    let mut cases = vec![
        ("a request", Fine, on_request(get())),
        (
            "content and trailers",
            Fine,
            on_request(all(&[&get(), &data(b"abc"), &data(b""), &headers(&[("a", "b")])])),
        ),
        (
            "content of the length told",
            Fine,
            on_request(all(&[&get_and(("content-length", "3")), &data(b"abc")])),
        ),
        ("reserved frames", Fine, on_request(all(&[&frame(0x21, b"xyz"), &get(), &frame(0x40 + 0x1f, b"")]))),
        ("nothing", Reset(Code::REQUEST_INCOMPLETE), on_request(vec![])),
        ("only a reserved frame", Reset(Code::REQUEST_INCOMPLETE), on_request(frame(0x21, b"xyz"))),
        ("DATA first", Close(Code::FRAME_UNEXPECTED), on_request(data(b"abc"))),
        (
            "DATA behind trailers",
            Close(Code::FRAME_UNEXPECTED),
            on_request(all(&[&get(), &headers(&[("a", "b")]), &data(b"a")])),
        ),
        (
            "HEADERS behind trailers",
            Close(Code::FRAME_UNEXPECTED),
            on_request(all(&[&get(), &headers(&[]), &headers(&[])])),
        ),
        ("a push promise of a client", Close(Code::FRAME_UNEXPECTED), on_request(push)),
        ("an end inside a head", Close(Code::FRAME_ERROR), on_request(all(&[&get(), &[0x00]]))),
        ("an end inside HEADERS", Close(Code::FRAME_ERROR), on_request(vec![1, 9, 0, 0])),
        ("an end inside DATA", Close(Code::FRAME_ERROR), on_request(all(&[&get(), &[0, 5, 1]]))),
        (
            "an end inside a reserved frame",
            Close(Code::FRAME_ERROR),
            on_request(all(&[&get(), &[0x21, 5, 1]])),
        ),
        ("pseudo-header fields in trailers", Reset(Code::MESSAGE_ERROR), on_request(all(&[&get(), &get()]))),
        (
            "more content than told",
            Reset(Code::MESSAGE_ERROR),
            on_request(all(&[&get_and(("content-length", "2")), &data(b"abc")])),
        ),
        (
            "less content than told",
            Reset(Code::MESSAGE_ERROR),
            on_request(all(&[&get_and(("content-length", "4")), &data(b"abc")])),
        ),
        ("no pseudo-header fields", Reset(Code::MESSAGE_ERROR), on_request(headers(&[("a", "b")]))),
        ("connection", Reset(Code::MESSAGE_ERROR), on_request(get_and(("connection", "close")))),
        ("uppercase", Reset(Code::MESSAGE_ERROR), on_request(get_and(("A", "b")))),
        ("a response", Reset(Code::MESSAGE_ERROR), on_request(headers(&[(":status", "200")]))),
        ("extended CONNECT", Reset(Code::MESSAGE_ERROR), on_request(get_and((":protocol", "x")))),
    ];
    for kind in [2, 3, 4, 6, 7, 8, 9, 0x0d, 0xf0700, 0xf0701] {
        cases.push((
            "a foreign frame",
            Close(Code::FRAME_UNEXPECTED),
            on_request(all(&[&get(), &frame(kind, &[0])])),
        ));
    }
    // RFC 9204 sections 2.2 and 3.1, appendix B.2: dynamic entries, an invalid static entry, an invalid Huffman code, a
    // truncated section.
    for section in
        [&[3, 0x81, 0x10, 0x11][..], &[0, 0, 0x80], &[0, 0, 0xff, 36], &[0, 0, 0x51, 0x81, 0xff], &[0], &[]]
    {
        let bytes = frame(frame::HEADERS, section);
        cases.push(("QPACK", Close(Code::QPACK_DECOMPRESSION_FAILED), on_request(bytes)));
    }
    check(Side::Server, &cases);
}

/// RFC 9114 sections 6.2, 7.2.3 to 7.2.8; RFC 9204 section 4.2; RFC 9218 section 7.2. Client's streams 2, 6, 10.
#[test]
fn control_streams_at_a_server() {
    let on_control = |bytes: Vec<u8>| vec![(2, bytes, false)];
    let id = |kind, ids: &[u8]| -> Vec<u8> { ids.iter().flat_map(|id| frame(kind, &[*id])).collect() };
    let mut cases = vec![
        ("SETTINGS", Fine, on_control(control(&[]))),
        (
            "reserved frames and settings",
            Fine,
            on_control(all(&[&[0], &frame(4, &[0x21, 9, 6, 10]), &frame(0x21, b"abc"), &frame(0x21, b"")])),
        ),
        (
            "all streams",
            Fine,
            vec![(2, control(&[]), false), (6, vec![2, 0x20], false), (10, vec![3, 0x48], false)],
        ),
        ("reserved streams", Fine, vec![(2, vec![0x21, 1, 2, 3], true), (6, vec![0x40, 0x5f, 1], false)]),
        ("a stream that ends before its type", Fine, vec![(2, vec![0x40], true), (6, vec![], true)]),
        (
            "MAX_PUSH_ID and GOAWAY",
            Fine,
            on_control(control(&all(&[&id(0x0d, &[1, 1, 5]), &id(7, &[5, 5, 2])]))),
        ),
        ("no SETTINGS", Close(Code::MISSING_SETTINGS), on_control(all(&[&[0], &id(7, &[0])]))),
        (
            "a reserved frame before SETTINGS",
            Close(Code::MISSING_SETTINGS),
            on_control(all(&[&[0], &frame(0x21, &[])])),
        ),
        ("SETTINGS twice", Close(Code::FRAME_UNEXPECTED), on_control(control(&settings()))),
        ("a setting twice", Close(Code::SETTINGS_ERROR), on_control(all(&[&[0], &frame(4, &[6, 1, 6, 1])]))),
        ("half a setting", Close(Code::FRAME_ERROR), on_control(all(&[&[0], &frame(4, &[6])]))),
        ("an endless SETTINGS", Close(Code::EXCESSIVE_LOAD), on_control(vec![0, 4, 0x80, 1, 0, 0])),
        (
            "two control streams",
            Close(Code::STREAM_CREATION_ERROR),
            vec![(2, control(&[]), false), (6, control(&[]), false)],
        ),
        (
            "two encoder streams",
            Close(Code::STREAM_CREATION_ERROR),
            vec![(2, vec![2], false), (6, vec![2], false)],
        ),
        (
            "two decoder streams",
            Close(Code::STREAM_CREATION_ERROR),
            vec![(2, vec![3], false), (6, vec![3], false)],
        ),
        ("a push stream from a client", Close(Code::STREAM_CREATION_ERROR), vec![(2, vec![1, 0], false)]),
        ("an end of the control stream", Close(Code::CLOSED_CRITICAL_STREAM), vec![(2, control(&[]), true)]),
        ("an end of the encoder stream", Close(Code::CLOSED_CRITICAL_STREAM), vec![(2, vec![2], true)]),
        ("an end of the decoder stream", Close(Code::CLOSED_CRITICAL_STREAM), vec![(2, vec![3], true)]),
        (
            "an insertion",
            Close(Code::QPACK_ENCODER_STREAM_ERROR),
            vec![(2, vec![2, 0xc0, 0x01, b'a'], false)],
        ),
        ("a table", Close(Code::QPACK_ENCODER_STREAM_ERROR), vec![(2, vec![2, 0x3f, 0xbd, 0x01], false)]),
        ("an acknowledgment", Close(Code::QPACK_DECODER_STREAM_ERROR), vec![(2, vec![3, 0x84], false)]),
        ("an increment", Close(Code::QPACK_DECODER_STREAM_ERROR), vec![(2, vec![3, 0x01], false)]),
        ("GOAWAY grows", Close(Code::ID_ERROR), on_control(control(&id(7, &[1, 2])))),
        ("MAX_PUSH_ID is lower than before", Close(Code::ID_ERROR), on_control(control(&id(0x0d, &[2, 1])))),
        ("CANCEL_PUSH of nothing", Close(Code::ID_ERROR), on_control(control(&id(3, &[0])))),
        ("priority of no request", Close(Code::ID_ERROR), on_control(control(&id(0xf0700, &[2])))),
        ("priority of a push", Close(Code::ID_ERROR), on_control(control(&id(0xf0701, &[0])))),
        ("a priority without ID", Close(Code::FRAME_ERROR), on_control(control(&frame(0xf0700, &[])))),
        ("GOAWAY with two IDs", Close(Code::FRAME_ERROR), on_control(control(&frame(7, &[0, 0])))),
        ("MAX_PUSH_ID with none", Close(Code::FRAME_ERROR), on_control(control(&frame(0x0d, &[])))),
    ];
    for forbidden in [0, 2, 3, 4, 5] {
        let bytes = all(&[&[0], &frame(4, &[forbidden, 0])]);
        cases.push(("a reserved setting", Close(Code::SETTINGS_ERROR), on_control(bytes)));
    }
    for kind in [0, 1, 2, 5, 6, 8, 9] {
        let bytes = control(&frame(kind, &[0]));
        cases.push(("a foreign frame", Close(Code::FRAME_UNEXPECTED), on_control(bytes)));
    }
    check(Side::Server, &cases);
}

/// RFC 9114 sections 5.2, 6.1, 6.2.2, 7.2.5 to 7.2.7; RFC 9218 section 7.2. Server's streams 3 and 1.
#[test]
fn control_streams_at_a_client() {
    let on_control = |kind, payload: &[u8]| vec![(3, control(&frame(kind, payload)), false)];
    check(
        Side::Client,
        &[
            ("SETTINGS", Fine, vec![(3, control(&[]), false)]),
            ("GOAWAY", Fine, on_control(7, &[4])),
            ("GOAWAY with another kind of ID", Close(Code::ID_ERROR), on_control(7, &[3])),
            ("MAX_PUSH_ID", Close(Code::FRAME_UNEXPECTED), on_control(0x0d, &[0])),
            ("PRIORITY_UPDATE", Close(Code::FRAME_UNEXPECTED), on_control(0xf0700, &[0])),
            ("PRIORITY_UPDATE of a push", Close(Code::FRAME_UNEXPECTED), on_control(0xf0701, &[0])),
            ("CANCEL_PUSH", Close(Code::ID_ERROR), on_control(3, &[0])),
            ("a push stream", Close(Code::ID_ERROR), vec![(3, vec![1, 0], false)]),
            ("a push promise", Close(Code::ID_ERROR), vec![(0, frame(5, &[0, 0, 0]), false)]),
            ("a bidirectional stream", Close(Code::STREAM_CREATION_ERROR), vec![(1, vec![0], false)]),
            (
                "an end of the control stream",
                Close(Code::CLOSED_CRITICAL_STREAM),
                vec![(3, control(&[]), true)],
            ),
        ],
    );
}

/// RFC 9114 sections 4.1, 4.1.2, 4.3.2 and 4.5.
#[test]
fn responses() {
    let ok = || headers(&[(":status", "200"), ("content-length", "3")]);
    let data = |bytes: &[u8]| frame(frame::DATA, bytes);
    let on_request = |parts: &[&[u8]]| vec![(0, all(parts), true)];
    let interim = headers(&[(":status", "103"), ("link", "x")]);
    check(
        Side::Client,
        &[
            ("a response", Fine, on_request(&[&ok(), &data(b"abc")])),
            ("interim responses", Fine, on_request(&[&interim, &interim, &ok(), &data(b"ab"), &data(b"c")])),
            ("trailers", Fine, on_request(&[&ok(), &data(b"abc"), &headers(&[("a", "b")])])),
            (
                "304 tells a length",
                Fine,
                on_request(&[&headers(&[(":status", "304"), ("content-length", "9")])]),
            ),
            ("no response", Reset(Code::MESSAGE_ERROR), on_request(&[])),
            ("only an interim one", Reset(Code::MESSAGE_ERROR), on_request(&[&interim])),
            (
                "content of an interim one",
                Close(Code::FRAME_UNEXPECTED),
                on_request(&[&interim, &data(b"a")]),
            ),
            ("too much content", Reset(Code::MESSAGE_ERROR), on_request(&[&ok(), &data(b"abcd")])),
            ("too little content", Reset(Code::MESSAGE_ERROR), on_request(&[&ok(), &data(b"ab")])),
            (
                "204 with content",
                Reset(Code::MESSAGE_ERROR),
                on_request(&[&headers(&[(":status", "204")]), &data(b"a")]),
            ),
            ("101", Reset(Code::MESSAGE_ERROR), on_request(&[&headers(&[(":status", "101")])])),
            ("no status", Reset(Code::MESSAGE_ERROR), on_request(&[&headers(&[("a", "b")])])),
            ("a status in trailers", Reset(Code::MESSAGE_ERROR), on_request(&[&ok(), &data(b"abc"), &ok()])),
            ("an end inside DATA", Close(Code::FRAME_ERROR), on_request(&[&ok(), &[0, 3, 1]])),
            ("QPACK", Close(Code::QPACK_DECOMPRESSION_FAILED), on_request(&[&frame(1, &[3, 0x81, 0x10])])),
        ],
    );
}

/// RFC 9114 sections 6.2.1 and 4.1.1.
#[test]
fn resets() {
    for (bytes, stream, closed) in [
        (control(&[]), 2, Some(Code::CLOSED_CRITICAL_STREAM.0)),
        (vec![2], 2, Some(Code::CLOSED_CRITICAL_STREAM.0)),
        (vec![0x40], 2, None),
        (get()[..5].to_vec(), 0, None),
    ] {
        let mut server = server();
        let mut script = play(&mut server, Side::Server, &[(stream, bytes, false)], false).1;
        script.reset_by_peer(&mut server, stream, 7);
        assert_eq!(script.closed, closed);
        assert!(server.is_idle());
        let reset = script.resets.get(&StreamId::from_value(0)).copied();
        assert_eq!(reset, (stream == 0).then_some(Code::REQUEST_CANCELLED.0));
    }
    let mut server = server();
    let mut script = play(&mut server, Side::Server, &[], false).1;
    let control = *script.written.keys().next().unwrap();
    server.on_event(Time::ZERO, &Event::Stopped { stream: control, code: 0 }, &mut script);
    assert_eq!(script.closed, Some(Code::CLOSED_CRITICAL_STREAM.0));
}

/// RFC 9114 section 6.2.1: SETTINGS comes first on the control stream.
#[test]
fn settings_come_first() {
    for (side, stream) in [(Side::Client, 2), (Side::Server, 3)] {
        let (mut server, mut client) = (server(), client(1));
        let application: &mut dyn Application = if side == Side::Server { &mut server } else { &mut client };
        let script = play(application, side, &[], false).1;
        let bytes = &script.written[&StreamId::from_value(stream)];
        assert_eq!(bytes[..2], [0, 4]);
        let told = Settings::decode(&bytes[3..]).unwrap();
        assert_eq!(told, Settings { max_field_section_size: Some(32_768), ..Settings::default() });
    }
}

/// RFC 9114 section 4.2.2: a section that is too large, in one frame or after decompression. RFC 9110 section 15.5.6.
#[test]
fn requests_answered_at_once() {
    let mut large = Vec::new();
    FrameHead { kind: frame::HEADERS, length: 40_000 }.encode(&mut large);
    // Each byte is an indexed field line of at least 32 bytes.
    let swollen = frame(frame::HEADERS, &[&[0, 0][..], &[0xc1; 1000]].concat());
    let post = headers(&[(":method", "POST"), (":scheme", "https"), (":authority", "h"), (":path", "/")]);
    for (bytes, status) in [(large, "431"), (swollen, "431"), (post, "405")] {
        let mut server = server();
        let (verdict, script) = play(&mut server, Side::Server, &[(0, bytes, false)], false);
        let stream = StreamId::from_value(0);
        assert_eq!((verdict, script.stops.get(&stream)), (Fine, Some(&Code::NO_ERROR.0)));
        assert_eq!(script.finished, [stream]);
        let written = &script.written[&stream];
        let fields = qpack::decode(&written[2..2 + usize::from(written[1])], 1000).unwrap();
        assert_eq!(fields[0], Field::new(":status", status));
        assert!(server.is_idle());
    }
}

/// RFC 9110 section 10.1.1: a client that waits with its content gets 100 (Continue), and its response when the content
/// has arrived.
#[test]
fn a_server_sends_100_continue() {
    let head = get_and(("expect", "100-continue"));
    let data = frame(frame::DATA, b"abc");
    let statuses = |pieces: &[Piece]| {
        let mut server = server();
        let (verdict, script) = play(&mut server, Side::Server, pieces, true);
        assert_eq!(verdict, Fine);
        let mut rest = script.written[&StreamId::from_value(0)].as_slice();
        let mut statuses = Vec::new();
        while let [1, length, behind @ ..] = rest {
            let (section, behind) = behind.split_at(usize::from(*length));
            statuses
                .push(String::from_utf8(qpack::decode(section, 1000).unwrap()[0].value.to_vec()).unwrap());
            rest = behind;
        }
        statuses
    };
    assert_eq!(statuses(&[(0, head.clone(), false)]), ["100"]);
    assert_eq!(statuses(&[(0, head, false), (0, data, true)]), ["100", "200"]);
}

/// RFC 9218 sections 5 and 7.2: the frame overrides the field, and may arrive before the request, or after it when the
/// whole response is written and waits to be sent.
#[test]
fn priorities_reach_the_transport() {
    let update = |text: &[u8]| control(&frame(0xf0700, &[&[0], text].concat()));
    let with_field = || (0, get_and(("priority", "u=5, i")), true);
    for (pieces, urgency, incremental) in [
        (vec![with_field()], 5, true),
        (vec![(2, update(b"u=1"), false), with_field()], 1, false),
        (vec![with_field(), (2, update(b"u=1"), false)], 1, false),
        (vec![(2, update(b"u="), false), with_field()], 5, true),
    ] {
        let mut server = server();
        let (verdict, script) = play(&mut server, Side::Server, &pieces, false);
        let priority = transport::Priority { urgency, incremental, ..transport::Priority::default() };
        let last = script.priorities.last().copied();
        assert_eq!((verdict, last), (Fine, Some((StreamId::from_value(0), priority))));
    }
    // Priorities of streams without a request are not stored without limit.
    let flood: Vec<u8> = (0..10_000u64)
        .flat_map(|n| {
            let mut payload = Vec::new();
            wire::varint::encode(&mut payload, n * 4);
            frame(0xf0700, &payload)
        })
        .collect();
    assert_eq!(
        play(&mut server(), Side::Server, &[(2, control(&flood), false), (0, get(), true)], false).0,
        Fine
    );
}

/// PRIORITY_UPDATE of this request stream.
fn update(stream: u64, value: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    wire::varint::encode(&mut payload, stream);
    payload.extend_from_slice(value);
    frame(0xf0700, &payload)
}

/// RFC 9218 section 7.2: the latest update before a request is stored; if there are too many, those of the highest
/// streams are discarded.
#[test]
fn updates_before_the_request() {
    let flood: Vec<u8> =
        (0..1000).flat_map(|n| [update(n * 4, b"u=6"), update(n * 4, b"u=1")].concat()).collect();
    let mut server = server();
    let mut script = play(&mut server, Side::Server, &[(2, control(&flood), false)], false).1;
    for (stream, urgency) in [(0, 1), (4, 1), (4 * 127, 1), (4 * 128, 5), (4 * 999, 5)] {
        script.send(&mut server, stream, &get_and(("priority", "u=5")), true);
        let (told, priority) = script.priorities.last().copied().unwrap();
        assert_eq!((told.value(), priority.urgency), (stream, urgency));
    }
}

/// RFC 9218 section 7.2: "a Prioritized Element ID that is beyond the stream limits" is H3_ID_ERROR, and so is one that
/// is not a request.
#[test]
fn updates_of_impossible_streams() {
    for (stream, limit, verdict) in [
        (36, Some(10), None),
        (40, Some(10), Some(Code::ID_ERROR.0)),
        (40, None, None),
        (0, Some(0), Some(Code::ID_ERROR.0)),
        (1, Some(10), Some(Code::ID_ERROR.0)),
        (2, Some(10), Some(Code::ID_ERROR.0)),
        (3, None, Some(Code::ID_ERROR.0)),
    ] {
        let mut server = server();
        let mut script = Script::of(Side::Server);
        script.stream_limit = limit;
        server.on_event(Time::ZERO, &Event::Connected, &mut script);
        script.send(&mut server, 2, &control(&update(stream, b"u=1")), false);
        assert_eq!(script.closed, verdict, "{stream} of {limit:?}");
    }
}

/// RFC 9114 sections 4.1.1 and 5.2: at the client, unprocessed requests are retried or fail as such.
#[test]
fn unprocessed_requests_are_retried_or_fail() {
    let mut web = client(3);
    let mut script = play(&mut web, Side::Client, &[], false).1;
    script.reset_by_peer(&mut web, 0, Code::REQUEST_REJECTED.0);
    // It was sent again on the fourth stream.
    assert!(script.written.contains_key(&StreamId::from_value(12)));
    script.send(&mut web, 3, &control(&frame(7, &[8])), false);
    let failures: Vec<_> = web.results().iter().map(|fetched| fetched.failure.clone()).collect();
    assert_eq!(failures, [Some(Failure::NotProcessed), None, Some(Failure::NotProcessed)]);
    assert_eq!(script.closed, None);
    let response = [headers(&[(":status", "200")]), frame(frame::DATA, b"x")].concat();
    script.send(&mut web, 4, &response, true);
    assert!(web.is_over() && web.results()[1].is_complete());
    assert_eq!(script.closed, Some(Code::NO_ERROR.0));
}

/// RFC 9114 section 5.2: the ID in GOAWAY is the first that is not processed; these requests are rejected.
#[test]
fn a_server_that_goes_away() {
    let mut server = server();
    let mut script = play(&mut server, Side::Server, &[(0, get(), true), (4, get(), true)], false).1;
    server.shut_down(&mut script);
    assert!(script.written[&StreamId::from_value(3)].ends_with(&[7, 1, 8]));
    script.send(&mut server, 8, &get(), true);
    assert_eq!(script.resets.get(&StreamId::from_value(8)), Some(&Code::REQUEST_REJECTED.0));
    assert!(server.is_idle());
}

/// For any input neither end panics, and each reports errors with a code of RFC 9114 or RFC 9204.
#[test]
fn damaged_streams_only_end_the_connection() {
    let mut random = random::Generator::new(9, "damage");
    let priority = frame(0xf0700, b"\x00u=1, i");
    let request =
        all(&[&get_and(("content-length", "3")), &frame(frame::DATA, b"abc"), &headers(&[("a", "b")])]);
    let response = all(&[&headers(&[(":status", "200"), ("x-name", "value")]), &frame(frame::DATA, b"abc")]);
    let told = control(&all(&[&frame(0x21, b"xyz"), &frame(7, &[4]), &priority]));
    let mut broken = 0;
    for round in 0..20_000 {
        let side = if round % 2 == 0 { Side::Server } else { Side::Client };
        let (uni, message) = if side == Side::Server { (2, &request) } else { (3, &response) };
        let mut pieces =
            [(uni, told.clone(), false), (uni + 4, vec![2, 0x20], false), (0, message.clone(), true)];
        for _ in 0..=random.below(3) {
            let bytes = &mut pieces[random.below(3) as usize].1;
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, random.below(256) as u8),
            }
        }
        let (mut server, mut client) = (server(), client(1));
        let application: &mut dyn Application = if side == Side::Server { &mut server } else { &mut client };
        if let (Close(code) | Reset(code), _) = play(application, side, &pieces, round % 4 < 2) {
            broken += 1;
            assert!(code.name().is_some(), "{code} is no code of HTTP/3");
        }
    }
    assert!(broken > 5000, "{broken}");
}
