//! Web pages over HTTP/1.1, HTTP/2 and HTTP/3: the application `page`, and lists of objects over HTTP/1.1 and HTTP/2.

use crate::bed::{OBJECTS, ONE_LINK, Run, assert_clean, new_folder, run, run_into, scenario};
use crate::captures::tshark;
use std::fs;

const VERSIONS: [(&str, &str); 3] = [("http1.1", "tcp"), ("http2", "tcp"), ("http3", "quic")];

/// A document, two style sheets, and 30 images that wait for them: 620 kB.
const PAGE: &str = "size,urgency,after,think,parsing,request,headers\n40 kB,0,,20 ms,,600,400\n30 kB,1,1,,5 ms,500,300\n\
                    10 kB,1,1,10 ms,5 ms,500,300\n";

/// The path of a file with the page for one test.
fn page_file(test: &str) -> String {
    let mut text = PAGE.to_owned();
    for _ in 0..30 {
        text.push_str("18 kB,4,2 3,,,450,250\n");
    }
    let path = new_folder(&format!("pages-list-{test}")).join("page.csv");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn page(over: &str, protocol: &str, file: &str, more: &[&str]) -> lab::Scenario {
    let application = format!(
        "flow.get.application={{ type = \"page\", over = \"{over}\", page = {{ type = \"list\", file = \"{file}\" }} }}"
    );
    let protocol = format!("flow.get.protocol={protocol}");
    scenario(ONE_LINK, &[&[application.as_str(), &protocol, OBJECTS], more].concat())
}

fn object_times(run: &Run, column: &str) -> Vec<f64> {
    run.numbers("object", column, &[])
}

/// All versions load the same bytes over clean and lossy links, and each object after those that it waits for.
#[test]
fn every_version_loads_the_same_page() {
    let file = page_file("every");
    for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=2 %"] {
        for (over, protocol) in VERSIONS {
            let run = run(&page(over, protocol, &file, &[loss]));
            let connection = run.connection("get");
            assert_eq!(connection["delivered_bytes"], 620_000, "{over} {loss}");
            assert_clean(connection, over);
            let summary = &connection["page"];
            assert_eq!((&summary["objects_complete"], &summary["pages_complete"]), (&33.into(), &1.into()));
            assert_eq!(object_times(&run, "size_bytes").iter().sum::<f64>(), 620_000.0, "{over}");
            let [wanted, asked, first, complete] = ["wanted_s", "asked_s", "first_byte_s", "complete_s"]
                .map(|column| object_times(&run, column));
            for at in 0..33 {
                let times = [wanted[at], asked[at], first[at], complete[at]];
                assert!(times.is_sorted(), "{over} {loss}: object {at}: {times:?}");
            }
            // The style sheets are wanted 5 ms after the document, and the images after both sheets.
            assert!((wanted[1] - complete[0] - 0.005).abs() < 1e-9, "{over}");
            assert!((wanted[3] - complete[1].max(complete[2])).abs() < 1e-9, "{over}");
            // The server takes 20 ms for the document, and a round trip 40 ms.
            assert!(first[0] - asked[0] > 0.060, "{over}: {} {}", asked[0], first[0]);
            let load = summary["load_mean_s"].as_f64().unwrap();
            let latest = complete.iter().copied().fold(0.0, f64::max);
            assert!((load - latest).abs() < 1e-6, "{over}: {load} {latest}");
            let index = summary["byte_index_mean_s"].as_f64().unwrap();
            assert!(index > first[0] && index < load, "{over}: {index} {load}");
        }
    }
}

