//! A bulk transfer by quiclab.

use crate::case::{BULK, Case, Protection, Transfer};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The case: data packets delivered per CPU second.
pub(super) struct Bulk {
    protection: Protection,
    traces: Traces,
    prepared: Run,
    last: Option<Transfer>,
}

impl Bulk {
    /// Prepares everything that is not measured: the scenario and its TLS contexts.
    pub(super) fn new(protection: Protection, traces: Traces) -> Bulk {
        Bulk { protection, traces, prepared: Run::new(protection, BULK, traces), last: None }
    }
}

impl Case for Bulk {
    fn name(&self) -> &'static str {
        match (self.protection, self.traces) {
            (Protection::Null, Traces::None) => "bulk-null",
            (Protection::Null, Traces::Tables) => "bulk-null-tables",
            (Protection::Null, Traces::Stored) => "bulk-null-stored",
            (Protection::Null, Traces::Qlog) => "bulk-null-qlog",
            (Protection::Null, Traces::Pcap) => "bulk-null-pcap",
            (Protection::Tls, Traces::None) => "bulk-tls",
            (Protection::Tls, Traces::Tables) => "bulk-tls-tables",
            (Protection::Tls, Traces::Stored) => "bulk-tls-stored",
            (Protection::Tls, Traces::Qlog) => "bulk-tls-qlog",
            (Protection::Tls, Traces::Pcap) => "bulk-tls-pcap",
        }
    }

    fn unit(&self) -> &'static str {
        "data packets per CPU second"
    }

    fn about(&self) -> &'static str {
        match (self.traces, self.protection) {
            (Traces::None, Protection::Null) => "quiclab, bulk transfer, no cryptography",
            (Traces::None, Protection::Tls) => "quiclab, bulk transfer, AES-128-GCM (rustls with ring)",
            (Traces::Tables, _) => "the same, with the default tables in memory",
            (Traces::Stored, _) => "the same tables, handed over part by part",
            (Traces::Qlog, _) => "the same, with a qlog file for each end",
            (Traces::Pcap, _) => "the same, with a packet capture",
        }
    }

    fn run(&mut self) -> f64 {
        let (outcome, seconds) = clock::time(|| self.prepared.run());
        let transfer = transfer(&outcome);
        assert_eq!(transfer.bytes, BULK as u64, "all bytes arrive");
        self.last = Some(transfer);
        transfer.data_packets as f64 / seconds
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}
