//! Messages: each arrives whole, once, and with the delay of the network.

use crate::bed::{ONE_LINK, Run, assert_clean, run, scenario};

/// 200 messages of 242 bytes, one each 10 ms.
fn messages(also: &str, sets: &[&str]) -> Run {
    let application = format!(
        "flow.get.application={{ type = \"messages\", source = {{ type = \"constant\", gap = \"10 ms\", size = 242 }}, \
         count = 200{also} }}"
    );
    let sets: Vec<&str> = [&[application.as_str(), "transport.max_datagram_frame_size=65535"], sets].concat();
    run(&scenario(ONE_LINK, &sets))
}

const OVERS: [&str; 3] = ["stream", "streams", "datagrams"];
const DIRECTIONS: [&str; 2] = ["upload", "download"];

#[test]
fn on_an_idle_link_a_message_takes_propagation_and_transmission() {
    for over in OVERS {
        for direction in DIRECTIONS {
            let run = messages(&format!(", over = \"{over}\", direction = \"{direction}\""), &[]);
            let connection = run.connection("get");
            let place = format!("{over} {direction}: {connection}");
            assert_clean(connection, &place);
            let counted = &connection["messages"];
            for (key, value) in [("number", 200), ("completed", 200), ("missing", 0)] {
                assert_eq!(counted[key], value, "{place}");
            }
            assert!(counted["deadline_misses"].is_null());
            // Some 300 bytes at 10 Mbit/s take 0.24 ms; some messages also wait for an ACK from their own side.
            for (key, most) in [("delay_p50_ms", 20.6), ("delay_p95_ms", 20.8), ("delay_max_ms", 21.5)] {
                let delay = counted[key].as_f64().unwrap();
                assert!((20.0..most).contains(&delay), "{key} {delay}: {place}");
            }
            let side = if direction == "upload" { "client" } else { "server" };
            // The numbers of the entry are those of the writer, also where it sends no stream.
            assert_eq!(connection["sender"], side, "{place}");
            let way = if direction == "upload" { "cell backward" } else { "cell forward" };
            assert_eq!(connection["bottleneck"], way, "{place}");
            assert!(connection["packets_sent"].as_u64().unwrap() >= 200, "{place}");
            assert!(connection["goodput_mbps"].as_f64().unwrap() > 0.15, "{place}");
            let delays = run.numbers("message", "delay_ms", &[("side", side)]);
            assert_eq!(delays.len(), 200, "{place}");
            assert!(delays.iter().all(|delay| (20.2..21.5).contains(delay)), "{place}");
            let bytes: f64 = run.numbers("message", "bytes", &[]).iter().sum();
            assert_eq!(bytes, 200.0 * 242.0, "{place}");
            let streams = run.numbers("message", "stream", &[]);
            let different =
                streams.iter().map(|id| *id as u64).collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(
                different,
                match over {
                    "stream" => 1,
                    "streams" => 200,
                    _ => 0,
                },
                "{place}"
            );
        }
    }
}

#[test]
fn lost_messages_are_retransmitted_on_streams_and_missing_as_datagrams() {
    let loss = ["link.cell.forward.loss=10 %", "link.cell.backward.loss=10 %"];
    for direction in DIRECTIONS {
        for over in OVERS {
            let run = messages(
                &format!(", deadline = \"25 ms\", over = \"{over}\", direction = \"{direction}\""),
                &loss,
            );
            let connection = run.connection("get");
            let place = format!("{over} {direction}: {connection}");
            let number = |key: &str| connection["messages"][key].as_u64().unwrap();
            assert_eq!(connection["completed"], true, "{place}");
            assert_eq!(number("number"), 200, "{place}");
            let rows = |missed| {
                run.numbers("message", "missed", &[]).iter().filter(|value| **value == missed).count()
            };
            let late = rows(1.0) as u64;
            assert_eq!(rows(0.0) as u64 + late, number("completed"), "{place}");
            assert_eq!(number("deadline_misses"), late + number("missing"), "{place}");
            if over == "datagrams" {
                // Late messages waited at their sender for a window that the losses had reduced.
                assert!((5..40).contains(&number("missing")) && late < 20, "{place}");
            } else {
                assert_eq!(number("missing"), 0, "{place}");
                // On one stream, messages behind a lost one wait for it, too.
                assert!(late >= if over == "stream" { 25 } else { 15 }, "{place}");
            }
        }
    }
}

