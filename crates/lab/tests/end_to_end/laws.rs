//! Laws that hold for all components with any options.

use crate::bed::{Run, assert_equal, examples, run, scenario};
use lab::{Scenario, rooms};
use random::Generator;
use units::parameter::{Default, Kind, Parameter, Room};

/// A server, a router, and a client. The component under test is on the link `last` or at the ends of the flow. A second flow
/// uses another link.
const CHAIN: &str = r#"
duration = "4 s"
[record]
tables = ["connection", "loss", "event", "gauge", "stream", "message", "queue", "drop", "rate"]
packets = true
[[link]]
name = "first"
from = "server"
to = "router"
both = { rate = "50 Mbit/s", delay = "2 ms" }
[[link]]
name = "last"
from = "router"
to = "client"
both = { delay = "8 ms" }
[[link]]
name = "other"
from = "left"
to = "right"
both = { rate = "3 Mbit/s", delay = "10 ms", queue = "20 packets", loss = "1 %", jitter = "2 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "400 kB", streams = 3 }
[[flow]]
name = "beside"
client = "right"
server = "left"
application = "bulk"
[[cross_traffic]]
name = "get"
from = "server"
to = "client"
source = { type = "constant", gap = "200 ms" }
[[cross_traffic]]
name = "beside"
from = "left"
to = "right"
source = { type = "constant", gap = "200 ms" }
"#;

/// A video that is short enough for a few seconds.
const LADDER: &str = r#"{ type = "ladder", segment = "500 ms", duration = "8 s", audio = ["64 kbit/s"] }"#;

/// Writes random options from the tables of rows. They are small, so that something happens in a few seconds.
pub(crate) struct Author {
    chance: Generator,
    rooms: Vec<Room>,
}

impl Author {
    pub(crate) fn new(seed: u64) -> Author {
        Author { chance: Generator::new(seed, "author"), rooms: rooms().to_vec() }
    }

    fn below(&mut self, count: u64) -> u64 {
        self.chance.below(count)
    }

    /// A random fraction.
    fn fraction(&mut self) -> f64 {
        self.below(1000) as f64 / 1000.0
    }

    fn value(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Duration => format!("\"{} us\"", self.below(20_000)),
            Kind::Rate => format!("\"{} kbit/s\"", 1000 + self.below(20_000)),
            Kind::Size => format!("\"{} kB\"", 1 + self.below(200)),
            Kind::Limit => match self.below(5) {
                0 => "\"unlimited\"".to_owned(),
                1 => format!("\"{} packets\"", 5 + self.below(50)),
                2 => format!("\"{} kB\"", 10 + self.below(100)),
                3 => format!("\"{} ms\"", 5 + self.below(50)),
                _ => format!("\"{} BDP\"", 0.3 + self.fraction() * 2.0),
            },
            Kind::Integer(from, to) => (from + self.below((to - from + 1).min(30))).to_string(),
            Kind::Number(from, to) => format!("{:?}", from + (to - from).min(3.0) * self.fraction()),
            Kind::Probability => format!("\"{} %\"", self.fraction() * 20.0),
            Kind::Flag => (self.below(2) == 0).to_string(),
            // The name of the flow, which queues may need.
            Kind::Text => "\"get\"".to_owned(),
            Kind::Choice(words) => format!("\"{}\"", words[self.below(words.len() as u64) as usize]),
            Kind::Preference(words) => {
                let first = self.below(words.len() as u64) as usize;
                format!("{:?}", [&words[first..], &words[..first]].concat())
            }
            Kind::File(example) => format!("\"{}\"", crate::bed::file_of(example).display()),
            Kind::List(of) => {
                let values: Vec<String> = (0..1 + self.below(4)).map(|_| self.value(of)).collect();
                format!("[{}]", values.join(", "))
            }
            // Terminals of the medium in `places`.
            Kind::Pairs(Kind::Text, _) => "[[\"phone\", \"tablet\"]]".to_owned(),
            Kind::Pairs(Kind::Rate, of) => format!("[[\"1 Mbit/s\", {}]]", self.value(of)),
            // Other pairs are times with values.
            Kind::Pairs(_, of) => {
                let pairs =
                    (0..1 + self.below(4)).map(|i| format!("[\"{} ms\", {}]", i * 300, self.value(of)));
                let pairs: Vec<String> = pairs.collect();
                format!("[{}]", pairs.join(", "))
            }
            // The bounds of these options depend on each other.
            Kind::Component("pages") => ["\"ns3\"", "\"3gpp\""][self.below(2) as usize].to_owned(),
            Kind::Component("presentations") => LADDER.to_owned(),
            Kind::Component(room) => {
                let rows = self.rooms.iter().find(|known| known.name == *room).unwrap().rows.clone();
                let row = rows[self.below(rows.len() as u64) as usize];
                self.component(row.name, row.parameters)
            }
        }
    }

    /// A component with some of its options.
    pub(crate) fn component(&mut self, name: &str, parameters: &[Parameter]) -> String {
        let mut words = vec![format!("type = \"{name}\"")];
        for parameter in parameters {
            // The thresholds of RED depend on each other.
            if name == "red" && parameter.name.ends_with("_th") {
                continue;
            }
            // A repetition must be later than all steps of lists and files.
            if parameter.name == "repeat" {
                words.push(format!("repeat = \"{} ms\"", 60_000 + self.below(20_000)));
                continue;
            }
            // The buffer has room for a segment.
            if name == "video" && parameter.name == "max_buffer" {
                words.push(format!("max_buffer = \"{} ms\"", 2000 + self.below(4000)));
                continue;
            }
            if parameter.default == Default::Required || self.below(2) == 0 {
                words.push(format!("{} = {}", parameter.name, self.value(&parameter.kind)));
            }
        }
        format!("{{ {} }}", words.join(", "))
    }
}

