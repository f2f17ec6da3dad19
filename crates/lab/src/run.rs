//! Runs a scenario, reports progress, and collects the results.

use crate::books;
use crate::capture::{Capture, Tap};
use crate::contexts::Contexts;
use crate::end::{EndReport, traced};
use crate::error::RunError;
use crate::event::{Actions, Agenda};
use crate::host::Host;
use crate::order::Order;
use crate::recorded;
use crate::recorder::{Proxied, Recorder, connection_name, proxied_name};
use crate::scenario::{DIRECTIONS, Protocol, RecordOptions, Scenario};
use crate::shared::{Awaited, Shared};
use crate::summary::{self, CarrierReport, Finished, PROCESSING, Summary};
use crate::world;
use network::middlebox::Middlebox;
use network::{NodeId, Port, Step, Watch, World};
use quic::{MigrateError, Migration};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;
use trace::columns::{Columns, RARE, Store, Table};
use trace::qlog::{self, Qlog};
use trace::{Fan, Log, Role};
use units::parameter::{Choice, Options as _};
use units::{Rate, Size, Time, fault};
use wire::Side;

/// Timers and packets between two reports of progress: a few milliseconds of real time.
const BUDGET: u64 = 20_000;

/// The options of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The seed; default: the scenario's. A scenario with this seed gives the same results.
    pub seed: Option<u64>,
    /// Whether to keep the tables that the scenario's `[record]` names.
    pub tables: bool,
    /// A folder for one qlog file per connection end.
    pub qlog: Option<PathBuf>,
    /// A file for the captured packets of all clients and of proxies (pcapng, including the TLS secrets). The run then uses the protection
    /// `tls`, whatever the scenario says: packets have the same sizes and times, and readers of captures can open them. A
    /// packet that was altered on the way is only marked as such.
    pub pcap: Option<PathBuf>,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The virtual time.
    pub now: Time,
    /// The latest end of the run.
    pub end: Time,
    /// The received application bytes.
    pub done_bytes: u64,
    /// The total number of application bytes, if it is known.
    pub total_bytes: Option<u64>,
}

/// The results of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The summary.
    pub summary: Summary,
    /// The tables, if [`Options::tables`] is set.
    pub tables: Vec<Table>,
}

/// TLS configurations and certificates. They take time to make, and all runs of a scenario can share them, whatever their
/// seeds.
#[derive(Clone)]
pub struct Prepared {
    tls: Contexts,
}

impl Prepared {
    /// Prepares the runs of a scenario.
    ///
    /// # Errors
    /// [`RunError::Tls`].
    pub fn new(scenario: &Scenario) -> Result<Prepared, RunError> {
        Prepared::seeded(scenario, scenario.seed)
    }

    /// [`Prepared::new`] with keys and certificates of another seed.
    ///
    /// # Errors
    /// [`RunError::Tls`].
    pub fn seeded(scenario: &Scenario, seed: u64) -> Result<Prepared, RunError> {
        Contexts::new(scenario, seed).map(|tls| Prepared { tls })
    }

    pub(crate) fn tls(&self) -> &Contexts {
        &self.tls
    }

    /// Whether another scenario can use it, too: it has the same TLS options and application protocols.
    pub fn fits(&self, scenario: &Scenario) -> bool {
        self.tls.fit(scenario)
    }
}

/// Builds everything for a run without running it. This finds mistakes that the reader of scenarios does not see, for
/// example a certificate chain that is too short for its certificates.
///
/// # Errors
/// See [`RunError`].
pub fn check(scenario: &Scenario) -> Result<(), RunError> {
    let scenario = &*scenario.unfolded();
    let prepared = Prepared::new(scenario)?;
    let shared = share(scenario, &Options::default(), Fan::new())?;
    let _ = fault::take();
    let built = world::build(scenario, scenario.seed, &prepared.tls, &shared).map(drop);
    match fault::take() {
        Some(fault) => Err(RunError::Outside(fault)),
        None => built,
    }
}

