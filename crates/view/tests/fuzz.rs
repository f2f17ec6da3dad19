//! Records with random changes: the fuzz target on a stable toolchain, for a bounded time.

use proptest::prelude::*;
use units::fuzz::{altered, draws};
use view::fuzz::records;

/// Records of this and of other stacks: data, losses, acknowledgements, flow control, gauges.
const RECORDS: &str = include_str!("records.sqlog");

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default()
    })]

    #[test]
    fn altered_records_are_read_or_left(seed: u64) {
        records(altered(RECORDS, &mut draws(seed)).as_bytes());
    }

    #[test]
    fn altered_bytes_are_read_or_left(changes in prop::collection::vec((0..RECORDS.len(), any::<u8>()), 0..6)) {
        let mut text = RECORDS.as_bytes().to_vec();
        changes.into_iter().for_each(|(at, byte)| text[at] = byte);
        records(&text);
    }
}

/// Otherwise the properties above would be vacuous.
#[test]
fn altered_records_get_to_every_end() {
    assert_eq!(records(RECORDS.as_bytes()), (10, 0));
    let counts = (0..200).map(|seed| records(altered(RECORDS, &mut draws(seed)).as_bytes()));
    let (read, odd) = counts.fold((0, 0), |all, next| (all.0 + next.0, all.1 + next.1));
    assert!(read > 1000 && odd > 50, "{read} {odd}");
}
