//! The rules of RFC 9112 for heads, followed and broken.

use super::{
    BadHead, HeadReader, MAX_HEAD, MAX_LINES, Message, Refused, read_request, read_response, write_request,
    write_response,
};
use crate::Priority;
use crate::message::{Malformed, RequestHead, ResponseHead};
use crate::qpack::Field;

fn request(text: &str) -> Result<Message<RequestHead>, Refused> {
    read_request(text.as_bytes())
}
fn response(text: &str) -> Result<Message<ResponseHead>, Malformed> {
    read_response(text.as_bytes())
}

#[test]
fn heads_are_found_in_any_pieces() {
    let bytes = b"\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\nrest";
    for step in 1..bytes.len() {
        let (mut reader, mut heads, mut rest) = (HeadReader::default(), Vec::new(), &bytes[..]);
        while heads.len() < 2 {
            let piece = &rest[..step.min(rest.len())];
            match reader.push(piece).unwrap() {
                Some((head, used)) => {
                    heads.push(String::from_utf8(head).unwrap());
                    rest = &rest[used..];
                }
                None => rest = &rest[piece.len()..],
            }
        }
        assert_eq!(heads, ["GET / HTTP/1.1\r\nhost: a", "GET /b HTTP/1.1"], "{step}");
        assert!(rest.starts_with(b"rest") && reader.is_empty());
    }
    assert_eq!(HeadReader::default().push(&[b'a'; MAX_HEAD + 1]), Err(BadHead::LongLine));
    let long = [b"GET / HTTP/1.1\r\n", &[b'a'; MAX_HEAD][..]].concat();
    assert_eq!(HeadReader::default().push(&long), Err(BadHead::TooLong));
    // Section 2.2: no empty line is skipped before a response.
    assert_eq!(HeadReader::of_responses().push(b"\r\n\r\n"), Ok(Some((Vec::new(), 4))));
    // Section 2.2: rejected at once, before the head is complete.
    for bad in ["GET / HTTP/1.1\nhost: a", "GET /\r HTTP/1.1", "\n", "\r\r"] {
        assert_eq!(HeadReader::default().push(bad.as_bytes()), Err(BadHead::LineEnd), "{bad:?}");
    }
}

#[test]
fn messages_round_trip() {
    let mut out = Vec::new();
    let fields = [Field::new("Priority", "u=1, i"), Field::new("content-length", "12")];
    write_request(&mut out, "GET", "/a?b", "host:1", &fields);
    let message = read_request(out.strip_suffix(b"\r\n\r\n").unwrap()).unwrap();
    assert_eq!((message.head.method.as_str(), message.head.path.as_deref()), ("GET", Some("/a?b")));
    assert_eq!((message.head.authority.as_deref(), message.closes), (Some("host:1"), false));
    assert_eq!(message.head.priority, Some(Priority { urgency: 1, incremental: true }));
    assert_eq!((message.head.content_length, message.is_chunked), (Some(12), false));

    let mut out = Vec::new();
    write_response(&mut out, 404, &fields[1..]);
    assert_eq!(out, b"HTTP/1.1 404 Not Found\r\ncontent-length: 12\r\n\r\n");
    let message = read_response(out.strip_suffix(b"\r\n\r\n").unwrap()).unwrap();
    assert_eq!((message.head.status, message.head.content_length), (404, Some(12)));
}

/// RFC 9112 sections 2.2, 3, 3.2, 5.1, 5.2 and 6.1.
#[test]
fn malformed_requests() {
    assert!(request("GET / HTTP/1.1\r\nhost: a").is_ok());
    for bad in [
        "",
        "GET / HTTP/1.1",
        "GET /\r\nhost: a",
        "GET  / HTTP/1.1\r\nhost: a",
        "GET / HTTP/1.1 \r\nhost: a",
        "GET / HTTP/1.\r\nhost: a",
        "GET / HTTP/11\r\nhost: a",
        "GET / http/1.1\r\nhost: a",
        "GET a HTTP/1.1\r\nhost: a",
        "GET http:/a HTTP/1.1\r\nhost: a",
        "GET http:///b HTTP/1.1\r\nhost: a",
        "GET http://u@a/b HTTP/1.1\r\nhost: a",
        "GET ftp://a/b HTTP/1.1\r\nhost: a",
        "GET http://a/b HTTP/1.1",
        "GET http://a/b HTTP/1.1\r\nhost: a\r\nhost: a",
        "GET a:80 HTTP/1.1\r\nhost: a",
        "CONNECT / HTTP/1.1\r\nhost: a",
        "GET / HTTP/1.0\r\nhost: a\r\nhost: b",
        "GET / HTTP/1.1\r\nhost: a b",
        "GET / HTTP/1.1\r\nhost: a/b",
        "GET * HTTP/1.1\r\nhost: a",
        "G(T / HTTP/1.1\r\nhost: a",
        "GET / HTTP/1.1\nhost: a",
        "GET / HTTP/1.1\r\nhost: a\rb",
        "GET / HTTP/1.1\r\nhost : a",
        "GET / HTTP/1.1\r\n host: a",
        "GET / HTTP/1.1\r\nhost: a\r\n folded",
        "GET / HTTP/1.1\r\nhost: a\r\nhost: a",
        "GET / HTTP/1.1\r\nhost:",
        "GET / HTTP/1.1\r\nhost: a\r\nfield",
        "GET / HTTP/1.1\r\nhost: a\r\n: b",
        "GET / HTTP/1.1\r\nhost: a\r\n:path: /b",
        "GET / HTTP/1.1\r\nhost: a\r\nb: \0",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1, 2",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked",
        "GET / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length : 5",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 5 5",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 0x5",
        // Section 6.3: the end of these is unknown.
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, gzip",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding:",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \"chunked\"",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked;a=b",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \x0bchunked",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked",
        "POST / HTTP/1.1\r\nhost: a\r\nconnection: \0",
    ] {
        assert_eq!(request(bad).map_err(|refused| refused.status), Err(400), "{bad:?}");
    }
    let many = "a: b\r\n".repeat(MAX_LINES);
    assert!(request(&format!("GET / HTTP/1.1\r\nhost: a\r\n{many}b: c")).is_err());
    assert!(request("OPTIONS * HTTP/1.1\r\nhost: a").is_ok());
}

