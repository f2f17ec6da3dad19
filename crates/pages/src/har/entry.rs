//! An entry of an archive: a request and its response.
//!
//! Members whose names begin with `_` are specific to the tool that wrote the archive (HAR 1.2). They are ignored
//! unless they have the form written by Chromium, WebKit or WebPageTest.

use super::json::Node;
use super::left_out::{Doubt, Unused};
use super::{priority, sizes, time};
use crate::Kind;
use http::Priority;
use std::sync::Arc;

/// The maximum duration of an entry in milliseconds: eleven days.
const MAX_MS: f64 = 1e9;
/// The `time` of an entry may differ from the sum of its timings by the larger of these two, in milliseconds and as a share of
/// the greater value: tools round, and some time is in none of the timings. Both limits are ours.
const NEAR_MS: f64 = 20.0;
const NEAR: f64 = 0.25;
/// The maximum number of stack frames searched for the initiator of an object.
const MAX_FRAMES: usize = 64;

/// An entry that used the network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The number in the archive, counted from 1.
    pub(super) number: usize,
    /// The id of its page.
    pub(super) page: Option<String>,
    /// What it says that cannot all be true, or does not say.
    pub(super) doubts: [Option<Doubt>; 5],
    /// The URL without its fragment.
    pub(super) url: String,
    /// The host in the URL.
    pub(super) host: Option<Arc<str>>,
    /// The target of a redirect.
    pub(super) redirects_to: Option<String>,
    /// The possible initiators, the most likely first.
    pub(super) initiators: Vec<String>,
    /// The times of the request, of the first byte and of the last byte, in nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) first_byte: u64,
    pub(super) end: u64,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    pub(super) header_bytes: u64,
    pub(super) request_bytes: u64,
    pub(super) priority: Priority,
}

impl Entry {
    /// Reads an entry, or says why it did not use the network. `zone` is that of times without one, if other times have one.
    pub(super) fn read(
        node: &Node<'_>,
        number: usize,
        zone: Option<i64>,
    ) -> Result<Result<Entry, Unused>, String> {
        let Some(request) = node.get("request").filter(Node::is_object) else {
            return Ok(Err(Unused::Unreadable));
        };
        let Some((response, status)) = answered(node)? else { return Ok(Err(Unused::NeverMade)) };
        let method = request.get("method").and_then(|method| method.text().ok());
        if method.is_some_and(|method| method.trim().eq_ignore_ascii_case("CONNECT")) {
            return Ok(Err(Unused::Connect));
        }
        let Some(url) = request.get("url") else { return Ok(Err(Unused::Unreadable)) };
        let url = url.text()?;
        if !is_http(url) {
            return Ok(Err(Unused::NotHttp));
        }
        if is_local(node, status, &response)? {
            return Ok(Err(Unused::Local));
        }
        let Some(started) = node.get("startedDateTime").filter(Node::is_something) else {
            return Ok(Err(Unused::Unreadable));
        };
        let text = started.text()?;
        let start = time::nanos(text, zone.unwrap_or(0))
            .or_else(|| time::is_before(text).then_some(0))
            .ok_or_else(|| started.wrong("a time as \"2026-03-01T09:05:00.123Z\""))?;
        let no_zone = zone.filter(|_| start > 0 && time::zone_of(text).is_none()).map(|_| Doubt::Zone);
        let (took, of_time) = took(node)?;
        let is_pushed = |pushed: Node<'_>| pushed.is_something();
        let pushed = node.get("_was_pushed").is_some_and(is_pushed).then_some(Doubt::Pushed);
        let receive = timing(node, "receive")?.unwrap_or(0.0).min(took);
        let nanos = |ms: f64| start + (ms * 1e6).round() as u64;
        let sizes = sizes::of(&request, &response, status)?;
        let (request_bytes, of_request) = sizes::of_request(&request)?;
        Ok(Ok(Entry {
            number,
            page: node.get("pageref").and_then(|page| page.name()).filter(|page| !page.is_empty()),
            doubts: [sizes.doubt, of_request, no_zone, of_time, pushed],
            url: without_fragment(url).to_owned(),
            host: host(url),
            redirects_to: redirect(&response, status, url)?,
            initiators: initiators(node),
            start,
            first_byte: nanos(took - receive),
            end: nanos(took),
            kind: kind(node, &response)?,
            bytes: sizes.bytes,
            header_bytes: sizes.header_bytes,
            request_bytes,
            priority: priority::of(node, &request, &response, url)?,
        }))
    }
}

impl Entry {
    /// Moves it to another time.
    pub(super) fn begin_at(&mut self, start: u64) {
        self.first_byte = start + (self.first_byte - self.start);
        self.end = start + (self.end - self.start);
        self.start = start;
    }
}

/// The response and its status. Returns `None` if no answer came over the network: a request that was blocked or given
/// up has the status 0, or none; one that WebPageTest expected and that was never made has -1 or -2; browsermob-proxy
/// writes -999, and WebPageTest the error codes of Windows.
fn answered<'a>(node: &Node<'a>) -> Result<Option<(Node<'a>, i64)>, String> {
    let Some(response) = node.get("response") else { return Ok(None) };
    let status = response.get("status").map_or(Ok(0), |status| status.whole())?;
    Ok((100..1_000).contains(&status).then_some((response, status)))
}

