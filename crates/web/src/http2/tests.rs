//! The rules of RFC 9113, tested on a server and a client over a byte stream, whole and byte by byte.

use super::{Http2Client, Http2Server, MAX_STREAMS, Windows};
use crate::VirtualSite;
use crate::{Discard, Failure, Fetches, Request};
use http::hpack::{Decoder, Encoder};
use http::http2::{Code, FRAME_HEAD, Flags, Frame, FrameHead, Kind, PREFACE, Settings};
use http::qpack::Field;
use std::collections::VecDeque;
use transport::{
    Data, Event, Measurements, PathView, Priority, Read, StreamError, Streams, Transport, UnknownLimits,
    WithoutDatagrams,
};
use units::Time;
use wire::{Direction, StreamId};

const STREAM: StreamId = StreamId::new(wire::Side::Client, wire::Direction::Bidirectional, 0);

/// A byte stream.
#[derive(Default)]
struct Wire {
    incoming: VecDeque<u8>,
    written: Vec<u8>,
    closed: Option<u64>,
    /// Whether the peer has ended its half, and whether this side has.
    ended: bool,
    finished: bool,
}

impl Streams for Wire {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        Ok(STREAM)
    }
    fn write(&mut self, _: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        match data {
            Data::Bytes(bytes) => self.written.extend_from_slice(bytes),
            Data::Virtual(length) => self.written.resize(self.written.len() + length as usize, 0),
        }
        Ok(data.len())
    }
    fn finish(&mut self, _: StreamId) -> Result<(), StreamError> {
        self.finished = true;
        Ok(())
    }
    fn reset(&mut self, _: StreamId, _: u64) -> Result<(), StreamError> {
        Ok(())
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn stop(&mut self, _: StreamId, _: u64) -> Result<(), StreamError> {
        Ok(())
    }
    fn read(&mut self, _: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let count = out.len().min(self.incoming.len());
        out.iter_mut().zip(self.incoming.drain(..count)).for_each(|(place, byte)| *place = byte);
        Ok(Read { bytes: count as u64, finished: self.ended && self.incoming.is_empty() })
    }
    fn skip(&mut self, _: StreamId, limit: u64) -> Result<Read, StreamError> {
        let count = self.incoming.len().min(limit as usize);
        self.incoming.drain(..count);
        Ok(Read { bytes: count as u64, finished: self.ended && self.incoming.is_empty() })
    }
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    fn set_priority(&mut self, _: StreamId, _: Priority) -> Result<(), StreamError> {
        Ok(())
    }
}

impl Measurements for Wire {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        0
    }
    fn record(&mut self, _: trace::Event) {}
}

impl Transport for Wire {
    fn alpn(&self) -> Option<&[u8]> {
        Some(super::ALPN)
    }
    fn close(&mut self, code: u64, _: &str) {
        self.closed.get_or_insert(code);
    }
}

impl WithoutDatagrams for Wire {}

impl UnknownLimits for Wire {}

fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len() as u32, kind, flags: Flags(flags), stream }.encode(&mut out);
    out.extend_from_slice(payload);
    out
}
fn block(lines: &[(&'static str, &'static str)]) -> Vec<u8> {
    let fields: Vec<Field> = lines.iter().map(|(name, value)| Field::new(*name, *value)).collect();
    let mut out = Vec::new();
    // The blocks of a connection share no entries: each is encoded with an empty table.
    let mut encoder = Encoder::default();
    encoder.set_limit(0);
    encoder.encode(&mut out, &fields);
    out
}
const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/100")];
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn get(stream: u32) -> Vec<u8> {
    frame(Kind::HEADERS, END_STREAM | END_HEADERS, stream, &block(&GET))
}
/// A request whose response exceeds the initial window of a stream.
fn large(stream: u32) -> Vec<u8> {
    let fields = [GET[0], GET[1], GET[2], (":path", "/100000")];
    frame(Kind::HEADERS, END_STREAM | END_HEADERS, stream, &block(&fields))
}
/// A request whose response is complete at once.
fn head(stream: u32) -> Vec<u8> {
    let fields = [(":method", "HEAD"), GET[1], GET[2], GET[3]];
    frame(Kind::HEADERS, END_STREAM | END_HEADERS, stream, &block(&fields))
}
fn settings() -> Vec<u8> {
    frame(Kind::SETTINGS, 0, 0, &[])
}
/// The preface of a client, followed by these frames.
fn from_client(frames: &[Vec<u8>]) -> Vec<u8> {
    [PREFACE, &settings(), &frames.concat()].concat()
}

/// The frames that a side has written, without bodies: head and payload of each.
fn frames(written: &[u8]) -> Vec<(FrameHead, Vec<u8>)> {
    let mut rest = written.strip_prefix(PREFACE).unwrap_or(written);
    let mut all = Vec::new();
    while let Some((bytes, after_head)) = rest.split_first_chunk::<FRAME_HEAD>() {
        let head = FrameHead::decode(*bytes).unwrap();
        let (payload, after_head) = after_head.split_at(head.length as usize);
        all.push((head, payload.to_vec()));
        rest = after_head;
    }
    assert!(rest.is_empty());
    all
}

