//! The resolved documents of random scenarios, and the reading of random texts.

mod own_folder;

use lab::scenario::{Scenario, describe, rooms, rooms_json};
use own_folder::own_folder;
use proptest::prelude::*;
use random::Generator;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use units::parameter::{Default, Kind, Parameter, Room};

/// The name of a file in [`own_folder`] with these contents.
fn file_of(contents: &'static str) -> String {
    static WRITTEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut written = WRITTEN.lock().unwrap();
    let known = written.iter().position(|known| *known == contents);
    let name = format!("example-{}", known.unwrap_or(written.len()));
    if known.is_none() {
        fs::write(own_folder().join(&name), contents).unwrap();
        written.push(contents);
    }
    name
}

/// Writes random scenarios from the tables of rooms.
struct Author {
    chance: Generator,
    rooms: Vec<Room>,
}

impl Author {
    fn new(seed: u64) -> Author {
        Author { chance: Generator::new(seed, "author"), rooms: rooms().to_vec() }
    }

    fn below(&mut self, count: u64) -> u64 {
        self.chance.below(count)
    }

    fn options(&mut self, room: &str, row: &str) -> &'static [Parameter] {
        let room = self.rooms.iter().find(|known| known.name == room).unwrap();
        room.rows.iter().find(|known| known.name == row).unwrap().parameters
    }

    /// All required options and some others as `key = value`.
    fn some(&mut self, parameters: &[Parameter], without: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        for parameter in parameters.iter().filter(|parameter| !without.contains(&parameter.name)) {
            if parameter.default == Default::Required || self.below(3) == 0 {
                lines.push(format!("{} = {}", parameter.name, self.value(&parameter.kind)));
            }
        }
        lines
    }

    fn value(&mut self, kind: &Kind) -> String {
        let number = 1 + self.below(1_000_000_000);
        match kind {
            Kind::Duration => format!("\"{number} us\""),
            Kind::Rate => format!("\"{} kbit/s\"", number as f64 / 1000.0),
            Kind::Size => format!("\"{number} B\""),
            Kind::Limit => match self.below(5) {
                0 => "\"unlimited\"".to_owned(),
                1 => format!("\"{number} packets\""),
                2 => format!("\"{number} B\""),
                3 => format!("\"{number} ns\""),
                _ => format!("\"{} BDP\"", number as f64 / 1000.0),
            },
            Kind::Integer(from, to) => {
                from.saturating_add(self.below((to - from).saturating_add(1))).to_string()
            }
            Kind::Number(from, to) => format!("{:?}", from + (to - from) * number as f64 / 1e9),
            Kind::Probability if self.below(2) == 0 => format!("\"{} %\"", number as f64 / 1e7),
            Kind::Probability => format!("{:?}", number as f64 / 1e9),
            Kind::Flag => number.is_multiple_of(2).to_string(),
            Kind::Text => format!("\"a \\\" \\\\ \\t ä {number}\""),
            Kind::Choice(words) => format!("\"{}\"", words[number as usize % words.len()]),
            Kind::File(example) => format!("\"{}\"", file_of(example)),
            Kind::List(Kind::Choice(words)) | Kind::Preference(words) => {
                format!("{:?}", &words[number as usize % words.len()..])
            }
            Kind::List(of) => {
                let values: Vec<String> = (0..self.below(4)).map(|_| self.value(of)).collect();
                format!("[{}]", values.join(", "))
            }
            // Pairs are times with values.
            Kind::Pairs(_, of) => {
                let pairs = (0..1 + self.below(4)).map(|i| format!("[\"{i} us\", {}]", self.value(of)));
                let pairs: Vec<String> = pairs.collect();
                format!("[{}]", pairs.join(", "))
            }
            Kind::Component(room) => self.component(room),
        }
    }

    fn component(&mut self, room: &str) -> String {
        // The bounds of these options depend on each other.
        if room == "pages" {
            let word = ["ns3", "3gpp"][self.below(2) as usize];
            return format!(
                "{{ type = \"{word}\", request = {}, think = \"1 ms\" }}",
                self.value(&Kind::Size)
            );
        }
        if room == "presentations" {
            let variation = self.value(&Kind::Number(0.0, 3.0));
            return format!("{{ type = \"ladder\", variation = {variation}, initialization = \"900 B\" }}");
        }
        // The shortest example of a trace lasts 11 ms.
        if room == "offsets" {
            let at = format!("\"{} us\"", self.below(11_000));
            return ["\"none\"", "\"random\"", &at][self.below(3) as usize].to_owned();
        }
        // Of the two options of `fixed` one may be set.
        if room == "abrs" && self.below(6) == 0 {
            let bitrate = self.value(&Kind::Rate);
            return format!("{{ type = \"fixed\", bitrate = {bitrate} }}");
        }
        let mut room = self.rooms.iter().find(|known| known.name == room).unwrap().clone();
        // Some applications do not run over QUIC, some belong to another flow, and the options of a uniform source bound each
        // other.
        let over_tcp = traffic::APPLICATIONS
            .iter()
            .filter(|row| row.build.over_quic.is_none() || row.build.branch.is_some());
        let one_of = if room.name == "abrs" { "fixed" } else { "uniform" };
        let left_out: Vec<&str> = over_tcp.map(|row| row.name).chain([one_of]).collect();
        room.rows.retain(|row| !left_out.contains(&row.name));
        let row = room.rows[self.below(room.rows.len() as u64) as usize];
        if let (Some((name, option)), 0) = (room.shorthand, self.below(3)) {
            let options = self.options(room.name, name);
            return self.value(&options.iter().find(|parameter| parameter.name == option).unwrap().kind);
        }
        // The bounds of the duration of a generated trace depend on its model.
        if row.name == "generated" {
            let (model, offset) =
                (["mmwave", "lte-driving"][self.below(2) as usize], self.component("offsets"));
            let seconds = 60 + self.below(60);
            return format!(
                "{{ type = \"generated\", model = \"{model}\", duration = \"{seconds} s\", offset = {offset} }}"
            );
        }
        // So do those of a series, and of a terminal.
        if ["leo", "geo"].contains(&row.name) {
            let (rate, offset) = (self.value(&Kind::Rate), self.component("offsets"));
            let (name, seconds) = (row.name, 300 + self.below(60));
            return format!(
                "{{ type = \"{name}\", rate = {rate}, duration = \"{seconds} s\", offset = {offset} }}"
            );
        }
        if row.name == "dvb-rcs2" {
            let (maximum, request) = (self.value(&Kind::Rate), ["vbdc", "rbdc"][self.below(2) as usize]);
            return format!("{{ type = \"dvb-rcs2\", maximum = {maximum}, request = \"{request}\" }}");
        }
        // So do those of on-off traffic.
        if row.name == "on-off" {
            let (size, on) = (16 + self.below(1000), 1 + self.below(1_000_000));
            let gap = 1 + self.below(1000 * on);
            return format!("{{ type = \"on-off\", size = {size}, gap = \"{gap} us\", on = \"{on} us\" }}");
        }
        // So do those of a video.
        if row.name == "video" {
            let (presentation, abr) = (self.component("presentations"), self.component("abrs"));
            let most = 6 + self.below(60);
            return format!(
                "{{ type = \"video\", presentation = {presentation}, abr = {abr}, max_buffer = \"{most} s\", pace = 2.5, \
                 seeks = [[\"7 s\", \"80 s\"]] }}"
            );
        }
        // The default of pages is HTTP/3, and these options are for HTTP/2.
        let of_http2: &[&str] = &["over", "scheduler", "stream_window", "connection_window"];
        let mut options = self.some(row.parameters, if row.name == "page" { of_http2 } else { &["over"] });
        if options.is_empty() && self.below(2) == 0 {
            return format!("\"{}\"", row.name);
        }
        // Only some applications can be parts of a mix.
        if row.name == "mix" {
            let part = ["\"request-response\"", "{ type = \"messages\", source = \"mavlink\" }"];
            let part = part[self.below(2) as usize];
            options = vec![format!("parts = [{part}, {{ type = \"bulk\", urgencies = [1, 2] }}]")];
        }
        let options: Vec<String> = [format!("type = \"{}\"", row.name)].into_iter().chain(options).collect();
        format!("{{ {} }}", options.join(", "))
    }

    /// A chain of nodes with some more links, and flows between its nodes.
    fn scenario(&mut self) -> String {
        let mut out = String::new();
        if self.below(2) == 0 {
            writeln!(out, "name = \"scenario-{}\"", self.below(100)).unwrap();
        }
        writeln!(out, "seed = {}\nduration = \"{} ms\"", self.below(1 << 63), 10_000 + self.below(100_000))
            .unwrap();
        for section in ["record", "tls", "transport", "tcp"] {
            let parameters = self.options("sections", section);
            writeln!(out, "[{section}]\n{}", self.some(parameters, &[]).join("\n")).unwrap();
        }
        let nodes = 2 + self.below(5);
        for node in 0..nodes {
            if nodes.is_multiple_of(2) {
                writeln!(out, "[[node]]\nname = \"n{node}\"").unwrap();
            }
        }
        for link in 0..nodes - 1 + self.below(3) {
            let from = link % (nodes - 1);
            writeln!(out, "[[link]]\nname = \"l{link}\"\nfrom = \"n{from}\"\nto = \"n{}\"", from + 1)
                .unwrap();
            let parameters = self.options("sections", "direction");
            writeln!(out, "{}", self.some(parameters, &[]).join("\n")).unwrap();
            for direction in ["forward", "backward"] {
                if self.below(2) == 0 {
                    writeln!(out, "[link.{direction}]\n{}", self.some(parameters, &[]).join("\n")).unwrap();
                }
            }
        }
        for flow in 0..1 + self.below(3) {
            let (client, by) = (self.below(nodes), 1 + self.below(nodes - 1));
            let server = (client + by) % nodes;
            writeln!(out, "[[flow]]\nname = \"f{flow}\"\nclient = \"n{client}\"\nserver = \"n{server}\"")
                .unwrap();
            let stops = self.span(&mut out);
            let parameters = self.options("sections", "flow");
            let mut known =
                vec!["name", "client", "server", "start", "stop", "protocol", "port", "after", "visits"];
            let tcp = self.below(3) == 0;
            if !tcp && self.below(2) == 0 {
                writeln!(out, "port = {}", 440 + self.below(3)).unwrap();
            }
            match self.below(3) {
                0 if !stops && flow > 0 => writeln!(out, "after = \"f{}\"", flow - 1).unwrap(),
                // After the start, and before the end of the run.
                1 => {
                    let visits =
                        (0..self.below(4)).map(|visit| format!("{{ at = \"{} us\" }}", 9_999_500 + visit));
                    writeln!(out, "visits = [{}]", visits.collect::<Vec<_>>().join(", ")).unwrap();
                }
                _ => {}
            }
            if tcp {
                // Only some applications support TCP.
                known.push("application");
                writeln!(out, "protocol = \"tcp\"\napplication = {{ type = \"bulk\", size = \"1 MB\" }}")
                    .unwrap();
            }
            let options = self.some(parameters, &known);
            writeln!(out, "{}", options.join("\n")).unwrap();
            let section = if tcp { "tcp" } else { "transport" };
            let options = self.options("sections", section);
            writeln!(out, "[flow.{section}]\n{}", self.some(options, &[]).join("\n")).unwrap();
        }
        for cross in 0..self.below(3) {
            let (from, by) = (self.below(nodes), 1 + self.below(nodes - 1));
            let to = (from + by) % nodes;
            writeln!(out, "[[cross_traffic]]\nname = \"c{cross}\"\nfrom = \"n{from}\"\nto = \"n{to}\"")
                .unwrap();
            self.span(&mut out);
            // The bounds of its options depend on each other.
            let gap = self.value(&Kind::Duration);
            writeln!(out, "source = {{ type = \"poisson\", gap = {gap} }}\nip = 6").unwrap();
        }
        out
    }

    /// Writes the start and perhaps the stop of traffic; returns whether it has a stop.
    fn span(&mut self, out: &mut String) -> bool {
        let start = self.below(10_000);
        writeln!(out, "start = \"{start} ms\"").unwrap();
        let stops = self.below(2) == 0;
        if stops {
            writeln!(out, "stop = \"{} ms\"", start + 1 + self.below(10_000)).unwrap();
        }
        stops
    }
}

