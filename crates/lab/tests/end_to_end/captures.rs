//! Captures of whole runs under `tls`, as tshark reads them.

use crate::bed::{LINKS, ONE_LINK, Run, new_folder, run_into, scenario};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Runs tshark over a capture, in one pass; `None`, and loudly, where there is no tshark. Under CI that is a failure.
fn tshark(capture: &Path, arguments: &[&str]) -> Option<String> {
    match Command::new("tshark").arg("-r").arg(capture).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "tshark is needed: {error}");
            // Past the test harness, which keeps what a passing test prints to itself.
            let _ = writeln!(io::stderr(), "NOT TESTED: captures need tshark, and: {error}");
            None
        }
    }
}

/// A UDP datagram as tshark shows it.
#[derive(Debug)]
struct Shown {
    from_server: bool,
    /// Types of the QUIC packets in it with a long header.
    long: Vec<String>,
    /// The types of the frames in it.
    frames: Vec<String>,
    /// Offset and bytes of the stream data in it.
    data: Vec<(u64, Vec<u8>)>,
    /// What the experts of tshark have to say.
    experts: String,
}

const FIELDS: [&str; 6] = [
    "udp.srcport",
    "quic.long.packet_type",
    "quic.frame_type",
    "quic.stream.offset",
    "quic.stream_data",
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
        // A STREAM frame without an offset starts at 0, and comes first.
        let missing = pieces.len() - offsets.len();
        let offset = |at: usize| at.checked_sub(missing).map_or(0, |at| offsets[at].parse().unwrap());
        let data = pieces.iter().enumerate().map(|(at, hex)| (offset(at), bytes(hex))).collect();
        Shown {
            from_server: fields[0] == "4433",
            long: list(fields[1]),
            frames: list(fields[2]),
            data,
            experts: fields[5].to_owned(),
        }
    };
    Some(text.lines().map(packet).collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

const SIZE: usize = 100_000;

/// That each piece is the pattern at its place, and that they are all of the download.
fn assert_download(packets: &[Shown], what: &str) {
    let mut covered = vec![false; SIZE];
    for (offset, piece) in packets.iter().filter(|packet| packet.from_server).flat_map(|packet| &packet.data) {
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
    let path = new_folder(&format!("{name}-file")).join("capture.pcapng");
    fs::write(&path, &run.files["capture.pcapng"]).unwrap();
    (run, path)
}

/// What tshark says of a Handshake packet that arrives before the server's Initial, which names the cipher: nobody
/// can open it at that place. The client keeps no keys either and drops it (RFC 9001 section 5.7).
const TOO_EARLY: &str = "Unable to retrieve cipher information";
/// What tshark says of a packet that was altered underway.
const ALTERED: &str = "Decryption failed: Decryption (checktag) failed: Checksum error";

#[test]
fn streams_are_decrypted_and_nothing_is_malformed() {
    for (kind, sets) in LINKS {
        for seed in 1..=4 {
            let what = format!("{kind} {seed}");
            let (run, path) = captured(kind, sets, seed);
            assert_eq!(run.connection("get")["completed"], true, "{what}");
            let Some(malformed) = tshark(&path, &["-Y", "_ws.malformed"]) else { return };
            assert_eq!(malformed, "", "{what}");
            let packets = shown(&path).unwrap();
            assert_download(&packets, &what);
            // Captured is what reaches the client, and what it sends.
            let link = run.link("cell", "forward");
            let from_server = packets.iter().filter(|packet| packet.from_server).count() as u64;
            assert_eq!(from_server, link["delivered_packets"].as_u64().unwrap(), "{what}");

            let closed: Vec<&Shown> = packets.iter().filter(|packet| packet.frames.is_empty()).collect();
            let early = closed.iter().filter(|packet| packet.experts.contains(TOO_EARLY));
            for packet in early.clone() {
                // "2" is Handshake.
                assert!(packet.from_server && packet.long.contains(&"2".to_owned()), "{what}: {packet:?}");
            }
            let altered = closed.iter().filter(|packet| !packet.experts.contains(TOO_EARLY));
            for packet in altered.clone() {
                assert!(packet.from_server && *kind == "corrupting", "{what}: {packet:?}");
            }
            if *kind == "clean" {
                assert_eq!(early.count(), 0, "{what}");
            }
            assert!(altered.count() as u64 <= link["corrupted"].as_u64().unwrap(), "{what}");
        }
    }
}