/// Feeds bytes to a server in pieces. Returns what it has written.
fn serve(bytes: &[u8], step: usize) -> Wire {
    let (mut server, mut wire) =
        (Http2Server::new(Box::new(schedule::Ranked::<schedule::Rfc9218>::default())), Wire::default());
    let mut on = |event: Event, wire: &mut Wire| server.on_event(Time::ZERO, &event, &mut VirtualSite, wire);
    on(Event::Opened(STREAM), &mut wire);
    for piece in bytes.chunks(step) {
        wire.incoming.extend(piece);
        on(Event::Readable(STREAM), &mut wire);
    }
    wire
}

/// The code of an error, and its stream unless it is a connection error.
type ReportedError = Option<(Code, Option<u32>)>;
/// The status of a request, its received bytes, and its failure.
type Fetched = (Option<u16>, u64, Option<Failure>);

/// The error that a side has reported.
fn error(wire: &Wire) -> ReportedError {
    frames(&wire.written).into_iter().find_map(|(head, payload)| match Frame::decode(&head, &payload) {
        Ok(Frame::GoAway { code, .. }) => Some((code, None)),
        Ok(Frame::Reset(code)) => Some((code, Some(head.stream))),
        _ => None,
    })
}

fn served(wire: &Wire, stream: u32) -> usize {
    let data = frames(&wire.written)
        .into_iter()
        .filter(|(head, _)| head.kind == Kind::DATA && head.stream == stream);
    data.map(|(_, payload)| payload.len()).sum()
}

#[test]
fn requests_are_answered() {
    let padded = {
        let payload = [&[3][..], &[0; 5], &block(&GET), &[0; 3]].concat();
        frame(Kind::HEADERS, END_STREAM | END_HEADERS | 0x28, 5, &payload)
    };
    let (first, second) = {
        let b = block(&GET);
        let (a, b) = b.split_at(7);
        (a.to_vec(), b.to_vec())
    };
    let split =
        [frame(Kind::HEADERS, END_STREAM, 7, &first), frame(Kind::CONTINUATION, END_HEADERS, 7, &second)]
            .concat();
    let posted = [
        frame(
            Kind::HEADERS,
            END_HEADERS,
            9,
            &block(&[GET[0], GET[1], GET[2], GET[3], ("content-length", "4")]),
        ),
        frame(Kind::DATA, 8, 9, b"\x02ab\0\0"),
        frame(Kind::DATA, 0, 9, b"cd"),
        frame(Kind::HEADERS, END_STREAM | END_HEADERS, 9, &block(&[("trailer", "x")])),
    ]
    .concat();
    let ping = frame(Kind::PING, 0, 0, b"12345678");
    let ignored = [
        frame(Kind(0x77), 0xff, 99, b"unknown"),
        frame(Kind::PRIORITY, 0, 11, &[0; 5]),
        frame(Kind::PRIORITY_UPDATE, 0, 0, b"\0\0\0\x0du=0"),
        frame(Kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1]),
    ]
    .concat();
    let bytes = from_client(&[get(1), ping, padded, split, ignored, posted]);
    for step in [bytes.len(), 1, 7] {
        let wire = serve(&bytes, step);
        assert_eq!((error(&wire), wire.closed), (None, None));
        for stream in [1, 5, 7, 9] {
            assert_eq!(served(&wire, stream), 100, "{stream}");
        }
        let all = frames(&wire.written);
        // RFC 9113 sections 3.4, 6.5.3 and 6.7.
        assert_eq!((all[0].0.kind, all[0].0.flags), (Kind::SETTINGS, Flags::NONE));
        assert!(all.iter().any(|(head, _)| head.kind == Kind::SETTINGS && head.flags.has(Flags::ACK)));
        assert!(all.iter().any(|(head, payload)| head.kind == Kind::PING
            && head.flags.has(Flags::ACK)
            && payload == b"12345678"));
        let mut decoder = Decoder::default();
        for (head, payload) in all.iter().filter(|(head, _)| head.kind == Kind::HEADERS) {
            let fields = decoder.decode(payload, 1000).unwrap();
            assert_eq!(fields[0], Field::new(":status", "200"), "{head:?}");
        }
    }
}

