//! Links with recorded traces.

use crate::bed::{examples, run, scenario};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The recorded traces, which are not part of the project, or else its generated one.
fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let files = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "down")).collect();
    files.sort();
    if files.is_empty() {
        // Written directly, since the test harness hides the output of passing tests.
        let _ =
            writeln!(io::stderr(), "NOT TESTED: no recorded traces in {}; the shipped one", folder.display());
        files.push(examples().join("traces/lte-like.down"));
    }
    files
}

const CELL: &str = r#"
duration = "30 s"
[[link]]
name = "cell"
from = "server"
to = "client"
delay = "20 ms"
forward.rate = { type = "trace", file = "traces/lte-like.down" }
forward.queue = "200 packets"
backward.rate = "5 Mbit/s"
[[flow]]
name = "get"
client = "client"
server = "server"
application = "bulk"
"#;

/// The opportunities of 1500 bytes in the first `ms` of a trace, computed without the reader under test.
fn opportunities(path: &Path, ms: u64) -> u64 {
    let text = fs::read_to_string(path).unwrap();
    let times: Vec<u64> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let length = *times.last().unwrap();
    let (rounds, rest) = (ms / length, ms % length);
    rounds * times.len() as u64 + times.iter().filter(|at| **at <= rest).count() as u64
}

#[test]
fn every_recorded_link_runs() {
    for path in traces() {
        let set = format!("link.cell.forward.rate.file={}", path.display());
        let run = run(&scenario(CELL, &[&set]));
        let (link, get) = (run.link("cell", "forward"), run.connection("get"));
        let delivered = link["delivered_bytes"].as_u64().unwrap();
        let capacity = 1500 * opportunities(&path, 30_000);
        assert!(delivered <= capacity, "{}: {delivered} of {capacity}", path.display());
        // NewReno with a queue of 200 packets uses most of the capacity, even if the rate jumps.
        assert!(delivered * 10 > capacity * 6, "{}: {delivered} of {capacity}", path.display());
        let goodput = get["delivered_bytes"].as_u64().unwrap();
        assert!(
            goodput < delivered * 96 / 100 + 1500 && goodput * 10 > delivered * 9,
            "{goodput} {delivered}"
        );
        // The table of rates has the same capacity.
        let mbps = run.numbers("rate", "mbps", &[("kind", "capacity"), ("subject", "cell forward")]);
        let table = mbps.iter().sum::<f64>() * 0.1 * 1e6 / 8.0;
        assert!((table / capacity as f64 - 1.0).abs() < 0.002, "{}: {table} {capacity}", path.display());
        assert_eq!(
            link["drops"]["queue"].as_u64().unwrap(),
            run.rows("drop", &[("reason", "queue")]).len() as u64
        );
    }
}
