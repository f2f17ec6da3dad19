//! The requirements of RFCs, in the rows of `crates/quic/rfc/`, and their citations in comments of the sources.
//!
//! A citation is the id of a row, such as `9000-8.1-2`, in a comment. In a test (a `tests` folder, or an item under
//! `#[cfg(test)]`) it means that the test proves the requirement, elsewhere that the line enforces it.

use crate::tree::{File, Tree};
use crate::{Finding, code};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// The folder of the rows: one file per RFC, named by its number.
pub const FOLDER: &str = "crates/quic/rfc/";
/// The sources of this crate mention ids without citing them.
const EXCLUDED: &str = "crates/tidy/";

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// RFC, section, number within the section.
    pub id: String,
    /// The file of the row.
    pub path: String,
    /// The line of the row, counted from 1.
    pub line: usize,
    /// Who must meet it.
    pub who: String,
    /// The requirement in words.
    pub says: String,
    /// Why it cannot be cited.
    pub because: Option<String>,
    /// Whether it is known that no code cites it.
    pub open_code: bool,
    /// Whether it is known that no test cites it.
    pub open_test: bool,
}

impl Requirement {
    /// The RFC and the section: `9000-8.1`.
    pub fn section(&self) -> &str {
        self.id.rsplit_once('-').map_or(&self.id, |(section, _)| section)
    }
}

/// An id in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The id.
    pub id: String,
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// Whether the citation is in a test.
    pub test: bool,
}

/// A requirement and the number of its citations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The row.
    pub requirement: Requirement,
    /// The number of citations by code.
    pub code: usize,
    /// The number of citations by tests.
    pub test: usize,
}

/// The rows of all RFCs in the order of the files, and their errors.
pub fn rows(tree: &Tree) -> (Vec<Requirement>, Vec<Finding>) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for file in tree.ending(".toml").filter(|file| file.path.starts_with(FOLDER)) {
        match DeTable::parse(&file.text) {
            Ok(table) => {
                let mut read: Vec<_> = table
                    .get_ref()
                    .iter()
                    .map(|(id, value)| {
                        let line = code::line_of(&file.text, id.span().start);
                        row(file, line, id.get_ref(), value.get_ref())
                    })
                    .collect();
                read.sort_by_key(|row| match row {
                    Ok(row) => row.line,
                    Err(finding) => finding.line,
                });
                for row in read {
                    match row {
                        Ok(row) => rows.push(row),
                        Err(finding) => findings.push(finding),
                    }
                }
            }
            Err(error) => findings.push(Finding::new(&file.path, 0, error.message().to_owned())),
        }
    }
    (rows, findings)
}

fn row(file: &File, line: usize, id: &str, value: &DeValue<'_>) -> Result<Requirement, Finding> {
    let wrong = |says: String| Err(Finding::new(&file.path, line, says));
    if ids(id).next().is_none_or(|(_, known)| known != id) || !id.starts_with(file.stem()) {
        return wrong(format!("`{id}` is no id of RFC {}: {}-section-number", file.stem(), file.stem()));
    }
    let Some(fields) = value.as_table() else { return wrong(format!("`{id}` is no table")) };
    let text = |key: &str| fields.get(key).and_then(|value| value.get_ref().as_str()).map(str::to_owned);
    if let Some((key, _)) =
        fields.iter().find(|(key, _)| !["who", "says", "because", "open"].contains(&key.get_ref().as_ref()))
    {
        return wrong(format!("`{}` is no key of a requirement", key.get_ref()));
    }
    let (Some(who), Some(says)) = (text("who"), text("says")) else {
        return wrong(format!("`{id}` needs `who` and `says`"));
    };
    let (open_code, open_test) = match text("open").as_deref() {
        None => (false, false),
        Some("code") => (true, false),
        Some("test") => (false, true),
        Some("code, test") => (true, true),
        Some(other) => return wrong(format!("`open` is code, test or both, not `{other}`")),
    };
    let (path, id, because) = (file.path.clone(), id.to_owned(), text("because"));
    Ok(Requirement { id, path, line, who, says, because, open_code, open_test })
}

/// All citations of RFCs that have rows.
pub fn citations(tree: &Tree) -> Vec<Citation> {
    let known: Vec<&str> =
        tree.ending(".toml").filter(|file| file.path.starts_with(FOLDER)).map(File::stem).collect();
    let mut found = Vec::new();
    for file in tree.ending(".rs") {
        if !file.path.starts_with("crates/") || file.path.starts_with(EXCLUDED) {
            continue;
        }
        let all = ids(&file.text).filter(|(_, id)| known.contains(&id.split('-').next().unwrap_or(id)));
        let all: Vec<(usize, &str)> = all.filter(|(at, _)| in_comment(&file.text, *at)).collect();
        if all.is_empty() {
            continue;
        }
        let items = code::test_items(&file.text);
        found.extend(all.into_iter().map(|(at, id)| Citation {
            id: id.to_owned(),
            path: file.path.clone(),
            line: code::line_of(&file.text, at),
            test: file.is_test() || items.iter().any(|item| item.contains(&at)),
        }));
    }
    found
}

/// Whether `//` precedes it in its line.
fn in_comment(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..at].contains("//")
}

/// All text with the form of an id (four digits, a section or an appendix, a number), with its position.
fn ids(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize, more: &[u8]| {
        bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || more.contains(byte)).count()
    };
    text.match_indices('-').filter_map(move |(dash, _)| {
        let start = dash.checked_sub(4)?;
        // An appendix begins with its letter: `9959-B.3-1`.
        let letter = usize::from(bytes.get(dash + 1).is_some_and(u8::is_ascii_uppercase));
        let section = letter + digits(dash + 1 + letter, b".");
        let second = dash + 1 + section;
        let whole = digits(start, b"") == 4 && section > 0 && bytes.get(second) == Some(&b'-');
        let alone = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        let number = if whole && alone { digits(second + 1, b"") } else { 0 };
        (number > 0).then(|| (start, &text[start..second + 1 + number]))
    })
}