/// RFC 9112 section 9.4: the number of connections is limited, and they are opened when they are needed.
#[test]
fn http1_has_six_connections_and_http2_one() {
    let file = page_file("six");
    for (over, expected) in [("http1.1", 6), ("http2", 1)] {
        let run = run(&page(over, "tcp", &file, &[]));
        let started = run.rows("event", &[("side", "client"), ("event", "connection_started")]);
        assert_eq!(started.len(), expected, "{over}");
    }
    let one = run(&page("http1.1", "tcp", &file, &["flow.get.application.connections=1"]));
    assert_eq!(one.connection("get")["completed"], true);
    assert_eq!(one.rows("event", &[("side", "client"), ("event", "connection_started")]).len(), 1);
    // One at a time: each object is requested after the one before it is complete.
    let (mut asked, complete) = (object_times(&one, "asked_s"), object_times(&one, "complete_s"));
    asked.sort_by(f64::total_cmp);
    let mut ends = complete;
    ends.sort_by(f64::total_cmp);
    assert!(asked[1..].iter().zip(&ends).all(|(asked, end)| asked >= end));
}

/// RFC 9218: urgent responses come first, over HTTP/2 as over HTTP/3.
#[test]
fn urgent_objects_come_first() {
    for (name, protocol, scheduler) in
        [("http2", "tcp", None), ("http3", "quic", Some("transport.scheduler=rfc9218"))]
    {
        let application = format!(
            "flow.get.application={{ type = \"{name}\", sizes = [\"100 kB\"], count = 8, urgencies = [5, 4, 3, 2] }}"
        );
        let protocol = format!("flow.get.protocol={protocol}");
        let sets: Vec<&str> =
            [application.as_str(), &protocol, OBJECTS].into_iter().chain(scheduler).collect();
        let run = run(&scenario(ONE_LINK, &sets));
        assert_eq!(run.connection("get")["completed"], true, "{name}");
        let complete = object_times(&run, "complete_s");
        let mut order: Vec<usize> = (0..8).collect();
        order.sort_by(|a, b| complete[*a].total_cmp(&complete[*b]));
        let urgencies = object_times(&run, "urgency");
        let urgencies: Vec<f64> = order.into_iter().map(|at| urgencies[at]).collect();
        // The first response may have started before the other requests arrive.
        assert!(urgencies[1..].is_sorted() && urgencies[1] == 2.0, "{name}: {urgencies:?}");
    }
}

/// HTTP/2 has the schedulers of QUIC streams: responses are sequential, shared, or either depending on the path.
#[test]
fn http2_has_an_option_for_its_scheduler() {
    let spread = |scheduler: &str| {
        let application = format!(
            "flow.get.application={{ type = \"http2\", sizes = [\"100 kB\"], count = 8, scheduler = {scheduler} }}"
        );
        let run = run(&scenario(ONE_LINK, &[&application, "flow.get.protocol=tcp", OBJECTS]));
        assert_eq!(run.connection("get")["completed"], true, "{scheduler}");
        let complete = object_times(&run, "complete_s");
        let begin = object_times(&run, "asked_s")[0];
        let (first, last) = (
            complete.iter().copied().fold(f64::INFINITY, f64::min),
            complete.iter().copied().fold(0.0, f64::max),
        );
        (first - begin) / (last - begin)
    };
    for alone in ["\"rfc9218\"", "\"fifo\"", "{ type = \"adaptive\", target = \"10 Gbit/s\" }"] {
        assert!(spread(alone) < 0.5, "{alone}: {}", spread(alone));
    }
    for shared in ["\"rr\"", "\"wfq\"", "{ type = \"adaptive\", target = \"1 bit/s\" }"] {
        assert!(spread(shared) > 0.8, "{shared}: {}", spread(shared));
    }
}

/// After a loss, HTTP/2 holds back complete objects behind the gap in its only connection, while each QUIC stream waits only
/// for its own data. Order of responses and window are the same, so that a loss costs only the time until it is repaired.
#[test]
fn losses_hold_back_less_over_http3() {
    let file = page_file("losses");
    let window = "controller={ type = \"fixed\", window = \"200 kB\" }";
    let (tcp, quic) = (format!("tcp.{window}"), format!("transport.{window}"));
    let mut held_back = [0, 0];
    for seed in 1..=8 {
        let seed = format!("seed={seed}");
        for (at, (over, protocol)) in VERSIONS[1..].iter().enumerate() {
            let complete = |loss: &str| {
                let loss = format!("link.cell.forward.loss={loss}");
                let rate =
                    "link.cell.both={ rate = \"100 Mbit/s\", delay = \"20 ms\", queue = \"1000 packets\" }";
                let sets = [rate, &loss, &seed, &tcp, &quic, "transport.scheduler=rfc9218"];
                object_times(&run(&page(over, protocol, &file, &sets)), "complete_s")
            };
            let (without, with) = (complete("0 %"), complete("2 %"));
            // The images wait for document and style sheets over both protocols, so only the images count.
            let start = |times: &[f64]| times[1].max(times[2]);
            let span = |times: &[f64], object: usize| times[object] - start(times);
            held_back[at] += (3..33).filter(|at| span(&with, *at) > span(&without, *at) + 0.010).count();
        }
    }
    assert!(held_back[1] > 0 && 2 * held_back[1] < held_back[0], "over HTTP/2 and HTTP/3: {held_back:?}");
}

