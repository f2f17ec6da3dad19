//! The meaning and validation of a message's fields (RFC 9114 sections 4.1.2 to 4.3).

use crate::Priority;
use crate::qpack::Field;
use std::fmt;

/// Why a message is malformed (RFC 9114 section 4.1.2): a stream error of type H3_MESSAGE_ERROR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
impl std::error::Error for Malformed {}

/// The header section of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The method as sent.
    pub method: String,
    /// The path and query; `None` for CONNECT.
    pub path: Option<String>,
    /// Host and port: from `:authority`, or from `host` if that is absent.
    pub authority: Option<String>,
    /// The priority in the field `priority` (RFC 9218 section 5), if present and valid.
    pub priority: Option<Priority>,
    /// The length of the content in bytes, if stated.
    pub content_length: Option<u64>,
    /// Whether the client waits for an interim response 100 before it sends the content (RFC 9110 section 10.1.1).
    pub expects_continue: bool,
}

/// The header section of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code, from 100 to 999.
    pub status: u16,
    /// The length of the content in bytes, if stated.
    pub content_length: Option<u64>,
    /// The type of the content, if stated.
    pub content_type: Option<String>,
}

impl RequestHead {
    /// Reads a request.
    ///
    /// # Errors
    /// If the request is malformed.
    pub fn read(fields: &[Field]) -> Result<RequestHead, Malformed> {
        RequestHead::read_with(fields, true)
    }

    /// Reads a request that may lack an authority, as in HTTP/1.0.
    pub(crate) fn read_with(fields: &[Field], needs_authority: bool) -> Result<RequestHead, Malformed> {
        let mut pseudo = [const { None::<&[u8]> }; 4];
        let rest = take_pseudo(fields, [b":method", b":scheme", b":authority", b":path"], &mut pseudo)?;
        let [method, scheme, authority, path] = pseudo;
        let regular = Regular::read(rest)?;
        // RFC 9114 section 4.3.1: all requests but CONNECT have exactly one of each.
        let method = method.ok_or(Malformed("a request without a method"))?;
        if method.is_empty() || !method.iter().all(|byte| is_token(*byte)) {
            return Err(Malformed("a method that is not a token"));
        }
        let authority = match (authority, regular.host) {
            // RFC 9114 4.3.1: "If both fields are present, they MUST contain the same value."
            (Some(authority), Some(host)) if authority != host => {
                return Err(Malformed("host and :authority differ"));
            }
            (authority, host) => authority.or(host),
        };
        if method == b"CONNECT" {
            // Section 4.4.
            if scheme.is_some() || path.is_some() || !authority.is_some_and(is_authority) {
                return Err(Malformed("CONNECT with a path or scheme, or without an authority"));
            }
        } else {
            check_target(method, scheme, path)?;
            match authority {
                None if !needs_authority => {}
                // Section 4.3.1, RFC 9110 section 7.2: the authority is present, not empty, and without user
                // information.
                Some(authority) if is_authority(authority) => {}
                _ if !is_of_http(scheme) => {}
                _ => return Err(Malformed("the authority is missing, or is not a host and port")),
            }
        }
        Ok(RequestHead {
            method: text(method)?,
            path: path.map(text).transpose()?,
            authority: authority.map(text).transpose()?,
            priority: regular.priority,
            content_length: regular.content_length,
            expects_continue: regular.expects_continue,
        })
    }
}

/// Whether the scheme has a mandatory authority and path (RFC 9114 section 4.3.1).
fn is_of_http(scheme: Option<&[u8]>) -> bool {
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https"))
}

/// Whether this is a host and port without user information (RFC 9110 section 7.2, RFC 3986 sections 3.2.2 and
/// 3.2.3).
fn is_authority(text: &[u8]) -> bool {
    let (host, port, is_of_host): (_, _, fn(u8) -> bool) = match text.strip_prefix(b"[") {
        Some(rest) => {
            let Some(end) = rest.iter().position(|byte| *byte == b']') else { return false };
            (&rest[..end], &rest[end + 1..], |byte| is_of_name(byte) || byte == b':')
        }
        None => {
            let end = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
            (&text[..end], &text[end..], is_of_name)
        }
    };
    let is_port = port
        .split_first()
        .is_none_or(|(colon, digits)| *colon == b':' && digits.iter().all(u8::is_ascii_digit));
    !host.is_empty() && host.iter().all(|byte| is_of_host(*byte)) && is_port
}

