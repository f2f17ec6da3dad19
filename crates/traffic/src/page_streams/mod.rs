//! Web pages as in ns-3's extended QUIC module (Paro et al., MSWiM 2020, section 4.2): a single request for a page and
//! all of its objects in order, with main and small objects on one stream and large ones on another.
//!
//! The client sends a request on a bidirectional stream: the line `GET /<page>`, padded to the size of the request. The
//! server opens two unidirectional streams for the page and writes everything at once. The content is virtual. Both
//! ends draw the same pages.

mod loading;

use crate::priorities::{LatenciesOptions, Priorities, PriorityLists, UrgenciesOptions};
use crate::{Ends, Profile};
use loading::{Loading, STREAMS, stream_of};
use pages::{Page, Pages};
use std::collections::{BTreeMap, VecDeque};
use transport::{Application, Data, Event, Progress, Report, StreamError, Transport};
use units::parameter::{Arguments, Component, Options, Row};
use units::{Duration, Size, Time};
use wire::{Direction, Side, StreamId};

/// The options of pages on two streams.
#[derive(Debug, Clone, Options)]
struct PageStreamsOptions {
    /// where the pages come from
    #[option(default = "ns3", room = "pages")]
    page: Component,
    /// number of pages, one after the other, with the reading times between them
    #[option(default = 1, within = 1..=10_000)]
    pages: u64,
    /// embedded objects of this size and larger go on the second stream
    #[option(default = "12 kB")]
    threshold: Size,
    #[options(urgencies = [0, 1])]
    urgencies: UrgenciesOptions,
    #[options]
    latencies: LatenciesOptions,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "page-streams",
    about: "web pages on two streams each: main and small objects on the first, large ones on the second (ns-3's QUIC module)",
    parameters: PageStreamsOptions::PARAMETERS,
    build: Profile::of(&build),
};

/// The maximum length of the first line of a request.
const MAX_LINE: usize = 16;
/// The error code for malformed requests.
const BAD_REQUEST: u64 = 1;

