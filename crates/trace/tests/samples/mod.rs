//! Records with every event and every frame, including edge cases.

use trace::event::{DropReason, EcnState, LossTrigger, MigrationState, ResumePhase};
use trace::{
    Block, BlockFate, Contents, Event, Message, Metrics, Packet, PacketKind, Record, Stages, Wait, Waited,
};
use units::{Duration, Rate, Time};
use wire::{Code, ConnectionId, Data, Direction, EcnCounts, Frame, StreamId};

fn message(number: u64) -> Message {
    let (bytes, deadline) = (242, Some(Duration::from_millis(50)));
    Message { part: 1, number, stream: Some(2), bytes, written: Time::ZERO, deadline }
}

/// Every kind of frame, some at their limits, one after another.
pub(crate) fn frames() -> Vec<u8> {
    let (id, last) = (StreamId::from_value, (1 << 62) - 1);
    let close = |code, frame_type, reason| Frame::ConnectionClose { code: Code(code), frame_type, reason };
    let mut out = Vec::new();
    let token = [7; 16];
    let frames = [
        Frame::Padding { length: 900 },
        Frame::Ping,
        Frame::ResetStream { id: id(4), code: last, final_size: 0 },
        Frame::StopSending { id: id(8), code: 0 },
        Frame::Crypto { offset: 0, data: &[1; 300] },
        Frame::NewToken { token: &[2; 64] },
        Frame::Stream { id: id(0), offset: 0, data: Data::Bytes(&[3; 1100]), fin: false },
        Frame::Stream { id: id(last), offset: last - 1, data: Data::Bytes(&[]), fin: true },
        Frame::MaxData { maximum: 1 << 40 },
        Frame::MaxStreamData { id: id(0), maximum: 1 << 30 },
        Frame::MaxStreams { direction: Direction::Bidirectional, maximum: 100 },
        Frame::MaxStreams { direction: Direction::Unidirectional, maximum: 3 },
        Frame::DataBlocked { limit: 5 },
        Frame::StreamDataBlocked { id: id(0), limit: 6 },
        Frame::StreamsBlocked { direction: Direction::Unidirectional, limit: 7 },
        Frame::NewConnectionId {
            sequence: 1,
            retire_prior_to: 0,
            id: ConnectionId::new(&[1, 2, 3, 255]).unwrap(),
            token,
        },
        Frame::RetireConnectionId { sequence: 0 },
        Frame::PathChallenge { data: [1; 8] },
        Frame::PathResponse { data: [254; 8] },
        close(0, 0, b""),
        close(0x0a, 8, "a \"quoted\" reason\nwith \u{1e} and \u{7f} and ü".as_bytes()),
        close(0x128, 0, b"handshake failure"),
        close(0x4242, 0, b"not UTF-8: \xff"),
        Frame::ApplicationClose { code: 0x128, reason: b"bye" },
        Frame::HandshakeDone,
        Frame::Datagram { data: Data::Bytes(&[4; 1200]), to_end: false },
        Frame::Datagram { data: Data::Bytes(&[]), to_end: false },
        Frame::AckFrequency { sequence: 1, threshold: 10, max_ack_delay_us: 50_000, reordering_threshold: 1 },
        Frame::Bdp { lifetime_us: 9, capacity: 3_750_000, min_rtt_us: 600_000, address: &[10, 0, 0, 1] },
        Frame::ImmediateAck,
        Frame::ResetStreamAt { id: StreamId::from_value(4), code: 7, final_size: 9, reliable_size: 5 },
    ];
    frames[..2].iter().for_each(|frame| frame.encode(&mut out));
    wire::frame::ack(&mut out, [9..=12, 7..=7, 0..=3], 25, None, 100);
    let counts = EcnCounts { ect0: 1, ect1: 2, ce: 3 };
    wire::frame::ack(&mut out, [0..=last], 0, Some(counts), 100);
    frames[2..].iter().for_each(|frame| frame.encode(&mut out));
    out
}