#[test]
fn messages_over_tcp_share_one_stream() {
    for direction in DIRECTIONS {
        let run = messages(&format!(", direction = \"{direction}\""), &["flow.get.protocol=tcp"]);
        let connection = run.connection("get");
        assert_eq!(connection["completed"], true, "{direction}: {connection}");
        assert_eq!(connection["messages"]["completed"], 200, "{direction}: {connection}");
        let delays = run.numbers("message", "delay_ms", &[]);
        assert!(
            delays.len() == 200 && delays.iter().all(|delay| (20.2..21.5).contains(delay)),
            "{direction}"
        );
    }
}

#[test]
fn a_full_send_queue_delays_messages_and_loses_none() {
    // 8 kB per millisecond are six times the capacity of the link.
    let application = "flow.get.application={ type = \"messages\", source = { type = \"constant\", gap = \"1 ms\", \
                       size = 8000 }, count = 500 }";
    for over in ["stream", "streams"] {
        let over = format!("flow.get.application.over={over}");
        let run = run(&scenario(ONE_LINK, &[application, &over, "transport.send_queue=32 kB"]));
        let connection = run.connection("get");
        assert_eq!(connection["messages"]["completed"], 500, "{connection}");
        assert_eq!(connection["completed"], true, "{connection}");
        // 4 MB at 10 Mbit/s take 3.2 s, and are written in 0.5 s: the last message waits for at least 2.7 s.
        assert!(connection["messages"]["delay_max_ms"].as_f64().unwrap() > 2700.0, "{connection}");
    }
}

#[test]
fn a_long_message_takes_several_datagrams_and_needs_all_of_them() {
    let application = "flow.get.application={ type = \"messages\", source = { type = \"constant\", gap = \"100 ms\", \
                       size = 5000 }, count = 200, over = \"datagrams\" }";
    let sets = [application, "transport.max_datagram_frame_size=65535", "link.cell.backward.loss=5 %"];
    let run = run(&scenario(ONE_LINK, &sets));
    let counted = |key: &str| run.connection("get")["messages"][key].as_u64().unwrap();
    // The client sends on the backward direction, which loses 5 % of its datagrams. A message has five of them: 0.95^5 of all
    // messages arrive, 154.8 with a standard deviation of 5.9.
    assert_eq!(counted("number"), 200);
    let whole = counted("completed");
    assert!((135..175).contains(&whole), "{whole}");
    assert_eq!(counted("missing"), 200 - whole);
    // Delays are propagation and transmission, 4.2 ms for 5 packets at 10 Mbit/s, and longer after a loss, which reduces the
    // window.
    let delays = run.numbers("message", "delay_ms", &[]);
    assert_eq!(delays.len() as u64, whole);
    assert!(delays.iter().all(|delay| (24.2..130.0).contains(delay)), "{delays:?}");
    assert!(delays.iter().filter(|delay| **delay < 24.3).count() > 60, "{delays:?}");
}

#[test]
fn messages_without_room_in_the_queue_are_missing() {
    // One message per millisecond, of which the link carries one in six.
    for (over, room) in [("stream", "send_queue=32 kB"), ("datagrams", "datagram_queue=10")] {
        let application = format!(
            "flow.get.application={{ type = \"messages\", source = {{ type = \"constant\", gap = \"1 ms\", size = 8000 }}, \
             over = \"{over}\", deadline = \"1 s\" }}"
        );
        let room = format!("transport.{room}");
        let sets = [&application, "duration=2 s", &room, "transport.max_datagram_frame_size=65535"];
        let run = run(&scenario(ONE_LINK, &sets));
        let connection = run.connection("get");
        let number = |key: &str| connection["messages"][key].as_u64().unwrap();
        // Messages are due from the end of the handshake, a round trip after the start, to the end of the run.
        assert!((1955..1960).contains(&number("number")), "{connection}");
        assert!((150..330).contains(&number("completed")), "{connection}");
        assert_eq!(number("missing"), number("number") - number("completed"), "{connection}");
        assert!(number("deadline_misses") >= number("missing"), "{connection}");
    }
}

