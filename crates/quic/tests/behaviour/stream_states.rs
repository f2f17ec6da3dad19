//! Every state of both state machines of a stream with every frame and every call (RFC 9000 section 3).

use crate::pair::Frame as Seen;
use crate::pair::{Link, Pair, config, count, delay, ms, null, size};
use quic::{CloseReason, Connection, Data, Event, StreamError};
use wire::{Code, Direction, Frame, StreamId};

/// An input to a stream: a frame of the peer, or a call of the application.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Input {
    /// Data, new or repeated.
    Stream,
    /// The end at 7.
    StreamFin,
    /// Data after offset 7.
    StreamBeyond,
    /// With the final size 7.
    ResetStream,
    /// With the final size 6.
    ResetShort,
    StreamDataBlocked,
    Stop,
    Read,
    StopSending,
    MaxStreamData,
    Write,
    Finish,
    Reset,
}
use Input::*;

/// The inputs of a sending half, in the order of the columns of [`AT_SENDER`].
const TO_SENDER: [Input; 5] = [StopSending, MaxStreamData, Write, Finish, Reset];
/// The inputs of a receiving half, in the order of the columns of [`AT_RECEIVER`].
const TO_RECEIVER: [Input; 8] =
    [Stream, StreamFin, StreamBeyond, ResetStream, ResetShort, StreamDataBlocked, Stop, Read];

impl Input {
    /// Whether it is a frame of the peer.
    fn is_frame(self) -> bool {
        !matches!(self, Write | Finish | Reset | Stop | Read)
    }
}

/// The states of RFC 9000 figure 2.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sending {
    Ready,
    Send,
    DataSent,
    ResetSent,
    DataRecvd,
    ResetRecvd,
}
/// The states of RFC 9000 figure 3.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Receiving {
    Recv,
    SizeKnown,
    DataRecvd,
    ResetRecvd,
    DataRead,
    ResetRead,
}
/// The effect of each input in each state of a sender that has sent 3 bytes (none in "Ready"): `=` the result of a
/// call, then the frames sent, then the events. "c@n" is an error code with a final size, "o+n" are bytes from an
/// offset, `$` is the end.
const AT_SENDER: [(Sending, [&str; 5]); 6] = [
    (
        Sending::Ready,
        ["RESET_STREAM[9@0] Stopped(9)", "", "=2 STREAM[0+2]", "=0 STREAM[0+0$]", "=0 RESET_STREAM[6@0]"],
    ),
    (
        Sending::Send,
        ["RESET_STREAM[9@3] Stopped(9)", "", "=2 STREAM[3+2]", "=0 STREAM[3+0$]", "=0 RESET_STREAM[6@3]"],
    ),
    (
        Sending::DataSent,
        ["RESET_STREAM[9@3] Stopped(9)", "", "=Finished", "=Finished", "=0 RESET_STREAM[6@3]"],
    ),
    // Neither the final size nor the code changes.
    (Sending::ResetSent, ["", "", "=Finished", "=Finished", "=0"]),
    (Sending::DataRecvd, ["", "", "=Finished", "=Finished", "=0"]),
    (Sending::ResetRecvd, ["", "", "=Finished", "=Finished", "=0"]),
];

/// The same for a receiver: 3 bytes were read in "Recv" and "Size Known", in which the 4th is missing; the end is at 7.
const AT_RECEIVER: [(Receiving, [&str; 8]); 6] = [
    (
        Receiving::Recv,
        // A blocked sender gets credit for the data read.
        ["Readable", "Readable", "", "Reset(8)", "Reset(8)", "MAX_STREAM_DATA", "=0 STOP_SENDING[4]", "=0"],
    ),
    (
        Receiving::SizeKnown,
        ["Readable", "Readable", BEYOND, "Reset(8)", BEYOND, "", "=0 STOP_SENDING[4]", "=0"],
    ),
    // RFC 9000 section 3.2: all data has arrived, so a reset is ignored, and a stop has no effect.
    (Receiving::DataRecvd, ["", "", BEYOND, "", BEYOND, "", "=0", "=7 end"]),
    (Receiving::ResetRecvd, ["", "", BEYOND, "", BEYOND, "", "=0", "=Reset(5)"]),
    (Receiving::DataRead, ["", "", BEYOND, "", BEYOND, "", "=0", "=0 end"]),
    (Receiving::ResetRead, ["", "", BEYOND, "", BEYOND, "", "=0", "=Reset(5)"]),
];
/// RFC 9000 section 4.5: the final size does not change.
const BEYOND: &str = "FINAL_SIZE_ERROR";

