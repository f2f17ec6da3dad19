//! Priorities: from the field, from words, or from the type of the resource.

use super::*;

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