/// A component with options, and its place in [`CHAIN`].
struct Case {
    room: &'static str,
    row: &'static str,
    section: &'static str,
    key: &'static str,
    value: String,
    /// The change to the flow's protocol, since some applications need TCP.
    protocol: &'static str,
}

impl Case {
    /// The change to the scenario that sets it for a link or a flow.
    fn set(&self, link: &str, flow: &str) -> String {
        let place = match self.section {
            "direction" => format!("link.{link}.both"),
            "link" => format!("link.{link}"),
            "transport" | "tcp" => format!("flow.{flow}.{}", self.section),
            "flow" | "cross_traffic" => format!("{}.{flow}", self.section),
            other => panic!("no place is known for components in {other}"),
        };
        format!("{place}.{}={}", self.key, self.value)
    }

    /// The case with a protocol that supports it, if there is one.
    fn with_protocol(mut self) -> Option<Case> {
        for protocol in ["flow.get.protocol=quic", "flow.get.protocol=tcp"] {
            self.protocol = protocol;
            let sets = [self.set("last", "get"), protocol.to_owned()];
            if Scenario::parse(CHAIN, &examples().join("laws.toml"), &sets).is_ok() {
                return Some(self);
            }
        }
        None
    }
}

/// Whether an application belongs to another flow: `origins` tests those.
fn is_branch(name: &str) -> bool {
    traffic::APPLICATIONS.iter().any(|row| row.name == name && row.build.branch.is_some())
}

