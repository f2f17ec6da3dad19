//! A resolved scenario gives the same run as its document.

use crate::bed::{LINKS, ONE_LINK, assert_equal, examples, run, run_into, scenario};
use lab::Scenario;
use std::fs;
use std::path::Path;

#[test]
fn a_resolved_scenario_gives_the_same_bytes() {
    for protection in ["tls.protection=null", "tls.protection=tls"] {
        let mut sets: Vec<&str> = LINKS.iter().flat_map(|(_, sets)| sets.iter().copied()).collect();
        sets.extend([protection, "flow.get.application.size=60 kB"]);
        let first = scenario(ONE_LINK, &sets);
        let second = Scenario::parse(&first.to_toml(), Path::new("elsewhere/scenario.toml"), &[]).unwrap();
        assert_equal(
            &run_into(&first, &format!("written-{protection}")),
            &run_into(&second, &format!("read-{protection}")),
            protection,
        );
    }
}

#[test]
fn every_example_runs_and_its_resolved_scenario_too() {
    let mut count = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let scenario = Scenario::from_file(&path, &[]).unwrap();
            if !lab::emulation::gates(&scenario).is_empty() {
                // Real packets have no virtual time.
                continue;
            }
            let resolved = Scenario::parse(&scenario.to_toml(), Path::new("scenario.toml"), &[]).unwrap();
            let first = run(&scenario);
            assert_equal(&first, &run(&resolved), &path.display().to_string());
            let connections = first.summary["connections"].as_array().unwrap();
            for connection in connections {
                assert_eq!(connection["clean"], true, "{connection}");
                // Together with those that belong to its application.
                let owner = connection.get("of").unwrap_or(&connection["name"]);
                let family = connections.iter().filter(|one| one["name"] == *owner || one["of"] == *owner);
                let bytes: u64 = family.map(|one| one["delivered_bytes"].as_u64().unwrap()).sum();
                assert!(bytes > 100_000, "{connection}");
            }
            count += 1;
        }
    }
    assert!(count >= 4);
}
