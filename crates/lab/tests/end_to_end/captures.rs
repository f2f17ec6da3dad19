//! Captures of whole runs under `tls`, read by tshark.

use crate::bed::{LINKS, ONE_LINK, Run, run_into, scenario};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Runs tshark over a capture in one pass. Without tshark it prints a warning and returns `None`, or fails under CI.
pub(crate) fn tshark(capture: &Path, arguments: &[&str]) -> Option<String> {
    match Command::new("tshark").arg("-r").arg(capture).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "tshark is needed: {error}");
            // Written directly, since the test harness hides the output of passing tests.
            let name = capture.file_name().unwrap().display();
            let _ = writeln!(io::stderr(), "NOT TESTED: the capture {name} needs tshark, and: {error}");
            None
        }
    }
}

/// A UDP datagram in the output of tshark.
#[derive(Debug)]
struct Shown {
    from_server: bool,
    /// The types of QUIC packets with a long header.
    long: Vec<String>,
    /// The types of frames.
    frames: Vec<String>,
    /// The stream data with offsets.
    data: Vec<(u64, Vec<u8>)>,
    /// The comment in the capture.
    comment: String,
    /// The expert information of tshark.
    experts: String,
}

const FIELDS: [&str; 7] = [
    "udp.srcport",
    "quic.long.packet_type",
    "quic.frame_type",
    "quic.stream.offset",
    "quic.stream_data",
    "frame.comment",
    "_ws.expert.message",
];

