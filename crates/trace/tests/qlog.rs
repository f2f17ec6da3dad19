//! qlog files against the schemas, record by record and field by field.

mod cddl;
mod samples;

use cddl::Schema as Cddl;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, Write};
use trace::qlog::{Options, Qlog, Schema, Writer};
use trace::{Event, Interest, Packet, PacketKind, Record, Role, Side, Sink, Subjects};
use units::Time;
use wire::{Code, ConnectionId, Data, EcnCounts, Frame, StreamId};

const CURRENT: &str = include_str!("schema/qlog.cddl");
const V03: &str = include_str!("schema/qlog03.cddl");
const SCHEMAS: [(Schema, &str); 2] = [(Schema::Current, CURRENT), (Schema::V03, V03)];

fn file(schema: Schema, side: Side, records: &[Record]) -> Vec<Value> {
    let options = Options { schema, datagrams: true, own_fields: false, title: "a \"title\"".to_owned() };
    texts(&written(options, side, records))
}

fn written(options: Options, side: Side, records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "download", side, options);
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.flush().unwrap();
    writer.into_inner()
}

/// The texts of a JSON text sequence (RFC 7464): each begins with a record separator and ends with a line feed.
fn texts(file: &[u8]) -> Vec<Value> {
    let file = std::str::from_utf8(file).unwrap();
    let texts = file.strip_prefix('\u{1e}').unwrap().split('\u{1e}');
    let read = |text: &str| serde_json::from_str(text.strip_suffix('\n').expect("a line feed")).unwrap();
    texts.map(read).collect()
}

fn valid(schema: &Cddl, texts: &[Value]) {
    for (at, text) in texts.iter().enumerate() {
        let rule = if at == 0 { "Header" } else { "Event" };
        schema.check(rule, text).unwrap_or_else(|error| panic!("{error} in {text}"));
    }
}

#[test]
fn every_event_and_every_frame_is_valid() {
    for (mode, cddl) in SCHEMAS {
        let schema = Cddl::parse(cddl);
        for side in [Side::Client, Side::Server] {
            let texts = file(mode, side, &samples::connection());
            valid(&schema, &texts);
            let words =
                |rule: &str, member: &str| schema.words(rule, member).into_iter().collect::<BTreeSet<_>>();
            let seen = |text: &Value, key: &str| text[key].as_str().unwrap().to_owned();
            let names: BTreeSet<String> = texts[1..].iter().map(|text| seen(text, "name")).collect();
            assert_eq!(names, words("Event", "name"));
            let frames = texts.iter().filter_map(|text| text["data"]["frames"].as_array()).flatten();
            let frames: BTreeSet<String> = frames.map(|frame| seen(frame, "frame_type")).collect();
            assert_eq!(frames, words("QuicFrame", "frame_type"));
        }
    }
}

