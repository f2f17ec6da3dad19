//! URLs that can be fetched: `https://host[:port]/path[?query]` (RFC 9110 section 4.2.2).

use crate::error::LiveError;
use http::Target;
use std::net::Ipv6Addr;

/// The port of `https`.
const HTTPS: u16 = 443;
/// The longest URL that is read.
const MAX_URL: usize = 16_384;
/// The longest name of a host (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;

/// A URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    host: String,
    port: u16,
    path: String,
    name: String,
}

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`LiveError::Url`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Url, LiveError> {
        let wrong = |why| LiveError::Url(text.chars().take(200).collect(), why);
        if text.len() > MAX_URL {
            return Err(wrong("it is too long"));
        }
        let rest = text.strip_prefix("https://").ok_or_else(|| wrong("it must begin with https://"))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(wrong("it must not have a user in it"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(|| wrong("a ] is missing"))?;
                host.parse::<Ipv6Addr>().map_err(|_| wrong("what stands in [] is no IPv6 address"))?;
                (host, port)
            }
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => HTTPS,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("its port is none"))?
            }
            _ => return Err(wrong("its port is none")),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
        if host.is_empty() || host.len() > MAX_HOST || !host.bytes().all(is_name) {
            return Err(wrong("its host is none"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let target = Target::parse(path.as_bytes()).map_err(|_| wrong("its path is none"))?;
        let name = target.segments.last().filter(|_| !target.is_folder);
        let name = name.cloned().unwrap_or_else(|| "index.html".to_owned());
        Ok(Url { text: text.to_owned(), host: host.to_owned(), port, path, name })
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
    /// The name of the host, or its IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }
    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
    /// Host and port as HTTP has them.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == HTTPS { host } else { format!("{host}:{}", self.port) }
    }
    /// Path and query, percent-encoded.
    pub fn path(&self) -> &str {
        &self.path
    }
    /// The name of the file that it is written to: the last part of the path, `index.html` for a folder.
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
