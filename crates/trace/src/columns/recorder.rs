//! The sink that converts records to tables.

use super::air::Airs;
use super::bounded::{FirstRows, Series};
use super::data::{Data, Words};
use super::message::Messages;
use super::rate::Rates;
use super::schema::{self, CONNECTION, Happened, LINK, NODE, RateKind, SUBJECT};
use super::series::{gauged, measured, waited};
use super::store::{PART, Parts, Store};
use super::stream::{End, Streams};
use super::table::Table;
use super::value::{Code, Word};
use super::video::Videos;
use crate::event::{Block, ObjectLoaded};
use crate::{Contents, Event, Interest, Log, Logged, Packet, Record, Role, Sink, Subject};
use std::fmt::Write;
use std::io;
use units::{Duration, Time};

/// The tables whose events [`Interest::lifecycle`] covers: a few for each stream, message, object or segment.
pub const RARE: &[&str] = &["stream", "message", "object", "segment", "playback"];

/// The selection and the maximum size of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether to keep the table `packet`: one row per packet sent, received or dropped. Default: no.
    pub packets: bool,
    /// Whether to keep the table `block`: one row per block that a link layer sent. Default: no.
    pub blocks: bool,
    /// Whether to keep the tables that change with single packets: all but [`RARE`]. Without them a run does not build
    /// their events. Default: yes.
    pub metrics: bool,
    /// The maximum number of rows per table. Default: 20 million; at most 2^31.
    pub rows: usize,
    /// The bin width of the tables `rate` and `air`. Default: 100 ms; at least 1 ns.
    pub bin: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            packets: false,
            blocks: false,
            metrics: true,
            rows: 20_000_000,
            bin: Duration::from_millis(100),
        }
    }
}

/// The most records after which tables are looked at for full parts.
const UNCHECKED: usize = PART / 8;

/// A sink that keeps the tables of [`super`] in memory, or the last part of them where there is a [`Store`].
pub struct Columns<'a> {
    packets: bool,
    blocks: bool,
    metrics: bool,
    connection: Series<schema::connection::Row>,
    gauge: Series<schema::gauge::Row>,
    wait: Series<schema::wait::Row>,
    queue: Series<schema::queue::Row>,
    node: Series<schema::node::Row>,
    loss: FirstRows<schema::loss::Row>,
    event: FirstRows<schema::event::Row>,
    packet: FirstRows<schema::packet::Row>,
    drop: FirstRows<schema::drop::Row>,
    stream: Streams,
    message: Messages,
    object: FirstRows<schema::object::Row>,
    video: Videos,
    rate: Rates,
    air: Airs,
    block: FirstRows<schema::block::Row>,
    parts: Parts<'a>,
    /// The records since the tables were last looked at for full parts.
    unchecked: usize,
    /// The code of each subject's name in [`Parts::names`].
    codes: Vec<Option<u32>>,
    labels: Vec<Box<str>>,
    detail: String,
}