/// A client that ends its half of the connection after its requests still gets the responses, as far as its windows
/// admit: at once, after a think time, or with more than a window left. In any two pieces, with the end apart.
#[test]
fn the_end_of_the_requests_may_come_apart() {
    let path = |path| frame(Kind::HEADERS, 5, 1, &block(&[GET[0], GET[1], GET[2], (":path", path)]));
    let cases = [(get(1), 100), (path("/100?think=5000000"), 100), (large(1), 65_535)];
    for (request, expected) in cases {
        let bytes = from_client(&[request]);
        for cut in 0..=bytes.len() {
            let scheduler = schedule::Ranked::<schedule::Rfc9218>::default();
            let (mut server, mut wire) = (Http2Server::new(Box::new(scheduler)), Wire::default());
            server.on_event(Time::ZERO, &Event::Opened(STREAM), &mut VirtualSite, &mut wire);
            for (number, piece) in [&bytes[..cut], &bytes[cut..], &[]].into_iter().enumerate() {
                wire.incoming.extend(piece);
                wire.ended = number == 2;
                server.on_event(Time::ZERO, &Event::Readable(STREAM), &mut VirtualSite, &mut wire);
            }
            server.wake(Time::ZERO + units::Duration::from_millis(5), &mut wire);
            assert_eq!((served(&wire, 1), error(&wire), wire.finished), (expected, None, true), "{cut}");
            assert!(server.is_idle());
        }
    }
    // A request that is cut by the end has no response.
    let bytes = from_client(&[frame(Kind::HEADERS, END_HEADERS, 1, &block(&GET))]);
    let mut wire = Wire { ended: true, ..Wire::default() };
    let mut server = Http2Server::new(Box::new(schedule::Ranked::<schedule::Rfc9218>::default()));
    server.on_event(Time::ZERO, &Event::Opened(STREAM), &mut VirtualSite, &mut wire);
    wire.incoming.extend(&bytes);
    server.on_event(Time::ZERO, &Event::Readable(STREAM), &mut VirtualSite, &mut wire);
    assert!(served(&wire, 1) == 0 && wire.finished && server.is_idle());
}

