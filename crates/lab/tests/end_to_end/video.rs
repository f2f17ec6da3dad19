//! Videos: a player and a server over each version of HTTP, from start-up to the end, and laws over drawn sessions.

use crate::bed::{ONE_LINK, Run, assert_equal, run, scenario};
use random::Generator;
use trace::columns::Table;

const VERSIONS: [(&str, &str); 3] = [("http1.1", "tcp"), ("http2", "tcp"), ("http3", "quic")];
const TABLES: &str = "record.tables=[\"event\", \"segment\", \"playback\", \"stream\"]";
/// 24 s of video: 0.5, 1, 2 and 4 Mbit/s in segments of 2 s.
const LADDER: &str = r#"{ type = "ladder", bitrates = ["500 kbit/s", "1 Mbit/s", "2 Mbit/s", "4 Mbit/s"], segment = "2 s", duration = "24 s", variation = 0.3, initialization = "800 B" }"#;
/// The same with sound in segments of 1 s.
const WITH_SOUND: &str = r#"{ type = "ladder", bitrates = ["500 kbit/s", "1 Mbit/s", "2 Mbit/s"], segment = "2 s", duration = "24 s", audio = ["64 kbit/s", "128 kbit/s"], audio_segment = "1 s" }"#;

fn video(presentation: &str, more: &str) -> String {
    format!("flow.get.application={{ type = \"video\", presentation = {presentation}{more} }}")
}

/// Runs a video over a version of HTTP.
fn play(over: (&str, &str), application: &str, sets: &[&str]) -> Run {
    let over_set = format!("flow.get.application.over={}", over.0);
    let protocol = format!("flow.get.protocol={}", over.1);
    let all = [&[application, over_set.as_str(), &protocol, TABLES, "duration=120 s"], sets].concat();
    run(&scenario(ONE_LINK, &all))
}

/// A row of the table `segment`.
#[derive(Debug, Clone)]
struct Download {
    kind: String,
    segment: Option<usize>,
    representation: usize,
    duration: f64,
    size: f64,
    received: f64,
    beside: f64,
    stream: Option<u64>,
    asked: f64,
    first: Option<f64>,
    ended: Option<f64>,
    before: f64,
    after: Option<f64>,
    outcome: String,
}

/// A row of the table `playback`.
#[derive(Debug, Clone)]
struct Change {
    time: f64,
    event: String,
    position: f64,
    rate: f64,
    latency: Option<f64>,
}

fn rows<T>(
    table: &Table,
    flow: &str,
    row: impl Fn(&dyn Fn(&str) -> Option<f64>, &dyn Fn(&str) -> String) -> T,
) -> Vec<T> {
    let of_flow = |at: &usize| table.column("connection").unwrap().text(*at) == Some(flow);
    let read = |at: usize| {
        let number = |name: &str| table.column(name).unwrap().number(at);
        let text = |name: &str| table.column(name).unwrap().text(at).unwrap().to_owned();
        row(&number, &text)
    };
    (0..table.rows()).filter(of_flow).map(read).collect()
}

fn downloads(run: &Run, flow: &str) -> Vec<Download> {
    rows(run.table("segment"), flow, |number, text| Download {
        kind: text("kind"),
        segment: number("segment").map(|segment| segment as usize),
        representation: number("representation").unwrap() as usize,
        duration: number("duration_s").unwrap(),
        size: number("size_bytes").unwrap(),
        received: number("received_bytes").unwrap(),
        beside: number("beside_bytes").unwrap(),
        stream: number("stream").map(|stream| stream as u64),
        asked: number("asked_s").unwrap(),
        first: number("first_byte_s"),
        ended: number("ended_s"),
        before: number("buffer_before_s").unwrap(),
        after: number("buffer_after_s"),
        outcome: text("outcome"),
    })
}

fn changes(run: &Run, flow: &str) -> Vec<Change> {
    rows(run.table("playback"), flow, |number, text| Change {
        time: number("time_s").unwrap(),
        event: text("event"),
        position: number("position_s").unwrap(),
        rate: number("playback_rate").unwrap(),
        latency: number("latency_s"),
    })
}

