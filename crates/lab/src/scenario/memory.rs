//! Reads what hosts know of paths from earlier connections.

use super::error::ScenarioError;
use super::flows::ip_version;
use super::model::{Node, Protocol, Remembered};
use super::names::Names;
use super::nodes::Nodes;
use super::read::{Reader, Section};
use super::sections::{MEMORY, MEMORY_TABLE};
use super::source::quoted;
use super::tables::tables;
use std::net::IpAddr;
use units::Duration;

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
        reader.check_keys(section, MEMORY, &[])?;
        let values = reader.arguments(MEMORY, section)?;
        names.add(reader, section)?;
        let (node, peer) = nodes.ends(reader, section, ["node", "peer"])?;
        if !resolved[node].kind.may_be_host() {
            let problem = format!("no flow begins or ends at {}", quoted(&resolved[node].name));
            return Err(reader.wrong_at(section, "node", &problem, "a host"));
        }
        let (capacity, rtt, age) = (values.size("capacity"), values.duration("rtt"), values.duration("age"));
        if capacity.as_bytes() == 0 {
            return Err(reader.wrong_at(section, "capacity", "zero", "a size above zero"));
        }
        if rtt == Duration::ZERO {
            return Err(reader.wrong_at(section, "rtt", "zero", "a duration above zero"));
        }
        if age > MAX_AGE {
            return Err(reader.wrong_at(section, "age", "too long", "50 years at most"));
        }
        let mut address = None;
        if values.has("address") {
            let read: Result<IpAddr, _> = values.text("address").parse();
            let wrong = |_| reader.wrong_at(section, "address", "no address", "one of IPv4 or IPv6");
            address = Some(read.map_err(wrong)?);
        }
        all.push(Remembered {
            name: values.text("name"),
            node,
            peer,
            protocol: if values.text("protocol") == "tcp" { Protocol::Tcp } else { Protocol::Quic },
            capacity,
            rtt,
            age,
            ip: ip_version(&values),
            address,
        });
    }
    Ok(all)
}