/// All rows with the number of their citations.
pub fn coverage(tree: &Tree) -> Vec<Covered> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for citation in citations(tree) {
        counts.entry(citation.id).or_default()[usize::from(citation.test)] += 1;
    }
    let (rows, _) = rows(tree);
    let covered = rows.into_iter().map(|requirement| {
        let [code, test] = counts.get(&requirement.id).copied().unwrap_or_default();
        Covered { requirement, code, test }
    });
    covered.collect()
}

/// The output of `make rfc`: counts per section, the rows not cited by code, and those not cited by a test.
pub fn report(tree: &Tree) -> String {
    let all = coverage(tree);
    let mut sections: Vec<(&str, [usize; 4])> = Vec::new();
    for covered in &all {
        let section = covered.requirement.section();
        if sections.last().is_none_or(|(last, _)| *last != section) {
            sections.push((section, [0; 4]));
        }
        let applies = covered.requirement.because.is_none();
        if let Some((_, counts)) = sections.last_mut() {
            counts[0] += 1;
            counts[1] += usize::from(!applies);
            counts[2] += usize::from(applies && covered.code > 0);
            counts[3] += usize::from(applies && covered.test > 0);
        }
    }
    let line = |name: &str, [rows, others, code, test]: [usize; 4]| {
        format!("{name:<16} {rows:>5} {others:>10} {code:>6} {test:>6}\n")
    };
    let mut out =
        format!("{:<16} {:>5} {:>10} {:>6} {:>6}\n", "section", "rows", "of others", "code", "tests");
    let mut sum = [0; 4];
    for (name, counts) in sections {
        out.push_str(&line(name, counts));
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    out.push_str(&line("all", sum));
    let asked = || all.iter().filter(|covered| covered.requirement.because.is_none());
    let mut list = |title: &str, missing: Vec<&Covered>| {
        out.push_str(&format!("\n{title}: {}\n", missing.len()));
        for Covered { requirement, .. } in missing {
            let Requirement { id, who, says, .. } = requirement;
            out.push_str(&format!("  {id:<16} {who}: {says}\n"));
        }
    };
    list("not cited by code", asked().filter(|covered| covered.code == 0).collect());
    list("not covered by a test", asked().filter(|covered| covered.test == 0).collect());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = r#"
"9000-4.1-1" = { who = "endpoint", says = "a" }
"9000-4.1-2" = { who = "client", says = "b", open = "test" }
"9000-4.1-10" = { who = "kernel", says = "c", because = "d" }
"#;

    #[test]
    fn only_complete_ids_are_found() {
        let found: Vec<&str> = ids(
            "RFC 9000-4.1-12, 9000-8-1: 2026-11-21x 19000-1-1 9000-4.1 9000-4.1- 9000-B.3-1 9000-b.3-1 9000-",
        )
        .map(|(_, id)| id)
        .collect();
        assert_eq!(found, ["9000-4.1-12", "9000-8-1", "2026-11-21", "9000-B.3-1"]);
    }

    #[test]
    fn citations_are_classified_by_their_position() {
        let code = "// RFC 9000-4.1-1: x\nfn a() { \"9000-4.1-2\"; }\n#[cfg(test)]\nmod tests {\n /// 9000-4.1-2.\n fn t() {}\n}\n// 2026-11-21\n";
        let tree = Tree::of(&[
            ("crates/quic/rfc/9000.toml", ROWS),
            ("crates/quic/src/a.rs", code),
            ("crates/quic/tests/b.rs", "//! RFC 9000-4.1-1.\n"),
            ("crates/tidy/src/c.rs", "//! 9000-4.1-1\n"),
        ]);
        let found: Vec<_> = citations(&tree).into_iter().map(|c| (c.id, c.line, c.test)).collect();
        let expected = [("9000-4.1-1", 1, false), ("9000-4.1-2", 5, true), ("9000-4.1-1", 1, true)];
        assert_eq!(found, expected.map(|(id, line, test)| (id.to_owned(), line, test)));
        let counts: Vec<_> = coverage(&tree).iter().map(|row| (row.code, row.test)).collect();
        assert_eq!(counts, [(1, 1), (0, 1), (0, 0)], "in the order of the file");
        let report = report(&tree);
        assert!(report.contains("9000-4.1             3          1      1      2\n"), "{report}");
        assert!(report.contains("not cited by code: 1\n  9000-4.1-2       client: b\n"), "{report}");
        assert!(report.ends_with("not covered by a test: 0\n"), "{report}");
    }

    #[test]
    fn malformed_rows_are_reported() {
        for (text, says) in [
            ("\"9000-4.1\" = { who = \"x\", says = \"y\" }", "no id"),
            ("\"9001-4.1-1\" = { who = \"x\", says = \"y\" }", "no id"),
            ("\"9000-4.1-1\" = { who = \"x\" }", "needs"),
            ("\"9000-4.1-1\" = 3", "no table"),
            ("\"9000-4.1-1\" = { who = \"x\", says = \"y\", oben = \"z\" }", "no key"),
            ("\"9000-4.1-1\" = { who = \"x\", says = \"y\", open = \"z\" }", "not `z`"),
            ("\"9000-4.1-1\" = {", ""),
        ] {
            let (_, findings) = rows(&Tree::of(&[("crates/quic/rfc/9000.toml", text)]));
            assert!(findings.len() == 1 && findings[0].says.contains(says), "{text}: {findings:?}");
        }
    }
}
