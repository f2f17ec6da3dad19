//! The one meaning of "complete": the application of the receiver has the last byte.

use crate::bed::{Run, run, scenario};
use lab::rooms;
use random::Generator;
use std::collections::BTreeSet;

/// A client and a server with two nodes between them.
const CHAIN: &str = r#"
duration = "60 s"
[record]
tables = ["stream"]
packets = true
[transport]
max_datagram_frame_size = 65535
[[node]]
name = "client"
[[node]]
name = "near"
[[node]]
name = "far"
[[node]]
name = "server"
[[link]]
name = "home"
from = "near"
to = "client"
[[link]]
name = "cell"
from = "far"
to = "near"
[[link]]
name = "net"
from = "server"
to = "far"
[[flow]]
name = "get"
client = "client"
server = "server"
application = "bulk"
"#;
const LINKS: [&str; 3] = ["home", "cell", "net"];

/// Where the data of an application goes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Data {
    Up,
    Down,
    /// In both directions; the summary has the one with more bytes.
    Both,
}
use Data::{Both, Down, Up};

const QUIC: &str = "quic";
const TCP: &str = "tcp";

/// Applications with the protocols that they run over, as they are drawn. `N` stands for a number of bytes.
const APPLICATIONS: &[(Data, &[&str], &str)] = &[
    (Down, &[QUIC, TCP], r#"{ type = "bulk", size = N }"#),
    (Up, &[QUIC, TCP], r#"{ type = "bulk", size = N, direction = "upload" }"#),
    (Down, &[QUIC, TCP], r#"{ type = "bulk", size = N, streams = 3 }"#),
    (Up, &[QUIC, TCP], r#"{ type = "bulk", size = N, direction = "upload", streams = 3 }"#),
    (Up, &[QUIC, TCP], r#"{ type = "bulk", direction = "upload" }"#),
    (Down, &[QUIC, TCP], r#"{ type = "bulk" }"#),
    (
        Up,
        &[QUIC, TCP],
        r#"{ type = "messages", over = "stream", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (
        Down,
        &[QUIC, TCP],
        r#"{ type = "messages", over = "stream", direction = "download", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (
        Up,
        &[QUIC],
        r#"{ type = "messages", over = "streams", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (
        Down,
        &[QUIC],
        r#"{ type = "messages", over = "streams", direction = "download", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (
        Up,
        &[QUIC],
        r#"{ type = "messages", over = "datagrams", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (
        Down,
        &[QUIC],
        r#"{ type = "messages", over = "datagrams", direction = "download", count = 20, source = { type = "constant", gap = "5 ms", size = 900 } }"#,
    ),
    (Down, &[QUIC], r#"{ type = "request-response", count = 5, response = 20000 }"#),
    (
        Down,
        &[QUIC, TCP],
        r#"{ type = "request-response", count = 3, request = 50000, response = 2000, over = "stream" }"#,
    ),
    (Down, &[QUIC], r#"{ type = "hq", sizes = ["30 kB", "5 kB"] }"#),
    (Down, &[QUIC], r#"{ type = "http3", sizes = ["30 kB", "5 kB"], count = 5 }"#),
    (Down, &[TCP], r#"{ type = "http2", sizes = ["30 kB", "5 kB"], count = 5 }"#),
    (Down, &[TCP], r#"{ type = "http1", sizes = ["30 kB", "5 kB"], count = 5 }"#),
    (Down, &[QUIC], r#"{ type = "page", over = "http3" }"#),
    (Down, &[TCP], r#"{ type = "page", over = "http2" }"#),
    (Down, &[TCP], r#"{ type = "page", over = "http1.1" }"#),
    (Down, &[QUIC], r#"{ type = "page-streams" }"#),
    (
        Down,
        &[QUIC],
        r#"{ type = "video", presentation = { type = "ladder", segment = "1 s", duration = "5 s" } }"#,
    ),
    (
        Down,
        &[TCP],
        r#"{ type = "video", over = "http2", presentation = { type = "ladder", segment = "1 s", duration = "5 s" } }"#,
    ),
    (
        Both,
        &[QUIC],
        r#"{ type = "mix", parts = [{ type = "bulk", size = N }, { type = "bulk", size = N, direction = "upload" }] }"#,
    ),
    (
        Both,
        &[QUIC],
        r#"{ type = "mix", parts = [{ type = "messages", source = "mavlink", count = 30 }, { type = "bulk", size = N }] }"#,
    ),
];

/// What the nodes between the ends can be.
const BETWEEN: &[&str] = &["router", "pep", "pep", "nat", "ldad", "ack-pacer"];

/// A drawn scenario, and what bounds it.
struct Drawn {
    data: Data,
    sets: Vec<String>,
    /// The rate in Mbit/s and the delay in s of each link, towards the client and towards the server.
    links: [[(f64, f64); 2]; 3],
    /// Whether nothing is lost, altered or doubled on the way.
    clean: bool,
    /// Whether the ends have packets in the tables.
    seen: bool,
}

fn draw(seed: u64) -> Drawn {
    let mut chance = Generator::new(seed, "completion");
    let mut below = |count: u64| chance.below(count);
    let (data, protocols, application) = APPLICATIONS[seed as usize % APPLICATIONS.len()];
    let protocol = protocols[below(protocols.len() as u64) as usize];
    let bytes = [500, 5000, 40_000, 300_000][below(4) as usize] + below(2000);
    let application = application.replace('N', &format!("\"{bytes} B\""));
    let clean = below(3) > 0;
    let mut sets = vec![
        format!("seed={seed}"),
        format!("flow.get.application={application}"),
        format!("flow.get.protocol={protocol}"),
        format!("flow.get.start={} ms", below(300)),
        // Endless transfers end by their stop or with the run, and some others are cut short.
        format!("duration={} ms", [60_000, 60_000, 2000, 500 + below(2000)][below(4) as usize]),
    ];
    if below(4) == 0 {
        sets.push(format!("flow.get.stop={} ms", 400 + below(2000)));
    }
    if protocol == TCP && below(2) == 0 {
        sets.push("tcp.tls=tls1.3".to_owned());
    }
    for node in ["near", "far"] {
        sets.push(format!("node.{node}.kind={}", BETWEEN[below(BETWEEN.len() as u64) as usize]));
    }
    let foreign =
        cfg!(feature = "quinn") && protocol == QUIC && !application.contains("datagrams") && below(3) == 0;
    if foreign {
        for end in [&["client"][..], &["server"], &["client", "server"]][below(3) as usize] {
            sets.push(format!("node.{end}.stack=quinn"));
        }
    }
    let mut links = [[(0.0, 0.0); 2]; 3];
    for (link, bounds) in LINKS.iter().zip(&mut links) {
        for (direction, bounds) in ["forward", "backward"].iter().zip(bounds) {
            let (kbps, delay) = ([300, 1000, 8000, 100_000][below(4) as usize] + below(100), below(40_000));
            sets.push(format!("link.{link}.{direction}.rate={kbps} kbit/s"));
            sets.push(format!("link.{link}.{direction}.delay={delay} us"));
            *bounds = (kbps as f64 / 1e3, delay as f64 / 1e6);
            if clean {
                sets.push(format!("link.{link}.{direction}.queue=10000 packets"));
            } else {
                sets.push(format!("link.{link}.{direction}.loss={} %", below(4)));
                sets.push(format!("link.{link}.{direction}.duplicate={} %", below(3)));
                sets.push(format!("link.{link}.{direction}.queue={} packets", 10 + below(100)));
            }
        }
    }
    Drawn { data, sets, links, clean, seen: !foreign }
}

/// The times and lengths of the packets that an end has received.
fn received(run: &Run, side: &str) -> Vec<(f64, f64)> {
    let table = run.table("packet");
    let column = |name: &str| table.column(name).unwrap();
    let (connection, sides, direction) = (column("connection"), column("side"), column("direction"));
    let (time, length) = (column("time_s"), column("length_bytes"));
    let is_here = |row: &usize| {
        let name = connection.text(*row).unwrap();
        (name == "get" || name.starts_with("get#") && !name.contains(" at "))
            && sides.text(*row) == Some(side)
            && direction.text(*row) == Some("received")
    };
    let packet = |row: usize| (time.number(row).unwrap(), length.number(row).unwrap());
    (0..table.rows()).filter(is_here).map(packet).collect()
}

/// Packets up to this size carry no data worth the name: acknowledgements, ends of streams and connections.
const SMALL: f64 = 200.0;

/// Checks the laws for one scenario. Returns whether the flow completed.
fn laws(drawn: &Drawn) -> bool {
    let sets: Vec<&str> = drawn.sets.iter().map(String::as_str).collect();
    let scenario = scenario(CHAIN, &sets);
    let run = run(&scenario);
    let get = run.connection("get");
    let what = format!("{:#?}\n{get:#}", drawn.sets);
    // 0: towards the client, 1: towards the server.
    let way = match drawn.data {
        Down => 0,
        Up => 1,
        Both => usize::from(get["sender"] == "client"),
    };
    let rate = drawn.links.iter().map(|link| link[way].0).fold(f64::INFINITY, f64::min);
    let delay = |way: usize| drawn.links.iter().map(|link| link[way].1).sum::<f64>();
    let goodput = get["goodput_mbps"].as_f64().unwrap_or(0.0);
    assert!(goodput <= rate, "{goodput} Mbit/s over {rate} Mbit/s: {what}");
    let Some(completion) = get["completion_s"].as_f64() else {
        assert_eq!(get["completed"], false, "{what}");
        return false;
    };
    // Those of the direction with more, of a mix.
    let bytes = get["delivered_bytes"].as_f64().unwrap() * if drawn.data == Both { 0.5 } else { 1.0 };
    // A download is first asked for.
    let asked = if way == 0 { delay(1) } else { 0.0 };
    let earliest = asked + delay(way) + bytes * 8e-6 / rate;
    assert!(
        completion >= earliest - 1e-6,
        "{completion} s, and the last byte is there at {earliest} s: {what}"
    );
    let start = scenario.flows[0].start.as_secs_f64();
    let end = run.summary["duration_s"].as_f64().unwrap();
    assert!(start + completion <= end + 1e-6, "the run ends at {end} s: {what}");
    if drawn.data != Both && drawn.seen {
        let packets = received(&run, ["client", "server"][way]);
        let at = start + completion;
        let carrier = packets.iter().filter(|(time, _)| (time - at).abs() < 1.5e-6);
        let last = carrier.map(|(_, length)| *length).fold(0.0, f64::max);
        assert!(last > 0.0, "no packet came at {at} s: {what}");
        // Without retransmissions each byte comes once.
        let again = |entry: &serde_json::Value| entry["retransmitted_bytes"].as_u64().unwrap_or(0) > 0;
        let proxies = run.summary["nodes"].as_array();
        let once = !again(get) && get["probe_timeouts"] == 0 && !proxies.into_iter().flatten().any(again);
        if drawn.clean && once {
            let later = packets.iter().filter(|(time, length)| *time > at + 1.5e-6 && *length > SMALL);
            assert_eq!(later.count(), 0, "data came after the completion at {at} s: {what}");
        }
    }
    true
}

#[test]
fn goodput_and_completion_of_drawn_scenarios_are_possible() {
    // `origins` tests those that belong to another flow.
    let own =
        |name: &str| traffic::APPLICATIONS.iter().any(|row| row.name == name && row.build.branch.is_none());
    let mut rows = rooms().iter().find(|room| room.name == "applications").unwrap().rows.clone();
    rows.retain(|row| own(row.name));
    let named = APPLICATIONS.iter().map(|(_, _, application)| application.split('"').nth(1).unwrap());
    let known: BTreeSet<&str> = named.collect();
    assert_eq!(known, rows.iter().map(|row| row.name).collect(), "each application is drawn");
    let mut completed = 0;
    // In 2883 a run ends while the last segment of a video is on the way.
    for seed in (0..390).chain([2883]) {
        completed += u32::from(laws(&draw(seed)));
    }
    assert!(completed > 200, "{completed}");
}

/// 100 kB over 1 Mbit/s take 0.8 s, even if a proxy acknowledges them earlier.
#[test]
fn an_upload_through_proxies_is_complete_when_the_server_has_it() {
    for nodes in [&["near"][..], &["far"], &["near", "far"]] {
        for streams in [1, 4] {
            let mut sets = vec![
                format!(
                    "flow.get.application={{ type = \"bulk\", size = \"100 kB\", direction = \"upload\", streams = {streams} }}"
                ),
                "flow.get.protocol=tcp".to_owned(),
                "link.home.both.rate=100 Mbit/s".to_owned(),
                "link.cell.both.rate=100 Mbit/s".to_owned(),
                "link.net.both.rate=1 Mbit/s".to_owned(),
                "link.net.both.delay=10 ms".to_owned(),
            ];
            sets.extend(LINKS.map(|link| format!("link.{link}.both.queue=1000 packets")));
            sets.extend(nodes.iter().map(|node| format!("node.{node}.kind=pep")));
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let run = run(&scenario(CHAIN, &sets));
            let get = run.connection("get");
            let completion = get["completion_s"].as_f64().unwrap();
            assert!((0.8..1.1).contains(&completion), "{nodes:?} {streams}: {get}");
            assert_eq!((&get["delivered_bytes"], &get["clean"]), (&100_000.into(), &true.into()), "{get}");
            if streams > 1 {
                let longest = get["streams"]["delay_max_ms"].as_f64().unwrap() / 1e3;
                assert!((longest - completion).abs() < 0.1, "{nodes:?}: {get}");
            }
        }
    }
}

/// 5 kB at a round trip of 100 ms: one for the handshake, and half a one for the data. The acknowledgement takes another half.
#[test]
fn an_upload_over_quic_is_complete_before_its_last_acknowledgement() {
    let sets = [
        "flow.get.application={ type = \"bulk\", size = \"5 kB\", direction = \"upload\" }",
        "link.cell.both.delay=50 ms",
    ];
    let run = run(&scenario(CHAIN, &sets));
    let completion = run.connection("get")["completion_s"].as_f64().unwrap();
    assert!((0.150..0.152).contains(&completion), "{completion}");
}
