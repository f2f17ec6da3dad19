//! The project's own scripts with random changes: the fuzz target on a stable toolchain, for a bounded time.

use proptest::prelude::*;
use script::fuzz::script;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use units::fuzz::{altered, draws};

fn scripts() -> &'static [String] {
    static READ: OnceLock<Vec<String>> = OnceLock::new();
    READ.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
        let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "quic"));
        paths.sort();
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default()
    })]

    #[test]
    fn an_altered_script_is_refused_or_comes_to_a_verdict(which: usize, seed: u64) {
        let _ = script(&altered(&scripts()[which % scripts().len()], &mut draws(seed)));
    }
}

/// Otherwise the property above would be vacuous.
#[test]
fn altered_scripts_get_to_every_end() {
    let scripts = scripts();
    assert!(scripts.len() > 100, "{}", scripts.len());
    let verdicts =
        (0..200).map(|seed| script(&altered(&scripts[seed as usize % scripts.len()], &mut draws(seed))));
    let (mut refused, mut passed, mut failed) = (0, 0, 0);
    for verdict in verdicts {
        match verdict {
            None => refused += 1,
            Some(script::Verdict::Passed { .. }) => passed += 1,
            Some(script::Verdict::Failed(_)) => failed += 1,
        }
    }
    assert!(refused > 10 && passed > 10 && failed > 10, "{refused} {passed} {failed}");
}
