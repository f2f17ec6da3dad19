//! One entry of an archive: a request and its response.
//!
//! Members whose names begin with `_` are of the tool that wrote the archive (HAR 1.2). What is not of the form in which
//! Chromium writes them counts as not there.

use super::json::Node;
use super::time;
use crate::{Kind, MOST_BYTES};
use http::Priority;

/// The longest time of an entry in milliseconds: eleven days.
const MOST_MS: f64 = 1e9;
/// The most places of a script that are looked at to find what asked for an object.
const MOST_FRAMES: usize = 64;

/// An entry that went over the network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// Its place in the archive, from 1.
    pub(super) number: usize,
    /// The id of its page.
    pub(super) page: Option<String>,
    /// Without its fragment.
    pub(super) url: String,
    /// Where the response sends the client.
    pub(super) redirects_to: Option<String>,
    /// What may have asked for it, the likeliest first.
    pub(super) initiators: Vec<String>,
    /// When it was asked for, when its first byte came and when it was complete, in nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) begun: u64,
    pub(super) end: u64,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    pub(super) header_bytes: u64,
    pub(super) request_bytes: u64,
    pub(super) priority: Priority,
}

impl Entry {
    /// Reads an entry; `None` if it did not go over the network: it was in a cache, was blocked, or is no HTTP.
    pub(super) fn read(node: &Node<'_>, number: usize) -> Result<Option<Entry>, String> {
        let (request, response) = (node.need("request")?, node.need("response")?);
        let url = request.need("url")?.text()?;
        let status = response.need("status")?.whole()?;
        if status == 0 || !is_http(url) || is_local(node, status, &response)? {
            return Ok(None);
        }
        let started = node.need("startedDateTime")?;
        let start = time::nanos(started.text()?)
            .ok_or_else(|| started.wrong("a time as \"2026-03-01T09:05:00.123Z\""))?;
        let took = millis(&node.need("time")?)?;
        let receive = match node.get("timings").and_then(|timings| timings.get("receive")) {
            Some(receive) => millis(&receive)?.min(took),
            None => 0.0,
        };
        let nanos = |ms: f64| start + (ms * 1e6).round() as u64;
        let (bytes, header_bytes) = sizes(&response)?;
        Ok(Some(Entry {
            number,
            page: node.get("pageref").map(|page| page.text().map(str::to_owned)).transpose()?,
            url: without_fragment(url).to_owned(),
            redirects_to: redirect(&response, url)?,
            initiators: initiators(node),
            start,
            begun: nanos(took - receive),
            end: nanos(took),
            kind: kind(node, &response)?,
            bytes,
            header_bytes,
            request_bytes: request_bytes(&request)?,
            priority: priority(node, &request)?,
        }))
    }
}

/// Whether a response came from a cache, from a worker of the page, or from the browser itself.
fn is_local(entry: &Node<'_>, status: i64, response: &Node<'_>) -> Result<bool, String> {
    if entry.get("_fromCache").is_some() {
        return Ok(true);
    }
    // What Chromium makes up, as redirects to https that it knows of (HSTS), has this field.
    if let Some(fields) = response.get("headers") {
        for field in fields.items()? {
            if field.need("name")?.text()?.eq_ignore_ascii_case("non-authoritative-reason") {
                return Ok(true);
            }
        }
    }
    let is_none = |size: Option<u64>| size.is_none_or(|bytes| bytes == 0);
    let transferred = size(response.get("_transferSize"))?;
    let is_of_worker = |worker: Node<'_>| worker.is_true();
    if entry.get("_fetchedViaServiceWorker").is_some_and(is_of_worker) && is_none(transferred) {
        return Ok(true);
    }
    // HAR 1.2: bodySize is 0 for what came from a cache. It is so for 304 too, which says over the network that it may.
    let content = size(response.get("content").and_then(|content| content.get("size")))?;
    let body = size(response.get("bodySize"))?;
    Ok(status != 304 && body == Some(0) && !is_none(content) && is_none(transferred))
}

