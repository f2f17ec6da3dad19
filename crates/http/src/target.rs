//! Request targets: from the bytes of `:path` to path segments (RFC 3986).

use std::fmt;

/// The maximum length of a target in bytes as sent, including percent-encoding. (RFC 9110 section 4.1 recommends to
/// support at least 8000.)
pub const MAX_TARGET: usize = 8192;

/// The target of a request: an absolute path, split into names, and a query.
///
/// The path consists of segments separated by `/`. Each is percent-decoded (RFC 3986 section 2.1) and must be UTF-8
/// without control characters, `/` or `\`, so that it can serve as a single name. Then dot segments are removed
/// (section 5.2.4), where `%2e` is a dot as well, and empty segments except the last are dropped: `/a/./b//c/../d` is
/// `a`, `b`, `d`. A path that leads above its root is refused rather than clipped. No remaining segment is `.` or
/// `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The names, outermost first; none for `/`.
    pub segments: Vec<String>,
    /// Whether the path ends with `/`, as that of a folder. True for `/` itself.
    pub is_folder: bool,
    /// The text after `?`, as sent.
    pub query: Option<String>,
}

/// Why a target is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadTarget {
    /// It does not begin with `/`.
    Relative,
    /// It is longer than [`MAX_TARGET`].
    TooLong,
    /// It contains a character that RFC 3986 section 3.3 does not allow, or a `%` without two hexadecimal digits.
    Malformed,
    /// A segment cannot be a name: it is not UTF-8, or contains a control character, `/` or `\`.
    Segment,
    /// It leads above its root.
    AboveRoot,
}

impl fmt::Display for BadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadTarget::Relative => "the path does not begin with /",
            BadTarget::TooLong => "the path is too long",
            BadTarget::Malformed => "the path has characters that are not allowed",
            BadTarget::Segment => "a segment of the path is not a valid name",
            BadTarget::AboveRoot => "the path leads above its root",
        })
    }
}
impl std::error::Error for BadTarget {}

impl Target {
    /// Parses a `:path` (RFC 9114 section 4.3.1).
    ///
    /// # Errors
    /// See [`BadTarget`].
    pub fn parse(text: &[u8]) -> Result<Target, BadTarget> {
        if text.len() > MAX_TARGET {
            return Err(BadTarget::TooLong);
        }
        let (path, query) = match text.iter().position(|byte| *byte == b'?') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let path = path.strip_prefix(b"/").ok_or(BadTarget::Relative)?;
        let query = query.map(read_query).transpose()?;
        let mut segments: Vec<String> = Vec::new();
        let mut is_folder = true;
        for raw in path.split(|byte| *byte == b'/') {
            let segment = decode(raw)?;
            is_folder = matches!(segment.as_str(), "" | "." | "..");
            match segment.as_str() {
                "" | "." => {}
                ".." => drop(segments.pop().ok_or(BadTarget::AboveRoot)?),
                _ => segments.push(segment),
            }
        }
        Ok(Target { segments, is_folder, query })
    }
}

/// RFC 3986 section 3.3: pchar without percent-encoding.
fn is_path_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

fn decode(raw: &[u8]) -> Result<String, BadTarget> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte == b'%' {
            let Some((digits, behind)) = rest.split_first_chunk::<2>() else {
                return Err(BadTarget::Malformed);
            };
            bytes.push(hexadecimal(*digits).ok_or(BadTarget::Malformed)?);
            rest = behind;
        } else if is_path_character(byte) {
            bytes.push(byte);
        } else {
            return Err(BadTarget::Malformed);
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| BadTarget::Segment)?;
    if text.chars().any(|character| character.is_control() || matches!(character, '/' | '\\')) {
        return Err(BadTarget::Segment);
    }
    Ok(text)
}

fn hexadecimal(digits: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(digits[0])? * 16 + digit(digits[1])?) as u8)
}

/// RFC 3986 section 3.4. Percent-encoding is checked but not decoded.
fn read_query(raw: &[u8]) -> Result<String, BadTarget> {
    let mut rest = raw;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte == b'%' {
            let (digits, behind) = rest.split_first_chunk::<2>().ok_or(BadTarget::Malformed)?;
            hexadecimal(*digits).ok_or(BadTarget::Malformed)?;
            rest = behind;
        } else if !is_path_character(byte) && !b"/?".contains(&byte) {
            return Err(BadTarget::Malformed);
        }
    }
    String::from_utf8(raw.to_vec()).map_err(|_| BadTarget::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> Result<(Vec<String>, bool), BadTarget> {
        Target::parse(text.as_bytes()).map(|target| (target.segments, target.is_folder))
    }
    fn names(names: &[&str], is_folder: bool) -> Result<(Vec<String>, bool), BadTarget> {
        Ok((names.iter().map(|name| (*name).to_owned()).collect(), is_folder))
    }

    /// The first two are from RFC 3986 section 5.2.4.
    #[test]
    fn dots_and_empty_segments_are_removed() {
        assert_eq!(parts("/a/b/c/./../../g"), names(&["a", "g"], false));
        assert_eq!(parts("/mid/content=5/../6"), names(&["mid", "6"], false));
        assert_eq!(parts("/"), names(&[], true));
        assert_eq!(parts("/a//b/"), names(&["a", "b"], true));
        assert_eq!(parts("/a/.."), names(&[], true));
        assert_eq!(parts("/a/%2E"), names(&["a"], true));
        assert_eq!(parts("/..."), names(&["..."], false));
    }

    #[test]
    fn percent_encoding_is_decoded_once() {
        assert_eq!(parts("/a%20b/%C3%A9/%2525"), names(&["a b", "é", "%25"], false));
        for bad in ["/%", "/%4", "/%zz", "/%+1", "/a b", "/a\u{e9}", "/a#b", "/a\"", "/?%2", "/?a b"] {
            assert_eq!(parts(bad), Err(BadTarget::Malformed), "{bad}");
        }
    }

    #[test]
    fn no_path_leads_above_the_root() {
        for bad in ["/..", "/a/../..", "/%2e%2e/etc/passwd", "/.%2E/x", "/a/../../b"] {
            assert_eq!(parts(bad), Err(BadTarget::AboveRoot), "{bad}");
        }
        for bad in ["/a%2Fb", "/..%2f", "/a%5cb", "/a%00", "/%0d%0a", "/%ff", "/%7f"] {
            assert_eq!(parts(bad), Err(BadTarget::Segment), "{bad}");
        }
        for bad in ["", "a", "*", "http://host/", "?a"] {
            assert_eq!(parts(bad), Err(BadTarget::Relative), "{bad}");
        }
        assert_eq!(parts(&format!("/{}", "a".repeat(MAX_TARGET))), Err(BadTarget::TooLong));
    }

    #[test]
    fn the_query_is_left_as_it_is() {
        let target = Target::parse(b"/a?x=%2F/../?y").unwrap();
        assert_eq!((target.segments, target.query.as_deref()), (vec!["a".to_owned()], Some("x=%2F/../?y")));
        assert_eq!(Target::parse(b"/a?").unwrap().query.as_deref(), Some(""));
    }

    proptest! {
        #[test]
        fn no_segment_is_more_than_a_name(bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"/.%2eE5cC".to_vec())], 0..60))
        {
            let mut text = b"/".to_vec();
            text.extend(bytes);
            if let Ok(target) = Target::parse(&text) {
                for segment in &target.segments {
                    prop_assert!(!segment.is_empty() && segment != "." && segment != "..");
                    prop_assert!(!segment.contains(['/', '\\', '\0']));
                }
            }
        }
    }
}