/// Several cases for each row of each room.
fn cases() -> Vec<Case> {
    let rooms = rooms();
    let sections = rooms.iter().find(|room| room.name == "sections").unwrap();
    let mut cases = Vec::new();
    // `places` tests nodes and media, `processing` that of nodes, `stacks` theirs, and `events` and `visits` the others.
    let elsewhere = [
        "sections",
        "kinds",
        "middleboxes",
        "sides",
        "processing",
        "stacks",
        "media",
        "channels",
        "block_errors",
        "cell_schedulers",
        "handovers",
        "frame_errors",
        "rate_controls",
        "events",
        "visits",
    ];
    for room in rooms.iter().filter(|room| !elsewhere.contains(&room.name)) {
        let place = sections.rows.iter().find_map(|section| {
            let of = |parameter: &&Parameter| parameter.kind == Kind::Component(room.name);
            section.parameters.iter().find(of).map(|parameter| (section.name, parameter.name))
        });
        // Components within an application or a rate.
        let within: Option<fn(&str) -> String> = match room.name {
            "pages" => Some(|page| format!("{{ type = \"page-streams\", page = {page} }}")),
            "presentations" => {
                Some(|presentation| format!("{{ type = \"video\", presentation = {presentation} }}"))
            }
            "abrs" => Some(|abr| format!("{{ type = \"video\", presentation = {LADDER}, abr = {abr} }}")),
            "changes" => Some(|change| {
                format!("{{ type = \"bulk\", size = \"400 kB\", streams = 3, changes = [{change}] }}")
            }),
            "offsets" => Some(|offset| {
                format!(
                    "{{ type = \"generated\", model = \"lte-driving\", duration = \"30 s\", offset = {offset} }}"
                )
            }),
            _ => None,
        };
        let outer = if room.name == "offsets" { ("direction", "rate") } else { ("flow", "application") };
        let (section, key) = place
            .or(within.map(|_| outer))
            .unwrap_or_else(|| panic!("nothing takes a component of {}", room.name));
        for row in room.rows.iter().filter(|row| !is_branch(row.name)) {
            let drawn = (0..200).map(|variant| {
                let component = Author::new(variant).component(row.name, row.parameters);
                let value = within.map_or(component.clone(), |within| within(&component));
                Case { room: room.name, row: row.name, section, key, value, protocol: "" }
            });
            // Options that the row refuses are drawn again.
            let before = cases.len();
            cases.extend(drawn.filter_map(Case::with_protocol).take(4));
            assert_eq!(cases.len(), before + 4, "{} {}", room.name, row.name);
        }
    }
    assert!(cases.len() >= 60, "{}", cases.len());
    cases
}

/// The results of the flow `name` and of the link `link`.
fn part(run: &Run, name: &str, link: &str) -> Vec<Vec<Vec<String>>> {
    let mut parts = vec![vec![vec![run.connection(name).to_string()]]];
    for direction in ["forward", "backward"] {
        parts.push(vec![vec![run.link(link, direction).to_string()]]);
        let subject = format!("{link} {direction}");
        parts.push(run.rows("queue", &[("link", &subject)]));
        parts.push(run.rows("drop", &[("link", &subject)]));
        parts.push(run.rows("rate", &[("subject", &subject)]));
    }
    for table in ["connection", "loss", "event", "gauge", "packet", "stream", "message"] {
        parts.push(run.rows(table, &[("connection", name)]));
    }
    parts
}

#[test]
fn equal_seeds_give_equal_records() {
    for (at, case) in cases().iter().enumerate() {
        let seed = format!("seed={at}");
        let scenario = scenario(CHAIN, &[&case.set("last", "get"), case.protocol, &seed]);
        assert_equal(&run(&scenario), &run(&scenario), &case.value);
    }
}

#[test]
fn null_and_tls_give_equal_records() {
    for (at, case) in cases().iter().enumerate() {
        let seed = format!("seed={at}");
        let [null, tls] = ["tls.protection=null", "tls.protection=tls"].map(|protection| {
            run(&scenario(CHAIN, &[&case.set("last", "get"), case.protocol, &seed, protection]))
        });
        assert_equal(&null, &tls, &case.value);
    }
}

/// Runs with random options of endpoints, for example small windows, few streams, or late acknowledgements.
#[test]
fn runs_with_any_endpoint_options_are_equal_under_both_protections() {
    let transport = rooms().iter().find(|room| room.name == "sections").unwrap().rows.clone();
    let transport = transport.iter().find(|section| section.name == "transport").unwrap().parameters;
    let mut completed = 0;
    for variant in 0..80 {
        let mut author = Author::new(variant);
        let mut sets = vec![format!("seed={variant}"), "link.last.both.loss=2 %".to_owned()];
        for parameter in transport {
            if author.below(3) == 0 {
                sets.push(format!("flow.get.transport.{}={}", parameter.name, author.value(&parameter.kind)));
            }
        }
        let direction = ["download", "upload"][variant as usize % 2];
        sets.push(format!("flow.get.application.direction={direction}"));
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let [null, again, tls] = ["null", "null", "tls"].map(|protection| {
            let protection = format!("tls.protection={protection}");
            run(&scenario(CHAIN, &[&sets[..], &[protection.as_str()]].concat()))
        });
        assert_equal(&null, &again, &format!("{sets:?}"));
        assert_equal(&null, &tls, &format!("{sets:?}"));
        completed += u32::from(null.connection("get")["completed"] == true);
    }
    assert!(completed > 10, "{completed}");
}