/// RFC 9113: the section follows the violation.
#[test]
fn violations_by_clients() {
    let c = |code| Some((code, None));
    let s = |code, stream| Some((code, Some(stream)));
    let path = block(&[GET[0], GET[1], GET[2]]);
    let long = frame(
        Kind::HEADERS,
        END_HEADERS,
        1,
        &block(&[GET[0], GET[1], GET[2], GET[3], ("content-length", "1")]),
    );
    let opened = frame(Kind::HEADERS, END_HEADERS, 1, &block(&GET));
    let cases: Vec<(&str, Vec<u8>, ReportedError)> = vec![
        ("3.4: no preface", b"GET / HTTP/1.1\r\n\r\n".to_vec(), c(Code::PROTOCOL_ERROR)),
        ("3.4: no SETTINGS", [PREFACE, &get(1)].concat(), c(Code::PROTOCOL_ERROR)),
        ("4.2: too large", from_client(&[vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]]), c(Code::FRAME_SIZE_ERROR)),
        ("4.3: no block", from_client(&[frame(Kind::HEADERS, 5, 1, &[0x80])]), c(Code::COMPRESSION_ERROR)),
        (
            "5.1: DATA on an idle stream",
            from_client(&[frame(Kind::DATA, 0, 1, b"a")]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "5.1: RST_STREAM there",
            from_client(&[frame(Kind::RST_STREAM, 0, 1, &[0; 4])]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "5.1: WINDOW_UPDATE there",
            from_client(&[frame(Kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1])]),
            c(Code::PROTOCOL_ERROR),
        ),
        ("5.1: HEADERS after the end", from_client(&[large(1), get(1)]), s(Code::STREAM_CLOSED, 1)),
        (
            "5.1: DATA there",
            from_client(&[large(1), frame(Kind::DATA, 0, 1, b"a")]),
            s(Code::STREAM_CLOSED, 1),
        ),
        ("5.1: HEADERS on a closed stream", from_client(&[head(1), get(1)]), c(Code::STREAM_CLOSED)),
        (
            "6.1: DATA there",
            from_client(&[head(1), frame(Kind::DATA, 0, 1, b"a")]),
            s(Code::STREAM_CLOSED, 1),
        ),
        (
            "6.1: nothing on an idle stream",
            from_client(&[frame(Kind::DATA, END_STREAM, 1, b"")]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "5.1: RST_STREAM, then DATA",
            from_client(&[large(1), frame(Kind::RST_STREAM, 0, 1, &[0; 4]), frame(Kind::DATA, 0, 1, b"a")]),
            s(Code::STREAM_CLOSED, 1),
        ),
        ("5.1.1: an even stream", from_client(&[get(2)]), c(Code::PROTOCOL_ERROR)),
        ("5.1.1: a stream below", from_client(&[get(5), get(3)]), c(Code::PROTOCOL_ERROR)),
        ("5.1.1: an even one below", from_client(&[get(5), get(4)]), c(Code::PROTOCOL_ERROR)),
        (
            "6.3: PRIORITY of 4 bytes",
            from_client(&[large(1), frame(Kind::PRIORITY, 0, 1, &[0; 4]), get(3)]),
            s(Code::FRAME_SIZE_ERROR, 1),
        ),
        (
            "6.3: the same on an idle stream",
            from_client(&[frame(Kind::PRIORITY, 0, 1, &[0; 6])]),
            c(Code::FRAME_SIZE_ERROR),
        ),
        (
            "6.9: nothing on an idle stream",
            from_client(&[frame(Kind::WINDOW_UPDATE, 0, 1, &[0; 4])]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "6.9: nothing on a stream",
            from_client(&[large(1), frame(Kind::WINDOW_UPDATE, 0, 1, &[0; 4])]),
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "6.9.2: windows that grow too large",
            from_client(&[
                large(1),
                frame(Kind::WINDOW_UPDATE, 0, 1, &[0x7f, 0xfe, 0xff, 0xff]),
                frame(Kind::SETTINGS, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]),
            ]),
            c(Code::FLOW_CONTROL_ERROR),
        ),
        (
            "8.2.1: white space around a value",
            from_client(&[frame(
                Kind::HEADERS,
                5,
                1,
                &block(&[GET[0], GET[1], GET[2], GET[3], ("a", " b")]),
            )]),
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "RFC 9218 section 7.1: a push",
            from_client(&[frame(Kind::PRIORITY_UPDATE, 0, 0, b"\0\0\0\x02u=0")]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "RFC 9218 section 7.1: too many",
            from_client(
                &(0..=MAX_STREAMS)
                    .map(|at| {
                        frame(
                            Kind::PRIORITY_UPDATE,
                            0,
                            0,
                            &[&(2 * at + 1).to_be_bytes()[..], b"u=0"].concat(),
                        )
                    })
                    .collect::<Vec<_>>(),
            ),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "10.5: frames that carry nothing",
            from_client(&[large(1), frame(Kind::PRIORITY, 0, 1, &[0; 5]).repeat(10_001)]),
            c(Code::ENHANCE_YOUR_CALM),
        ),
        (
            "10.5: DATA without content",
            from_client(&[opened.clone(), frame(Kind::DATA, 0, 1, b"").repeat(10_001)]),
            c(Code::ENHANCE_YOUR_CALM),
        ),
        (
            "6.5: SETTINGS of 5 bytes",
            from_client(&[frame(Kind::SETTINGS, 0, 0, &[0; 5])]),
            c(Code::FRAME_SIZE_ERROR),
        ),
        (
            "6.5.2: a window too large",
            from_client(&[frame(Kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0])]),
            c(Code::FLOW_CONTROL_ERROR),
        ),
        (
            "8.4: a push of a client",
            from_client(&[frame(Kind::PUSH_PROMISE, 4, 1, &[0; 8])]),
            c(Code::PROTOCOL_ERROR),
        ),
        ("6.9: nothing", from_client(&[frame(Kind::WINDOW_UPDATE, 0, 0, &[0; 4])]), c(Code::PROTOCOL_ERROR)),
        (
            "6.9.1: the connection's window",
            from_client(&[frame(Kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])]),
            c(Code::FLOW_CONTROL_ERROR),
        ),
        (
            "6.9.1: a stream's window",
            from_client(&[opened.clone(), frame(Kind::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff])]),
            s(Code::FLOW_CONTROL_ERROR, 1),
        ),
        (
            "6.10: CONTINUATION alone",
            from_client(&[frame(Kind::CONTINUATION, 4, 1, &path)]),
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "6.10: something between",
            from_client(&[frame(Kind::HEADERS, 1, 1, &path), frame(Kind::PING, 0, 0, &[0; 8])]),
            c(Code::PROTOCOL_ERROR),
        ),
        ("8.1: no path", from_client(&[frame(Kind::HEADERS, 5, 1, &path)]), s(Code::PROTOCOL_ERROR, 1)),
        (
            "8.1.1: more than announced",
            from_client(&[long.clone(), frame(Kind::DATA, 1, 1, b"ab")]),
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "8.1.1: less than announced",
            from_client(&[long, frame(Kind::DATA, 1, 1, b"")]),
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "8.1: trailers that do not end",
            from_client(&[opened, frame(Kind::HEADERS, 4, 1, &block(&[("a", "b")]))]),
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "a field block is too long",
            from_client(&[
                frame(Kind::HEADERS, 1, 1, &[0; 16_384]),
                frame(Kind::CONTINUATION, 0, 1, &[0; 16_384]),
                frame(Kind::CONTINUATION, 0, 1, &[0; 1]),
            ]),
            c(Code::ENHANCE_YOUR_CALM),
        ),
        (
            "streams that are reset at once",
            from_client(
                &(0..1100)
                    .map(|at| {
                        let opened = frame(Kind::HEADERS, END_HEADERS, 2 * at + 1, &block(&GET));
                        [opened, frame(Kind::RST_STREAM, 0, 2 * at + 1, &[0, 0, 0, 8])].concat()
                    })
                    .collect::<Vec<_>>(),
            ),
            c(Code::ENHANCE_YOUR_CALM),
        ),
        (
            // Each request is complete, and each response has started.
            "10.5: requests that are reset at once",
            from_client(
                &(0..1100)
                    .map(|at| {
                        [large(2 * at + 1), frame(Kind::RST_STREAM, 0, 2 * at + 1, &[0, 0, 0, 8])].concat()
                    })
                    .collect::<Vec<_>>(),
            ),
            c(Code::ENHANCE_YOUR_CALM),
        ),
    ];
    for (name, bytes, expected) in cases {
        for step in [bytes.len(), 1] {
            let wire = serve(&bytes, step);
            assert_eq!(error(&wire), expected, "{name}, {step}");
            assert_eq!(wire.closed.is_some(), expected.is_some_and(|(_, stream)| stream.is_none()), "{name}");
        }
    }
}

