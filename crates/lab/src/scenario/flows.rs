//! Reads the traffic of a document: flows, and senders of cross traffic.

use super::branches::{read_branches, unfolded};
use super::connections::{MAX_FLOWS, check_ports, read_order, read_port, read_visits};
use super::error::ScenarioError;
use super::model::{CrossTraffic, Flow, IpVersion, Protocol, Seat};
use super::names::Names;
use super::nodes::Nodes;
use super::read::{Reader, Section};
use super::sections::{CROSS_TRAFFIC, CROSS_TRAFFIC_TABLE, FLOW, FLOW_TABLE, TCP, TRANSPORT};
use super::source::quoted;
use super::tables::{table, tables};
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Component, Options};

/// The maximum number of senders of cross traffic.
pub const MAX_CROSS_TRAFFIC: usize = 1000;

/// Reads the flows, with the options of all flows below their own; returns their tables, too.
pub(super) fn read_flows<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &Nodes<'_>,
    (duration, transport, tcp): (Duration, &Arc<Arguments>, &Arc<Arguments>),
) -> Result<(Vec<Flow>, Vec<Section<'i>>), ScenarioError> {
    let (mut names, mut flows) = (Names::default(), Vec::new());
    let sections = tables(reader, top, FLOW_TABLE, MAX_FLOWS)?;
    for section in &sections {
        reader.check_keys(section, FLOW, &[TRANSPORT, TCP])?;
        let values = reader.arguments(FLOW, section)?;
        names.add(reader, section)?;
        let (client, server) = nodes.ends(reader, section, ["client", "server"])?;
        let (start, stop) = read_span(reader, section, &values, duration)?;
        let protocol = read_protocol(reader, section, &values)?;
        let own = table(reader, section, TRANSPORT)?;
        reader.check_keys(&own, quic::Config::PARAMETERS, &[])?;
        let own_tcp = table(reader, section, TCP)?;
        reader.check_keys(&own_tcp, tcp::Config::PARAMETERS, &[])?;
        let application = values.component("application");
        let transport = reader.arguments_over(quic::Config::PARAMETERS, &own, transport)?;
        let tcp = reader.arguments_over(tcp::Config::PARAMETERS, &own_tcp, tcp)?;
        check_needs(reader, section, &application, &transport)?;
        let visits = read_visits(reader, section, &values, (protocol, duration))?;
        let port = read_port(reader, section, &values, protocol)?;
        flows.push(Flow {
            name: values.text("name"),
            port,
            early_data: values.flag("early_data"),
            // Set by `read_order`, which needs the names of all flows.
            after: None,
            // Set by `read_branches`.
            branch_of: None,
            seat: Seat::default(),
            visits,
            client,
            server,
            start,
            stop,
            ip: ip_version(&values),
            application,
            protocol,
            transport,
            tcp,
        });
    }
    if flows.is_empty() && !nodes.has_gates() {
        let problem = "missing; expected at least one [[flow]], or a node with kind = \"gate\"";
        return Err(reader.source.error(top.place, "flow", problem));
    }
    read_order(reader, &sections, &names, &mut flows)?;
    read_branches(reader, &sections, &names, &mut flows)?;
    check_ports(reader, &sections, (&flows, &unfolded(&flows)))?;
    Ok((flows, sections))
}

/// Reads the protocol of a flow. Options of the other protocol, or an application that the protocol cannot carry, are
/// mistakes.
fn read_protocol(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    values: &Arguments,
) -> Result<Protocol, ScenarioError> {
    let (protocol, other, right) = match values.text("protocol").as_str() {
        "tcp" => (Protocol::Tcp, TRANSPORT, TCP),
        _ => (Protocol::Quic, TCP, TRANSPORT),
    };
    if let Some(entry) = flow.get(other) {
        let name = protocol.name();
        let problem = format!(
            "options of another protocol: this flow has protocol = {}; expected [flow.{right}], or the other protocol",
            quoted(name)
        );
        return Err(reader.source.error(entry.place, &flow.at(other), problem));
    }
    let application = values.component("application");
    if let (Err((option, problem)), Some(entry)) = (protocol.carries(&application), flow.get("application")) {
        let path = flow.at("application");
        let path = if option.is_empty() { path } else { format!("{path}.{option}") };
        return Err(reader.source.error(entry.item.place, &path, problem));
    }
    Ok(protocol)
}

/// Checks that the transport enables what the application needs: datagrams, and resets with partial delivery.
fn check_needs(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    application: &Component,
    transport: &Arguments,
) -> Result<(), ScenarioError> {
    let needs = traffic::needs_datagrams(application.name, &application.arguments);
    if needs && transport.integer("max_datagram_frame_size") == 0 {
        let problem = "sends datagrams, but transport.max_datagram_frame_size is 0; expected for example \
                       65535";
        return Err(reader.error_at(flow, "application", problem));
    }
    let needs = traffic::needs_partial_resets(application.name, &application.arguments);
    if needs && !transport.flag("reset_stream_at") {
        let problem = "has a deadline, but transport.reset_stream_at is false; expected true, or no deadline";
        return Err(reader.error_at(flow, "application", problem));
    }
    Ok(())
}

/// Reads the senders of cross traffic; returns their tables, too.
pub(super) fn read_cross_traffic<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &Nodes<'_>,
    duration: Duration,
) -> Result<(Vec<CrossTraffic>, Vec<Section<'i>>), ScenarioError> {
    let (mut names, mut all) = (Names::default(), Vec::new());
    let sections = tables(reader, top, CROSS_TRAFFIC_TABLE, MAX_CROSS_TRAFFIC)?;
    for section in &sections {
        reader.check_keys(section, CROSS_TRAFFIC, &[])?;
        let values = reader.arguments(CROSS_TRAFFIC, section)?;
        names.add(reader, section)?;
        let (from, to) = nodes.ends(reader, section, ["from", "to"])?;
        let (start, stop) = read_span(reader, section, &values, duration)?;
        let source = values.component("source");
        let (_, largest) = traffic::sources::sizes(source.name, &source.arguments);
        if largest > traffic::sources::LARGEST {
            let problem = format!(
                "a datagram of {largest} bytes; expected at most {}, the largest that UDP carries",
                traffic::sources::LARGEST
            );
            return Err(reader.error_at(section, "source", problem));
        }
        all.push(CrossTraffic {
            name: values.text("name"),
            from,
            to,
            start,
            stop,
            ip: ip_version(&values),
            source,
        });
    }
    Ok((all, sections))
}

/// Reads the start and the stop of traffic.
fn read_span(
    reader: &Reader<'_>,
    section: &Section<'_>,
    values: &Arguments,
    duration: Duration,
) -> Result<(Duration, Option<Duration>), ScenarioError> {
    let start = values.duration("start");
    if start >= duration {
        let expected = format!("a time before the end of the run ({duration})");
        return Err(reader.wrong_at(section, "start", "too late", &expected));
    }
    let stop = values.has("stop").then(|| values.duration("stop"));
    if stop.is_some_and(|stop| stop <= start) {
        let expected = format!("a time after its start ({start})");
        return Err(reader.wrong_at(section, "stop", "too early", &expected));
    }
    Ok((start, stop))
}

pub(super) fn ip_version(values: &Arguments) -> IpVersion {
    if values.text("ip") == IpVersion::V6.name() { IpVersion::V6 } else { IpVersion::V4 }
}
