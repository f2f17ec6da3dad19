//! How many bytes requests and responses have.

use super::*;

#[test]
fn sizes_come_from_the_known_members() {
    for (response, bytes, header_bytes) in [
        (r#", "bodySize": 10, "headersSize": 20, "_transferSize": 99, "content": {"size": 500}"#, 10, 20),
        (r#", "bodySize": 10, "headersSize": -1, "headers": [{"name": "a", "value": "bcd"}]"#, 10, 8),
        (r#", "bodySize": -1, "headersSize": -1, "_transferSize": 99, "content": {"size": 500}"#, 99, 0),
        (r#", "bodySize": -1, "headersSize": 20, "_transferSize": 99, "content": {"size": 500}"#, 79, 20),
        (r#", "bodySize": -1, "_transferSize": -1, "content": {"size": 500}"#, 500, 0),
        // Compressed fields, and no content.
        (r#", "bodySize": -1, "headersSize": 200, "_transferSize": 99, "content": {"size": 0}"#, 0, 99),
        // What was sent, rather than what was unpacked.
        (
            r#", "bodySize": -1, "content": {"size": 500}, "headers": [{"name": "Content-Length", "value": "77"}]"#,
            77,
            20,
        ),
        (r#", "bodySize": "10", "headers": [{"name": 7}, {"value": null}]"#, 10, 9),
        (r#", "content": {"size": 500, "compression": 120}"#, 380, 0),
        (r#", "content": {"size": 500, "compression": -7}"#, 500, 0),
        (r#", "bodySize": -412, "headersSize": -1, "content": {"size": 500}"#, 500, 0),
        (r#", "bodySize": 1e3"#, 1_000, 0),
    ] {
        let found = objects(&[entry(0, 5, "http://a/", "", response, "")]);
        assert_eq!((found[0].bytes, found[0].header_bytes), (bytes, header_bytes), "{response}");
    }
}

/// Chromium, Firefox and exporters do not always know `bodySize`.
#[test]
fn uploads_come_from_the_known_members() {
    let length = |value: &str| format!(r#", "headers": [{{"name": "content-length", "value": "{value}"}}]"#);
    for (request, bytes, told) in [
        (r#", "headersSize": 300, "bodySize": 50"#.to_owned(), 350, ""),
        (r#", "bodySize": 50, "postData": {"text": "abc"}"#.to_owned(), 50, ""),
        ([r#", "bodySize": -1"#, &length("400000")].concat(), 400_000 + 24, ""),
        ([r#", "headersSize": 9, "postData": {"text": "abc"}"#, &length("70")].concat(), 79, ""),
        (r#", "bodySize": -1, "postData": {"mimeType": "x", "text": "äbc"}"#.to_owned(), 4, ""),
        (
            r#", "bodySize": -1, "postData": {"params": [{"name": "a", "value": "bc"}, {"name": "d"}]}"#
                .to_owned(),
            "a=bc&d=".len() as u64,
            "",
        ),
        (r#", "bodySize": 0, "postData": {"text": "abc"}"#.to_owned(), 0, ""),
        (
            [r#", "headersSize": 9, "bodySize": 0"#, &length("70")].concat(),
            79,
            "1 of 1 entry with a request.bodySize of 0 and a content-length: the latter is taken; the first is entry 1",
        ),
    ] {
        let text =
            archive(&[entry(0, 5, "http://a/", &[r#", "method": "POST""#, &request].concat(), TEN, "")]);
        let archive = parse(&text, OPTIONS).unwrap();
        assert_eq!(archive.pages[0].objects[0].request_bytes, bytes, "{request}");
        assert_eq!(archive.notes().join(""), told, "{request}");
    }
}

/// A response to HEAD, and one with 1xx, 204, 205 or 304, has no content on the wire, whatever the archive says.
#[test]
fn responses_without_content_have_none() {
    let cached = r#", "bodySize": -1, "headersSize": 90, "_transferSize": 90, "content": {"size": 90000}"#;
    let sizes = |request: &str, response: &str, status: &str| {
        let text = archive(&[entry(0, 5, "http://a/", request, response, "").replace("200", status)]);
        let archive = parse(&text, OPTIONS).unwrap();
        let object = &archive.pages[0].objects[0];
        (object.bytes, object.header_bytes, archive.notes())
    };
    for (request, status) in
        [("", "304"), ("", "204"), ("", "205"), ("", "103"), (r#", "method": "HEAD""#, "200")]
    {
        assert_eq!(sizes(request, cached, status), (0, 90, vec![]), "{request} {status}");
        let packed = r#", "content": {"size": 70, "compression": 10}"#;
        assert_eq!(sizes(request, packed, status), (0, 0, vec![]));
        let (bytes, _, notes) = sizes(request, r#", "bodySize": 70"#, status);
        assert_eq!(bytes, 0);
        let told = "1 of 1 entry with a bodySize, but a status or method without content: nothing is sent";
        assert!(notes[0].starts_with(told), "{notes:?}");
    }
    assert_eq!(sizes(r#", "method": "GET""#, r#", "content": {"size": 70}"#, "404").0, 70);
}

/// A self-contradiction is taken by what remains, and told.
#[test]
fn sizes_that_contradict_themselves_are_settled_and_told() {
    for (response, bytes, told) in [
        (
            r#", "bodySize": -1, "headersSize": 400, "_transferSize": 300, "content": {"size": 20000}"#,
            20_000,
            "with content, but a _transferSize not above headersSize, which is not used",
        ),
        (
            r#", "bodySize": -100, "headersSize": 400, "_transferSize": 300, "content": {"size": 900, "compression": 100}"#,
            800,
            "with content, but a _transferSize not above headersSize, which is not used",
        ),
        (
            r#", "bodySize": -1, "headersSize": 300, "_transferSize": 300, "content": {"size": 7}"#,
            7,
            "with content, but a _transferSize not above headersSize, which is not used",
        ),
        (
            r#", "bodySize": -1, "content": {"size": 100, "compression": 100}"#,
            100,
            "with a content.compression not below content.size: content.size is taken",
        ),
        (
            r#", "bodySize": -1, "content": {"size": 100, "compression": 500}"#,
            100,
            "with a content.compression not below content.size: content.size is taken",
        ),
    ] {
        let good = entry(0, 5, "http://a/", "", TEN, "");
        let odd = entry(9, 5, "http://a/x", "", response, "");
        let archive = parse(&archive(&[good, odd.clone(), odd]), OPTIONS).unwrap();
        assert_eq!(archive.pages[0].objects[1].bytes, bytes, "{response}");
        assert_eq!(archive.notes(), [format!("2 of 3 entries {told}; the first is entry 2")]);
    }
}

/// A redirect without a size has no content; a response that has one must say how much.
#[test]
fn responses_without_content_need_no_size() {
    let unknown =
        r#", "bodySize": -1, "headersSize": -1, "redirectURL": "http://a/new", "content": {"size": -1}"#;
    for status in ["301", "302", "307"] {
        let first = entry(0, 5, "http://a/", "", unknown, "").replace("200", status);
        assert_eq!(objects(&[first])[0].bytes, 0, "{status}");
    }
    let head = entry(0, 5, "http://a/", r#", "method": "HEAD""#, unknown, "");
    assert_eq!(objects(&[head])[0].bytes, 0);
    let fields = r#", "headers": [{"name": "Content-Length", "value": "77"}]"#;
    let stated = entry(0, 5, "http://a/", "", &[fields, unknown].concat(), "").replace("200", "301");
    assert_eq!(objects(&[stated])[0].bytes, 77);
    let refused = "entry 1: neither response.bodySize nor response.content.size is known";
    assert_eq!(read(&archive(&[entry(0, 5, "http://a/", "", unknown, "")])).unwrap_err(), refused);
}

/// Exporters write 0 for what they do not know; it was played as 0 bytes.
#[test]
fn a_size_of_zero_beside_content_is_not_used() {
    let length = |bytes: u64| format!(r#", "headers": [{{"name": "Content-Length", "value": "{bytes}"}}]"#);
    let body = "with content, but a bodySize of 0, which is not used";
    let of_length = "with content, but a content-length of 0, which is not used";
    for (response, bytes, told) in [
        (
            r#", "bodySize": 0, "headersSize": 0, "_transferSize": 400, "content": {"size": 1000}"#
                .to_owned(),
            400,
            body,
        ),
        (
            r#", "bodySize": 0, "headersSize": 200, "_transferSize": 900, "content": {"size": 1000}"#
                .to_owned(),
            700,
            body,
        ),
        (format!(r#", "bodySize": -1, "content": {{"size": 1000}}{}"#, length(0)), 1_000, of_length),
        (format!(r#", "content": {{"size": 1000, "compression": 300}}{}"#, length(0)), 700, of_length),
        (format!(r#", "bodySize": -1, "content": {{"size": 0}}{}"#, length(0)), 0, ""),
        (format!(r#", "bodySize": -1{}"#, length(0)), 0, ""),
        (r#", "bodySize": 0, "content": {"size": 0}"#.to_owned(), 0, ""),
    ] {
        let text = archive(&[entry(0, 5, "http://a/", "", &response, "")]);
        let archive = parse(&text, OPTIONS).unwrap();
        assert_eq!(archive.pages[0].objects[0].bytes, bytes, "{response}");
        let notes = if told.is_empty() {
            Vec::new()
        } else {
            vec![format!("1 of 1 entry {told}; the first is entry 1")]
        };
        assert_eq!(archive.notes(), notes, "{response}");
    }
}

/// What the wire had is not what the page had.
#[test]
fn sizes_that_another_member_says_better_are_told() {
    let fields = |fields: &[(&str, &str)]| {
        let all: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!(r#"{{"name": "{name}", "value": "{value}"}}"#))
            .collect();
        format!(r#", "headers": [{}]"#, all.join(", "))
    };
    let unpacked = "with compressed content whose size on the wire is not known: the size of the unpacked content is taken";
    let text = "with text and a content.size of 0, or none: the length of the text is taken";
    let above = "with a _transferSize far above the content, which is taken as it stands";
    let packed = "with a bodySize of the unpacked content and a lower content-length: the latter is taken";
    let part = "with a part of the content, whose size content-range says: the size of the part is taken";
    let long = "x".repeat(5_000);
    let range = ("Content-Range", "bytes 0-99999/5000000");
    for (response, bytes, told) in [
        (
            format!(
                r#", "bodySize": -1, "content": {{"size": 9000}}{}"#,
                fields(&[("Content-Encoding", "br")])
            ),
            9_000,
            unpacked,
        ),
        (
            format!(r#", "content": {{"size": 9000}}{}"#, fields(&[("content-encoding", "gzip, br")])),
            9_000,
            unpacked,
        ),
        (
            format!(r#", "content": {{"size": 9000}}{}"#, fields(&[("content-encoding", "identity")])),
            9_000,
            "",
        ),
        (
            format!(
                r#", "content": {{"size": 9000, "compression": 6000}}{}"#,
                fields(&[("content-encoding", "br")])
            ),
            3_000,
            "",
        ),
        (format!(r#", "bodySize": -1, "content": {{"size": 0, "text": "{long}"}}"#), 5_000, text),
        (format!(r#", "bodySize": 0, "content": {{"size": 0, "text": "{long}"}}"#), 5_000, text),
        (format!(r#", "bodySize": -1, "content": {{"text": "{long}"}}"#), 5_000, text),
        (format!(r#", "bodySize": -1, "content": {{"size": -1, "text": "{long}"}}"#), 5_000, text),
        (r#", "content": {"size": 0, "text": "AAAAAAA=", "encoding": "base64"}"#.to_owned(), 5, text),
        (
            format!(
                r#", "bodySize": 5000, "content": {{"size": 5000}}{}"#,
                fields(&[("Content-Length", "1000"), ("Content-Encoding", "br")])
            ),
            1_000,
            packed,
        ),
        (
            r#", "headersSize": 200, "_transferSize": 500200, "content": {"size": 1000}"#.to_owned(),
            500_000,
            above,
        ),
        (r#", "headersSize": 200, "_transferSize": 1300, "content": {"size": 1000}"#.to_owned(), 1_100, ""),
        (format!(r#", "bodySize": -1, "content": {{"size": 5000000}}{}"#, fields(&[range])), 100_000, part),
        (format!(r#", "bodySize": -1, "content": {{}}{}"#, fields(&[range])), 100_000, ""),
    ] {
        let mut one = entry(0, 5, "http://a/", "", &response, "");
        if response.contains("Range") {
            one = one.replace("200", "206");
        }
        let archive = parse(&archive(&[one]), OPTIONS).unwrap();
        assert_eq!(archive.pages[0].objects[0].bytes, bytes, "{response}");
        let notes: Vec<String> = [told]
            .iter()
            .filter(|told| !told.is_empty())
            .map(|told| format!("1 of 1 entry {told}; the first is entry 1"))
            .collect();
        assert_eq!(archive.notes(), notes, "{response}");
    }
}