/// A drawn scenario, and the scenario that it is resolved to, which lies in another folder, like that of a run.
fn same_when_resolved(seed: u64) -> Result<(), TestCaseError> {
    let text = Author::new(seed).scenario();
    let first = match Scenario::parse(&text, &own_folder().join("a.toml"), &[]) {
        Ok(scenario) => scenario,
        Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
    };
    let resolved = first.to_toml();
    let second = Scenario::parse(&resolved, Path::new("/nowhere/scenario.toml"), &[]);
    let second = second.map_err(|error| TestCaseError::fail(format!("{error}\n{resolved}")))?;
    prop_assert_eq!(&first, &second);
    prop_assert_eq!(&resolved, &second.to_toml());
    prop_assert_eq!(describe(&first), describe(&second));
    Ok(())
}

proptest! {
    // Two tests, for two processors.
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_resolved_scenario_is_the_same_scenario(half in 0..=u64::MAX / 2) {
        same_when_resolved(2 * half)?;
    }

    #[test]
    fn a_resolved_scenario_of_an_odd_seed_is_the_same_scenario(half in 0..=u64::MAX / 2) {
        same_when_resolved(2 * half + 1)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..500), set in ".{0,40}") {
        let text = String::from_utf8_lossy(&bytes);
        let _ = Scenario::parse(&text, Path::new("a.toml"), &[]);
        let _ = Scenario::parse("", Path::new("a.toml"), &[set]);
    }

    #[test]
    fn changed_scenarios_never_panic_and_errors_are_one_line(
        seed: u64,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..20, "[ -~]{0,6}|[\\[\\]{}=.\"\n]{1,3}"), 1..5),
        set in "(link|flow|seed|transport)(\\.(0|1|n0|f0|rate|forward|controller|type|name)){0,4}=([0-9]{1,3}|[ -~]{0,12})",
    ) {
        let mut text = Author::new(seed).scenario();
        for (at, length, new) in edits {
            let start = at.index(text.len() + 1);
            let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let end = (start + length..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.replace_range(start..end, &new);
        }
        match Scenario::parse(&text, &own_folder().join("a.toml"), &[set]) {
            Ok(scenario) => {
                let again = Scenario::parse(&scenario.to_toml(), Path::new("b.toml"), &[]);
                prop_assert_eq!(again.map_err(|error| error.to_string()), Ok(scenario));
            }
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error),
        }
    }
}