/// RFC 9113 section 10.5: resets by the server that the client provokes count like those by the client.
#[test]
fn provoked_resets_have_a_limit() {
    let broken = |at: u32| [large(2 * at + 1), frame(Kind::WINDOW_UPDATE, 0, 2 * at + 1, &[0; 4])].concat();
    let wire = serve(&from_client(&(0..1001).map(broken).collect::<Vec<_>>()), 1000);
    assert_eq!(wire.closed, Some(Code::ENHANCE_YOUR_CALM.0.into()));
    let wire = serve(&from_client(&(0..1000).map(broken).collect::<Vec<_>>()), 1000);
    assert_eq!(wire.closed, None);
}

/// RFC 9113 section 5.1.2.
#[test]
fn streams_have_a_limit() {
    let opened = |at: u32| frame(Kind::HEADERS, END_HEADERS, 2 * at + 1, &block(&GET));
    let bytes = from_client(&(0..=MAX_STREAMS).map(opened).collect::<Vec<_>>());
    let wire = serve(&bytes, bytes.len());
    assert_eq!(error(&wire), Some((Code::REFUSED_STREAM, Some(2 * MAX_STREAMS + 1))));
}

/// RFC 9113 sections 6.9.1 and 6.9.2: the windows limit the responses, whichever of them changes.
#[test]
fn windows_limit_responses() {
    let window = |bytes: [u8; 4]| frame(Kind::SETTINGS, 0, 0, &[&[0, 4][..], &bytes].concat());
    let of = |frames: &[Vec<u8>], stream| {
        let bytes = [PREFACE, &frames.concat()].concat();
        served(&serve(&bytes, bytes.len()), stream)
    };
    let small = window([0, 0, 0x27, 0x10]);
    assert_eq!(of(&[small.clone(), large(1)], 1), 10_000);
    assert_eq!(of(&[small.clone(), large(1), window([0, 0, 0x4e, 0x20])], 1), 20_000);
    assert_eq!(of(&[small.clone(), large(1), frame(Kind::WINDOW_UPDATE, 0, 1, &[0, 0, 0, 5])], 1), 10_005);
    // The window of the connection is 65,535, and not a setting.
    let huge = window([0x7f, 0xff, 0xff, 0xff]);
    assert_eq!(of(&[huge.clone(), large(1)], 1), 65_535);
    assert_eq!(of(&[huge, large(1), frame(Kind::WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0])], 1), 100_000);
}

/// Feeds bytes to a client with two requests. Returns their results.
fn fetch(bytes: &[u8], step: usize) -> (Wire, Vec<Fetched>) {
    let requests = vec![Request::get("/10"), Request::get("/20")];
    let mut fetches = Fetches::new(requests, 10, Box::new(Discard));
    let (mut client, mut wire) = (Http2Client::new("a", &Windows::default()), Wire::default());
    fetches.start(Time::ZERO);
    client.on_event(Time::ZERO, &Event::Connected, &mut fetches, &mut wire);
    for piece in bytes.chunks(step) {
        wire.incoming.extend(piece);
        client.on_event(Time::ZERO, &Event::Readable(STREAM), &mut fetches, &mut wire);
    }
    let results = fetches.results().iter().map(|r| (r.status, r.bytes, r.failure.clone())).collect();
    (wire, results)
}
fn response(stream: u32, flags: u8, lines: &[(&'static str, &'static str)]) -> Vec<u8> {
    frame(Kind::HEADERS, flags | END_HEADERS, stream, &block(lines))
}

