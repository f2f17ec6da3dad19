//! Flows over TCP: the same application, tables and captures as over QUIC.

use crate::bed::{LINKS, ONE_LINK, Run, run_into, scenario};
use crate::captures::tshark;
use std::path::PathBuf;

const TCP: &str = "flow.get.protocol=tcp";

fn captured(kind: &str, sets: &[&str]) -> (Run, PathBuf) {
    let name = format!("tcp-{kind}");
    let sets: Vec<&str> = [TCP].into_iter().chain(sets.iter().copied()).collect();
    let run = run_into(&scenario(ONE_LINK, &sets), &name);
    let path = run.capture.clone();
    (run, path)
}

/// The fields of each packet, read by tshark.
fn fields(path: &std::path::Path, names: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut arguments = vec!["-o", "tcp.check_checksum:TRUE", "-T", "fields", "-E", "separator=|"];
    arguments.extend(["-o", "ip.check_checksum:TRUE"]);
    arguments.extend(names.iter().flat_map(|name| ["-e", name]));
    let text = tshark(path, &arguments)?;
    Some(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
}

const LOOK: [&str; 8] = [
    "tcp.srcport",
    "tcp.flags.str",
    "tcp.checksum.status",
    "tcp.analysis.flags",
    "_ws.malformed",
    "_ws.expert.message",
    "tcp.len",
    "frame.comment",
];

/// The expert information of tshark for every regular connection.
const USUAL: [&str; 5] = [
    "Connection establish request (SYN): server port 4433",
    "Connection establish acknowledge (SYN+ACK): server port 4433",
    "Connection finish (FIN)",
    "This frame initiates the connection closing",
    "This frame undergoes the connection closing",
];

#[test]
fn tshark_reports_nothing_on_a_clean_link() {
    for (kind, sets) in [
        ("clean", &["link.cell.both.queue=1000 packets"][..]),
        ("clean-6", &["flow.get.ip=6", "link.cell.both.queue=1000 packets"]),
        ("clean-upload", &["flow.get.application.direction=upload", "link.cell.both.queue=1000 packets"]),
        ("clean-plain", &["tcp.sack=false", "tcp.timestamps=false", "link.cell.both.queue=1000 packets"]),
        ("clean-ecn", &["tcp.ecn=true", "link.cell.both.queue=1000 packets"]),
    ] {
        let (run, path) = captured(kind, sets);
        assert_eq!(run.connection("get")["delivered_bytes"], 300_000, "{kind}");
        assert_eq!(run.connection("get")["clean"], true, "{kind}");
        let Some(packets) = fields(&path, &LOOK) else { return };
        let mut data = 0;
        for packet in &packets {
            assert_eq!(packet[2], "1", "{kind}: checksum of {packet:?}");
            assert_eq!((packet[3].as_str(), packet[4].as_str()), ("", ""), "{kind}: {packet:?}");
            let strange = packet[5].split(',').filter(|note| {
                !note.is_empty()
                    && !USUAL.iter().any(|usual| usual.starts_with(*note) || note.starts_with(usual))
            });
            assert_eq!(strange.count(), 0, "{kind}: {packet:?}");
            data += packet[6].parse::<usize>().unwrap();
        }
        let request = if kind == "clean-upload" { 0 } else { "GET /300000\r\n".len() };
        assert_eq!(data, 300_000 + request, "{kind}");
    }
}

#[test]
fn a_download_arrives_over_every_link_and_tshark_finds_no_malformed_packet() {
    for (kind, sets) in LINKS {
        let (run, path) = captured(kind, sets);
        assert_eq!(run.connection("get")["delivered_bytes"], 300_000, "{kind}");
        assert_eq!(run.connection("get")["completed"], true, "{kind}");
        let Some(packets) = fields(&path, &LOOK) else { return };
        for packet in &packets {
            assert_eq!(packet[4], "", "{kind}: {packet:?}");
            // An altered packet has a wrong checksum and a comment.
            assert_eq!(packet[2] == "0", !packet[7].is_empty(), "{kind}: {packet:?}");
        }
    }
}

#[test]
fn tables_are_those_of_quic() {
    const QUEUE: &str = "link.cell.both.queue=1000 packets";
    let tcp = run_into(&scenario(ONE_LINK, &[TCP, QUEUE]), "tcp-tables");
    let quic = run_into(&scenario(ONE_LINK, &[QUEUE]), "tcp-tables-quic");
    assert!(tcp.files.keys().all(|name| !name.ends_with(".sqlog")), "no qlog of TCP: {:?}", tcp.files.keys());
    for name in ["connection", "event", "stream", "packet", "rate"] {
        let columns =
            |run: &Run| run.table(name).columns.iter().map(|column| column.name).collect::<Vec<_>>();
        assert_eq!(columns(&tcp), columns(&quic), "{name}");
        assert!(!tcp.table(name).columns[0].data.is_empty(), "{name} is empty");
    }
    let number = |run: &Run, key: &str| run.connection("get")[key].as_f64().unwrap();
    for key in
        ["goodput_mbps", "rtt_mean_ms", "data_packets_sent", "packets_sent", "ack_only_packets_received"]
    {
        let (tcp, quic) = (number(&tcp, key), number(&quic, key));
        assert!((tcp / quic - 1.0).abs() < 0.15, "{key}: {tcp} over TCP, {quic} over QUIC");
    }
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let sets = [TCP, "link.cell.both.loss=2 %"];
    let [first, second] =
        ["a", "b"].map(|name| run_into(&scenario(ONE_LINK, &sets), &format!("tcp-equal-{name}")));
    assert_eq!(first.files["capture.pcapng"], second.files["capture.pcapng"]);
    assert_eq!(first.text, second.text);
    let other = run_into(&scenario(ONE_LINK, &[TCP, "link.cell.both.loss=2 %", "seed=4"]), "tcp-equal-c");
    assert_ne!(first.files["capture.pcapng"], other.files["capture.pcapng"]);
}

#[test]
fn both_protocols_share_a_link_and_a_flow_over_tcp_stops() {
    let text = format!(
        "{ONE_LINK}[[flow]]\nname = \"other\"\nclient = \"client\"\nserver = \"server\"\nprotocol = \"tcp\"\n\
         stop = \"2 s\"\napplication = \"bulk\"\n"
    );
    let run = run_into(&scenario(&text, &["flow.get.application.size=3 MB"]), "tcp-shared");
    assert_eq!(run.connection("get")["completed"], true);
    let other = run.connection("other");
    assert_eq!((&other["completed"], &other["clean"]), (&false.into(), &true.into()));
    let goodput = other["goodput_mbps"].as_f64().unwrap();
    assert!((2.0..8.0).contains(&goodput), "{goodput}");
}

/// RFC 8446: tshark finds a handshake and records of TLS 1.3, and the first byte arrives one round trip later.
#[test]
fn tls_costs_one_round_trip() {
    const QUEUE: &str = "link.cell.both.queue=1000 packets";
    // Ten segments are less than a record of 16 KiB, which would cost another round trip.
    const WINDOW: &str = "tcp.initial_window=20";
    let (plain, _) = captured("plain", &[QUEUE, WINDOW]);
    for (kind, sets) in [
        ("tls", &["tcp.tls=tls1.3", QUEUE, WINDOW][..]),
        ("tls-hybrid", &["tcp.tls=tls1.3", QUEUE, WINDOW, "tls.key_share=x25519mlkem768"]),
    ] {
        let (run, path) = captured(kind, sets);
        let connection = run.connection("get");
        assert_eq!(
            (&connection["delivered_bytes"], &connection["clean"]),
            (&300_000.into(), &true.into()),
            "{kind}"
        );
        let first = |run: &Run| run.connection("get")["first_byte_s"].as_f64().unwrap();
        // 40 ms, and the transmission of a whole record and the certificates.
        let later = first(&run) - first(&plain);
        assert!((0.040..0.065).contains(&later), "{kind}: {later}");
        let look = [
            "tls.record.content_type",
            "tls.handshake.type",
            "_ws.malformed",
            "tcp.analysis.flags",
            "_ws.expert.message",
            "tls.record.opaque_type",
        ];
        let Some(packets) = fields(&path, &look) else { return };
        let seen = |at: usize| -> Vec<&str> {
            packets.iter().flat_map(|packet| packet[at].split(',')).filter(|word| !word.is_empty()).collect()
        };
        assert_eq!(seen(1)[..2], ["1", "2"], "{kind}: ClientHello and ServerHello");
        assert_eq!(seen(0)[..2], ["22", "22"], "{kind}");
        // 300,000 bytes in records of 16 KiB are 19 records; others are for the request, the handshake, and both ends.
        let records = seen(5).iter().filter(|word| **word == "23").count();
        assert!((23..=26).contains(&records), "{kind}: {records} records");
        assert_eq!((seen(2).len(), seen(3).len()), (0, 0), "{kind}");
        let strange = seen(4)
            .into_iter()
            .filter(|note| !USUAL.iter().any(|usual| usual.starts_with(note) || note.starts_with(usual)));
        assert_eq!(strange.count(), 0, "{kind}: {:?}", seen(4));
    }
}

/// RFC 7413: with a cookie the first byte arrives a round trip earlier, also over TLS.
#[test]
fn fast_open_saves_a_round_trip() {
    const QUEUE: &str = "link.cell.both.queue=1000 packets";
    for (kind, tls) in [("plain", "tcp.tls=none"), ("tls", "tcp.tls=tls1.3")] {
        let (without, _) = captured(&format!("slow-{kind}"), &[QUEUE, tls]);
        let (with, path) = captured(&format!("fast-{kind}"), &[QUEUE, tls, "tcp.fast_open=cached"]);
        let first = |run: &Run| run.connection("get")["first_byte_s"].as_f64().unwrap();
        let saved = first(&without) - first(&with);
        assert!((0.039..0.041).contains(&saved), "{kind}: {saved}");
        let look = ["tcp.options.tfo.cookie", "tcp.len", "_ws.malformed", "tcp.analysis.flags"];
        let Some(packets) = fields(&path, &look) else { return };
        assert!(packets[0][0].len() == 16 && packets[0][1] != "0", "{:?}", packets[0]);
        assert!(packets.iter().all(|packet| packet[2].is_empty() && packet[3].is_empty()), "{kind}");
    }
}

/// Every controller works over TCP: all data arrives, most of the link is used, and its state and gauges are recorded.
#[test]
fn every_controller_works_over_tcp() {
    let rooms = lab::rooms();
    let controllers = rooms.iter().find(|room| room.name == "controllers").unwrap();
    for row in &controllers.rows {
        if row.parameters.iter().any(|option| option.default == units::parameter::Default::Required) {
            continue;
        }
        let controller = format!("tcp.controller={}", row.name);
        let sets =
            [TCP, controller.as_str(), "flow.get.application.size=3 MB", "link.cell.forward.queue=2 BDP"];
        let run = run_into(&scenario(ONE_LINK, &sets), &format!("tcp-controller-{}", row.name));
        let connection = run.connection("get");
        assert_eq!(connection["delivered_bytes"], 3_000_000, "{}", row.name);
        let goodput = connection["goodput_mbps"].as_f64().unwrap();
        // A sender without a window, or with a fixed one, overflows the queue again and again.
        let least = if ["none", "fixed"].contains(&row.name) { 0.5 } else { 7.5 };
        assert!((least..10.0).contains(&goodput), "{}: {goodput}", row.name);
        let sender = |table: &str| run.rows(table, &[("side", "server")]).len();
        assert!(sender("connection") > 1000, "{}", row.name);
        assert!(!run.rows("event", &[("event", "congestion_state")]).is_empty(), "{}", row.name);
    }
}
