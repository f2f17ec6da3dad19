//! Worlds with gates in a time that a test lets pass: packets enter, take what the network does to them, and leave.

use lab::emulation::{Arrivals, Counts, Emulated, Emulation, Outside, gates, tolerance};
use lab::{Options, Prepared, Scenario};
use network::Packet;
use network::gate::{self, GateCounts};
use std::path::Path;
use units::{Duration, Time};
use wire::Ecn;

const TWO: &str = r#"
duration = "1 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "server"
kind = "gate"
[[link]]
name = "air"
from = "phone"
to = "server"
both = { rate = "1 Mbit/s", delay = "10 ms", queue = "3 packets", mtu = 1400 }
"#;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn parse(text: &str) -> Result<Scenario, lab::ScenarioError> {
    Scenario::parse(text, Path::new("test.toml"), &[])
}

/// A datagram of 1,000 bytes from one gate to the other, as a system would send it.
fn datagram(from: &str, to: &str, first: u8) -> Packet {
    let (source, destination) = (from.parse().unwrap(), to.parse().unwrap());
    let (ecn, dscp, hop_limit, payload) = (Ecn::NotEct, 0, 64, &[first; 972][..]);
    let mut bytes = Vec::new();
    wire::ip::Packet { source, destination, ecn, dscp, hop_limit, payload }.encode(&mut bytes).unwrap();
    gate::packet_of(&bytes, Vec::new()).unwrap()
}

/// Sends at given times, and wakes exactly when the world wants to.
#[derive(Default)]
struct Script {
    now: Time,
    /// The gate and the packet, by rising times.
    sends: Vec<(Time, usize, Packet)>,
    /// What left: when, by which gate, and its first byte.
    left: Vec<(Time, usize, u8)>,
    ends: Option<Time>,
    counts: Vec<GateCounts>,
    /// How late it wakes.
    late: Duration,
}

impl Outside for Script {
    fn begin(&mut self) {}
    fn now(&self) -> Time {
        self.now
    }
    fn wait(&mut self, next: Time, arrivals: &mut Arrivals) -> Option<Time> {
        let send = self.sends.first().map(|(at, ..)| *at);
        let due = [Some(next), send, self.ends].into_iter().flatten().min()?;
        // Late by this much.
        let due = due + self.late;
        self.now = self.now.max(due);
        if self.ends.is_some_and(|end| end <= self.now) {
            return None;
        }
        while self.sends.first().is_some_and(|(at, ..)| *at <= self.now) {
            let (at, gate, packet) = self.sends.remove(0);
            arrivals.add(at, gate, packet);
        }
        Some(self.now)
    }
    fn leave(&mut self, gate: usize, at: Time, mut packet: Packet) -> Vec<u8> {
        let mut bytes = Vec::new();
        gate::write(&mut packet, &mut bytes).unwrap();
        assert_eq!(bytes.len(), packet.size as usize);
        self.left.push((at, gate, *bytes.last().unwrap()));
        packet.bytes
    }
    fn flush(&mut self) {}
    fn counted(&mut self, _: Time, counts: &Counts<'_>) {
        self.counts = counts.gates.to_vec();
    }
}

fn played(scenario: &str, script: &mut Script) -> Emulated {
    let scenario = parse(scenario).unwrap();
    let options = Options { tables: true, ..Options::default() };
    let emulation = Emulation {
        scenario: &scenario,
        prepared: &Prepared::new(&scenario).unwrap(),
        options: &options,
        end: Time::ZERO + scenario.duration,
        captured: &[],
        altered_leave: false,
    };
    emulation.run(script).unwrap()
}

fn play(scenario: &str, script: &mut Script) -> serde_json::Value {
    serde_json::from_str(&played(scenario, script).outcome.summary).unwrap()
}

