//! The tables of a run's records.

mod samples;

use trace::columns::{Column, Columns, Data, Options, RARE, Table, lateness};
use trace::event::LossTrigger;
use trace::{Direction, Event, Interest, Metrics, PacketKind, Record, Role, Side, Sink, Subjects};
use units::{Duration, Rate, Time};

/// The tables of two connection ends with every event that is of interest, and of one link.
fn tables(options: Options) -> Vec<Table> {
    let mut subjects = Subjects::new();
    let client = subjects.register("download", Role::Connection(Side::Client));
    let server = subjects.register("download", Role::Connection(Side::Server));
    let link = subjects.register("cell", Role::Link(Direction::Backward));
    let mut sink = Columns::new(options);
    let interest = sink.interest();
    for record in samples::connection().iter().filter(|record| interest.covers(&record.event)) {
        sink.record(subjects.get(server), record).unwrap();
        sink.record(subjects.get(client), record).unwrap();
    }
    let link_records = samples::link();
    let covered = link_records.iter().filter(|record| interest.covers(&record.event));
    covered.for_each(|record| sink.record(subjects.get(link), record).unwrap());
    let node = subjects.register("ap", Role::Node);
    let gauge = Event::Gauge { name: "mappings", value: 2.0 };
    sink.record(subjects.get(node), &Record { time: Time::ZERO, event: gauge }).unwrap();
    sink.finish().unwrap();
    sink.into_tables()
}

fn find<'a>(tables: &'a [Table], name: &str) -> &'a Table {
    tables.iter().find(|table| table.name == name).unwrap()
}

/// A row in readable form.
fn row(table: &Table, row: usize) -> String {
    let cell = |column: &Column| match (column.text(row), column.number(row)) {
        (Some(text), _) => format!("{}={text}", column.name),
        (None, Some(number)) => format!("{}={number}", column.name),
        (None, None) => format!("{}=null", column.name),
    };
    table.columns.iter().map(cell).collect::<Vec<_>>().join(" ")
}

const PACKETS: Options =
    Options { packets: true, blocks: true, metrics: true, rows: 1000, bin: Duration::from_millis(100) };

/// The tables as docs/results.md lists them: `loss: time_s, connection, number?`, where `?` marks columns that can be null.
fn documented() -> Vec<String> {
    let page = include_str!("../../../docs/results.md");
    let (_, list) =
        page.split_once("| table | columns |\n| --- | --- |\n").expect("the page lists the tables");
    let row = |line: &str| line.strip_prefix("| `")?.strip_suffix(" |").map(|row| row.replace("` | ", ": "));
    list.lines().map_while(row).collect()
}

#[test]
fn names_and_columns_are_those_of_the_page() {
    let tables = tables(PACKETS);
    let name =
        |column: &Column| format!("{}{}", column.name, if column.validity.is_some() { "?" } else { "" });
    let late = lateness([]);
    let shown = tables.iter().chain([&late]).map(|table| {
        let names: Vec<String> = table.columns.iter().map(name).collect();
        format!("{}: {}", table.name, names.join(", "))
    });
    assert_eq!(shown.collect::<Vec<_>>(), documented());
    for table in &tables {
        assert!(
            table.columns.iter().all(|column| column.data.len() == table.rows()),
            "{} is ragged",
            table.name
        );
        assert!(table.rows() > 0 && table.note().is_none());
    }
}

#[test]
fn a_block_is_a_row() {
    let tables = tables(PACKETS);
    let block = row(find(&tables, "block"), 0);
    assert!(
        block.ends_with("bytes=9422 airtime_us=1000 attempt=2 mcs=28 resource_blocks=100 fate=received"),
        "{block}"
    );
}

