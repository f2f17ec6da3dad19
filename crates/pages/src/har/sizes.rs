//! The sizes of a request and its response.

use super::json::Node;
use super::left_out::Doubt;
use crate::MAX_BYTES;

/// The sizes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The transferred content.
    pub(super) bytes: u64,
    /// The fields of the response.
    pub(super) header_bytes: u64,
    /// What the entry says that cannot all be true.
    pub(super) doubt: Option<Doubt>,
}

/// A number of bytes. It is unknown if absent or negative: -1 in the specification, but Chromium also subtracts the
/// size of fields that it never received.
pub(super) fn known(node: Option<Node<'_>>) -> Result<Option<u64>, String> {
    let Some(node) = node else { return Ok(None) };
    match node.whole()? {
        ..0 => Ok(None),
        bytes if bytes <= MAX_BYTES as i64 => Ok(Some(bytes as u64)),
        _ => Err(node.wrong("bytes up to 1 TB, or -1")),
    }
}

/// Whether a response has no content on the wire, whatever it says of it (RFC 9110 6.4.1).
fn is_bodiless(request: &Node<'_>, status: i64) -> bool {
    let method = request.get("method").and_then(|method| method.text().ok());
    matches!(status, 100..200 | 204 | 205 | 304)
        || method.is_some_and(|method| method.eq_ignore_ascii_case("HEAD"))
}

/// The transferred size of the content, and the size of its header fields.
pub(super) fn of(request: &Node<'_>, response: &Node<'_>, status: i64) -> Result<Sizes, String> {
    let head = known(response.get("headersSize"))?;
    let with = |bytes: u64, doubt| {
        Ok(Sizes { bytes, header_bytes: head.map_or_else(|| fields(response), Ok)?, doubt })
    };
    let body = known(response.get("bodySize"))?;
    let transferred = known(response.get("_transferSize"))?.filter(|bytes| *bytes > 0);
    if is_bodiless(request, status) {
        // The content is that of a cache, or what GET would have.
        let sizes = with(0, body.filter(|body| *body > 0).map(|_| Doubt::Bodiless))?;
        return Ok(Sizes { header_bytes: head.or(transferred).unwrap_or(sizes.header_bytes), ..sizes });
    }
    let content = response.get("content");
    let of_content = |name| content.as_ref().and_then(|content| content.get(name));
    let part = part(response).filter(|_| status == 206);
    let texts = content.as_ref().and_then(text_bytes);
    let stated = known(of_content("size"))?;
    // Exporters write 0 for sizes that they do not know.
    let has_text = stated.unwrap_or(0) == 0 && texts.is_some();
    let whole = if has_text { texts } else { stated };
    let has_content = whole.is_some_and(|bytes| bytes > 0);
    let packed = field(response, "content-encoding").is_some_and(is_packing);
    let length = content_length(response);
    let is_unknown = body == Some(0) && has_content;
    if let Some(body) = body.filter(|_| !is_unknown) {
        return match length.filter(|length| packed && (1..body).contains(length) && Some(body) == whole) {
            Some(length) => with(length, Some(Doubt::Packed)),
            None => with(body, None),
        };
    }
    // For HTTP/2 and HTTP/3, Chromium only has the sum of both.
    let mut doubt = is_unknown.then_some(Doubt::Body);
    if let Some(transferred) = transferred {
        match transferred.saturating_sub(head.unwrap_or(0)) {
            // Fields, which may be compressed, and nothing else.
            0 if whole.unwrap_or(0) == 0 => {
                return Ok(Sizes { bytes: 0, header_bytes: transferred, doubt });
            }
            0 => doubt = Some(Doubt::Transferred),
            bytes => {
                let expected = whole.or(part).unwrap_or(bytes).max(length.unwrap_or(0));
                let is_far = has_content && bytes > expected.saturating_mul(2).saturating_add(MAX_FIELDS);
                let doubt = if is_far { Some(Doubt::Above) } else { doubt };
                return Ok(Sizes { bytes, header_bytes: head.unwrap_or(0), doubt });
            }
        }
    }
    match length {
        Some(0) if has_content => doubt = Some(Doubt::Length),
        Some(bytes) => return with(bytes, doubt),
        None => {}
    }
    if let Some(part) = part {
        return with(part, whole.filter(|whole| *whole != part).map(|_| Doubt::Part).or(doubt));
    }
    if let Some(whole) = whole {
        let saved = of_content("compression").map_or(Ok(0), |saved| saved.whole())?.max(0) as u64;
        let unpacked = (packed && saved == 0 && whole > 0).then_some(Doubt::Unpacked);
        let text = has_text.then_some(Doubt::Text);
        // Nothing is compressed to nothing.
        return match whole.saturating_sub(saved) {
            0 if whole > 0 => with(whole, Some(Doubt::Compression)),
            bytes => with(bytes, unpacked.or(text).or(doubt)),
        };
    }
    // A browser does not read the content of a redirect (RFC 9110 15.4).
    if (300..400).contains(&status) {
        return with(0, doubt);
    }
    response.need("content")?;
    Err("neither response.bodySize nor response.content.size is known".to_owned())
}