#[test]
fn a_client_reads_responses_and_sends_goaway() {
    let ok = [(":status", "200"), ("content-length", "10")];
    let bytes = [
        settings(),
        response(3, 0, &[(":status", "103")]),
        response(3, 0, &[(":status", "200")]),
        frame(Kind::DATA, 0, 3, &[0; 15]),
        response(1, 0, &ok),
        frame(Kind::DATA, 0, 1, &[0; 10]),
        frame(Kind::DATA, END_STREAM | 8, 3, b"\x03abcde\0\0\0"),
        frame(Kind::DATA, END_STREAM, 1, &[]),
    ]
    .concat();
    for step in [bytes.len(), 1] {
        let (wire, results) = fetch(&bytes, step);
        assert_eq!(results, [(Some(200), 10, None), (Some(200), 20, None)]);
        assert_eq!((error(&wire), wire.closed), (Some((Code::NO_ERROR, None)), Some(0)));
        // Section 3.4; RFC 9218 section 2.1.
        assert!(wire.written.starts_with(PREFACE));
        let (head, payload) = &frames(&wire.written)[0];
        let mut sent = Settings::default();
        sent.update(payload).unwrap();
        assert!(head.kind == Kind::SETTINGS && !sent.enable_push && sent.no_rfc7540_priorities);
    }
}

/// RFC 9113: the section follows the violation.
#[test]
fn violations_by_servers() {
    let c = |code| Some((code, None));
    let s = |code, stream| Some((code, Some(stream)));
    let ok = || response(1, 0, &[(":status", "200"), ("content-length", "10")]);
    let push = frame(Kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1]);
    let cases = [
        ("3.4: no SETTINGS", vec![ok()], c(Code::PROTOCOL_ERROR)),
        (
            "5.1: an idle stream",
            vec![settings(), response(5, 0, &[(":status", "200")])],
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "5.1.1: an even stream",
            vec![settings(), response(2, 0, &[(":status", "200")])],
            c(Code::PROTOCOL_ERROR),
        ),
        ("6.5.2: pushes", vec![push], c(Code::PROTOCOL_ERROR)),
        ("8.4: a push", vec![settings(), frame(Kind::PUSH_PROMISE, 4, 1, &[0; 8])], c(Code::PROTOCOL_ERROR)),
        ("8.1: DATA first", vec![settings(), frame(Kind::DATA, 0, 1, b"a")], s(Code::PROTOCOL_ERROR, 1)),
        ("8.3.2: no status", vec![settings(), response(1, 0, &[("a", "b")])], s(Code::PROTOCOL_ERROR, 1)),
        (
            "8.1: an interim end",
            vec![settings(), response(1, 1, &[(":status", "100")])],
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "8.1.1: more",
            vec![settings(), ok(), frame(Kind::DATA, 0, 1, &[0; 11])],
            s(Code::PROTOCOL_ERROR, 1),
        ),
        ("8.1.1: less", vec![settings(), ok(), frame(Kind::DATA, 1, 1, &[0; 9])], s(Code::PROTOCOL_ERROR, 1)),
        (
            "5.1: nothing on an idle stream",
            vec![settings(), frame(Kind::DATA, 1, 5, b"")],
            c(Code::PROTOCOL_ERROR),
        ),
        (
            "6.1: DATA after the end",
            vec![settings(), ok(), frame(Kind::DATA, 1, 1, &[0; 10]), frame(Kind::DATA, 0, 1, b"a")],
            s(Code::STREAM_CLOSED, 1),
        ),
        (
            "5.1: HEADERS after the end",
            vec![settings(), ok(), frame(Kind::DATA, 1, 1, &[0; 10]), response(1, 0, &[(":status", "200")])],
            s(Code::STREAM_CLOSED, 1),
        ),
        (
            "8.2.1: white space around a value",
            vec![settings(), response(1, 0, &[(":status", "200"), ("a", "b ")])],
            s(Code::PROTOCOL_ERROR, 1),
        ),
        (
            "RFC 9218 section 7.1",
            vec![settings(), frame(Kind::PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01u=0")],
            c(Code::PROTOCOL_ERROR),
        ),
    ];
    for (name, frames, expected) in cases {
        let bytes = frames.concat();
        for step in [bytes.len(), 1] {
            assert_eq!(error(&fetch(&bytes, step).0), expected, "{name}, {step}");
        }
    }
}

/// RFC 9113 sections 6.8 and 8.7: unprocessed requests fail as such, and refused ones are retried.
#[test]
fn streams_that_are_refused() {
    let bytes = [settings(), frame(Kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])].concat();
    let (_, results) = fetch(&bytes, 1);
    assert_eq!((results[0].2.as_ref(), results[1].2.as_ref()), (None, Some(&Failure::NotProcessed)));
    let bytes = [settings(), frame(Kind::RST_STREAM, 0, 1, &[0, 0, 0, 7])].concat();
    let (wire, _) = fetch(&bytes, 1);
    let requests = frames(&wire.written).iter().filter(|(head, _)| head.kind == Kind::HEADERS).count();
    assert_eq!(requests, 3);
}

