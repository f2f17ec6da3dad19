//! Entries that are not played, and archives that are not read.

use super::*;

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
fn the_first_error_is_reported_with_its_entry() {
    let good = entry(0, 5, "http://a/", "", TEN, "");
    let error = |bad: &str| read(&archive(&[good.clone(), bad.to_owned()])).unwrap_err();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from));
        error(&good.replacen(from, to, 1))
    };
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

/// One of them stopped the whole archive.
#[test]
fn entries_that_cannot_be_played_are_left_out_and_told() {
    let good = entry(0, 5, "http://a/", "", TEN, "");
    let start = r#""startedDateTime": "2026-03-01T09:05:00.000Z""#;
    assert!(good.contains(start));
    for bad in [
        "null".to_owned(),
        "3".to_owned(),
        r#""x""#.to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        good.replace(start, r#""startedDateTime": """#),
        good.replace(start, r#""startedDateTime": null"#),
        good.replace(start, r#""x": 1"#),
        good.replace(r#""url": "http://a/""#, r#""uri": """#),
    ] {
        let text = archive(&[good.clone(), bad.clone()]);
        assert_eq!(read(&text).unwrap()[0].objects.len(), 1, "{bad}");
        let told = "1 without a request, its url or its startedDateTime, so that they cannot be played, the first is entry 2";
        assert_eq!(left_out(&text), told);
    }
}

#[test]
fn a_text_that_says_no_is_no_cache_and_a_push_is_told() {
    let good = entry(0, 5, "http://a/", "", TEN, "");
    for (text, count) in
        [("\"false\"", 2), ("\"no\"", 2), ("\"False\"", 2), ("\"0\"", 2), ("\"disk\"", 1), ("true", 1)]
    {
        let other = entry(9, 5, "http://a/x", "", TEN, &format!(r#", "_fromCache": {text}"#));
        assert_eq!(objects(&[good.clone(), other]).len(), count, "{text}");
    }
    let pushed = entry(9, 5, "http://a/x", "", TEN, r#", "_was_pushed": 1"#);
    let notes = parse(&archive(&[good, pushed]), OPTIONS).unwrap().notes();
    let told = "1 of 2 entries pushed by the server: they are requested as the others; the first is entry 2";
    assert_eq!(notes, [told]);
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