/// RFC 9112, RFC 9113: tshark reads the packets without errors.
#[test]
fn tshark_reads_http1_and_http2() {
    let file = page_file("tshark");
    for (over, decode, filter, requests) in [
        ("http1.1", "tcp.port==4433,http", "http.request.method == GET", 33),
        ("http2", "tcp.port==4433,http2", "http2.headers.method == GET", 33),
    ] {
        let run = run_into(
            &page(over, "tcp", &file, &["link.cell.both.queue=1000 packets"]),
            &format!("pages-{over}"),
        );
        let look = |filter: &str, field: &str| {
            tshark(
                &run.capture,
                &["-d", decode, "-Y", filter, "-T", "fields", "-E", "occurrence=a", "-e", field],
            )
        };
        let field = filter.split(' ').next().unwrap();
        let Some(text) = look(filter, field) else { return };
        assert_eq!(text.matches("GET").count(), requests, "{over}");
        let Some(strange) = look("_ws.malformed || tcp.analysis.flags", "_ws.expert.message") else { return };
        assert_eq!(strange, "", "{over}");
        if over == "http2" {
            let Some(data) = look("http2.type == 0", "http2.length") else { return };
            let text = look("http2.type == 0", "http2.type").unwrap_or_default();
            assert!(!data.is_empty() && !text.is_empty());
            let Some(status) = look("http2.headers.status == 200", "http2.headers.status") else { return };
            assert_eq!(status.matches("200").count(), 33);
        } else {
            let Some(status) = look("http.response.code == 200", "http.response.code") else { return };
            assert_eq!(status.matches("200").count(), 33);
        }
    }
}

/// A page is loaded after the one before it, also over TLS.
#[test]
fn pages_of_a_model_are_loaded_one_after_another() {
    for (over, protocol) in VERSIONS {
        let application = format!(
            "flow.get.application={{ type = \"page\", over = \"{over}\", page = \"3gpp\", pages = 2 }}"
        );
        let protocol = format!("flow.get.protocol={protocol}");
        let sets = [application.as_str(), &protocol, "tcp.tls=tls1.3", "duration=600 s", OBJECTS];
        let run = run(&scenario(ONE_LINK, &sets));
        let summary = &run.connection("get")["page"];
        assert_eq!(summary["pages_complete"], 2, "{over}: {summary}");
        let pages = object_times(&run, "page");
        assert_eq!(pages.last(), Some(&1.0), "{over}");
    }
}

/// RFC 7301, RFC 9112 section 12.3, RFC 9113 section 3.2: the ClientHello offers the protocol over TLS.
#[test]
fn tls_offers_the_application_protocol() {
    let file = page_file("alpn");
    for (over, name) in [("http1.1", "http/1.1"), ("http2", "h2")] {
        let run = run_into(&page(over, "tcp", &file, &["tcp.tls=tls1.3"]), &format!("pages-tls-{over}"));
        assert_eq!(run.connection("get")["completed"], true);

        let look =
            ["-Y", "tls.handshake.type == 1", "-T", "fields", "-e", "tls.handshake.extensions_alpn_str"];
        let Some(text) = tshark(&run.capture, &look) else { return };
        assert!(text.lines().count() >= 1 && text.lines().all(|line| line == name), "{over}: {text}");
    }
}