/// Runs a scenario. TLS configurations and certificates are kept for later runs of the process that need equal ones.
///
/// # Errors
/// See [`RunError`]. Unfinished files remain: the caller chose a place where nobody takes them for results.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    let prepared = Prepared::seeded(scenario, options.seed.unwrap_or(scenario.seed))?;
    run_prepared(scenario, &prepared, options, progress)
}

/// [`run`] with shared TLS configurations and certificates.
///
/// # Errors
/// Those of [`run`].
pub fn run_prepared(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    simulate(scenario, prepared, options, None, progress)
}

/// [`run_prepared`] whose tables go to a store part by part: [`Outcome::tables`] has the last part of each, and those that
/// are not stored. Memory then does not grow with the bytes of a transfer.
///
/// # Errors
/// Those of [`run`], and [`RunError::Output`] with the error of the store.
pub fn run_storing(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    store: Box<dyn Store + '_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    simulate(scenario, prepared, options, Some(store), progress)
}

fn simulate(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    store: Option<Box<dyn Store + '_>>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    refuse_gates(scenario)?;
    let mut drive = |running: &mut Running<'_>| {
        let end = Time::ZERO + scenario.duration;
        while running.advance(end)? == Step::Budget {
            if progress(progress_of(&running.world, end)).is_break() {
                return Err(RunError::Interrupted);
            }
        }
        let _ = progress(progress_of(&running.world, end));
        // The run ends early if all flows are finished.
        Ok(if running.shared.unfinished.get() == 0 { running.world.now() } else { end })
    };
    run_with(scenario, prepared, options, store, &mut drive)
}

/// Real packets need real time.
pub(crate) fn refuse_gates(scenario: &Scenario) -> Result<(), RunError> {
    let Some((_, gate)) = scenario.gates().next() else { return Ok(()) };
    let problem = "a gate needs real time; expected quiclab emulate, or another kind of node";
    Err(RunError::Component { place: format!("node {}", gate.name), problem: problem.to_owned() })
}

/// What lets the time of a run pass; returns when it ended.
pub(crate) type Drive<'d> = dyn FnMut(&mut Running<'_>) -> Result<Time, RunError> + 'd;

/// Runs a scenario whose time somebody lets pass.
pub(crate) fn run_with(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    store: Option<Box<dyn Store + '_>>,
    drive: &mut Drive<'_>,
) -> Result<Outcome, RunError> {
    let scenario = &*scenario.unfolded();
    let mut columns = options.tables.then(|| {
        let columns = Columns::new(column_options(scenario));
        match store {
            Some(store) => columns.storing(Box::new(recorded::Recorded::new(scenario, store))),
            None => columns,
        }
    });
    // The schema of qlog has no TCP.
    let tcp = scenario.flows.iter().filter(|flow| flow.protocol == Protocol::Tcp).flat_map(|flow| {
        (0..flow.connections()).flat_map(|index| {
            let name = connection_name(&flow.name, index);
            let at = scenario.middleboxes().map(|(_, node)| proxied_name(&name, &node.name));
            at.chain([name.clone()]).collect::<Vec<_>>()
        })
    });
    let mut qlog = options.qlog.clone().map(|folder| {
        let qlog = Qlog::new(qlog_options(scenario), move |subject| {
            File::create(folder.join(format!("{}.sqlog", file_name(subject.label()))))
        });
        qlog.leaving_out(tcp)
    });
    let mut fan = Fan::new();
    if let Some(columns) = &mut columns {
        fan.add(columns);
    }
    if let Some(qlog) = &mut qlog {
        fan.add(qlog);
    }
    let finished = execute(scenario, prepared, options, fan, drive)?;
    Ok(Outcome {
        summary: summary::render(scenario, &finished),
        tables: columns.map_or(Vec::new(), |columns| recorded::select(scenario, columns.into_tables())),
    })
}

