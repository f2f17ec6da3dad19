//! What a finished run is known by.

use crate::scenario::{Keep, Scenario};
use std::fmt;
use units::parameter::{Arguments, Value};

/// The hash of a resolved scenario with its seed, of the version of quiclab and its sources, and of what is kept of the
/// run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What has to change when records are written in another way.
const FORMAT: &str = "quiclab sweep 1";

impl Key {
    /// The key of a run of this scenario with its own seed.
    pub(crate) fn of(scenario: &Scenario, keep: &Keep) -> Key {
        let mut text = format!("{FORMAT}\n{}\n{}\n", super::PROGRAM, keep.series.join(" "));
        if !keep.tables.is_empty() {
            text.push_str(&format!("keep {}\n", keep.tables.join(" ")));
        }
        text.push_str(&by_contents(scenario).to_toml());
        Key(tls::sha256(text.as_bytes()))
    }
}

/// The scenario with hashes of its files instead of their paths: a file that was moved is the same, one that was
/// changed is another.
fn by_contents(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    let links = scenario.links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.backward]);
    let flows =
        scenario.flows.iter_mut().flat_map(|flow| [&mut flow.application.arguments, &mut flow.transport]);
    let cross = scenario.cross_traffic.iter_mut().map(|cross| &mut cross.source.arguments);
    let tables = [&mut scenario.record, &mut scenario.tls, &mut scenario.transport];
    tables.into_iter().chain(links).chain(flows).chain(cross).for_each(hash_files);
    scenario
}

fn hash_files(arguments: &mut Arguments) {
    arguments.0.iter_mut().for_each(|(_, value)| hash_file(value));
}

fn hash_file(value: &mut Value) {
    match value {
        Value::File(file) => file.path = format!("{:?}", Key(tls::sha256(file.text.as_bytes()))),
        Value::List(values) => values.iter_mut().for_each(hash_file),
        Value::Component(component) => hash_files(&mut component.arguments),
        _ => {}
    }
}
