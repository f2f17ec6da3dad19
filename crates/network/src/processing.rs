//! The processing of packets at a node: one server, and a queue before it.
//!
//! A packet that arrives at the node, to stay or to pass, waits in the queue until the server has finished all packets before it.
//! It is then served for a time that depends on what it is and on its size, and only after that the node has it: a host hands it to
//! an endpoint, a middlebox looks at it, a router sends it on. What a host sends itself takes no time.
//!
//! At one instant, packets that arrive at the node precede the end of a service.

use crate::address::Port;
use crate::books::PacketBooks;
use crate::buffer::{Buffer, BufferOptions, CarrierStats, Overflow, QueueDelays};
use crate::error::BuildError;
use crate::exits::Exits;
use crate::packet::Packet;
use crate::queue::LinkProperties;
use random::Generator;
use trace::{Interest, Log};
use units::parameter::{Arguments, Component, Limit, OptionError, Options, Room, Row, Value};
use units::{Duration, Time};

/// The room of processing.
pub const ROOM: &str = "processing";

static ROWS: &[Row<()>] = &[Row {
    name: "server",
    about: "one server with a queue, through which all packets pass that arrive at a node",
    parameters: ServerOptions::PARAMETERS,
    build: (),
}];

/// The options of a server.
#[derive(Debug, Clone, Options)]
pub struct ServerOptions {
    /// time for each packet
    #[option(default = "0 s")]
    pub packet: Duration,
    /// time for a packet without application data, such as one with only acknowledgements (default: packet)
    pub ack: Option<Duration>,
    /// time for each byte of a packet, IP header included, in addition
    #[option(default = "0 s")]
    pub byte: Duration,
    /// limit of the queue, in packets or bytes; further packets are dropped (1000: net.core.netdev_max_backlog of
    /// Linux)
    #[option(default = "1000 packets")]
    pub queue: Limit,
}

/// The processing of nodes as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of(ROOM, "the time that a node takes for packets", ROWS, None).checked_by(check)
}

/// A server has no rate by which a time becomes a number of bytes.
fn check(_: &str, arguments: &Arguments) -> Result<(), OptionError> {
    match ServerOptions::of(arguments).queue {
        Limit::Time(_) | Limit::BdpThousandths(_) => {
            let problem =
                "the server of a node has no rate; expected a number of packets or bytes, or \"unlimited\"";
            Err(("queue", problem.to_owned()))
        }
        _ => Ok(()),
    }
}

/// The inputs for building a processor.
#[derive(Debug, Clone, Copy)]
pub struct ProcessorOptions<'a> {
    /// The options of the only row of the room.
    pub arguments: &'a Arguments,
    /// The name for errors.
    pub name: &'a str,
    /// Whether the queueing delay of each packet is counted.
    pub delays: bool,
    /// The kinds of events in its log.
    pub interest: Interest,
}

/// The server of a node, and its queue.
pub struct Processor {
    buffer: Buffer,
    packet: Duration,
    ack: Duration,
    byte: Duration,
    /// The packet in service, since when, and until when.
    serving: Option<(Time, Time, Box<Packet>)>,
    /// The time of completed services.
    busy: Duration,
}

/// How long a node takes for a packet without application data: as long as for others where nothing else is given.
pub fn ack_time(arguments: &Arguments) -> Duration {
    ServerOptions::of(arguments).ack_time()
}

impl ServerOptions {
    fn ack_time(&self) -> Duration {
        self.ack.unwrap_or(self.packet)
    }
}

impl Processor {
    /// Creates an idle server.
    ///
    /// # Errors
    /// If an option cannot be used.
    pub fn new(options: &ProcessorOptions<'_>) -> Result<Processor, BuildError> {
        let server = ServerOptions::of(options.arguments);
        let limit = Arguments(vec![("limit", Value::Limit(server.queue))]);
        let queue = Component { room: "queues", name: "drop-tail", arguments: limit };
        let buffer = BufferOptions {
            queue: &queue,
            name: options.name,
            setup: LinkProperties { rate: None, round_trip: Duration::ZERO, mtu: u32::MAX, flows: &[] },
            delays: options.delays,
            interest: options.interest,
        };
        Ok(Processor {
            // A drop-tail queue draws nothing.
            buffer: Buffer::new(&buffer, Generator::new(0, options.name))?,
            packet: server.packet,
            ack: server.ack_time(),
            byte: server.byte,
            serving: None,
            busy: Duration::ZERO,
        })
    }

