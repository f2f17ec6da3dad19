//! Builds the world of a scenario: nodes, links, and hosts with endpoints and applications.

use crate::contexts::Contexts;
use crate::cross_traffic::{CROSS_PORT, CrossSender, DISCARD_PORT};
use crate::end::{AddressedEnd, End, EndConnection, Endpoints, QuicEnd, StackPort};
use crate::error::RunError;
use crate::event::ports_of;
use crate::flows::{cookie_key, cross_number, ways_of};
use crate::graph::Network;
use crate::host::Host;
use crate::known_paths::{EPOCH_MS, KnownPaths};
use crate::proxy::MIN_MSS;
use crate::scenario::{
    CrossTraffic, Flow, IpVersion, MAX_CROSS_TRAFFIC, MAX_FLOWS, Node, Protocol, Scenario, client_port,
    families, server_port,
};
use crate::shared::Shared;
use congestion::PathStore;
use network::{Count, NodeId, Packet, Port, Prefetch, Routes, World, node_address};
use quic::{Config, Endpoint, EndpointOptions, Opening};
use random::Generator;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use tcp::{Ports, TcpConnections};
use trace::{Interest, Role};
use traffic::Ends;
use units::Time;
use units::parameter::Options as _;
use wire::Side;

/// The random stream of the application of a flow.
pub(crate) fn application_stream(seed: u64, flow: &str) -> Generator {
    Generator::new(seed, &format!("flow {flow} application"))
}

/// Builds a world at time zero. Errors show nothing of the files that the scenario names.
pub(crate) fn build<'a>(
    scenario: &Scenario,
    seed: u64,
    tls: &Contexts,
    shared: &Rc<Shared<'a>>,
) -> Result<World<Host<'a>>, RunError> {
    build_world(scenario, seed, tls, shared).map_err(|error| match error {
        RunError::Component { place, problem } => {
            RunError::Component { place, problem: scenario.without_contents(&problem) }
        }
        other => other,
    })
}

fn build_world<'a>(
    scenario: &Scenario,
    seed: u64,
    tls: &Contexts,
    shared: &Rc<Shared<'a>>,
) -> Result<World<Host<'a>>, RunError> {
    if scenario.flows.len() > MAX_FLOWS {
        let problem = format!("{} flows; expected at most {MAX_FLOWS}", scenario.flows.len());
        return Err(RunError::Component { place: "flow".to_owned(), problem });
    }
    if scenario.cross_traffic.len() > MAX_CROSS_TRAFFIC {
        let problem = format!("{}; expected at most {MAX_CROSS_TRAFFIC}", scenario.cross_traffic.len());
        return Err(RunError::Component { place: "cross_traffic".to_owned(), problem });
    }
    let interest = shared.recorder.borrow().interest();
    let routes = Routes::new(scenario.topology().map_err(RunError::Topology)?);
    let mut hosts: Vec<HostParts> = scenario.nodes.iter().map(|_| HostParts::default()).collect();
    for known in &scenario.memory {
        hosts[known.node].known_paths.add(known);
    }
    let mut previous = None;
    // The next port for further TCP connections of a flow.
    let mut more = client_port(scenario.flows.len());
    let mut on_ports: BTreeMap<(usize, u16), usize> = BTreeMap::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        *on_ports.entry((flow.server, server_port(index, flow))).or_default() += 1;
    }
    let mut programs = programs(scenario, seed);
    let event_targets = (!scenario.events.is_empty()).then(|| scenario.event_targets());
    for (index, flow) in scenario.flows.iter().enumerate() {
        let on_port = on_ports.get(&(flow.server, server_port(index, flow))).copied();
        let on_port = on_port.expect("the ports of all flows were counted");
        let ports =
            event_targets.as_ref().map_or(Vec::new(), |targets| ports_of(&scenario.events, targets, index));
        let mtu = path_mtu(&routes, scenario, flow, &ports);
        let tls = tls.get(flow);
        let count = flow.connections().min(MAX_FLOWS) as u16;
        let ports = Ports { first: client_port(index), more, count };
        more = more.checked_add(count - 1).filter(|end| *end < CROSS_PORT).ok_or_else(too_many)?;
        let setup = FlowSetup {
            seed,
            tls,
            tls_sizes: tls_sizes(scenario, flow),
            interest,
            index,
            flow,
            mtu,
            ports,
            on_port,
        };
        let ends = match programs.remove(&index) {
            Some(ends) => ends,
            None => setup.ends()?,
        };
        setup.add_ends(&mut hosts, &scenario.nodes, shared, ends, &mut previous)?;
    }
    let mut crossing: Vec<Vec<CrossSender>> = hosts.iter().map(|_| Vec::new()).collect();
    for (index, cross) in scenario.cross_traffic.iter().enumerate() {
        crossing[cross.from].push(cross_sender(scenario, cross, index, seed)?);
    }
    // Receivers of cross traffic are hosts, too, since only hosts have routes.
    let targets: BTreeSet<usize> = scenario.cross_traffic.iter().map(|cross| cross.to).collect();
    let mut places = hosts.into_iter().zip(crossing);
    let world = Network { scenario, seed, interest }.world_with(routes, shared.capture.clone(), |node| {
        let (parts, crossing) = places.next()?;
        let used = !parts.ends.is_empty() || !crossing.is_empty() || targets.contains(&node);
        used.then(|| {
            Host::new(
                NodeId(node as u32),
                parts.ends,
                parts.endpoints,
                parts.known_paths,
                crossing,
                Rc::clone(shared),
            )
        })
    });
    let mut world = world?;
    world.prefetch(Prefetch { depth: Host::foresight, announce: Host::foresee });
    Ok(world)
}

