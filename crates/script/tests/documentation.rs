//! docs/scripts.md: every example runs, every report and message after one is the actual output, links are valid, and
//! the tour through RFC 9002 includes every script of its folders.

use script::{Script, Verdict};
use std::fs;
use std::path::{Path, PathBuf};

const ORIGIN: &str = "example.quic";
/// The folders of the tour.
const TOUR: &[&str] = &["rtt", "loss", "pto", "congestion", "persistent-congestion"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
fn document() -> String {
    fs::read_to_string(root().join("docs/scripts.md")).unwrap()
}

/// A fenced block: its language line, the number of its first line, and its text.
struct Block {
    language: String,
    line: usize,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (index, line) in document.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            open = !open;
            if open {
                found.push(Block { language: language.to_owned(), line: index + 2, text: String::new() });
            }
        } else if let Some(block) = found.last_mut().filter(|_| open) {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!open, "a block has no end");
    found
}

/// The output of a failing or invalid script; empty if it holds.
fn told(text: &str) -> String {
    match Script::parse(ORIGIN, text).and_then(|script| script.run()) {
        Ok(Verdict::Passed { .. }) => String::new(),
        Ok(Verdict::Failed(failure)) => failure.to_string(),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn every_example_does_what_the_page_says() {
    let document = document();
    let blocks = blocks(&document);
    let (mut holds, mut fails, mut mistakes) = (0, 0, 0);
    for (index, block) in blocks.iter().enumerate() {
        let line = block.line;
        let found = told(&block.text);
        match block.language.as_str() {
            "quic" => {
                assert_eq!(found, "", "docs/scripts.md:{line}");
                holds += 1;
                continue;
            }
            "quic fails" => fails += 1,
            "quic mistake" => mistakes += 1,
            "text" => continue,
            other => panic!("docs/scripts.md:{line}: a block of an unknown kind: {other}"),
        }
        let shown = blocks.get(index + 1).filter(|next| next.language == "text");
        let shown = shown.unwrap_or_else(|| panic!("docs/scripts.md:{line}: what it says is not shown"));
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&found), trimmed(&shown.text), "docs/scripts.md:{}", shown.line);
    }
    assert!(holds >= 8 && fails >= 1 && mistakes >= 3, "{holds} hold, {fails} fail, {mistakes} are none");
}

/// The targets of `](TARGET)`.
fn links(document: &str) -> impl Iterator<Item = &str> {
    document.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn links_lead_somewhere() {
    let document = document();
    let headings: Vec<String> = document
        .lines()
        .filter(|line| line.starts_with("##"))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-").replace('?', ""))
        .collect();
    for link in links(&document) {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(headings.iter().any(|heading| heading == anchor), "#{anchor}"),
            None => assert!(root().join("docs").join(link).exists(), "{link}"),
        }
    }
}

#[test]
fn the_tour_leaves_no_script_of_its_folders_out() {
    let document = document();
    for folder in TOUR {
        for entry in fs::read_dir(root().join("tests/scripts").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let link = format!("../tests/scripts/{folder}/{name}");
            assert!(links(&document).any(|known| known == link), "docs/scripts.md has no link to {link}");
        }
    }
}
