//! All options with files: a changed file gives another run, and goes with the run to other machines.

use super::bed::{BASE, folder};
use lab::outside::{Described, Loader, PARTS, Part, PlugError, Wanted, set_loader};
use lab::rooms;
use lab::sweep::{OngoingSweep, Sweep};
use network::medium::cell_scheduler;
use network::middlebox::{Middlebox, MiddleboxOptions, Profile};
use network::{Exits, Node, Packet, Port};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use units::Time;
use units::parameter::{Arguments, Default, Kind, Parameter, Room, Row};

/// The options of a queue that drops what comes too late.
fn full(arguments: &Arguments) -> Arguments {
    let limit = units::parameter::Value::Limit(units::parameter::Limit::Packets(9));
    arguments.over(&Arguments(vec![("limit", limit)]))
}

/// Ranks terminals equally.
struct Equals;

impl cell_scheduler::Scheduler for Equals {
    fn rank(&mut self, _slot: u64, _candidates: &mut [cell_scheduler::Candidate]) {}
    fn note(&mut self, _slot: u64, _terminal: u16, _bits: u32) {}
}

/// Passes packets on.
struct Passes(trace::Log);

impl Node for Passes {
    fn accept(&mut self, _now: Time, _port: Port, packet: Box<Packet>, exits: &mut Exits) {
        exits.send(packet);
    }
    fn wake(&mut self, _now: Time, _exits: &mut Exits) {}
    fn wake_at(&self) -> Option<Time> {
        None
    }
}

impl Middlebox for Passes {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    fn log(&mut self) -> &mut trace::Log {
        &mut self.0
    }
}

/// Loads any file as a component without options.
struct AnyCode;

impl Loader for AnyCode {
    fn describe(&self, _part: &'static Part, _wanted: &Wanted) -> Result<Described, String> {
        Ok(Described { about: "code from outside".to_owned(), options: Vec::new() })
    }
    fn plug(&self, part: &'static Part, _wanted: &Wanted, face: Row<()>) -> Result<(), PlugError> {
        // What the reader of scenarios builds to check it.
        match part.room {
            "queues" => network::queue::plug(face.built_by(&|arguments, setup, stream| {
                network::queue::build("drop-tail", &full(arguments), setup, stream)
            })),
            "losses" => network::loss::plug(face.built_by(&|_, _| Ok(None))),
            "jitters" => network::jitter::plug(face.built_by(&|_, _| Ok(None))),
            "rates" => network::rate::plug(face.built_by(&|_, _| Ok(network::rate::Server::Unlimited))),
            "kinds" => {
                let build = &|_: &MiddleboxOptions<'_>| -> Result<Box<dyn Middlebox>, _> {
                    Ok(Box::new(Passes(trace::Log::new(trace::Interest::NONE))))
                };
                let profile = Profile { remembers: false, at_hosts: false, build };
                network::middlebox::plug(face.built_by(profile))
            }
            "applications" => {
                let build = &|arguments: &Arguments, stream| {
                    traffic::build("bulk", arguments, stream).expect("a row of the table")
                };
                traffic::plug(face.built_by(traffic::Profile::of(build)))
            }
            "cell_schedulers" => cell_scheduler::plug(face.built_by(&|_, _, _| Box::new(Equals))),
            _ => Ok(()),
        }
    }
}

/// A value that names the file `file`, with valid contents of the file, and the option that names it.
#[derive(Clone)]
struct Naming {
    value: String,
    contents: &'static str,
    option: String,
    /// The contents of a file `beside` that it needs, too.
    beside: &'static str,
}

