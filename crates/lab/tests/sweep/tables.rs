//! The tables of a sweep, and failed runs.

use super::bed::{SWEEP, finish, folder, sweep};
use lab::{Options, run};
use std::ops::ControlFlow;
use trace::columns::Data;

fn numbers(data: &Data) -> Vec<f64> {
    match data {
        Data::F64(values) => values.clone(),
        Data::I64(values) => values.iter().map(|value| *value as f64).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_row_is_the_summary_of_a_single_run_of_its_scenario() {
    let mut finished = finish(&sweep(SWEEP), &folder("rows"), 2);
    let table = finished.runs(0, 100).unwrap();
    assert_eq!(table.rows(), 24);
    let column = |name: &str| numbers(&table.column(name).unwrap_or_else(|| panic!("{name}")).data);
    assert_eq!(column("run"), (1..=24).map(f64::from).collect::<Vec<_>>());
    assert_eq!(column("link.cell.delay_ms")[..12], [5., 5., 5., 5., 10., 10., 10., 10., 15., 15., 15., 15.]);
    for row in [0, 7, 23] {
        let scenario = finished.scenario(row as u64).unwrap();
        assert_eq!(scenario.seed as f64, column("seed")[row]);
        let alone = run(&scenario, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&alone.summary).unwrap();
        let get = &summary["connections"][0];
        assert_eq!(get["completion_s"].as_f64(), Some(column("connection.get.completion_s")[row]));
        assert_eq!(get["packets_sent"].as_f64(), Some(column("connection.get.packets_sent")[row]));
        let drops = &summary["links"][0]["drops"]["loss"];
        assert_eq!(drops.as_f64(), Some(column("link.cell.forward.drops.loss")[row]));
    }
}

#[test]
fn failed_runs_are_reported_with_their_seeds_beside_the_others() {
    // A flow that starts after the end of its run is a mistake in one of four combinations.
    let table = "[sweep]\nduration = ['10 s', '1 s']\nflow.get.start = ['0 s', '5 s']\n";
    let sweep = sweep(table);
    let folder = folder("failed");
    for reused in [0, 3] {
        let mut finished = finish(&sweep, &folder, 2);
        let progress = finished.progress();
        assert_eq!((progress.done, progress.failed, progress.reused), (4, 1, reused));
        let failures: Vec<_> = finished.failures().collect();
        assert_eq!(failures.len(), 1);
        assert_eq!((failures[0].number, failures[0].seed), (3, sweep.seed(&sweep.planned(3), 7)));
        assert_eq!(
            failures[0].problem,
            "a.toml:18:26: flow.get.start: too late, found \"5 s\"; expected a time before the end of the run (1 s)"
        );
        let table = finished.runs(0, 100).unwrap();
        let error = table.column("error").unwrap();
        let nulls = |bits: &trace::columns::Bitmap| (0..4).map(|row| !bits.get(row)).collect::<Vec<_>>();
        assert_eq!(nulls(error.validity.as_ref().unwrap()), [true, true, true, false]);
        let goodput = table.column("connection.get.goodput_mbps").unwrap();
        assert_eq!(nulls(goodput.validity.as_ref().unwrap()), [false, false, false, true]);
    }
}

#[test]
fn a_sweep_without_axes_is_a_row_and_a_series_is_a_table_of_the_run() {
    let mut finished = finish(&sweep("[sweep]\nseries = ['queue']\n"), &folder("single"), 2);
    assert_eq!(finished.runs(0, 10).unwrap().rows(), 1);
    let (series, next) = finished.series(0, 1).unwrap();
    assert_eq!(next, 1);
    let scenario = finished.scenario(0).unwrap();
    let options = Options { tables: true, ..Options::default() };
    let alone = run(&scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let queue = alone.tables.iter().find(|table| table.name == "queue").unwrap();
    // Two columns of numbers, packets and bytes.
    assert_eq!(series.rows(), 2 * queue.rows());
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let expected: f64 = (0..queue.rows())
        .map(|row| {
            queue.column("packets").unwrap().number(row).unwrap()
                + queue.column("bytes").unwrap().number(row).unwrap()
        })
        .sum();
    assert_eq!(sum(&numbers(&series.column("value").unwrap().data)), expected);
}

/// A kept table has the rows of all runs, with the numbers of the runs.
#[test]
fn kept_tables_are_those_of_the_runs() {
    let table = "[sweep]\nkeep = ['stream', 'drop', 'stream']\nrepetitions = 3\n";
    let mut finished = finish(&sweep(table), &folder("kept"), 2);
    assert_eq!(finished.sweep().plan().keep.tables, ["drop", "stream"]);
    for name in ["stream", "drop"] {
        let (all, next) = finished.kept(name, 0, usize::MAX).unwrap();
        let (mut row, mut runs) = (0, Vec::new());
        for number in 0..3 {
            let options = Options { tables: true, ..Options::default() };
            let scenario = finished.scenario(number).unwrap();
            let alone = run(&scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap();
            let alone = alone.tables.into_iter().find(|table| table.name == name).unwrap();
            assert_eq!(all.columns.len(), 1 + alone.columns.len());
            for (column, expected) in all.columns[1..].iter().zip(&alone.columns) {
                assert_eq!(column.name, expected.name);
                let column = trace::columns::Column {
                    name: expected.name,
                    data: column.data.clone(),
                    validity: column.validity.clone(),
                };
                for at in 0..alone.rows() {
                    assert_eq!(column.number(row + at), expected.number(at), "{name} {}", expected.name);
                    assert_eq!(column.text(row + at), expected.text(at), "{name} {}", expected.name);
                }
            }
            runs.extend(vec![number as i64 + 1; alone.rows()]);
            row += alone.rows();
        }
        assert_eq!((all.rows(), next, &all.columns[0].data), (row, 3, &Data::I64(runs)));
        assert!(row > 0, "{name}");
    }
    // A table that is not kept has only the column `run`.
    assert_eq!(finished.kept("packet", 0, 9).unwrap().0.columns.len(), 1);
    // Another list of tables makes another run.
    let more = finish(&sweep("[sweep]\nkeep = ['stream']\nrepetitions = 3\n"), &folder("kept-more"), 1);
    assert_eq!(more.progress().reused, 0);
    let again = finish(&sweep(table), &super::bed::folder_of("kept"), 1);
    assert_eq!(again.progress().reused, 3);
}