#[test]
fn the_list_of_rooms_names_every_row() {
    let json = rooms_json();
    for room in rooms() {
        for row in &room.rows {
            assert!(json.contains(&format!("\"name\":\"{}\"", row.name)), "{}", row.name);
        }
    }
}

const SMALL: &str = r#"
[[link]]
name = "cell"
from = "server"
to = "client"
both = { delay = "20 ms", queue = "10 packets" }
forward.rate = "8 Mbit/s"
forward.queue = "2 BDP"

[[flow]]
name = "get"
client = "client"
server = "server"
application = "bulk"
"#;

#[test]
fn directions_override_what_both_share() {
    let scenario = Scenario::parse(SMALL, Path::new("x/small.toml"), &[]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("small", 1));
    let link = &scenario.links[0];
    let queue = |values: &units::parameter::Arguments| values.component("queue").arguments.0[0].1.clone();
    use units::parameter::{Limit, Value};
    assert_eq!(queue(&link.forward), Value::Limit(Limit::BdpThousandths(2000)));
    assert_eq!(queue(&link.backward), Value::Limit(Limit::Packets(10)));
    assert_eq!(link.forward.duration("delay"), link.backward.duration("delay"));
    assert_eq!(
        (link.forward.component("rate").name, link.backward.component("rate").name),
        ("fixed", "unlimited")
    );
}