fn build(arguments: &Arguments, random: random::Generator) -> Ends {
    let PageStreamsOptions { page, pages: count, threshold, urgencies, latencies } =
        PageStreamsOptions::of(arguments);
    // Both ends use the same random numbers and so draw the same pages.
    let pages = || pages::of(&page, &mut random.clone());
    let threshold = threshold.as_bytes();
    let priorities = Priorities::of(&PriorityLists { urgencies, latencies, ..PriorityLists::default() });
    let client = Client::new(pages(), count, threshold, priorities.clone());
    let server = Server::new(pages(), threshold, priorities);
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// The client.
struct Client {
    pages: Box<dyn Pages>,
    threshold: u64,
    /// The number of pages left, and the number of requested pages.
    left: u64,
    requested: u64,
    /// The reading time after the current page.
    reading: Duration,
    next_at: Option<Time>,
    /// The number of finished streams of the current page.
    ended: usize,
    progress: Progress,
    /// The progress of the first and of the second streams of all pages.
    streams: [Progress; STREAMS],
    /// The priorities of the server's streams.
    priorities: Priorities,
    loading: Loading,
}

impl Client {
    fn new(pages: Box<dyn Pages>, left: u64, threshold: u64, priorities: Priorities) -> Client {
        Client {
            pages,
            threshold,
            left,
            requested: 0,
            reading: Duration::ZERO,
            next_at: None,
            ended: 0,
            progress: Progress { receives: true, ..Progress::default() },
            streams: Default::default(),
            priorities,
            loading: Loading::default(),
        }
    }

    /// Requests the next page. If no stream can be opened, or the request cannot be written, the connection is closed.
    fn request_page(&mut self, now: Time, transport: &mut dyn Transport) {
        let page = self.pages.next();
        let first = STREAMS as u64 * self.requested;
        let urgencies = std::array::from_fn(|which| self.priorities.urgency(first + which as u64));
        self.loading.begin(now, &page, self.threshold, urgencies);
        for object in &page.objects {
            let total = &mut self.streams[stream_of(object, self.threshold)].total;
            *total = Some(total.unwrap_or(0) + object.bytes);
        }
        self.progress.total = Some(self.progress.total.unwrap_or(0) + page.bytes());
        self.reading = page.reading;
        let line = format!("GET /{}\r\n", self.requested);
        let beyond = page.objects[0].request_bytes.saturating_sub(line.len() as u64);
        self.requested += 1;
        self.left -= 1;
        let written = transport.open(Direction::Bidirectional).and_then(|stream| {
            transport.write(stream, Data::Bytes(line.as_bytes()))?;
            transport.write(stream, Data::Virtual(beyond))?;
            transport.finish(stream)
        });
        if written.is_err() {
            transport.close(BAD_REQUEST, "a request could not be written");
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let Ok(read) = transport.discard(stream) else { return };
        let which = (stream.index() % STREAMS as u64) as usize;
        self.loading.on_bytes(now, stream, which, read.bytes);
        for progress in [&mut self.progress, &mut self.streams[which]] {
            progress.note(now, read.bytes);
        }
        if !read.finished {
            return;
        }
        self.ended += 1;
        if self.left == 0 {
            self.streams[which].finished_at = Some(now);
        }
        if self.ended == STREAMS {
            self.ended = 0;
            if self.left == 0 {
                self.progress.finished_at = self.progress.last_at.or(Some(now));
                transport.close(0, "done");
            } else {
                self.next_at = Some(now + self.reading);
            }
        }
    }
}

impl Application for Client {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => self.request_page(now, transport),
            Event::Readable(stream) if stream.direction() == Direction::Unidirectional => {
                self.read(now, stream, transport);
            }
            // Only the end arrives on the stream of a request.
            Event::Readable(stream) => {
                let _ = transport.discard(stream);
            }
            Event::Reset { code, .. } | Event::Stopped { code, .. } => {
                transport.close(code, "the server refused the request");
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.next_at.take_if(|at| *at <= now).is_some() {
            self.request_page(now, transport);
        }
    }

    fn wake_at(&self) -> Option<Time> {
        self.next_at
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn report(&mut self, _: Time) -> Report {
        let load = Some(self.loading.load(self.left));
        Report { progress: self.progress, load, ..Report::default() }
    }
}

/// The rest of an object to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Writing {
    stream: StreamId,
    left: u64,
    /// Whether the stream ends after it.
    last: bool,
}

/// The server.
struct Server {
    pages: Box<dyn Pages>,
    threshold: u64,
    priorities: Priorities,
    /// The number of requested pages.
    requested: u64,
    /// The received start of request lines, until the request is complete.
    lines: BTreeMap<StreamId, Vec<u8>>,
    /// Pages whose think time has not passed yet.
    thinking: VecDeque<(Time, Page)>,
    /// Pages waiting for streams, and the streams opened for them so far.
    unopened: VecDeque<(Page, Vec<StreamId>)>,
    writing: VecDeque<Writing>,
    progress: Progress,
}

impl Server {
    fn new(pages: Box<dyn Pages>, threshold: u64, priorities: Priorities) -> Server {
        Server {
            pages,
            threshold,
            priorities,
            requested: 0,
            lines: BTreeMap::new(),
            thinking: VecDeque::new(),
            unopened: VecDeque::new(),
            writing: VecDeque::new(),
            progress: Progress::default(),
        }
    }

    /// Reads a request: its line, and the ignored rest. The limit on the client's streams bounds the memory.
    fn on_request(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let line = self.lines.entry(stream).or_default();
        let mut bytes = [0; MAX_LINE];
        let mut finished = false;
        while line.len() < MAX_LINE && !line.ends_with(b"\r\n") && !finished {
            // Byte by byte, so as to stop at the end of the line.
            match transport.read(stream, &mut bytes[..1]) {
                Ok(read) if read.bytes > 0 || read.finished => {
                    line.extend_from_slice(&bytes[..read.bytes as usize]);
                    finished = read.finished;
                }
                _ => return,
            }
        }
        if *line != format!("GET /{}\r\n", self.requested).as_bytes() {
            self.lines.remove(&stream);
            let _ = transport.reset(stream, BAD_REQUEST);
            let _ = transport.stop(stream, BAD_REQUEST);
            return;
        }
        if !finished {
            match transport.discard(stream) {
                Ok(read) if read.finished => {}
                _ => return,
            }
        }
        self.lines.remove(&stream);
        // The response uses other streams.
        let _ = transport.finish(stream);
        self.requested += 1;
        let page = self.pages.next();
        let at = now + page.objects[0].think;
        self.thinking.push_back((at, page));
        self.resume(now, transport);
    }

    /// Does everything that is possible now.
    fn resume(&mut self, now: Time, transport: &mut dyn Transport) {
        while self.thinking.front().is_some_and(|(at, _)| *at <= now) {
            self.unopened.extend(self.thinking.pop_front().map(|(_, page)| (page, Vec::new())));
        }
        while let Some((page, mut streams)) = self.unopened.pop_front() {
            while streams.len() < STREAMS {
                let Ok(stream) = transport.open(Direction::Unidirectional) else {
                    return self.unopened.push_front((page, streams));
                };
                self.priorities.on_opened(now, stream, transport);
                streams.push(stream);
            }
            self.plan(&page, &streams);
        }
        while let Some(writing) = self.writing.front_mut() {
            while writing.left > 0 {
                match transport.write(writing.stream, Data::Virtual(writing.left)) {
                    Ok(taken) if taken > 0 => writing.left -= taken,
                    Ok(_) | Err(StreamError::Blocked) => return,
                    // An error means that the client has cancelled the stream, which is fine.
                    Err(_) => break,
                }
            }
            if writing.last {
                let _ = transport.finish(writing.stream);
            }
            self.writing.pop_front();
        }
    }

    /// Queues all objects of a page in order; each stream ends after its last one.
    fn plan(&mut self, page: &Page, streams: &[StreamId]) {
        let begin = self.writing.len();
        for object in &page.objects {
            let stream = streams[stream_of(object, self.threshold)];
            self.writing.push_back(Writing { stream, left: object.bytes, last: false });
        }
        for stream in streams {
            let mut of_page = self.writing.iter_mut().skip(begin);
            match of_page.rfind(|writing| writing.stream == *stream) {
                Some(writing) => writing.last = true,
                None => self.writing.push_back(Writing { stream: *stream, left: 0, last: true }),
            }
        }
    }
}

impl Application for Server {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Readable(stream)
                if stream.initiator() == Side::Client && stream.direction() == Direction::Bidirectional =>
            {
                self.on_request(now, stream, transport);
            }
            Event::Writable(_) | Event::StreamsAvailable(Direction::Unidirectional) => {
                self.resume(now, transport)
            }
            Event::Reset { stream, .. } => {
                self.lines.remove(&stream);
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.resume(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        self.thinking.front().map(|(at, _)| *at)
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pages::{After, Kind as ObjectKind, Object, Replay};
    use std::collections::BTreeMap;
    use transport::{Measurements, PathView, Priority, Read, Streams, UnknownLimits, WithoutDatagrams};

    /// A transport with limited room and a limited number of streams, which returns the data provided by the test.
    #[derive(Default)]
    struct Fake {
        room: u64,
        streams: u64,
        opened: [u64; 2],
        written: Vec<(StreamId, u64)>,
        finished: Vec<StreamId>,
        reset: Vec<StreamId>,
        priorities: Vec<(StreamId, u8)>,
        incoming: BTreeMap<StreamId, (Vec<u8>, bool)>,
        closed: Option<u64>,
    }

    impl Fake {
        fn with(room: u64, streams: u64) -> Fake {
            Fake { room, streams, ..Fake::default() }
        }
        fn take(&mut self, stream: StreamId, limit: usize) -> Result<(Vec<u8>, bool), StreamError> {
            let (bytes, ends) = self.incoming.get_mut(&stream).ok_or(StreamError::Unknown)?;
            let rest = bytes.split_off(bytes.len().min(limit));
            let taken = std::mem::replace(bytes, rest);
            Ok((taken, *ends && bytes.is_empty()))
        }
    }

    fn id(index: u64, direction: Direction, side: Side) -> StreamId {
        StreamId::new(side, direction, index)
    }

    impl Streams for Fake {
        fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
            let way = usize::from(direction == Direction::Unidirectional);
            if self.opened[way] == self.streams {
                return Err(StreamError::LimitReached);
            }
            self.opened[way] += 1;
            let side = if way == 0 { Side::Client } else { Side::Server };
            Ok(id(self.opened[way] - 1, direction, side))
        }
        fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
            let wanted = match data {
                Data::Virtual(bytes) => bytes,
                Data::Bytes(bytes) => bytes.len() as u64,
            };
            let taken = wanted.min(self.room);
            if taken == 0 && wanted > 0 {
                return Err(StreamError::Blocked);
            }
            self.room -= taken;
            self.written.push((stream, taken));
            Ok(taken)
        }
        fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
            self.finished.push(stream);
            Ok(())
        }
        fn reset(&mut self, stream: StreamId, _: u64) -> Result<(), StreamError> {
            self.reset.push(stream);
            Ok(())
        }
        fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
            self.reset(stream, code)
        }
        fn stop(&mut self, _: StreamId, _: u64) -> Result<(), StreamError> {
            Ok(())
        }
        fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
            let (bytes, finished) = self.take(stream, out.len())?;
            out[..bytes.len()].copy_from_slice(&bytes);
            Ok(Read { bytes: bytes.len() as u64, finished })
        }
        fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
            let (bytes, finished) = self.take(stream, limit as usize)?;
            Ok(Read { bytes: bytes.len() as u64, finished })
        }
        fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
            self.skip(stream, u64::from(u32::MAX))
        }
        fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
            self.priorities.push((stream, priority.urgency));
            Ok(())
        }
    }

    impl Measurements for Fake {
        fn path(&mut self, _: StreamId) -> Option<PathView> {
            None
        }
        fn acked_bytes(&self) -> u64 {
            0
        }
        fn record(&mut self, _: trace::Event) {}
    }

    impl Transport for Fake {
        fn alpn(&self) -> Option<&[u8]> {
            None
        }
        fn close(&mut self, code: u64, _: &str) {
            self.closed = Some(code);
        }
    }

    impl WithoutDatagrams for Fake {}

    impl UnknownLimits for Fake {}

    const FIRST: Time = Time::from_nanos(1_000);

    /// A main object, a small, a large, a small one, a main one that is large; the server thinks for 5 ms.
    fn pages(reading: Duration) -> Box<dyn Pages> {
        let objects = [
            (ObjectKind::Main, 9_000),
            (ObjectKind::Embedded, 11_999),
            (ObjectKind::Embedded, 12_000),
            (ObjectKind::Embedded, 1),
            (ObjectKind::Main, 50_000),
        ];
        let objects = objects.map(|(kind, bytes)| Object {
            think: Duration::from_millis(5),
            request_bytes: 100,
            after: vec![After::complete(0); usize::from(bytes != 9_000)],
            ..Object::new(kind, bytes)
        });
        Box::new(Replay::new(vec![Page { objects: objects.to_vec(), reading }]))
    }

    fn server(transport: &mut Fake, request: &[u8]) -> (Server, StreamId) {
        let priorities = Priorities::of(&PriorityLists::written(&[("urgencies", "[0, 1]")]).unwrap());
        let mut server = Server::new(pages(Duration::ZERO), 12_000, priorities);
        let stream = id(0, Direction::Bidirectional, Side::Client);
        transport.incoming.insert(stream, (request.to_vec(), true));
        server.on_event(FIRST, &Event::Readable(stream), transport);
        (server, stream)
    }

    #[test]
    fn objects_are_sent_in_order_on_their_streams() {
        let mut fake = Fake::with(u64::MAX, 10);
        let (mut server, request) = server(&mut fake, b"GET /0\r\nand more of it");
        assert_eq!(fake.finished, [request]);
        assert!(fake.written.is_empty());
        let at = server.wake_at().unwrap();
        assert_eq!(at, FIRST + Duration::from_millis(5));
        server.on_wake(at, &mut fake);
        let [first, second] = [0, 1].map(|index| id(index, Direction::Unidirectional, Side::Server));
        assert_eq!(
            fake.written,
            [(first, 9_000), (first, 11_999), (second, 12_000), (first, 1), (first, 50_000)]
        );
        assert_eq!(fake.priorities, [(first, 0), (second, 1)]);
        // The second stream ends with its only object, before the first one.
        assert_eq!(fake.finished, [request, second, first]);
        assert_eq!(server.wake_at(), None);
    }

    #[test]
    fn a_full_transport_holds_the_order() {
        let mut fake = Fake::with(15_000, 1);
        let (mut server, _) = server(&mut fake, b"GET /0\r\n");
        server.on_wake(FIRST + Duration::from_millis(5), &mut fake);
        assert_eq!(fake.opened, [0, 1], "one stream only");
        assert!(fake.written.is_empty());
        fake.streams = 2;
        server.on_event(FIRST, &Event::StreamsAvailable(Direction::Unidirectional), &mut fake);
        let [first, second] = [0, 1].map(|index| id(index, Direction::Unidirectional, Side::Server));
        assert_eq!(fake.written, [(first, 9_000), (first, 6_000)]);
        fake.room = 10_000;
        server.on_event(FIRST, &Event::Writable(first), &mut fake);
        assert_eq!(fake.written[2..], [(first, 5_999), (second, 4_001)]);
        fake.room = u64::MAX;
        server.on_event(FIRST, &Event::Writable(second), &mut fake);
        assert_eq!(fake.written[4..], [(second, 7_999), (first, 1), (first, 50_000)]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for request in [&b"GET /1\r\n"[..], b"GET /0", b"", b"PUT /0\r\n", &[b'x'; 1_000]] {
            let mut fake = Fake::with(u64::MAX, 10);
            let (server, stream) = server(&mut fake, request);
            assert_eq!((fake.reset.as_slice(), server.requested, server.lines.len()), (&[stream][..], 0, 0));
        }
    }

    #[test]
    fn a_request_may_arrive_in_pieces() {
        let mut fake = Fake::with(u64::MAX, 10);
        let mut server = Server::new(pages(Duration::ZERO), 12_000, Priorities::default());
        let stream = id(0, Direction::Bidirectional, Side::Client);
        for (piece, ends) in [(&b"GE"[..], false), (b"T /0\r", false), (b"\nabc", false), (b"def", true)] {
            assert_eq!(server.requested, 0);
            fake.incoming.insert(stream, (piece.to_vec(), ends));
            server.on_event(FIRST, &Event::Readable(stream), &mut fake);
        }
        assert_eq!((server.requested, fake.finished.as_slice()), (1, &[stream][..]));
    }

    #[test]
    fn a_client_reads_between_pages() {
        let mut fake = Fake::with(u64::MAX, 10);
        let reading = Duration::from_secs(3);
        let mut client = Client::new(pages(reading), 2, 12_000, Priorities::default());
        client.on_event(FIRST, &Event::Connected, &mut fake);
        // "GET /0" and the line end, and the rest of a request of 100 bytes.
        let request = id(0, Direction::Bidirectional, Side::Client);
        assert_eq!(fake.written, [(request, 8), (request, 92)]);
        let mut now = FIRST;
        for index in 0..4 {
            let stream = id(index, Direction::Unidirectional, Side::Server);
            fake.incoming.insert(stream, (vec![0; 10 + index as usize], true));
            now += Duration::from_millis(1);
            client.on_event(now, &Event::Readable(stream), &mut fake);
            if index == 1 {
                assert_eq!(client.wake_at(), Some(now + reading));
                now += reading;
                client.on_wake(now, &mut fake);
                assert_eq!(fake.finished.len(), 2);
            }
        }
        let progress = client.progress();
        assert_eq!((progress.bytes, progress.total), (46, Some(2 * 83_000)));
        assert_eq!((progress.finished_at, fake.closed), (Some(now), Some(0)));
        assert_eq!([0, 1].map(|which: usize| client.streams[which].bytes), [22, 24]);
        assert_eq!(client.streams[0].total, Some(2 * 71_000));
        assert_eq!(client.streams[1].finished_at, Some(now));
    }

    #[test]
    fn a_refusal_ends_the_client() {
        let mut fake = Fake::with(u64::MAX, 10);
        let mut client = Client::new(pages(Duration::ZERO), 1, 12_000, Priorities::default());
        client.on_event(FIRST, &Event::Connected, &mut fake);
        let stream = id(0, Direction::Bidirectional, Side::Client);
        client.on_event(FIRST, &Event::Reset { stream, code: 9 }, &mut fake);
        assert_eq!(fake.closed, Some(9));
    }
}
