//! Tests of archives: the example, pages, and what depends on what.

mod omitted;
mod priorities;
mod sizes;
mod times;

use super::*;
use crate::testing::{arguments, pages_of};
use crate::{After, Kind as ObjectKind, Object, Pages};
use http::Priority;

const EXAMPLE: &str = include_str!("../../../../../examples/pages/shop.har");
const OPTIONS: HarOptions =
    HarOptions { gaps: true, think: Duration::ZERO, pages: ReadingOptions { reading: Duration::ZERO } };

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

#[test]
fn objects_are_from_the_host_in_their_url() {
    for (url, host) in [
        ("https://www.A.example/b?c=https://d.example/", Some("www.a.example")),
        ("https://a.example:8443/", Some("a.example")),
        ("HTTPS://user:secret@a.example?b", Some("a.example")),
        ("http://[2001:DB8::1]:80/", Some("[2001:db8::1]")),
        ("https://a.example.", Some("a.example")),
        ("https:///b", None),
    ] {
        let found = objects(&[entry(0, 5, url, "", TEN, "")]);
        assert_eq!(found[0].host.as_deref(), host, "{url}");
    }
    let text = archive(&[
        entry(0, 5, "https://a.example/", "", TEN, ""),
        entry(10, 5, "https://b.example/", "", TEN, ""),
        entry(20, 5, "https://a.example/c", "", TEN, ""),
    ]);
    let hosts = Replay::new(read(&text).unwrap()).hosts();
    assert_eq!(hosts.iter().map(|host| &**host).collect::<Vec<_>>(), ["a.example", "b.example"]);
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
fn the_reported_archives_are_read() {
    let played = read(include_str!("../../../tests/har/negative-status.har")).unwrap();
    assert_eq!(played, read(include_str!("../../../tests/har/negative-status-truth.har")).unwrap());
    assert_eq!(played[0].objects.len(), 2);
    assert_eq!(read(include_str!("../../../tests/har/time-null.har")).unwrap()[0].objects.len(), 1);
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
    let Err(fault) = super::pages(&wrong, &mut random::Generator::new(1, "")) else { panic!("it was read") };
    assert_eq!(fault, ("file", "the-file, no log".to_owned()));
}