/// What becomes of packets is balanced by each run itself.
#[test]
fn tables_agree_with_the_counters_of_every_link() {
    for (at, case) in cases().iter().enumerate() {
        let seed = format!("seed={at}");
        let run = run(&scenario(
            CHAIN,
            &[&case.set("last", "get"), case.protocol, &seed, "link.last.both.duplicate=1 %"],
        ));
        let what = &case.value;
        for link in run.summary["links"].as_array().unwrap() {
            let dropped: u64 =
                ["queue", "loss", "mtu"].iter().map(|r| link["drops"][r].as_u64().unwrap()).sum();
            let subject =
                format!("{} {}", link["name"].as_str().unwrap(), link["direction"].as_str().unwrap());
            assert_eq!(run.rows("drop", &[("link", &subject)]).len() as u64, dropped, "{what}: {link}");
            // The bytes in the table of rates, in bins of 100 ms.
            let mbps = run.numbers("rate", "mbps", &[("subject", &subject), ("kind", "delivered")]);
            let bytes = mbps.iter().map(|mbps| mbps * 1e6 / 8.0 * 0.1).sum::<f64>();
            let delivered = link["delivered_bytes"].as_f64().unwrap();
            assert!((bytes - delivered).abs() < 1.0, "{what}: {bytes} {link}");
        }
    }
}

#[test]
fn no_window_is_below_its_minimum() {
    let mut seen = 0;
    for (at, case) in cases().iter().enumerate().filter(|(_, case)| case.room == "controllers") {
        let seed = format!("seed={at}");
        for loss in ["link.last.both.loss=1 %", "link.last.both.loss=30 %"] {
            let queue = ["link.last.both.rate=5 Mbit/s", "link.last.both.queue=10 packets"];
            let sets = [&case.set("last", "get"), case.protocol, seed.as_str(), loss, queue[0], queue[1]];
            let run = run(&scenario(CHAIN, &sets));
            // RFC 9002 section 7.2: the minimum window is two packets, unless the controller has an option for it.
            let packets = case
                .value
                .split("minimum_window = ")
                .nth(1)
                .map_or(2.0, |rest| rest.split([',', ' ']).next().unwrap().parse().unwrap());
            for side in ["client", "server"] {
                let windows =
                    run.numbers("connection", "cwnd_bytes", &[("connection", "get"), ("side", side)]);
                let least = windows.iter().copied().fold(f64::INFINITY, f64::min);
                assert!(least >= packets * 1472.0, "{} {side}: {least}", case.value);
                seen += windows.len();
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn every_scheduler_serves_every_stream() {
    for case in cases().iter().filter(|case| case.room == "schedulers") {
        let application = "flow.get.application={ type = \"bulk\", size = \"300 kB\", streams = 30 }";
        let sets = [
            &case.set("last", "get"),
            case.protocol,
            application,
            "link.last.both.rate=5 Mbit/s",
            "link.last.both.loss=2 %",
        ];
        let run = run(&scenario(CHAIN, &sets));
        assert_eq!(run.connection("get")["completed"], true, "{}", case.value);
        let received = run.numbers("stream", "received_bytes", &[("connection", "get"), ("side", "client")]);
        assert_eq!(received, [10_000.0; 30], "{}", case.value);
    }
}

#[test]
fn a_component_on_another_path_does_not_affect_draws() {
    let plain = run(&scenario(CHAIN, &[]));
    let beside = part(&plain, "beside", "other");
    assert!(beside.iter().filter(|rows| !rows.is_empty()).count() > 10);
    for case in cases() {
        let changed = run(&scenario(CHAIN, &[&case.set("last", "get"), case.protocol]));
        assert_eq!(changed.summary["duration_s"], 4.0);
        for (before, after) in beside.iter().zip(part(&changed, "beside", "other")) {
            for (a, b) in before.iter().zip(&after) {
                assert_eq!(a, b, "{} {}", case.row, case.value);
            }
            assert_eq!(before.len(), after.len(), "{} {}", case.row, case.value);
        }
    }
}
