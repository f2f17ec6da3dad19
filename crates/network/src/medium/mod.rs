//! Media: carriers with any number of attached nodes.
//!
//! A medium decides which node sends when, and which receives what. It consists of the parts of a link: each of
//! its lanes has its own buffer ([`crate::queue::QUEUES`]), and rates, losses and the delay line are those of
//! links.

mod cell;
mod channel;
mod shared;
mod wlan;

pub use cell::scheduler as cell_scheduler;

use crate::books::PacketBooks;
use crate::buffer::{CarrierStats, Overflow, QueueDelays};
use crate::count::Count;
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::rate;
use random::Generator;
use trace::{Interest, Log, Stages};
use units::parameter::{Arguments, Component, Key, OptionError, Room, Row};
use units::{Duration, Rate, Size, Time};

/// A carrier with any number of attached nodes. It has one timer. Attachments are numbered from 0 in the order
/// of the scenario; the first is the station, if there is one.
///
/// Time never goes back from one call to the next.
pub trait Medium {
    /// Takes a packet from one attachment for another that it can reach, and notes both in the packet
    /// (`Packet::attach`).
    fn offer(&mut self, now: Time, from: u16, to: u16, packet: Box<Packet>, exits: &mut Exits);
    /// Whether anything happens up to and at `now`.
    fn is_due(&self, now: Time) -> bool;
    /// The next packet that has reached its attachment by `now`, with that attachment (`Packet::detach`).
    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)>;
    /// The time of the timer; `None` if nothing happens before the next packet.
    fn wake_at(&self) -> Option<Time>;
    /// Processes everything up to and at `now` except deliveries, and updates the counters.
    fn catch_up(&mut self, now: Time, exits: &mut Exits);
    /// The lanes, in a fixed order that the options determine.
    fn lanes(&self) -> &[Lane];
    /// The counters of a lane.
    fn lane(&self, number: usize) -> LaneView<'_>;
    /// The packets that have reached the node of an attachment.
    fn received(&self, attachment: usize) -> Count;
    /// The events of a lane that no sink has taken, in the order of time.
    fn log(&mut self, lane: usize) -> &mut Log;
    /// The lane whose memory has overflowed, if any, by its name, and what overflowed.
    fn overflow(&self) -> Option<(&str, Overflow)>;
    /// Adds what came of packets here to books: those that each lane's buffer knows, and those that are elsewhere in the
    /// medium.
    fn account(&self, books: &mut PacketBooks);
    /// The propagation delay from any attachment to any other.
    fn delay(&self) -> Duration;
    /// The mean rate over time of all attachments together; `None` if it is unlimited.
    fn mean_rate(&self) -> Option<Rate>;
    /// The bytes that all attachments together can send between two times; `None` if that is unlimited.
    fn capacity(&self, from: Time, to: Time) -> Option<Size>;
}

/// A queue of a medium, and whose packets wait in it. Every packet passes exactly one lane. An attachment has one
/// lane for all packets that its node sends, or one for each receiver, as the base station of a cell has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// The sending attachment.
    pub from: u16,
    /// The receiving attachment; `None` if the lane is for all receivers.
    pub to: Option<u16>,
}

impl Lane {
    /// Whether packets from one attachment to another pass this lane.
    pub fn carries(&self, from: usize, to: usize) -> bool {
        usize::from(self.from) == from && self.to.is_none_or(|only| usize::from(only) == to)
    }
}

/// The counters of a lane of a medium.
#[derive(Debug, Clone, Copy)]
pub struct LaneView<'a> {
    /// The packets. `busy` is the time in which the lane was sending.
    pub stats: CarrierStats,
    /// The queueing delays before transmission, if they are counted.
    pub delays: Option<&'a QueueDelays>,
    /// What happened on the air, for media with a link layer of their own.
    pub air: Option<Air>,
}

/// The counters of a link layer that repeats what is lost. A block is what is sent at once: a transport block of a
/// cell, a frame of a WLAN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Air {
    /// Blocks sent for the first time.
    pub sent: u64,
    /// Repetitions of blocks.
    pub again: u64,
    /// Blocks that were given up after the last repetition.
    pub lost: u64,
    /// Handovers of the lane's terminal from one site to another.
    pub handovers: u64,
    /// The time for which the lane had the medium: for a part of the medium, that part of the time.
    pub airtime: Duration,
    /// The sums of the delays of all delivered packets.
    pub delays: Stages,
}

/// The inputs for building a medium.
#[derive(Clone, Copy)]
pub struct MediumOptions<'a> {
    /// The values of the row's options.
    pub arguments: &'a Arguments,
    /// The attachments in their order: the name for errors and random streams, unique in the run (`"medium air
    /// phone"`), and the values of the row's options for this attachment.
    pub attachments: &'a [(String, Arguments)],
    /// Whether the first attachment is a station, by which the others communicate.
    pub station: bool,
    /// The name for errors and random streams: `"medium air"`.
    pub name: &'a str,
    /// The random stream with a name.
    pub stream: &'a dyn Fn(&str) -> Generator,
    /// The numbers of flows by name, for queues with options about flows.
    pub flows: &'a [(String, u32)],
    /// Whether the delay of each packet in the queues is counted.
    pub delays: bool,
    /// The interest of the logs.
    pub interest: Interest,
}

impl<'a> MediumOptions<'a> {
    /// The names of the nodes that are attached.
    pub(crate) fn nodes(&self) -> Vec<&'a str> {
        let prefix = format!("{} ", self.name);
        let name = |(name, _): &'a (String, Arguments)| {
            name.strip_prefix(&prefix).expect("the name of an attachment begins with that of its medium")
        };
        self.attachments.iter().map(name).collect()
    }
}