/// RFC 3986 section 3.2.2: reg-name.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte)
}

/// RFC 9114 section 4.3.1.
fn check_target(method: &[u8], scheme: Option<&[u8]>, path: Option<&[u8]>) -> Result<(), Malformed> {
    if scheme.is_none() {
        return Err(Malformed("a request without a scheme"));
    }
    let path = path.ok_or(Malformed("a request without a path"))?;
    if !is_of_http(scheme) {
        return Ok(());
    }
    // These schemes require a path that begins with a slash, or is the asterisk of OPTIONS.
    if path.first() == Some(&b'/') || (method == b"OPTIONS" && path == b"*") {
        Ok(())
    } else {
        Err(Malformed("a path that does not begin with /"))
    }
}

impl ResponseHead {
    /// Reads a response.
    ///
    /// # Errors
    /// If the response is malformed.
    pub fn read(fields: &[Field]) -> Result<ResponseHead, Malformed> {
        let mut pseudo = [None];
        let rest = take_pseudo(fields, [b":status"], &mut pseudo)?;
        let regular = Regular::read(rest)?;
        // RFC 9114 section 4.3.2: exactly one.
        let status = pseudo[0].ok_or(Malformed("a response without a status"))?;
        let status = match status {
            [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
                status.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
            }
            _ => return Err(Malformed("a status that is not three digits")),
        };
        // RFC 9114 section 4.5 and RFC 9113 section 8.6: Upgrade and status 101 do not exist; in HTTP/1.1 they are an
        // error if the client did not ask for another protocol (RFC 9110 section 7.8).
        if status == 101 {
            return Err(Malformed("status 101 without a request to upgrade"));
        }
        Ok(ResponseHead {
            status,
            content_length: regular.content_length,
            content_type: regular.content_type.map(|value| String::from_utf8_lossy(value).into_owned()),
        })
    }

    /// Whether another header section follows: an interim response (RFC 9110 section 15.2).
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }
    /// Whether a response with this status has no content (RFC 9110 section 6.4.1).
    pub fn is_empty(&self) -> bool {
        matches!(self.status, 204 | 304)
    }
}

/// Checks a trailer section (RFC 9114 section 4.3: no pseudo-header fields in it).
///
/// # Errors
/// If the message is malformed.
pub fn check_trailers(fields: &[Field]) -> Result<(), Malformed> {
    Regular::read(fields).map(drop)
}

/// Takes the pseudo-header fields with these names from the front, each at most once, and returns the remaining
/// fields.
fn take_pseudo<'a, const N: usize>(
    fields: &'a [Field],
    names: [&[u8]; N],
    values: &mut [Option<&'a [u8]>; N],
) -> Result<&'a [Field], Malformed> {
    let count = fields.iter().take_while(|field| field.name.starts_with(b":")).count();
    for Field { name, value } in &fields[..count] {
        // RFC 9114 section 4.3: unknown pseudo-header fields, and those of the other kind of message, are malformed.
        let at = names.iter().position(|known| **known == **name);
        let slot = &mut values[at.ok_or(Malformed("an undefined pseudo-header field"))?];
        if slot.is_some() {
            return Err(Malformed("a pseudo-header field occurs twice"));
        }
        check_value(value)?;
        *slot = Some(value);
    }
    Ok(&fields[count..])
}

/// The values read from regular fields.
#[derive(Default)]
struct Regular<'a> {
    host: Option<&'a [u8]>,
    content_length: Option<u64>,
    content_type: Option<&'a [u8]>,
    priority: Option<Priority>,
    expects_continue: bool,
}

