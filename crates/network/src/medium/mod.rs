//! Media: carriers that any number of nodes are attached to.
//!
//! A medium decides who sends when and who gets what. It is made of the parts of a link: each attachment has a buffer of its
//! own ([`crate::queue::QUEUES`]), and rates, losses and the delay line are those of links.

mod shared;

use crate::buffer::{CarrierStats, Overflow, QueueDelays};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use random::Stream;
use trace::{Interest, Log};
use units::parameter::{Arguments, Room, Row};
use units::{Duration, Rate, Size, Time};

/// A carrier that any number of nodes are attached to. It has one timer. Attachments are numbered from 0 in the order of the
/// scenario; a station, if there is one, is the first.
///
/// Time never goes back from one call to the next.
pub trait Medium {
    /// A packet comes from one attachment, for another one that it reaches.
    fn offer(&mut self, now: Time, ends: (u16, u16), packet: Box<Packet>, exits: &mut Exits);
    /// Whether anything happens up to and at `now`.
    fn is_due(&self, now: Time) -> bool;
    /// The next packet that has reached its attachment by `now`, and which one that is.
    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)>;
    /// When the medium must be woken; `None`: not before the next packet.
    fn wake_at(&self) -> Option<Time>;
    /// Does all that happens up to and at `now`, but for the deliveries, and brings the counters up to now.
    fn catch_up(&mut self, now: Time, exits: &mut Exits);
    /// The books of an attachment.
    fn attachment(&self, number: usize) -> AttachmentView<'_>;
    /// The events of an attachment that wait for a sink, in the order of time.
    fn log(&mut self, number: usize) -> &mut Log;
    /// What an attachment had no room for, if anything: its name, and what.
    fn overflow(&self) -> Option<(&str, Overflow)>;
    /// Packets of a flow that were dropped or lost.
    fn drops_of(&self, flow: u32) -> u64;
    /// The propagation delay from any attachment to any other.
    fn delay(&self) -> Duration;
    /// The mean of its rate over time, all attachments together; `None` if it is unlimited.
    fn mean_rate(&self) -> Option<Rate>;
    /// What all attachments together can send from one time up to another, in bytes; `None` if it is unlimited.
    fn capacity(&self, from: Time, to: Time) -> Option<Size>;
}

/// What an attachment of a medium has done: as a sender, and as a receiver.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentView<'a> {
    /// What became of the packets that its node sent. `busy` is the time in which it was sending.
    pub stats: CarrierStats,
    /// Packets that reached its node.
    pub received: crate::count::Count,
    /// How long packets waited before their transmission, if that is counted.
    pub delays: Option<&'a QueueDelays>,
}

/// What a medium is made from.
#[derive(Clone, Copy)]
pub struct MediumOptions<'a> {
    /// The values of the row's options.
    pub arguments: &'a Arguments,
    /// The attachments in their order: the name for errors and random streams, one of its own in the run
    /// (`"medium air phone"`), and the values of the row's options for this one.
    pub attachments: &'a [(String, Arguments)],
    /// Whether the first attachment is a station, by which the others communicate.
    pub station: bool,
    /// The name for errors and random streams: `"medium air"`.
    pub name: &'a str,
    /// The random stream of a name.
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// The numbers of flows by their names, for queues that a scenario tells them to.
    pub flows: &'a [(String, u32)],
    /// Whether the delay of each packet in the queues is counted.
    pub delays: bool,
    /// What is noted in the logs.
    pub interest: Interest,
}

/// How a medium is made.
#[derive(Debug, Clone, Copy)]
pub struct Making {
    /// The options that may be given for a single attachment.
    pub of_attachment: &'static [&'static str],
    /// The options with which the laws of media are tested.
    pub samples: Samples,
    /// Makes it.
    pub build: fn(&MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError>,
}

/// Values of options, as in a scenario.
pub type Sample = &'static [(&'static str, &'static str)];

/// The options with which the laws of media are tested.
#[derive(Debug, Clone, Copy)]
pub struct Samples {
    /// Options with which some of 200 packets from each of four nodes are dropped or lost.
    pub lossy: Sample,
    /// Options with which none is.
    pub lossless: Sample,
}

/// The media.
pub static MEDIA: &[Row<Making>] = &[shared::ROW];

/// The media as scenarios and `quiclab list` see them.
pub fn room() -> Room {
    Room::of("media", "carriers that any number of nodes are attached to", MEDIA, None)
}

/// The options of a medium that may be given for a single attachment; none if there is no such medium.
pub fn options_of_attachment(name: &str) -> &'static [&'static str] {
    MEDIA.iter().find(|row| row.name == name).map_or(&[], |row| row.build.of_attachment)
}

/// Makes the medium of this name.
///
/// # Errors
/// If the table has no such row, or the options cannot be used.
pub fn build(name: &str, options: &MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError> {
    match MEDIA.iter().find(|row| row.name == name) {
        Some(row) => (row.build.build)(options),
        None => Err(BuildError::Unknown { room: "media", name: name.to_owned() }),
    }
}
