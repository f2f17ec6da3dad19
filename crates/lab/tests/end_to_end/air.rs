//! What is told of media with a link layer before a run, beside what comes out; the lanes of a connection.

use crate::bed::{examples, run, scenario};
use lab::Scenario;
use serde_json::json;

/// A phone on a medium, behind a link of 10 ms each way, with cross traffic to it and from it that fills the medium.
const PHONE: &str = r#"
duration = "10 s"
[[node]]
name = "server"
[[node]]
name = "station"
kind = "router"
[[node]]
name = "phone"
[[medium]]
name = "air"
type = "lte"
station = "station"
terminals = ["phone"]
[[link]]
name = "core"
from = "server"
to = "station"
both = { delay = "10 ms" }
[[flow]]
name = "get"
client = "phone"
server = "server"
start = "9.9 s"
application = { type = "bulk", size = "10 kB" }
[[cross_traffic]]
name = "udp"
from = "server"
to = "phone"
source = { type = "constant", gap = "80 us", size = 1472 }
"#;

/// The description of a subject.
fn told(scenario: &Scenario, subject: &str) -> Option<String> {
    lab::describe(scenario).into_iter().find(|(known, _)| known == subject).map(|(_, words)| words)
}

/// The medium is the bottleneck of a flow that passes it, with a rate that one sender nearly reaches.
#[test]
fn the_bottleneck_that_is_told_is_nearly_reached() {
    let wlan = "medium.air.type=wlan";
    let errors = "medium.air.block_errors=none";
    let narrow = "medium.air.bandwidth=5 MHz";
    let (nr, wide) = ("medium.air.type=nr", "medium.air.bandwidth=20");
    let [b, n] = ["medium.air.standard=b", "medium.air.standard=n"];
    for (sets, rate, rtt, share) in [
        // 25 resource blocks of scheme 28 have 18,336 bits (TS 36.213 table 7.1.7.2.1-1, I_TBS 26).
        (&[narrow, errors, "medium.air.mcs=28"][..], "18.336 Mbit/s", "22 ms", 0.99),
        // The channel does not change: scheme 28 is that of its CQI, too.
        (&[narrow, errors, "medium.air.channel=30"], "18.336 Mbit/s", "22 ms", 0.99),
        // DIFS, 7.5 slots, a frame of 1536 B, SIFS, ACK: 28 + 67.5 + 254 + 10 + 34 us for 12,000 bits.
        (&[wlan], "30.496 Mbit/s", "20.068 ms", 0.99),
        // The same in b: 50 + 310 + 1310 + 10 + 248 us. An empty frame takes 192 us and 36 B at 11 Mbit/s.
        (&[wlan, b], "6.224 Mbit/s", "20.438 ms", 0.99),
        // With RTS and CTS at 24 Mbit/s: 34 us each, and SIFS twice.
        (&[wlan, "medium.air.rts_threshold=1 kB"], "24.922 Mbit/s", "20.068 ms", 0.99),
        // 54,296 bits in 0.5 ms: 51 resource blocks of 144 elements, 8 bits at 948/1024 (TS 38.214 section 5.1.3.2).
        (&[nr, wide, errors, "medium.air.mcs=27"], "108.592 Mbit/s", "21 ms", 0.98),
        // 42 frames of 1544 B in an A-MPDU at 65 Mbit/s: 43 + 67.5 + 8020 + 16 + 32 us for a block ACK.
        (&[wlan, n], "61.625 Mbit/s", "20.088 ms", 0.97),
    ] {
        let scenario = &scenario(PHONE, sets);
        let words = told(scenario, "flow get, server to phone").unwrap();
        let expected =
            format!("bottleneck air station phone at most {rate}, base RTT at least {rtt}, BDP about ");
        let expected = if scenario.media[0].kind.name == "wlan" {
            expected.replace("station phone", "station")
        } else {
            expected
        };
        assert!(words.starts_with(&expected), "{words}\n{expected}");
        let run = run(scenario);
        let lane = &run.summary["media"][0];
        let megabits = lane["delivered_bytes"].as_f64().unwrap() * 8e-6;
        let most: f64 = rate.split(' ').next().unwrap().parse().unwrap();
        let reached = megabits / run.summary["duration_s"].as_f64().unwrap() / most;
        assert!((share..1.005).contains(&reached), "{reached} of {rate}: {sets:?}");
    }
}