#[test]
fn rows_of_each_table() {
    let tables = tables(PACKETS);
    let first = |name: &str, at: usize| row(find(&tables, name), at);
    assert_eq!(
        first("connection", 1).split_once(' ').unwrap().1,
        "connection=download side=client cwnd_bytes=12000 bytes_in_flight=0 ssthresh_bytes=null latest_rtt_ms=null \
         smoothed_rtt_ms=0 min_rtt_ms=null rtt_variance_ms=0 pacing_rate_mbps=null delivery_rate_mbps=null pto_count=0"
    );
    assert_eq!(
        first("connection", 2).split_once(' ').unwrap().1,
        "connection=download side=server cwnd_bytes=12000 bytes_in_flight=1200 ssthresh_bytes=24000 \
         latest_rtt_ms=40.123456 smoothed_rtt_ms=40 min_rtt_ms=40 rtt_variance_ms=0.001 pacing_rate_mbps=10 \
         delivery_rate_mbps=9 pto_count=70000"
    );
    assert_eq!(first("node", 0), "time_s=0 node=ap gauge=mappings value=2");
    assert!(first("loss", 2).ends_with("side=server kind=1RTT number=5 trigger=time_threshold"));
    assert!(
        first("event", 0)
            .ends_with("event=connection_started detail=local 10.0.0.1:5000 remote [2001:db8::1]:443")
    );
    assert!(first("event", 3).ends_with("side=client event=connection_state detail=attempted"));
    let details: Vec<&str> = {
        let events = find(&tables, "event");
        (0..events.rows()).step_by(2).map(|row| events.column("detail").unwrap().text(row).unwrap()).collect()
    };
    assert!(details.contains(&"server_1rtt_secret phase 3"));
    assert!(details.contains(&"remote transport 0xa a frame in the wrong packet"));
    assert!(details.iter().any(|detail| detail.starts_with("local max_idle_timeout=30000 ")));
    assert!(first("gauge", 0).ends_with("gauge=bottleneck_rate_mbps value=9.5"));
    assert!(first("packet", 0).ends_with(
        "direction=sent kind=initial number=0 length_bytes=1200 frames=PADDING,PING,ACK,ACK,RESET_STREAM,\
         STOP_SENDING,CRYPTO,NEW_TOKEN,STREAM,STREAM,MAX_DATA,MAX_STREAM_DATA,MAX_STREAMS,MAX_STREAMS,DATA_BLOCKED,\
         STREAM_DATA_BLOCKED,STREAMS_BLOCKED,NEW_CONNECTION_ID,RETIRE_CONNECTION_ID,PATH_CHALLENGE,PATH_RESPONSE,\
         CONNECTION_CLOSE,CONNECTION_CLOSE,CONNECTION_CLOSE,CONNECTION_CLOSE,CONNECTION_CLOSE,HANDSHAKE_DONE,DATAGRAM,DATAGRAM,ACK_FREQUENCY,BDP_FRAME,IMMEDIATE_ACK,RESET_STREAM_AT"
    ));
    assert!(
        first("packet", 2).ends_with("direction=received kind=initial number=null length_bytes=1200 frames=")
    );
    assert!(
        first("packet", 36).ends_with("direction=dropped kind=handshake number=null length_bytes=77 frames=")
    );
    assert!(first("stream", 1).starts_with("connection=download side=client stream=0 opened_s="));
    assert!(first("stream", 1).ends_with("sent_bytes=10 received_bytes=20"));
    assert_eq!(first("queue", 0), "time_s=0.25 link=cell backward packets=3 bytes=4500");
    assert_eq!(first("drop", 0), "time_s=0.25 link=cell backward length_bytes=1500 reason=queue");
    assert_eq!(first("rate", 0), "time_s=0 subject=download client kind=sent mbps=0.096");
    assert_eq!(first("rate", 2), "time_s=0.2 subject=cell backward kind=delivered mbps=0.12");
    assert_eq!(first("rate", 3), "time_s=0.25 subject=cell backward kind=capacity mbps=12");
}

#[test]
fn packets_only_if_asked_for() {
    let options = Options { packets: false, ..PACKETS };
    assert!(tables(options).iter().all(|table| table.name != "packet"));
    let wanted = Columns::new(options).interest();
    assert_eq!(wanted, Interest { packets: false, metrics: true, lifecycle: true });
    assert_eq!(Columns::new(PACKETS).interest(), Interest::ALL);
    // Losses and rates do not depend on single packets.
    assert!(wanted.losses() && wanted.datagrams());
    let rare = Columns::new(Options { metrics: false, ..options }).interest();
    assert!(!rare.losses() && !rare.datagrams() && rare.lifecycle);
}

/// The tables that need no metrics are made from the events of the lifecycle alone.
#[test]
fn rare_tables_are_the_same_without_metrics() {
    let options = Options { packets: false, blocks: false, ..PACKETS };
    let (all, rare) = (tables(options), tables(Options { metrics: false, ..options }));
    for name in RARE {
        let [all, rare] = [&all, &rare].map(|tables| find(tables, name));
        assert!(all.rows() == rare.rows() && all.rows() > 0, "{name}");
    }
    assert!(find(&all, "connection").rows() > 0 && find(&rare, "connection").rows() == 0);
}

#[test]
fn full_tables_have_a_note() {
    let mut subjects = Subjects::new();
    let end = subjects.register("download", Role::Connection(Side::Server));
    let mut sink = Columns::new(Options { rows: 10, ..Options::default() });
    for at in 0..100 {
        let time = Time::from_nanos(at * 1_000_000_000);
        let metrics = Event::Metrics(Metrics { cwnd: at, ..Metrics::default() });
        let lost = Event::PacketLost { kind: PacketKind::OneRtt, number: at, trigger: LossTrigger::Probe };
        for event in [metrics, lost] {
            sink.record(subjects.get(end), &Record { time, event }).unwrap();
        }
    }
    let tables = sink.into_tables();
    let series = find(&tables, "connection");
    let window = series.column("cwnd_bytes").unwrap();
    let kept: Vec<f64> = (0..series.rows()).map(|row| window.number(row).unwrap()).collect();
    assert_eq!(kept, [0.0, 16.0, 32.0, 48.0, 64.0, 80.0, 96.0], "thinned, and evenly over the whole run");
    assert_eq!(series.left_out, 93);
    let lost = find(&tables, "loss");
    assert_eq!((lost.rows(), lost.left_out, lost.column("number").unwrap().number(9)), (10, 90, Some(9.0)));
    assert!(series.note().unwrap().contains("93") && lost.note().unwrap().contains("90"));
}