fn execute(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options,
    fan: Fan<'_>,
    drive: &mut Drive<'_>,
) -> Result<Finished, RunError> {
    let seed = options.seed.unwrap_or(scenario.seed);
    // Discard a fault of an earlier run.
    let _ = fault::take();
    let shared = share(scenario, options, fan)?;
    // Captures need real protection.
    let protected = options.pcap.as_ref().map(|_| prepared.tls.protected()).transpose()?;
    let tls = protected.as_ref().unwrap_or(&prepared.tls);
    let mut running = Running::new(scenario, seed, tls, &shared)?;
    let closed = drive(&mut running)?;
    let Running { mut world, subjects, .. } = running;
    world.catch_up();
    world.hosts_mut().for_each(Host::take_records);
    if options.tables {
        record_capacity(scenario, &mut world, &subjects, closed, &shared);
    }
    let mut reports: Vec<EndReport> = world.hosts_mut().flat_map(|host| host.reports(closed)).collect();
    reports.sort_by_key(|report| (report.flow, report.side));
    let audited = books::balance(scenario, &mut world, &reports)?;
    if options.tables {
        record_loads(scenario, &reports, closed, &shared);
    }
    finish_sinks(&shared)?;
    let links = world.links().iter().map(|link| CarrierReport {
        stats: link.stats(),
        delays: link.delays().cloned(),
        mean_rate: link.mean_rate(),
        received: None,
        air: None,
    });
    let links = links.collect();
    let media = world.media().iter().map(|medium| {
        let lanes = medium.lanes().iter().enumerate();
        let reports = lanes.map(|(number, lane)| {
            let view = medium.lane(number);
            let report = CarrierReport {
                stats: view.stats,
                delays: view.delays.cloned(),
                mean_rate: medium.mean_rate(),
                received: lane.to.is_none().then(|| medium.received(lane.from.into())),
                air: view.air,
            };
            (*lane, report)
        });
        reports.collect()
    });
    let media = media.collect();
    let processing = world.processors().iter().map(|(node, processor)| {
        let report = CarrierReport {
            stats: processor.stats(),
            delays: processor.delays().cloned(),
            mean_rate: None,
            received: None,
            air: None,
        };
        (node.0 as usize, report)
    });
    let processing = processing.collect();
    let nodes =
        world.middleboxes().map(|(node, middlebox)| (node.0 as usize, middlebox.counters())).collect();
    let memory = world.hosts().flat_map(|host| host.memory(closed)).collect();
    let mut crossing: Vec<_> = world
        .hosts()
        .flat_map(|host| host.crossing().iter().map(|sender| (sender.index, sender.sent)))
        .collect();
    crossing.sort_unstable();
    let numbers = crossing.iter().map(|(number, _)| *number);
    assert!(numbers.eq(0..scenario.cross_traffic.len()), "each sender of cross traffic is at one host");
    let crossing = crossing.into_iter().map(|(_, sent)| sent).collect();
    let numbers = crate::flows::cross_number(scenario, scenario.cross_traffic.len());
    let lost = (0..numbers).map(|number| audited.flows.dropped.of(number).packets).collect();
    Ok(Finished {
        seed,
        end: closed,
        reports,
        crossing,
        links,
        media,
        processing,
        nodes,
        memory,
        lost,
        dropped_at_interfaces: world.dropped_at_ports(),
        routes: world.into_routes(),
    })
}

/// A run in progress.
pub(crate) struct Running<'a> {
    pub(crate) world: World<Host<'a>>,
    agenda: Agenda,
    subjects: LogSubjects,
    pub(crate) shared: Rc<Shared<'a>>,
}

/// The subjects of the logs in the network.
struct LogSubjects {
    /// The subjects of the directions of links.
    links: Vec<u32>,
    /// The subject of each medium, and those of its lanes.
    media: Vec<(u32, Vec<u32>)>,
    /// The subjects of middleboxes.
    nodes: Vec<(NodeId, u32)>,
    /// The subjects of the processing of nodes.
    processors: Vec<u32>,
    /// The names of nodes and of flows, for the connections of proxies.
    names: [Vec<String>; 2],
}

