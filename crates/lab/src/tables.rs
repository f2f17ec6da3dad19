//! What the results of a run mean: the columns of its tables, and the numbers of its summary.

use serde_json::json;
use trace::columns::{Kind, TABLES};

/// What summary.json has.
const SUMMARY: &str = "the numbers of summary.json; in runs.parquet of a sweep they are columns, like `connection.download.goodput_mbps`";

/// Numbers of the summary, and what each of them means.
const NUMBERS: &[(&str, &str)] = &[
    (
        "completion_s",
        "of a connection: from the start of the flow until the receiver's application had read the last byte; null if it had not",
    ),
    (
        "goodput_mbps",
        "of a connection: application bytes over that time, or over the run; null where that time rounds to 0 s",
    ),
    ("rtt_mean_ms", "of a connection: mean of the RTT samples of the sender of the data"),
    ("rtt_p95_ms", "of a connection: 95th percentile of the RTT samples of the sender of the data"),
    (
        "path_rtt_ms",
        "of a connection: RTT of the path without queues, of a full packet and its acknowledgement; null without a route",
    ),
    ("packets_sent", "of a connection: packets of all kinds that the sender of the data sent"),
    ("return_packets_sent", "of a connection: packets of all kinds that the receiver of the data sent"),
    ("return_packets_lost", "of a connection: packets of the receiver of the data that the network lost"),
    ("packets_lost", "of a connection: packets that the network lost"),
    ("packets_declared_lost", "of a connection: packets that the sender declared lost"),
    (
        "packets_spuriously_lost",
        "of a connection: packets declared lost that, as the sender learned, had arrived after all",
    ),
    (
        "bottleneck",
        "of a connection: the direction of a link, the attachment of a medium, or the processing of a node, with the longest mean queue",
    ),
    ("retransmitted_bytes", "of a connection: stream bytes that were retransmitted"),
    (
        "queue_delay_mean_ms",
        "of a direction of a link: mean delay of packets in the queue; null unless `record.queue_delay` is set",
    ),
    (
        "queue_delay_p50_ms",
        "of a direction of a link: median delay of packets in the queue; null unless `record.queue_delay` is set",
    ),
    (
        "queue_delay_p99_ms",
        "of a direction of a link: 99th percentile of the delay in the queue; null unless `record.queue_delay` is set",
    ),
    ("marked_packets", "of a direction of a link: packets that were marked with CE"),
    ("utilisation", "of a direction of a link: share of the time in service"),
    ("start_up_s", "of a player: from its start to the first picture; null if there was none"),
    ("end_s", "of a player: from its start until the end was played; null if it was not"),
    ("stalled_s", "of a player: time for which it was stalled"),
    ("stalls", "of a player: number of stalls"),
    ("stall_ratio", "of a player: `stalled_s` by the time from the first picture to the end"),
    ("bitrate_mean_mbps", "of a player: mean bitrate over segments"),
    ("switches", "of a player: changes of bitrate between segments"),
    ("load_mean_s", "of web pages: mean load time"),
    ("load_max_s", "of web pages: the longest load time"),
];

/// The tables of a run and the numbers of its summary as JSON: `{tables: [{name, about, columns: [{name, about, kind, optional}]}],
/// summary: {about, numbers: [...]}}`, numbers being like columns. The kind of a column is `number`, `flag` or `text`; one that is optional may be null.
pub fn tables_json() -> String {
    let tables = TABLES.iter().map(|table| {
        let columns = table.columns.iter().map(|column| {
            let kind = match column.kind {
                Kind::Number => "number",
                Kind::Flag => "flag",
                Kind::Text => "text",
            };
            json!({ "name": column.name, "about": column.about, "kind": kind, "optional": column.is_optional })
        });
        json!({ "name": table.name, "about": table.about, "columns": columns.collect::<Vec<_>>() })
    });
    let numbers = NUMBERS
        .iter()
        .map(|(name, about)| json!({ "name": name, "about": about, "kind": "number", "optional": true }));
    let summary = json!({ "about": SUMMARY, "numbers": numbers.collect::<Vec<_>>() });
    json!({ "tables": tables.collect::<Vec<_>>(), "summary": summary }).to_string()
}