    /// The counters up to the last time at which the processor caught up.
    pub fn stats(&self) -> CarrierStats {
        let mut stats = self.buffer.stats;
        let mut serving = crate::count::Count::default();
        stats.busy = self.busy;
        if let Some((from, end, packet)) = &self.serving {
            stats.busy += stats.until.min(*end).since(*from);
            serving.add(packet.size);
        }
        CarrierStats { inside: self.buffer.inside(serving), ..stats }
    }
    /// The queueing delays before service, if they are counted.
    pub fn delays(&self) -> Option<&QueueDelays> {
        self.buffer.delays()
    }
    /// The name.
    pub fn name(&self) -> &str {
        self.buffer.name()
    }
    /// The events that no sink has taken, in the order of time.
    pub fn log(&mut self) -> &mut Log {
        self.buffer.log()
    }
    /// The memory that has overflowed, if any.
    pub(crate) fn overflow(&self) -> Option<Overflow> {
        self.buffer.overflow()
    }
    /// Adds what came of packets here to books.
    pub(crate) fn account(&self, books: &mut PacketBooks) {
        self.buffer.account(books);
        self.serving.iter().for_each(|(_, _, packet)| books.hold(packet));
    }
    /// Updates the counters to the current time.
    pub(crate) fn catch_up(&mut self, now: Time) {
        self.buffer.catch_up(now);
    }

    /// Takes a packet that arrived by a port.
    pub(crate) fn offer(&mut self, now: Time, port: Port, mut packet: Box<Packet>, exits: &mut Exits) {
        packet.leave_by(port);
        self.buffer.catch_up(now);
        let Some(packet) = self.buffer.admit(now, packet, exits) else { return };
        if self.serving.is_some() {
            self.buffer.enqueue(now, packet, exits);
        } else if let Some(packet) = self.buffer.pass(now, packet, exits) {
            self.serve(now, packet);
        }
    }

    /// Stops unless the server works while packets wait.
    fn check(&self) {
        self.buffer.check();
        assert!(self.serving.is_some() || !self.buffer.is_waiting(), "a server with a queue is not idle");
        let ends = self.serving.as_ref().is_none_or(|(from, end, _)| from <= end);
        assert!(ends, "{}: a service ends after it began", self.name());
    }
    fn serve(&mut self, now: Time, packet: Box<Packet>) {
        debug_assert!(self.serving.is_none(), "a server takes one packet at a time");
        self.buffer.note_start(now, &packet);
        let each = if packet.data { self.packet } else { self.ack };
        let bytes = self.byte.as_nanos().saturating_mul(packet.size.into());
        self.serving = Some((now, now + each + Duration::from_nanos(bytes), packet));
    }

    /// The time at which the packet in service is finished.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.serving.as_ref().map(|(_, end, _)| *end)
    }

    /// The packet whose service has ended by `now`, with the port by which it arrived; the next one's service begins.
    pub(crate) fn deliver(&mut self, now: Time, exits: &mut Exits) -> Option<(Port, Box<Packet>)> {
        let (from, end, mut packet) = self.serving.take_if(|(_, end, _)| *end <= now)?;
        self.busy += end.since(from);
        self.buffer.note_delivered(end, packet.size);
        if self.buffer.is_waiting()
            && let Some((_, next)) = self.buffer.dequeue(end, exits)
        {
            self.serve(end, next);
        }
        if cfg!(debug_assertions) {
            self.check();
        }
        let port = packet.take_exit().expect("a packet in service has the port by which it came");
        Some((port, packet))
    }
}
