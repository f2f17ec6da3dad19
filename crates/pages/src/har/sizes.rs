//! The sizes of a request and its response.

use super::json::Node;
use crate::MAX_BYTES;

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

/// The transferred size of the content, and the size of its header fields.
pub(super) fn of(request: &Node<'_>, response: &Node<'_>, status: i64) -> Result<(u64, u64), String> {
    let head = known(response.get("headersSize"))?;
    let with_fields = |bytes: u64| Ok((bytes, head.map_or_else(|| fields(response), Ok)?));
    if let Some(body) = known(response.get("bodySize"))? {
        return with_fields(body);
    }
    // For HTTP/2 and HTTP/3, Chromium only has the sum of both.
    if let Some(transferred) = known(response.get("_transferSize"))?.filter(|bytes| *bytes > 0) {
        let head = head.unwrap_or(0).min(transferred);
        return Ok((transferred - head, head));
    }
    let content = response.get("content");
    let of_content = |name| content.as_ref().and_then(|content| content.get(name));
    if let Some(whole) = known(of_content("size"))? {
        let saved = of_content("compression").map_or(Ok(0), |saved| saved.whole())?.max(0) as u64;
        return with_fields(whole.saturating_sub(saved));
    }
    if let Some(bytes) = content_length(response)? {
        return with_fields(bytes);
    }
    // RFC 9110: such responses have no content (6.4.1), or none that a browser reads (15.4).
    let method = request.get("method").and_then(|method| method.text().ok());
    if matches!(status, 100..200 | 204 | 205 | 300..400) || method == Some("HEAD") {
        return with_fields(0);
    }
    response.need("content")?;
    Err("neither response.bodySize nor response.content.size is known".to_owned())
}

/// The size of a request with its body.
pub(super) fn of_request(request: &Node<'_>) -> Result<u64, String> {
    let head = known(request.get("headersSize"))?;
    let head = head.map_or_else(|| fields(request), Ok)?;
    Ok(head + known(request.get("bodySize"))?.unwrap_or(0))
}

/// The field `content-length` of a response, if it is a number.
fn content_length(response: &Node<'_>) -> Result<Option<u64>, String> {
    let value = field(response, "content-length")?;
    Ok(value.and_then(|value| value.trim().parse().ok()).filter(|bytes| *bytes <= MAX_BYTES))
}

/// The value of a field of a message.
pub(super) fn field<'a>(message: &Node<'a>, name: &str) -> Result<Option<&'a str>, String> {
    if let Some(fields) = message.get("headers") {
        for field in fields.items()? {
            if field.need("name")?.text()?.eq_ignore_ascii_case(name) {
                return field.need("value")?.text().map(Some);
            }
        }
    }
    Ok(None)
}

/// The size of the fields of a message in HTTP/1.1: `name: value` and a line end.
fn fields(message: &Node<'_>) -> Result<u64, String> {
    let mut bytes = 0;
    if let Some(fields) = message.get("headers") {
        for field in fields.items()? {
            bytes += (field.need("name")?.text()?.len() + field.need("value")?.text()?.len() + 4) as u64;
        }
    }
    Ok(bytes)
}