fn number(run: &Run, flow: &str, name: &str) -> f64 {
    let numbers = &run.connection(flow)["playback"];
    numbers[name].as_f64().unwrap_or_else(|| panic!("{name} in {numbers}"))
}

/// The laws of a playback of a flow that starts at this time.
#[track_caller]
fn laws(run: &Run, flow: &str, start: f64, max_buffer: f64, what: &str) {
    let (downloads, changes) = (downloads(run, flow), changes(run, flow));
    let near = |a: f64, b: f64| (a - b).abs() < 2e-6;
    // The bytes of segments are those of the application, and of its streams.
    let received: f64 = downloads.iter().map(|one| one.received).sum();
    let entry = run.connection(flow);
    let part = entry["parts"].get("video").unwrap_or(entry);
    assert_eq!(part["delivered_bytes"].as_f64(), Some(received), "{what}");
    let streams = run.table("stream");
    let of_client = rows(streams, flow, |number, text| {
        (text("side") == "client", number("stream").unwrap(), number("received_bytes"))
    });
    for (stream, carried) in of_client.into_iter().filter_map(|(is_client, stream, carried)| {
        carried.filter(|_| is_client).map(|carried| (stream, carried))
    }) {
        let bodies: f64 =
            downloads.iter().filter(|one| one.stream == Some(stream as u64)).map(|one| one.received).sum();
        // Heads and frames of HTTP are on the stream as well.
        assert!(bodies <= carried, "{what}: stream {stream}: {bodies} of {carried}");
    }
    for one in &downloads {
        let times = [one.asked, one.first.unwrap_or(one.asked), one.ended.unwrap_or(f64::INFINITY)];
        assert!(start <= one.asked && times.is_sorted(), "{what}: {one:?}");
        assert!(one.received <= one.size && one.outcome != "underway", "{what}: {one:?}");
        assert!(one.outcome != "complete" || one.received == one.size, "{what}: {one:?}");
        let levels = [one.before, one.after.unwrap_or(0.0)];
        assert!(levels.iter().all(|level| (0.0..=max_buffer + 1e-9).contains(level)), "{what}: {one:?}");
    }
    // Positions never go back but by seeks, and follow the rate.
    let jumps = changes.iter().any(|change| change.event == "seek");
    for pair in changes.windows(2).filter(|pair| pair[1].event != "seek") {
        let moved = pair[0].position + (pair[1].time - pair[0].time) * pair[0].rate;
        assert!(near(moved, pair[1].position), "{what}: {pair:?}");
    }
    let last = changes.last().unwrap();
    assert_eq!(changes.iter().filter(|change| change.event == "end").count(), 1, "{what}");
    assert_eq!(last.event, "end", "{what}");
    // What was played, the stalls, start-up and seeking are the time.
    let [played, stalled, seeking] =
        ["played_s", "stalled_s", "seeking_s"].map(|name| number(run, flow, name));
    if let Some(start_up) = run.connection(flow)["playback"]["start_up_s"].as_f64().filter(|_| !jumps) {
        let sum = start_up + played + stalled + seeking;
        assert!(near(sum, last.time - start), "{what}: {sum} until {}", last.time);
    } else {
        assert!(played + stalled + seeking <= last.time - start + 2e-6, "{what}");
    }
    if let Some(end) = run.connection(flow)["playback"]["end_s"].as_f64() {
        assert!(near(end, last.time - start), "{what}");
        // It is complete with the last byte, before its end is played.
        let part = &run.connection(flow)["parts"]["video"];
        let itself = if part.is_null() { run.connection(flow) } else { part };
        let completion = itself["completion_s"].as_f64().unwrap();
        assert!(completion <= end + 2e-6, "{what}");
        if downloads.iter().all(|one| one.outcome == "complete") {
            let last = downloads.iter().filter_map(|one| one.ended).fold(0.0, f64::max);
            assert!(near(completion, last - start), "{what}: {completion}");
        }
    }
    // Each segment is played once at most, and in its order, unless playback jumps.
    for kind in ["video", "audio"] {
        let is_over = |one: &&Download| matches!(one.outcome.as_str(), "complete" | "cut");
        let complete = downloads.iter().filter(|one| one.kind == kind).filter(is_over);
        let complete: Vec<usize> = complete.filter_map(|one| one.segment).collect();
        assert!(jumps || complete.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{what}: {complete:?}");
    }
}

#[test]
fn every_version_plays_a_video() {
    for over in VERSIONS {
        for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=2 %"] {
            let run = play(over, &video(LADDER, ""), &[loss]);
            let what = format!("{over:?} {loss}");
            laws(&run, "get", 0.0, 30.0, &what);
            assert_eq!(run.connection("get")["completed"], true, "{what}");
            assert_eq!(run.connection("get")["clean"], true, "{what}");
            assert!((number(&run, "get", "played_s") - 24.0).abs() < 1e-6, "{what}");
            assert_eq!(number(&run, "get", "segments_played"), 12.0, "{what}");
            // The handshake and a round trip of 40 ms at least.
            assert!(number(&run, "get", "start_up_s") > 0.08, "{what}");
        }
    }
}

