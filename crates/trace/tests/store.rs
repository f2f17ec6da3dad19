//! Tables that leave memory part by part are those that stay there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use trace::columns::{Columns, Data, Options, PART, Store, Table};
use trace::event::LossTrigger;
use trace::{Direction, Event, Metrics, PacketKind, Record, Role, Side, Sink, Subjects};
use units::Time;

/// The rows of a table as text.
type Rows = Vec<Vec<String>>;

fn rows(table: &Table) -> Rows {
    let cell = |column: &trace::columns::Column, row: usize| match (column.text(row), column.number(row)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => number.to_string(),
        (None, None) => "null".to_owned(),
    };
    (0..table.rows()).map(|row| table.columns.iter().map(|column| cell(column, row)).collect()).collect()
}

/// Keeps rows as a file would, and notes what it was given.
#[derive(Default)]
struct Kept {
    rows: BTreeMap<&'static str, Rows>,
    columns: BTreeMap<&'static str, Vec<&'static str>>,
    /// The largest part, and the addresses at which the times of the table `queue` were.
    largest: usize,
    addresses: Vec<usize>,
    fails: bool,
}

struct Shared(Rc<RefCell<Kept>>);

impl Store for Shared {
    fn append(&mut self, part: &mut Table) -> io::Result<()> {
        let mut kept = self.0.borrow_mut();
        if kept.fails {
            return Err(io::ErrorKind::StorageFull.into());
        }
        kept.largest = kept.largest.max(part.rows());
        if let (true, Data::F64(times)) = (part.name == "queue", &part.columns[0].data) {
            kept.addresses.push(times.as_ptr().addr());
        }
        kept.columns.insert(part.name, part.columns.iter().map(|column| column.name).collect());
        kept.rows.entry(part.name).or_default().extend(rows(part));
        Ok(())
    }
    fn thin(&mut self, table: &'static str, subject: &[&'static str]) -> io::Result<u64> {
        let mut kept = self.0.borrow_mut();
        let columns = &kept.columns[table];
        let places: Vec<usize> =
            subject.iter().map(|name| columns.iter().position(|column| column == name).unwrap()).collect();
        let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let rows = kept.rows.get_mut(table).unwrap();
        rows.retain(|row| {
            let count = seen.entry(places.iter().map(|at| row[*at].clone()).collect()).or_default();
            *count += 1;
            *count % 2 == 1
        });
        Ok(rows.len() as u64)
    }
}

/// Events of two connections and a link, the second connection late and the first in between, as a run passes them on.
fn fill(sink: &mut Columns<'_>, count: u64) -> io::Result<()> {
    let mut subjects = Subjects::new();
    let link = subjects.register("cell", Role::Link(Direction::Forward));
    let ends = ["first", "second"]
        .map(|name| [Side::Client, Side::Server].map(|side| subjects.register(name, Role::Connection(side))));
    for at in 0..count {
        let time = Time::from_nanos(at * 1_000_000);
        let flow = usize::from(at > count / 2 && at % 3 == 0);
        let latest_rtt = (at % 4 > 0).then(|| units::Duration::from_nanos(at));
        let metrics = Event::Metrics(Metrics { cwnd: at, latest_rtt, ..Metrics::default() });
        let lost = Event::PacketLost { kind: PacketKind::OneRtt, number: at, trigger: LossTrigger::Probe };
        let event = Event::CongestionState { state: if at % 2 > 0 { "recovery" } else { "slow_start" } };
        let queues = [1, 2].map(|packets| Record { time, event: Event::Queue { packets, bytes: at } });
        sink.records(subjects.get(link), &queues)?;
        for (side, event) in [(0, metrics.clone()), (1, metrics), (1, lost), (0, event)] {
            sink.records(subjects.get(ends[flow][side]), &[Record { time, event }])?;
        }
    }
    sink.finish()
}

/// The tables of a run with and without a store, the notes of both, and the store.
fn both(count: u64, limit: usize) -> (Vec<Table>, Vec<Table>, Kept) {
    let options = Options { rows: limit, ..Options::default() };
    let mut alone = Columns::new(options);
    fill(&mut alone, count).unwrap();
    let kept = Rc::new(RefCell::new(Kept::default()));
    let mut stored = Columns::new(options).storing(Box::new(Shared(Rc::clone(&kept))));
    fill(&mut stored, count).unwrap();
    let (alone, rest) = (alone.into_tables(), stored.into_tables());
    (alone, rest, Rc::into_inner(kept).unwrap().into_inner())
}

fn same(count: u64, limit: usize) -> Kept {
    let (alone, rest, mut kept) = both(count, limit);
    for (table, rest) in alone.iter().zip(&rest) {
        let before = kept.rows.remove(table.name).unwrap_or_default();
        assert_eq!(rest.stored, before.len() as u64, "{}", table.name);
        let all: Rows = before.into_iter().chain(rows(rest)).collect();
        assert!(all == rows(table), "{}: {} rows and {}", table.name, all.len(), table.rows());
        assert_eq!((rest.note(), rest.left_out), (table.note(), table.left_out));
    }
    kept
}

#[test]
fn with_and_without_a_store_the_rows_are_the_same() {
    let count = 3 * PART as u64 / 2;
    let kept = same(count, usize::MAX);
    assert_eq!(kept.largest, PART);
    assert!(["connection", "queue", "loss", "event"].iter().all(|name| kept.columns.contains_key(name)));
}

#[test]
fn the_last_part_has_all_names() {
    let (_, rest, _) = both(3 * PART as u64 / 2, usize::MAX);
    for table in rest.iter().filter(|table| ["connection", "queue", "loss", "event"].contains(&table.name)) {
        assert!(table.stored > 0 && table.rows() > 0, "{}", table.name);
        let Data::Text(text) = &table.columns[1].data else { panic!("names") };
        let words: Vec<&str> = (0..text.words.len()).filter_map(|code| text.words.get(code as u32)).collect();
        assert_eq!(words, ["cell forward", "first", "second"]);
    }
}

/// A limit between parts, one below a part, and one that is passed several times.
#[test]
fn thinned_tables_are_the_same() {
    let count = 3 * PART as u64 / 2;
    for limit in [5 * PART / 2, PART + 100, 1000, 1, 0] {
        same(count, limit);
    }
}

#[test]
fn rows_in_memory_do_not_grow_and_their_memory_is_used_again() {
    let mut kept = [both(2 * PART as u64, usize::MAX).2, both(6 * PART as u64, usize::MAX).2];
    assert_eq!(kept.each_ref().map(|kept| kept.largest), [PART; 2]);
    let addresses = &mut kept[1].addresses;
    assert!(addresses.len() > 10);
    addresses.dedup();
    assert_eq!(addresses.len(), 1);
}

#[test]
fn an_error_of_the_store_ends_the_run() {
    let kept = Rc::new(RefCell::new(Kept { fails: true, ..Kept::default() }));
    let mut sink = Columns::new(Options::default()).storing(Box::new(Shared(kept)));
    let error = fill(&mut sink, PART as u64).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