impl<'a> Regular<'a> {
    fn read(fields: &'a [Field]) -> Result<Regular<'a>, Malformed> {
        let mut regular = Regular::default();
        // RFC 9110 section 5.3: lines with the same name form one value.
        let mut priority: Option<Vec<u8>> = None;
        for Field { name, value } in fields {
            check_field(name, value)?;
            match &**name {
                // RFC 9114 section 4.2: connection-specific fields are malformed.
                b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade" => {
                    return Err(Malformed("a connection-specific field"));
                }
                b"te" if !value.eq_ignore_ascii_case(b"trailers") => {
                    return Err(Malformed("te with a value other than trailers"));
                }
                // RFC 9110 section 7.2: there is a single Host.
                b"host" => once(&mut regular.host, value)?,
                b"content-length" => {
                    let length = content_length(value)?;
                    // RFC 9110 section 8.6: repetitions of the same value may be treated as one.
                    if regular.content_length.replace(length).is_some_and(|other| other != length) {
                        return Err(Malformed("content-length has two values"));
                    }
                }
                b"expect" => {
                    let mut expectations = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                    regular.expects_continue |=
                        expectations.any(|expected| expected.eq_ignore_ascii_case(b"100-continue"));
                }
                b"content-type" => regular.content_type = Some(value),
                b"priority" => match &mut priority {
                    None => priority = Some(value.to_vec()),
                    Some(all) => {
                        all.extend_from_slice(b", ");
                        all.extend_from_slice(value);
                    }
                },
                _ => {}
            }
        }
        regular.priority = priority.and_then(|value| Priority::parse(&value));
        Ok(regular)
    }
}

fn once<'a>(slot: &mut Option<&'a [u8]>, value: &'a [u8]) -> Result<(), Malformed> {
    if slot.replace(value).is_some() { Err(Malformed("host occurs twice")) } else { Ok(()) }
}

fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    // RFC 9110 section 8.6: a list of equal values may be treated as one.
    let mut values = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let first = values.next().unwrap_or_default();
    let digits = !first.is_empty() && first.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(first).ok().filter(|_| digits).and_then(|text| text.parse().ok());
    match number {
        Some(number) if values.all(|other| other == first) => Ok(number),
        _ => Err(Malformed("content-length is not a number")),
    }
}

/// Checks the lowercase name and the value of a field.
///
/// # Errors
/// If either is invalid.
pub(crate) fn check_field(name: &[u8], value: &[u8]) -> Result<(), Malformed> {
    check_name(name)?;
    check_value(value)
}

/// RFC 9110 section 5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// RFC 9114 sections 4.2 and 10.3: names are lowercase tokens. This also detects pseudo-header fields after regular
/// ones, because tokens contain no colon (section 4.3).
fn check_name(name: &[u8]) -> Result<(), Malformed> {
    if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
        return Err(Malformed("an invalid field name, or a misplaced pseudo-header field"));
    }
    if name.iter().any(u8::is_ascii_uppercase) {
        return Err(Malformed("a field name with uppercase letters"));
    }
    Ok(())
}

