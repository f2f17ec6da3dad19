//! The test bed for sweeps: a scenario, a folder, and tables as text.

use crate::own_folder::own_folder;
use lab::sweep::{Finished, Progress, Sweep, SweepError, run};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use trace::columns::Data;

/// A download of 30 kB over a lossy link, to add a `[sweep]` table to.
pub(crate) const BASE: &str = r#"seed = 7
duration = "10 s"
[[link]]
name = "cell"
from = "server"
to = "client"
delay = "5 ms"
queue = "1 BDP"
forward = { rate = "5 Mbit/s", loss = "2 %" }
backward = { rate = "1 Mbit/s" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "30 kB" }
"#;

/// Two paths with repetitions: 2 x 3 x 4 runs, with series and tables.
pub(crate) const SWEEP: &str = r#"
[sweep]
repetitions = 4
series = ["queue", "connection"]
keep = ["stream", "loss"]
flow.get.transport.ack_ratio = [1, 4]
link.cell.delay = { from = "5 ms", to = "15 ms", step = "5 ms" }
"#;

/// The sweep of [`BASE`] with this table.
pub(crate) fn sweep(table: &str) -> Sweep {
    sweep_of(&format!("{BASE}{table}"))
}

/// The sweep of a document.
pub(crate) fn sweep_of(text: &str) -> Sweep {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The sweep of a document, or the error in it.
pub(crate) fn read(text: &str) -> Result<Sweep, String> {
    Sweep::parse(text, Path::new("a.toml"), &[]).map_err(|error| error.to_string())
}

/// An empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = folder_of(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The folder of another test or sweep.
pub(crate) fn folder_of(name: &str) -> PathBuf {
    own_folder().join(name)
}

/// Makes all runs.
pub(crate) fn finish(sweep: &Sweep, folder: &Path, jobs: usize) -> Finished {
    run(sweep, folder, jobs, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes runs until `after` new ones are finished.
pub(crate) fn interrupt(
    sweep: &Sweep,
    folder: &Path,
    jobs: usize,
    after: u64,
) -> Result<Finished, SweepError> {
    let mut limit = |progress: Progress| match progress.done - progress.reused >= after {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    run(sweep, folder, jobs, &mut limit)
}

/// All tables with all rows, bit by bit.
pub(crate) fn tables(finished: &mut Finished) -> String {
    let mut text = String::new();
    let (mut first, mut pieces) = (0, Vec::new());
    while first < finished.sweep().runs() {
        pieces.push(finished.runs(first, 5).unwrap());
        first += 5;
    }
    first = 0;
    while first < finished.sweep().runs() {
        let (piece, next) = finished.series(first, 100).unwrap();
        pieces.push(piece);
        first = next;
    }
    for name in finished.sweep().plan().keep.tables.clone() {
        first = 0;
        while first < finished.sweep().runs() {
            let (piece, next) = finished.kept(&name, first, 3).unwrap();
            pieces.push(piece);
            first = next;
        }
    }
    for piece in &pieces {
        for column in &piece.columns {
            text.push_str(&format!("{} {:?} ", column.name, column.validity));
            match &column.data {
                Data::F64(values) => {
                    values.iter().for_each(|v| text.push_str(&format!("{:x} ", v.to_bits())))
                }
                other => text.push_str(&format!("{other:?}")),
            }
            text.push('\n');
        }
    }
    text
}
