//! One end of a mix: passes each event to the part that it concerns.

use super::routes::{Local, Routes};
use super::transport::PartTransport;
use transport::{Application, Event, Part, Progress, Report, Transport};
use units::Time;
use wire::{Reader, Side, StreamId};

/// The error code for streams and datagrams that belong to no part.
const UNKNOWN_PART: u64 = 3;

/// One end of a part.
pub(super) struct PartEnd {
    /// The name in the summary.
    pub(super) name: String,
    /// The name of its row, without the folder of a class.
    pub(super) application: &'static str,
    /// Its protocol.
    pub(super) alpn: &'static [u8],
    pub(super) end: Box<dyn Application>,
}

/// One end of the mix.
pub(super) struct MixEnd {
    side: Side,
    parts: Vec<PartEnd>,
    routes: Routes,
    finished_at: Option<Time>,
}

impl MixEnd {
    pub(super) fn new(side: Side, parts: Vec<PartEnd>) -> MixEnd {
        let alpns = parts.iter().map(|part| part.alpn).collect();
        MixEnd { side, routes: Routes::of(alpns), parts, finished_at: None }
    }

    fn deliver(&mut self, now: Time, part: u32, event: &Event, transport: &mut dyn Transport) {
        let Some(found) = self.parts.get_mut(part as usize) else { return };
        let (no_error, side) = (found.end.no_error(), self.side);
        let mut view = PartTransport { inner: transport, routes: &mut self.routes, side, part, no_error };
        found.end.on_event(now, event, &mut view);
    }

    /// Calls `act` with the transport as view by the part that owns the stream.
    fn view(
        &mut self,
        real: StreamId,
        transport: &mut dyn Transport,
        act: impl FnOnce(&mut PartTransport<'_>),
    ) {
        if let Some((part, _)) = self.routes.local(real) {
            let no_error = self.parts.get(part as usize).map_or(0, |found| found.end.no_error());
            let side = self.side;
            act(&mut PartTransport { inner: transport, routes: &mut self.routes, side, part, no_error });
        }
    }

    fn broadcast(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        for part in 0..self.parts.len() as u32 {
            self.deliver(now, part, event, transport);
        }
    }

    /// Passes an event to the part that owns the stream, with the part's number of the stream.
    fn deliver_to_owner(
        &mut self,
        now: Time,
        real: StreamId,
        event: impl Fn(StreamId) -> Event,
        transport: &mut dyn Transport,
    ) {
        if let Some((part, local)) = self.routes.local(real) {
            self.deliver(now, part, &event(local), transport);
        }
    }

    fn on_readable(&mut self, now: Time, real: StreamId, transport: &mut dyn Transport) {
        if self.routes.local(real).is_none() {
            let Some(((part, local), finished)) = self.read_label(real, transport) else { return };
            self.deliver(now, part, &Event::Opened(local), transport);
            self.routes.ended = finished.then_some(real);
        }
        self.deliver_to_owner(now, real, Event::Readable, transport);
        self.routes.ended = None;
    }

    /// Reads the label at the start of a stream, byte by byte, so that no data of the part is consumed. Returns its owner, and
    /// whether the stream ends with the label.
    fn read_label(&mut self, real: StreamId, transport: &mut dyn Transport) -> Option<(Local, bool)> {
        let mut byte = [0];
        let problem = loop {
            let read = transport.read(real, &mut byte).ok()?;
            let found = if read.bytes == 1 { self.routes.take_byte(real, byte[0]) } else { Ok(None) };
            match (found, read) {
                (Ok(Some(found)), read) => return Some((found, read.finished)),
                (Ok(None), read) if read.finished => break "a stream without the number of its part",
                (Ok(None), read) if read.bytes == 0 => return None,
                (Ok(None), _) => {}
                (Err(problem), _) => break problem,
            }
        };
        transport.close(UNKNOWN_PART, problem);
        None
    }

    fn on_datagrams(&mut self, now: Time, transport: &mut dyn Transport) {
        let mut bytes = Vec::new();
        while transport.read_datagram(Some(&mut bytes)).is_some() {
            let mut reader = Reader::new(&bytes);
            match reader.varint().ok().and_then(|part| u32::try_from(part).ok()) {
                Some(part) if (part as usize) < self.parts.len() => {
                    self.routes.arrived = Some(reader.rest().to_vec());
                    self.deliver(now, part, &Event::DatagramReadable, transport);
                    self.routes.arrived = None;
                }
                _ => return transport.close(UNKNOWN_PART, "a datagram for a part that does not exist"),
            }
            bytes.clear();
        }
    }

    fn end(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.side == Side::Client
            && self.finished_at.is_none()
            && self.routes.parts.iter().all(|part| part.done)
        {
            self.finished_at = Some(now);
            transport.close(0, "done");
        }
    }
}

impl Application for MixEnd {
    fn on_open(&mut self, now: Time) {
        self.parts.iter_mut().for_each(|part| part.end.on_open(now));
    }

    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            // The label of the stream identifies its owner.
            Event::Opened(_) => {}
            Event::Readable(real) => self.on_readable(now, real, transport),
            Event::Writable(real) => {
                self.view(real, transport, |view| view.resume(real));
                self.deliver_to_owner(now, real, Event::Writable, transport);
            }
            Event::Delivered(real) => {
                self.routes.delivered(real);
                self.deliver_to_owner(now, real, Event::Delivered, transport);
            }
            Event::Stopped { stream, code } => {
                self.deliver_to_owner(now, stream, |stream| Event::Stopped { stream, code }, transport);
            }
            Event::Reset { stream, code } => {
                if self.routes.local(stream).is_none() {
                    // The stream belongs to no part yet.
                    let _ = transport.stop(stream, 0);
                }
                self.deliver_to_owner(now, stream, |stream| Event::Reset { stream, code }, transport);
            }
            Event::Closed { stream, sent, received } => {
                let closed = |stream| Event::Closed { stream, sent, received };
                self.deliver_to_owner(now, stream, closed, transport);
                self.routes.closed(stream);
            }
            Event::DatagramReadable => self.on_datagrams(now, transport),
            Event::DatagramAcked(number) | Event::DatagramLost(number) => {
                if let Some(part) = self.routes.datagrams.remove(&number) {
                    self.deliver(now, part, event, transport);
                }
            }
            _ => self.broadcast(now, event, transport),
        }
        self.end(now, transport);
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        for part in 0..self.parts.len() as u32 {
            let found = &mut self.parts[part as usize];
            if found.end.wake_at().is_some_and(|at| at <= now) {
                let (no_error, side) = (found.end.no_error(), self.side);
                let mut view =
                    PartTransport { inner: transport, routes: &mut self.routes, side, part, no_error };
                found.end.on_wake(now, &mut view);
            }
        }
        self.end(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        self.parts.iter().filter_map(|part| part.end.wake_at()).min()
    }