/// RFC 9114 section 10.3 and RFC 9110 section 5.5: no control characters except the tab.
fn check_value(value: &[u8]) -> Result<(), Malformed> {
    if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Malformed("a field value with control characters"));
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<String, Malformed> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Malformed("a pseudo-header field that is not ASCII"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GET: [(&str, &str); 4] =
        [(":method", "GET"), (":scheme", "https"), (":authority", "host"), (":path", "/a?b")];

    fn fields(lines: &[(&str, &str)]) -> Vec<Field> {
        lines.iter().map(|(name, value)| Field::new((*name).to_owned(), (*value).to_owned())).collect()
    }
    fn request(lines: &[(&str, &str)]) -> Result<RequestHead, Malformed> {
        RequestHead::read(&fields(lines))
    }
    fn response(lines: &[(&str, &str)]) -> Result<ResponseHead, Malformed> {
        ResponseHead::read(&fields(lines))
    }
    /// A GET with additional lines.
    fn get_and(lines: &[(&str, &str)]) -> Result<RequestHead, Malformed> {
        request(&[&GET[..], lines].concat())
    }

    #[test]
    fn a_request_is_read() {
        let head = get_and(&[
            ("content-length", "0"),
            ("priority", "u=1"),
            ("te", "trailers"),
            ("host", "host"),
            ("priority", "i"),
        ])
        .unwrap();
        assert_eq!((head.method.as_str(), head.path.as_deref()), ("GET", Some("/a?b")));
        assert_eq!((head.authority.as_deref(), head.content_length), (Some("host"), Some(0)));
        assert_eq!(head.priority, Some(Priority { urgency: 1, incremental: true }));
        // RFC 9114 section 4.3.1: host instead of :authority; the asterisk.
        let head = request(&[(":method", "OPTIONS"), (":scheme", "http"), (":path", "*"), ("host", "h")]);
        assert_eq!(head.unwrap().authority.as_deref(), Some("h"));
        assert_eq!(request(&[(":method", "CONNECT"), (":authority", "h:1")]).unwrap().path, None);
    }

    /// RFC 9114 sections 4.2, 4.3, 4.3.1, 4.4 and 10.3.
    #[test]
    fn malformed_requests() {
        for missing in 0..4 {
            let mut lines = GET.to_vec();
            let (name, value) = lines.remove(missing);
            assert!(request(&lines).is_err(), "without {name}");
            let twice = [&GET[..], &[(name, value)]].concat();
            assert!(request(&twice).is_err(), "{name} twice");
            lines.push((name, ""));
            assert!(request(&lines).is_err() || name == ":scheme", "{name} empty");
        }
        for bad in [
            ("A", "b"),
            ("", "b"),
            ("a b", "c"),
            ("a:", "c"),
            (":status", "200"),
            (":protocol", "websocket"),
            (":other", "x"),
            ("connection", "close"),
            ("keep-alive", "1"),
            ("proxy-connection", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"),
            ("a", "b\r\nc"),
            ("a", "b\0"),
            ("a", "\u{7f}"),
            ("content-length", "-1"),
            ("content-length", "+1"),
            ("content-length", ""),
            ("content-length", "1, 2"),
            ("content-length", "99999999999999999999999"),
            ("host", "another"),
        ] {
            assert!(get_and(&[bad]).is_err(), "{bad:?}");
        }
        assert!(get_and(&[("a", "b"), (":path", "/")]).is_err(), "pseudo-header fields come first");
        assert!(get_and(&[("content-length", "1"), ("content-length", "2")]).is_err());
        let with = |at: usize, value| {
            let mut lines = GET;
            lines[at].1 = value;
            request(&lines)
        };
        assert!(with(0, "GE T").is_err());
        assert!(with(0, "CONNECT").is_err());
        for bad in
            ["user@host", "a b", "a/b", "a:b", "a:1:2", "[::1", "[::1]x", "[]", ":80", "a\\b", "\u{e9}"]
        {
            assert!(with(2, bad).is_err(), "{bad}");
        }
        for good in ["a", "a:", "a:443", "1.2.3.4:80", "[::1]", "[2001:db8::1]:443", "x%41-._~"] {
            assert!(with(2, good).is_ok(), "{good}");
        }
        assert!(with(3, "a").is_err());
        assert!(with(3, "*").is_err());
        assert!(request(&[(":method", "CONNECT")]).is_err());
    }

    /// RFC 9110 section 8.6.
    #[test]
    fn a_content_length_may_be_repeated() {
        let head = get_and(&[("content-length", "7, 7"), ("content-length", "7")]).unwrap();
        assert_eq!(head.content_length, Some(7));
    }

    /// RFC 9114 sections 4.3.2 and 4.5.
    #[test]
    fn responses() {
        let head = response(&[(":status", "200"), ("content-type", "a/b"), ("content-length", "5")]).unwrap();
        assert_eq!((head.status, head.content_length), (200, Some(5)));
        assert_eq!(head.content_type.as_deref(), Some("a/b"));
        assert!(!head.is_interim() && !head.is_empty());
        assert!(response(&[(":status", "103")]).unwrap().is_interim());
        assert!(response(&[(":status", "304")]).unwrap().is_empty());
        for bad in ["", "20", "2000", "0200", "099", "abc", "+20", "101"] {
            assert!(response(&[(":status", bad)]).is_err(), "{bad}");
        }
        assert!(response(&[]).is_err());
        assert!(response(&[(":status", "200"), (":status", "200")]).is_err());
        assert!(response(&[(":status", "200"), (":path", "/")]).is_err());
        assert!(response(&[("a", "b"), (":status", "200")]).is_err());
    }

    /// RFC 9114 section 4.3.
    #[test]
    fn trailers() {
        assert_eq!(check_trailers(&fields(&[("etag", "x")])), Ok(()));
        assert!(check_trailers(&fields(&[(":status", "200")])).is_err());
        assert!(check_trailers(&fields(&[("Etag", "x")])).is_err());
    }

    proptest! {
        #[test]
        fn no_fields_panic(lines: Vec<(Vec<u8>, Vec<u8>)>) {
            let mut all = fields(&GET);
            all.extend(lines.into_iter().map(|(name, value)| Field { name: name.into(), value: value.into() }));
            let _ = RequestHead::read(&all);
            let _ = ResponseHead::read(&all);
            let _ = check_trailers(&all);
        }
    }
}