#[test]
fn flows_override_the_transport_of_all() {
    let text = SMALL.replace("[[link]]", "[transport]\ninitial_window = 20\nack_ratio = 4\n[[link]]");
    let sets = ["flow.get.transport.initial_window=30".to_owned(), "flow.0.ip=6".to_owned()];
    let scenario = Scenario::parse(&text, Path::new("a.toml"), &sets).unwrap();
    let flow = &scenario.flows[0];
    assert_eq!((flow.transport.integer("initial_window"), flow.transport.integer("ack_ratio")), (30, 4));
    assert_eq!(scenario.transport.integer("initial_window"), 20);
    assert!(scenario.to_toml().ends_with("ip = 6\n\n[flow.transport]\ninitial_window = 30\n"));
}

#[test]
fn versions_are_a_list_or_one_text() {
    let resolved = |versions: &str| {
        let text = format!("{SMALL}\n[transport]\nversions = {versions}\n");
        let scenario = Scenario::parse(&text, Path::new("a.toml"), &[]).unwrap();
        let toml = scenario.to_toml();
        let line = toml.lines().find_map(|line| line.strip_prefix("versions = ")).unwrap();
        line.to_owned()
    };
    for versions in [r#"["2", "1"]"#, "[2, 1]", r#""2 1""#] {
        assert_eq!(resolved(versions), r#"["2", "1"]"#, "{versions}");
    }
    for versions in ["2", r#""2""#] {
        assert_eq!(resolved(versions), r#"["2"]"#, "{versions}");
    }
}

#[test]
fn a_description_has_the_computed_numbers() {
    let scenario = Scenario::parse(SMALL, Path::new("a.toml"), &["flow.get.ip=6".to_owned()]).unwrap();
    let lines = describe(&scenario);
    let told =
        |subject: &str| lines.iter().find(|(known, _)| known == subject).map_or("", |(_, words)| words);
    assert_eq!(told("network"), "2 nodes, 1 link");
    // 8 Mbit/s times an RTT of 40 ms are 40 kB, and the queue holds twice that.
    let forward = "server to client: fixed 8 Mbit/s, delay 20 ms, drop-tail 2 BDP (80 kB), MTU 1500";
    assert_eq!(told("link cell forward"), forward);
    assert_eq!(
        told("link cell backward"),
        "client to server: unlimited, delay 20 ms, drop-tail 10 packets, MTU 1500"
    );
    let bottleneck = "bottleneck cell forward 8 Mbit/s, base RTT 40 ms, BDP 40 kB";
    assert_eq!(told("flow get, server to client"), bottleneck);
    assert_eq!(told("flow get, client to server"), "no bottleneck, base RTT 40 ms");
    // 1472 + 48 bytes of headers.
    let warning = told("flow get, warning");
    assert!(warning.contains("1520") && warning.ends_with("max_udp_payload is 1452 instead"), "{warning}");
    let subjects: BTreeSet<&String> = lines.iter().map(|(subject, _)| subject).collect();
    assert_eq!(subjects.len(), lines.len());
}

/// A capacity that waits for session tickets, or for 0-RTT packets.
#[test]
fn a_capacity_that_never_comes_back_gives_a_warning() {
    let warned = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let lines = describe(&Scenario::parse(SMALL, Path::new("a.toml"), &sets).unwrap());
        lines.into_iter().find(|(subject, _)| subject == "flow get, resume, warning").map(|(_, words)| words)
    };
    let (ticket, bdp) = (
        "transport.resume={ type = \"careful\", store = \"ticket\" }",
        "transport.resume={ type = \"seed\", bdp_frame = true }",
    );
    assert_eq!(warned(&[]), None);
    assert_eq!(warned(&["transport.resume=careful"]), None);
    assert_eq!(
        warned(&[ticket]).as_deref(),
        Some("a store by ticket needs session tickets, but tls.tickets is 0")
    );
    assert_eq!(warned(&[ticket, "tls.tickets=1"]), None);
    assert_eq!(
        warned(&[bdp, "tls.tickets=1"]).as_deref(),
        Some(
            "BDP_FRAME comes back in 0-RTT packets, but tls.early_data is false, early_data of the flow is \
             false"
        )
    );
    assert_eq!(warned(&[bdp, "tls.tickets=1", "tls.early_data=true", "flow.get.early_data=true"]), None);
}

/// What is valid, and stops a flow, slows it down, or leaves it no time.
#[test]
fn what_keeps_a_flow_from_its_rate_gives_a_warning() {
    let warned = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let lines = describe(&Scenario::parse(SMALL, Path::new("a.toml"), &sets).unwrap());
        let lines = lines.into_iter().filter_map(|(subject, words)| {
            Some((subject.strip_suffix(", warning")?.strip_prefix("flow get, ")?.to_owned(), words))
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(warned(&[]), []);
    // Each alone, with the option that it is about and a part of its words.
    let cases: &[(&[&str], &str, &str)] = &[
        (&["transport.initial_max_data='0 B'"], "initial_max_data", "no stream data is ever sent"),
        (
            &["transport.initial_max_stream_data_bidi_local='0 B'"],
            "initial_max_stream_data_bidi_local",
            "the server never sends data",
        ),
        (
            &["transport.initial_max_stream_data_bidi_remote='0 B'"],
            "initial_max_stream_data_bidi_remote",
            "the client never sends data",
        ),
        (&["transport.initial_max_streams_bidi=0"], "initial_max_streams_bidi", "never opens"),
        // The BDP is 40 kB, of 8 Mbit/s.
        (
            &["transport.initial_max_data='10 kB'"],
            "initial_max_data",
            "10 kB allow at most 2 Mbit/s of the 8 Mbit/s",
        ),
        (
            &["transport.initial_max_stream_data_bidi_local='39 kB'"],
            "initial_max_stream_data_bidi_local",
            "7.8 Mbit/s",
        ),
        // Renewed once half of it is read: 40 kB in 40 ms and the 20 ms of 20 kB.
        (&["transport.initial_max_data='40 kB'"], "initial_max_data", "about 5.333 Mbit/s of the 8 Mbit/s"),
        (&["transport.send_queue='20 kB'"], "send_queue", "at most 4 Mbit/s"),
        (&["transport.controller={ type = 'fixed', window = '20 kB' }"], "controller", "at most 4 Mbit/s"),
        (
            &["flow.get.protocol='tcp'", "tcp.max_receive_buffer='20 kB'"],
            "max_receive_buffer",
            "at most 4 Mbit/s",
        ),
        // A megabyte takes a second, and 40 ms until its last byte is there.
        (
            &["flow.get.application.size='1 MB'", "duration='1039 ms'"],
            "duration",
            "1 MB take at least 1.04 s",
        ),
        (
            &["flow.get.application.size='1 MB'", "flow.get.start='59 s'", "duration='60 s'"],
            "duration",
            "has only 1 s",
        ),
        // An acknowledgement of 62 bytes for two packets of 1500 at 8 Mbit/s: 165 kbit/s.
        (
            &["link.cell.backward.rate='100 kbit/s'"],
            "ack_ratio",
            "62 B for every 2 packets needs 165.333 kbit/s",
        ),
        (
            &["link.cell.forward.queue='1 s'"],
            "queue",
            "holds 1 MB, 1 s at 8 Mbit/s, and the BDP of the path is 40 kB",
        ),
        (&["link.cell.forward.queue='2 packets'"], "queue", "holds 3 kB at 8 Mbit/s"),
    ];
    for (sets, option, part) in cases {
        let found = warned(sets);
        assert_eq!(found.len(), 1, "{sets:?}: {found:?}");
        assert!(found[0].0 == *option && found[0].1.contains(part), "{sets:?}: {found:?}");
    }
    let enough: &[&[&str]] = &[
        &["transport.initial_max_data='80 kB'"],
        &["transport.initial_max_stream_data_bidi_remote='10 kB'"],
        &["transport.initial_max_streams_uni=0"],
        &["flow.get.application.size='1 MB'", "duration='1040 ms'"],
        &["flow.get.protocol='tcp'", "transport.initial_max_data='0 B'"],
        &["link.cell.backward.rate='166 kbit/s'"],
        &["link.cell.backward.rate='100 kbit/s'", "transport.ack_ratio=4"],
        &["link.cell.forward.queue='400 ms'"],
        &["link.cell.forward.queue={ type = 'fq-codel', limit = '1 s' }"],
        &["link.cell.forward.queue='3 packets'"],
    ];
    for sets in enough {
        assert_eq!(warned(sets), [], "{sets:?}");
    }
    let page =
        ["flow.get.application={ type = 'http3', sizes = ['1 kB'] }", "transport.initial_max_streams_uni=0"];
    assert!(warned(&page)[0].1.contains("no unidirectional stream"));
}

/// A limit in BDPs counts the delay of the link only: without a delay, a single packet can wait.
#[test]
fn a_queue_of_a_single_packet_gives_a_warning() {
    let warned = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let scenario = Scenario::parse(SMALL, Path::new("a.toml"), &sets).unwrap();
        let lines = describe(&scenario);
        lines.into_iter().find(|(subject, _)| subject == "link cell forward, warning").map(|(_, words)| words)
    };
    // 8 Mbit/s times 40 ms give a queue of 80 kB; times 1.49 ms it has 2980 bytes, too few for two packets of 1500.
    assert_eq!(warned(&[]), None);
    let words = warned(&["link.cell.both.delay=\"0 s\""]).unwrap();
    assert!(
        words.contains("one full-sized packet") && words.contains("2 BDP") && words.contains("0 s"),
        "{words}"
    );
    assert!(warned(&["link.cell.both.delay=\"745 us\""]).is_some());
    assert_eq!(warned(&["link.cell.both.delay=\"750 us\""]), None);
    // A limit in packets is deliberate, and a link without a rate has no queue.
    let queue = "link.cell.forward.queue=\"1 packets\"";
    assert_eq!(warned(&["link.cell.both.delay=\"0 s\"", queue]), None);
    assert_eq!(warned(&["link.cell.both.delay=\"0 s\"", "link.cell.forward.rate=\"unlimited\""]), None);
}

#[test]
fn a_trace_is_described_with_its_mean_and_length() {
    let file = file_of("1\n2\n2\n7\n");
    let sets = [format!("link.cell.forward.rate={{ type = \"trace\", file = \"{file}\" }}")];
    let scenario = Scenario::parse(SMALL, &own_folder().join("a.toml"), &sets).unwrap();
    let (_, words) =
        describe(&scenario).into_iter().find(|(subject, _)| subject == "link cell forward").unwrap();
    // Four times 1500 bytes in 7 ms.
    assert!(words.contains(&format!("{file}, mean 6.857 Mbit/s over 7 ms,")), "{words}");
}

#[test]
fn the_examples_are_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let scenario = Scenario::from_file(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(
                describe(&scenario).iter().all(|(subject, _)| !subject.contains("warning")),
                "{}",
                path.display()
            );
            count += 1;
        }
    }
    assert!(count >= 4);
}

#[test]
fn a_path_in_a_change_is_relative_to_the_working_folder() {
    // Tests run in the folder of their crate.
    let set = |file: &str| format!("link.cell.forward.rate={{ type = \"trace\", file = \"{file}\" }}");
    let read = |file: &str| Scenario::from_file("../../examples/cellular.toml", &[set(file)]);
    assert!(read("../../examples/traces/lte-like.down").is_ok(), "from the working folder");
    assert!(read("traces/lte-like.down").is_ok(), "beside the scenario");
    let error = read("nowhere.down").unwrap_err().to_string();
    assert!(error.ends_with("relative to the working folder or to that of the scenario"), "{error}");
}
