//! Reads the traffic of a document: flows, and senders of cross traffic.

use super::branches::{read_branches, unfolded};
use super::connections::{MAX_FLOWS, check_port, check_ports, read_order, read_visits};
use super::error::ScenarioError;
use super::model::{CrossTraffic, Flow, Protocol, Seat};
use super::names::Names;
use super::nodes::Nodes;
use super::read::{Reader, Section};
use super::sections::{CROSS_TRAFFIC_TABLE, CrossTrafficOptions, FLOW_TABLE, FlowOptions, TCP, TRANSPORT};
use super::source::quoted;
use super::tables::{table, tables};
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Choice, Component, Options};

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
        reader.check_keys(section, FlowOptions::PARAMETERS, &[TRANSPORT, TCP])?;
        let options: FlowOptions = reader.options(section)?;
        names.add(reader, section, FlowOptions::NAME)?;
        let (client, server) = nodes.ends(reader, section, [FlowOptions::CLIENT, FlowOptions::SERVER])?;
        check_span(reader, section, (options.start, options.stop), duration)?;
        check_protocol(reader, section, &options)?;
        let own = table(reader, section, TRANSPORT)?;
        reader.check_keys(&own, quic::Config::PARAMETERS, &[])?;
        let own_tcp = table(reader, section, TCP)?;
        reader.check_keys(&own_tcp, tcp::Config::PARAMETERS, &[])?;
        let transport = reader.arguments_over(quic::Config::PARAMETERS, &own, transport)?;
        let tcp = reader.arguments_over(tcp::Config::PARAMETERS, &own_tcp, tcp)?;
        check_needs(reader, section, &options.application, &transport)?;
        let visits = read_visits(reader, section, &options, duration)?;
        check_port(reader, section, &options)?;
        flows.push(Flow {
            name: options.name,
            port: options.port,
            early_data: options.early_data,
            // Set by `read_order`, which needs the names of all flows.
            after: None,
            // Set by `read_branches`.
            branch_of: None,
            seat: Seat::default(),
            visits,
            client,
            server,
            start: options.start,
            stop: options.stop,
            ip: options.ip.ip,
            application: options.application,
            protocol: options.protocol,
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

/// Checks the protocol of a flow. Options of the other protocol, or an application that the protocol cannot carry, are
/// mistakes.
fn check_protocol(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    options: &FlowOptions,
) -> Result<(), ScenarioError> {
    let (other, right) = match options.protocol {
        Protocol::Tcp => (TRANSPORT, TCP),
        Protocol::Quic => (TCP, TRANSPORT),
    };
    if let Some(entry) = flow.get(other) {
        let name = options.protocol.word();
        let problem = format!(
            "options of another protocol: this flow has protocol = {}; expected [flow.{right}], or the other protocol",
            quoted(name)
        );
        return Err(reader.source.error(entry.place, &flow.at(other), problem));
    }
    let key = FlowOptions::APPLICATION.name;
    let carried = options.protocol.carries(&options.application);
    if let (Err((option, problem)), Some(entry)) = (carried, flow.get(key)) {
        let path = flow.at(key);
        let path = if option.is_empty() { path } else { format!("{path}.{option}") };
        return Err(reader.source.error(entry.item.place, &path, problem));
    }
    Ok(())
}

/// Checks that the transport enables what the application needs: datagrams, and resets with partial delivery.
fn check_needs(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    application: &Component,
    transport: &Arguments,
) -> Result<(), ScenarioError> {
    let needs = traffic::needs_datagrams(application.name, &application.arguments);
    if needs && transport.value(quic::Config::MAX_DATAGRAM_FRAME_SIZE) == 0 {
        let problem = "sends datagrams, but transport.max_datagram_frame_size is 0; expected for example \
                       65535";
        return Err(reader.error_at(flow, FlowOptions::APPLICATION.name, problem));
    }
    let needs = traffic::needs_partial_resets(application.name, &application.arguments);
    if needs && !transport.value(quic::Config::RESET_STREAM_AT) {
        let problem = "has a deadline, but transport.reset_stream_at is false; expected true, or no deadline";
        return Err(reader.error_at(flow, FlowOptions::APPLICATION.name, problem));
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
        reader.check_keys(section, CrossTrafficOptions::PARAMETERS, &[])?;
        let CrossTrafficOptions { name, source, start, stop, ip, .. } = reader.options(section)?;
        names.add(reader, section, CrossTrafficOptions::NAME)?;
        let ends = [CrossTrafficOptions::FROM, CrossTrafficOptions::TO];
        let (from, to) = nodes.ends(reader, section, ends)?;
        check_span(reader, section, (start, stop), duration)?;
        let (_, largest) = traffic::sources::sizes(source.name, &source.arguments);
        if largest > traffic::sources::LARGEST {
            let problem = format!(
                "a datagram of {largest} bytes; expected at most {}, the largest that UDP carries",
                traffic::sources::LARGEST
            );
            return Err(reader.error_at(section, CrossTrafficOptions::SOURCE.name, problem));
        }
        all.push(CrossTraffic { name, from, to, start, stop, ip: ip.ip, source });
    }
    Ok((all, sections))
}

/// Checks the start and the stop of traffic.
fn check_span(
    reader: &Reader<'_>,
    section: &Section<'_>,
    (start, stop): (Duration, Option<Duration>),
    duration: Duration,
) -> Result<(), ScenarioError> {
    if start >= duration {
        let expected = format!("a time before the end of the run ({duration})");
        return Err(reader.wrong_at(section, FlowOptions::START.name, "too late", &expected));
    }
    if stop.is_some_and(|stop| stop <= start) {
        let expected = format!("a time after its start ({start})");
        return Err(reader.wrong_at(section, FlowOptions::STOP.name, "too early", &expected));
    }
    Ok(())
}
