//! Altered files of known paths: the fuzzing entry point on a stable toolchain, for a bounded time.
#![cfg(target_os = "linux")]

use live::fuzz::known_paths;
use proptest::collection::vec;
use proptest::prelude::*;
use units::fuzz::{altered, draws};

const FILE: &str = include_str!("../../../examples/known-paths.json");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_altered_file_is_refused_or_read(seed: u64) {
        known_paths(altered(FILE, &mut draws(seed)).as_bytes());
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(!known_paths(&bytes));
    }
}

/// Otherwise the properties above would be vacuous.
#[test]
fn altered_files_are_taken_and_refused() {
    assert!(known_paths(FILE.as_bytes()));
    let taken = (0..2000).filter(|seed| known_paths(altered(FILE, &mut draws(*seed)).as_bytes())).count();
    assert!((20..1900).contains(&taken), "{taken} of 2000 are taken");
}