#[test]
fn sound_and_pictures_are_played_under_both_protections() {
    for over in VERSIONS {
        let tls = if over.1 == "tcp" { "tcp.tls=tls1.3" } else { "transport.ack_ratio=2" };
        let [null, again, tls] = ["null", "null", "tls"].map(|protection| {
            let protection = format!("tls.protection={protection}");
            play(over, &video(WITH_SOUND, ""), &["link.cell.both.loss=1 %", &protection, tls])
        });
        laws(&null, "get", 0.0, 30.0, over.0);
        assert_eq!(null.connection("get")["completed"], true, "{}", over.0);
        assert_equal(&null, &again, over.0);
        assert_equal(&null, &tls, over.0);
        let audio = downloads(&null, "get").iter().filter(|one| one.kind == "audio").count();
        assert_eq!(audio, 24, "{}", over.0);
    }
}

/// What is given up ends its stream; over HTTP/1.1 its connection, and the next request opens another one.
#[test]
fn what_is_given_up_is_asked_for_again() {
    let slower = "link.cell.forward.rate={ type = \"changes\", steps = [[\"0 s\", \"8 Mbit/s\"], [\"4 s\", \"300 kbit/s\"], [\"14 s\", \"8 Mbit/s\"]] }";
    for over in VERSIONS {
        let application = video(LADDER, ", abr = { type = \"bola\" }, max_buffer = \"12 s\"");
        let run = play(over, &application, &[slower]);
        laws(&run, "get", 0.0, 12.0, over.0);
        let downloads = downloads(&run, "get");
        let given_up: Vec<usize> =
            (0..downloads.len()).filter(|at| downloads[*at].outcome == "abandoned").collect();
        assert!(!given_up.is_empty(), "{}: {downloads:?}", over.0);
        assert_eq!(number(&run, "get", "abandoned"), given_up.len() as f64, "{}", over.0);
        for at in &given_up {
            let (one, next) = (&downloads[*at], &downloads[at + 1]);
            assert_eq!(next.asked, one.ended.unwrap());
            assert!(next.representation < one.representation, "{one:?} {next:?}");
        }
        let opened = run.rows("event", &[("side", "client"), ("event", "connection_started")]).len();
        let expected = if over.0 == "http1.1" { 1 + given_up.len() } else { 1 };
        assert_eq!(opened, expected, "{}", over.0);
        assert_eq!(run.connection("get")["completed"], true, "{}", over.0);
    }
}

#[test]
fn a_second_visit_starts_earlier_by_a_round_trip() {
    let sets = [
        "tls.tickets=1",
        "tls.early_data=true",
        "flow.get.early_data=true",
        "flow.get.visits=[{ at = \"40 s\" }]",
        "link.cell.both.delay=200 ms",
    ];
    let run = play(VERSIONS[2], &video(LADDER, ", abr = { type = \"fixed\" }"), &sets);
    laws(&run, "get", 0.0, 30.0, "first");
    laws(&run, "get@2", 40.0, 30.0, "second");
    let [first, second] = ["get", "get@2"].map(|visit| number(&run, visit, "start_up_s"));
    assert!((0.3..0.5).contains(&(first - second)), "{first} {second}");
    assert_eq!(downloads(&run, "get@2")[0].asked, 40.0, "asked for in 0-RTT packets");
}