/// More bytes than the fields of a response have.
const MAX_FIELDS: u64 = 16_384;

/// Whether a content coding (RFC 9110 section 8.4.1) makes content smaller.
fn is_packing(coding: &str) -> bool {
    let coding = coding.trim().to_ascii_lowercase();
    !matches!(coding.as_str(), "" | "identity" | "none")
}

/// The bytes of a part of the content (RFC 9110 section 14.4): `bytes 0-99/5000` has 100.
fn part(response: &Node<'_>) -> Option<u64> {
    let range = field(response, "content-range")?.trim().strip_prefix("bytes")?;
    let (first, last) = range.split('/').next()?.trim_start_matches([' ', '=']).trim().split_once('-')?;
    let bytes = last.trim().parse::<u64>().ok()?.checked_sub(first.trim().parse().ok()?)?.checked_add(1)?;
    (bytes <= MAX_BYTES).then_some(bytes)
}

/// The bytes of the text of a content; `None` if it is empty. In base64 four characters are three bytes.
fn text_bytes(content: &Node<'_>) -> Option<u64> {
    let text = content.get("text")?.text().ok().filter(|text| !text.is_empty())?;
    let encoding = content.get("encoding").and_then(|encoding| encoding.text().ok()).unwrap_or("");
    if !encoding.eq_ignore_ascii_case("base64") {
        return Some(text.len() as u64);
    }
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count() as u64;
    Some(digits * 3 / 4)
}

/// The size of a request with its body, and a doubt about it.
pub(super) fn of_request(request: &Node<'_>) -> Result<(u64, Option<Doubt>), String> {
    let head = known(request.get("headersSize"))?;
    let head = head.map_or_else(|| fields(request), Ok)?;
    let (body, length) = (known(request.get("bodySize"))?, content_length(request));
    match (body, length) {
        // Browsers count what they show, and they do not show files.
        (Some(0), Some(length)) if length > 0 => Ok((head + length, Some(Doubt::Request))),
        (Some(body), _) => Ok((head + body, None)),
        (None, Some(length)) => Ok((head + length, None)),
        (None, None) => Ok((head + posted(request), None)),
    }
}

/// The bytes of the posted data that an archive has: its text, or its parameters as a form sends them.
fn posted(request: &Node<'_>) -> u64 {
    let Some(data) = request.get("postData") else { return 0 };
    if let Some(text) = data.get("text").and_then(|text| text.text().ok()).filter(|text| !text.is_empty()) {
        return text.len() as u64;
    }
    let params = data.get("params").and_then(|params| params.items().ok()).unwrap_or_default();
    let length =
        |param: &Node<'_>, name: &str| param.get(name).and_then(|part| part.text().ok()).map_or(0, str::len);
    let bytes: usize = params.iter().map(|param| length(param, "name") + length(param, "value") + 2).sum();
    bytes.saturating_sub(1) as u64
}

/// The field `content-length` of a message, if it is a number.
fn content_length(message: &Node<'_>) -> Option<u64> {
    let value = field(message, "content-length")?;
    value.trim().parse().ok().filter(|bytes| *bytes <= MAX_BYTES)
}

/// The value of a field of a message.
pub(super) fn field<'a>(message: &Node<'a>, name: &str) -> Option<&'a str> {
    let fields = message.get("headers")?.items().ok()?;
    let named = fields.iter().find(|field| is_named(field, name))?;
    named.get("value").and_then(|value| value.text().ok())
}

/// Whether a field has this name.
pub(super) fn is_named(field: &Node<'_>, name: &str) -> bool {
    field
        .get("name")
        .and_then(|known| known.text().ok())
        .is_some_and(|known| known.eq_ignore_ascii_case(name))
}

/// The size of the fields of a message in HTTP/1.1: `name: value` and a line end.
fn fields(message: &Node<'_>) -> Result<u64, String> {
    let mut bytes = 0;
    if let Some(fields) = message.get("headers") {
        for field in fields.items()? {
            let length =
                |part| field.get(part).and_then(|part| part.name()).map_or(0, |text| text.len() as u64);
            bytes += length("name") + length("value") + 4;
        }
    }
    Ok(bytes)
}
