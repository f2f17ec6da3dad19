//! A frame is described once, in `wire`. The number of other files that name it is limited, so that adding a frame
//! remains a small change.

use crate::code;
use crate::{Finding, Rule, Tree};

/// The description of the frames.
const TABLE: &str = "crates/wire/src/frame/mod.rs";
/// The maximum number of files that name a frame, including its description.
const MAX_FILES: usize = 8;
/// Handshake messages are data like that of streams, with functions of their own for packing, loss and retransmission.
/// (The special frames ACK, STREAM and DATAGRAM are not counted either.)
const DATA: &str = "Crypto";
/// Crates without frames, or with frames of other protocols.
const UNRELATED: [&str; 4] = ["crates/http/", "crates/traffic/", "crates/tidy/", "crates/tls/"];

pub(super) const RULE: Rule = Rule {
    name: "frame_files",
    about: "a frame is named in at most eight files, tests not counted: what can follow from its description in wire, does",
    check,
    broken: || {
        let table = "frames! {\n    /// X.\n    StopSending {\n        code: u64 as Integer,\n    } = 0x05, \"STOP_SENDING\", \"__01\", \"\";\n    @special\n}\n";
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| format!("crates/quic/src/{name}.rs"));
        let mut files = vec![(TABLE, table)];
        files.extend(names.iter().map(|name| (name.as_str(), "fn f() { g(Frame::StopSending) }\n")));
        Tree::of(&files)
    },
};

/// A frame: its variant, and its quoted name.
struct FrameNames {
    variant: String,
    quoted: String,
}

/// The frames of the table, except for the special ones.
fn described(table: &str) -> Vec<FrameNames> {
    let mut frames = Vec::new();
    let mut variant = None;
    let rows = table.lines().skip_while(|line| !line.starts_with("frames! {")).skip(1);
    for line in rows.map(str::trim).take_while(|line| *line != "@special") {
        let word: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        if line.starts_with(|first: char| first.is_ascii_uppercase()) && !line.contains(" unless ") {
            variant = Some(word);
        }
        let name = line.split_once(" = 0x").and_then(|(_, row)| row.split('"').nth(1));
        if let (Some(name), Some(variant)) = (name, variant.take_if(|_| name.is_some())) {
            frames.push(FrameNames { variant, quoted: format!("\"{name}\"") });
        }
    }
    frames
}

/// Whether a source names a frame: its variant, if that consists of several words or follows the name of a frame enum;
/// or its name as a string.
fn names(text: &str, frame: &FrameNames) -> bool {
    let is_long = frame.variant.chars().filter(char::is_ascii_uppercase).count() > 1;
    let code = code::without_tests(text);
    let tokens = code::tokens(&code);
    let named = tokens.iter().enumerate().filter(|(_, token)| token.text == frame.variant);
    let mut named = named.map(|(at, _)| {
        is_long
            || at >= 2
                && tokens[at - 1].text == "::"
                && ["Frame", "SentFrame", "Notice"].contains(&tokens[at - 2].text)
    });
    let tests = code::test_items(text);
    let quoted = || {
        text.match_indices(&frame.quoted).any(|(at, _)| {
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            !line.trim_start().starts_with("//") && !tests.iter().any(|item| item.contains(&at))
        })
    };
    named.any(|named| named) || quoted()
}

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(table) = tree.file(TABLE) else { return Vec::new() };
    let sources: Vec<_> = tree
        .ending(".rs")
        .filter(|file| file.path.starts_with("crates/") && !file.is_test())
        .filter(|file| !UNRELATED.iter().any(|other| file.path.starts_with(other)))
        .collect();
    let mut findings = Vec::new();
    for frame in described(&table.text).iter().filter(|frame| frame.variant != DATA) {
        let files: Vec<&str> =
            sources.iter().filter(|file| names(&file.text, frame)).map(|file| file.path.as_str()).collect();
        if files.len() > MAX_FILES {
            let says = format!("{} is named in {} files: {}", frame.variant, files.len(), files.join(", "));
            findings.push(Finding::new(TABLE, 0, says));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_from_their_table() {
        let table = "x\nframes! {\n    /// PING (19.2).\n    Ping = 0x01, \"PING\", \"IH01\", \"\";\n    MaxData {\n        /// Most.\n        maximum: u64 as Integer,\n    } = 0x10, \"MAX_DATA\", \"__01\", \"\",\n        Problem unless maximum > 1;\n    @special\n    Ack(Ack<'a>) = \"ACK\", \"IH_1\", \"NC\";\n}\n";
        let frames: Vec<_> =
            described(table).into_iter().map(|frame| (frame.variant, frame.quoted)).collect();
        let expected = [("Ping", "\"PING\""), ("MaxData", "\"MAX_DATA\"")];
        assert_eq!(frames, expected.map(|(variant, quoted)| (variant.to_owned(), quoted.to_owned())));
    }

    #[test]
    fn a_frame_is_named_by_its_variant_or_its_text() {
        let frame = |variant: &str, name: &str| FrameNames {
            variant: variant.to_owned(),
            quoted: format!("\"{name}\""),
        };
        let (ping, stop) = (frame("Ping", "PING"), frame("StopSending", "STOP_SENDING"));
        assert!(names("Frame::Ping", &ping) && !names("http2::Ping", &ping) && names("f(\"PING\")", &ping));
        assert!(names("enum Notice { StopSending(Id) }", &stop) && !names("// \"STOP_SENDING\"", &stop));
        assert!(!names("#[cfg(test)]\nmod tests { fn f() { Frame::Ping; g(\"PING\") } }", &ping));
    }
}