#[test]
fn buffers_are_as_arrow_has_them() {
    let tables = tables(PACKETS);
    for column in tables.iter().flat_map(|table| &table.columns) {
        if let Some(validity) = &column.validity {
            assert_eq!(validity.len(), column.data.len());
            let nulls = (0..column.data.len()).filter(|row| column.is_null(*row)).count();
            assert_eq!(validity.unset(), nulls);
        }
        if let Data::Text(text) = &column.data {
            assert_eq!(text.words.offsets().len(), text.words.len() + 1);
            assert_eq!(*text.words.offsets().last().unwrap() as usize, text.words.bytes().len());
            assert!(text.codes.iter().all(|code| (*code as usize) < text.words.len()), "{}", column.name);
        }
    }
}

#[test]
fn an_object_is_a_row() {
    let mut subjects = Subjects::new();
    let client = subjects.register("get", Role::Connection(Side::Client));
    let mut sink = Columns::new(PACKETS);
    let at = |seconds: u64| Some(Time::ZERO + Duration::from_millis(1000 * seconds));
    let whole = trace::ObjectLoaded {
        page: 1,
        object: 2,
        stream: Some(8),
        bytes: 500,
        urgency: 3,
        requestable_at: at(1),
        requested_at: at(2),
        first_at: at(3),
        complete_at: at(4),
    };
    let nothing = trace::ObjectLoaded { page: 1, object: 3, ..Default::default() };
    for object in [whole, nothing] {
        let record = Record { time: Time::ZERO, event: Event::ObjectLoaded(Box::new(object)) };
        sink.record(subjects.get(client), &record).unwrap();
    }
    let tables = sink.into_tables();
    let table = find(&tables, "object");
    assert_eq!(
        row(table, 0),
        "connection=get page=1 object=2 stream=8 size_bytes=500 urgency=3 wanted_s=1 asked_s=2 first_byte_s=3 complete_s=4"
    );
    assert_eq!(
        row(table, 1),
        "connection=get page=1 object=3 stream=null size_bytes=0 urgency=0 wanted_s=null asked_s=null \
         first_byte_s=null complete_s=null"
    );
}

#[test]
fn a_download_of_a_video_and_a_change_of_its_playback_are_rows() {
    let mut subjects = Subjects::new();
    let client = subjects.register("get", Role::Connection(Side::Client));
    let mut sink = Columns::new(PACKETS);
    let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
    let segment = trace::VideoSegment {
        kind: "video",
        segment: Some(7),
        representation: 2,
        bitrate: Rate::from_bits_per_sec(1_500_000),
        duration: Duration::from_secs(2),
        size: 375_000,
        bytes: 1000,
        beside: 20,
        urgency: 3,
        stream: Some(8),
        asked_at: at(100),
        first_at: Some(at(250)),
        ended_at: Some(at(500)),
        buffer_before: Duration::from_secs(4),
        buffer_after: Some(Duration::from_millis(3600)),
        estimate: Some(Rate::from_bits_per_sec(2_000_000)),
        outcome: "abandoned",
    };
    let change = trace::PlaybackChange {
        at: at(500),
        what: "rate",
        position: Duration::from_secs(3),
        buffer: Duration::from_secs(1),
        representation: Some(2),
        bitrate: Some(Rate::from_bits_per_sec(1_500_000)),
        rate: 1_100_000,
        latency: Some(Duration::from_millis(4200)),
    };
    for event in [
        Event::VideoSegment(Box::new(segment)),
        Event::VideoSegment(Box::default()),
        Event::PlaybackChanged(Box::new(change)),
        Event::PlaybackChanged(Box::default()),
    ] {
        sink.record(subjects.get(client), &Record { time: Time::ZERO, event }).unwrap();
    }
    let tables = sink.into_tables();
    let segments = find(&tables, "segment");
    assert_eq!(
        row(segments, 0),
        "connection=get kind=video segment=7 representation=2 bitrate_mbps=1.5 duration_s=2 size_bytes=375000 \
         received_bytes=1000 beside_bytes=20 urgency=3 stream=8 asked_s=0.1 first_byte_s=0.25 ended_s=0.5 \
         buffer_before_s=4 buffer_after_s=3.6 estimate_mbps=2 outcome=abandoned"
    );
    assert!(row(segments, 1).contains(" segment=null ") && row(segments, 1).contains(" first_byte_s=null "));
    let changes = find(&tables, "playback");
    assert_eq!(
        row(changes, 0),
        "time_s=0.5 connection=get event=rate position_s=3 buffer_s=1 representation=2 bitrate_mbps=1.5 \
         playback_rate=1.1 latency_s=4.2"
    );
    assert!(
        row(changes, 1).ends_with("representation=null bitrate_mbps=null playback_rate=0 latency_s=null")
    );
}