/// The nodes that are attached to a medium.
#[derive(Debug, Clone, Copy)]
pub struct Attached<'a> {
    /// Their names, in the order of the attachments.
    pub names: &'a [&'a str],
    /// Whether the first one is a station.
    pub station: bool,
}

/// The properties of a medium that are known before it is built.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The options that can differ between attachments.
    pub of_attachment: &'static [&'static str],
    /// Those of them that have an effect at the station.
    pub of_station: &'static [&'static str],
    /// Whether the station has a lane for each terminal.
    pub lanes_by_receiver: bool,
    /// Whether it has a station.
    pub needs_station: bool,
    /// The options with which the laws of media are tested.
    pub samples: Samples,
    /// The option with a rate like that of a link, for a medium that has one.
    pub rate: Option<Key<Component>>,
    /// The outlook of a way; `None` for a medium without a link layer, whose options `rate` and `delay` say all, and with
    /// options that cannot be used.
    pub outlook: fn(&Way<'_>) -> Option<Outlook>,
    /// Checks options that depend on each other and on what is attached.
    pub check: fn(&Arguments, Attached<'_>) -> Result<(), OptionError>,
    /// Builds it.
    pub build: fn(&MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError>,
}

/// The way of packets from one attachment to another.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// The values of the medium's options.
    pub medium: &'a Arguments,
    /// The values of the options of the sending and of the receiving attachment.
    pub ends: [&'a Arguments; 2],
    /// Whether the sender is the station.
    pub from_station: bool,
}

/// What is known of a way over a link layer before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// The rate of packets at most: without errors, and with nobody else on the medium. Zero if nothing can be received.
    pub rate: Rate,
    /// The time on the air at least.
    pub least: Duration,
}

/// Values of options, as in a scenario.
pub type Sample = &'static [(&'static str, &'static str)];

/// The options with which the laws of media are tested.
#[derive(Debug, Clone, Copy)]
pub struct Samples {
    /// Some of 200 packets from each of four nodes are dropped or lost.
    pub lossy: Sample,
    /// No packet is dropped or lost.
    pub lossless: Sample,
}

/// The media.
pub static MEDIA: &[Row<Profile>] = &[shared::ROW, cell::LTE, cell::NR, wlan::ROW];

/// The room of the media as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("media", "shared carriers, to which any number of nodes are attached", MEDIA, None)
}

/// The rooms of the parts that only some media have.
pub fn parts() -> Vec<Room> {
    std::iter::once(channel::room()).chain(cell::rooms()).chain(wlan::rooms()).collect()
}

/// The options of a medium that can differ between attachments; none if there is no such medium.
pub fn options_of_attachment(name: &str) -> &'static [&'static str] {
    MEDIA.iter().find(|row| row.name == name).map_or(&[], |row| row.build.of_attachment)
}

/// Those of them that have an effect at the station.
pub fn options_of_station(name: &str) -> &'static [&'static str] {
    MEDIA.iter().find(|row| row.name == name).map_or(&[], |row| row.build.of_station)
}

/// Whether the station of this medium has a lane for each terminal.
pub fn has_lanes_by_receiver(name: &str) -> bool {
    MEDIA.iter().any(|row| row.name == name && row.build.lanes_by_receiver)
}

/// Whether this medium has a station, by which all others communicate.
pub fn needs_station(name: &str) -> bool {
    MEDIA.iter().any(|row| row.name == name && row.build.needs_station)
}

/// The option of the medium with this name that is a rate like that of a link, if it has one.
pub fn rate_option(name: &str) -> Option<Key<Component>> {
    MEDIA.iter().find(|row| row.name == name).and_then(|row| row.build.rate)
}

/// The outlook of a way over the medium with this name; `None` if that has no link layer, or options that cannot be used.
pub fn outlook(name: &str, way: &Way<'_>) -> Option<Outlook> {
    MEDIA.iter().find(|row| row.name == name).and_then(|row| (row.build.outlook)(way))
}

/// Checks the options of the medium with this name, each of which is valid: those of the medium, or those of the medium
/// with an attachment's own in their place.
///
/// # Errors
/// The option that no medium accepts, and what is expected.
pub fn check(name: &str, arguments: &Arguments, attached: Attached<'_>) -> Result<(), OptionError> {
    if let Some(row) = MEDIA.iter().find(|row| row.name == name) {
        (row.build.check)(arguments, attached)?;
    }
    let Some((option, rate)) = rate_option(name).and_then(|option| Some((option, arguments.chosen(option)?)))
    else {
        return Ok(());
    };
    let server = rate::build(rate.name, &rate.arguments, Generator::new(0, "check"));
    if server.is_ok_and(|server| server.asks_for_queue()) {
        let problem = "only a single queue can request capacity, but each attachment has its own; expected \
                       another rate";
        return Err((option.name, problem.to_owned()));
    }
    Ok(())
}

/// Builds the medium with this name.
///
/// # Errors
/// If the table has no such row, or the options cannot be used.
pub fn build(name: &str, options: &MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError> {
    let attached = Attached { names: &options.nodes(), station: options.station };
    check(name, options.arguments, attached)
        .map_err(|(option, problem)| BuildError::Option { option, problem })?;
    match MEDIA.iter().find(|row| row.name == name) {
        Some(row) => (row.build.build)(options),
        None => Err(BuildError::Unknown { room: "media", name: name.to_owned() }),
    }
}