#[test]
fn gates_have_addresses_and_the_mtu_of_their_carriers() {
    let found = gates(&parse(TWO).unwrap());
    let of = |n: usize| (found[n].name.as_str(), found[n].addresses.map(|ip| ip.to_string()), found[n].mtu);
    assert_eq!(of(0), ("phone", ["10.0.0.1".to_owned(), "fd00::1".to_owned()], 1400));
    assert_eq!(of(1), ("server", ["10.0.0.2".to_owned(), "fd00::2".to_owned()], 1400));
}

/// A packet of 1,000 bytes takes 8 ms and the delay of 10 ms. Of five at once one is sent, three wait, and one is dropped.
#[test]
fn packets_take_the_rate_the_delay_and_the_queue_of_a_link() {
    let packet = |first| datagram("10.0.0.1:5000", "10.0.0.2:6000", first);
    let mut script = Script::default();
    script.sends.extend((0..5).map(|first| (at(100), 0, packet(first))));
    script.sends.push((at(101), 1, datagram("[fd00::2]:6000", "[fd00::1]:5000", 9)));
    let summary = play(TWO, &mut script);
    let expected =
        [(118, 1, 0), (126, 1, 1), (134, 1, 2), (142, 1, 3)].map(|(ms, gate, first)| (at(ms), gate, first));
    let [there, back]: [Vec<_>; 2] =
        [1, 0].map(|gate| script.left.iter().copied().filter(|(_, at, _)| *at == gate).collect());
    assert_eq!(there, expected);
    // 1,020 bytes with the header of IPv6.
    assert_eq!(back, [(at(101) + Duration::from_micros(18_160), 0, 9)]);
    let [phone, server] = [script.counts[0], script.counts[1]];
    assert_eq!((phone.entered, phone.entered_bytes, phone.left), (5, 5000, 1));
    assert_eq!((server.entered, server.left, server.left_bytes), (1, 4, 4000));
    assert_eq!(summary["links"][0]["drops"]["queue"], 1);
    assert_eq!(summary["duration_s"], 1.0);
}

#[test]
fn the_outside_can_end_it() {
    let mut script = Script { ends: Some(at(125)), ..Script::default() };
    script.sends.extend((0..5).map(|first| (at(100), 0, datagram("10.0.0.1:5000", "10.0.0.2:6000", first))));
    play(TWO, &mut script);
    assert_eq!(script.left, [(at(118), 1, 0)]);
}

