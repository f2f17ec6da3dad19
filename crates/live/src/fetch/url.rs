//! URLs for fetching: `https://host[:port]/path[?query]` (RFC 9110 section 4.2.2).

use crate::error::LiveError;
use http::Target;
use iri_string::types::UriStr;

/// The port of `https`.
const HTTPS: u16 = 443;
/// The maximum length of a URL.
const MAX_URL: usize = 16_384;
/// The maximum length of a host name (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;

/// A parsed URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    host: String,
    port: u16,
    path: String,
    name: String,
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`LiveError::Url`] with the reason.
    pub fn parse(text: &str) -> Result<Url, LiveError> {
        let wrong = |why: &str| LiveError::Url(text.chars().take(200).collect(), why.to_owned());
        if text.len() > MAX_URL {
            return Err(wrong("it is too long"));
        }
        if !text.starts_with("https://") {
            return Err(wrong("it must begin with https://"));
        }
        let uri = UriStr::new(text)
            .map_err(|error| wrong(&format!("{error}; expected https://HOST[:PORT]/PATH")))?;
        let authority = uri.authority_components().ok_or_else(|| wrong("it names no host"))?;
        if authority.userinfo().is_some() {
            return Err(wrong("it must not contain a user name"));
        }
        let port = match authority.port() {
            None | Some("") => HTTPS,
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| wrong("its port must be 1 to 65535"))?,
        };
        // RFC 3986 allows more characters in a name, and addresses of future versions.
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
        if host.is_empty() || host.len() > MAX_HOST || !host.bytes().all(is_name) {
            return Err(wrong("its host is neither a name nor an IP address"));
        }
        let path = if uri.path_str().is_empty() { "/" } else { uri.path_str() };
        let path = uri.query_str().map_or(path.to_owned(), |query| format!("{path}?{query}"));
        let target = Target::parse(path.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
        let name = target.segments.last().filter(|_| !target.is_folder);
        let name = name.cloned().unwrap_or_else(|| "index.html".to_owned());
        Ok(Url { text: text.to_owned(), host: host.to_owned(), port, path, name })
    }

    /// The original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
    /// The host name, or the IP address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }
    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
    /// Host and port, as in HTTP.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == HTTPS { host } else { format!("{host}:{}", self.port) }
    }
    /// Path and query, percent-encoded.
    pub fn path(&self) -> &str {
        &self.path
    }
    /// The name of the file to write: the last part of the path, or `index.html` for a folder.
    pub fn file_name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, authority, port, path, name) in [
            ("https://example.org", "example.org", 443, "/", "index.html"),
            (
                "https://example.org:4433/a/b%20c.txt?x=1#y",
                "example.org:4433",
                4433,
                "/a/b%20c.txt?x=1",
                "b c.txt",
            ),
            ("https://[::1]:443/x/", "[::1]", 443, "/x/", "index.html"),
            ("https://127.0.0.1:80?q", "127.0.0.1:80", 80, "/?q", "index.html"),
            ("https://example.org:?", "example.org", 443, "/?", "index.html"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!(
                (url.authority().as_str(), url.port(), url.path(), url.file_name()),
                (authority, port, path, name)
            );
        }
    }

    #[test]
    fn what_is_no_url_is_told() {
        for wrong in [
            "http://example.org/",
            "example.org",
            "https://",
            "https:///x",
            "https://a b/",
            "https://u@example.org/",
            "https://example.org:0/",
            "https://example.org:99999/",
            "https://example.org:x/",
            "https://[::1/",
            "https://[zz]/",
            "https://[v1.x]x/",
            "https://a,b/",
            "https://a%41/",
            "https://example.org/../x",
            "https://example.org/%2f",
            "https://example.org/a b",
            "https://example.org:+1/",
        ] {
            let error = Url::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("cannot be fetched"), "{wrong}: {error}");
        }
    }
}