/// RFC 9112 section 4.
#[test]
fn malformed_responses() {
    assert!(response("HTTP/1.1 200 ").is_ok());
    for bad in [
        "HTTP/1.1 200",
        "HTTP/1.1  200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/3 200 OK",
        "HTTP/1.1 200 O\0K",
        "HTTP/1.1 200 OK\r\na b: c",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2",
        "HTTP/1.1 200 OK\r\n folded: b",
        "HTTP/1.1 200 OK\r\na: b\r\n\tc\0",
        "HTTP/1.1 101 Switching Protocols",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 1",
        "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked",
    ] {
        assert!(response(bad).is_err(), "{bad:?}");
    }
}

/// RFC 9112 sections 6.1, 9.3 and 9.6.
#[test]
fn fields_of_the_connection() {
    for (text, closes, is_chunked) in [
        ("HTTP/1.1 200 OK", false, false),
        ("HTTP/1.7 200 OK", false, false),
        ("HTTP/1.1 200 OK\r\nConnection: foo, CLOSE", true, false),
        ("HTTP/1.0 200 OK", true, false),
        ("HTTP/1.0 200 OK\r\nconnection: keep-alive", false, false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: ,Chunked ,\r\nupgrade: h2c\r\nkeep-alive: 5", false, true),
    ] {
        let message = response(text).unwrap();
        assert_eq!((message.closes, message.is_chunked), (closes, is_chunked), "{text}");
    }
    let kept = |text| response(text).unwrap().is_kept_alive;
    assert!(kept("HTTP/1.0 200 OK\r\nconnection: keep-alive"));
    assert!(!kept("HTTP/1.1 200 OK\r\nconnection: keep-alive"));
    assert!(!kept("HTTP/1.0 200 OK\r\nconnection: keep-alive, close"));
}

/// RFC 9112 sections 3.2.1 to 3.2.4: the four forms of a target. Section 3.2.2: a server accepts the absolute form,
/// whose host overrides the field.
#[test]
fn forms_of_targets() {
    for (line, host, authority, path) in [
        ("GET /a?b", "h", "h", Some("/a?b")),
        ("GET http://x:80/a?b", "h", "x:80", Some("/a?b")),
        ("GET HTTPS://[::1]", "h", "[::1]", Some("/")),
        ("GET http://x?q", "h", "x", Some("/?q")),
        ("OPTIONS http://x", "h", "x", Some("*")),
        ("OPTIONS *", "h", "h", Some("*")),
        ("CONNECT x:443", "h", "x:443", None),
    ] {
        let head = request(&format!("{line} HTTP/1.1\r\nhost: {host}")).unwrap().head;
        assert_eq!((head.authority.as_deref(), head.path.as_deref()), (Some(authority), path), "{line}");
    }
    // Section 3.2: HTTP/1.0 does not require a host.
    let head = request("GET /a HTTP/1.0").unwrap().head;
    assert_eq!((head.authority, head.path.as_deref()), (None, Some("/a")));
}

/// RFC 9112 section 6.1, RFC 9110 section 15.6.6: valid requests that are not supported.
#[test]
fn unsupported_requests() {
    let status = |text| request(text).unwrap_err().status;
    assert_eq!(status("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked"), 501);
    assert_eq!(
        status("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked"),
        501
    );
    assert_eq!(status("GET / HTTP/2.0\r\nhost: a"), 505);
    assert_eq!(status("PRI * HTTP/2.0"), 505);
}

/// RFC 9110 section 10.1.1: expectations, which HTTP/1.0 does not have.
#[test]
fn a_request_may_delay_its_content() {
    let expects = |text| request(text).unwrap().head.expects_continue;
    assert!(expects("POST / HTTP/1.1\r\nhost: a\r\nExpect: 100-Continue"));
    assert!(expects("POST / HTTP/1.1\r\nhost: a\r\nexpect: x, 100-continue"));
    assert!(!expects("POST / HTTP/1.1\r\nhost: a\r\nexpect: x"));
    assert!(!expects("POST / HTTP/1.0\r\nhost: a\r\nexpect: 100-continue"));
}

/// RFC 9112 section 5.2: a client unfolds lines.
#[test]
fn a_client_unfolds_lines() {
    let text = "HTTP/1.1 200 OK\r\ncontent-type: text/plain;\r\n \t charset=utf-8 \r\ncontent-length:\r\n 7\r\n \r\nx: y";
    let head = response(text).unwrap().head;
    assert_eq!(head.content_type.as_deref(), Some("text/plain; charset=utf-8"));
    assert_eq!(head.content_length, Some(7));
}
