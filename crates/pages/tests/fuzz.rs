//! Altered files of pages: the fuzzing entry point on a stable toolchain, for a bounded time.

use pages::fuzz::pages;
use proptest::prelude::*;

use units::fuzz::{altered, draws};

const FILES: [(&str, &str); 2] = [
    ("har", include_str!("../../../examples/pages/shop.har")),
    ("list", include_str!("../../../examples/pages/article.csv")),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_altered_file_is_refused_or_gives_pages(which in 0..FILES.len(), seed: u64) {
        let (kind, text) = FILES[which];
        pages(kind, &altered(text, &mut draws(seed)));
    }
}

/// Otherwise the property above would be vacuous.
#[test]
fn altered_files_are_taken_and_refused() {
    for (kind, text) in FILES {
        assert!(pages(kind, text));
        let taken = (0..200).filter(|seed| pages(kind, &altered(text, &mut draws(*seed)))).count();
        assert!((10..190).contains(&taken), "{kind}: {taken} of 200 are taken");
    }
}