/// The flow's hosts and the gates share the link: both slow each other down, and the world goes on after the flow.
#[test]
fn real_and_simulated_packets_share_a_network() {
    let node = |name: &str, kind: &str| format!("[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
    let link = |from: &str, to: &str, more: &str| {
        format!("[[link]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
    };
    let narrow = "both = { rate = \"1 Mbit/s\", delay = \"10 ms\", queue = \"1 s\" }";
    let shared = [
        "duration = \"2 s\"\n".to_owned(),
        [
            ("phone", "gate"),
            ("server", "gate"),
            ("host", "host"),
            ("far", "host"),
            ("a", "router"),
            ("b", "router"),
        ]
        .map(|(name, kind)| node(name, kind))
        .concat(),
        [("phone", "a"), ("far", "a"), ("b", "server"), ("b", "host")]
            .map(|(from, to)| link(from, to, ""))
            .concat(),
        link("a", "b", narrow),
        "[[flow]]\nname = \"get\"\nclient = \"host\"\nserver = \"far\"\n".to_owned(),
        "application = { type = \"bulk\", size = \"40 kB\" }\n".to_owned(),
    ]
    .concat();
    let mut script = Script::default();
    script.sends.push((at(100), 0, datagram("10.0.0.1:5000", "10.0.0.2:6000", 1)));
    script.sends.push((at(1900), 0, datagram("10.0.0.1:5000", "10.0.0.2:6000", 2)));
    let summary = play(&shared, &mut script);
    assert_eq!(summary["connections"][0]["completed"], true, "{summary}");
    let [first, second] = script.left[..] else { panic!("{:?}", script.left) };
    assert!(first.0 > at(140), "it waits behind packets of the flow: {first:?}");
    assert_eq!(second, (at(1918), 1, 2), "the world goes on when its flow is finished");
}

/// A server of the scenario serves its flows alone: a packet from outside for its port is answered as one for a port without a server.
#[test]
fn nobody_listens_to_a_connection_from_outside() {
    let link = |name: &str| format!("[[link]]\nname = \"{name}-line\"\nfrom = \"{name}\"\nto = \"a\"\n");
    let shared = [
        "duration = \"1 s\"\n[[node]]\nname = \"phone\"\nkind = \"gate\"\n".to_owned(),
        ["host", "far", "a"].map(|name| format!("[[node]]\nname = \"{name}\"\n")).concat(),
        ["phone", "host", "far"].map(link).concat(),
        "[[flow]]\nname = \"get\"\nclient = \"host\"\nserver = \"far\"\n".to_owned(),
        "application = { type = \"bulk\", size = \"40 kB\" }\n".to_owned(),
    ]
    .concat();
    for port in [4433, 4434] {
        let mut script = Script::default();
        let destination = format!("10.0.0.3:{port}");
        script.sends.push((at(100), 0, datagram("10.0.0.1:5000", &destination, 0xc0)));
        let summary = play(&shared, &mut script);
        // An ICMP error comes back, which ends with what it is about.
        assert_eq!(script.left, [(at(100), 0, 0xc0)], "port {port}");
        assert_eq!(summary["connections"][0]["delivered_bytes"], 40_000, "{summary}");
    }
}

#[test]
fn a_simulation_has_no_real_packets() {
    let scenario = parse(TWO).unwrap();
    let error =
        lab::run(&scenario, &Options::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap_err();
    assert!(error.to_string().contains("quiclab emulate"), "{error}");
    let none = TWO.replace("gate", "router");
    let error = parse(&none).unwrap_err().to_string();
    assert!(error.contains("[[flow]]") && error.contains("gate"), "{error}");
}

/// A packet enters at the time at which it came, however late the world hears of it, and each element is as late as that.
#[test]
fn lateness_changes_no_time_and_every_element_has_its_own() {
    let mut script = Script { late: Duration::from_millis(2), ..Script::default() };
    script.sends.push((at(100), 0, datagram("10.0.0.1:5000", "10.0.0.2:6000", 1)));
    let emulated = played(TWO, &mut script);
    assert_eq!(script.left, [(at(118), 1, 1)], "it left the world in time");
    let rows: Vec<_> = emulated
        .elements
        .iter()
        .map(|of| (of.name.as_str(), of.kind, of.lateness.count(), of.lateness.max()))
        .collect();
    let late = Duration::from_millis(2);
    assert_eq!(
        rows,
        [
            ("phone", "gate", 0, Duration::ZERO),
            ("server", "gate", 1, late),
            ("air forward", "link", 1, late),
            ("air backward", "link", 0, Duration::ZERO),
        ]
    );
    assert_eq!((emulated.lateness.count(), emulated.lateness.max()), (2, late));
    let table = emulated.outcome.tables.iter().find(|table| table.name == "lateness").unwrap();
    assert_eq!(table.rows(), 4);
    let (label, stats) = &emulated.links[0];
    assert_eq!((label.as_str(), stats.delivered.packets), ("link air forward", 1));
}

#[test]
fn what_lateness_is_tolerable_follows_from_the_shortest_delay() {
    let of = |delay: &str| tolerance(&parse(&TWO.replace("10 ms", delay)).unwrap());
    let expected = [("10 ms", 1000), ("1 ms", 500), ("300 ms", 5000), ("0 s", 5000)];
    for (delay, us) in expected {
        assert_eq!(of(delay), Duration::from_micros(us), "{delay}");
    }
}