/// All values of a kind that name a file.
fn namings(kind: &Kind, rooms: &[Room], depth: usize) -> Vec<Naming> {
    match kind {
        Kind::File(contents) => {
            vec![Naming { value: "\"file\"".to_owned(), contents, option: String::new(), beside: "" }]
        }
        Kind::List(of) => {
            let each = namings(of, rooms, depth).into_iter();
            each.map(|naming| Naming { value: format!("[{}]", naming.value), ..naming }).collect()
        }
        Kind::Component(name) if depth > 0 => {
            let room = rooms.iter().find(|room| room.name == *name).unwrap();
            let mut found = Vec::new();
            if PARTS.iter().any(|part| part.room == *name) {
                let value = "\"./file.py:Mine\"".to_owned();
                found.push(Naming { value, contents: "", option: format!("{name}.source"), beside: "" });
            }
            for row in &room.rows {
                for parameter in row.parameters {
                    for naming in namings(&parameter.kind, rooms, depth - 1) {
                        let others = row.parameters.iter().filter(|other| other.name != parameter.name);
                        let others = others.filter(|other| other.default == Default::Required);
                        let beside = others.clone().find_map(|other| match other.kind {
                            Kind::File(contents) => Some(contents),
                            _ => None,
                        });
                        let required: String =
                            others.map(|other| format!(", {} = {}", other.name, least(other))).collect();
                        let value = format!(
                            "{{ type = \"{}\"{required}, {} = {} }}",
                            row.name, parameter.name, naming.value
                        );
                        let inner = if naming.option.is_empty() { parameter.name } else { &naming.option };
                        found.push(Naming {
                            value,
                            option: format!("{name}.{}.{inner}", row.name),
                            beside: beside.unwrap_or(naming.beside),
                            ..naming
                        });
                    }
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

/// A valid value of a required option.
fn least(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Duration => "\"1 ms\"".to_owned(),
        Kind::Rate => "\"1 Mbit/s\"".to_owned(),
        Kind::Size => "\"10 kB\"".to_owned(),
        Kind::Probability => "\"1 %\"".to_owned(),
        Kind::Integer(from, _) => from.to_string(),
        Kind::File(_) => "\"beside\"".to_owned(),
        Kind::Text => "\"page\"".to_owned(),
        ref other => panic!("{}: a value of {other:?} is needed beside a file", parameter.name),
    }
}

/// The places of a section's options in [`BASE`], with further changes that they need.
fn places(section: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match section {
        "scenario" => &[("", &[])],
        "record" => &[("record.", &[])],
        "tls" => &[("tls.", &[])],
        "transport" => &[("transport.", &[]), ("flow.get.transport.", &[])],
        "tcp" => &[("tcp.", &[]), ("flow.get.tcp.", &["flow.get.protocol=tcp"])],
        "direction" => &[("link.cell.forward.", &[]), ("link.cell.backward.", &[])],
        "flow" => &[("flow.get.", &[]), ("flow.get.", &["flow.get.protocol=tcp"])],
        "cross_traffic" => &[("cross_traffic.noise.", &[])],
        "node" => &[("node.middle.", &[])],
        "medium" => &[("medium.air.", &[]), ("medium.air.at.client.", &[]), ("medium.air.", CELL)],
        // Their options name no files.
        "link" | "event" | "sweep" => &[],
        other => panic!("no place is known for the section {other}"),
    }
}

/// The medium is a cell.
const CELL: &[&str] =
    &["medium.air.type=lte", "medium.air.station=server", "medium.air.terminals=[\"client\"]"];

/// A node that is no host.
const SIDE: &str = r#"
[[node]]
name = "client"
[[node]]
name = "server"
[[node]]
name = "middle"
[[link]]
name = "side"
from = "client"
to = "middle"
delay = "1 ms"
"#;

const NOISE: &str = r#"
[[cross_traffic]]
name = "noise"
from = "server"
to = "client"
source = { type = "constant", gap = "20 ms" }
"#;

const AIR: &str = r#"
[[medium]]
name = "air"
type = "shared"
terminals = ["server", "client"]
"#;

/// Orders the only run of a sweep, unless it is in the folder, and stores a result for it.
fn order(sweep: &Sweep, runs: &Path) -> Option<lab::sweep::Order> {
    let mut session = OngoingSweep::open(sweep, runs).unwrap();
    let order = session.order()?;
    session.put(order.number, Ok(vec![1])).unwrap();
    Some(order)
}

#[test]
fn a_changed_file_gives_another_run_and_goes_with_it() {
    set_loader(&AnyCode);
    let rooms = rooms();
    let rows = |name: &str| rooms.iter().find(|room| room.name == name).unwrap().rows.clone();
    let mut sections = rows("sections");
    // The options of a medium are in its table.
    sections.extend(rows("media").into_iter().map(|row| Row { name: "medium", ..row }));
    let (beside, runs) = (folder("every-file"), folder("every-file-runs"));
    fs::create_dir_all(&beside).unwrap();
    let text = format!("{BASE}{NOISE}{AIR}{SIDE}");
    let (mut known, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for section in &sections {
        for parameter in section.parameters {
            for naming in namings(&parameter.kind, rooms, 3) {
                for (place, also) in places(section.name) {
                    let option = format!("{place}{}: {}", parameter.name, naming.option);
                    known.insert(option.clone());
                    let mut sets: Vec<String> = also.iter().map(|set| (*set).to_owned()).collect();
                    sets.push(format!("{place}{}={}", parameter.name, naming.value));
                    let write = |contents: &str| {
                        fs::write(beside.join("file"), contents).unwrap();
                        fs::write(beside.join("file.py"), contents).unwrap();
                        fs::write(beside.join("beside"), naming.beside).unwrap();
                        Sweep::parse(&text, &beside.join("a.toml"), &sets)
                    };
                    // Some applications do not support the protocol or a mix.
                    let Ok(first) = write(naming.contents) else { continue };
                    let file =
                        beside.join(if naming.option.ends_with(".source") { "file.py" } else { "file" });
                    let ordered =
                        order(&first, &runs).unwrap_or_else(|| panic!("{option}: it is in the folder"));
                    assert!(ordered.files.keys().any(|path| *path == file), "{option}: {:?}", ordered.files);
                    assert_eq!(order(&first, &runs), None, "{option}: the same run");
                    let changed = format!("{}\n", naming.contents);
                    let second = write(&changed).unwrap_or_else(|error| panic!("{option}: {error}"));
                    let ordered = order(&second, &runs).unwrap_or_else(|| panic!("{option}: the old result"));
                    assert_eq!(ordered.files.get(&file).map(|text| &**text), Some(&*changed), "{option}");
                    fs::remove_dir_all(&runs).unwrap();
                    seen.insert(option);
                }
            }
        }
    }
    // Each option with a file works in some place.
    let last = |option: &String| option.rsplitn(3, ['.', ' ']).take(2).map(str::to_owned).collect::<Vec<_>>();
    let missing: BTreeSet<Vec<String>> =
        known.iter().map(last).filter(|option| !seen.iter().any(|seen| last(seen) == *option)).collect();
    assert!(missing.is_empty(), "never read: {missing:?}");
    for place in [
        "transport.",
        "flow.get.transport.",
        "tcp.",
        "flow.get.tcp.",
        "cross_traffic.noise.",
        "link.cell.backward.",
        "medium.air.",
        "medium.air.at.client.",
    ] {
        assert!(seen.iter().any(|option| option.starts_with(place)), "{place}: {seen:?}");
    }
}