    /// That of the parts that receive at this end, or else whether all is sent.
    fn progress(&self) -> Progress {
        let all = self.parts.iter().map(|part| part.end.progress());
        let none = Progress { finished_at: self.finished_at, ..Progress::default() };
        all.fold(none, Progress::joined)
    }

    fn report(&mut self, now: Time) -> Report {
        let mut playback = None;
        let mut parts = Vec::new();
        for (number, part) in self.parts.iter_mut().enumerate() {
            let Report { progress, tally, playback: played, .. } = part.end.report(now);
            parts.push(Part { name: part.name.clone(), progress, tally });
            // There is one player at most.
            if let Some(mut played) = played {
                for segment in &mut played.segments {
                    let local = segment.stream.map(StreamId::from_value);
                    segment.stream = local.and_then(|local| self.routes.opened_as(number as u32, local));
                }
                playback = Some(played);
            }
        }
        Report { parts, playback, progress: self.progress(), ..Report::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, stream};
    use wire::Direction;

    /// A part that reads datagrams.
    struct Part;

    impl Application for Part {
        fn on_event(&mut self, _: Time, event: &Event, transport: &mut dyn Transport) {
            if *event == Event::DatagramReadable {
                // It reads everything available, which must not include datagrams of other parts.
                while transport.read_datagram(None).is_some() {}
            }
        }
        fn progress(&self) -> Progress {
            Progress::default()
        }
    }

    fn server() -> MixEnd {
        let part =
            || PartEnd { name: "part".to_owned(), application: "part", alpn: b"part", end: Box::new(Part) };
        MixEnd::new(Side::Server, vec![part(), part()])
    }

    #[test]
    fn data_of_an_unknown_part_ends_the_connection() {
        let id = stream(0, Direction::Bidirectional);
        let streams: [(&[u8], bool, &str); 5] = [
            (&[2, 0], false, "a stream for a part that does not exist"),
            (&[0xff; 16], false, "a stream for a part that does not exist"),
            (
                &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                false,
                "a stream number that is too large",
            ),
            (&[], true, "a stream without the number of its part"),
            (&[1], true, "a stream without the number of its part"),
        ];
        for (bytes, end, problem) in streams {
            let (mut mix, mut fake) = (server(), Fake::default());
            fake.put(id, bytes, end);
            mix.on_event(Time::ZERO, &Event::Readable(id), &mut fake);
            assert_eq!(fake.closed, Some((UNKNOWN_PART, problem.to_owned())), "{bytes:?}");
        }
        for (datagram, known) in [
            (vec![], false),
            (vec![2, 1, 1], false),
            (vec![0x40], false),
            (vec![1], true),
            (vec![0, 9], true),
        ] {
            let (mut mix, mut fake) = (server(), Fake::default());
            fake.datagrams.push_back(datagram.clone());
            mix.on_event(Time::ZERO, &Event::DatagramReadable, &mut fake);
            let problem = "a datagram for a part that does not exist".to_owned();
            assert_eq!(fake.closed, (!known).then_some((UNKNOWN_PART, problem)), "{datagram:?}");
        }
    }

    #[test]
    fn a_label_may_arrive_byte_by_byte() {
        let id = stream(3, Direction::Unidirectional);
        let (mut mix, mut fake) = (server(), Fake::default());
        for byte in [1, 0x40] {
            fake.put(id, &[byte], false);
            mix.on_event(Time::ZERO, &Event::Readable(id), &mut fake);
            assert_eq!(mix.routes.local(id), None);
        }
        fake.put(id, &[70, 1, 2, 3], false);
        mix.on_event(Time::ZERO, &Event::Readable(id), &mut fake);
        assert_eq!(mix.routes.local(id), Some((1, stream(70, Direction::Unidirectional))));
        assert_eq!((fake.incoming[&id].0.len(), fake.closed), (3, None));
    }
}
