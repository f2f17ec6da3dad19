//! Web pages of a scenario: from models and files, on two streams, and the draws of their models.

use crate::bed::{OBJECTS, ONE_LINK, assert_clean, examples, run, scenario};
use lab::Scenario;

fn application(page: &str, more: &str) -> String {
    format!("flow.get.application={{ type = \"page-streams\", page = {page}{more} }}")
}

#[test]
fn pages_of_files_arrive() {
    let list = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    let archive = r#"{ type = "har", file = "pages/shop.har" }"#;
    for (page, bytes) in [(list, 328_000), (archive, 323_350)] {
        for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=3 %"] {
            let run = run(&scenario(ONE_LINK, &[&application(page, ", pages = 3"), loss]));
            let connection = run.connection("get");
            assert_clean(connection, page);
            assert_eq!(connection["delivered_bytes"], 3 * bytes, "{page} {loss}");
        }
    }
}

/// Each object of pages on two streams has a row with its bytes, and with times that fit its stream.
#[test]
fn objects_on_two_streams_have_rows() {
    let page = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=3 %"] {
        let pages = application(page, ", pages = 3, threshold = \"20 kB\"");
        let run = run(&scenario(ONE_LINK, &[&pages, loss, OBJECTS]));
        let connection = run.connection("get");
        let of = |column: &str| run.numbers("object", column, &[]);
        let (sizes, streams) = (of("size_bytes"), of("stream"));
        let entry = &connection["page"];
        assert_eq!(entry["objects"], sizes.len());
        assert_eq!((&entry["objects_complete"], &entry["pages_complete"]), (&entry["objects"], &3.into()));
        assert_eq!(sizes.iter().sum::<f64>(), 3.0 * 328_000.0, "{loss}");
        let [asked, first, complete] = ["asked_s", "first_byte_s", "complete_s"].map(of);
        for at in 0..sizes.len() {
            assert!([asked[at], first[at], complete[at]].is_sorted(), "{loss}: {at}");
            // An object starts after the end of the one before it on the same stream.
            let before = (0..at).rev().find(|other| streams[*other] == streams[at]);
            assert!(before.is_none_or(|before| first[at] >= complete[before]), "{loss}: {at}");
        }
        // Small objects are on the first stream, with its urgency, and pages on their own streams.
        for ((size, stream), urgency) in sizes.iter().zip(&streams).zip(of("urgency")).skip(1) {
            let second = f64::from(u8::from(stream % 8.0 == 7.0));
            assert!(urgency == second && (second == 0.0 || *size >= 20_000.0), "{size} {stream} {urgency}");
        }
        let mut different = streams.clone();
        different.sort_by(f64::total_cmp);
        different.dedup();
        assert_eq!(different, [3.0, 7.0, 11.0, 15.0, 19.0, 23.0], "{loss}");
        let last = complete.iter().copied().fold(0.0, f64::max);
        assert!((connection["completion_s"].as_f64().unwrap() - last).abs() < 1e-6);
    }
}

/// Urgencies rotate over all streams of a connection, not over those of a page.
#[test]
fn objects_have_the_urgency_of_their_stream() {
    let page = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    let more = ", pages = 3, threshold = \"20 kB\", urgencies = [4, 5, 6]";
    let run = run(&scenario(ONE_LINK, &[&application(page, more), OBJECTS]));
    let of = |column: &str| run.numbers("object", column, &[]);
    let mut pairs: Vec<(u64, u64)> = of("stream")
        .iter()
        .zip(of("urgency"))
        .map(|(stream, urgency)| (*stream as u64, urgency as u64))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs, [(3, 4), (7, 5), (11, 6), (15, 4), (19, 5), (23, 6)]);
}

#[test]
fn a_run_draws_the_listed_numbers() {
    let scenario = scenario(ONE_LINK, &[&application("\"3gpp\"", "")]);
    let drawn = lab::page_draws(&scenario, "get", 100).unwrap();
    let names: Vec<&str> = drawn.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["main-size", "embedded-size", "embedded-count", "parsing", "reading"]);
    let whole = |quantity: usize, at: usize| drawn[quantity].1[at].round() as u64;
    let embedded = (whole(2, 0) - 2) as usize;
    let bytes = whole(0, 0) + (0..embedded).map(|at| whole(1, at)).sum::<u64>();
    assert_eq!(run(&scenario).connection("get")["delivered_bytes"], bytes);
}

#[test]
fn only_flows_with_pages_have_draws() {
    let scenario = |sets: &[&str]| scenario(ONE_LINK, sets);
    let pages = scenario(&[&application("\"ns3\"", "")]);
    let error = |flow: &str, scenario: &Scenario, count| {
        lab::page_draws(scenario, flow, count).unwrap_err().to_string()
    };
    assert!(error("got", &pages, 1).contains("no flow has this name"));
    assert!(error("get", &scenario(&[]), 1).contains("has no web pages"));
    assert!(error("get", &pages, lab::MAX_DRAWS + 1).contains("is the most"));
    let first = lab::page_draws(&pages, "get", 10).unwrap();
    assert_eq!(first, lab::page_draws(&pages, "get", 10).unwrap());
    let other = lab::page_draws(&scenario(&[&application("\"ns3\"", ""), "seed=77"]), "get", 10).unwrap();
    assert_ne!(first, other);
}

#[test]
fn the_reader_of_scenarios_refuses_invalid_pages() {
    for (page, message) in [
        (r#"{ type = "list", file = "pages/shop.har" }"#, "shop.har, line 1: no column"),
        (r#"{ type = "har", file = "pages/article.csv" }"#, "article.csv, not JSON: "),
        (
            r#"{ type = "ns3", main_size_max = "1 B", main_size_scale = 1e8 }"#,
            "of the law lies inside of its bounds",
        ),
        (r#""ns4""#, "ns3"),
    ] {
        let error = Scenario::parse(ONE_LINK, &examples().join("test.toml"), &[application(page, "")]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("flow.get.application.page") && error.contains(message), "{error}");
    }
}
