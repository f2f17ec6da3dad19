//! Sweeps on other machines give the same tables.

use super::bed::{BASE, SWEEP, finish, folder, folder_of, sweep, sweep_of, tables};
use lab::sweep::{Finished, Keep, Maker, OngoingSweep, Order, Sweep, SweepError};
use std::fs;
use std::path::Path;

/// All orders of a session.
fn orders(session: &mut OngoingSweep) -> Vec<Order> {
    std::iter::from_fn(|| session.order()).collect()
}

/// Makes all missing runs as if on another machine, in reverse order.
fn elsewhere(sweep: &Sweep, folder: &Path) -> Finished {
    let mut session = OngoingSweep::open(sweep, folder).unwrap();
    let mut maker = Maker::default();
    for order in orders(&mut session).into_iter().rev() {
        let made = maker.make(&order, &sweep.plan().keep);
        session.put(order.number, made).unwrap();
    }
    session.finish().unwrap()
}

#[test]
fn the_tables_are_the_same() {
    let sweep = sweep(SWEEP);
    let whole = tables(&mut finish(&sweep, &folder("here"), 2));
    let there = folder("there");
    let mut finished = elsewhere(&sweep, &there);
    assert_eq!((finished.progress().done, finished.progress().reused), (24, 0));
    assert_eq!(tables(&mut finished), whole);
    // Each kind of sweep reuses the runs of the other.
    assert_eq!(finish(&sweep, &there, 2).progress().reused, 24);
    let again = elsewhere(&sweep, &folder("here-again"));
    assert_eq!(again.progress().done, 24);
    assert_eq!(elsewhere(&sweep, &folder_of("here")).progress().reused, 24);
}

/// The runs of a thread share keys and certificates, those of a maker do not.
#[test]
fn keys_and_certificates_do_not_affect_the_tables() {
    let sweep = sweep("[sweep]\nrepetitions = 4\ntls.protection = ['tls', 'null']\ntls.tickets = [0, 2]\n");
    let whole = tables(&mut finish(&sweep, &folder("keys-here"), 1));
    assert_eq!(tables(&mut elsewhere(&sweep, &folder("keys-there"))), whole);
    assert_eq!(tables(&mut finish(&sweep, &folder("keys-threads"), 3)), whole);
}

#[test]
fn files_go_with_the_order() {
    let beside = folder("files");
    fs::create_dir_all(&beside).unwrap();
    // A packet every 12 ms, and every 3 ms.
    for (name, times) in [("slow", "12\n"), ("fast", "3\n")] {
        fs::write(beside.join(name), times).unwrap();
    }
    let text = BASE.replace("rate = \"5 Mbit/s\"", "rate = { type = \"trace\", file = \"slow\" }");
    let table = "[sweep]\nlink.cell.forward.rate.file = ['slow', 'fast']\n";
    let sweep = Sweep::parse(&format!("{text}{table}"), &beside.join("a.toml"), &[]);
    let sweep = sweep.unwrap_or_else(|error| panic!("{error}"));
    let whole = tables(&mut finish(&sweep, &folder("files-here"), 1));
    let there = folder("files-there");
    let mut session = OngoingSweep::open(&sweep, &there).unwrap();
    let orders = orders(&mut session);
    assert!(orders.iter().all(|order| order.files.len() == 1));
    // The other machine does not have the files.
    fs::remove_dir_all(&beside).unwrap();
    for order in orders {
        session.put(order.number, Maker::default().make(&order, &Keep::default())).unwrap();
    }
    assert_eq!(tables(&mut session.finish().unwrap()), whole);
}

#[test]
fn failures_are_the_same() {
    let sweep = sweep("[sweep]\nduration = ['10 s', '1 s']\nflow.get.start = ['0 s', '5 s']\n");
    let here: Vec<_> = finish(&sweep, &folder("failed-here"), 1).failures().collect();
    let there = elsewhere(&sweep, &folder("failed-there"));
    assert_eq!(there.failures().collect::<Vec<_>>(), here);
    assert_eq!(there.progress().failed, 1);
}

#[test]
fn a_missing_result_interrupts_the_sweep_and_a_repeated_one_is_ignored() {
    let sweep = sweep_of(&format!("{BASE}[sweep]\nrepetitions = 3\n"));
    let folder = folder("partly");
    let mut session = OngoingSweep::open(&sweep, &folder).unwrap();
    let (first, second) = (session.order().unwrap(), session.order().unwrap());
    let made = Maker::default().make(&first, &Keep::default());
    session.put(first.number, made.clone()).unwrap();
    session.put(first.number, made).unwrap();
    session.put(77, Ok(vec![1])).unwrap();
    session.put(second.number, Err("its worker died".to_owned())).unwrap();
    assert_eq!((session.progress().done, session.progress().failed), (2, 1));
    assert!(matches!(session.finish(), Err(SweepError::Interrupted)));
    // Failures are not kept, since the machine may be their reason.
    let finished = finish(&sweep, &folder, 1);
    assert_eq!((finished.progress().reused, finished.progress().failed), (1, 0));
}

#[test]
fn an_invalid_order_is_refused() {
    let order = Order { number: 0, scenario: "seed = ".into(), seed: 1, files: Default::default() };
    assert!(Maker::default().make(&order, &Keep::default()).is_err());
}