/// The ends of all flows that belong to applications with several connections.
fn programs(scenario: &Scenario, seed: u64) -> BTreeMap<usize, Ends> {
    let mut programs = BTreeMap::new();
    for (of, mut family) in families(&scenario.flows) {
        let (owner, seat) = (&scenario.flows[of], |index: &usize| scenario.flows[*index].seat);
        family.sort_by_key(|index| seat(index).connection);
        let mut branches = family.clone();
        branches.dedup_by_key(|index| seat(index).branch);
        let branches: Vec<_> =
            branches.iter().map(|index| &scenario.flows[*index].application.arguments).collect();
        let many = traffic::many(owner.application.name);
        let many = many.expect("a flow with branches has an application with several connections");
        let stream = application_stream(seed, &owner.name);
        let ends = (many.build)(&owner.application.arguments, &branches, stream);
        assert_eq!(ends.len(), family.len() + 1, "an application builds the ends of all its connections");
        programs.extend(std::iter::once(of).chain(family).zip(ends));
    }
    programs
}

fn too_many() -> RunError {
    let problem = format!("more than {MAX_FLOWS} TCP connections, which need a port each");
    RunError::Component { place: "flow".to_owned(), problem }
}

/// The minimum MTU between the ends of a flow in both directions, also by the ports to which its client migrates.
fn path_mtu(routes: &Routes, scenario: &Scenario, flow: &Flow, ports: &[Port]) -> u64 {
    let topology = routes.topology();
    let hops = ways_of(routes, flow, ports).concat();
    hops.into_iter().map(|hop| scenario.hop(topology.hop(hop)).mtu()).min().unwrap_or(u64::MAX)
}

fn cross_sender(
    scenario: &Scenario,
    cross: &CrossTraffic,
    index: usize,
    seed: u64,
) -> Result<CrossSender, RunError> {
    let address = |node: usize, port| {
        SocketAddr::new(node_address(NodeId(node as u32), cross.ip == IpVersion::V6), port)
    };
    let place = format!("cross_traffic {}", cross.name);
    let stream = Generator::new(seed, &place);
    let fail = |problem| RunError::Component { place: place.clone(), problem };
    let (name, options) = (cross.source.name, &cross.source.arguments);
    traffic::sources::check(name, options)
        .map_err(|(option, problem)| fail(format!("source.{option}: {problem}")))?;
    let source = traffic::sources::build(name, options, stream);
    let source = source.ok_or_else(|| fail(format!("no source {name:?}")))?;
    let mut sender = CrossSender {
        index,
        number: cross_number(scenario, index),
        local: address(cross.from, CROSS_PORT + index as u16),
        remote: address(cross.to, DISCARD_PORT),
        source,
        stop: cross.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
        next: (Time::NEVER, 0),
        sent: (0, 0),
        on_the_wire: Count::default(),
    };
    sender.draw(Time::ZERO + cross.start);
    Ok(sender)
}

