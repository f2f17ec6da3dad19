//! What cannot happen stops the program with a sentence.

use crate::certainties::Certainties;
use crate::{Finding, Rule, Tree};

/// The least number of asserts for each hundred functions, by crate. A crate that has got there is added.
const FLOORS: [(&str, f64); 5] =
    [("congestion", 10.0), ("lab", 10.0), ("network", 10.0), ("quic", 10.0), ("tcp", 10.0)];

pub(super) const RULE: Rule = Rule {
    name: "certain",
    about: "crates that compute state what is certain: at least ten asserts with a sentence for each hundred functions",
    check,
    broken: || {
        let functions = "fn f() {}\n".repeat(11);
        let one = "//! A.\nfn g(a: u8) { assert!(a > 0, \"a is never zero\"); }\n";
        Tree::of(&[("crates/quic/src/a.rs", &functions), ("crates/quic/src/b.rs", one)])
    },
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, floor) in FLOORS {
        let Certainties { stated, functions } = Certainties::of(tree, name);
        let wanted = (floor * functions as f64 / 100.0).ceil() as usize;
        if stated < wanted {
            let says = format!(
                "{stated} asserts with a sentence in {functions} functions, {wanted} are wanted: say with `expect` or `assert!` \
                 what the code relies on, where a wrong edit would make a plausible number of it"
            );
            findings.push(Finding::new(&format!("crates/{name}"), 0, says));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_itself_is_enough() {
        for (functions, found) in [(9, 0), (10, 1)] {
            let text =
                format!("{}fn g() {{ a.expect(\"b is one of a\"); }}", "fn f() {}\n".repeat(functions));
            let tree = Tree::of(&[("crates/quic/src/a.rs", &text)]);
            assert_eq!(check(&tree).len(), found, "{functions} and one");
        }
    }
}