fn is_http(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Milliseconds; -1 is "does not apply" (HAR 1.2, timings).
fn millis(node: &Node<'_>) -> Result<f64, String> {
    match node.number()? {
        -1.0 => Ok(0.0),
        ms if (0.0..=MOST_MS).contains(&ms) => Ok(ms),
        _ => Err(node.wrong("milliseconds from 0 to 1000000000, or -1")),
    }
}

/// A number of bytes that may be unknown: absent, or -1. Chromium subtracts the size of fields that it never received, and so
/// has other negative numbers too.
fn size(node: Option<Node<'_>>) -> Result<Option<u64>, String> {
    let Some(node) = node else { return Ok(None) };
    match node.whole()? {
        ..0 => Ok(None),
        bytes if bytes <= MOST_BYTES as i64 => Ok(Some(bytes as u64)),
        _ => Err(node.wrong("bytes up to 1 TB, or -1")),
    }
}

/// Bytes of the content as it went over the network, and of the fields before it.
fn sizes(response: &Node<'_>) -> Result<(u64, u64), String> {
    let head = size(response.get("headersSize"))?;
    if let Some(body) = size(response.get("bodySize"))? {
        return Ok((body, head.map_or_else(|| fields(response), Ok)?));
    }
    // Chromium knows of HTTP/2 and HTTP/3 only what both are together.
    if let Some(transferred) = size(response.get("_transferSize"))?.filter(|bytes| *bytes > 0) {
        let head = head.unwrap_or(0).min(transferred);
        return Ok((transferred - head, head));
    }
    let content = response.need("content")?;
    let Some(whole) = size(content.get("size"))? else {
        return Err("neither response.bodySize nor response.content.size is known".to_owned());
    };
    let saved = match content.get("compression") {
        Some(saved) => saved.whole()?.max(0) as u64,
        None => 0,
    };
    Ok((whole.saturating_sub(saved), head.map_or_else(|| fields(response), Ok)?))
}

fn request_bytes(request: &Node<'_>) -> Result<u64, String> {
    let head = size(request.get("headersSize"))?;
    let head = head.map_or_else(|| fields(request), Ok)?;
    Ok(head + size(request.get("bodySize"))?.unwrap_or(0))
}

/// Bytes of the fields of a message as HTTP/1.1 writes them: `name: value` and the end of a line.
fn fields(message: &Node<'_>) -> Result<u64, String> {
    let mut bytes = 0;
    if let Some(fields) = message.get("headers") {
        for field in fields.items()? {
            bytes += (field.need("name")?.text()?.len() + field.need("value")?.text()?.len() + 4) as u64;
        }
    }
    Ok(bytes)
}

/// The field `priority` of the request (RFC 9218 section 5) if there is one, else what Chromium calls priority.
fn priority(entry: &Node<'_>, request: &Node<'_>) -> Result<Priority, String> {
    if let Some(fields) = request.get("headers") {
        for field in fields.items()? {
            if field.need("name")?.text()?.eq_ignore_ascii_case("priority") {
                let value = field.need("value")?.text()?;
                return Ok(Priority::parse(value.as_bytes()).unwrap_or_default());
            }
        }
    }
    let word = entry.get("_priority").and_then(|word| word.text().ok());
    // The words of Chromium's developer tools are HIGHEST, MEDIUM, LOW, LOWEST and IDLE of its network stack, which sends as
    // urgency how far below the highest one is (net/quic/quic_http_utils.cc).
    let urgency = match word {
        Some("VeryHigh") => 0,
        Some("High") => 1,
        Some("Medium") => 2,
        Some("Low") => 3,
        Some("VeryLow") => 4,
        _ => Priority::default().urgency,
    };
    Ok(Priority { urgency, ..Priority::default() })
}

fn kind(entry: &Node<'_>, response: &Node<'_>) -> Result<Kind, String> {
    if let Some(resource) = entry.get("_resourceType").and_then(|resource| resource.text().ok()) {
        return Ok(if resource == "document" { Kind::Main } else { Kind::Embedded });
    }
    let media_type = match response.get("content").and_then(|content| content.get("mimeType")) {
        Some(media_type) => media_type.text()?,
        None => "",
    };
    let bare = media_type.split(';').next().unwrap_or("").trim();
    let is_document =
        ["text/html", "application/xhtml+xml"].iter().any(|html| bare.eq_ignore_ascii_case(html));
    Ok(if is_document { Kind::Main } else { Kind::Embedded })
}

/// Where a response sends the client, seen from the address of the request (RFC 3986 section 5.2, without dot segments).
fn redirect(response: &Node<'_>, url: &str) -> Result<Option<String>, String> {
    let Some(target) = response.get("redirectURL") else { return Ok(None) };
    let target = without_fragment(target.text()?);
    if target.is_empty() {
        return Ok(None);
    }
    let host = url.find("://").map_or(0, |at| at + 3);
    let origin = url[host..].find(['/', '?', '#']).map_or(url, |at| &url[..host + at]);
    Ok(Some(if is_http(target) {
        target.to_owned()
    } else if target.starts_with("//") {
        format!("{}{target}", &url[..host.saturating_sub(2)])
    } else if target.starts_with('/') {
        format!("{origin}{target}")
    } else {
        let path = url[origin.len()..].split(['?', '#']).next().unwrap_or("");
        let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
        format!("{origin}{folder}{target}")
    }))
}

/// `_initiator` of Chromium: the document or style sheet, else the scripts that were running, the innermost first.
fn initiators(entry: &Node<'_>) -> Vec<String> {
    let mut urls = Vec::new();
    let mut add = |node: &Node<'_>| {
        if let Some(url) = node.get("url").and_then(|url| url.text().ok()).filter(|url| is_http(url)) {
            urls.push(without_fragment(url).to_owned());
        }
    };
    let Some(initiator) = entry.get("_initiator") else { return urls };
    add(&initiator);
    let mut left = MOST_FRAMES;
    let mut stack = initiator.get("stack");
    while let Some(here) = stack.filter(|_| left > 0) {
        left -= 1;
        let frames = here.get("callFrames").and_then(|frames| frames.items().ok()).unwrap_or_default();
        for frame in frames.iter().take(left) {
            add(frame);
        }
        left -= frames.len().min(left);
        stack = here.get("parent");
    }
    urls
}