/// The inputs of TLS over TCP, from the options of `[tls]` and the application protocol of the flow.
fn tls_sizes(scenario: &Scenario, flow: &Flow) -> tcp::TlsSizes {
    let options = tls::Options::from(&scenario.tls);
    tcp::TlsSizes {
        // An unregistered protocol is not offered.
        alpn: if flow.alpn() == traffic::UNREGISTERED { b"" } else { flow.alpn() },
        server_name: options.server_name,
        certificate_chain: options.certificate_chain.as_bytes(),
        hybrid: options.key_share == tls::KeyShare::X25519MlKem768,
    }
}

/// The parts of a host before it is built.
#[derive(Default)]
struct HostParts {
    ends: Vec<End>,
    known_paths: KnownPaths,
    endpoints: Endpoints,
    /// The number of the QUIC endpoint of all clients, if there is one.
    clients: Option<usize>,
    /// The endpoints of servers by port, with the common options and application protocol of their flows.
    servers: BTreeMap<u16, (usize, Arc<Config>, &'static [u8])>,
}

/// The inputs of both ends of a flow.
struct FlowSetup<'p> {
    seed: u64,
    /// The TLS context of a flow over QUIC.
    tls: Option<&'p tls::Context>,
    /// The inputs of TLS over TCP.
    tls_sizes: tcp::TlsSizes,
    interest: Interest,
    index: usize,
    flow: &'p Flow,
    /// The minimum MTU of its paths.
    mtu: u64,
    /// The ports of the client.
    ports: Ports,
    /// The number of flows with the port of its server.
    on_port: usize,
}

