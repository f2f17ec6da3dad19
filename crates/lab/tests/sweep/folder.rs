//! The folder of a sweep, which gives the same tables after interruptions, extensions, or damage, and with any threads.

use super::bed::{SWEEP, finish, folder, interrupt, sweep, tables};
use lab::sweep::SweepError;
use random::Generator;
use std::fs;

#[test]
fn tables_do_not_depend_on_the_number_of_threads() {
    let sweep = sweep(SWEEP);
    let one = tables(&mut finish(&sweep, &folder("one"), 1));
    assert!(one.contains("link.cell.delay_ms") && one.contains("cwnd_bytes"));
    assert_eq!(tables(&mut finish(&sweep, &folder("two"), 2)), one);
    assert_eq!(tables(&mut finish(&sweep, &folder("many"), 9)), one);
}

#[test]
fn interruptions_do_not_affect_the_tables() {
    let sweep = sweep(SWEEP);
    let whole = tables(&mut finish(&sweep, &folder("whole"), 2));
    for seed in 0..3 {
        let folder = folder(&format!("interrupted-{seed}"));
        let mut stream = Generator::new(seed, "interruptions");
        let mut kept = 0;
        for _ in 0..10 {
            let result = interrupt(&sweep, &folder, 1 + stream.below(3) as usize, 1 + stream.below(2));
            assert!(matches!(result, Err(SweepError::Interrupted)), "24 runs are not done after 10 x 2");
            // A loss of power may cut off a record.
            let mut segments: Vec<_> =
                fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            segments.sort();
            if stream.chance(0.5) {
                let last = fs::OpenOptions::new().write(true).open(segments.last().unwrap()).unwrap();
                let length = last.metadata().unwrap().len();
                last.set_len(length - stream.below(length.min(200))).unwrap();
            }
            kept += 1;
        }
        let mut finished = finish(&sweep, &folder, 2);
        assert_eq!(kept, 10);
        assert!(finished.progress().reused > 0, "{:?}", finished.progress());
        assert_eq!(tables(&mut finished), whole, "seed {seed}");
    }
}

#[test]
fn an_extended_sweep_makes_only_new_runs() {
    let folder = folder("extended");
    let small = sweep(&SWEEP.replace("repetitions = 4", "repetitions = 2").replace("[1, 4]", "[4]"));
    assert_eq!(finish(&small, &folder, 2).progress().reused, 0);
    let again = finish(&small, &folder, 2).progress();
    assert_eq!((again.done, again.reused), (6, 6));
    let large = sweep(SWEEP);
    let mut extended = finish(&large, &folder, 2);
    let progress = extended.progress();
    assert_eq!((progress.done, progress.reused), (24, 6));
    assert_eq!(tables(&mut extended), tables(&mut finish(&large, &super::bed::folder("fresh"), 2)));
}

#[test]
fn damaged_records_are_replaced() {
    let sweep = sweep(SWEEP);
    let folder = folder("damaged");
    let whole = tables(&mut finish(&sweep, &folder, 1));
    let segment = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let good = fs::read(&segment).unwrap();
    let mut stream = Generator::new(1, "damage");
    for _ in 0..20 {
        let mut bad = good.clone();
        let at = stream.below(bad.len() as u64) as usize;
        bad[at] ^= 1 << stream.below(8);
        for entry in fs::read_dir(&folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(&segment, &bad).unwrap();
        let mut finished = finish(&sweep, &folder, 2);
        assert!(finished.progress().reused < 24, "byte {at}");
        assert_eq!(tables(&mut finished), whole, "byte {at}");
    }
}