/// The times at which the streams of a transfer are complete at the client.
fn ends(run: &Run) -> Vec<f64> {
    run.numbers("stream", "closed_s", &[("side", "client")])
}

#[test]
fn urgencies_of_streams_can_change() {
    for direction in DIRECTIONS {
        let run = |also: &str| {
            let application = format!(
                "flow.get.application={{ type = \"bulk\", size = \"2 MB\", streams = 2, direction = \"{direction}\", \
                 urgencies = [1, 2]{also} }}"
            );
            run(&scenario(ONE_LINK, &[&application, "transport.scheduler=abs"]))
        };
        let unchanged = run("");
        let [first, second] = ends(&unchanged)[..] else { panic!("{direction}: {:?}", ends(&unchanged)) };
        assert!(second - first > 0.5, "{direction}: {first} {second}");
        // At 300 ms a tenth of the data is on its way. From then on, the other stream goes first.
        let turned = run(", changes = [{ at = \"300 ms\", stream = 1, urgency = 0 }]");
        let [first, second] = ends(&turned)[..] else { panic!("{direction}") };
        assert!(first - second > 0.4, "{direction}: {first} {second}");
        let late = run(", changes = [{ at = \"20 s\", stream = 1, urgency = 0 }]");
        assert_eq!(ends(&late), ends(&unchanged), "{direction}: a late change has no effect");
        let streams = &turned.connection("get")["streams"];
        assert_eq!((&streams["number"], &streams["completed"]), (&2.into(), &2.into()), "{streams}");
        assert!(streams["deadline_misses"].is_null(), "{streams}");
        let latest = streams["delay_max_ms"].as_f64().unwrap() / 1e3;
        assert!((0.0..0.1).contains(&(first - latest)), "since its opening: {latest} {first}");
    }
}

#[test]
fn weights_and_latencies_of_messages_can_change() {
    let median = |also: &str, scheduler: &str| {
        let application = format!(
            "flow.get.application={{ type = \"mix\", parts = [{{ type = \"messages\", source = {{ type = \"constant\", gap = \
             \"20 ms\", size = 6000 }}, count = 100{also} }}, {{ type = \"bulk\", direction = \"upload\", streams = 4, \
             latencies = [\"10 s\"] }}] }}"
        );
        let scheduler = format!("transport.scheduler={scheduler}");
        let run = run(&scenario(ONE_LINK, &[&application, &scheduler, "duration=3 s"]));
        // With edf, messages without a deadline never arrive beside streams with one.
        let median = &run.connection("get")["parts"]["messages"]["messages"]["delay_p50_ms"];
        median.as_f64().unwrap_or(f64::INFINITY)
    };
    for (scheduler, change) in
        [("wfq", "weight = 1000"), ("edf", "latency = \"1 ms\""), ("edf", "deadline = \"1 ms\"")]
    {
        let before = median("", scheduler);
        let after = median(&format!(", changes = [{{ at = \"50 ms\", {change} }}]"), scheduler);
        assert!(after < before, "{scheduler} {change}: {after} ms, {before} ms without");
    }
}