impl LogSubjects {
    fn new(scenario: &Scenario, world: &World<Host<'_>>, recorder: &mut Recorder<'_>) -> LogSubjects {
        let mut links = Vec::new();
        for link in &scenario.links {
            for (_, direction) in DIRECTIONS {
                links.push(recorder.register(&link.name, Role::Link(direction)));
            }
        }
        let media = scenario.media.iter().zip(world.media()).map(|(medium, built)| {
            let name = |at: u16| scenario.nodes[medium.attachments[usize::from(at)].node].name.as_str();
            let itself = recorder.register(&medium.name, Role::Medium);
            let lanes = built
                .lanes()
                .iter()
                .map(|lane| recorder.register_lane(&medium.name, name(lane.from), lane.to.map(name)));
            (itself, lanes.collect())
        });
        let media = media.collect();
        let nodes: Vec<(NodeId, u32)> = scenario
            .middleboxes()
            .map(|(index, node)| (NodeId(index as u32), recorder.register(&node.name, Role::Node)))
            .collect();
        let processors = scenario
            .processing()
            .map(|(index, _)| recorder.register_lane(&scenario.nodes[index].name, PROCESSING, None));
        let processors: Vec<u32> = processors.collect();
        let names = if nodes.is_empty() {
            [Vec::new(), Vec::new()]
        } else {
            let nodes = scenario.nodes.iter().map(|node| node.name.clone()).collect();
            [nodes, scenario.flows.iter().map(|flow| flow.name.clone()).collect()]
        };
        assert_eq!(links.len(), world.links().len(), "the log of each direction of a link has a subject");
        assert_eq!(processors.len(), world.processors().len(), "the log of each server has a subject");
        LogSubjects { links, media, nodes, processors, names }
    }

    /// Moves the records from the logs of the network to the sinks.
    fn drain(&self, world: &mut World<Host<'_>>, shared: &Shared<'_>) {
        let mut recorder = shared.recorder.borrow_mut();
        let mut take = |subject: u32, log: &mut Log| {
            if !log.is_empty() {
                shared.note_records(recorder.take(subject, log));
            }
        };
        for (link, subject) in world.links_mut().iter_mut().zip(&self.links) {
            take(*subject, link.log());
        }
        for (medium, (_, lanes)) in world.media_mut().iter_mut().zip(&self.media) {
            for (number, subject) in lanes.iter().enumerate() {
                take(*subject, medium.log(number));
            }
        }
        for (node, subject) in &self.nodes {
            let middlebox = world.middlebox_mut(*node).expect("a middlebox of the scenario is in the world");
            take(*subject, middlebox.log());
        }
        for ((_, processor), subject) in world.processors_mut().iter_mut().zip(&self.processors) {
            take(*subject, processor.log());
        }
        drop(recorder);
        for (node, _) in &self.nodes {
            let middlebox = world.middlebox_mut(*node).expect("a middlebox of the scenario is in the world");
            self.drain_connections(*node, middlebox, shared);
        }
    }

    /// Moves the records of a proxy's connections to the sinks.
    fn drain_connections(&self, node: NodeId, middlebox: &mut dyn Middlebox, shared: &Shared<'_>) {
        let mut recorder = shared.recorder.borrow_mut();
        let [nodes, flows] = &self.names;
        middlebox.connection_logs(&mut |sender, number, log| {
            let (flow, side) = crate::ends::end_with(sender);
            // A connection from outside is of no flow, and has no records.
            let Some(flow) = flows.get(flow) else { return };
            let name = &nodes[node.0 as usize];
            let of = Proxied { node: node.0, sender, number: number as usize };
            let subject = recorder.proxied(of, flow, name, traced(side));
            shared.note_records(recorder.take(subject, log));
        });
    }
}

