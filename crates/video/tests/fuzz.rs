//! Altered files of presentations: the fuzzing entry points on a stable toolchain, for a bounded time.

use proptest::prelude::*;
use units::fuzz::{altered, draws};
use video::fuzz::{mpd, sizes};

const MPDS: [&str; 3] =
    [include_str!("mpd/ffmpeg.mpd"), include_str!("mpd/broadcast.mpd"), include_str!("mpd/ranges.mpd")];
const MPD_SIZES: &str = include_str!("mpd/ffmpeg.csv");
const COLUMNS: &str = include_str!("sizes.csv");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_altered_mpd_is_refused_or_gives_a_presentation(which in 0..MPDS.len(), seed: u64) {
        mpd(&altered(MPDS[which], &mut draws(seed)), None);
    }

    #[test]
    fn altered_sizes_of_an_mpd_are_refused_or_give_a_presentation(seed: u64) {
        mpd(MPDS[0], Some(&altered(MPD_SIZES, &mut draws(seed))));
    }

    #[test]
    fn altered_columns_of_sizes_are_refused_or_give_a_presentation(seed: u64) {
        sizes(&altered(COLUMNS, &mut draws(seed)));
    }
}

/// Otherwise the properties above would be vacuous.
#[test]
fn altered_files_are_taken_and_refused() {
    let taken = |read: &dyn Fn(u64) -> bool| (0..200).filter(|seed| read(*seed)).count();
    for text in MPDS {
        assert!(mpd(text, None));
        let taken = taken(&|seed| mpd(&altered(text, &mut draws(seed)), None));
        assert!((10..190).contains(&taken), "{taken} of 200 MPDs are taken");
    }
    assert!(mpd(MPDS[0], Some(MPD_SIZES)) && sizes(COLUMNS));
    let of_mpd = taken(&|seed| mpd(MPDS[0], Some(&altered(MPD_SIZES, &mut draws(seed)))));
    let columns = taken(&|seed| sizes(&altered(COLUMNS, &mut draws(seed))));
    // A list of sizes must be complete: most changes break it.
    assert!((3..190).contains(&of_mpd) && (10..190).contains(&columns), "{of_mpd} and {columns} of 200");
}
