//! Equal seeds give equal bytes. Different seeds give different ones if anything is random.

use crate::bed::{LINKS, ONE_LINK, Run, assert_equal, run_into, scenario};
use lab::Scenario;
use std::thread;

fn lossy(protection: &str, seed: u64) -> Scenario {
    let protection = format!("tls.protection={protection}");
    let seed = format!("seed={seed}");
    // All random parts of a link.
    let mut sets: Vec<&str> = LINKS.iter().flat_map(|(_, sets)| sets.iter().copied()).collect();
    sets.extend([protection.as_str(), seed.as_str(), "flow.get.application.size=100 kB"]);
    scenario(ONE_LINK, &sets)
}

fn assert_complete(run: &Run) {
    let names: Vec<&str> = run.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["capture.pcapng", "get-client.sqlog", "get-server.sqlog"]);
    assert!(run.files.values().all(|bytes| bytes.len() > 1000));
    assert_eq!(run.tables.len(), 10);
    assert!(run.tables.iter().filter(|table| table.rows() > 0).count() >= 8);
    assert_eq!(run.connection("get")["completed"], true);
}

#[test]
fn two_runs_in_one_thread() {
    for protection in ["null", "tls"] {
        let scenario = lossy(protection, 5);
        let first = run_into(&scenario, &format!("twice-{protection}-1"));
        assert_complete(&first);
        let second = run_into(&scenario, &format!("twice-{protection}-2"));
        assert_equal(&first, &second, protection);
    }
}

#[test]
fn two_runs_in_parallel_threads() {
    for protection in ["null", "tls"] {
        let start = |name: &'static str| {
            let folder = format!("threads-{protection}-{name}");
            // Each thread reads the scenario and makes certificates on its own.
            thread::spawn(move || run_into(&lossy(protection, 6), &folder))
        };
        let runs = ["1", "2"].map(start).map(|thread| thread.join().unwrap());
        assert_complete(&runs[0]);
        assert_equal(&runs[0], &runs[1], protection);
    }
}

#[test]
fn different_seeds_differ() {
    for protection in ["null", "tls"] {
        let [first, second] = [7, 8].map(|seed| {
            let run = run_into(&lossy(protection, seed), &format!("differ-{protection}-{seed}"));
            assert_complete(&run);
            run
        });
        assert_ne!(first.summary["connections"], second.summary["connections"]);
        assert_ne!(first.summary["links"], second.summary["links"]);
        for name in first.files.keys() {
            assert_ne!(first.files[name], second.files[name], "{name}");
        }
        assert_ne!(first.rows("drop", &[]), second.rows("drop", &[]));
    }
}

#[test]
fn without_random_links_the_seed_affects_no_time() {
    let [first, second] = [7, 8].map(|seed| {
        let run = run_into(&scenario(ONE_LINK, &[&format!("seed={seed}")]), &format!("chanceless-{seed}"));
        assert_eq!(run.summary["seed"], seed);
        run
    });
    assert_eq!(first.summary["connections"], second.summary["connections"]);
    assert_eq!(first.summary["links"], second.summary["links"]);
    // Connection ids are still random.
    assert_ne!(first.files["capture.pcapng"], second.files["capture.pcapng"]);
}