/// The contents of a packet with these frames.
pub(crate) fn contents(payload: Vec<u8>) -> Contents {
    Contents::Frames { payload, virtual_tail: 0, ack_delay_exponent: 0 }
}

/// A packet with all of [`frames`], or one without number, ids and frames.
pub(crate) fn packet(kind: PacketKind, number: Option<u64>) -> Box<Packet> {
    let is_long = !matches!(kind, PacketKind::OneRtt);
    Box::new(Packet {
        kind,
        number,
        length: 1200,
        destination: vec![0xab, 0xcd],
        source: if is_long { vec![0x01] } else { Vec::new() },
        contents: if number.is_some() { contents(frames()) } else { Contents::NONE },
        datagram: number.unwrap_or(u64::MAX),
    })
}

/// The records of a connection end with every event of a connection, in the order of time.
pub(crate) fn connection() -> Vec<Record> {
    let mut events = vec![Event::ConnectionStarted {
        local: "10.0.0.1:5000".parse().unwrap(),
        remote: "[2001:db8::1]:443".parse().unwrap(),
        source: vec![1, 2, 3, 4],
        original_destination: vec![0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08],
    }];
    events.extend(
        ["attempted", "handshake_complete", "handshake_confirmed"]
            .map(|state| Event::ConnectionState { state }),
    );
    events.push(Event::VersionInformation { server: Vec::new(), client: vec![1], chosen: None });
    let versions = || vec![0x6b33_43cf, 1];
    events.push(Event::VersionInformation { server: versions(), client: versions(), chosen: Some(1) });
    events.push(Event::ParametersRestored {
        values: vec![("max_idle_timeout", 30_000), ("initial_max_data", 7), ("disable_active_migration", 0)],
    });
    events.push(Event::ParametersSet {
        local: true,
        values: vec![
            ("max_idle_timeout", 30_000),
            ("max_udp_payload_size", 65_527),
            ("initial_max_data", u64::MAX >> 2),
            ("disable_active_migration", 1),
            ("min_ack_delay", 1000),
        ],
    });
    events.push(Event::KeyUpdated { key: "client_initial_secret", phase: None });
    events.push(Event::KeyUpdated { key: "server_1rtt_secret", phase: Some(3) });
    events.push(Event::KeyDiscarded { key: "client_initial_secret" });
    events.extend(EcnState::ALL.map(|state| Event::EcnState { state }));
    events.push(Event::MtuUpdated { old: 1200, new: 1452, done: false });
    events.push(Event::MtuUpdated { old: 65_527, new: 1200, done: true });
    events.extend(MigrationState::ALL.map(|state| Event::MigrationState {
        state,
        local: "10.0.0.1:5001".parse().unwrap(),
        remote: "[2001:db8::1]:443".parse().unwrap(),
    }));
    events.push(Event::DatagramSent { number: 0, length: 1200 });
    events.push(Event::DatagramReceived { number: u64::MAX, length: 1200 });
    for (number, kind) in PacketKind::ALL.into_iter().enumerate() {
        events.push(Event::PacketSent(packet(kind, Some(number as u64))));
        events.push(Event::PacketReceived(packet(kind, None)));
    }
    for reason in [
        DropReason::KeyUnavailable,
        DropReason::DecryptionFailure,
        DropReason::HeaderParse,
        DropReason::Duplicate,
        DropReason::UnknownConnection,
        DropReason::UnsupportedVersion,
        DropReason::Invalid,
    ] {
        events.push(Event::PacketDropped { kind: PacketKind::Handshake, length: 77, reason });
    }
    events.extend(LossTrigger::ALL.map(|trigger| Event::PacketLost {
        kind: PacketKind::OneRtt,
        number: 5,
        trigger,
    }));
    events.extend(metrics().map(Event::Metrics));
    let spans = [Duration::from_millis(5); Wait::ALL.len()];
    events.extend(Wait::ALL.map(|wait| {
        Event::Waits(Waited { wait, spans, gap: Duration::from_millis(7), in_gap: wait == Wait::Window })
    }));
    events.extend(["slow_start", "recovery"].map(|state| Event::CongestionState { state }));
    events.extend([None, Some((7, 12))].map(|unvalidated| {
        Event::ResumePhase(Box::new(ResumePhase {
            old: unvalidated.map(|_| "reconnaissance"),
            new: "unvalidated",
            trigger: unvalidated.map(|_| "congestion_window_limited"),
            pipe_size: 29_000,
            unvalidated,
            window: 150_000,
            ssthresh: unvalidated.map(|_| 75_000),
            saved: (300_000, Duration::from_millis(600)),
        }))
    }));
    events.push(Event::SavedPath { carrier: "store", result: "expired" });
    events.push(Event::Gauge { name: "bottleneck_rate_mbps", value: 9.5 });
    events.push(Event::Gauge { name: "unknown_ms", value: f64::NAN });
    events.push(Event::ObjectLoaded(Box::default()));
    events.push(Event::VideoSegment(Box::default()));
    events.push(Event::PlaybackChanged(Box::default()));
    for stream in 0..4 {
        events.push(Event::StreamOpened { stream, local: stream & 1 == 0 });
        events.push(Event::StreamWritten { stream, offset: 1 << 40, length: 1200 });
        events.push(Event::StreamClosed { stream, sent: 10, received: 20 });
        events.push(Event::MessageWritten(message(stream)));
        events.push(Event::MessageDelivered(message(stream)));
    }
    for (local, application, code, reason) in [
        (true, true, 7, "done"),
        (false, false, 0x0a, "a frame in the wrong packet"),
        (false, false, 0x128, ""),
        (true, false, 0, "idle timeout"),
        (false, false, 0, "stateless reset"),
        (true, false, 0, "no common version"),
        (true, false, 1 << 40, ""),
    ] {
        events.push(Event::ConnectionClosed { local, application, code, reason: reason.to_owned() });
    }
    let times = (0..).map(|at| Time::from_nanos(at * 1_234_567));
    times.zip(events).map(|(time, event)| Record { time, event }).collect()
}