/// A slower link remains the bottleneck, and a terminal may be out of reach.
#[test]
fn what_else_is_told_of_cells() {
    let slow = scenario(PHONE, &["link.core.both.rate=10 Mbit/s"]);
    let words = "bottleneck core forward 10 Mbit/s, base RTT at least 22 ms, BDP about 27.5 kB";
    assert_eq!(told(&slow, "flow get, server to phone").as_deref(), Some(words));
    // The highest scheme of the channel of NR: that may be there, or not.
    let drawn = scenario(PHONE, &["medium.air.channel=drawn"]);
    let words = told(&drawn, "flow get, phone to server").unwrap();
    assert!(words.starts_with("bottleneck air phone at most 75.376 Mbit/s"), "{words}");

    let near = scenario(PHONE, &[]);
    assert_eq!(told(&near, "medium air, phone, warning"), None);
    let far = scenario(PHONE, &["medium.air.at.phone.channel=-10"]);
    let words = "out of reach of station: no scheme is low enough for its channel";
    assert_eq!(told(&far, "medium air, phone, warning").as_deref(), Some(words));
    assert_eq!(run(&far).summary["media"][0]["delivered_packets"], json!(0));
}

/// Options are described as a scenario has them, and only those that are not the defaults.
#[test]
fn the_options_of_a_medium_are_told_as_they_are_set() {
    let cell = Scenario::from_file(examples().join("cell.toml"), &[]).unwrap();
    assert_eq!(told(&cell, "medium cell").as_deref(), Some("lte, bandwidth 5 MHz: enb with near, edge"));
    assert_eq!(told(&cell, "medium cell, near").as_deref(), Some("channel 25"));
    let sets = [
        "medium.air.type=wlan",
        "medium.air.queue={ type = \"codel\", target = \"10 ms\" }",
        "medium.air.frame_errors=0.1",
        "medium.air.channel={ type = \"drawn\", distance = 50 }",
    ];
    assert_eq!(
        told(&scenario(PHONE, &sets), "medium air").as_deref(),
        Some(
            "wlan, frame_errors 0.1, channel drawn distance 50, queue codel target 10 ms: station with phone"
        )
    );
    let more = PHONE.replace("[[medium]]", "[[node]]\nname = \"tablet\"\n[[medium]]");
    let both = "medium.air.terminals=[\"phone\", \"tablet\"]";
    let sets = ["medium.air.type=wlan", both, "medium.air.hidden=[[\"phone\", \"tablet\"]]"];
    assert_eq!(
        told(&scenario(&more, &sets), "medium air").as_deref(),
        Some("wlan, hidden [[phone, tablet]]: station with phone, tablet")
    );
}

/// The summary names the lanes of a connection: those of its data, and those of what comes back.
#[test]
fn a_connection_has_its_lanes() {
    let idle = "cross_traffic.udp.source.gap=1 s";
    let lanes = |sets: &[&str]| {
        run(&scenario(PHONE, &[&[idle], sets].concat())).connection("get").get("lanes").cloned()
    };
    let (down, up) = (["air station phone"], ["air phone"]);
    assert_eq!(lanes(&[]), Some(json!({ "data": down, "back": up })));
    let upload = "flow.get.application.direction=upload";
    assert_eq!(lanes(&[upload]), Some(json!({ "data": up, "back": down })));
    let wlan = lanes(&["medium.air.type=wlan"]);
    assert_eq!(wlan, Some(json!({ "data": ["air station"], "back": up })));
    assert_eq!(lanes(&["medium.air.type=shared"]), None, "without a link layer there is nothing to tell");
}