impl<'a> Columns<'a> {
    /// Creates empty tables.
    pub fn new(options: Options) -> Columns<'a> {
        // Reordering counts rows in 32 bits.
        let rows = options.rows.min(1 << 31);
        Columns {
            packets: options.packets,
            blocks: options.blocks,
            metrics: options.metrics,
            connection: Series::new(rows),
            gauge: Series::new(rows),
            wait: Series::new(rows),
            queue: Series::new(rows),
            node: Series::new(rows),
            loss: FirstRows::new(rows),
            event: FirstRows::new(rows),
            packet: FirstRows::new(rows),
            drop: FirstRows::new(rows),
            stream: Streams::new(rows),
            message: Messages::new(rows),
            object: FirstRows::new(rows),
            video: Videos::new(rows),
            rate: Rates::new(options.bin, rows),
            air: Airs::new(options.bin, rows),
            block: FirstRows::new(rows),
            parts: Parts::default(),
            unchecked: 0,
            codes: Vec::new(),
            labels: Vec::new(),
            detail: String::new(),
        }
    }

    /// Hands the parts of long tables to a store, from now on. [`Columns::into_tables`] has the rest of the rows.
    #[must_use]
    pub fn storing(mut self, store: Box<dyn Store + 'a>) -> Columns<'a> {
        self.parts.store = Some(store);
        self
    }

    /// The tables in the order of the list in [`super`].
    pub fn into_tables(self) -> Vec<Table> {
        let [segment, playback] = self.video.into_tables();
        let mut tables = vec![
            self.connection.into_table(),
            self.loss.table,
            self.event.table,
            self.gauge.into_table(),
            self.wait.into_table(),
            self.stream.into_table(),
            self.message.into_table(),
            self.object.table,
            segment,
            playback,
            self.queue.into_table(),
            self.drop.table,
            self.rate.into_table(),
            self.node.into_table(),
            self.air.into_table(),
        ];
        if self.blocks {
            tables.push(self.block.table);
        }
        if self.packets {
            tables.insert(5, self.packet.table);
        }
        let labels = self.labels.iter().map(AsRef::as_ref);
        let (subjects, remap) = distinct(labels);
        for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
            let Data::Text(text) = &mut column.data else { continue };
            if [CONNECTION, LINK, NODE].contains(&column.name) {
                text.words = self.parts.names.clone();
            } else if column.name == SUBJECT {
                text.words = subjects.clone();
                text.codes.iter_mut().for_each(|code| *code = remap[*code as usize]);
            }
        }
        tables
    }

    fn connection(&mut self, end: End, time: Time, event: &Event) {
        match event {
            Event::Metrics(metrics) => {
                self.connection.add(end.subject, &mut self.parts, || measured(end, time, metrics));
            }
            Event::Gauge { name, value } => {
                self.gauge.add(end.subject, &mut self.parts, || gauged(end, time, name, *value));
            }
            Event::Waits(spans) => {
                self.wait.add(end.subject, &mut self.parts, || waited(end, time, spans));
            }
            Event::DatagramSent { length, .. } => self.rate.add(time, end.subject, RateKind::Sent, *length),
            Event::PacketLost { kind, number, trigger } => {
                self.loss.push(schema::loss::Row {
                    time_s: time.as_secs_f64(),
                    connection: Code(end.connection),
                    side: Word(end.side),
                    kind: Word(*kind),
                    number: *number,
                    trigger: Word(*trigger),
                });
            }
            Event::StreamOpened { stream, .. } => {
                self.stream.opened(end, *stream, Some(time));
            }
            Event::StreamClosed { stream, sent, received } => {
                self.stream.closed(end, *stream, time, (*sent, *received));
            }
            Event::MessageWritten(message) => self.message.written(end, message),
            Event::MessageDelivered(message) => self.message.delivered(end, time, message),
            Event::ObjectLoaded(object) => self.object(end, object),
            Event::VideoSegment(segment) => self.video.segment(end, segment),
            Event::PlaybackChanged(change) => self.video.playback(end, change),
            Event::PacketSent(packet) if self.packets => self.packet(end, time, Happened::Sent, packet),
            Event::PacketReceived(packet) if self.packets => {
                self.packet(end, time, Happened::Received, packet);
            }
            Event::PacketDropped { kind, length, .. } if self.packets => {
                self.packet.push_with(|table| schema::packet::Row {
                    time_s: time.as_secs_f64(),
                    connection: Code(end.connection),
                    side: Word(end.side),
                    direction: Word(Happened::Dropped),
                    kind: Word(*kind),
                    number: None,
                    length_bytes: *length,
                    frames: table.word(schema::packet::At::frames as usize, ""),
                });
                self.event(end, time, event);
            }
            _ => self.event(end, time, event),
        }
    }

    fn object(&mut self, end: End, object: &ObjectLoaded) {
        let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
        self.object.push_with(|_| schema::object::Row {
            connection: Code(end.connection),
            page: object.page,
            object: object.object,
            stream: object.stream,
            size_bytes: object.bytes,
            urgency: object.urgency.into(),
            wanted_s: seconds(object.requestable_at),
            asked_s: seconds(object.requested_at),
            first_byte_s: seconds(object.first_at),
            complete_s: seconds(object.complete_at),
        });
    }

    fn packet(&mut self, end: End, time: Time, direction: Happened, packet: &Packet) {
        let Columns { packet: rows, detail, .. } = self;
        rows.push_with(|table| {
            detail.clear();
            let mut add = |name: &str| {
                if !detail.is_empty() {
                    detail.push(',');
                }
                detail.push_str(name);
            };
            match &packet.contents {
                Contents::Segment { data, acknowledges } => {
                    data.iter().for_each(|_| add("STREAM"));
                    acknowledges.then(|| add("ACK"));
                }
                frames @ Contents::Frames { .. } => frames.frames().for_each(|frame| add(frame.name())),
            }
            schema::packet::Row {
                time_s: time.as_secs_f64(),
                connection: Code(end.connection),
                side: Word(end.side),
                direction: Word(direction),
                kind: Word(packet.kind),
                number: packet.number,
                length_bytes: packet.length,
                frames: table.word(schema::packet::At::frames as usize, detail),
            }
        });
    }

    fn event(&mut self, end: End, time: Time, event: &Event) {
        self.detail.clear();
        let Some(name) = describe(event, &mut self.detail) else { return };
        self.event.push_with(|table| schema::event::Row {
            time_s: time.as_secs_f64(),
            connection: Code(end.connection),
            side: Word(end.side),
            event: name,
            detail: table.word(schema::event::At::detail as usize, &self.detail),
        });
    }

    fn link(&mut self, subject: u32, link: u32, time: Time, event: &Event) {
        match event {
            Event::Queue { packets, bytes } => self.queued(subject, link, time, (*packets, *bytes)),
            Event::NetworkDrop { length, reason } => {
                let (time_s, link) = (time.as_secs_f64(), Code(link));
                self.drop.push(schema::drop::Row { time_s, link, length_bytes: *length, reason });
            }
            Event::Capacity { rate } => self.rate.capacity(time, subject, rate.as_mbit_per_sec()),
            Event::Delivered { length } => self.rate.add(time, subject, RateKind::Delivered, *length),
            Event::Block(block) => {
                self.air.block(time, (subject, link), block);
                if self.blocks {
                    self.block(time, link, block);
                }
            }
            Event::HandedOver(stages) => self.air.handed_over(time, (subject, link), *stages),
            Event::Handover { lost_blocks, .. } => self.air.handover(time, (subject, link), *lost_blocks),
            _ => {}
        }
    }

    #[inline]
    fn queued(&mut self, subject: u32, link: u32, time: Time, (packets, bytes): (u32, u64)) {
        self.queue.add(subject, &mut self.parts, || {
            let (time_s, link) = (time.as_secs_f64(), Code(link));
            schema::queue::Row { time_s, link, packets, bytes }
        });
    }

    fn block(&mut self, time: Time, link: u32, block: &Block) {
        self.block.push(schema::block::Row {
            time_s: time.as_secs_f64(),
            link: Code(link),
            bytes: block.bytes,
            airtime_us: f64::from(block.airtime_ns) / 1e3,
            attempt: block.attempt.into(),
            mcs: block.mcs.into(),
            resource_blocks: block.units.into(),
            fate: Word(block.fate),
        });
    }

    fn node(&mut self, subject: u32, node: u32, time: Time, event: &Event) {
        match event {
            Event::Gauge { name, value } => {
                self.node.add(subject, &mut self.parts, || {
                    let (time_s, node) = (time.as_secs_f64(), Code(node));
                    schema::node::Row { time_s, node, gauge: name, value: *value }
                });
            }
            _ => self.link(subject, node, time, event),
        }
    }

    /// An event of a subject, which has a number and the code of its name.
    fn event_of(&mut self, role: Role, (subject, code): (u32, u32), time: Time, event: &Event) {
        match role {
            Role::Connection(side) => {
                self.connection(End { subject, connection: code, side }, time, event);
            }
            Role::Link(_) | Role::Lane | Role::Medium => self.link(subject, code, time, event),
            Role::Node => self.node(subject, code, time, event),
        }
    }

    /// Counts `records` more records. The store gets the full parts of all tables once [`UNCHECKED`] records have come.
    fn hand_over(&mut self, records: usize) -> io::Result<()> {
        // A record is at most one row of a table.
        self.unchecked += records;
        if self.unchecked < UNCHECKED || self.parts.store.is_none() {
            return self.parts.check();
        }
        self.unchecked = 0;
        let tables = [
            self.connection.written(),
            self.gauge.written(),
            self.wait.written(),
            self.queue.written(),
            self.node.written(),
            &mut self.loss.table,
            &mut self.event.table,
            &mut self.packet.table,
            &mut self.drop.table,
            &mut self.block.table,
        ];
        tables.into_iter().for_each(|table| self.parts.hand_over(table));
        self.parts.check()
    }

    /// The code of a subject in the columns `connection`, `link` and `node`.
    fn code(&mut self, subject: &Subject) -> u32 {
        let at = subject.id() as usize;
        match self.codes.get(at) {
            Some(Some(code)) => *code,
            _ => self.register(subject),
        }
    }
    #[cold]
    fn register(&mut self, subject: &Subject) -> u32 {
        let at = subject.id() as usize;
        let code = self.parts.names.code(match subject.role() {
            Role::Connection(_) => subject.name(),
            // The directions of a link and the attachments of a medium have queues of their own.
            Role::Link(_) | Role::Lane | Role::Medium | Role::Node => subject.label(),
        });
        if self.codes.len() <= at {
            self.codes.resize(at + 1, None);
            self.labels.resize(at + 1, "".into());
        }
        self.codes[at] = Some(code);
        self.labels[at] = subject.label().into();
        code
    }
}

