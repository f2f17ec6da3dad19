//! Middleboxes written in Python: the middlebox of `network` that calls them.
//!
//! Python is called for each packet that arrives, and when its timer expires. The packets stay here until it says that
//! they are sent or dropped.

use crate::outside::{Code, Object, Wake, started, wake_of};
use crate::packet::{Custody, Fate};
use lab::outside::PlugError;
use network::middlebox::{self, Middlebox, MiddleboxOptions, Profile};
use network::{BuildError, Exits, Ledger, Node, Packet, PacketBooks, Port};
use pyo3::intern;
use pyo3::prelude::*;
use trace::{Event, Log};
use units::parameter::Row;
use units::{Duration, Time};

/// The reason of drops in the records.
const REASON: &str = "own";

/// Adds a class to the middleboxes.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |options: &MiddleboxOptions<'_>| -> Result<Box<dyn Middlebox>, BuildError> {
        Ok(Box::new(PythonMiddlebox::new(&code, options).map_err(BuildError::Outside)?))
    };
    let build = Box::leak(Box::new(build));
    middlebox::plug(face.built_by(Profile { remembers: false, at_hosts: true, build }))
}

#[derive(Default)]
struct Counters {
    arrived: u64,
    sent: u64,
    dropped: u64,
    marked: u64,
}

/// A middlebox that calls a Python object.
struct PythonMiddlebox {
    object: Object,
    packets: Custody,
    /// When Python wants to be called.
    wake: Option<Wake>,
    counters: Counters,
    /// Dropped packets by flow.
    drops: Ledger,
    log: Log,
}

impl PythonMiddlebox {
    fn new(code: &Code, options: &MiddleboxOptions<'_>) -> Result<PythonMiddlebox, String> {
        let stream = options.stream("own");
        let mut object = started(code, options.arguments, stream, |py, object| {
            object.setattr(intern!(py, "carriers"), options.carriers)
        })?;
        let wake = object.try_call(|_, object| wake_of(object, "start", Time::ZERO))?;
        Ok(PythonMiddlebox {
            object,
            packets: Custody::new(true),
            wake,
            counters: Counters::default(),
            drops: Ledger::default(),
            log: Log::new(options.interest),
        })
    }

    /// Does what Python has said of packets.
    fn settle(&mut self, now: Time, exits: &mut Exits) {
        let PythonMiddlebox { packets, counters, drops, log, .. } = self;
        counters.marked += packets.settle(|fate, packet| {
            if fate == Fate::Send {
                counters.sent += 1;
                exits.send(packet);
                return;
            }
            counters.dropped += 1;
            drops.add(packet.flow, packet.size);
            if log.interest().losses() {
                log.push(now, Event::NetworkDrop { length: packet.size, reason: REASON });
            }
            exits.discard(packet);
        });
    }
}

impl Node for PythonMiddlebox {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.counters.arrived += 1;
        let packets = &mut self.packets;
        let number = packets.take(packet);
        let wake = self.object.call(|py, object| {
            let face = packets.face(py, now, number, port)?;
            object.call_method1(intern!(py, "on_packet"), (face, now.as_secs_f64()))?;
            wake_of(object, "on_packet", now)
        });
        // After an error the timer is off until the run ends.
        self.wake = wake.flatten();
        self.settle(now, exits);
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        let Some(Wake { seconds, .. }) = self.wake.filter(|wake| wake.at <= now) else { return };
        let wake = self.object.call(|py, object| {
            object.setattr(intern!(py, "wake_s"), py.None())?;
            object.call_method1(intern!(py, "on_wake"), (seconds,))?;
            // One that expires again and again would stop the time.
            wake_of(object, "on_wake", now + Duration::from_nanos(1))
        });
        self.wake = wake.flatten();
        self.settle(now, exits);
    }

    fn wake_at(&self) -> Option<Time> {
        self.wake.map(|wake| wake.at)
    }

    fn takes_transit(&self) -> bool {
        true
    }

    fn account(&self, books: &mut PacketBooks) {
        books.dropped.merge(&self.drops);
        self.packets.each(&mut |packet| books.hold(packet));
    }
}

impl Middlebox for PythonMiddlebox {
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counters { arrived, sent, dropped, marked } = self.counters;
        let held = self.packets.count().packets;
        debug_assert_eq!(arrived, sent + dropped + held, "each packet is sent, dropped or here");
        vec![
            ("arrived_packets", arrived),
            ("sent_packets", sent),
            ("dropped_packets", dropped),
            ("marked_packets", marked),
            ("held_packets", held),
        ]
    }

    fn log(&mut self) -> &mut Log {
        &mut self.log
    }
}