impl FlowSetup<'_> {
    fn address(&self, node: usize, port: u16) -> SocketAddr {
        let ipv6 = self.flow.ip == IpVersion::V6;
        SocketAddr::new(node_address(NodeId(node as u32), ipv6), port)
    }

    /// The options of the endpoints. Unless path MTU discovery is enabled, payloads fit the MTU of the paths.
    fn config(&self) -> Result<Config, RunError> {
        let mut config = Config::of(&self.flow.transport);
        let header = Packet::header_size(&self.client()) as u64;
        let fits = self.mtu.saturating_sub(header);
        if fits < u64::from(quic::MIN_PAYLOAD) {
            return Err(self.error(format!(
                "the MTU of its path is {} bytes; QUIC needs at least {} (RFC 9000 section 14)",
                self.mtu,
                u64::from(quic::MIN_PAYLOAD) + header,
            )));
        }
        if !config.mtu_discovery {
            config.max_udp_payload = config.max_udp_payload.min(fits.min(u16::MAX.into()) as u16);
        }
        Ok(config)
    }

    /// The options of the endpoints over TCP. Segments fit the MTU of the paths (RFC 9293 section 3.7.1).
    fn tcp_config(&self) -> Result<tcp::Config, RunError> {
        let mut config = tcp::Config::of(&self.flow.tcp);
        // The headers of IP and TCP without options.
        let headers = if self.flow.ip == IpVersion::V6 { 60 } else { 40 };
        let fits = self.mtu.saturating_sub(headers);
        if fits < MIN_MSS {
            let problem =
                format!("the MTU of its path is {} bytes; TCP needs {}", self.mtu, MIN_MSS + headers);
            return Err(self.error(problem));
        }
        config.mss = config.mss.min(fits.min(u16::MAX.into()) as u16);
        Ok(config)
    }

    fn error(&self, problem: String) -> RunError {
        RunError::Component { place: format!("flow {}", self.flow.name), problem }
    }

    /// The ends of its application.
    fn ends(&self) -> Result<Ends, RunError> {
        let application = &self.flow.application;
        let stream = application_stream(self.seed, &self.flow.name);
        traffic::build(application.name, &application.arguments, stream)
            .ok_or_else(|| self.error(format!("no application {:?}", application.name)))
    }

    /// Adds its two ends to their hosts. `previous`: the options of the previous flow, which are shared if they are equal, so
    /// that those of many flows stay in the processor's cache.
    fn add_ends(
        &self,
        hosts: &mut [HostParts],
        nodes: &[Node],
        shared: &Rc<Shared<'_>>,
        ends: Ends,
        previous: &mut Option<Arc<Config>>,
    ) -> Result<(), RunError> {
        let flow = self.flow;
        let [client, server] = match flow.protocol {
            Protocol::Quic => self.quic(hosts, previous, nodes)?,
            Protocol::Tcp => self.tcp(hosts)?,
        };
        let client = self.end(shared, Side::Client, client, ends.client);
        let server = self.end(shared, Side::Server, server, ends.server);
        hosts[flow.client].ends.push(client);
        hosts[flow.server].ends.push(server);
        Ok(())
    }

    /// The time at which its connection is opened, or never before the end of the flow that it waits for, or before its
    /// application says so.
    fn start(&self) -> Time {
        let waits = self.flow.after.is_some() || self.flow.branch_of.is_some();
        if waits { Time::NEVER } else { Time::ZERO + self.flow.start }
    }
    fn client(&self) -> SocketAddr {
        self.address(self.flow.client, client_port(self.index))
    }
    fn server(&self) -> SocketAddr {
        self.address(self.flow.server, server_port(self.index, self.flow))
    }
    fn random(&self, side: Side) -> Generator {
        Generator::new(self.seed, &format!("flow {} {side}", self.flow.name))
    }

    /// Builds the ends of a flow over QUIC.
    fn quic(
        &self,
        hosts: &mut [HostParts],
        previous: &mut Option<Arc<Config>>,
        nodes: &[Node],
    ) -> Result<[EndConnection; 2], RunError> {
        let config = self.config()?;
        let config = previous.take().filter(|known| **known == config).unwrap_or_else(|| Arc::new(config));
        *previous = Some(Arc::clone(&config));
        let tls = self.tls.ok_or_else(|| self.error("not built for its application".to_owned()))?;
        let [client_stack, server_stack] =
            [self.flow.client, self.flow.server].map(|node| nodes[node].stack.as_ref());
        let foreign = |stack, local, side, max_connections| {
            crate::foreign::endpoint(stack, local, &config, tls, self.random(side), max_connections)
        };
        let host = &mut hosts[self.flow.client];
        let client = if let Some(stack) = client_stack {
            let endpoint = foreign(stack, self.client(), Side::Client, 0);
            let number = StackPort::add(&mut host.endpoints.foreign, endpoint);
            EndConnection::Foreign(AddressedEnd::client(number, self.start(), self.server()))
        } else {
            self.quic_client(host, &config, tls)
        };
        let host = &mut hosts[self.flow.server];
        let (known, local) = (self.known_server(host, &config)?, self.server());
        let number = match (known, server_stack) {
            (Some(number), _) => number,
            (None, Some(stack)) => {
                let endpoint = foreign(stack, local, Side::Server, self.on_port);
                StackPort::add(&mut host.endpoints.foreign, endpoint)
            }
            (None, None) => {
                let options = EndpointOptions {
                    accept: Some(Arc::clone(&config)),
                    interest: self.interest,
                    ..EndpointOptions::new(local, tls.clone())
                };
                let mut endpoint = Endpoint::new(options, self.random(Side::Server));
                endpoint.set_known_paths(host.known_paths.quic.clone());
                StackPort::add(&mut host.endpoints.quic, endpoint)
            }
        };
        host.servers.entry(local.port()).or_insert((number, config, self.flow.alpn()));
        let server = match server_stack {
            Some(_) => EndConnection::Foreign(AddressedEnd::server(number)),
            None => EndConnection::Quic(QuicEnd::server(number)),
        };
        Ok([client, server])
    }

    fn quic_client(&self, host: &mut HostParts, config: &Arc<Config>, tls: &tls::Context) -> EndConnection {
        let mut random = self.random(Side::Client);
        // Skip the draw of an endpoint, so that connections draw as if each had its own endpoint.
        random.bits();
        let opening = Opening {
            early_data: self.flow.early_data,
            authority: Some(format!("node {}:{}", self.flow.server, self.server().port())),
            local: Some(self.client()),
            tls: Some(tls.clone()),
            random: Some(random),
            ..Opening::new(self.server(), Arc::clone(config))
        };
        let number = *host.clients.get_or_insert_with(|| {
            let options = EndpointOptions {
                interest: self.interest,
                ..EndpointOptions::new(self.client(), tls.clone())
            };
            let mut endpoint = Endpoint::new(options, self.random(Side::Client));
            endpoint.set_known_paths(host.known_paths.quic.clone());
            StackPort::add(&mut host.endpoints.quic, endpoint)
        });
        EndConnection::Quic(QuicEnd::client(number, self.start(), opening))
    }

    /// The number of the endpoint at the server's port, if another flow has added it.
    fn known_server(&self, host: &HostParts, config: &Config) -> Result<Option<usize>, RunError> {
        let port = self.server().port();
        let Some((index, known, protocol)) = host.servers.get(&port) else { return Ok(None) };
        if **known != *config || *protocol != self.flow.alpn() {
            let problem = format!(
                "another flow uses port {port} of this server with other options or another application \
                 protocol; expected the same ones, or another port"
            );
            return Err(self.error(problem));
        }
        Ok(Some(*index))
    }

    /// Builds the ends of a flow over TCP, each with its own endpoint.
    fn tcp(&self, hosts: &mut [HostParts]) -> Result<[EndConnection; 2], RunError> {
        let config = Arc::new(self.tcp_config()?);
        let [client, server] = [(Side::Client, self.flow.client), (Side::Server, self.flow.server)]
            .map(|(side, node)| self.connections(&config, side, hosts[node].known_paths.tcp.clone()));
        let client = tcp::Endpoint::client(client, self.ports);
        let client = StackPort::add(&mut hosts[self.flow.client].endpoints.tcp, client);
        let server = tcp::Endpoint::server(server, self.client().ip(), self.ports)
            .ok_or_else(|| self.error(format!("no controller {:?}", config.controller.name)))?;
        let handle = transport::Stack::next_active(&server);
        let server = StackPort::add(&mut hosts[self.flow.server].endpoints.tcp, server);
        let mut server = AddressedEnd::server(server);
        server.handle = handle;
        Ok([
            EndConnection::Tcp(AddressedEnd::client(client, self.start(), self.server())),
            EndConnection::Tcp(server),
        ])
    }

    /// The connections of an end, which are made on demand.
    fn connections(&self, config: &Arc<tcp::Config>, side: Side, known_paths: PathStore) -> TcpConnections {
        let (config, tls, ports) = (Arc::clone(config), self.tls_sizes.clone(), self.ports);
        let (client, server) = (self.client(), self.server());
        let (seed, interest, name) = (self.seed, self.interest, self.flow.name.clone());
        let cookie_key = cookie_key(seed, &name);
        let make = move |now: Time, index: usize, remote: Option<SocketAddr>| {
            // The first connection has the random stream of the flow, as over QUIC.
            let random = if index == 0 {
                Generator::new(seed, &format!("flow {name} {side}"))
            } else {
                Generator::new(seed, &format!("flow {name} {side} connection {index}"))
            };
            let local = remote.map_or(server, |_| SocketAddr::new(client.ip(), ports.of(index)));
            let setup = tcp::ConnectionInputs {
                local,
                config: Arc::clone(&config),
                random,
                interest,
                tls: tls.clone(),
                cookie_key,
                known_paths: tcp::DatedPaths { store: known_paths.clone(), epoch_ms: EPOCH_MS },
                initial_sequence: None,
            };
            match remote {
                Some(remote) => tcp::Connection::connect(now, setup, remote),
                None => tcp::Connection::listen(setup),
            }
        };
        let count = usize::from(self.ports.count);
        TcpConnections::new(side, count, self.flow.alpn(), Box::new(make))
    }

    fn end(
        &self,
        shared: &Rc<Shared<'_>>,
        side: Side,
        stack: EndConnection,
        application: Box<dyn transport::Application>,
    ) -> End {
        let traced = crate::end::traced(side);
        let receives = side == Side::Server && application.progress().receives;
        shared.settle(self.index, |awaited| awaited.arrival |= receives);
        let mut end = End {
            flow: self.index,
            side,
            ports: if side == Side::Client { self.ports } else { Ports::one(self.server().port()) },
            stack,
            application,
            opens_at: Some(self.start()).filter(|at| side == Side::Client && *at != Time::NEVER),
            stop: self.flow.stop.filter(|_| side == Side::Client).map(|stop| Time::ZERO + stop),
            subject: shared.recorder.borrow_mut().register(&self.flow.name, Role::Connection(traced)),
            captured: side == Side::Client && shared.capture.is_some(),
            armed: None,
            done: false,
            receives,
            moved: false,
            family: None,
            sent: Count::default(),
        };
        if let Some(at) = end.opens_at {
            end.open(at);
        }
        end
    }
}
