//! Runs with progress, interrupted runs, and runs that cannot write their results.

use crate::bed::{ONE_LINK, new_folder, scenario};
use lab::{Options, Progress, RunError, run};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use units::Time;

/// A transfer that is long enough for several reports of progress.
fn long() -> lab::Scenario {
    scenario(ONE_LINK, &["flow.get.application.size=40 MB", "duration=100 s"])
}

#[test]
fn progress_rises_to_the_end() {
    let mut seen: Vec<Progress> = Vec::new();
    let note = &mut |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    };
    let watched = run(&long(), &Options::default(), note).unwrap();
    assert!(seen.len() >= 3, "{}", seen.len());
    for pair in seen.windows(2) {
        assert!(pair[0].now <= pair[1].now && pair[0].done_bytes <= pair[1].done_bytes);
    }
    for progress in &seen {
        assert_eq!(
            (progress.total_bytes, progress.end),
            (Some(40_000_000), Time::from_nanos(100_000_000_000))
        );
    }
    assert_eq!(seen.last().unwrap().done_bytes, 40_000_000);
    // Reports of progress do not affect the run.
    let alone = run(&long(), &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(watched.summary, alone.summary);
}

#[test]
fn the_receiver_of_progress_can_stop_the_run() {
    let mut calls = 0;
    let stop = &mut |_| {
        calls += 1;
        if calls == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let error = run(&long(), &Options::default(), stop).unwrap_err();
    assert!(matches!(error, RunError::Interrupted), "{error}");
    assert_eq!(calls, 2);
}

#[test]
fn an_error_names_the_file_that_could_not_be_written() {
    let folder = new_folder("outputs");
    let missing = folder.join("missing");
    let output = |qlog: Option<&Path>, pcap: Option<&Path>| {
        let options = Options {
            tables: true,
            qlog: qlog.map(Path::to_owned),
            pcap: pcap.map(Path::to_owned),
            ..Options::default()
        };
        let scenario = scenario(ONE_LINK, &["tls.protection=tls"]);
        match run(&scenario, &options, &mut |_| ControlFlow::Continue(())) {
            Err(RunError::Output { path, error }) => (path, error.kind()),
            other => panic!("{other:?}"),
        }
    };
    let not_found = std::io::ErrorKind::NotFound;
    assert_eq!(output(Some(&missing), None), (missing.clone(), not_found));
    let capture = missing.join("capture.pcapng");
    assert_eq!(output(Some(&folder), Some(&capture)), (capture, not_found));
    // A disk that fills up while the run goes on.
    let full = Path::new("/dev/full");
    if fs::exists(full).unwrap() {
        assert_eq!(output(Some(&folder), Some(full)), (full.to_owned(), std::io::ErrorKind::StorageFull));
    }
}

#[test]
fn a_seed_of_the_options_takes_the_place_of_the_scenarios() {
    let set = |seed: u64| scenario(ONE_LINK, &["link.cell.both.loss=5 %", &format!("seed={seed}")]);
    let summary = |scenario: &lab::Scenario, seed: Option<u64>| {
        let options = Options { seed, ..Options::default() };
        run(scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap().summary
    };
    assert_eq!(summary(&set(1), Some(9)), summary(&set(9), None));
    assert_ne!(summary(&set(1), None), summary(&set(9), None));
}