/// RFC 9113 section 6.8: after GOAWAY the client waits for the processed requests and then closes.
#[test]
fn a_client_closes_when_the_server_goes_away() {
    let bytes = [
        settings(),
        frame(Kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]),
        response(1, 0, &[(":status", "200")]),
        frame(Kind::DATA, END_STREAM, 1, &[0; 10]),
    ]
    .concat();
    for step in [bytes.len(), 1] {
        let (wire, results) = fetch(&bytes, step);
        assert_eq!(results, [(Some(200), 10, None), (None, 0, Some(Failure::NotProcessed))]);
        assert_eq!((error(&wire), wire.closed), (Some((Code::NO_ERROR, None)), Some(0)));
    }
}

/// RFC 9113 section 5.1: frames in flight to a stream that was reset here are ignored, but their fields are decoded
/// (4.3) and their content is credited (6.9).
#[test]
fn frames_on_a_reset_stream_are_ignored() {
    let bad = frame(Kind::HEADERS, END_HEADERS, 1, &block(&[GET[0], GET[1], GET[2]]));
    let late = [
        frame(Kind::DATA, 0, 1, &[0; 10_000]),
        frame(Kind::DATA, 0, 1, &[0; 10_000]),
        frame(Kind::DATA, 0, 1, &[0; 16_000]),
        frame(Kind::HEADERS, END_STREAM | END_HEADERS, 1, &block(&[("trailer", "x")])),
    ];
    let bytes = from_client(&[bad, late.concat(), get(3)]);
    for step in [bytes.len(), 1] {
        let wire = serve(&bytes, step);
        let all = frames(&wire.written);
        let resets = all.iter().filter(|(head, _)| head.kind == Kind::RST_STREAM).count();
        assert_eq!((resets, served(&wire, 3), wire.closed), (1, 100, None));
        assert!(all.iter().any(|(head, _)| head.kind == Kind::WINDOW_UPDATE && head.stream == 0));
    }
}

/// RFC 9110 section 10.1.1: a client that waits with its content gets 100 (Continue).
#[test]
fn a_server_sends_100_continue() {
    let fields = [GET[0], GET[1], GET[2], GET[3], ("expect", "100-continue")];
    let wire = serve(&from_client(&[frame(Kind::HEADERS, END_HEADERS, 1, &block(&fields))]), 7);
    let (_, payload) =
        frames(&wire.written).into_iter().find(|(head, _)| head.kind == Kind::HEADERS).unwrap();
    assert_eq!(Decoder::default().decode(&payload, 1000), Ok(vec![Field::new(":status", "100")]));
}

/// A connection that accepts a limited number of bytes.
#[derive(Default)]
struct Narrow {
    wire: Wire,
    room: usize,
}

impl Streams for Narrow {
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        self.wire.open(direction)
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let taken = self.room.min(data.len() as usize);
        self.room -= taken;
        match data {
            _ if taken == 0 => Err(StreamError::Blocked),
            Data::Bytes(bytes) => self.wire.write(stream, Data::Bytes(&bytes[..taken])),
            Data::Virtual(_) => self.wire.write(stream, Data::Virtual(taken as u64)),
        }
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.wire.finish(stream)
    }
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.wire.reset(stream, code)
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.wire.stop(stream, code)
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        self.wire.read(stream, out)
    }
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.wire.skip(stream, limit)
    }
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.wire.discard(stream)
    }
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.wire.set_priority(stream, priority)
    }
}

impl Measurements for Narrow {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        0
    }
    fn record(&mut self, _: trace::Event) {}
}

impl Transport for Narrow {
    fn alpn(&self) -> Option<&[u8]> {
        self.wire.alpn()
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.wire.close(code, reason);
    }
}

impl WithoutDatagrams for Narrow {}

impl UnknownLimits for Narrow {}

/// Feeds frames to a server with this scheduler, whose connection accepts `room` bytes before `then` arrives, and
/// everything afterwards.
fn serve_narrow(scheduler: &str, first: &[Vec<u8>], room: usize, then: &[u8]) -> Wire {
    let scheduler = schedule::build(scheduler, &units::parameter::Arguments::default()).unwrap();
    let (mut server, mut narrow) = (Http2Server::new(scheduler), Narrow { room, ..Narrow::default() });
    server.on_event(Time::ZERO, &Event::Opened(STREAM), &mut VirtualSite, &mut narrow);
    for (bytes, more) in [(from_client(first), 0), (then.to_vec(), 1 << 20)] {
        narrow.wire.incoming.extend(bytes);
        narrow.room += more;
        server.on_event(Time::ZERO, &Event::Readable(STREAM), &mut VirtualSite, &mut narrow);
    }
    server.on_event(Time::ZERO, &Event::Writable(STREAM), &mut VirtualSite, &mut narrow);
    narrow.wire
}

/// RFC 9113 section 4.1: GOAWAY is never written within another frame.
#[test]
fn a_partial_frame_is_completed_before_goaway() {
    let wire = serve_narrow("rfc9218", &[large(1)], 5_000, &frame(Kind::PING, 0, 1, &[0; 8]));
    let all = frames(&wire.written);
    assert_eq!(all[all.len() - 2].0.kind, Kind::DATA);
    assert_eq!(error(&wire), Some((Code::PROTOCOL_ERROR, None)));
}

