//! Requests and responses that arrive in any two pieces, with their end in a packet of its own.

use crate::bed::Bed;
use crate::script::Script;
use crate::shelf::{Basket, Shelf, content};
use http::frame;
use http::qpack::{self, Field};
use transport::{Application, Data, Event, Streams};
use units::{Duration, Time};
use web::{Request, VirtualSite, WebClient, WebServer};
use wire::{Direction, Side, StreamId};

const ALPNS: [&[u8]; 2] = [b"h3", b"hq-interop"];
const FIRST: StreamId = StreamId::from_value(0);

/// What follows a message whose bytes are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The end, together with the last bytes.
    Together,
    /// The end alone.
    Apart,
}
const ENDS: [End; 2] = [End::Together, End::Apart];

fn section(lines: &[(&'static str, &'static str)]) -> Vec<u8> {
    let fields: Vec<Field> = lines.iter().map(|(name, value)| Field::new(*name, *value)).collect();
    let (mut section, mut out) = (Vec::new(), Vec::new());
    qpack::encode(&mut section, &fields);
    frame::encode(&mut out, frame::HEADERS, &section);
    out
}
fn request(alpn: &[u8], method: &'static str, path: &'static str) -> Vec<u8> {
    match alpn {
        b"h3" => section(&[(":method", method), (":scheme", "https"), (":authority", "a"), (":path", path)]),
        _ => format!("GET {path}\r\n").into_bytes(),
    }
}
fn response(alpn: &[u8]) -> Vec<u8> {
    let body = content("whole/300", 300);
    if alpn != b"h3" {
        return body;
    }
    let mut out = section(&[(":status", "103")]);
    out.extend(section(&[(":status", "200"), ("content-length", "300")]));
    frame::encode(&mut out, frame::DATA, &body[..100]);
    frame::encode(&mut out, 0x21, b"reserved");
    frame::encode(&mut out, frame::DATA, &body[100..]);
    out.extend(section(&[("trailer", "x")]));
    out
}

/// Sends a message to an application on its first stream, in two pieces.
fn send(to: &mut dyn Application, script: &mut Script, (bytes, cut): (&[u8], usize), end: End) {
    script.send(to, 0, &bytes[..cut], false);
    script.send(to, 0, &bytes[cut..], end == End::Together);
    if end != End::Together {
        script.send(to, 0, b"", true);
    }
}

/// A server that has received the parameters of its client.
fn server(alpn: &'static [u8]) -> (WebServer, Script) {
    let (mut server, mut script) = (WebServer::new(Box::new(Shelf::default())), Script::of(Side::Server));
    script.alpn = alpn;
    server.on_event(Time::ZERO, &Event::Connected, &mut script);
    (server, script)
}

/// RFC 9000 section 2.2: the end of a stream may come alone, long after its data.
#[test]
fn a_server_answers_a_request_in_any_two_pieces() {
    for alpn in ALPNS {
        for method in ["GET", "POST"] {
            let bytes = request(alpn, method, "/whole/3000");
            let (mut whole, mut expected) = server(alpn);
            send(&mut whole, &mut expected, (&bytes, bytes.len()), End::Together);
            let expected = expected.written.remove(&FIRST).unwrap();
            for cut in 0..=bytes.len() {
                for end in ENDS {
                    let (mut server, mut script) = server(alpn);
                    send(&mut server, &mut script, (&bytes, cut), end);
                    assert_eq!(script.written.get(&FIRST), Some(&expected), "{method} {cut} {end:?}");
                    assert!(script.resets.is_empty() && script.closed.is_none(), "{method} {cut} {end:?}");
                    assert_eq!(script.finished.iter().filter(|stream| **stream == FIRST).count(), 1);
                    assert!(server.is_idle(), "{method} {cut} {end:?}");
                }
            }
        }
    }
}