/// A pair with one endpoint under test, on one stream; the peer's packets are forged.
struct Bench {
    pair: Pair,
    client: bool,
    stream: StreamId,
}

impl Bench {
    fn new(client: bool) -> Bench {
        let mut pair = Pair::new(null(), config(&[]), config(&[]), delay(10));
        pair.establish();
        Bench { pair, client, stream: StreamId::from_value(0) }
    }

    fn us(&mut self) -> &mut Connection {
        if self.client { self.pair.client() } else { self.pair.server() }
    }

    /// A stream whose sending half is in this state. Its 3 bytes are "abc".
    fn sending(client: bool, direction: Direction, state: Sending) -> Bench {
        let mut bench = Bench::new(client);
        let now = bench.pair.now;
        let stream = bench.us().open(direction).unwrap();
        bench.stream = stream;
        if state == Sending::Ready {
            bench.pair.cut();
            return bench.quiet();
        }
        bench.us().write(now, stream, Data::Bytes(b"abc")).unwrap();
        match state {
            Sending::Send => bench.pair.run_for(ms(100)),
            Sending::DataSent | Sending::DataRecvd => bench.us().finish(now, stream).unwrap(),
            _ => {
                bench.pair.drain();
                bench.us().reset(stream, 5).unwrap();
            }
        }
        match state {
            Sending::DataRecvd | Sending::ResetRecvd => bench.pair.run_for(ms(100)),
            _ => bench.pair.cut(),
        }
        bench.pair.drain();
        bench.pair.cut();
        bench.quiet()
    }

    /// A stream of the peer whose receiving half is in this state.
    fn receiving(client: bool, direction: Direction, state: Receiving) -> Bench {
        let mut bench = Bench::new(client);
        bench.pair.cut();
        let initiator = if client { wire::Side::Server } else { wire::Side::Client };
        bench.stream = StreamId::new(initiator, direction, 0);
        let id = bench.stream;
        match state {
            Receiving::Recv => bench.arrive(data(id, 0, b"abc", false)),
            Receiving::SizeKnown => {
                bench.arrive(data(id, 0, b"abc", false));
                bench.arrive(data(id, 4, b"efg", true));
            }
            Receiving::DataRecvd | Receiving::DataRead => bench.arrive(data(id, 0, b"abcdefg", true)),
            _ => bench.arrive(Frame::ResetStream { id, code: 5, final_size: 7 }),
        }
        if !matches!(state, Receiving::DataRecvd | Receiving::ResetRecvd) {
            let _ = bench.us().read(id, &mut [0; 100]);
        }
        bench.quiet()
    }

    /// Ignores everything so far.
    fn quiet(mut self) -> Bench {
        self.pair.drain();
        self.pair.client_events.clear();
        self.pair.server_events.clear();
        self
    }

    fn arrive(&mut self, frame: Frame<'_>) {
        let to_server = !self.client;
        self.pair.inject_data(to_server, &[frame]);
    }

    /// The effect: the result of a call, the error, the frames for this stream, the events.
    fn apply(&mut self, input: Input) -> String {
        let (id, now, mark) = (self.stream, self.pair.now, self.pair.mark());
        let mut found: Vec<String> = Vec::new();
        let result = |result: Result<u64, StreamError>| match result {
            Ok(n) => format!("={n}"),
            Err(error) => format!("={error:?}"),
        };
        match input {
            Stream => self.arrive(data(id, 3, b"d", false)),
            StreamFin => self.arrive(data(id, 3, b"defg", true)),
            StreamBeyond => self.arrive(data(id, 7, b"h", false)),
            ResetStream => self.arrive(Frame::ResetStream { id, code: 8, final_size: 7 }),
            ResetShort => self.arrive(Frame::ResetStream { id, code: 8, final_size: 6 }),
            StopSending => self.arrive(Frame::StopSending { id, code: 9 }),
            MaxStreamData => self.arrive(Frame::MaxStreamData { id, maximum: 1 << 40 }),
            StreamDataBlocked => self.arrive(Frame::StreamDataBlocked { id, limit: 7 }),
            Write => found.push(result(self.us().write(now, id, Data::Bytes(b"xy")))),
            Finish => found.push(result(self.us().finish(now, id).map(|()| 0))),
            Reset => found.push(result(self.us().reset(id, 6).map(|()| 0))),
            Stop => found.push(result(self.us().stop(id, 4).map(|()| 0))),
            Read => {
                let read = self.us().read(id, &mut [0; 100]);
                found.push(match read {
                    Ok(read) if read.finished => format!("={} end", read.bytes),
                    read => result(read.map(|read| read.bytes)),
                });
            }
        }
        self.pair.drain();
        match self.us().close_reason() {
            Some(CloseReason::Transport(error)) => return name(error.code),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
        let to_server = self.client;
        found.extend(self.pair.frames_from(mark, to_server).iter().filter_map(|frame| told(frame, id)));
        let client = self.client;
        let events = if client { &mut self.pair.client_events } else { &mut self.pair.server_events };
        found.extend(events.drain(..).map(|event| event_name(&event)));
        found.join(" ")
    }
}

fn data(id: StreamId, offset: u64, data: &[u8], fin: bool) -> Frame<'_> {
    Frame::Stream { id, offset, data: wire::Data::Bytes(data), fin }
}

