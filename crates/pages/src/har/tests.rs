//! Tests of archives: the example, each rule, and every error.

use super::super::testing::{arguments, pages_of};
use super::super::{After, Kind as ObjectKind, Object};
use super::*;
use http::Priority;

const EXAMPLE: &str = include_str!("../../../../examples/pages/shop.har");
const OPTIONS: HarOptions = HarOptions { gaps: true, think: Duration::ZERO, reading: Duration::ZERO };

/// An entry with the required members, and additional members of the request, the response and the entry.
fn entry(start_ms: u32, took_ms: u32, url: &str, request: &str, response: &str, more: &str) -> String {
    format!(
        r#"{{"startedDateTime": "2026-03-01T09:05:00.{start_ms:03}Z", "time": {took_ms},
        "request": {{"url": "{url}"{request}}},
        "response": {{"status": 200{response}}}{more}}}"#
    )
}

fn archive(entries: &[String]) -> String {
    format!(r#"{{"log": {{"version": "1.2", "entries": [{}]}}}}"#, entries.join(","))
}

fn read(text: &str) -> Result<Vec<Page>, String> {
    parse(text, OPTIONS).map(|archive| archive.pages).map_err(|error| error.to_string())
}

/// What is left out of an archive.
fn left_out(text: &str) -> String {
    parse(text, OPTIONS).unwrap().left_out.to_string()
}

/// The objects of the only page with these entries.
fn objects(entries: &[String]) -> Vec<Object> {
    let mut pages = read(&archive(entries)).unwrap();
    assert_eq!(pages.len(), 1);
    pages.remove(0).objects
}

const TEN: &str = r#", "bodySize": 10"#;

/// A proxy writes them; they were played as objects of 0 bytes.
#[test]
fn tunnels_through_a_proxy_are_no_objects() {
    let document = entry(30, 10, "https://a.example/", "", r#", "bodySize": 900"#, "");
    for (url, method) in [
        ("https://a.example:443/", "CONNECT"),
        ("https://a.example/", "connect"),
        ("a.example:443", " CONNECT "),
        ("http://proxy.example/", "CONNECT"),
    ] {
        let method = format!(r#", "method": "{method}""#);
        let tunnel = entry(0, 30, url, &method, r#", "bodySize": 0"#, "");
        let text = archive(&[tunnel, document.clone()]);
        assert_eq!(read(&text), read(&archive(std::slice::from_ref(&document))), "{url}");
        let words = "1 with the method CONNECT, which asks a proxy for a tunnel and not for an object, the first is entry 1";
        assert_eq!(left_out(&text), words);
    }
    let options = entry(0, 30, "https://a.example/", r#", "method": "OPTIONS""#, r#", "bodySize": 0"#, "");
    assert_eq!(
        read(&archive(&[options, document])).unwrap()[0].objects.len(),
        2,
        "an answer comes over the network"
    );
}

#[test]
fn the_example_is_read() {
    let pages = read(EXAMPLE).unwrap();
    assert_eq!(pages.len(), 1);
    let objects = &pages[0].objects;
    let sizes: Vec<u64> = objects.iter().map(|object| object.bytes).collect();
    // The redirect, the document, style, script, picture, tile, basket, beacon: three of eleven did not use the
    // network.
    assert_eq!(sizes, [0, 15_300, 6_200, 52_000, 240_000, 9_150, 700, 0]);
    let waits: Vec<Vec<(u32, bool)>> = objects
        .iter()
        .map(|object| object.after.iter().map(|after| (after.object, after.on_first_byte)).collect())
        .collect();
    let one = |object, begun| vec![(object, begun)];
    assert_eq!(
        waits,
        [
            vec![],
            one(0, false),
            // Named by the document while it arrived.
            one(1, true),
            one(1, true),
            one(1, false),
            // By the style sheet, and by the script.
            one(2, false),
            one(3, false),
            // By time: the picture was the last to be complete before.
            one(4, false),
        ]
    );
    let urgencies: Vec<u8> = objects.iter().map(|object| object.priority.urgency).collect();
    assert_eq!(urgencies, [0, 0, 0, 1, 2, 3, 1, 4]);
    assert!(objects[4].priority.incremental);
    let mains = objects.iter().filter(|object| object.kind == ObjectKind::Main).count();
    assert_eq!(mains, 2);
    // 112 ms is 1 ms after the document began to arrive, 152 ms is 1 ms after it was complete.
    assert_eq!(objects[2].parsing, Duration::from_millis(1));
    assert_eq!(objects[4].parsing, Duration::from_millis(1));
    // 680 and 552 ms.
    assert_eq!(objects[7].parsing, Duration::from_millis(68));
    assert_eq!((objects[0].request_bytes, objects[0].header_bytes), (380, 210));
    // "accept: text/html" and "user-agent: quiclab", with line ends.
    assert_eq!(objects[1].request_bytes, 19 + 21);
}

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

/// What nobody needs does not stop an archive.
#[test]
fn what_nobody_needs_may_be_odd() {
    let good = archive(&[entry(0, 5, "http://a/", "", TEN, r#", "comment": "x""#)]);
    let expected = read(&good).unwrap();
    let version = r#""version": "1.2", "#;
    for (from, to) in [
        (version, ""),
        (version, r#""version": 1.2, "#),
        (version, r#""version": null, "#),
        (version, r#""version": [], "#),
        (version, r#""version": "", "creator": 5, "browser": "\ud800", "#),
        (version, r#""version": "1.1 (beta)", "pages": [], "#),
        (version, r#""pages": [{"title": "\udc00 a"}, {"id": null}], "#),
        (version, r#""pages": [{"id": "p", "startedDateTime": 7}], "#),
        (r#""comment": "x""#, r#""comment": "\ud83d""#),
        (r#""comment": "x""#, r#""pageref": "of nothing""#),
        (r#""comment": "x""#, r#""pageref": 7"#),
        (r#""comment": "x""#, r#""_fromCache": false"#),
        (r#""bodySize": 10"#, r#""bodySize": 10, "content": {"text": "cut \ud83d", "size": -1}"#),
        (r#""bodySize": 10"#, r#""bodySize": 1e1, "headersSize": 0, "headers": [{"name": 3}]"#),
        (r#""time": 5"#, r#""time": "5.0""#),
        ("2026-03-01T09:05:00.000Z", "2026-03-01T09:05:00.000"),
        ("2026-03-01T09:05:00.000Z", "2026-03-01 09:05:00Z"),
    ] {
        assert!(good.contains(from), "{from}");
        let archive = parse(&good.replacen(from, to, 1), OPTIONS);
        let archive = archive.unwrap_or_else(|error| panic!("{to}: {error}"));
        assert_eq!((&archive.pages, archive.notes()), (&expected, vec![]), "{to}");
    }
}

#[test]
fn a_time_without_a_zone_has_that_of_the_others() {
    let first = entry(0, 50, "http://a/", "", TEN, "").replace("00.000Z", "00.000+02:00");
    let second = entry(60, 5, "http://a/x", "", TEN, "").replace("00.060Z", "00.060");
    let archive = parse(&archive(&[first, second]), OPTIONS).unwrap();
    assert_eq!(archive.pages[0].objects[1].parsing, Duration::from_millis(10));
    let told =
        "1 of 2 entries with a time without a zone: the zone of the others is taken; the first is entry 2";
    assert_eq!(archive.notes(), [told]);
}

#[test]
fn priorities_come_from_the_field_or_from_chromium() {
    let field = |value: &str| format!(r#", "headers": [{{"name": "Priority", "value": "{value}"}}]"#);
    for (request, more, urgency, incremental) in [
        (String::new(), "", 3, false),
        (String::new(), r#", "_priority": "VeryHigh""#, 0, false),
        (String::new(), r#", "_priority": "High""#, 1, false),
        (String::new(), r#", "_priority": "Medium""#, 2, false),
        (String::new(), r#", "_priority": "Low""#, 3, false),
        (String::new(), r#", "_priority": "VeryLow""#, 4, false),
        (String::new(), r#", "_priority": 7"#, 3, false),
        (field("u=6, i"), r#", "_priority": "VeryHigh""#, 6, true),
        // Not a dictionary: ignored (RFC 9218 section 4, RFC 8941 section 4.2).
        (field("=="), r#", "_priority": "VeryHigh""#, 3, false),
    ] {
        let found = objects(&[entry(0, 5, "http://a/", &request, TEN, more)]);
        assert_eq!(found[0].priority, Priority { urgency, incremental }, "{request} {more}");
    }
}

/// The words of `_priority` in archives of Chromium, WebKit and WebPageTest.
#[test]
fn priorities_in_words_are_known_whatever_their_case() {
    for (word, urgency) in [
        ("Highest", 0),
        ("VERYHIGH", 0),
        ("high", 1),
        ("Medium", 2),
        ("Lowest", 4),
        ("Idle", 4),
        ("u=5, i", 5),
        ("somewhat", 3),
    ] {
        for member in ["_priority", "_initialPriority", "_initial_priority"] {
            let more = format!(r#", "{member}": "{word}""#);
            let found = objects(&[entry(0, 5, "http://a/", "", TEN, &more)]);
            assert_eq!(found[0].priority, Priority { urgency, incremental: word.contains(", i") }, "{more}");
        }
    }
}

/// Without a priority a resource has that of its type, as browsers give it: the document before its scripts and images.
#[test]
fn resources_without_a_priority_have_that_of_their_type() {
    let of = |url: &str, response: &str, more: &str| {
        objects(&[entry(0, 5, url, "", &format!("{TEN}{response}"), more)])[0].priority.urgency
    };
    for (resource, urgency) in [
        ("document", 0),
        ("Stylesheet", 0),
        ("font", 0),
        ("Script", 1),
        ("XHR", 1),
        ("manifest", 2),
        ("Image", 3),
        ("media", 3),
        ("ping", 4),
        ("unheard", 3),
    ] {
        assert_eq!(
            of("http://a/", "", &format!(r#", "_resourceType": "{resource}""#)),
            urgency,
            "{resource}"
        );
        assert_eq!(
            of("http://a/", "", &format!(r#", "_request_type": "{resource}""#)),
            urgency,
            "{resource}"
        );
    }
    for (media_type, urgency) in [
        ("text/html; charset=utf-8", 0),
        ("text/css", 0),
        ("font/woff2", 0),
        ("Application/JavaScript", 1),
        ("application/json", 1),
        ("image/webp", 3),
        ("video/mp4", 3),
        ("x-unknown", 3),
    ] {
        let content = format!(r#", "content": {{"mimeType": "{media_type}"}}"#);
        assert_eq!(of("http://a/", &content, ""), urgency, "{media_type}");
    }
    for (url, urgency) in
        [("http://a/s.js?v=1", 1), ("http://a/b.CSS", 0), ("http://a/c.png#x", 3), ("http://a/", 3)]
    {
        assert_eq!(of(url, "", ""), urgency, "{url}");
    }
}

/// Firefox before version 60, and other exporters.
#[test]
fn an_entry_without_a_time_took_the_sum_of_its_timings() {
    let timings = r#", "timings": {"blocked": 1, "dns": 2, "connect": 8, "ssl": 5, "send": 0, "wait": 36, "receive": 12}"#;
    let next = entry(59, 5, "http://a/x", "", TEN, "");
    let taken = |timings: &str, time: &str| {
        let first = entry(0, 1, "http://a/", "", TEN, timings).replace(r#""time": 1,"#, time);
        read(&archive(&[first, next.clone()])).map(|mut pages| pages.remove(0).objects.remove(1).parsing)
    };
    // The next one is requested at 59 ms, when the first is complete.
    assert_eq!(taken(timings, r#""time": null,"#).unwrap(), Duration::ZERO);
    assert_eq!(taken(timings, "").unwrap(), Duration::ZERO);
    let applied = timings.replace(r#""dns": 2"#, r#""dns": -1"#).replace("12}", "14}");
    assert_eq!(taken(&applied, "").unwrap(), Duration::ZERO);
    assert_eq!(taken("", "").unwrap_err(), "entry 1: no time, and no timings whose sum it is");
    assert_eq!(
        taken(r#", "timings": {}"#, "").unwrap_err(),
        "entry 1: no time, and no timings whose sum it is"
    );
}

/// Statuses of WebPageTest (-1, -2, errors of Windows) and of browsermob-proxy (-999), and responses that are not there.
#[test]
fn requests_that_were_never_made_are_left_out() {
    let document = entry(0, 50, "https://a/", "", TEN, "");
    for status in ["0", "-1", "-2", "-999", "12029", "null", "\"0\"", "\"gone\""] {
        let odd = entry(60, 1, "https://a/x", "", TEN, "").replace("200", status);
        let text = archive(&[document.clone(), odd.clone(), odd]);
        if status == "\"gone\"" {
            assert_eq!(read(&text).unwrap_err(), "entry 2: response.status is \"gone\"; expected a number");
            continue;
        }
        assert_eq!(read(&text).unwrap()[0].objects.len(), 1, "{status}");
        let told = "2 never made, blocked or given up (no HTTP status), the first is entry 2";
        assert_eq!(left_out(&text), told, "{status}");
    }
    let silent = r#"{"startedDateTime": "", "time": 0, "request": {"url": "https://a/x"}}"#.to_owned();
    assert_eq!(objects(&[document.clone(), silent]).len(), 1);
    for (fetched, objects_left) in
        [("Network Load", 2), ("Memory Cache", 1), ("Disk Cache", 1), ("Service Worker", 1)]
    {
        let odd = entry(60, 1, "https://a/x", "", TEN, &format!(r#", "_fetchType": "{fetched}""#));
        assert_eq!(objects(&[document.clone(), odd]).len(), objects_left, "{fetched}");
    }
}

#[test]
fn the_reported_archives_are_read() {
    let played = read(include_str!("../../tests/har/negative-status.har")).unwrap();
    assert_eq!(played, read(include_str!("../../tests/har/negative-status-truth.har")).unwrap());
    assert_eq!(played[0].objects.len(), 2);
    assert_eq!(read(include_str!("../../tests/har/time-null.har")).unwrap()[0].objects.len(), 1);
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

#[test]
fn an_initiator_may_be_a_text() {
    let document = entry(0, 50, "http://a/#top", "", TEN, r#", "timings": {"receive": 30}"#);
    let of = |initiator: &str| {
        let odd = entry(25, 5, "http://a/x", "", TEN, &format!(r#", "_initiator": {initiator}"#));
        objects(&[document.clone(), odd]).remove(1).after
    };
    let begun = After { object: 0, on_first_byte: true };
    assert_eq!(of(r#""http://a/""#), [begun]);
    for nothing in [r#""""#, r#""parser""#, "7", "[]", "null", r#"{"type": "other"}"#] {
        assert_eq!(of(nothing), [], "{nothing}");
    }
}

#[test]
fn dependencies_are_derived_from_the_entries() {
    let by = |url: &str| format!(r#", "_initiator": {{"type": "parser", "url": "{url}"}}"#);
    let timings = r#", "timings": {"receive": 30}"#;
    let document = entry(0, 50, "http://a/#top", "", TEN, timings);
    let after = |entries: &[String]| objects(entries).last().unwrap().after.clone();
    // Nothing has ended before: from the start of the page.
    let early = objects(&[document.clone(), entry(10, 5, "http://a/x", "", TEN, "")]);
    assert_eq!((early[1].after.as_slice(), early[1].parsing), (&[][..], Duration::from_millis(10)));
    // Named by the document before that began to arrive, so it was not the initiator.
    assert_eq!(after(&[document.clone(), entry(10, 5, "http://a/x", "", TEN, &by("http://a/"))]), []);
    // While it arrived, and after.
    let begun = After { object: 0, on_first_byte: true };
    assert_eq!(
        after(&[document.clone(), entry(25, 5, "http://a/x", "", TEN, &by("http://a/#here"))]),
        [begun]
    );
    assert_eq!(
        after(&[document.clone(), entry(60, 5, "http://a/x", "", TEN, &by("http://a/"))]),
        [After::complete(0)]
    );
    // A millisecond is within the tolerance.
    assert_eq!(after(&[document.clone(), entry(49, 5, "http://a/x", "", TEN, "")]), [After::complete(0)]);
    // The innermost known script.
    let stack = r#", "_initiator": {"type": "script", "stack": {"callFrames": [{"url": "http://b/gone.js"}],
        "parent": {"callFrames": [{"url": ""}, {"url": "http://a/"}]}}}"#;
    let script = entry(55, 5, "http://a/s.js", "", TEN, "");
    let scripted = entry(90, 5, "http://a/x", "", TEN, stack);
    assert_eq!(after(&[document.clone(), script.clone(), scripted]), [After::complete(0)]);
    // By time the last that ended; the order in the file does not matter.
    let plain = entry(90, 5, "http://a/x", "", TEN, "");
    assert_eq!(after(&[plain, script, document]), [After::complete(1)]);
}

#[test]
fn redirects_are_followed() {
    for target in ["http://a/new", "/new", "//a/new", "new", "new#there"] {
        let moved = format!(r#", "bodySize": 0, "redirectURL": "{target}""#);
        let first = entry(0, 50, "http://a/old?x=1", "", &moved, "");
        let field = format!(
            r#", "redirectURL": "", "bodySize": 0, "headers": [{{"name": "Location", "value": "{target}"}}]"#
        );
        let by_field = entry(0, 50, "http://a/old?x=1", "", &field, "").replace("200", "302");
        let second = objects(&[by_field, entry(48, 5, "http://a/new", "", TEN, "")]).remove(1);
        assert_eq!(second.after, [After::complete(0)], "{target}");
        // It began in the millisecond in which the redirect ended.
        let second = objects(&[first, entry(48, 5, "http://a/new", "", TEN, "")]).remove(1);
        assert_eq!((second.after.as_slice(), second.parsing), (&[After::complete(0)][..], Duration::ZERO));
    }
}

#[test]
fn entries_without_network_use_are_omitted() {
    let document = entry(0, 50, "https://a/", "", TEN, "");
    let cached = entry(60, 1, "https://a/x", "", "", r#", "_fromCache": "memory""#);
    let blocked = entry(60, 1, "https://a/x", "", "", "").replace("200", "0");
    let data = entry(60, 1, "data:,x", "", "", "");
    // From a cache as in HAR 1.2, from a worker, from the browser.
    let empty = entry(60, 1, "https://a/x", "", r#", "bodySize": 0, "content": {"size": 500}"#, "");
    let worker = r#", "bodySize": -300, "_transferSize": 0, "content": {"size": 500}"#;
    let worker = entry(60, 1, "https://a/x", "", worker, r#", "_fetchedViaServiceWorker": true"#);
    let hsts = r#", "bodySize": 0, "headers": [{"name": "Non-Authoritative-Reason", "value": "HSTS"}]"#;
    let hsts = entry(60, 1, "http://a/", "", hsts, "").replace("200", "307");
    let local = [cached.clone(), blocked, data, empty.clone(), worker, hsts];
    for entry in &local {
        assert_eq!(objects(&[document.clone(), entry.clone()]).len(), 1, "{entry}");
    }
    assert_eq!(objects(&[&[document.clone()][..], &local].concat()).len(), 1);
    // These did: a response that permits the use of the cache, one without content, and one of unknown size.
    let fresh = empty.replace("200", "304");
    let nothing = entry(60, 1, "https://a/x", "", r#", "bodySize": 0, "content": {"size": 0}"#, "");
    let measured = empty.replace(r#""bodySize": 0"#, r#""bodySize": 0, "_transferSize": 90"#);
    for entry in [fresh, nothing, measured] {
        assert_eq!(objects(&[document.clone(), entry.clone()]).len(), 2, "{entry}");
    }
    let why = "none of its entries went over the network: 1 from a cache, a service worker or the browser itself, the first is entry 1";
    assert_eq!(read(&archive(&[cached])).unwrap_err(), why);
    let told = left_out(&archive(&[&[document.clone()][..], &local].concat()));
    assert_eq!(
        told,
        "1 never made, blocked or given up (no HTTP status), the first is entry 3; \
         4 from a cache, a service worker or the browser itself, the first is entry 2; \
         1 not http or https, the first is entry 4"
    );
    assert_eq!(read(&archive(&[])).unwrap_err(), "none of its entries went over the network");
}

#[test]
fn entries_are_assigned_to_pages() {
    let paged = |pages: &str, of: &[&str]| {
        let entries: Vec<String> = of
            .iter()
            .zip(0..)
            .map(|(page, at)| entry(at, 5, "http://a/", "", TEN, if page.is_empty() { "" } else { page }))
            .collect();
        read(&archive(&entries).replace(r#""entries""#, &format!(r#""pages": [{pages}], "entries""#)))
    };
    let (p, q) = (r#", "pageref": "p""#, r#", "pageref": "q""#);
    let counts = |pages: Vec<Page>| pages.iter().map(|page| page.objects.len()).collect::<Vec<_>>();
    let two = r#"{"id": "p"}, {"id": "q"}"#;
    assert_eq!(counts(paged(two, &[q, p, q]).unwrap()), [1, 2]);
    assert_eq!(counts(paged(r#"{"id": "p"}"#, &[p, ""]).unwrap()), [2]);
    assert_eq!(counts(paged("", &["", p]).unwrap()), [2]);
    assert_eq!(counts(paged(r#"{"id": "p"}"#, &[q]).unwrap()), [1]);
    assert_eq!(counts(paged(r#"{"id": "p"}, {}"#, &[p]).unwrap()), [1]);
    // Different names are different pages, listed or not.
    assert_eq!(counts(paged("", &[q, p, q]).unwrap()), [2, 1]);
    assert_eq!(counts(paged(r#"{"id": "p"}"#, &[q, p, q]).unwrap()), [1, 2]);
    // By time: on the page that had begun last.
    assert_eq!(counts(paged(two, &[p, "", q, "", ""]).unwrap()), [2, 3]);
    assert_eq!(counts(paged(two, &["", q, p]).unwrap()), [1, 2]);
    assert_eq!(paged(r#"{"id": "p"}, {"id": "p"}"#, &[p]).unwrap_err(), "two pages with the id \"p\"");
}

#[test]
fn several_pages_are_told() {
    let entry = |at: u32, page: &str| entry(at, 5, "http://a/", "", TEN, page);
    let (p, q) = (r#", "pageref": "p""#, r#", "pageref": "q""#);
    let notes = |entries: &[String], pages: &str| {
        let text = archive(entries).replace(r#""entries""#, &format!(r#"{pages}"entries""#));
        parse(&text, OPTIONS).unwrap().notes()
    };
    let entries = [entry(0, p), entry(5, p), entry(9, q)];
    let told = "2 pages, which are loaded in turn (the option pages of the application says how many): \"p\" with 2 entries, \
                \"q\" with 1 entry";
    let missing = format!("{told}; log.pages does not list 2 of them");
    assert_eq!(notes(&entries, ""), [missing.as_str()]);
    assert_eq!(notes(&entries, r#""pages": [], "#), [missing]);
    assert_eq!(notes(&entries, r#""pages": [{"id": "p"}, {"id": "q"}], "#), [told]);
    assert_eq!(notes(&entries[..2], r#""pages": [{"id": "p"}, {"id": "q"}], "#), [""; 0]);
    let loose = notes(&[entry(0, p), entry(5, ""), entry(9, q)], "");
    assert_eq!(
        loose[0],
        "1 of 3 entries without a pageref: they belong to the page that had begun last; the first is entry 2"
    );
    let many: Vec<String> = (0..9).map(|at| entry(at, &format!(r#", "pageref": "{at}""#))).collect();
    assert!(notes(&many, "")[0].contains("\"4\" with 1 entry, 4 more; log.pages"), "{:?}", notes(&many, ""));
}

#[test]
fn the_first_error_is_reported_with_its_entry() {
    let good = entry(0, 5, "http://a/", "", TEN, "");
    let error = |bad: &str| read(&archive(&[good.clone(), bad.to_owned()])).unwrap_err();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from));
        error(&good.replacen(from, to, 1))
    };
    assert_eq!(error("3"), "entry 2: no request");
    assert_eq!(changed(r#""url": "http://a/""#, r#""uri": """#), "entry 2: no request.url");
    assert_eq!(changed(r#""http://a/""#, "7"), "entry 2: request.url is 7; expected text");
    assert_eq!(changed("200", "\"2xx\""), "entry 2: response.status is \"2xx\"; expected a number");
    assert_eq!(changed("200", "200.5"), "entry 2: response.status is 200.5; expected a whole number");
    let time =
        "entry 2: startedDateTime is \"2026-03-01 9:05\"; expected a time as \"2026-03-01T09:05:00.123Z\"";
    assert_eq!(changed("2026-03-01T09:05:00.000Z", "2026-03-01 9:05"), time);
    assert!(changed(r#""time": 5"#, r#""time": 1e300"#).starts_with("entry 2: time is 1e+300; expected"));
    let sizes = "entry 2: response.bodySize is \"2 kB\"; expected a number";
    assert_eq!(changed(r#""bodySize": 10"#, r#""bodySize": "2 kB""#), sizes);
    assert!(
        changed(r#""bodySize": 10"#, r#""bodySize": 2000000000000"#)
            .starts_with("entry 2: response.bodySize is")
    );
    assert_eq!(changed(TEN, ""), "entry 2: no response.content");
    assert_eq!(changed(r#""time": 5"#, r#""time": "5 ms""#), "entry 2: time is \"5 ms\"; expected a number");
    assert_eq!(changed(r#""time": 5"#, r#""time": "NaN""#), "entry 2: time is \"NaN\"; expected a number");
    let unknown = "entry 2: neither response.bodySize nor response.content.size is known";
    assert_eq!(changed(TEN, r#", "content": {"size": -1}"#), unknown);
    let fields = r#", "bodySize": 10, "headers": {}"#;
    assert_eq!(changed(TEN, fields), "entry 2: response.headers is an object; expected a list");
}

#[test]
fn archives_have_a_format_and_limits() {
    assert!(read("").unwrap_err().starts_with("not JSON: "));
    assert!(read(&"[".repeat(100_000)).unwrap_err().starts_with("not JSON: "));
    assert_eq!(read("[]").unwrap_err(), "no log");
    assert_eq!(read(r#"{"log": {}}"#).unwrap_err(), "no log.entries");
    assert_eq!(
        read(r#"{"log": {"version": "2.0"}}"#).unwrap_err(),
        "log.version is \"2.0\"; expected \"1.2\""
    );
    assert_eq!(read(r#"{"log": {"version": "1.2"}}"#).unwrap_err(), "no log.entries");
    let object = r#"{"log": {"version": "1.2", "entries": {}}}"#;
    assert_eq!(read(object).unwrap_err(), "log.entries is an object; expected a list");
    let many = vec![entry(0, 5, "http://a/", "", TEN, ""); MAX_OBJECTS + 1];
    assert_eq!(read(&archive(&many)).unwrap_err(), "entry 10001: more than 10000 objects of a page");
    assert_eq!(read(&archive(&many[1..])).unwrap()[0].objects.len(), MAX_OBJECTS);
    assert_eq!(read(&" ".repeat(MAX_FILE_BYTES + 1)).unwrap_err(), "more than 64 MiB");
    assert!(read(&format!("\u{feff}{EXAMPLE}")).is_ok());
}

#[test]
fn options_change_the_page_and_faults_name_the_file() {
    let pages = pages_of(&ROW, &[("file", EXAMPLE), ("gaps", "false"), ("think", "\"7 ms\"")], 1, 2);
    assert_eq!(pages[0], pages[1]);
    assert!(
        pages[0]
            .objects
            .iter()
            .all(|object| object.parsing.is_zero() && object.think == Duration::from_millis(7))
    );
    let wrong = arguments(&ROW, &[("file", "{}")]);
    let Err(fault) = super::pages(&wrong, &mut random::Stream::new(1, "")) else { panic!("it was read") };
    assert_eq!(fault, ("file", "the-file, no log".to_owned()));
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

/// One of 1970 began the page 56 years early, and all others waited for it.
#[test]
fn dates_of_another_day_are_not_used() {
    let good = [
        entry(0, 10, "https://a.example/", "", TEN, ""),
        entry(50, 10, "https://a.example/b", "", TEN, ""),
        entry(90, 10, "https://a.example/c", "", TEN, ""),
    ];
    let told = "1 of 3 entries with a startedDateTime of another day than those of their page";
    for date in [
        "1970-01-01T00:00:00.000Z",
        "0001-01-01T00:00:00.0000000Z",
        "1969-12-31T23:59:59.000+00:00",
        "1970-01-01T00:00:00.000+01:00",
        "2026-03-03T09:05:00.050Z",
        "2025-03-01T09:05:00.050Z",
        "2199-12-31T23:59:59Z",
    ] {
        for (at, taken) in [(0, 50), (1, 0), (2, 50)] {
            let when = [0, 50, 90][at];
            let stated = format!("2026-03-01T09:05:00.{when:03}Z");
            let mut bad = good.clone();
            bad[at] = bad[at].replace(&stated, date);
            let mut same = good.clone();
            same[at] = same[at].replace(&stated, &format!("2026-03-01T09:05:00.{taken:03}Z"));
            let found = parse(&archive(&bad), OPTIONS).unwrap();
            assert_eq!(found.pages, read(&archive(&same)).unwrap(), "{date} {at}");
            let notes = found.notes();
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert!(
                notes[0].starts_with(told) && notes[0].ends_with(&format!("the first is entry {}", at + 1)),
                "{notes:?}"
            );
        }
    }
    let old = good.map(|entry| entry.replace("2026-03-01T09:05:00", "0001-01-01T00:00:00"));
    let problem = read(&archive(&old)).unwrap_err();
    assert!(problem.starts_with("most entries of a page have a startedDateTime before 1970"), "{problem}");
}

#[test]
fn negative_times_are_unknown() {
    let timings = r#", "timings": {"send": 1, "wait": 20, "receive": 5}"#;
    for (time, more, millis) in
        [("-1", timings, 26), ("-5", timings, 26), ("-5", "", 0), ("-0.5", "", 0), ("\"-1\"", "", 0)]
    {
        let first = entry(0, 7, "https://a.example/", "", TEN, more)
            .replace("\"time\": 7", &format!("\"time\": {time}"));
        let second = entry(100, 5, "https://a.example/b", "", TEN, "");
        let found = objects(&[first, second]);
        assert_eq!(found[1].parsing, Duration::from_millis(100 - millis), "{time} {more}");
    }
}

#[test]
fn priorities_in_words_have_hyphens_or_not() {
    for (word, urgency) in
        [("very-high", 0), ("Very High", 0), ("VERY_LOW", 4), ("very low", 4), ("Medium", 2)]
    {
        let more = format!(r#", "_priority": "{word}""#);
        let found = objects(&[entry(0, 5, "http://a/x.png", "", TEN, &more)]);
        assert_eq!(found[0].priority.urgency, urgency, "{word}");
    }
}

#[test]
fn an_archive_that_was_cut_has_its_complete_entries() {
    let entries: Vec<String> =
        (0..4).map(|at| entry(at * 20, 5, "https://a.example/{[\\\"]}", "", TEN, "")).collect();
    let whole = archive(&entries);
    let ends: Vec<usize> =
        entries.iter().map(|entry| whole.find(entry.as_str()).unwrap() + entry.len()).collect();
    for cut in 1..whole.len() {
        let complete = ends.iter().filter(|end| **end <= cut).count();
        match parse(&whole[..cut], OPTIONS) {
            Ok(found) => {
                assert_eq!(found.pages[0].objects.len(), complete, "{cut}");
                let words = if complete == 1 { "1 entry" } else { &format!("{complete} entries") };
                let told = format!(
                    "cut off in line {}, after {words}: what is complete is played",
                    1 + whole[..cut].trim_end().matches('\n').count()
                );
                assert_eq!(found.notes(), [told], "{cut}");
            }
            Err(error) => {
                assert_eq!(complete, 0, "{cut}: {error}");
                assert!(error.to_string().starts_with("not JSON: EOF"), "{error}");
            }
        }
    }
}