/// With a pace a segment takes its duration divided by it; without, as long as the link needs.
#[test]
fn a_server_keeps_the_pace_that_it_is_asked_for() {
    let constant = LADDER.replace("variation = 0.3, initialization = \"800 B\"", "variation = 0");
    let fixed = ", abr = { type = \"fixed\", representation = 1 }, max_buffer = \"8 s\"";
    for over in VERSIONS {
        for (pace, expected) in [("", 0.2), (", pace = 2.0", 1.0), (", pace = 4.0", 0.5)] {
            let run = play(over, &video(&constant, &format!("{fixed}{pace}")), &[]);
            laws(&run, "get", 0.0, 8.0, over.0);
            // 250 kB in 16 parts, of which the last follows the first after 15 of 16 times the span; the link adds 40 ms and the
            // time of its bytes.
            for one in downloads(&run, "get").iter().skip(3) {
                let span = one.ended.unwrap() - one.asked;
                let least = if pace.is_empty() { 0.2 } else { expected * 15.0 / 16.0 };
                assert!(span > least && span < expected + 0.12, "{} {pace}: {one:?}", over.0);
            }
        }
    }
}

fn live(more: &str) -> String {
    let sound = WITH_SOUND.replace("duration = \"24 s\"", "duration = \"100 s\"");
    video(&sound, &format!(", since = \"30 s\", until = \"60 s\"{more}"))
}

/// The bytes of a segment never arrive before they were filmed.
#[test]
fn live_segments_arrive_after_they_were_filmed() {
    for over in VERSIONS {
        for (more, chunk) in [
            (", latency = \"5 s\"", None),
            (
                ", latency = \"2 s\", chunk = \"250 ms\", start_up = \"200 ms\", resume = \"200 ms\"",
                Some(0.25),
            ),
        ] {
            let run = play(over, &live(more), &["link.cell.both.loss=0.5 %"]);
            let what = format!("{} {more}", over.0);
            laws(&run, "get", 0.0, 30.0, &what);
            assert_eq!(run.connection("get")["completed"], true, "{what}");
            for one in downloads(&run, "get") {
                let start = one.segment.unwrap() as f64 * one.duration;
                let filmed = |media: f64| start + media - 30.0;
                assert!(one.asked >= filmed(chunk.unwrap_or(one.duration)) - 1e-9, "{what}: {one:?}");
                if one.outcome == "complete" {
                    // The last byte takes at least the delay of the link.
                    assert!(one.ended.unwrap() >= filmed(one.duration) + 0.02, "{what}: {one:?}");
                }
            }
            let (target, mean) =
                (if chunk.is_some() { 2.0 } else { 5.0 }, number(&run, "get", "latency_mean_s"));
            assert!((target - 0.5..target + 1.0).contains(&mean), "{what}: {mean}");
        }
    }
}

