//! The priority of an entry: what was sent, what the browser noted, or what a browser gives to such a resource.

use super::json::Node;
use super::sizes;
use http::Priority;

/// The urgencies of the words in archives, without regard to case, hyphens and blanks. Chromium's developer tools write VeryHigh to VeryLow
/// for HIGHEST, MEDIUM, LOW, LOWEST and IDLE of its network stack, which sends the distance to the highest as the urgency
/// (net/quic/quic_http_utils.cc); WebPageTest writes Highest and Lowest for the first and the last of them.
const WORDS: [(&str, u8); 8] = [
    ("veryhigh", 0),
    ("highest", 0),
    ("high", 1),
    ("medium", 2),
    ("low", 3),
    ("verylow", 4),
    ("lowest", 4),
    ("idle", 4),
];

/// The members that have such words: of Chromium and WebPageTest, and what WebPageTest noted before a script changed it.
const MEMBERS: [&str; 3] = ["_priority", "_initialPriority", "_initial_priority"];

/// The urgencies that Chromium gives to types of resources (blink's `TypeToPriority`), by the words of `_resourceType`.
const TYPES: [(&str, u8); 17] = [
    ("document", 0),
    ("stylesheet", 0),
    ("font", 0),
    ("script", 1),
    ("xhr", 1),
    ("fetch", 1),
    ("eventsource", 1),
    ("preflight", 1),
    ("manifest", 2),
    ("image", 3),
    ("media", 3),
    ("texttrack", 3),
    ("other", 3),
    ("ping", 4),
    ("beacon", 4),
    ("prefetch", 4),
    ("cspviolationreport", 4),
];

/// The types of resources by the beginnings of media types.
const MEDIA_TYPES: [(&str, &str); 16] = [
    ("text/html", "document"),
    ("application/xhtml+xml", "document"),
    ("text/css", "stylesheet"),
    ("font/", "font"),
    ("application/font", "font"),
    ("application/x-font", "font"),
    ("application/vnd.ms-fontobject", "font"),
    ("text/javascript", "script"),
    ("application/javascript", "script"),
    ("application/x-javascript", "script"),
    ("application/ecmascript", "script"),
    ("application/manifest", "manifest"),
    ("application/json", "xhr"),
    ("image/", "image"),
    ("video/", "media"),
    ("audio/", "media"),
];

/// The types of resources by the ends of paths, where the archive says nothing else.
const ENDINGS: [(&str, &str); 17] = [
    (".html", "document"),
    (".css", "stylesheet"),
    (".woff2", "font"),
    (".woff", "font"),
    (".ttf", "font"),
    (".js", "script"),
    (".mjs", "script"),
    (".json", "xhr"),
    (".png", "image"),
    (".jpg", "image"),
    (".jpeg", "image"),
    (".gif", "image"),
    (".webp", "image"),
    (".avif", "image"),
    (".svg", "image"),
    (".mp4", "media"),
    (".mp3", "media"),
];

/// The field `priority` of the request (RFC 9218 section 5) if present, otherwise the browser's priority, otherwise that of
/// its type; the default of RFC 9218 if nothing is known.
pub(super) fn of(
    entry: &Node<'_>,
    request: &Node<'_>,
    response: &Node<'_>,
    url: &str,
) -> Result<Priority, String> {
    if let Some(value) = sizes::field(request, "priority") {
        return Ok(Priority::parse(value.as_bytes()).unwrap_or_default());
    }
    let noted = MEMBERS.iter().find_map(|member| noted(entry.get(member)?.text().ok()?));
    if let Some(priority) = noted {
        return Ok(priority);
    }
    let urgency = match resource_type(entry) {
        Some(resource) => urgency(&resource),
        None => urgency(of_media_type(&media_type(response)?).or_else(|| of_path(url)).unwrap_or_default()),
    };
    Ok(Priority { urgency: urgency.unwrap_or(Priority::default().urgency), ..Priority::default() })
}

/// A priority in a word, or in the form of the field: `u=1, i`.
fn noted(text: &str) -> Option<Priority> {
    if text.contains('=') {
        return Priority::parse(text.as_bytes());
    }
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let (_, urgency) = WORDS.iter().find(|(word, _)| plain.eq_ignore_ascii_case(word))?;
    Some(Priority { urgency: *urgency, ..Priority::default() })
}

fn urgency(resource: &str) -> Option<u8> {
    TYPES.iter().find(|(known, _)| *known == resource).map(|(_, urgency)| *urgency)
}

/// The type of a resource in lower case: `_resourceType` of Chromium, `_request_type` of WebPageTest.
pub(super) fn resource_type(entry: &Node<'_>) -> Option<String> {
    let given = entry.get("_resourceType").or_else(|| entry.get("_request_type"))?;
    given.text().ok().filter(|text| !text.is_empty()).map(str::to_ascii_lowercase)
}

/// The media type of a response without its parameters, in lower case; empty if it is not known.
pub(super) fn media_type(response: &Node<'_>) -> Result<String, String> {
    let given = response.get("content").and_then(|content| content.get("mimeType"));
    let text = given.map_or(Ok(""), |given| given.text())?;
    Ok(text.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
}

fn of_media_type(media_type: &str) -> Option<&'static str> {
    MEDIA_TYPES.iter().find(|(begin, _)| media_type.starts_with(begin)).map(|(_, resource)| *resource)
}

fn of_path(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or("").to_ascii_lowercase();
    ENDINGS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, resource)| *resource)
}