#[test]
fn a_scheduler_by_deadlines_keeps_those_of_streams() {
    for direction in DIRECTIONS {
        let misses = |scheduler: &str| {
            let application = format!(
                "flow.get.application={{ type = \"bulk\", size = \"3 MB\", streams = 3, direction = \"{direction}\", \
                 deadlines = [\"0 s\", \"2.2 s\", \"1.3 s\"] }}"
            );
            let scheduler = format!("transport.scheduler={scheduler}");
            let run = run(&scenario(ONE_LINK, &[&application, &scheduler]));
            (run.connection("get")["streams"]["deadline_misses"].as_u64().unwrap(), ends(&run))
        };
        // 1 MB takes 0.85 s at 10 Mbit/s.
        let (missed, ends) = misses("edf");
        assert_eq!(missed, 0, "{direction}: {ends:?}");
        assert!(ends[2] < ends[1] && ends[1] < ends[0], "{direction}: {ends:?}");
        assert_eq!(misses("rr").0, 2, "{direction}");
    }
}

/// Control messages of the highest urgency beside two transfers, on one connection.
fn mixed(scheduler: &str, over: &str) -> Run {
    let application = format!(
        "flow.get.application={{ type = \"mix\", parts = [{{ type = \"bulk\", size = \"1 MB\", direction = \"upload\", \
         streams = 3 }}, {{ type = \"messages\", source = \"mavlink\", count = 100, urgency = 0, over = \"{over}\" }}, \
         {{ type = \"bulk\", size = \"500 kB\" }}] }}"
    );
    let scheduler = format!("transport.scheduler={scheduler}");
    run(&scenario(ONE_LINK, &[&application, &scheduler, "transport.max_datagram_frame_size=65535"]))
}

#[test]
fn applications_share_one_connection() {
    for over in OVERS {
        let run = mixed("abs", over);
        let connection = run.connection("get");
        let place = format!("{over}: {connection}");
        assert_clean(connection, &place);
        let parts = &connection["parts"];
        for (part, bytes) in [("bulk", 1_000_000), ("bulk-2", 500_000)] {
            assert_eq!(parts[part]["completed"], true, "{place}");
            assert_eq!(parts[part]["delivered_bytes"], bytes, "{place}");
        }
        // The sum over all parts, in both directions.
        let sum: u64 =
            parts.as_object().unwrap().values().map(|part| part["delivered_bytes"].as_u64().unwrap()).sum();
        assert_eq!(connection["delivered_bytes"], sum, "{place}");
        let messages = &parts["messages"]["messages"];
        assert_eq!(messages["number"], 100, "{place}");
        assert_eq!(messages["completed"], 100, "{place}");
        assert!(run.numbers("message", "part", &[]).iter().all(|part| *part == 1.0), "{place}");
        // The table `stream` contains the streams of messages.
        let known = run.numbers("stream", "stream", &[]);
        assert!(run.numbers("message", "stream", &[]).iter().all(|id| known.contains(id)), "{place}");
    }
}

#[test]
fn parts_end_independently() {
    // Nearly empty streams beside a full queue: their ends need room only for the number of a part.
    let application = "flow.get.application={ type = \"mix\", parts = [{ type = \"bulk\", size = \"3 MB\", direction = \"upload\" }, \
                       { type = \"bulk\", size = \"3 B\", streams = 20, direction = \"upload\" }, \
                       { type = \"request-response\", count = 3 }] }";
    let run = run(&scenario(ONE_LINK, &[application, "transport.send_queue=20 kB"]));
    let connection = run.connection("get");
    assert_clean(connection, "get");
    let parts = &connection["parts"];
    let at = |part: &str| parts[part]["completion_s"].as_f64().unwrap();
    assert!(at("request-response") < at("bulk") && at("bulk-2") < at("bulk"), "{connection}");
    assert_eq!(parts["bulk-2"]["streams"]["completed"], 20, "{connection}");
    assert_eq!(at("bulk"), connection["completion_s"].as_f64().unwrap(), "{connection}");
}

#[test]
fn urgent_messages_arrive_sooner_with_a_scheduler_by_urgency() {
    let median = |scheduler| {
        let run = mixed(scheduler, "stream");
        run.connection("get")["parts"]["messages"]["messages"]["delay_p50_ms"].as_f64().unwrap()
    };
    let (by_urgency, by_turns) = (median("abs"), median("rr"));
    assert!(by_urgency < by_turns, "abs {by_urgency} ms, rr {by_turns} ms");
}