/// RFC 9000 section 3.1: a client that has sent its whole request may reset the stream instead of ending it. The
/// response is not cut, whether it waits, is being written or is handed over.
#[test]
fn a_reset_in_place_of_the_end_of_a_complete_request_cuts_no_response() {
    let lines = [&b"GET /whole/3000\r\n"[..], b"GET /whole/3000\r\nmore", b"GET /whole/3000\n"];
    for line in lines {
        let (mut server, mut script) = server(ALPNS[1]);
        script.send(&mut server, 0, line, false);
        script.send(&mut server, 0, b"and more", false);
        script.reset_by_peer(&mut server, 0, 7);
        assert_eq!(script.written[&FIRST], content("whole/3000", 3000));
        assert!(script.resets.is_empty() && server.is_idle());
    }
    // An incomplete request has no response.
    let (mut server, mut script) = server(ALPNS[1]);
    script.send(&mut server, 0, b"GET /whole", false);
    script.reset_by_peer(&mut server, 0, 7);
    assert!(script.resets.contains_key(&FIRST) && script.written.is_empty() && server.is_idle());
    // A method that the server refuses at once, and whose client then gives up the content.
    let (mut server, mut script) = self::server(ALPNS[0]);
    script.send(&mut server, 0, &request(ALPNS[0], "POST", "/1"), false);
    script.reset_by_peer(&mut server, 0, 7);
    assert!(!script.written[&FIRST].is_empty() && script.resets.is_empty() && server.is_idle());
}

#[test]
fn a_client_reads_a_response_in_any_two_pieces() {
    for alpn in ALPNS {
        let bytes = response(alpn);
        for cut in 0..=bytes.len() {
            for end in ENDS {
                let basket = Basket::default();
                let requests = vec![Request::get("/whole/300"), Request::get("/next")];
                let mut client = WebClient::new("a", requests, 1, Box::new(basket.clone()));
                let mut script = Script::of(Side::Client);
                script.alpn = alpn;
                client.on_event(Time::ZERO, &Event::Connected, &mut script);
                send(&mut client, &mut script, (&bytes, cut), end);
                assert_eq!(basket.get(0).bytes, content("whole/300", 300), "{cut} {end:?}");
                assert!(client.results()[0].is_complete(), "{cut} {end:?}");
                assert!(script.resets.is_empty() && script.closed.is_none(), "{cut} {end:?}");
            }
        }
    }
}

/// The same over two endpoints: each piece is a packet of its own, 50 ms apart, while the response is under way.
#[test]
fn a_large_response_survives_the_late_end_of_its_request() {
    for alpn in ALPNS {
        let bytes = request(alpn, "GET", "/1000000");
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            // A request of its own, whose response takes long, so that the connection stays open.
            let requests = vec![Request::get("/1?think=60000000000")];
            let client = WebClient::new("server", requests, 1, Box::new(Basket::default()));
            let mut bed = Bed::new(alpn, client, WebServer::new(Box::new(VirtualSite)));
            let pause = Duration::from_millis(50);
            bed.run_until(pause, |_| false);
            let stream = bed.on_client(|_, transport| {
                let stream = transport.open(Direction::Bidirectional).unwrap();
                transport.write(stream, Data::Bytes(&bytes[..cut])).unwrap();
                stream
            });
            bed.run_until(pause, |_| false);
            bed.on_client(|_, transport| transport.write(stream, Data::Bytes(&bytes[cut..])).unwrap());
            bed.run_until(pause, |_| false);
            bed.on_client(|_, transport| transport.finish(stream).unwrap());
            let (mut received, mut finished) = (0, false);
            bed.run_until(Duration::from_secs(20), |bed| {
                bed.on_client(|_, transport| {
                    while let Ok(read) = transport.discard(stream) {
                        received += read.bytes;
                        finished |= read.finished;
                        if read.bytes == 0 {
                            break;
                        }
                    }
                });
                finished
            });
            assert!(finished && received >= 1_000_000, "{cut}: {received}");
        }
    }
}