/// The link is too slow for 6 s, with and without losses. What was filmed more than 1 s ago is not sent: chunks come whole, the
/// picture stands where the others never come, and the latency stays below that of a server that sends everything.
#[test]
fn a_server_gives_up_what_comes_too_late() {
    let slower = "link.cell.forward.rate={ type = \"changes\", steps = [[\"0 s\", \"8 Mbit/s\"], [\"8 s\", \"700 kbit/s\"], [\"14 s\", \"8 Mbit/s\"]] }";
    let chunks = ", latency = \"2 s\", chunk = \"250 ms\", start_up = \"500 ms\", resume = \"500 ms\", abr = \"fixed\"";
    let all = &WITH_SOUND.replace("duration = \"24 s\"", "duration = \"100 s\", variation = 0");
    let application = |more: &str| {
        let fixed = chunks.replace("\"fixed\"", "{ type = \"fixed\", representation = 1 }");
        video(all, &format!(", since = \"30 s\", until = \"60 s\"{fixed}{more}"))
    };
    for loss in ["0 %", "2 %"] {
        let loss = format!("link.cell.both.loss={loss}");
        let sets = [slower, loss.as_str(), "transport.reset_stream_at=true"];
        let cut = play(VERSIONS[2], &application(", deadline = \"1 s\""), &sets);
        let whole = play(VERSIONS[2], &application(""), &sets);
        for run in [&cut, &whole] {
            laws(run, "get", 0.0, 30.0, &loss);
            assert_eq!(run.connection("get")["completed"], true, "{loss}");
        }
        let of: Vec<Download> =
            downloads(&cut, "get").into_iter().filter(|one| one.outcome == "cut").collect();
        assert!(of.len() > 1, "{loss}: {of:?}");
        assert_eq!(number(&cut, "get", "cut"), of.len() as f64);
        let mut missing = 0.0;
        for one in of.iter().filter(|one| one.kind == "video") {
            let chunk = one.size / 8.0;
            // All whole chunks up to the one that was late, and perhaps bytes of it.
            let came = (one.received / chunk).floor();
            assert!(came < 8.0, "{one:?}");
            missing += (8.0 - came) * 0.25;
        }
        let [gaps, stalls] = ["missing_s", "stalled_s"].map(|name| number(&cut, "get", name));
        assert!(gaps > 0.0 && gaps <= stalls, "{loss}: {gaps} of {stalls}");
        assert!(gaps <= missing + 2.0, "{loss}: {gaps} of {missing}");
        assert_eq!([number(&whole, "get", "missing_s"), number(&whole, "get", "cut")], [0.0; 2]);
        let [less, more] = [&cut, &whole].map(|run| number(run, "get", "latency_p95_s"));
        assert!(less + 0.5 < more, "{loss}: {less} {more}");
    }
}

#[test]
fn a_live_playback_catches_up_or_jumps() {
    // Nothing comes for 4 s.
    let gap = "link.cell.forward.rate={ type = \"changes\", steps = [[\"0 s\", \"8 Mbit/s\"], [\"8 s\", \"1 kbit/s\"], [\"12 s\", \"8 Mbit/s\"]] }";
    for over in VERSIONS {
        let slow = play(over, &live(", latency = \"3 s\""), &[gap]);
        laws(&slow, "get", 0.0, 30.0, over.0);
        let events = changes(&slow, "get");
        assert!(events.iter().any(|change| change.event == "rate" && change.rate > 1.2), "{events:?}");
        assert!(events.iter().all(|change| change.event != "seek"));
        let late = |change: &Change| change.latency.unwrap();
        assert!(events.iter().map(late).fold(0.0, f64::max) > 4.0);
        assert!(late(events.last().unwrap()) < 3.6, "{events:?}");
        let jump = play(over, &live(", latency = \"3 s\", max_drift = \"1 s\", catch_up = 0.0"), &[gap]);
        laws(&jump, "get", 0.0, 30.0, over.0);
        let events = changes(&jump, "get");
        let seek = events.iter().find(|change| change.event == "seek").unwrap();
        assert!((late(seek) - 3.0).abs() < 1e-6, "{seek:?}");
        assert!(jump.connection("get")["completed"] == true, "{}", over.0);
    }
}

#[test]
fn seeks_go_on_elsewhere() {
    for over in VERSIONS {
        let seeks =
            ", seeks = [[\"3 s\", \"20 s\"], [\"5 s\", \"0 s\"], [\"6 s\", \"1 s\"]], max_buffer = \"8 s\"";
        let run = play(over, &video(WITH_SOUND, seeks), &[]);
        laws(&run, "get", 0.0, 8.0, over.0);
        let jumps: Vec<(f64, f64)> = changes(&run, "get")
            .iter()
            .filter(|change| change.event == "seek")
            .map(|change| (change.time, change.position))
            .collect();
        assert_eq!(jumps, [(3.0, 20.0), (5.0, 0.0), (6.0, 1.0)], "{}", over.0);
        assert_eq!(changes(&run, "get").last().unwrap().position, 24.0, "{}", over.0);
        assert_eq!(run.connection("get")["completed"], true, "{}", over.0);
    }
}