/// How long an entry took, in milliseconds: its time unless that is negative, otherwise the sum of its timings. HAR 1.2
/// defines both as the same; where they are far apart, the sum is taken, and that is a doubt. The time of `ssl` is in
/// `connect`.
fn took(node: &Node<'_>) -> Result<(f64, Option<Doubt>), String> {
    let stated = node.get("time").map(|time| millis(&time)).transpose()?;
    let (mut sum, mut queued) = (None, 0.0);
    for name in ["blocked", "dns", "connect", "send", "wait", "receive"] {
        if let Some(part) = timing(node, name)? {
            sum = Some(sum.unwrap_or(0.0) + part);
            queued = if name == "blocked" { part } else { queued };
        }
    }
    if let Some(Some(time)) = stated {
        // Some leave out what an entry waited for a connection.
        let is_near = |sum: f64| (time - sum).abs() <= NEAR_MS.max(NEAR * sum.max(time));
        return Ok(match sum.filter(|sum| *sum > 0.0 && !is_near(*sum) && !is_near(*sum - queued)) {
            Some(sum) => (sum, Some(Doubt::Timings)),
            None => (time, None),
        });
    }
    let unknown = || "no time, and no timings whose sum it is".to_owned();
    sum.or(stated.map(|_| 0.0)).map(|took| (took, None)).ok_or_else(unknown)
}

/// A member of `timings` in milliseconds. Negative ones do not apply.
fn timing(node: &Node<'_>, name: &str) -> Result<Option<f64>, String> {
    let Some(part) = node.get("timings").and_then(|timings| timings.get(name)) else { return Ok(None) };
    let ms = part.number()?.max(0.0);
    if ms > MAX_MS {
        return Err(part.wrong("milliseconds up to 1000000000"));
    }
    Ok(Some(ms))
}

/// Whether a response came from a cache, from a service worker, or from the browser itself.
fn is_local(entry: &Node<'_>, status: i64, response: &Node<'_>) -> Result<bool, String> {
    if ["_fromCache", "fromCache"].iter().filter_map(|name| entry.get(name)).any(|cache| cache.is_something())
    {
        return Ok(true);
    }
    // WebKit: "Network Load", "Memory Cache", "Disk Cache" or "Service Worker".
    let fetched = entry.get("_fetchType").and_then(|fetched| fetched.text().ok());
    if fetched.is_some_and(|fetched| fetched != "Network Load") {
        return Ok(true);
    }
    // Responses generated by Chromium, such as HSTS redirects to https, have this field.
    if let Some(fields) = response.get("headers")
        && fields.items()?.iter().any(|field| sizes::is_named(field, "non-authoritative-reason"))
    {
        return Ok(true);
    }
    let is_zero = |size: Option<u64>| size.is_none_or(|bytes| bytes == 0);
    let transferred = sizes::known(response.get("_transferSize"))?;
    let is_true = |worker: Node<'_>| worker.is_true();
    if entry.get("_fetchedViaServiceWorker").is_some_and(is_true) && is_zero(transferred) {
        return Ok(true);
    }
    // HAR 1.2: bodySize is 0 for cached responses. It is also 0 for 304, a response from the network that permits the
    // use of the cache.
    let content = sizes::known(response.get("content").and_then(|content| content.get("size")))?;
    let body = sizes::known(response.get("bodySize"))?;
    // Chromium measures 0 bytes for them; where it measured nothing, it has no such member.
    let is_unsent = match transferred {
        Some(0) => is_zero(body),
        None => body == Some(0),
        Some(_) => false,
    };
    Ok(status != 304 && is_unsent && !is_zero(content))
}

fn is_http(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

/// The host of an absolute URL, in lower case, without a user and a port (RFC 3986 section 3.2).
fn host(url: &str) -> Option<Arc<str>> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let address = authority.rsplit('@').next()?;
    let end = match address.find(']') {
        Some(bracket) => bracket + 1,
        None => address.find(':').unwrap_or(address.len()),
    };
    let host = address[..end].trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then(|| host.into())
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Milliseconds; `None` for negative ones: -1 is "does not apply" (HAR 1.2, timings), and clocks that were set give others.
fn millis(node: &Node<'_>) -> Result<Option<f64>, String> {
    match node.number()? {
        ms if ms > MAX_MS => Err(node.wrong("milliseconds up to 1000000000")),
        ms => Ok((ms >= 0.0).then_some(ms)),
    }
}

fn kind(entry: &Node<'_>, response: &Node<'_>) -> Result<Kind, String> {
    if let Some(resource) = priority::resource_type(entry) {
        return Ok(if resource == "document" { Kind::Main } else { Kind::Embedded });
    }
    let media_type = priority::media_type(response)?;
    let is_document = ["text/html", "application/xhtml+xml"].contains(&media_type.as_str());
    Ok(if is_document { Kind::Main } else { Kind::Embedded })
}

/// The target of a redirect, relative to the URL of the request (RFC 3986 section 5.2, without dot segments).
fn redirect(response: &Node<'_>, status: i64, url: &str) -> Result<Option<String>, String> {
    let stated = response.get("redirectURL").map(|target| target.text()).transpose()?;
    let of_field = || sizes::field(response, "location").filter(|_| (300..400).contains(&status));
    let target = stated.filter(|target| !target.is_empty()).or_else(of_field);
    let target = without_fragment(target.unwrap_or("").trim());
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

/// The URL of WebPageTest's `_initiator`; of Chromium's the document or style sheet, otherwise the scripts on the stack, the innermost first.
fn initiators(entry: &Node<'_>) -> Vec<String> {
    let mut urls = Vec::new();
    let mut add = |node: &Node<'_>| {
        if let Some(url) = node.get("url").and_then(|url| url.text().ok()).filter(|url| is_http(url)) {
            urls.push(without_fragment(url).to_owned());
        }
    };
    let Some(initiator) = entry.get("_initiator") else { return urls };
    // WebPageTest writes the URL itself.
    if let Ok(url) = initiator.text() {
        return if is_http(url) { vec![without_fragment(url).to_owned()] } else { urls };
    }
    add(&initiator);
    let mut left = MAX_FRAMES;
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
