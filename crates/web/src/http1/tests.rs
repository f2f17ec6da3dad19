//! The rules of RFC 9112, tested on a server and a client over byte streams, whole and byte by byte.

use super::{Http1Client, Http1Server};
use crate::VirtualSite;
use crate::{Discard, Failure, Fetches, Method, Request};
use std::collections::{BTreeMap, VecDeque};
use transport::{
    Data, Event, Measurements, PathView, Priority, Read, StreamError, Streams, Transport, UnknownLimits,
    WithoutDatagrams,
};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// A byte stream.
#[derive(Default)]
struct Line {
    incoming: VecDeque<u8>,
    ended: bool,
    written: Vec<u8>,
    finished: bool,
    reset: bool,
}

/// Byte streams, of which a client may open a limited number.
#[derive(Default)]
struct Wires {
    lines: BTreeMap<StreamId, Line>,
    limit: u64,
    opened: u64,
    closed: bool,
}

fn stream(index: u64) -> StreamId {
    StreamId::new(Side::Client, Direction::Bidirectional, index)
}

impl Wires {
    fn line(&mut self, index: u64) -> &mut Line {
        self.lines.entry(stream(index)).or_default()
    }
    fn text(&mut self, index: u64) -> String {
        String::from_utf8_lossy(&self.line(index).written).into_owned()
    }
    fn get(&mut self, stream: StreamId) -> &mut Line {
        self.lines.entry(stream).or_default()
    }
}

impl Streams for Wires {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        if self.opened == self.limit {
            return Err(StreamError::LimitReached);
        }
        self.opened += 1;
        Ok(stream(self.opened - 1))
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let written = &mut self.get(stream).written;
        match data {
            Data::Bytes(bytes) => written.extend_from_slice(bytes),
            Data::Virtual(length) => written.resize(written.len() + length as usize, b'.'),
        }
        Ok(data.len())
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.get(stream).finished = true;
        Ok(())
    }
    fn reset(&mut self, stream: StreamId, _: u64) -> Result<(), StreamError> {
        self.get(stream).reset = true;
        Ok(())
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let line = self.get(stream);
        let count = out.len().min(line.incoming.len());
        out.iter_mut().zip(line.incoming.drain(..count)).for_each(|(place, byte)| *place = byte);
        Ok(Read { bytes: count as u64, finished: line.ended && line.incoming.is_empty() })
    }
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        let line = self.get(stream);
        let count = line.incoming.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        line.incoming.drain(..count);
        Ok(Read { bytes: count as u64, finished: line.ended && line.incoming.is_empty() })
    }
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    fn set_priority(&mut self, _: StreamId, _: Priority) -> Result<(), StreamError> {
        Ok(())
    }
}

impl Measurements for Wires {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        0
    }
    fn record(&mut self, _: trace::Event) {}
}

impl Transport for Wires {
    fn alpn(&self) -> Option<&[u8]> {
        Some(super::ALPN)
    }
    fn close(&mut self, _: u64, _: &str) {
        self.closed = true;
    }
}

impl WithoutDatagrams for Wires {}

impl UnknownLimits for Wires {}

/// Feeds bytes to a server in pieces. Returns what it has written, and whether it has ended the connection.
fn serve(bytes: &str, step: usize) -> (String, bool) {
    let (mut server, mut wires) = (Http1Server::default(), Wires::default());
    let mut on = |event: Event, wires: &mut Wires| {
        server.on_event(Time::ZERO, &event, &mut VirtualSite, wires);
    };
    on(Event::Opened(stream(0)), &mut wires);
    for piece in bytes.as_bytes().chunks(step) {
        wires.line(0).incoming.extend(piece);
        on(Event::Readable(stream(0)), &mut wires);
    }
    (wires.text(0), wires.line(0).finished)
}

#[test]
fn requests_are_answered_one_after_another() {
    let requests = "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n\r\nHEAD /4 HTTP/1.1\r\nhost:a\r\ncontent-length: 5\r\n\r\n12345\
                    GET /0 HTTP/1.1\r\nhost: a\r\n\r\nGET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n\
                    GET /9 HTTP/1.1\r\nhost: a\r\n\r\n";
    let answers = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n...HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\
                   HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 404 Not Found\r\n\
                   content-type: text/plain;charset=utf-8\r\ncontent-length: 10\r\nconnection: close\r\n\r\nnot found\n";
    for step in [requests.len(), 1, 9] {
        // Section 9.6: nothing after the closing request is answered.
        assert_eq!(serve(requests, step), (answers.to_owned(), true), "{step}");
    }
}

