//! The document of the paths that a server knows: JSON, read strictly.

use congestion::{Learned, PathStore, Saved};
use serde_json::{Map, Value};
use std::fmt::{self, Write};
use std::net::IpAddr;
use units::Duration;

/// The maximum length of a document in bytes. The longest one that is written has two thirds of it.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// What the document says that it is.
const FORMAT: &str = "quiclab known paths";
/// The version of the format.
const VERSION: u64 = 1;
/// The maximum number of paths.
const MAX_PATHS: usize = PathStore::DEFAULT_LIMIT;
/// The largest capacity in bytes.
const MAX_CAPACITY: u64 = 1_000_000_000_000;
/// The largest RTT in nanoseconds: an hour.
const MAX_RTT_NS: u64 = 3_600_000_000_000;

/// Why a document cannot be read: what is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DocumentProblem {
    /// It is longer than 1 MiB.
    TooLong,
    /// It is not JSON: the reason with its line.
    NotJson(String),
    /// It is JSON of something else.
    OtherFormat,
    /// It is of another version of the format, as it is written there.
    OtherVersion(String),
    /// It has more paths than a server remembers.
    TooManyPaths(usize),
    /// A value is wrong: its place, what is there, and what is expected.
    Value(String, String, String),
}

impl fmt::Display for DocumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentProblem::TooLong => {
                write!(
                    f,
                    "it is longer than {MAX_BYTES} bytes; expected a file that `quiclab real serve --remember` wrote"
                )
            }
            DocumentProblem::NotJson(why) => {
                write!(
                    f,
                    "it is not JSON ({why}); expected a file that `quiclab real serve --remember` wrote, or none"
                )
            }
            DocumentProblem::OtherFormat => {
                write!(f, "it is JSON of something else; expected \"format\": \"{FORMAT}\"")
            }
            DocumentProblem::OtherVersion(found) => {
                write!(f, "its version is {found}; expected {VERSION}: another version of quiclab wrote it")
            }
            DocumentProblem::TooManyPaths(count) => {
                write!(f, "it has {count} paths; expected at most {MAX_PATHS}")
            }
            DocumentProblem::Value(place, found, expected) => {
                write!(f, "{place} is {found}; expected {expected}")
            }
        }
    }
}

/// The text of these paths, in their order. A path beyond the limits of the format is left out.
pub(super) fn write(paths: &[Learned]) -> String {
    let mut text = format!("{{\n\"format\": \"{FORMAT}\",\n\"version\": {VERSION},\n\"paths\": [");
    let valid = |learned: &&Learned| {
        (1..=MAX_CAPACITY).contains(&learned.saved.window)
            && (1..=MAX_RTT_NS).contains(&learned.saved.rtt.as_nanos())
    };
    // The newest ones, which are last.
    let skipped = paths.len().saturating_sub(MAX_PATHS);
    for (at, learned) in paths.iter().skip(skipped).filter(valid).enumerate() {
        let Learned { saved, ip, date_ms } = learned;
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n{{\"peer\": \"{}\", \"capacity_bytes\": {}, \"rtt_ns\": {}, \"date_ms\": {date_ms}}}",
            ip.to_canonical(),
            saved.window,
            saved.rtt.as_nanos()
        );
    }
    text.push_str("\n]\n}\n");
    text
}

/// The paths in a document, in their order.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Learned>, DocumentProblem> {
    if bytes.len() > MAX_BYTES {
        return Err(DocumentProblem::TooLong);
    }
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| DocumentProblem::NotJson(error.to_string()))?;
    // First what it is: everything else has a meaning only in this format and version.
    let Value::Object(document) = &value else { return Err(DocumentProblem::OtherFormat) };
    if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(DocumentProblem::OtherFormat);
    }
    match document.get("version") {
        Some(version) if version.as_u64() == Some(VERSION) => {}
        other => return Err(DocumentProblem::OtherVersion(shown(other))),
    }
    check_keys("the document", document, &["format", "version", "paths"])?;
    let Some(Value::Array(paths)) = document.get("paths") else {
        return Err(wrong("paths", document.get("paths"), "a list"));
    };
    if paths.len() > MAX_PATHS {
        return Err(DocumentProblem::TooManyPaths(paths.len()));
    }
    paths.iter().enumerate().map(|(at, path)| read_path(at, path)).collect()
}

fn read_path(at: usize, value: &Value) -> Result<Learned, DocumentProblem> {
    let place = format!("paths[{at}]");
    let Value::Object(path) = value else { return Err(wrong(&place, Some(value), "an object")) };
    check_keys(&place, path, &["peer", "capacity_bytes", "rtt_ns", "date_ms"])?;
    let number = |key: &str, least: u64, most: u64| {
        let found = path.get(key);
        let expected = || format!("a whole number from {least} to {most}");
        let number = found.and_then(Value::as_u64).filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong(&format!("{place}.{key}"), found, &expected()))
    };
    let peer = path.get("peer").and_then(Value::as_str).and_then(|text| text.parse::<IpAddr>().ok());
    let ip =
        peer.ok_or_else(|| wrong(&format!("{place}.peer"), path.get("peer"), "an IP address as a string"))?;
    let window = number("capacity_bytes", 1, MAX_CAPACITY)?;
    let rtt = Duration::from_nanos(number("rtt_ns", 1, MAX_RTT_NS)?);
    let date_ms = number("date_ms", 0, u64::MAX)?;
    Ok(Learned { saved: Saved { window, rtt }, ip: ip.to_canonical(), date_ms })
}

fn check_keys(place: &str, object: &Map<String, Value>, known: &[&str]) -> Result<(), DocumentProblem> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let found = format!("with the key {}", shown(Some(&Value::from(key.as_str()))));
            Err(DocumentProblem::Value(place.to_owned(), found, format!("only {}", known.join(", "))))
        }
    }
}

