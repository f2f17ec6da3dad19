//! Queues written in Python: the queue of `network` that calls them.
//!
//! Python is called for each packet that arrives and for each that leaves. The packets themselves stay here, so that
//! none is lost, sent twice or made up, and the length of the queue is always right.

use crate::error::Error;
use crate::outside::{Code, Object, nonsense, place_of_method, started};
use crate::packet::Custody;
use lab::outside::PlugError;
use network::queue::{self, LinkProperties, MAX_PACKETS, Queue, QueueError, Report, Waiting};
use network::{Count, Packet, Port};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use random::Generator;
use units::Time;
use units::parameter::{Arguments, Row};

/// Adds a class to the queues.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |arguments: &Arguments, setup: LinkProperties<'_>, stream| {
        let queue = PythonQueue::new(&code, arguments, setup, stream).map_err(QueueError::Outside)?;
        Ok(Waiting::Other(Box::new(queue)))
    };
    queue::plug(face.built_by(Box::leak(Box::new(build))))
}

/// A queue that calls a Python object.
struct PythonQueue {
    object: Object,
    packets: Custody,
}

impl PythonQueue {
    fn new(
        code: &Code,
        arguments: &Arguments,
        setup: LinkProperties<'_>,
        stream: Generator,
    ) -> Result<PythonQueue, String> {
        let object = started(code, arguments, stream, |py, object| {
            let flows = PyDict::new(py);
            setup.flows.iter().try_for_each(|(name, number)| flows.set_item(number, name))?;
            object.setattr(intern!(py, "flows"), flows)?;
            object.setattr(intern!(py, "rate_bps"), setup.rate.map(|rate| rate.as_bits_per_sec() as f64))?;
            object.setattr(intern!(py, "round_trip_s"), setup.round_trip.as_secs_f64())?;
            object.setattr(intern!(py, "mtu_bytes"), setup.mtu)
        })?;
        Ok(PythonQueue { object, packets: Custody::new(false) })
    }

    /// Does what Python has said of packets.
    fn settle(&mut self, report: &mut Report) {
        report.marked += self.packets.settle(|_, packet| report.dropped.push(packet));
    }

    /// The number of the packet that Python chooses; `None` if it drops all that wait.
    fn choose(&mut self, now: Time, report: &mut Report) -> Option<u64> {
        let (object, packets) = (&mut self.object, &self.packets);
        let chosen = object.call(|py, object| {
            let given = object.call_method1(intern!(py, "dequeue"), (now.as_secs_f64(),))?;
            if given.is_none() {
                return Ok(None);
            }
            let number = packets.number_of(&given);
            let wrong =
                || nonsense(object, "dequeue", &given, "a packet that waits, or None if all were dropped");
            number.map(Some).ok_or_else(wrong)
        });
        self.settle(report);
        let left = self.packets.count().packets;
        if chosen == Some(None) && left > 0 {
            self.object.call(|_, object| -> PyResult<()> {
                let place = place_of_method(object, "dequeue");
                let problem = format!("dequeue gave None while {left} packets wait; expected one of them");
                Err(Error::new_err(format!("{place}{problem}")))
            });
        }
        chosen.flatten()
    }
}

impl Queue for PythonQueue {
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) {
        if self.packets.count().packets >= MAX_PACKETS {
            report.overflow = true;
            report.drop(packet);
            return;
        }
        let (object, packets) = (&mut self.object, &mut self.packets);
        let number = packets.take(packet);
        object.call(|py, object| {
            let face = packets.face(py, now, number, Port(0))?;
            object.call_method1(intern!(py, "enqueue"), (face, now.as_secs_f64())).map(drop)
        });
        self.settle(report);
    }

    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>> {
        if self.packets.count().packets == 0 {
            return None;
        }
        match self.choose(now, report) {
            Some(number) => self.packets.release(number),
            // Nothing waits, or the run ends with an error.
            None => self.packets.release_first(),
        }
    }

    fn waiting(&self) -> Count {
        self.packets.count()
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.each(show);
    }
}