/// RFC 9112 section 9.6: a client that has nothing more to ask may end its half of the connection, in a segment of its
/// own. Requests in any two pieces, answered at once or after a think time.
#[test]
fn the_end_of_the_requests_may_come_apart() {
    let close = "connection: close\r\n";
    for (path, more) in [("/3", ""), ("/3", close), ("/3?think=5000000", ""), ("/3?think=5000000", close)] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\n{more}\r\n");
        for cut in 0..=request.len() {
            let (mut server, mut wires) = (Http1Server::default(), Wires::default());
            let pieces = [&request[..cut], &request[cut..], ""];
            server.on_event(Time::ZERO, &Event::Opened(stream(0)), &mut VirtualSite, &mut wires);
            for (number, piece) in pieces.into_iter().enumerate() {
                wires.line(0).incoming.extend(piece.as_bytes());
                wires.line(0).ended = number == 2;
                server.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut VirtualSite, &mut wires);
            }
            server.wake(Time::ZERO + Duration::from_millis(5), &mut VirtualSite, &mut wires);
            assert!(wires.text(0).ends_with("\r\n\r\n..."), "{path} {cut}: {}", wires.text(0));
            assert!(wires.line(0).finished && !wires.line(0).reset && server.is_idle(), "{path} {cut}");
        }
    }
}

/// A response in any two pieces, whose end is that of its length, of its chunks or of the connection.
#[test]
fn a_client_reads_a_response_in_any_two_pieces() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12345",
        "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x\r\n12\r\n3\r\n345\r\n0\r\nt: u\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n12345",
    ] {
        for cut in 0..=response.len() {
            let (mut client, mut fetches, mut wires) = client(&["/5"], 1);
            for (number, piece) in [&response[..cut], &response[cut..], ""].into_iter().enumerate() {
                wires.line(0).incoming.extend(piece.as_bytes());
                wires.line(0).ended = number == 2;
                client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
            }
            assert!(
                fetches.results()[0].is_complete() && fetches.results()[0].bytes == 5,
                "{cut} {response}"
            );
        }
    }
}

/// RFC 9112 sections 2.2, 3.2, 6.1 and RFC 6585 section 5: a malformed request gets an error response, and the
/// connection ends.
#[test]
fn what_is_no_request_ends_the_connection() {
    let long = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "y".repeat(33_000));
    let target = format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "y".repeat(33_000));
    for (bytes, status) in [
        ("nonsense\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n0\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nGET / HTTP/1.1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab0\r\n\r\n", "400"),
        ("GET / HTTP/1.1\nhost: a\n\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n z\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\ncontent-length : 5\r\n\r\n", "400"),
        ("GET / HTTP/2.0\r\nhost: a\r\n\r\n", "505"),
        (&long, "431"),
        (&target, "414"),
    ] {
        for step in [bytes.len(), 7] {
            let (text, finished) = serve(bytes, step);
            assert!(text.starts_with(&format!("HTTP/1.1 {status} ")) && finished, "{text}");
            assert_eq!(text.matches("HTTP/1.1").count(), 1, "{text}");
        }
    }
    let (text, finished) = serve(
        "POST /3 HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nabGET /1 HTTP/1.1\r\nhost: a\r\n\r\n",
        5,
    );
    assert!(
        text.starts_with("HTTP/1.1 405 ") && text.contains("allow: GET, HEAD") && text.ends_with("\r\n\r\n.")
    );
    assert!(!finished);
}

/// RFC 9112 sections 3.2.2 and 7.1, appendix C.2.2, RFC 9110 sections 9.1, 10.1.1 and 15.5.15: uncommon requests.
#[test]
fn unusual_requests_are_answered() {
    let long = format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "y".repeat(9000));
    for (bytes, answers, ends) in [
        ("GET http://b/3 HTTP/1.1\r\nhost: a\r\n\r\n", &["200"][..], false),
        ("GET /3 HTTP/1.0\r\n\r\n", &["200"], true),
        ("GET /3 HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", &["200"], false),
        ("CONNECT b:443 HTTP/1.1\r\nhost: b:443\r\n\r\n", &["405"], false),
        ("BREW /3 HTTP/1.1\r\nhost: a\r\n\r\n", &["501"], false),
        (&long, &["414"], false),
        // A chunked body is followed by the next request.
        (
            "GET /1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nt: u\r\n\r\nGET /x HTTP/1.1\r\nhost: a\r\n\r\n",
            &["200", "404"],
            false,
        ),
    ] {
        for step in [bytes.len(), 1, 5] {
            let (text, finished) = serve(bytes, step);
            let statuses: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
            assert_eq!((statuses.as_slice(), finished), (answers, ends), "{bytes:.90} {text}");
        }
    }
    assert!(
        serve("GET /3 HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", 9)
            .0
            .contains("\r\nconnection: keep-alive\r\n")
    );
    // A client that waits with its content gets 100 (Continue), others do not.
    let head = "PUT /3 HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    assert_eq!(serve(head, head.len()).0, "HTTP/1.1 100 Continue\r\n\r\n");
    let (text, _) = serve(&format!("{head}ab"), head.len());
    assert!(text.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 405 "), "{text}");
    let (text, _) = serve(&format!("{head}ab"), 1000);
    assert!(text.starts_with("HTTP/1.1 405 "), "{text}");
}

