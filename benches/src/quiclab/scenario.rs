//! The scenario of the measurements, run as by a user.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use lab::{Options, Outcome, Prepared, Scenario};
use serde_json::Value;
use trace::columns::{Store, Table};

use crate::case::{Protection, Transfer};

/// The same network and the same transfer as in `quinn/`; everything else has quiclab's defaults.
const DOCUMENT: &str = include_str!("../../../python/quiclab/commands/bench.toml");

/// What a run records besides its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traces {
    /// Nothing.
    None,
    /// The tables that a scenario has by default, in memory.
    Tables,
    /// The same tables, handed over part by part and counted.
    Stored,
    /// One qlog file for each end.
    Qlog,
    /// A capture of the client's packets, including the secrets.
    Pcap,
}

/// A parsed scenario with its TLS contexts.
pub(crate) struct Run {
    scenario: Scenario,
    prepared: Prepared,
    options: Options,
    is_stored: bool,
    /// Where traces are written; removed at the end.
    folder: Option<PathBuf>,
}

impl Run {
    /// A transfer of this number of bytes. The preparation is shared by all runs, and not measured.
    pub(crate) fn new(protection: Protection, size: usize, traces: Traces) -> Run {
        Run::with(protection, size, traces, &[])
    }

    /// The same with changed options, for example `"link.wire.forward.queue=codel"`.
    pub(crate) fn with(protection: Protection, size: usize, traces: Traces, sets: &[String]) -> Run {
        Run::read(scenario(protection, size, sets), traces)
    }

    /// A run of another document, with changed options.
    pub(crate) fn of(document: &str, protection: Protection, traces: Traces, sets: &[String]) -> Run {
        let sets = [&[set(protection)], sets].concat();
        Run::read(parsed(document, &sets), traces)
    }

    fn read(scenario: Scenario, traces: Traces) -> Run {
        let folder = matches!(traces, Traces::Qlog | Traces::Pcap).then(|| folder(traces));
        let options = Options {
            seed: None,
            tables: matches!(traces, Traces::Tables | Traces::Stored),
            qlog: folder.clone().filter(|_| traces == Traces::Qlog),
            pcap: folder
                .as_deref()
                .filter(|_| traces == Traces::Pcap)
                .map(|path| path.join("capture.pcapng")),
        };
        let prepared = Prepared::new(&scenario).expect("the options of TLS are sound");
        Run { scenario, prepared, options, is_stored: traces == Traces::Stored, folder }
    }

    /// Runs the scenario once.
    pub(crate) fn run(&self) -> Outcome {
        let progress = &mut |_| ControlFlow::Continue(());
        let outcome = if self.is_stored {
            let store = Box::new(Counter::default());
            lab::run_storing(&self.scenario, &self.prepared, &self.options, store, progress)
        } else {
            lab::run_prepared(&self.scenario, &self.prepared, &self.options, progress)
        };
        outcome.expect("the scenario can be run")
    }
}

/// Counts the rows that a store gets.
#[derive(Default)]
struct Counter {
    rows: u64,
}