impl Sink for Columns<'_> {
    fn interest(&self) -> Interest {
        Interest { packets: self.packets, metrics: self.metrics, lifecycle: true }
    }
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()> {
        let (id, code) = (subject.id(), self.code(subject));
        self.event_of(subject.role(), (id, code), record.time, &record.event);
        self.hand_over(1)
    }
    fn take(&mut self, subject: &Subject, log: &mut Log) -> io::Result<()> {
        if log.is_empty() {
            return Ok(());
        }
        let (id, code, role) = (subject.id(), self.code(subject), subject.role());
        let records = log.len();
        log.read(|time, logged| match logged {
            Logged::Queue { packets, bytes } => self.queued(id, code, time, (packets, bytes)),
            Logged::Delivered(length) => self.rate.add(time, id, RateKind::Delivered, length),
            Logged::DatagramSent(length) => self.rate.add(time, id, RateKind::Sent, length),
            Logged::DatagramReceived(_) => {}
            Logged::Other(event) => self.event_of(role, (id, code), time, event),
        });
        self.hand_over(records)
    }
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The distinct words, and the code of each.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> (Words, Vec<u32>) {
    let mut list = Words::default();
    let codes = words.map(|word| list.code(word)).collect();
    (list, codes)
}

/// The value of the column `event`. The detail is written to `detail`.
fn describe(event: &Event, detail: &mut String) -> Option<&'static str> {
    // Writing to a string cannot fail.
    let (name, _) = match event {
        Event::ConnectionStarted { local, remote, .. } => {
            ("connection_started", write!(detail, "local {local} remote {remote}"))
        }
        Event::ConnectionState { state } => ("connection_state", detail.write_str(state)),
        Event::ConnectionClosed { local, application, code, reason } => {
            let side = if *local { "local" } else { "remote" };
            let space = if *application { "application" } else { "transport" };
            ("connection_closed", write!(detail, "{side} {space} {code:#x} {reason}"))
        }
        Event::VersionInformation { server, client, chosen } => {
            let list = |out: &mut String, name: &str, versions: &[u32]| {
                write!(out, "{name}")?;
                versions.iter().try_for_each(|version| write!(out, " {version:#x}"))
            };
            let written = list(detail, "server", server)
                .and_then(|()| list(detail, " client", client))
                .and_then(|()| chosen.map_or(Ok(()), |chosen| write!(detail, " chosen {chosen:#x}")));
            ("version_information", written)
        }
        Event::ParametersSet { local, values } => {
            detail.push_str(if *local { "local" } else { "remote" });
            ("parameters_set", values.iter().try_for_each(|(name, value)| write!(detail, " {name}={value}")))
        }
        Event::ParametersRestored { values } => (
            "parameters_restored",
            values.iter().try_for_each(|(name, value)| write!(detail, " {name}={value}")),
        ),
        Event::KeyUpdated { key, phase: None } => ("key_updated", detail.write_str(key)),
        Event::KeyUpdated { key, phase: Some(phase) } => {
            ("key_updated", write!(detail, "{key} phase {phase}"))
        }
        Event::KeyDiscarded { key } => ("key_discarded", detail.write_str(key)),
        Event::MigrationState { state, local, remote } => {
            ("migration_state", write!(detail, "{} local {local} remote {remote}", state.name()))
        }
        Event::EcnState { state } => ("ecn_state", detail.write_str(state.name())),
        Event::MtuUpdated { old, new, done } => {
            ("mtu_updated", write!(detail, "{old} {new}{}", if *done { " done" } else { "" }))
        }
        Event::CongestionState { state } => ("congestion_state", detail.write_str(state)),
        Event::ResumePhase(change) => {
            let written = write!(detail, "{} {}", change.new, change.trigger.unwrap_or("-"));
            let (first, last) = change.unvalidated.unwrap_or_default();
            let rest = write!(
                detail,
                " pipesize {} window {} unvalidated {first}-{last}",
                change.pipe_size, change.window
            );
            ("resume_phase", written.and(rest))
        }
        Event::SavedPath { carrier, result } => ("saved_path", write!(detail, "{carrier} {result}")),
        Event::PacketDropped { kind, length, reason } => {
            ("packet_dropped", write!(detail, "{} {length} bytes {}", kind.name(), reason.name()))
        }
        _ => return None,
    };
    Some(name)
}