#[test]
fn playback_ends_where_it_should() {
    let run = play(VERSIONS[2], &video(LADDER, ", from = \"3 s\", until = \"10 s\", abr = \"fixed\""), &[]);
    laws(&run, "get", 0.0, 30.0, "until");
    assert!((number(&run, "get", "played_s") - 7.0).abs() < 1e-6);
    let segments: Vec<_> = downloads(&run, "get").iter().filter_map(|one| one.segment).collect();
    assert_eq!(segments, [1, 2, 3, 4]);
}

/// RFC 9218: of two segments that are underway, the more urgent one comes first.
#[test]
fn urgent_sound_comes_before_pictures() {
    let beside = |over: (&str, &str), urgency: &str, scheduler: &str| {
        let more = format!(
            ", abr = {{ type = \"fixed\", representation = 2 }}, video_urgency = 4, audio_urgency = {urgency}, incremental = true"
        );
        let run = play(over, &video(WITH_SOUND, &more), &["link.cell.both.rate=3 Mbit/s", scheduler]);
        laws(&run, "get", 0.0, 30.0, over.0);
        let of: Vec<f64> =
            downloads(&run, "get").iter().filter(|one| one.kind == "audio").map(|one| one.beside).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    for (over, scheduler) in [
        (VERSIONS[1], "flow.get.application.scheduler=rfc9218"),
        (VERSIONS[2], "transport.scheduler=rfc9218"),
    ] {
        let [first, equal, last] = ["0", "4", "7"].map(|urgency| beside(over, urgency, scheduler));
        assert!(first < equal && equal < last, "{}: {first} {equal} {last}", over.0);
    }
}

#[test]
fn a_lost_connection_ends_playback() {
    let down =
        "[[event]]\nat = \"5 s\"\ntype = \"interface-down\"\nnode = \"client\"\ninterface = \"cell\"\n";
    for over in VERSIONS {
        let over_set = format!("flow.get.application.over={}", over.0);
        let protocol = format!("flow.get.protocol={}", over.1);
        let app = video(LADDER, ", max_buffer = \"8 s\"");
        let mut sets = vec![app.as_str(), over_set.as_str(), &protocol, TABLES, "duration=120 s"];
        if over.1 == "quic" {
            sets.push("flow.get.transport.max_idle_timeout=6 s");
        }
        let run = run(&scenario(&format!("{ONE_LINK}{down}"), &sets));
        laws(&run, "get", 0.0, 8.0, over.0);
        let connection = run.connection("get");
        assert_eq!(connection["completed"], false, "{}", over.0);
        let last = changes(&run, "get").pop().unwrap();
        assert!(last.position < 14.0, "{}: {last:?}", over.0);
        let outcomes: Vec<String> = downloads(&run, "get").into_iter().map(|one| one.outcome).collect();
        assert!(outcomes.iter().all(|outcome| outcome != "underway"), "{}: {outcomes:?}", over.0);
    }
}

/// A server without streams for requests: nothing is played.
#[test]
fn a_server_that_refuses_is_waited_for() {
    let run = play(VERSIONS[2], &video(LADDER, ""), &["transport.initial_max_streams_bidi=0"]);
    laws(&run, "get", 0.0, 30.0, "refused");
    let playback = &run.connection("get")["playback"];
    assert!(playback["start_up_s"].is_null() && playback["played_s"] == 0.0, "{playback}");
    assert_eq!(run.connection("get")["completed"], false);
}

#[test]
fn players_share_a_link_with_a_download() {
    let more = format!(
        "{}[[flow]]\nname = \"second\"\nclient = \"client\"\nserver = \"server\"\nstart = \"2 s\"\nprotocol = \"tcp\"\n\
         application = {{ type = \"video\", over = \"http2\", presentation = {WITH_SOUND} }}\n\
         [[flow]]\nname = \"load\"\nclient = \"client\"\nserver = \"server\"\nstart = \"1 s\"\n\
         application = {{ type = \"bulk\", size = \"20 MB\" }}\n",
        ONE_LINK
    );
    let run = run(&scenario(&more, &[&video(LADDER, ""), TABLES, "duration=120 s"]));
    laws(&run, "get", 0.0, 30.0, "first");
    laws(&run, "second", 2.0, 30.0, "second");
    for flow in ["get", "second", "load"] {
        assert_eq!(run.connection(flow)["completed"], true, "{flow}");
    }
}

/// Tables without a row per packet are the same, whether or not the others are kept.
#[test]
fn few_tables_are_those_of_many() {
    for over in VERSIONS {
        let kept = |more: &str| {
            let tables = format!(
                "record.tables=[\"stream\", \"message\", \"object\", \"segment\", \"playback\"{more}]"
            );
            play(over, &video(WITH_SOUND, ""), &[&tables])
        };
        let (few, mut many) = (kept(""), kept(", \"connection\", \"queue\", \"rate\", \"drop\", \"event\""));
        assert!(many.table("connection").rows() > 0 && few.table("segment").rows() > 0);
        many.tables.retain(|table| few.tables.iter().any(|other| other.name == table.name));
        assert_equal(&few, &many, over.0);
    }
}

/// The edges of what is accepted.
#[test]
fn small_presentations_are_played() {
    for over in VERSIONS {
        for (presentation, more, played) in [
            (
                r#"{ type = "ladder", bitrates = ["8 bit/s"], segment = "1 s", duration = "3 s" }"#,
                ", max_buffer = \"1 s\", start_up = \"1 s\", resume = \"0 s\"",
                3.0,
            ),
            (
                r#"{ type = "ladder", bitrates = ["8 kbit/s", "80 kbit/s"], segment = "1 ms", duration = "200 ms" }"#,
                ", max_buffer = \"1 ms\", start_up = \"0 s\", resume = \"0 s\"",
                0.2,
            ),
            (
                r#"{ type = "ladder", bitrates = ["1 Mbit/s"], segment = "1 ns", duration = "50 ns" }"#,
                ", max_buffer = \"1 ns\", start_up = \"0 s\", resume = \"1 ns\"",
                50e-9,
            ),
            (
                r#"{ type = "ladder", bitrates = ["1 Mbit/s"], segment = "2 s", duration = "2 s", audio = ["64 kbit/s"], audio_segment = "3 s" }"#,
                ", max_buffer = \"2 s\"",
                2.0,
            ),
        ] {
            let run = play(over, &video(presentation, more), &[]);
            let what = format!("{} {presentation}", over.0);
            laws(&run, "get", 0.0, 2.0, &what);
            assert_eq!(run.connection("get")["completed"], true, "{what}");
            assert!((number(&run, "get", "played_s") - played).abs() < 1e-6, "{what}");
        }
    }
}

/// Draws a session of the application.
fn drawn(seed: u64) -> (Vec<String>, f64) {
    let mut chance = Generator::new(seed, "drawn");
    let mut below = |count: u64| chance.below(count);
    let over = VERSIONS[below(3) as usize];
    let abrs = ["bba", "bola", "dynamic", "fixed", "mpc", "throughput"];
    let abr = abrs[below(abrs.len() as u64) as usize];
    let segment = [500, 1000, 2000, 4000][below(4) as usize];
    let sound = if below(2) == 0 {
        ", audio = [\"64 kbit/s\", \"96 kbit/s\"], audio_segment = \"700 ms\""
    } else {
        ""
    };
    let init = if below(2) == 0 { ", initialization = \"900 B\"" } else { "" };
    let (periods, variation) = (1 + below(3), below(10) as f64 / 10.0);
    let presentation = format!(
        "{{ type = \"ladder\", bitrates = [\"300 kbit/s\", \"900 kbit/s\", \"2 Mbit/s\", \"5 Mbit/s\"], duration = \"12 s\", \
         segment = \"{segment} ms\", periods = {periods}, variation = {variation}{sound}{init} }}"
    );
    let max_buffer = segment.max(700) + if below(3) == 0 { 0 } else { 500 + below(10_000) };
    let mut more = format!(
        ", abr = \"{abr}\", max_buffer = \"{max_buffer} ms\", start_up = \"{} ms\", resume = \"{} ms\", incremental = {}",
        below(max_buffer + 1).min(2000),
        below(max_buffer + 1).min(2000),
        below(2) == 0
    );
    if below(3) == 0 {
        more += &format!(
            ", seeks = [[\"{} ms\", \"{} ms\"], [\"9 s\", \"2 s\"]]",
            1 + below(8000),
            below(12_001)
        );
    }
    match below(4) {
        0 => {
            more += &format!(", latency = \"{} ms\", since = \"4 s\"", 500 + below(4000));
            if below(2) == 0 {
                more += &format!(", chunk = \"{} ms\"", 50 + below(1000));
            }
            if below(3) == 0 {
                more += &format!(", max_drift = \"{} ms\"", 500 + below(3000));
            }
        }
        1 => more += &format!(", pace = {}", 1.1 + below(30) as f64 / 10.0),
        _ => {}
    }
    let rate = 200 + below(8000);
    let sets = vec![
        video(&presentation, &more),
        format!("flow.get.application.over={}", over.0),
        format!("flow.get.protocol={}", over.1),
        format!("link.cell.both.rate={rate} kbit/s"),
        format!("link.cell.both.delay={} ms", below(100)),
        format!("link.cell.both.loss={} %", [0, 0, 1, 5][below(4) as usize]),
        "link.cell.both.queue=100 packets".to_owned(),
        TABLES.to_owned(),
        "duration=60 s".to_owned(),
        format!("seed={seed}"),
    ];
    (sets, max_buffer as f64 / 1000.0)
}

#[test]
fn laws_of_drawn_sessions() {
    let (mut completed, mut stalled) = (0, 0);
    for seed in 0..300 {
        let (sets, max_buffer) = drawn(seed);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let scenario = scenario(ONE_LINK, &sets);
        let first = run(&scenario);
        let what = format!("{seed}: {sets:?}");
        laws(&first, "get", 0.0, max_buffer, &what);
        completed += u32::from(first.connection("get")["completed"] == true);
        stalled += u32::from(number(&first, "get", "stalls") > 0.0);
        if seed % 5 == 0 {
            assert_equal(&first, &run(&scenario), &what);
        }
    }
    assert!(completed > 200 && stalled > 50, "{completed} {stalled}");
}

/// The player's part of a connection is HTTP/3, and the others do not disturb it.
#[test]
fn a_video_shares_its_connection() {
    let of = |more: &str| {
        let video = format!(
            "{{ type = \"video\", presentation = {WITH_SOUND}, video_urgency = 1, audio_urgency = 0 }}"
        );
        format!(
            "flow.get.application={{ type = \"mix\", parts = [{{ type = \"bulk\", size = \"6 MB\", urgencies = [6] }}, {video}{more}] }}"
        )
    };
    let messages = ", { type = \"messages\", source = \"mavlink\", over = \"datagrams\", count = 500 }";
    let sets = [
        "flow.get.transport.scheduler=\"rfc9218\"",
        "flow.get.transport.max_datagram_frame_size=65535",
        TABLES,
        "duration=120 s",
        "link.cell.both.loss=1 %",
    ];
    for more in ["", messages] {
        let application = of(more);
        let all = [&[application.as_str()], &sets[..]].concat();
        let run = run(&scenario(ONE_LINK, &all));
        laws(&run, "get", 0.0, 30.0, more);
        let entry = run.connection("get");
        assert_eq!((&entry["completed"], &entry["clean"]), (&true.into(), &true.into()), "{entry}");
        assert!((number(&run, "get", "played_s") - 24.0).abs() < 1e-6, "{more}");
        assert_eq!(number(&run, "get", "stalls"), 0.0, "{more}");
        assert_eq!(entry["parts"]["bulk"]["delivered_bytes"], 6_000_000, "{entry}");
        // The streams of its downloads are those of the connection: no stream of another part has their number.
        let streams: std::collections::BTreeSet<u64> =
            downloads(&run, "get").iter().filter_map(|one| one.stream).collect();
        assert_eq!(streams.len(), downloads(&run, "get").len());
        assert!(streams.iter().all(|stream| stream % 4 == 0));
    }
}