fn wrong(place: &str, found: Option<&Value>, expected: &str) -> DocumentProblem {
    DocumentProblem::Value(place.to_owned(), shown(found), expected.to_owned())
}

/// A value in an error: in one line, and not long.
fn shown(value: Option<&Value>) -> String {
    const MOST: usize = 60;
    let text = match value {
        None => return "missing".to_owned(),
        Some(Value::Object(_)) => return "an object".to_owned(),
        Some(Value::Array(_)) => return "a list".to_owned(),
        Some(value) => value.to_string(),
    };
    let mut short: String =
        text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(last: u8, window: u64) -> Learned {
        let saved = Saved { window, rtt: Duration::from_nanos(600_000_123) };
        Learned { saved, ip: [192, 0, 2, last].into(), date_ms: 1_700_000_000_123 }
    }
    fn problem(text: &str) -> String {
        let problem = read(text.as_bytes()).unwrap_err().to_string();
        assert!(!problem.chars().any(char::is_control) && problem.len() < 200, "{problem:?}");
        problem
    }

    #[test]
    fn what_is_written_is_read() {
        let six = Learned { ip: "2001:db8::7".parse().unwrap(), ..learned(1, MAX_CAPACITY) };
        for paths in [vec![], vec![learned(1, 3_750_000)], vec![learned(2, 1), six, learned(1, 2)]] {
            assert_eq!(read(write(&paths).as_bytes()), Ok(paths));
        }
        let text = "{\n\"format\": \"quiclab known paths\",\n\"version\": 1,\n\"paths\": [\n{\"peer\": \"192.0.2.1\", \
            \"capacity_bytes\": 3750000, \"rtt_ns\": 600000123, \"date_ms\": 1700000000123}\n]\n}\n";
        assert_eq!(write(&[learned(1, 3_750_000)]), text);
    }

    /// Otherwise the next start would fail.
    #[test]
    fn nothing_is_written_that_is_not_read() {
        let late = Learned {
            saved: Saved { rtt: Duration::from_nanos(u64::MAX), ..learned(3, 1).saved },
            ..learned(3, 1)
        };
        let none = Learned { saved: Saved { rtt: Duration::ZERO, ..learned(4, 1).saved }, ..learned(4, 1) };
        let paths = [learned(1, 0), learned(2, 7), late, none, learned(5, MAX_CAPACITY + 1)];
        assert_eq!(read(write(&paths).as_bytes()), Ok(vec![learned(2, 7)]));
        let longest = Learned {
            ip: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff".parse().unwrap(),
            saved: Saved { window: MAX_CAPACITY, rtt: Duration::from_nanos(MAX_RTT_NS) },
            date_ms: u64::MAX,
        };
        let mut many = vec![longest; MAX_PATHS + 1];
        many[0] = learned(1, 1);
        let text = write(&many);
        assert!(text.len() * 3 / 2 < MAX_BYTES * 11 / 10, "{}", text.len());
        assert_eq!(read(text.as_bytes()).map(|read| (read.len(), read[0])), Ok((MAX_PATHS, longest)));
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_would_be_right() {
        let good = write(&[learned(1, 1)]);
        for (from, to, told) in [
            ("]\n}\n", "]\n", "not JSON (EOF while parsing an object at line 7 column 0)"),
            ("known paths", "known", "JSON of something else"),
            ("\"version\": 1", "\"version\": 2", "its version is 2; expected 1"),
            ("\"version\": 1", "\"version\": \"1\"", "its version is \"1\"; expected 1"),
            ("\"version\": 1,\n", "", "its version is missing"),
            (
                "\"paths\": [",
                "\"more\": 1, \"paths\": [",
                "the document is with the key \"more\"; expected only format",
            ),
            ("\"paths\": [", "\"path\": [", "the document is with the key \"path\""),
            ("[\n{", "[\n1, {", "paths[0] is 1; expected an object"),
            ("192.0.2.1", "192.0.2.1:443", "paths[0].peer is \"192.0.2.1:443\"; expected an IP address"),
            (
                "\"capacity_bytes\": 1",
                "\"capacity_bytes\": 0",
                "paths[0].capacity_bytes is 0; expected a whole number from 1",
            ),
            ("\"capacity_bytes\": 1", "\"capacity_bytes\": 1.5", "capacity_bytes is 1.5"),
            (
                "600000123",
                "3600000000001",
                "paths[0].rtt_ns is 3600000000001; expected a whole number from 1 to 3600000000000",
            ),
            ("1700000000123", "-1", "paths[0].date_ms is -1"),
            (
                "\"date_ms\"",
                "\"date\"",
                "paths[0] is with the key \"date\"; expected only peer, capacity_bytes",
            ),
            (", \"date_ms\": 1700000000123", "", "paths[0].date_ms is missing"),
        ] {
            assert!(good.contains(from), "{from}");
            let text = good.replace(from, to);
            assert!(problem(&text).contains(told), "{to}: {}", problem(&text));
        }
        for other in ["", "\u{0}\u{1}", "[]", "{}", "null", "{\"format\": 3}"] {
            let told = problem(other);
            assert!(told.contains("not JSON") || told.contains("something else"), "{other:?}: {told}");
        }
        assert!(problem(&" ".repeat(MAX_BYTES + 1)).contains("longer than 1048576 bytes"));
        let many =
            format!("{{\"format\": \"{FORMAT}\", \"version\": 1, \"paths\": [{}1]}}", "1,".repeat(MAX_PATHS));
        assert!(problem(&many).contains("it has 4097 paths; expected at most 4096"));
        assert!(problem(&"[".repeat(100_000)).contains("recursion limit"));
    }
}
