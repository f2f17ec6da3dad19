//! Reads what hosts know of paths from earlier connections.

use super::error::ScenarioError;
use super::model::{Node, Remembered};
use super::names::Names;
use super::nodes::Nodes;
use super::read::{Reader, Section};
use super::sections::{MEMORY_TABLE, MemoryOptions};
use super::source::quoted;
use super::tables::tables;
use std::net::IpAddr;
use units::Duration;
use units::parameter::Options;

/// The maximum number of entries.
const MAX_MEMORY: usize = 10_000;
/// The greatest age of an entry: 50 years.
const MAX_AGE: Duration = Duration::from_secs(50 * 365 * 86_400);

/// Reads the entries. `resolved`: the nodes with their kinds.
pub(super) fn read_memory(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    nodes: &Nodes<'_>,
    resolved: &[Node],
) -> Result<Vec<Remembered>, ScenarioError> {
    let (mut names, mut all) = (Names::default(), Vec::new());
    for section in &tables(reader, top, MEMORY_TABLE, MAX_MEMORY)? {
        reader.check_keys(section, MemoryOptions::PARAMETERS, &[])?;
        let options: MemoryOptions = reader.options(section)?;
        names.add(reader, section, MemoryOptions::NAME)?;
        let (node, peer) = nodes.ends(reader, section, [MemoryOptions::NODE, MemoryOptions::PEER])?;
        if !resolved[node].kind.may_be_host() {
            let problem = format!("no flow begins or ends at {}", quoted(&resolved[node].name));
            return Err(reader.wrong_at(section, MemoryOptions::NODE.name, &problem, "a host"));
        }
        let wrong = |key, problem, expected| Err(reader.wrong_at(section, key, problem, expected));
        if options.capacity.as_bytes() == 0 {
            return wrong(MemoryOptions::CAPACITY.name, "zero", "a size above zero");
        }
        if options.rtt == Duration::ZERO {
            return wrong(MemoryOptions::RTT.name, "zero", "a duration above zero");
        }
        if options.age > MAX_AGE {
            return wrong(MemoryOptions::AGE.name, "too long", "50 years at most");
        }
        let address = options.address.map(|address| address.parse::<IpAddr>()).transpose();
        let Ok(address) = address else {
            return wrong(MemoryOptions::ADDRESS.name, "no address", "one of IPv4 or IPv6");
        };
        all.push(Remembered {
            name: options.name,
            node,
            peer,
            protocol: options.protocol,
            capacity: options.capacity,
            rtt: options.rtt,
            age: options.age,
            ip: options.ip.ip,
            address,
        });
    }
    Ok(all)
}