#[test]
fn later_parts_do_not_affect_the_draws_of_a_part() {
    let sizes = |parts: &str| {
        let application = format!("flow.get.application={{ type = \"mix\", parts = [{parts}] }}");
        run(&scenario(ONE_LINK, &[&application])).numbers("message", "bytes", &[])
    };
    let messages = "{ type = \"messages\", source = \"mavlink\", count = 50 }";
    let alone = sizes(messages);
    assert_eq!(alone.len(), 50);
    assert_eq!(alone, sizes(&format!("{messages}, {{ type = \"bulk\", size = \"100 kB\" }}")));
}

/// 20 requests for 1000 bytes each.
fn requests(also: &str, sets: &[&str]) -> Run {
    let application =
        format!("flow.get.application={{ type = \"request-response\", response = 1000, count = 20{also} }}");
    run(&scenario(ONE_LINK, &[&[application.as_str()], sets].concat()))
}

#[test]
fn a_request_takes_a_round_trip_the_service_and_both_transmissions() {
    // 1000 bytes, some 1060 on the wire, take 0.85 ms at 10 Mbit/s, and the request of 100 bytes another 0.13 ms.
    for (also, sets, service_ms) in [
        ("", &[][..], 0.0),
        (", service = \"15 ms\"", &[], 15.0),
        (", over = \"stream\"", &[], 0.0),
        (", over = \"stream\"", &["flow.get.protocol=tcp"], 0.0),
    ] {
        let run = requests(also, sets);
        let connection = run.connection("get");
        let place = format!("{also} {sets:?}: {connection}");
        assert_clean(connection, &place);
        assert_eq!(connection["delivered_bytes"], 20_000, "{place}");
        let counted = &connection["requests"];
        assert_eq!((&counted["number"], &counted["completed"]), (&20.into(), &20.into()), "{place}");
        for key in ["delay_p5_ms", "delay_p50_ms", "delay_p95_ms"] {
            let delay = counted[key].as_f64().unwrap() - service_ms;
            assert!((40.5..42.5).contains(&delay), "{key} {delay}: {place}");
        }
    }
}

#[test]
fn requests_have_deadlines() {
    // A round trip and both transmissions take 41 ms.
    for (deadline, missed) in [("40.5 ms", 20), ("60 ms", 0)] {
        let run = requests(&format!(", deadline = \"{deadline}\""), &[]);
        assert_eq!(run.connection("get")["requests"]["deadline_misses"], missed, "{deadline}");
    }
}

#[test]
fn thinking_adds_between_requests_and_pipelining_overlaps_them() {
    let completion = |also| requests(also, &[]).connection("get")["completion_s"].as_f64().unwrap();
    let [alone, thinking, four] = ["", ", think = \"100 ms\"", ", pipelining = 4"].map(completion);
    // 19 pauses.
    assert!((thinking - alone - 1.9).abs() < 0.01, "{alone} {thinking}");
    // 20 round trips become 5.
    assert!((alone - four - 15.0 * 0.041).abs() < 0.03, "{alone} {four}");
}

#[test]
fn requests_survive_losses_and_share_a_connection_with_others() {
    let loss = ["link.cell.forward.loss=5 %", "link.cell.backward.loss=5 %"];
    for also in ["", ", over = \"stream\", pipelining = 3"] {
        assert_eq!(requests(also, &loss).connection("get")["requests"]["completed"], 20, "{also}");
        let application = format!(
            "flow.get.application={{ type = \"mix\", parts = [{{ type = \"request-response\", count = 20{also} }}, \
             {{ type = \"bulk\", size = \"300 kB\" }}] }}"
        );
        let run = run(&scenario(ONE_LINK, &[&[application.as_str()], &loss[..]].concat()));
        let connection = run.connection("get");
        assert_eq!(connection["completed"], true, "{also}: {connection}");
        assert_eq!(
            connection["parts"]["request-response"]["requests"]["completed"], 20,
            "{also}: {connection}"
        );
    }
}
