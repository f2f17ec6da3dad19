//! Media: carriers with any number of attached nodes.
//!
//! A medium decides which node sends when, and which receives what. It consists of the parts of a link: each
//! attachment has its own buffer ([`crate::queue::QUEUES`]), and rates, losses and the delay line are those of
//! links.

mod shared;

use crate::buffer::{CarrierStats, Overflow, QueueDelays};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::rate;
use random::Stream;
use trace::{Interest, Log};
use units::parameter::{Arguments, OptionError, Room, Row, Value};
use units::{Duration, Rate, Size, Time};

/// A carrier with any number of attached nodes. It has one timer. Attachments are numbered from 0 in the order
/// of the scenario; the first is the station, if there is one.
///
/// Time never goes back from one call to the next.
pub trait Medium {
    /// Takes a packet from one attachment for another that it can reach, and notes both in the packet
    /// (`Packet::attach`).
    fn offer(&mut self, now: Time, ends: (u16, u16), packet: Box<Packet>, exits: &mut Exits);
    /// Whether anything happens up to and at `now`.
    fn is_due(&self, now: Time) -> bool;
    /// The next packet that has reached its attachment by `now`, with that attachment (`Packet::detach`).
    fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(u16, Box<Packet>)>;
    /// The time of the timer; `None` if nothing happens before the next packet.
    fn wake_at(&self) -> Option<Time>;
    /// Processes everything up to and at `now` except deliveries, and updates the counters.
    fn catch_up(&mut self, now: Time, exits: &mut Exits);
    /// The counters of an attachment.
    fn attachment(&self, number: usize) -> AttachmentView<'_>;
    /// The events of an attachment that no sink has taken, in the order of time.
    fn log(&mut self, number: usize) -> &mut Log;
    /// The attachment whose memory has overflowed, if any, by its name, and what overflowed.
    fn overflow(&self) -> Option<(&str, Overflow)>;
    /// Packets of a flow that were dropped or lost.
    fn drops_of(&self, flow: u32) -> u64;
    /// The propagation delay from any attachment to any other.
    fn delay(&self) -> Duration;
    /// The mean rate over time of all attachments together; `None` if it is unlimited.
    fn mean_rate(&self) -> Option<Rate>;
    /// The bytes that all attachments together can send between two times; `None` if that is unlimited.
    fn capacity(&self, from: Time, to: Time) -> Option<Size>;
}

/// The counters of an attachment of a medium, as a sender and as a receiver.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentView<'a> {
    /// The packets sent by its node. `busy` is the time in which it was sending.
    pub stats: CarrierStats,
    /// The packets that have reached its node.
    pub received: crate::count::Count,
    /// The queueing delays before transmission, if they are counted.
    pub delays: Option<&'a QueueDelays>,
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
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// The numbers of flows by name, for queues with options about flows.
    pub flows: &'a [(String, u32)],
    /// Whether the delay of each packet in the queues is counted.
    pub delays: bool,
    /// The interest of the logs.
    pub interest: Interest,
}

/// The properties of a medium that are known before it is built.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The options that can differ between attachments.
    pub of_attachment: &'static [&'static str],
    /// The options with which the laws of media are tested.
    pub samples: Samples,
    /// Builds it.
    pub build: fn(&MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError>,
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
pub static MEDIA: &[Row<Profile>] = &[shared::ROW];

/// The room of the media as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("media", "carriers that any number of nodes are attached to", MEDIA, None)
}

/// The options of a medium that can differ between attachments; none if there is no such medium.
pub fn options_of_attachment(name: &str) -> &'static [&'static str] {
    MEDIA.iter().find(|row| row.name == name).map_or(&[], |row| row.build.of_attachment)
}

/// Checks the options of a medium, each of which is valid.
///
/// # Errors
/// The option that no medium accepts, and what is expected.
pub fn check(arguments: &Arguments) -> Result<(), OptionError> {
    let Some(Value::Component(rate)) = arguments.get("rate") else { return Ok(()) };
    let server = rate::build(rate.name, &rate.arguments, Stream::new(0, "check"));
    if server.is_ok_and(|server| server.asks_for_queue()) {
        let problem =
            "capacity is requested by a single queue, and each attachment has one; expected another rate";
        return Err(("rate", problem.to_owned()));
    }
    Ok(())
}

/// Builds the medium with this name.
///
/// # Errors
/// If the table has no such row, or the options cannot be used.
pub fn build(name: &str, options: &MediumOptions<'_>) -> Result<Box<dyn Medium>, BuildError> {
    check(options.arguments).map_err(|(option, problem)| BuildError::Option { option, problem })?;
    match MEDIA.iter().find(|row| row.name == name) {
        Some(row) => (row.build.build)(options),
        None => Err(BuildError::Unknown { room: "media", name: name.to_owned() }),
    }
}
