//! The project follows its house rules, and every rule can fail.

use std::path::Path;
use tidy::Tree;
use tidy::rules::RULES;

fn house() -> Tree {
    Tree::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))).expect("the sources are readable")
}

#[test]
fn the_project_follows_the_house_rules() {
    let tree = house();
    let mut broken = String::new();
    for rule in RULES {
        for finding in (rule.check)(&tree) {
            broken.push_str(&format!("[{}] {finding}\n", rule.name));
        }
    }
    assert!(broken.is_empty(), "house rules are broken:\n{broken}");
}

#[test]
fn every_rule_fails_on_its_bad_example() {
    for rule in RULES {
        let findings = (rule.check)(&(rule.broken)());
        assert!(!findings.is_empty(), "{} does not see what is wrong in its own example", rule.name);
    }
}

#[test]
fn every_rule_has_its_file_and_its_sentence() {
    let tree = house();
    for rule in RULES {
        let path = format!("crates/tidy/src/rules/{}.rs", rule.name);
        assert!(tree.file(&path).is_some(), "{path} is missing");
        assert!(rule.about.len() > 20, "{} says too little", rule.name);
    }
    let files = tree.files.iter().filter(|file| file.path.starts_with("crates/tidy/src/rules/")).count();
    assert_eq!(files, RULES.len() + 1, "one file for each rule, and the table");
}