/// The stream schedulers choose between responses: by turns, by urgency, by order of arrival.
#[test]
fn responses_share_according_to_the_scheduler() {
    let wide = [
        frame(Kind::SETTINGS, 0, 0, &[0, 4, 0, 0x10, 0, 0]),
        frame(Kind::WINDOW_UPDATE, 0, 0, &[0, 0x10, 0, 0]),
    ]
    .concat();
    let of = |stream: u32, priority: &'static str| {
        let fields = [GET[0], GET[1], GET[2], (":path", "/40000"), ("priority", priority)];
        frame(Kind::HEADERS, END_STREAM | END_HEADERS, stream, &block(&fields))
    };
    let order = |scheduler, priorities: [&'static str; 3]| -> Vec<u32> {
        let [a, b, c] = priorities;
        // Nothing is written before all have arrived.
        let wire = serve_narrow(scheduler, &[wide.clone(), of(1, a), of(3, b), of(5, c)], 0, b"");
        let data = frames(&wire.written).into_iter().filter(|(head, _)| head.kind == Kind::DATA);
        data.map(|(head, _)| head.stream).collect()
    };
    assert_eq!(order("rr", ["u=3", "u=3", "u=0"]), [1, 3, 5, 1, 3, 5, 1, 3, 5]);
    assert_eq!(order("rfc9218", ["u=3", "u=3", "u=0"]), [5, 5, 5, 1, 1, 1, 3, 3, 3]);
    assert_eq!(order("rfc9218", ["i", "i", "u=4"]), [1, 3, 1, 3, 1, 3, 5, 5, 5]);
    assert_eq!(order("fifo", ["u=3", "u=3", "u=0"]), [1, 1, 1, 3, 3, 3, 5, 5, 5]);
    assert_eq!(order("pfifo", ["u=3", "u=1", "u=1"]), [3, 3, 3, 5, 5, 5, 1, 1, 1]);
}

/// RFC 9113 section 6.9: a client grants the configured windows.
#[test]
fn a_client_grants_its_windows() {
    let mut fetches = Fetches::new(vec![Request::get("/10")], 10, Box::new(Discard));
    let windows = Windows { stream: 1000, connection: 100_000 };
    let (mut client, mut wire) = (Http2Client::new("a", &windows), Wire::default());
    fetches.start(Time::ZERO);
    client.on_event(Time::ZERO, &Event::Connected, &mut fetches, &mut wire);
    let all = frames(&wire.written);
    let mut sent = Settings::default();
    sent.update(&all[0].1).unwrap();
    assert_eq!((sent.initial_window, all[1].1.as_slice()), (1000, &(100_000u32 - 65_535).to_be_bytes()[..]));
    let bytes =
        [settings(), response(1, 0, &[(":status", "200")]), frame(Kind::DATA, 0, 1, &[0; 1001])].concat();
    wire.incoming.extend(bytes);
    client.on_event(Time::ZERO, &Event::Readable(STREAM), &mut fetches, &mut wire);
    assert_eq!(error(&wire), Some((Code::FLOW_CONTROL_ERROR, None)));
}

/// RFC 7541 section 4.2: a table that a SETTINGS frame shrinks and grows again requires two updates.
#[test]
fn each_setting_is_processed() {
    let both = frame(Kind::SETTINGS, 0, 0, &[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0]);
    let wire = serve(&from_client(&[both, get(1)]), 9);
    let (_, payload) =
        frames(&wire.written).into_iter().find(|(head, _)| head.kind == Kind::HEADERS).unwrap();
    assert_eq!(payload[..4], [0x20, 0x3f, 0xe1, 0x1f]);
}

/// Arbitrary damage only ends the connection.
#[test]
fn damaged_input_only_ends_the_connection() {
    let mut draws = random::Generator::new(5, "http2 damage");
    let whole =
        from_client(&[get(1), settings(), get(3), frame(Kind::WINDOW_UPDATE, 0, 1, &[0, 0, 1, 0]), get(5)]);
    let answers = [
        settings(),
        response(1, 0, &[(":status", "200")]),
        frame(Kind::DATA, 9, 1, &[2; 30]),
        response(3, 1, &[(":status", "404")]),
    ]
    .concat();
    for _ in 0..3000 {
        let (mut request, mut answer) = (whole.clone(), answers.clone());
        for bytes in [&mut request, &mut answer] {
            for _ in 0..1 + draws.bits() % 3 {
                let at = draws.bits() as usize % bytes.len();
                bytes[at] = draws.bits() as u8;
            }
        }
        let wire = serve(&request, 13);
        assert!(frames(&wire.written).iter().map(|(head, _)| head.length as usize).sum::<usize>() < 10_000);
        fetch(&answer, 11);
    }
}
