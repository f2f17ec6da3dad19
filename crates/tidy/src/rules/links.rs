//! The links of the documentation exist.

use crate::{Finding, Rule, Tree};

pub(super) const RULE: Rule = Rule {
    name: "links",
    about: "every relative link of a Markdown file leads to a file or a folder of the project",
    check,
    broken: || Tree::of(&[("docs/index.md", "see [the link model](model/link.md)")]),
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".md") {
        let mut fenced = false;
        for (number, line) in file.lines() {
            fenced ^= line.trim_start().starts_with("```");
            if fenced {
                continue;
            }
            for target in targets(line) {
                if !leads_somewhere(tree, &file.path, target) {
                    findings.push(Finding::new(&file.path, number, format!("`{target}` does not exist")));
                }
            }
        }
    }
    findings
}

/// The targets of the links in a line: the text in the parentheses of `[text](target)`.
fn targets(line: &str) -> Vec<&str> {
    line.match_indices("](").filter_map(|(at, _)| line[at + 2..].split(')').next()).collect()
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or(target);
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let folder = format!("{path}/");
    tree.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_from_their_file() {
        for (text, count) in [
            ("[a](model/link.md) [b](../README.md#try) [c](model/)", 0),
            ("[a](https://example.org/x) [b](#here)", 0),
            ("[a](../../x.md)", 1),
            ("![p](images/none.png)", 1),
            ("```\n[a](none)\n```\n", 0),
        ] {
            let tree = Tree::of(&[("docs/index.md", text), ("docs/model/link.md", ""), ("README.md", "")]);
            assert_eq!(check(&tree).len(), count, "{text}");
        }
    }
}
