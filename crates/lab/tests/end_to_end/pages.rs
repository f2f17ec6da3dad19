//! Web pages in a scenario: from models and files, on two streams, and the numbers that they are drawn from.

use crate::bed::{ONE_LINK, examples, run, scenario};
use lab::Scenario;

fn application(page: &str, more: &str) -> String {
    format!("flow.get.application={{ type = \"page-streams\", page = {page}{more} }}")
}

#[test]
fn pages_of_files_come_whole() {
    let list = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    let archive = r#"{ type = "har", file = "pages/shop.har" }"#;
    for (page, bytes) in [(list, 328_000), (archive, 323_350)] {
        for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=3 %"] {
            let run = run(&scenario(ONE_LINK, &[&application(page, ", pages = 3"), loss]));
            let connection = run.connection("get");
            assert_eq!(
                (&connection["completed"], &connection["clean"]),
                (&true.into(), &true.into()),
                "{page}"
            );
            assert_eq!(connection["delivered_bytes"], 3 * bytes, "{page} {loss}");
        }
    }
}

/// Each object of pages on two streams has a row, whose bytes and times are those of its stream.
#[test]
fn objects_on_two_streams_are_told_one_by_one() {
    let page = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    let text = ONE_LINK.replace("\"stream\",", "\"stream\", \"object\",");
    for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=3 %"] {
        let run = run(&scenario(&text, &[&application(page, ", pages = 3, threshold = \"20 kB\""), loss]));
        let connection = run.connection("get");
        let of = |column: &str| run.numbers("object", column, &[]);
        let (sizes, streams) = (of("size_bytes"), of("stream"));
        let told = &connection["page"];
        assert_eq!(told["objects"], sizes.len());
        assert_eq!((&told["objects_complete"], &told["pages_complete"]), (&told["objects"], &3.into()));
        assert_eq!(sizes.iter().sum::<f64>(), 3.0 * 328_000.0, "{loss}");
        let [asked, first, complete] = ["asked_s", "first_byte_s", "complete_s"].map(of);
        for at in 0..sizes.len() {
            assert!([asked[at], first[at], complete[at]].is_sorted(), "{loss}: {at}");
            // A byte of an object comes after the last one of that before it on the same stream.
            let before = (0..at).rev().find(|other| streams[*other] == streams[at]);
            assert!(before.is_none_or(|before| first[at] >= complete[before]), "{loss}: {at}");
        }
        // Small ones on the first stream, with its urgency, and pages on streams of their own.
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

/// Urgencies go round over all streams of a connection, not over those of a page.
#[test]
fn objects_have_the_urgency_of_their_stream() {
    let page = r#"{ type = "list", file = "pages/article.csv", reading = "10 ms" }"#;
    let text = ONE_LINK.replace("\"stream\",", "\"stream\", \"object\",");
    let more = ", pages = 3, threshold = \"20 kB\", urgencies = [4, 5, 6]";
    let run = run(&scenario(&text, &[&application(page, more)]));
    let of = |column: &str| run.numbers("object", column, &[]);
    let mut told: Vec<(u64, u64)> = of("stream")
        .iter()
        .zip(of("urgency"))
        .map(|(stream, urgency)| (*stream as u64, urgency as u64))
        .collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told, [(3, 4), (7, 5), (11, 6), (15, 4), (19, 5), (23, 6)]);
}

#[test]
fn a_run_draws_what_is_told() {
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
fn draws_are_those_of_a_flow_with_pages() {
    let scenario = |sets: &[&str]| scenario(ONE_LINK, sets);
    let pages = scenario(&[&application("\"ns3\"", "")]);
    let told = |error: lab::RunError| error.to_string();
    assert!(told(lab::page_draws(&pages, "got", 1).unwrap_err()).contains("no flow has this name"));
    assert!(told(lab::page_draws(&scenario(&[]), "get", 1).unwrap_err()).contains("has no web pages"));
    assert!(told(lab::page_draws(&pages, "get", lab::MAX_DRAWS + 1).unwrap_err()).contains("is the most"));
    let first = lab::page_draws(&pages, "get", 10).unwrap();
    assert_eq!(first, lab::page_draws(&pages, "get", 10).unwrap());
    let other = lab::page_draws(&scenario(&[&application("\"ns3\"", ""), "seed=77"]), "get", 10).unwrap();
    assert_ne!(first, other);
}

#[test]
fn wrong_pages_are_refused_when_the_scenario_is_read() {
    for (page, told) in [
        (r#"{ type = "list", file = "pages/shop.har" }"#, "shop.har, line 1: column"),
        (r#"{ type = "har", file = "pages/article.csv" }"#, "article.csv, not JSON: "),
        (
            r#"{ type = "ns3", main_size_max = "1 B", main_size_scale = 1e8 }"#,
            "of the law lies inside of its bounds",
        ),
        (r#""ns4""#, "ns3"),
    ] {
        let error = Scenario::parse(ONE_LINK, &examples().join("test.toml"), &[application(page, "")]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("flow.get.application.page") && error.contains(told), "{error}");
    }
}