fn shown(capture: &Path) -> Option<Vec<Shown>> {
    let mut arguments = vec!["-T", "fields", "-E", "separator=|", "-E", "aggregator=;", "-E", "occurrence=a"];
    arguments.extend(FIELDS.iter().flat_map(|field| ["-e", field]));
    let text = tshark(capture, &arguments)?;
    let packet = |line: &str| {
        let fields: Vec<&str> = line.splitn(FIELDS.len(), '|').collect();
        let list = |text: &str| text.split(';').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let (offsets, pieces): (Vec<String>, Vec<String>) = (list(fields[3]), list(fields[4]));
        // A STREAM frame without an offset starts at 0, and is first.
        let missing = pieces.len() - offsets.len();
        let offset = |at: usize| at.checked_sub(missing).map_or(0, |at| offsets[at].parse().unwrap());
        let data = pieces.iter().enumerate().map(|(at, hex)| (offset(at), bytes(hex))).collect();
        Shown {
            from_server: fields[0] == "4433",
            long: list(fields[1]),
            frames: list(fields[2]),
            data,
            comment: fields[5].to_owned(),
            experts: fields[6].to_owned(),
        }
    };
    Some(text.lines().map(packet).collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

const SIZE: usize = 100_000;

/// Asserts that the pieces have the right content, and together are the whole download.
fn assert_download(packets: &[Shown], what: &str) {
    let mut covered = vec![false; SIZE];
    for (offset, piece) in packets.iter().filter(|packet| packet.from_server).flat_map(|packet| &packet.data)
    {
        assert!(wire::pattern::matches(*offset, piece), "{what}: {} bytes at {offset}", piece.len());
        covered[*offset as usize..*offset as usize + piece.len()].fill(true);
    }
    assert!(covered.iter().all(|byte| *byte), "{what}: {} missing", covered.iter().filter(|b| !**b).count());
    let requests: Vec<&(u64, Vec<u8>)> =
        packets.iter().filter(|packet| !packet.from_server).flat_map(|packet| &packet.data).collect();
    assert!(!requests.is_empty(), "{what}");
    let request = format!("GET /{SIZE}\r\n").into_bytes();
    assert!(requests.iter().all(|(offset, piece)| (*offset, piece) == (0, &request)), "{what}: {requests:?}");
}

fn captured(kind: &str, sets: &[&str], seed: u64) -> (Run, std::path::PathBuf) {
    let (seed_set, name) = (format!("seed={seed}"), format!("capture-{kind}-{seed}"));
    let size = format!("flow.get.application.size={SIZE} B");
    let mut sets = sets.to_vec();
    sets.extend(["tls.protection=tls", size.as_str(), seed_set.as_str()]);
    let run = run_into(&scenario(ONE_LINK, &sets), &name);
    let path = run.capture.clone();
    (run, path)
}

/// The message of tshark for a Handshake packet that arrives before the server's Initial, which names the cipher. It cannot be
/// decrypted there, and the client drops it, too (RFC 9001 section 5.7).
const TOO_EARLY: &str = "Unable to retrieve cipher information";
/// All kinds of links, and one with frequent faults of all kinds during a handshake of many packets.
fn links() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut links: Vec<(&str, Vec<&str>)> = LINKS.iter().map(|(kind, sets)| (*kind, sets.to_vec())).collect();
    links.push(("ipv6", vec!["flow.get.ip=6"]));
    links.push(("version 0x6b3343cf", vec!["flow.get.transport.versions=2"]));
    links.push(("version 0x00000001", vec!["flow.get.transport.versions=2 1"]));
    links.push((
        "broken",
        vec![
            "link.cell.both.corrupt=15 %",
            "link.cell.both.loss=5 %",
            "link.cell.both.jitter={ type = \"uniform\", maximum = \"30 ms\" }",
            "link.cell.both.reorder=true",
            "tls.certificate_chain=10 kB",
            "tls.key_share=x25519mlkem768",
        ],
    ));
    links
}

#[test]
fn streams_are_decrypted_and_nothing_is_malformed() {
    for (kind, sets) in &links() {
        for seed in 1..=4 {
            let what = format!("{kind} {seed}");
            let (run, path) = captured(kind, sets, seed);
            assert_eq!(run.connection("get")["completed"], true, "{what}");
            let Some(malformed) = tshark(&path, &["-Y", "_ws.malformed"]) else { return };
            assert_eq!(malformed, "", "{what}");
            if let Some(first) = kind.strip_prefix("version ") {
                let versions =
                    tshark(&path, &["-Y", "quic.version", "-T", "fields", "-e", "quic.version"]).unwrap();
                let mut versions = versions.lines();
                assert!(versions.next().is_some_and(|version| version.starts_with(first)), "{what}");
                assert!(versions.all(|version| version.starts_with("0x6b3343cf")), "{what}");
            }
            let packets = shown(&path).unwrap();
            assert_download(&packets, &what);
            // The capture contains the packets that reach the client, and those that it sends.
            let link = run.link("cell", "forward");
            let from_server = packets.iter().filter(|packet| packet.from_server).count() as u64;
            assert_eq!(from_server, link["delivered_packets"].as_u64().unwrap(), "{what}");

            // An altered packet is only marked, so that tshark reports no "Decryption (checktag) failed", and decrypts the
            // packets that follow.
            let altered =
                packets.iter().filter(|packet| packet.comment.starts_with("altered in transit")).count()
                    as u64;
            let (corrupted, inside) =
                (link["corrupted"].as_u64().unwrap(), link["inside_packets"].as_u64().unwrap());
            assert!(
                altered <= corrupted && (altered + inside >= corrupted || *kind == "broken"),
                "{what}: {altered} {corrupted}"
            );
            for packet in
                packets.iter().filter(|packet| packet.frames.is_empty() && packet.comment.is_empty())
            {
                // A packet with an altered connection id gets a stateless reset, which belongs to no connection.
                if packet.long.is_empty() && packet.experts.contains("Unknown QUIC connection") {
                    assert!(corrupted > 0, "{what}: {packet:?}");
                    continue;
                }
                // "2" is the type of Handshake packets.
                let early = packet.from_server && packet.long.contains(&"2".to_owned());
                assert!(
                    early && packet.experts.contains(TOO_EARLY) && *kind != "clean",
                    "{what}: {packet:?}"
                );
            }
            assert!(packets.iter().all(|packet| !packet.experts.contains("Decryption failed")), "{what}");
        }
    }
}

/// tshark does not know BDP_FRAME: it shows an unknown type, and takes the frame's fields for types of further ones. They are such
/// that it is in step again behind the frame.
#[test]
fn a_capture_with_bdp_frames_is_not_malformed() {
    let sets = [
        "tls.protection=tls",
        "tls.tickets=1",
        "tls.early_data=true",
        "transport.resume={ type = \"careful\", store = \"off\", bdp_frame = true }",
        "link.cell.both.delay=300 ms",
        "flow.get.application.size=1 MB",
        "flow.get.early_data=true",
        "flow.get.visits=[{ at = \"20 s\" }]",
    ];
    let run = run_into(&scenario(ONE_LINK, &sets), "capture-bdp");
    assert_eq!(run.rows("event", &[("event", "saved_path")]).len(), 1, "it comes back");
    let Some(malformed) = tshark(&run.capture, &["-Y", "_ws.malformed || (quic && !quic.frame_type)"]) else {
        return;
    };
    assert_eq!(malformed, "");
    let packets = shown(&run.capture).unwrap();
    let mut returned = 0;
    for packet in &packets {
        let frames: Vec<u64> = packet.frames.iter().map(|frame| frame.parse().unwrap()).collect();
        let Some(at) = frames.iter().position(|frame| *frame == 0xebd9) else {
            assert!(packet.experts.is_empty() || !packet.experts.contains("Unknown Frame"), "{packet:?}");
            continue;
        };
        // Lifetime, capacity and RTT; the length is the type of MAX_DATA, whose field is the first half of the seal.
        let [lifetime_us, capacity, rtt_us, 16, _] = frames[at + 1..at + 6] else { panic!("{frames:?}") };
        assert!((86_000_000_000..=86_400_000_000).contains(&lifetime_us), "{frames:?}");
        assert!(
            (58_880..1_000_000).contains(&capacity) && (600_000..700_000).contains(&rtt_us),
            "{frames:?}"
        );
        assert!(frames[..at].iter().chain(&frames[at + 6..]).all(|frame| *frame < 0x20), "{frames:?}");
        assert!(packet.experts.starts_with("Unknown Frame Type 0xebd9;"), "{packet:?}");
        returned += u64::from(!packet.from_server);
        assert!(packet.from_server == packet.long.is_empty(), "1-RTT of the server, or 0-RTT: {packet:?}");
    }
    assert_eq!(returned, 1);
    let data = packets.iter().filter(|packet| packet.from_server).flat_map(|packet| &packet.data);
    let behind: Vec<_> = data.filter(|(offset, piece)| !wire::pattern::matches(*offset, piece)).collect();
    assert!(behind.is_empty(), "{behind:?}");
}

#[test]
fn the_capture_contains_the_secrets_of_all_clients() {
    let mut text = ONE_LINK.to_owned();
    for (name, client, server, more) in [
        ("two", "client", "server", "start = \"10 ms\""),
        ("back", "server", "client", "ip = 6"),
        ("up", "client", "server", "transport = { ack_ratio = 4 }"),
    ] {
        let direction = if name == "up" { "upload" } else { "download" };
        text += &format!(
            "[[flow]]\nname = \"{name}\"\nclient = \"{client}\"\nserver = \"{server}\"\n{more}\n\
             application = {{ type = \"bulk\", size = \"50 kB\", direction = \"{direction}\", streams = 3 }}\n"
        );
    }
    let run = run_into(&scenario(&text, &["tls.protection=tls"]), "capture-several");
    assert!(run.summary["connections"].as_array().unwrap().iter().all(|flow| flow["completed"] == true));
    let path = &run.capture;
    let Some(malformed) = tshark(path, &["-Y", "_ws.malformed || (quic && !quic.frame_type)"]) else {
        return;
    };
    assert_eq!(malformed, "");
    let streams = tshark(path, &["-Y", "quic.stream_data", "-T", "fields", "-e", "udp.stream"]).unwrap();
    for flow in 0..4 {
        assert!(streams.lines().filter(|line| **line == *flow.to_string()).count() > 30, "{flow}: {streams}");
    }
}

#[test]
fn a_capture_of_a_scenario_without_cryptography_is_readable() {
    let [null, tls] = ["null", "tls"].map(|protection| {
        let set = format!("tls.protection={protection}");
        run_into(&scenario(ONE_LINK, &[&set, "link.cell.both.loss=2 %"]), &format!("capture-of-{protection}"))
    });
    crate::bed::assert_equal(&null, &tls, "captured");
    let plain = crate::bed::run(&scenario(ONE_LINK, &["link.cell.both.loss=2 %"]));
    assert_eq!(plain.text, null.text);
}