/// Each connection has its own think times.
#[test]
fn a_server_thinks() {
    let (mut server, mut wires) = (Http1Server::default(), Wires::default());
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    for (index, ms) in [(0, 30), (1, 10)] {
        let request = format!("GET /1?think={ms}000000 HTTP/1.1\r\nhost: a\r\n\r\n");
        wires.line(index).incoming.extend(request.as_bytes());
        server.on_event(at(0), &Event::Opened(stream(index)), &mut VirtualSite, &mut wires);
        server.on_event(at(0), &Event::Readable(stream(index)), &mut VirtualSite, &mut wires);
    }
    assert_eq!((server.wake_at(), server.is_idle()), (Some(at(10)), false));
    server.wake(at(10), &mut VirtualSite, &mut wires);
    assert_eq!((wires.text(0).len(), wires.text(1).is_empty()), (0, false));
    server.wake(at(30), &mut VirtualSite, &mut wires);
    assert_eq!((wires.text(0), server.wake_at(), server.is_idle()), (wires.text(1), None, true));
}

/// A connected client with these requests and at most `limit` connections.
fn client(paths: &[&str], limit: u64) -> (Http1Client, Fetches, Wires) {
    let requests = paths.iter().map(|path| Request::get(*path)).collect();
    let mut fetches = Fetches::new(requests, 6, Box::new(Discard));
    let (mut client, mut wires) = (Http1Client::new("a"), Wires { limit, ..Wires::default() });
    fetches.start(Time::ZERO);
    client.on_event(Time::ZERO, &Event::Connected, &mut fetches, &mut wires);
    (client, fetches, wires)
}

#[test]
fn a_client_opens_connections_as_needed_and_closes_them_at_the_end() {
    let (mut client, mut fetches, mut wires) = client(&["/1", "/2", "/3", "/4"], 2);
    assert_eq!(wires.opened, 2);
    assert!(wires.text(0).starts_with("GET /1 HTTP/1.1\r\nhost: a\r\n") && wires.text(1).is_empty());
    let mut on = |event, fetches: &mut Fetches, wires: &mut Wires| {
        client.on_event(Time::ZERO, &event, fetches, wires);
    };
    on(Event::Writable(stream(1)), &mut fetches, &mut wires);
    assert!(wires.text(1).starts_with("GET /2 "));
    // A waiting request takes the first connection that is ready.
    for (index, bytes) in [(1, "12"), (1, "123"), (0, "1"), (1, "1234")] {
        let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{bytes}", bytes.len());
        for byte in response.bytes() {
            wires.line(index).incoming.push_back(byte);
            on(Event::Readable(stream(index)), &mut fetches, &mut wires);
        }
    }
    let bytes: Vec<u64> = fetches.results().iter().map(|result| result.bytes).collect();
    assert_eq!((bytes, fetches.are_over(), wires.closed), (vec![1, 2, 3, 4], true, true));
    assert!(wires.line(0).finished && wires.line(1).finished);
    assert_eq!((wires.text(0).matches("GET").count(), wires.text(1).matches("GET").count()), (1, 3));
}

/// The result of a request on the only connection if these bytes arrive, followed by the end.
fn answer(bytes: &str) -> (Option<u16>, u64, Option<Failure>) {
    let (mut client, mut fetches, mut wires) = client(&["/5"], 1);
    wires.line(0).incoming.extend(bytes.as_bytes());
    client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
    wires.line(0).ended = true;
    client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
    client.on_event(Time::ZERO, &Event::Ended, &mut fetches, &mut wires);
    let result = &fetches.results()[0];
    (result.status, result.bytes, result.failure.clone())
}

