//! A connection determines the order of events, and is not a container for all state.

use crate::sharing::{self, QUIC};
use crate::{Finding, Rule, Tree};

/// The maximum number of fields of the struct.
const MAX_FIELDS: usize = 32;
/// The maximum number of files that access a field.
const MAX_FILES: usize = 6;

pub(super) const RULE: Rule = Rule {
    name: "shared_fields",
    about: "quic::Connection has at most 32 fields, and none is touched from more than six files: what belongs together is a value with methods, handled where its subject is",
    check,
    broken: || {
        let touch = "impl Connection { fn f(&mut self) { self.log.push(1); } }";
        let names =
            ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("crates/quic/src/connection/{name}.rs"));
        let mut files = vec![(QUIC.file, "pub struct Connection { log: Log }")];
        files.extend(names.iter().map(|name| (name.as_str(), touch)));
        Tree::of(&files)
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let fields = sharing::fields(tree, &QUIC);
    let mut findings = Vec::new();
    if fields.len() > MAX_FIELDS {
        let says = format!(
            "{} fields, the limit is {MAX_FIELDS}: make values of those that belong together",
            fields.len()
        );
        findings.push(Finding::new(QUIC.file, 0, says));
    }
    for field in fields.iter().filter(|field| field.files.len() > MAX_FILES) {
        let files: Vec<&str> =
            field.files.iter().filter_map(|path| path.strip_prefix(QUIC.sources)).collect();
        let says = format!(
            "`{}` is touched in {} files ({}), the limit is {MAX_FILES}: tell its value what happened, where its subject is",
            field.name,
            files.len(),
            files.join(", ")
        );
        findings.push(Finding::new(QUIC.file, 0, says));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_fields_are_seen() {
        for (count, found) in [(MAX_FIELDS, 0), (MAX_FIELDS + 1, 1)] {
            let fields: String = (0..count).map(|number| format!("f{number}: u8,\n")).collect();
            let text = format!("pub struct Connection {{\n{fields}}}\n");
            assert_eq!(check(&Tree::of(&[(QUIC.file, &text)])).len(), found);
        }
    }
}
