//! Altered scenarios from the examples and the papers, as libFuzzer does it, but on a stable toolchain and for a bounded time.

use lab::fuzz::{Verdict, scenario};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use units::fuzz::{altered, draws};

/// The documents to alter, with their paths.
fn documents() -> &'static [(PathBuf, String)] {
    static READ: OnceLock<Vec<(PathBuf, String)>> = OnceLock::new();
    READ.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join("examples")];
        folders.extend(
            std::fs::read_dir(root.join("python/quiclab/papers")).unwrap().map(|entry| entry.unwrap().path()),
        );
        let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| {
            let name = path.to_string_lossy();
            name.ends_with(".scenario.toml") || name.contains("/examples/") && name.ends_with(".toml")
        });
        paths.sort();
        let read = |path: PathBuf| std::fs::read_to_string(&path).ok().map(|text| (path, text));
        let mut all: Vec<(PathBuf, String)> = paths.into_iter().filter_map(read).collect();
        let near = root.join("examples/near.toml");
        all.extend([NEAR_ITS_LIMITS; 4].map(|text| (near.clone(), text.to_owned())));
        all
    })
}

/// A scenario whose alterations are often valid, but cannot be built.
const NEAR_ITS_LIMITS: &str = r#"
duration = "1 s"
[tls]
certificate_chain = "60 kB"
server_name = "a.example"
[[link]]
name = "cell"
from = "server"
to = "client"
forward.mtu = 1300
backward.mtu = 1300
[[flow]]
name = "get"
client = "client"
server = "server"
application = "bulk"
[[flow]]
name = "put"
client = "client"
server = "server"
ip = 6
application = "bulk"
"#;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default()
    })]

    #[test]
    fn an_altered_scenario_is_refused_or_runs(which: usize, seed: u64) {
        let (origin, text) = &documents()[which % documents().len()];
        scenario(&altered(text, &mut draws(seed)), origin);
    }
}

/// Checks that the property above is not vacuous.
#[test]
fn altered_scenarios_have_all_verdicts() {
    let documents = documents();
    assert!(documents.len() > 30, "{}", documents.len());
    let verdict = |seed: u64, (origin, text): &(PathBuf, String)| {
        scenario(&altered(text, &mut draws(1000 + seed)), origin)
    };
    let all = (0..200).map(|seed| verdict(seed, &documents[seed as usize % documents.len()]));
    // The last document is near its limits.
    let near = (0..300).map(|seed| verdict(seed, &documents[documents.len() - 1]));
    let verdicts: Vec<Verdict> = all.chain(near).collect();
    for (end, least) in [(Verdict::Refused, 40), (Verdict::Failed, 2), (Verdict::Ran, 40)] {
        let count = verdicts.iter().filter(|verdict| **verdict == end).count();
        assert!(count >= least, "{count} are {end:?}");
    }
}