#[test]
fn the_checker_rejects_invalid_values() {
    let schema = Cddl::parse(CURRENT);
    let good = r#"{"time":1.5,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":3}}}"#;
    assert_eq!(schema.check("Event", &serde_json::from_str(good).unwrap()), Ok(()));
    for (from, to) in [
        ("1.5", "1"),
        ("\"time\":1.5,", ""),
        ("packet_lost", "packet_sent_lost"),
        ("1RTT", "2RTT"),
        (":3", ":-3"),
        (":3", ":\"3\""),
        ("packet_number", "number"),
        ("\"data\"", "\"more\":1,\"data\""),
        ("\"packet_type\":\"1RTT\",", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        assert!(schema.check("Event", &serde_json::from_str(&bad).unwrap()).is_err(), "{bad}");
    }
    let frame = |json: &str| schema.check("QuicFrame", &serde_json::from_str(json).unwrap());
    assert_eq!(frame(r#"{"frame_type":"ack","acked_ranges":[[1],[3,4]]}"#), Ok(()));
    assert!(frame(r#"{"frame_type":"ack","acked_ranges":[]}"#).is_err());
    assert!(frame(r#"{"frame_type":"ack","acked_ranges":[[1,2,3]]}"#).is_err());
    assert!(frame(r#"{"frame_type":"path_challenge","data":"0"}"#).is_err());
    assert!(frame(r#"{"frame_type":"connection_close","error":"crypto_error_0x1FF"}"#).is_err());
}

fn header(mode: Schema) -> Value {
    file(mode, Side::Server, &samples::connection()).swap_remove(0)
}

#[test]
fn the_header_describes_the_file() {
    let current = header(Schema::Current);
    assert_eq!(current["title"], "a \"title\"");
    assert_eq!(current["trace"]["common_fields"]["group_id"], "8394c8f03e515708");
    assert_eq!(current["trace"]["vantage_point"], serde_json::json!({"name": "download", "type": "server"}));
    // Implementations of drafts append the draft's number (quic-events-13 section 2.1).
    assert_eq!(current["trace"]["event_schemas"][0], "urn:ietf:params:qlog:events:quic-13");
    let old = header(Schema::V03);
    assert_eq!((old["qlog_version"].as_str(), old["qlog_format"].as_str()), (Some("0.3"), Some("JSON-SEQ")));
    let start =
        |schema| written(Options { schema, ..Options::default() }, Side::Client, &samples::connection());
    // What identifies a file should be in its first 256 bytes (main-schema-14 section 3).
    for (schema, word) in [(Schema::Current, "application/qlog+json-seq"), (Schema::V03, "JSON-SEQ")] {
        assert!(String::from_utf8_lossy(&start(schema)[..256]).contains(word));
    }
}

/// The data of all events with a name, in order.
fn data(mode: Schema, side: Side, name: &str) -> Vec<Value> {
    let texts = file(mode, side, &samples::connection());
    texts.into_iter().filter(|text| text["name"] == name).map(|mut text| text["data"].take()).collect()
}

#[test]
fn gauges_are_written_when_they_change() {
    let metrics = data(Schema::Current, Side::Client, "quic:recovery_metrics_updated");
    assert_eq!(metrics.len(), 2);
    assert_eq!(metrics[0], serde_json::json!({"congestion_window": 12_000, "bytes_in_flight": 0}));
    let expected = serde_json::json!({
        "min_rtt": 40.0, "smoothed_rtt": 40.0, "latest_rtt": 40.123456, "rtt_variance": 0.001,
        "pto_count": 65_535, "bytes_in_flight": 1200, "ssthresh": 24_000, "pacing_rate": 10_000_000,
    });
    assert_eq!(metrics[1], expected);
}

#[test]
fn own_fields_only_if_asked_for() {
    let options = Options { own_fields: true, ..Options::default() };
    let texts = texts(&written(options, Side::Client, &samples::connection()));
    let metrics: Vec<_> = texts
        .iter()
        .filter(|text| text["name"] == "quic:recovery_metrics_updated")
        .map(|text| &text["data"])
        .collect();
    assert_eq!(metrics[1]["delivery_rate"], 9_000_000);
    assert_eq!(*metrics[2], serde_json::json!({"bottleneck_rate_mbps": 9.5}));
    assert_eq!(metrics.len(), 3, "an infinite gauge is not written");
    assert!(
        !texts.iter().any(|text| text["name"] == "quic:udp_datagrams_sent"),
        "datagrams were not asked for"
    );
}

#[test]
fn frames_follow_the_schema() {
    let current = data(Schema::Current, Side::Client, "quic:packet_sent").swap_remove(0);
    assert_eq!(
        current["header"],
        serde_json::json!({
            "packet_type": "initial", "packet_number": 0, "scid": "01", "dcid": "abcd"
        })
    );
    assert_eq!((&current["raw"]["length"], &current["datagram_id"]), (&1200.into(), &0.into()));
    let frames = &current["frames"];
    assert_eq!(frames[2]["acked_ranges"], serde_json::json!([[9, 12], [7], [0, 3]]));
    assert_eq!(frames[2]["ack_delay"], 0.025);
    let ecn = (&frames[3]["ect0"], &frames[3]["ect1"], &frames[3]["ce"]);
    assert_eq!(ecn, (&1.into(), &2.into(), &3.into()));
    assert_eq!(
        frames[8],
        serde_json::json!({
            "frame_type": "stream", "stream_id": 0, "offset": 0, "raw": {"length": 1100}
        })
    );
    assert_eq!(frames[9]["fin"], true);
    assert_eq!(frames[22]["reason"], "a \"quoted\" reason\nwith \u{1e} and \u{7f} and ü");
    assert_eq!(frames[22]["error"], "protocol_violation");
    assert_eq!(frames[23]["error"], "crypto_error_0x128");
    assert_eq!((&frames[24]["error"], &frames[24]["error_code"]), (&"unknown".into(), &0x4242.into()));
    assert_eq!((&frames[25]["error"], &frames[25]["error_code"]), (&"unknown".into(), &0x128.into()));
    let old = data(Schema::V03, Side::Client, "transport:packet_sent").swap_remove(0);
    assert_eq!(old["frames"][2]["acked_ranges"], serde_json::json!([[9, 12], [7, 7], [0, 3]]));
    assert_eq!(old["frames"][8]["length"], 1100);
    assert_eq!(old["frames"][22]["error_code"], "protocol_violation");
    let received = data(Schema::Current, Side::Client, "quic:packet_received").swap_remove(0);
    assert!(received.get("datagram_id").is_none(), "it does not fit 32 bits");
}

#[test]
fn a_stream_has_a_state_for_each_of_its_sides() {
    let sides = |side| {
        let events = data(Schema::Current, side, "quic:stream_state_updated");
        let opened = events.into_iter().filter(|event| event["new"] == "open");
        opened
            .map(|event| format!("{} {}", event["stream_id"], event["stream_side"].as_str().unwrap()))
            .collect()
    };
    let client: Vec<String> = sides(Side::Client);
    assert_eq!(client, ["0 sending", "0 receiving", "1 sending", "1 receiving", "2 sending", "3 receiving"]);
    let server: Vec<String> = sides(Side::Server);
    assert_eq!(server, ["0 sending", "0 receiving", "1 sending", "1 receiving", "2 receiving", "3 sending"]);
}

#[test]
fn written_data_is_traced_as_moved_to_the_transport() {
    let current = data(Schema::Current, Side::Client, "quic:stream_data_moved").swap_remove(1);
    let expected = serde_json::json!({
        "stream_id": 1, "offset": 1_u64 << 40, "from": "application", "to": "transport", "raw": {"length": 1200}
    });
    assert_eq!(current, expected);
    let old = data(Schema::V03, Side::Client, "transport:data_moved").swap_remove(1);
    assert_eq!((&old["length"], &old["from"]), (&1200.into(), &"application".into()));
}

#[test]
fn why_a_connection_closed() {
    let closed = data(Schema::Current, Side::Client, "quic:connection_closed");
    let triggers: Vec<&str> = closed.iter().map(|event| event["trigger"].as_str().unwrap()).collect();
    let expected =
        ["application", "error", "error", "idle_timeout", "stateless_reset", "version_mismatch", "error"];
    assert_eq!(triggers, expected);
    assert_eq!(closed[0]["error_code"], 7);
}

/// An output that is full after this many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_and_stays_one() {
    let mut writer = Writer::new(Full(200_000), "download", Side::Client, Options::default());
    let record =
        Record { time: Time::ZERO, event: Event::PacketSent(samples::packet(PacketKind::OneRtt, Some(1))) };
    let error = (0..1000).find_map(|_| writer.write(&record).err()).expect("an error");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(writer.write(&record).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
}

#[test]
fn the_sink_writes_a_file_per_connection_end() {
    let mut subjects = Subjects::new();
    let ends = [Side::Client, Side::Server].map(|side| subjects.register("download", Role::Connection(side)));
    let link = subjects.register("cell", Role::Link(trace::Direction::Forward));
    let mut opened = Vec::new();
    let mut sink = Qlog::new(Options::default(), |subject: &trace::Subject| {
        opened.push(subject.label().to_owned());
        Ok(Vec::new())
    });
    assert_eq!(sink.interest(), Interest::ALL);
    for record in samples::connection() {
        sink.record(subjects.get(ends[1]), &record).unwrap();
        sink.record(subjects.get(ends[0]), &record).unwrap();
    }
    samples::link().iter().for_each(|record| sink.record(subjects.get(link), record).unwrap());
    sink.finish().unwrap();
    let files = sink.into_writers();
    assert_eq!(opened, ["download server", "download client"]);
    let types: Vec<Value> =
        files.iter().map(|file| texts(file)[0]["trace"]["vantage_point"]["type"].clone()).collect();
    assert_eq!(types, ["client", "server"]);
    let mut failing = Qlog::new(Options::default(), |_: &trace::Subject| {
        Err::<Vec<u8>, _>(io::ErrorKind::PermissionDenied.into())
    });
    let error = failing.record(subjects.get(ends[0]), &samples::connection()[0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
}

/// The bytes of a frame with arbitrary field values.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let number = || 0..=wire::varint::MAX;
    let encoded = |frame: Frame<'_>| {
        let mut out = Vec::new();
        frame.encode(&mut out);
        out
    };
    let counts = || (number(), number(), number());
    prop_oneof![
        (number(), prop::collection::vec((0u64..1 << 40, 0u64..1 << 40), 1..4), prop::option::of(counts()))
            .prop_map(|(delay, steps, counts)| {
                let mut top = 1 << 50;
                let ranges = steps.into_iter().map(|(gap, length)| {
                    let end = top - gap;
                    top = end - length - 2;
                    end - length..=end
                });
                let counts = counts.map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce });
                let mut out = Vec::new();
                assert!(wire::frame::ack(&mut out, ranges, delay, counts, 500) > 0);
                out
            }),
        (number(), 0u64..1 << 60, prop::collection::vec(any::<u8>(), 0..9), any::<bool>()).prop_map(
            move |(id, offset, data, fin)| {
                let (id, data) = (StreamId::from_value(id), Data::Bytes(&data));
                encoded(Frame::Stream { id, offset, data, fin })
            }
        ),
        (0u64..1 << 60, any::<Vec<u8>>())
            .prop_map(move |(offset, data)| encoded(Frame::Crypto { offset, data: &data })),
        (any::<bool>(), number(), number(), any::<Vec<u8>>()).prop_map(
            move |(application, code, frame_type, reason)| encoded(if application {
                Frame::ApplicationClose { code, reason: &reason }
            } else {
                Frame::ConnectionClose { code: Code(code), frame_type, reason: &reason }
            })
        ),
        (number(), any::<([u8; 20], usize)>(), any::<[u8; 16]>()).prop_map(
            move |(sequence, (id, length), token)| {
                let id = ConnectionId::new(&id[..1 + length % 20]).unwrap();
                encoded(Frame::NewConnectionId { sequence, retire_prior_to: sequence / 2, id, token })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn any_packet_is_valid(
        kind in 0usize..8,
        (number, datagram) in (any::<Option<u64>>(), any::<u64>()),
        length in any::<u32>(),
        ids in any::<([u8; 20], usize, usize)>(),
        frames in prop::collection::vec(frame(), 0..5),
        time in any::<u64>(),
    ) {
        let kind = PacketKind::ALL[kind];
        let (id, a, b) = ids;
        let (source, destination) = (id[..a % 21].to_vec(), id[..b % 21].to_vec());
        let contents = samples::contents(frames.concat());
        let packet = Box::new(Packet { kind, number, length, destination, source, contents, datagram });
        let record = Record { time: Time::from_nanos(time), event: Event::PacketSent(packet) };
        for (mode, cddl) in SCHEMAS {
            let schema = Cddl::parse(cddl);
            for text in &file(mode, Side::Client, std::slice::from_ref(&record))[1..] {
                prop_assert_eq!(schema.check("Event", text), Ok(()));
            }
        }
    }
}
