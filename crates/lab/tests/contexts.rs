//! TLS contexts, with their keys and certificates, are made once for all runs of a process that need equal ones.
//!
//! The counter is that of the process: this file has one test.

use lab::{Options, Outcome, Scenario, contexts_made};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;

const TEXT: &str = r#"
duration = "1 s"

[[link]]
name = "wire"
from = "server"
to = "client"
delay = "1 ms"

[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 kB" }
"#;

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TEXT, Path::new("test.toml"), &sets).unwrap()
}

fn run(scenario: &Scenario, seed: Option<u64>) -> Outcome {
    let options = Options { seed, tables: true, ..Options::default() };
    lab::run(scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn runs_share_contexts_and_no_result_depends_on_that() {
    let plain = scenario(&[]);
    let first = run(&plain, None);
    assert_eq!(contexts_made(), 1);
    // Without cryptography, contexts have no seed.
    let seventh = run(&plain, Some(7));
    assert_eq!(seventh.summary, run(&scenario(&["seed=7"]), None).summary);
    thread::scope(|scope| {
        let again = scope.spawn(|| run(&plain, None));
        assert_eq!(again.join().unwrap().summary, first.summary);
    });
    assert_eq!(contexts_made(), 1);
    // Keys and certificates are drawn from the seed, which a capture shows.
    let protected = scenario(&["tls.protection=tls"]);
    let third = run(&protected, Some(3));
    assert_eq!(contexts_made(), 2);
    assert_eq!(run(&scenario(&["tls.protection=tls", "seed=3"]), None).summary, third.summary);
    assert_eq!(contexts_made(), 2);
    run(&protected, Some(4));
    assert_eq!(contexts_made(), 3);
    // Other options, and other application protocols, have contexts of their own.
    run(&scenario(&["tls.certificate_chain=4 kB"]), None);
    run(&scenario(&["flow.get.application={ type = \"request-response\" }"]), None);
    assert!(contexts_made() >= 4);
}