/// Metrics: initial values, a change, no change, and values that cannot be unset.
pub(crate) fn metrics() -> [Metrics; 4] {
    let first = Metrics { cwnd: 12_000, ..Metrics::default() };
    let second = Metrics {
        bytes_in_flight: 1200,
        ssthresh: Some(24_000),
        latest_rtt: Some(Duration::from_nanos(40_123_456)),
        smoothed_rtt: Duration::from_millis(40),
        min_rtt: Some(Duration::from_millis(40)),
        rtt_variance: Duration::from_micros(1),
        pacing_rate: Some(Rate::from_bits_per_sec(10_000_000)),
        delivery_rate: Some(Rate::from_bits_per_sec(9_000_000)),
        pto_count: 70_000,
        ..first
    };
    [first, second, second, Metrics { ssthresh: None, pacing_rate: None, ..second }]
}

/// Events of a link.
pub(crate) fn link() -> Vec<Record> {
    let events = [
        Event::Queue { packets: 3, bytes: 4500 },
        Event::NetworkDrop { length: 1500, reason: "queue" },
        Event::Delivered { length: 1500 },
        Event::Capacity { rate: Rate::from_bits_per_sec(12_000_000) },
        Event::Block(Block {
            bytes: 9422,
            airtime_ns: 1_000_000,
            attempt: 2,
            mcs: 28,
            units: 100,
            fate: BlockFate::Received,
        }),
        Event::HandedOver(Stages { queue: Duration::from_millis(3), ..Stages::default() }),
        Event::Handover { site: 1, lost_blocks: 2 },
    ];
    events.into_iter().map(|event| Record { time: Time::from_nanos(250_000_000), event }).collect()
}
