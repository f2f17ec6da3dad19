//! The law of typed packets: a run in which packets stay typed and one in which all packets are bytes send the same packets, byte
//! by byte and at the same times, past every node.

use crate::run::{Running, run_with};
use crate::{Options, Prepared, RunError, Scenario};
use network::{NodeId, Packet, Step, Watch};
use proptest::prelude::*;
use std::cell::RefCell;
use std::path::Path;
use units::Time;

/// A packet at a node, as an observer there sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    at: Time,
    node: NodeId,
    packet: Packet,
}

/// Writes out every packet that reaches a node; counts those that were typed.
#[derive(Clone, Copy)]
struct Observer<'a> {
    seen: &'a RefCell<Vec<Seen>>,
    typed: &'a RefCell<u64>,
}

impl Watch for Observer<'_> {
    fn acts(self, _: usize, _: Time) {}
    fn reaches(self, node: NodeId, at: Time, packet: &Packet) {
        *self.typed.borrow_mut() += u64::from(packet.typed().is_some());
        let mut packet = packet.clone();
        packet.write_out();
        self.seen.borrow_mut().push(Seen { at, node, packet });
    }
}

/// What is observed in a run, its summary, and how many packets were typed. With `bytes`, each packet is recorded, for which its
/// bytes are needed.
fn observed(text: &str, bytes: bool) -> (Vec<Seen>, String, u64) {
    let record = format!("{text}\n[record]\npackets = {bytes}\ntables = []\n");
    let scenario = Scenario::parse(&record, Path::new("law.toml"), &[])
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (seen, typed) = (RefCell::default(), RefCell::default());
    let observer = Observer { seen: &seen, typed: &typed };
    let mut drive = |running: &mut Running<'_>| -> Result<Time, RunError> {
        let end = Time::ZERO + scenario.duration;
        while running.advance_watched(end, observer)? == Step::Budget {}
        Ok(running.world.now())
    };
    let options = Options { tables: bytes, ..Options::default() };
    let prepared = Prepared::new(&scenario).unwrap();
    let outcome = run_with(&scenario, &prepared, &options, None, &mut drive)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let summary = outcome.summary.to_string();
    (seen.into_inner(), summary, typed.into_inner())
}

/// One of these texts.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts)
}

const APPLICATIONS: &[&str] = &[
    r#"{ type = "bulk", size = "300 kB" }"#,
    r#"{ type = "bulk", size = "200 kB", direction = "upload" }"#,
    r#"{ type = "bulk", size = "200 kB", streams = 3, weights = [1, 4, 2] }"#,
    r#"{ type = "request-response", request = 300, response = 9000, count = 20, over = "stream" }"#,
    r#"{ type = "messages", source = { type = "poisson", size = 900, gap = "8 ms" }, direction = "download" }"#,
    r#"{ type = "messages", source = "mavlink", over = "datagrams" }"#,
    r#"{ type = "http3", sizes = ["40 kB", "3 kB"], count = 8 }"#,
];
const CONTROLLERS: &[&str] =
    &["\"newreno\"", "\"cubic\"", "\"bbr3\"", "\"prague\"", "{ type = \"fixed\", window = \"90 kB\" }"];
const ENDPOINTS: &[&str] = &[
    "",
    "ack_ratio = 10",
    "key_update_after = 60",
    "ecn = false\nmtu_discovery = true\nmax_udp_payload = 1452",
    "min_ack_delay = \"1 ms\"\npeer_ack_ratio = 8",
    "initial_max_data = \"60 kB\"",
    "spin_bit = true",
    "max_ack_delay = \"5 ms\"\npacing_burst = 2",
];
const PATHS: &[&str] = &[
    "",
    "loss = \"3 %\"",
    "corrupt = \"2 %\"\nduplicate = \"2 %\"",
    "jitter = \"4 ms\"\nreorder = true",
    "queue = \"8 packets\"",
    "queue = \"codel\"",
    "queue = { type = \"drop-tail\", limit = \"30 packets\", mark_above = \"6 packets\" }",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The law, over drawn scenarios.
    #[test]
    fn typed_packets_are_the_bytes_that_they_would_be(
        (seed, version, middlebox) in (0u32..1000, prop::sample::select(vec![4, 6]), any::<bool>()),
        (endpoint, controller) in (one_of(ENDPOINTS), one_of(CONTROLLERS)),
        (forward, backward) in (one_of(PATHS), one_of(PATHS)),
        applications in prop::collection::vec(one_of(APPLICATIONS), 1..3),
        foreign in any::<bool>(),
    ) {
        let mut text = format!(
            "seed = {seed}\nduration = \"2 s\"\n[tls]\nprotection = \"null\"\n[transport]\ncontroller = {controller}\n\
             max_datagram_frame_size = 65535\n{endpoint}\n"
        );
        if middlebox {
            text += "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\n\
                     [[node]]\nname = \"middle\"\nkind = { type = \"nat\", rebind = [\"400 ms\"] }\n";
        }
        text += &format!(
            "[[link]]\nname = \"access\"\nfrom = \"client\"\nto = \"middle\"\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[link]]\nname = \"path\"\nfrom = \"server\"\nto = \"middle\"\nrate = \"8 Mbit/s\"\ndelay = \"9 ms\"\n\
             [link.forward]\n{forward}\n[link.backward]\n{backward}\n"
        );
        for (number, application) in applications.iter().enumerate() {
            text += &format!(
                "[[flow]]\nname = \"f{number}\"\nclient = \"client\"\nserver = \"server\"\napplication = {application}\n\
                 start = \"{} ms\"\nip = {version}\n",
                150 * number
            );
        }
        if foreign {
            text += "[[flow]]\nname = \"tcp\"\nclient = \"client\"\nserver = \"server\"\nprotocol = \"tcp\"\napplication = { type = \"bulk\", size = \"50 kB\" }\n";
            text += &format!("ip = {version}\n");
        }
        let (plain, plain_summary, _) = observed(&text, false);
        let (bytes, bytes_summary, none) = observed(&text, true);
        prop_assert_eq!(none, 0, "recorded packets are bytes");
        for (one, other) in plain.iter().zip(&bytes) {
            prop_assert_eq!(one, other, "\n{}", text);
        }
        prop_assert_eq!(plain.len(), bytes.len());
        prop_assert_eq!(plain_summary, bytes_summary);
    }
}

/// Without it the law would compare nothing: nearly all packets of a transfer stay typed, each being seen at its end.
#[test]
fn a_transfer_stays_typed() {
    let text = format!(
        "[tls]\nprotection = \"null\"\n[[link]]\nname = \"path\"\nfrom = \"server\"\nto = \"client\"\n\
         rate = \"8 Mbit/s\"\ndelay = \"9 ms\"\n[[flow]]\nname = \"f\"\nclient = \"client\"\nserver = \"server\"\n\
         application = {}\n",
        APPLICATIONS[0]
    );
    let (seen, _, typed) = observed(&text, false);
    assert!(seen.len() > 200 && typed * 100 > seen.len() as u64 * 90, "{typed} of {}", seen.len());
}