impl<'a> Running<'a> {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        tls: &Contexts,
        shared: &Rc<Shared<'a>>,
    ) -> Result<Running<'a>, RunError> {
        let world = world::build(scenario, seed, tls, shared)?;
        let subjects = LogSubjects::new(scenario, &world, &mut shared.recorder.borrow_mut());
        let agenda = Agenda::new(&scenario.events, || scenario.event_targets());
        Ok(Running { world, agenda, subjects, shared: Rc::clone(shared) })
    }

    /// The time of the next thing that happens; `None` if nothing does without a packet from outside.
    pub(crate) fn next_at(&self) -> Option<Time> {
        let event = Some(self.agenda.next_at()).filter(|at| *at != Time::NEVER);
        self.world.next_at().into_iter().chain(event).min()
    }

    /// Advances to a time, until all flows are finished, or by a few milliseconds of work.
    pub(crate) fn advance(&mut self, until: Time) -> Result<Step, RunError> {
        self.advance_watched(until, ())
    }

    /// The same while somebody watches the elements of the world.
    pub(crate) fn advance_watched<W: Watch>(&mut self, until: Time, watch: W) -> Result<Step, RunError> {
        let shared = &self.shared;
        let next = self.agenda.next_at();
        let mut step = self
            .world
            .run_watched(until.min(next), BUDGET, |_| shared.must_stop(), watch)
            .map_err(RunError::Network)?;
        if next <= until && matches!(step, Step::Reached | Step::Idle) {
            self.agenda.act(next, &mut self.world)?;
            // There may be more work.
            step = Step::Budget;
        }
        let ready = shared.order.borrow_mut().take_ready();
        for start in ready {
            let node = NodeId(start.client as u32);
            let opened = self.world.act(node, |host, now, _| host.open(now, start.flow, now + start.wait));
            opened.expect("the client of a flow is at a host");
            step = Step::Budget;
        }
        self.subjects.drain(&mut self.world, shared);
        if let Some(error) = shared.error.borrow_mut().take() {
            return Err(error);
        }
        match fault::take() {
            Some(fault) => Err(RunError::Outside(fault)),
            None => Ok(step),
        }
    }
}

impl Actions for World<Host<'_>> {
    fn set_port(&mut self, node: NodeId, port: Port, up: bool) {
        World::set_port(self, node, port, up);
    }
    fn migrate(&mut self, node: NodeId, flow: usize, port: Port, how: Migration) -> Result<(), MigrateError> {
        self.use_port_address(node, port);
        self.act(node, |host, now, exits| host.migrate(now, flow, port, how, exits))
            .expect("the client of a flow is at a host")
    }
    fn forget(&mut self, node: NodeId) {
        World::forget(self, node);
        self.act(node, |host, now, _| host.forget(now));
    }
    fn tamper(&mut self, node: NodeId, factor: f64) {
        self.act(node, |host, _, _| host.tamper(factor)).expect("only hosts have QUIC clients");
    }
}

/// Creates the state that the hosts share, and opens the capture.
pub(crate) fn share<'a>(
    scenario: &Scenario,
    options: &Options,
    fan: Fan<'a>,
) -> Result<Rc<Shared<'a>>, RunError> {
    Ok(Rc::new(Shared {
        recorder: RefCell::new(Recorder::new(fan)),
        capture: open_capture(options)?,
        unfinished: Cell::new(scenario.flows.len()),
        awaited: RefCell::new(vec![Awaited { end: true, arrival: false }; scenario.flows.len()]),
        order: RefCell::new(Order::new(scenario)),
        paths: [&options.qlog, &options.pcap].map(|path| path.clone().unwrap_or_default()),
        error: RefCell::new(None),
    }))
}

fn open_capture(options: &Options) -> Result<Option<Tap>, RunError> {
    let Some(path) = &options.pcap else { return Ok(None) };
    let fail = |error| RunError::Output { path: path.clone(), error };
    let file: Box<dyn Write> = Box::new(BufWriter::new(File::create(path).map_err(fail)?));
    Capture::new(file).map(Tap::new).map(Some).map_err(fail)
}

fn finish_sinks(shared: &Shared<'_>) -> Result<(), RunError> {
    shared.note_records(shared.recorder.borrow_mut().finish());
    if let Some(tap) = &shared.capture {
        shared.note_capture(tap.finish());
    }
    shared.error.borrow_mut().take().map_or(Ok(()), Err)
}

fn progress_of(world: &World<Host<'_>>, end: Time) -> Progress {
    let all = world.hosts().flat_map(|host| host.ends()).map(|end| end.application.progress());
    let (mut done_bytes, mut total_bytes) = (0, Some(0));
    for progress in all.filter(|progress| progress.receives) {
        done_bytes += progress.bytes;
        total_bytes = total_bytes.zip(progress.total).map(|(sum, more)| sum + more);
    }
    Progress { now: world.now(), end, done_bytes, total_bytes }
}