fn name(code: Code) -> String {
    match code {
        Code::STREAM_STATE_ERROR => "STREAM_STATE_ERROR".to_owned(),
        Code::FINAL_SIZE_ERROR => "FINAL_SIZE_ERROR".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// A frame sent for this stream: its name and its values.
fn told(frame: &Seen, id: StreamId) -> Option<String> {
    let id = id.value();
    match *frame {
        Seen::Stream { stream, offset, length, fin } if stream == id => {
            let end = if fin { "$" } else { "" };
            Some(format!("STREAM[{offset}+{length}{end}]"))
        }
        Seen::ResetStream { stream, code, final_size, .. } if stream == id => {
            Some(format!("RESET_STREAM[{code}@{final_size}]"))
        }
        Seen::StopSending { stream, code, .. } if stream == id => Some(format!("STOP_SENDING[{code}]")),
        Seen::MaxStreamData { .. } | Seen::StreamDataBlocked { .. } => Some(frame.name().to_owned()),
        _ => None,
    }
}

fn event_name(event: &Event) -> String {
    match event {
        Event::Stopped { code, .. } => format!("Stopped({code})"),
        Event::Reset { code, .. } => format!("Reset({code})"),
        Event::Closed { sent, received, .. } => format!("Closed({sent},{received})"),
        Event::Readable(_) => "Readable".to_owned(),
        Event::Opened(_) => "Opened".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Applies an input twice. A repeated frame changes nothing.
fn twice(mut bench: Bench, input: Input) -> String {
    let first = bench.apply(input);
    if input.is_frame() {
        let again = if first.ends_with("ERROR") { first.as_str() } else { "" };
        assert_eq!(bench.apply(input), again, "{input:?} again");
    }
    first
}

/// RFC 9000-3.3-1, 9000-3.3-2, 9000-3.5-1, 9000-4.4-1, 9000-4.5-2, 9000-11.2-1.
#[test]
fn each_state_of_a_sender() {
    for client in [true, false] {
        for (state, expected) in AT_SENDER {
            for (input, expected) in TO_SENDER.into_iter().zip(expected) {
                let bench = Bench::sending(client, Direction::Bidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}");
                // A finished half without another half means that the stream is removed.
                let gone = matches!(state, Sending::DataRecvd | Sending::ResetRecvd);
                let expected = if gone && !input.is_frame() { "=Unknown" } else { expected };
                let bench = Bench::sending(client, Direction::Unidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}, one way");
            }
            for input in TO_RECEIVER {
                // The other half is not affected: it is that of a sender without activity.
                let fresh = Bench::sending(client, Direction::Bidirectional, Sending::Ready).apply(input);
                let bench = Bench::sending(client, Direction::Bidirectional, state);
                assert_eq!(twice(bench, input), fresh, "{client} {state:?} {input:?}");
                let gone = matches!(state, Sending::DataRecvd | Sending::ResetRecvd);
                let expected = match (input.is_frame(), gone) {
                    (true, _) => "STREAM_STATE_ERROR",
                    (false, false) => "=WrongDirection",
                    (false, true) => "=Unknown",
                };
                let bench = Bench::sending(client, Direction::Unidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}, one way");
            }
        }
    }
}

/// RFC 9000-4.4-1, 9000-4.5-1, 9000-19.5-2, 9000-19.10-2.
#[test]
fn each_state_of_a_receiver() {
    for client in [true, false] {
        for (state, expected) in AT_RECEIVER {
            for (input, expected) in TO_RECEIVER.into_iter().zip(expected) {
                let bench = Bench::receiving(client, Direction::Bidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}");
                let expected = match (state, input) {
                    // A removed stream has no final size any more.
                    (Receiving::DataRead | Receiving::ResetRead, _) if input.is_frame() => "".to_owned(),
                    (Receiving::DataRead | Receiving::ResetRead, _) => "=Unknown".to_owned(),
                    (Receiving::DataRecvd | Receiving::ResetRecvd, Stop | Read) => {
                        format!("{expected} Closed(0,7)")
                    }
                    _ => expected.to_owned(),
                };
                let bench = Bench::receiving(client, Direction::Unidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}, one way");
            }
            for (input, ready) in TO_SENDER.into_iter().zip(AT_SENDER[0].1) {
                let bench = Bench::receiving(client, Direction::Bidirectional, state);
                assert_eq!(twice(bench, input), ready, "{client} {state:?} {input:?}");
                let gone = matches!(state, Receiving::DataRead | Receiving::ResetRead);
                let expected = match (input.is_frame(), gone) {
                    (true, _) => "STREAM_STATE_ERROR",
                    (false, false) => "=WrongDirection",
                    (false, true) => "=Unknown",
                };
                let bench = Bench::receiving(client, Direction::Unidirectional, state);
                assert_eq!(twice(bench, input), expected, "{client} {state:?} {input:?}, one way");
            }
        }
    }
}

/// After a stop nothing is reported and nothing read until the end of the stream is known.
#[test]
fn after_a_stop_the_stream_waits_for_its_end() {
    for (state, end) in
        [(Receiving::Recv, ResetStream), (Receiving::Recv, StreamFin), (Receiving::SizeKnown, Stream)]
    {
        let mut bench = Bench::receiving(true, Direction::Unidirectional, state);
        assert_eq!(bench.apply(Stop), "=0 STOP_SENDING[4]");
        assert_eq!(bench.apply(Read), "=0");
        assert_eq!(bench.apply(StreamDataBlocked), "");
        assert_eq!(bench.apply(end), "Closed(0,7)", "{state:?} {end:?}");
    }
    // RFC 9000-3.5-1: the response to STOP_SENDING is final.
    let mut bench = Bench::sending(true, Direction::Unidirectional, Sending::Send);
    assert_eq!(bench.apply(StopSending), "RESET_STREAM[9@3] Stopped(9)");
    assert_eq!(
        (bench.apply(Write), bench.apply(Finish)),
        ("=Stopped(9)".to_owned(), "=Stopped(9)".to_owned())
    );
    assert_eq!(bench.apply(Reset), "=0");
}

/// RFC 9000-3.2-1: the first frame for a stream may be of any permitted type.
#[test]
fn any_frame_opens_a_stream_and_all_lower_ones() {
    for input in [Stream, StreamFin, ResetStream, StreamDataBlocked, StopSending, MaxStreamData] {
        for client in [true, false] {
            let mut bench = Bench::new(client);
            bench.pair.cut();
            let initiator = if client { wire::Side::Server } else { wire::Side::Client };
            bench.stream = StreamId::new(initiator, Direction::Bidirectional, 2);
            let found = bench.quiet().apply(input);
            assert!(found.contains("Opened Opened Opened"), "{input:?}: {found}");
        }
    }
}

/// A link that loses the datagrams of each direction given by the bits of a mask, counted from now on.
fn masked(pair: &Pair, to_client: u32, to_server: u32) -> Link {
    let sent = [false, true].map(|to| pair.wire.iter().filter(|seen| seen.to_server == to).count() as u64);
    Box::new(move |server, number, _| {
        let mask = if server { to_server } else { to_client };
        let lost = number.checked_sub(sent[usize::from(server)]).is_some_and(|n| n < 3 && mask >> n & 1 == 1);
        if lost { Vec::new() } else { vec![ms(10)] }
    })
}

/// Lost frames are repeated until both endpoints know that the stream is closed, and not afterwards (RFC 9000
/// sections 3, 13.3).
#[test]
fn both_endpoints_finish_whatever_is_lost() {
    for state in [Sending::Ready, Sending::Send, Sending::DataSent, Sending::DataRecvd] {
        for ending in [Finish, Reset, Stop] {
            for mask in 0..64 {
                if (state, ending) == (Sending::Ready, Stop) {
                    // The server does not know of the stream.
                    continue;
                }
                ends(state, ending, mask);
            }
        }
    }
}

fn ends(state: Sending, ending: Input, mask: u32) {
    let mut pair = Pair::established();
    let now = pair.now;
    let stream = pair.client().open(Direction::Bidirectional).unwrap();
    if state != Sending::Ready {
        pair.client().write(now, stream, Data::Bytes(b"abc")).unwrap();
    }
    if state == Sending::DataRecvd {
        pair.client().finish(now, stream).unwrap();
    }
    pair.run_for(ms(100));
    if state == Sending::DataSent {
        pair.client().finish(now, stream).unwrap();
    }
    let now = pair.now;
    pair.link = masked(&pair, mask & 7, mask >> 3);
    let _ = match ending {
        Finish => pair.client().finish(now, stream),
        Reset => pair.client().reset(stream, 6),
        _ => pair.server().stop(stream, 4),
    };
    // The other direction ends differently: the server resets it, unless it was stopped; then the server finishes it.
    let _ = match ending {
        Stop => pair.server().finish(now, stream),
        _ => pair.server().reset(stream, 7),
    };
    let done = pair.run_until(ms(20_000), |pair| {
        for event in std::mem::take(&mut pair.client_events) {
            if matches!(event, Event::Readable(_) | Event::Reset { .. }) {
                let _ = pair.client().discard(stream);
            }
        }
        let now = pair.now;
        for event in std::mem::take(&mut pair.server_events) {
            if state == Sending::Ready && matches!(event, Event::Opened(_)) {
                pair.server().finish(now, stream).unwrap();
            }
            if matches!(event, Event::Readable(_) | Event::Reset { .. }) {
                let _ = pair.server().discard(stream);
            }
        }
        (pair.client().open_streams(), pair.server().open_streams()) == (0, 0)
    });
    assert!(done, "{state:?} {ending:?} {mask:06b}");
    // RFC 9000-3.3-1: from now on nothing is sent for it.
    let mark = pair.mark();
    pair.run_for(ms(5000));
    for to_server in [true, false] {
        let late: Vec<String> =
            pair.frames_from(mark, to_server).iter().filter_map(|frame| told(frame, stream)).collect();
        assert!(late.is_empty(), "{state:?} {ending:?} {mask:06b}: {late:?}");
    }
    assert!(!pair.client().is_over() && !pair.server().is_over(), "{state:?} {ending:?} {mask:06b}");
}

/// RFC 9000-4.5-1: a receiver that stops a stream grants its connection credit again, even while the other half
/// continues.
#[test]
fn data_that_will_never_be_read_gives_its_credit_back() {
    for (ending, code) in [(Stop, None), (Reset, Some(5))] {
        let server = config(&[("initial_max_data", size(20_000))]);
        let mut pair = Pair::new(null(), config(&[]), server, delay(10));
        pair.establish();
        let now = pair.now;
        let [first, second] = [(); 2].map(|()| pair.client().open(Direction::Bidirectional).unwrap());
        pair.client().write(now, first, Data::Virtual(20_000)).unwrap();
        pair.run_for(ms(100));
        pair.client().write(now, second, Data::Virtual(10_000)).unwrap();
        pair.run_for(ms(100));
        assert_eq!(pair.server().stats().streams.received_bytes, 20_000, "no credit is left");
        match ending {
            Stop => pair.server().stop(first, 4).unwrap(),
            _ => {
                pair.client().reset(first, 5).unwrap();
                pair.run_for(ms(100));
                assert_eq!(pair.server().read(first, &mut [0; 10]).err(), code.map(StreamError::Reset));
            }
        }
        pair.run_for(ms(100));
        assert_eq!(pair.server().stats().streams.received_bytes, 30_000);
        assert_eq!(pair.server().open_streams(), 2, "the first one too: the server's half is open");
    }
}

/// RFC 9000-4.6-5.
#[test]
fn streams_are_granted_as_others_close() {
    let mut pair =
        Pair::new(null(), config(&[]), config(&[("initial_max_streams_uni", count(4))]), delay(10));
    pair.establish();
    let mark = pair.mark();
    for n in 0..2 {
        let now = pair.now;
        let stream = pair.client().open(Direction::Unidirectional).unwrap();
        pair.client().finish(now, stream).unwrap();
        pair.run_for(ms(50));
        assert!(pair.server().discard(stream).unwrap().finished);
        pair.run_for(ms(50));
        let granted = pair.frames_from(mark, false).iter().any(|frame| frame.name() == "MAX_STREAMS");
        assert_eq!(granted, n == 1, "when half of them are used");
    }
    assert!(pair.frames_from(mark, true).iter().all(|frame| frame.name() != "STREAMS_BLOCKED"));
}