/// RFC 9112 sections 4, 6.3, 9.3.1 and 9.3.2.
#[test]
fn responses_and_their_ends() {
    assert_eq!(answer("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12345"), (Some(200), 5, None));
    assert_eq!(answer("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 204 None\r\n\r\n"), (Some(204), 0, None));
    assert_eq!(answer("HTTP/1.0 200 OK\r\n\r\n123"), (Some(200), 3, None));
    let lost = Some(Failure::ConnectionLost);
    assert_eq!(answer("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n123"), (Some(200), 3, lost));
    // It could be retried, but there is no other connection.
    assert_eq!(answer("HTTP/1.1 200"), (None, 0, Some(Failure::NotProcessed)));
    assert_eq!(answer(""), (None, 0, Some(Failure::NotProcessed)));
    let malformed = |bytes| matches!(answer(bytes).2, Some(Failure::Malformed(_)));
    assert!(malformed("nonsense\r\n\r\n"));
    assert!(malformed("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"));
    assert!(malformed("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n"));
    assert!(malformed("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    assert!(malformed("\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"));
    // Section 6.3: none of these has content, whatever its fields.
    for status in ["204 None", "304 Not Modified"] {
        for length in ["content-length: 5", "transfer-encoding: chunked"] {
            let (_, bytes, failure) = answer(&format!("HTTP/1.1 {status}\r\n{length}\r\n\r\n"));
            assert_eq!((bytes, failure), (0, None), "{status}");
        }
    }
}

/// RFC 9112 sections 7.1 and 8: chunks that are complete, truncated and malformed.
#[test]
fn a_client_reads_chunks() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let long = format!("{head}7d0;x=y\r\n{}\r\n1\r\n!\r\n0\r\ntrailer: z\r\n\r\n", "y".repeat(2000));
    assert_eq!(answer(&long), (Some(200), 2001, None));
    assert_eq!(answer(&format!("{head}0\r\n\r\n")), (Some(200), 0, None));
    let lost = Some(Failure::ConnectionLost);
    assert_eq!(answer(&format!("{head}3\r\nab")), (Some(200), 2, lost.clone()));
    assert_eq!(answer(&format!("{head}3\r\nabc\r\n")), (Some(200), 3, lost));
    let bad = answer(&format!("{head}3\r\nabcd\r\n0\r\n\r\n"));
    assert!(matches!(bad.2, Some(Failure::Malformed(_))));
    // The connection continues after them: byte by byte, and with the next request.
    let (mut client, mut fetches, mut wires) = client(&["/1", "/2"], 1);
    for bytes in [format!("{head}3\r\nabc\r\n00\r\n\r\n"), format!("{head}1\r\nd\r\n0\r\n\r\n")] {
        for byte in bytes.bytes() {
            wires.line(0).incoming.push_back(byte);
            client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
        }
    }
    let bytes: Vec<u64> = fetches.results().iter().map(|result| result.bytes).collect();
    assert_eq!((bytes, fetches.are_over(), wires.text(0).matches("GET").count()), (vec![3, 1], true, 2));
}

/// RFC 9112 section 6.3: data after a response is never taken for the next one.
#[test]
fn data_after_a_response_ends_the_connection() {
    let response = "HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n";
    for length in [0, 2000] {
        let (mut client, mut fetches, mut wires) = client(&["/1", "/2"], 1);
        let first = response.replace("2000", &length.to_string());
        let smuggled = format!("{first}{}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "x".repeat(length));
        wires.line(0).incoming.extend(smuggled.as_bytes());
        client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
        assert!(fetches.results()[0].is_complete() && fetches.results()[1].status.is_none());
        assert_eq!((wires.text(0).matches("GET").count(), wires.line(0).finished), (1, true));
    }
}

/// RFC 9110 section 9.3.2: the response to HEAD has no content, whatever its fields.
#[test]
fn a_response_to_head_is_its_head() {
    let requests = ["/1", "/2"].map(|path| Request { method: Method::Head, ..Request::get(path) });
    let mut fetches = Fetches::new(requests.to_vec(), 6, Box::new(Discard));
    let (mut client, mut wires) = (Http1Client::new("a"), Wires { limit: 1, ..Wires::default() });
    fetches.start(Time::ZERO);
    client.on_event(Time::ZERO, &Event::Connected, &mut fetches, &mut wires);
    for field in ["content-length: 7", "transfer-encoding: chunked"] {
        wires.line(0).incoming.extend(format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n").as_bytes());
        client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
    }
    assert!(fetches.results().iter().all(|result| result.is_complete() && result.bytes == 0));
}

/// RFC 9112 section 9.3.1: a request whose connection ended before the response started is retried on another one.
#[test]
fn a_connection_that_ends_is_replaced() {
    let (mut client, mut fetches, mut wires) = client(&["/5"], 2);
    wires.line(0).ended = true;
    client.on_event(Time::ZERO, &Event::Readable(stream(0)), &mut fetches, &mut wires);
    assert_eq!((wires.opened, wires.line(0).finished), (2, true));
    client.on_event(Time::ZERO, &Event::Writable(stream(1)), &mut fetches, &mut wires);
    assert!(wires.text(1).starts_with("GET /5 "));
}