/// Records the capacity of each limited carrier in each bin.
fn record_capacity(
    scenario: &Scenario,
    world: &mut World<Host<'_>>,
    subjects: &LogSubjects,
    end: Time,
    shared: &Shared<'_>,
) {
    let bin = column_options(scenario).bin;
    let interest = shared.recorder.borrow().interest();
    subjects.drain(world, shared);
    let record = |subject: u32, capacity: &dyn Fn(Time, Time) -> Option<Size>| {
        let (mut at, mut log) = (Time::ZERO, Log::new(interest));
        while at < end {
            let Some(bytes) = capacity(at, at + bin) else { break };
            log.push(at, trace::Event::Capacity { rate: Rate::of(bytes, bin) });
            at += bin;
        }
        shared.note_records(shared.recorder.borrow_mut().take(subject, &mut log));
    };
    for (link, subject) in world.links().iter().zip(&subjects.links) {
        record(*subject, &|from, to| link.capacity(from, to));
    }
    for (medium, (subject, _)) in world.media().iter().zip(&subjects.media) {
        record(*subject, &|from, to| medium.capacity(from, to));
    }
}

/// Records the objects that clients have loaded, each with the connection that carried it, and the videos that they have played.
fn record_loads(scenario: &Scenario, reports: &[EndReport], now: Time, shared: &Shared<'_>) {
    let interest = shared.recorder.borrow().interest();
    let branches = branch_subjects(scenario, reports);
    for report in reports {
        let mut log = Log::new(interest);
        let mut others: BTreeMap<u32, Log> = BTreeMap::new();
        for object in report.load.iter().flat_map(|load| &load.objects) {
            let loaded = trace::ObjectLoaded {
                page: object.page as u32,
                object: object.object as u32,
                stream: object.stream,
                bytes: object.bytes,
                urgency: object.urgency,
                requestable_at: object.requestable_at,
                requested_at: object.requested_at,
                first_at: object.first_at,
                complete_at: object.complete_at,
            };
            let log = match object.connection {
                0 => &mut log,
                other => others.entry(branches[&(report.flow, other)]).or_insert_with(|| Log::new(interest)),
            };
            log.push(now, trace::Event::ObjectLoaded(Box::new(loaded)));
        }
        for (subject, mut log) in others {
            shared.note_records(shared.recorder.borrow_mut().take(subject, &mut log));
        }
        if let Some(playback) = &report.playback {
            for segment in &playback.segments {
                log.push(now, trace::Event::VideoSegment(Box::new(segment.clone())));
            }
            for change in &playback.changes {
                log.push(now, trace::Event::PlaybackChanged(Box::new(change.clone())));
            }
        }
        let taken = shared.recorder.borrow_mut().take(report.subject, &mut log);
        shared.note_records(taken);
    }
}

/// The subjects of the records of clients whose connections belong to other flows: by that flow, and the number among its
/// connections.
fn branch_subjects(scenario: &Scenario, reports: &[EndReport]) -> BTreeMap<(usize, usize), u32> {
    let clients = reports.iter().filter(|report| report.side == Side::Client);
    let of = |report: &EndReport| {
        let flow = &scenario.flows[report.flow];
        Some(((flow.branch_of?, flow.seat.connection), report.subject))
    };
    clients.filter_map(of).collect()
}

fn column_options(scenario: &Scenario) -> trace::columns::Options {
    let RecordOptions { tables, packets, blocks, bin, rows, .. } = RecordOptions::of(&scenario.record);
    let metrics = packets || blocks || !tables.iter().all(|table| RARE.contains(&table.word()));
    trace::columns::Options { packets, blocks, metrics, rows, bin }
}

fn qlog_options(scenario: &Scenario) -> qlog::Options {
    let schema = RecordOptions::of(&scenario.record).qlog_schema;
    qlog::Options { schema, title: scenario.name.clone(), ..qlog::Options::default() }
}

/// A label as the name of a file: all characters but letters, digits, `-`, `_`, `.` and `@` become `-`.
fn file_name(label: &str) -> String {
    label.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.@".contains(c) { c } else { '-' }).collect()
}