impl Store for Counter {
    fn append(&mut self, part: &mut Table) -> io::Result<()> {
        self.rows += part.rows() as u64;
        Ok(())
    }
    fn thin(&mut self, _: &'static str, _: &[&'static str]) -> io::Result<u64> {
        Ok(self.rows / 2)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // If the folder cannot be removed, the system cleans it up.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The scenario, read from its document.
pub(super) fn scenario(protection: Protection, size: usize, more: &[String]) -> Scenario {
    let sets = [set(protection), format!("flow.download.application.size={size} B")];
    parsed(DOCUMENT, &[&sets, more].concat())
}

/// The option of a protection.
fn set(protection: Protection) -> String {
    let protection = match protection {
        Protection::Null => "null",
        Protection::Tls => "tls",
    };
    format!("tls.protection={protection}")
}

fn parsed(document: &str, sets: &[String]) -> Scenario {
    Scenario::parse(document, Path::new("bench.toml"), sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A folder for traces.
fn folder(traces: Traces) -> PathBuf {
    let name = format!("quiclab-bench-{}-{traces:?}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}

/// The outcome of a run, from its summary.
pub(crate) fn transfer(outcome: &Outcome) -> Transfer {
    let summary: Value = serde_json::from_str(&outcome.summary).expect("a summary is JSON");
    let count = |pointer: &str| {
        let value = summary.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("the summary has no {pointer}"))
    };
    Transfer {
        data_packets: count("/links/0/delivered_packets"),
        ack_packets: count("/links/1/delivered_packets"),
        dropped: count("/links/0/drops/queue"),
        bytes: count("/connections/0/delivered_bytes"),
        seconds: summary["duration_s"].as_f64().expect("a number"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{self, Heap};
    use crate::quinn;

    fn run(protection: Protection, size: usize) -> Transfer {
        transfer(&Run::new(protection, size, Traces::None).run())
    }

    #[test]
    fn the_transfer_matches_the_yardstick() {
        let ours = run(Protection::Null, 50_000_000);
        let theirs = quinn::transfer(&quinn::Contexts::new(Protection::Null), 50_000_000);
        let close = |ours: f64, theirs: f64, share: f64| (ours / theirs - 1.0).abs() < share;
        assert_eq!(ours.bytes, theirs.bytes);
        assert!(close(ours.seconds, theirs.seconds, 0.01), "{ours:?} {theirs:?}");
        assert!(close(ours.data_packets as f64, theirs.data_packets as f64, 0.01), "{ours:?} {theirs:?}");
        assert!(close(ours.ack_packets as f64, theirs.ack_packets as f64, 0.05), "{ours:?} {theirs:?}");
    }

    #[test]
    fn quinn_behaves_in_the_simulated_network_as_in_its_own_loop() {
        let nodes = r#"node=[{ name = "client", stack = "quinn" }, { name = "server", stack = "quinn" }]"#;
        let sets = [nodes.to_owned()];
        let simulated = transfer(&Run::with(Protection::Null, 20_000_000, Traces::None, &sets).run());
        let alone = quinn::transfer(&quinn::Contexts::new(Protection::Null), 20_000_000);
        let close = |ours: f64, theirs: f64, share: f64| (ours / theirs - 1.0).abs() < share;
        assert_eq!(simulated.bytes, alone.bytes);
        assert!(close(simulated.seconds, alone.seconds, 0.01), "{simulated:?} {alone:?}");
        assert!(
            close(simulated.data_packets as f64, alone.data_packets as f64, 0.01),
            "{simulated:?} {alone:?}"
        );
        assert!(
            close(simulated.ack_packets as f64, alone.ack_packets as f64, 0.05),
            "{simulated:?} {alone:?}"
        );
    }

    #[test]
    fn keys_and_traces_do_not_affect_the_transfer() {
        let plain = run(Protection::Null, 3_000_000);
        assert_eq!(run(Protection::Tls, 3_000_000), plain);
        for traces in [Traces::Tables, Traces::Stored, Traces::Qlog, Traces::Pcap] {
            assert_eq!(transfer(&Run::new(Protection::Tls, 3_000_000, traces).run()), plain, "{traces:?}");
        }
    }

    /// Once a run is warm, nothing is allocated per packet, and its memory does not grow with its length.
    #[test]
    fn a_longer_transfer_allocates_no_more_memory() {
        for protection in [Protection::Null, Protection::Tls] {
            let heap = |size: usize| -> Heap {
                let prepared = Run::new(protection, size, Traces::None);
                heap::count(|| prepared.run()).1
            };
            let (short, long) = (heap(100_000_000), heap(200_000_000));
            assert!(long.requests <= short.requests + 10, "{protection:?}: {short:?} {long:?}");
            assert!(long.held <= short.held + 1000, "{protection:?}: {short:?} {long:?}");
        }
    }
}
