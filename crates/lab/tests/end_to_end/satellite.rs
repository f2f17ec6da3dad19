//! Links over satellites: the return link with capacity on demand, series on one clock, presets.

use crate::bed::{Run, assert_equal, examples, run, scenario};
use crate::own_folder::own_folder;
use lab::Scenario;
use std::fs;
use std::path::Path;

const SATELLITE: &str = r#"
duration = "40 s"
[[link]]
name = "sat"
from = "gateway"
to = "terminal"
preset = "geo"
[[flow]]
name = "get"
client = "terminal"
server = "gateway"
application = { type = "bulk", size = "2 MB" }
"#;

fn min_rtt(run: &Run, flow: &str) -> f64 {
    let all = run.numbers("connection", "min_rtt_ms", &[("connection", flow)]);
    all.into_iter().fold(f64::MAX, f64::min)
}

/// With the capacity of the preset an exchange takes the propagation delays and a part of a frame. Without it each burst of
/// packets waits for the next frame, and 22 frames (583 ms) from its request to its grant.
#[test]
fn a_geostationary_link_has_its_round_trip_and_requests_double_it() {
    let preset = run(&scenario(SATELLITE, &[]));
    let rtt = min_rtt(&preset, "get");
    assert!((560.0..600.0).contains(&rtt), "{rtt}");
    assert_eq!(preset.connection("get")["completed"], true);
    let cra = "link.sat.backward.rate={ type = \"dvb-rcs2\" }";
    let bare = run(&scenario(SATELLITE, &[cra]));
    let rtt = min_rtt(&bare, "get");
    // 560 ms, 583 ms, and at most a frame of 26.5 ms until the request.
    assert!((1143.0..1175.0).contains(&rtt), "{rtt}");
    let constant = run(&scenario(SATELLITE, &["link.sat.backward.rate=10 Mbit/s"]));
    assert!((560.0..562.0).contains(&min_rtt(&constant, "get")));
    let took = |run: &Run| run.connection("get")["completion_s"].as_f64().unwrap();
    assert!(took(&constant) <= took(&preset) && took(&preset) < took(&bare));
}

const SERIES: &str = r#"
duration = "4 s"
[[link]]
name = "sat"
from = "server"
to = "client"
forward = { series = { type = "file", file = "FILE" }, queue = "1000 packets" }
backward = { rate = "5 Mbit/s", delay = "10 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "100 MB" }
transport = { controller = "fixed" }
"#;

/// Rate, delay and loss of a series change together, also with an offset, and all start again together.
#[test]
fn the_columns_of_a_series_share_their_time() {
    let file = own_folder().join("one-clock.csv");
    let lines = "time_s,rate_mbps,delay_ms,loss\n0,8,20,0\n1,0,20,0\n1.2,8,70,0\n1.5,8,70,0.3\n1.7,8,20,0\n2.3,8,20,0\n";
    fs::write(&file, lines).unwrap();
    // A round takes 2.9 s.
    let text = SERIES.replace("FILE", file.to_str().unwrap());
    for offset_ms in [0, 500] {
        let set = format!("link.sat.forward.series.offset={offset_ms} ms");
        let run = run(&scenario(&text, &[&set]));
        let phase = |time: f64| (time + f64::from(offset_ms) / 1e3) % 2.9;
        let subject = [("subject", "sat forward"), ("kind", "capacity")];
        let (times, rates) = (run.numbers("rate", "time_s", &subject), run.numbers("rate", "mbps", &subject));
        assert!(rates.len() >= 39);
        for (time, rate) in times.iter().zip(rates) {
            // The middle of a bin of 100 ms.
            let at = phase(time + 0.05);
            let expected = if (1.0..1.2).contains(&at) { 0.0 } else { 8.0 };
            assert!((rate - expected).abs() < 0.01, "{offset_ms}: {rate} at {time}");
        }
        let lost = run.numbers("drop", "time_s", &[("reason", "loss")]);
        assert!(lost.len() > 20, "{}", lost.len());
        assert!(lost.iter().all(|time| (1.5..1.7).contains(&phase(*time))), "{offset_ms}: {lost:?}");
        // The base RTT is that of the smallest delay.
        assert!(min_rtt(&run, "get") >= 30.0 && min_rtt(&run, "get") < 40.0);
    }
}

#[test]
fn mistakes_in_a_series_name_file_and_line() {
    let file = own_folder().join("mistaken.csv");
    fs::write(&file, "time_s,loss\n0,0\n1,2\n").unwrap();
    let text = SERIES.replace("FILE", file.to_str().unwrap());
    let error = Scenario::parse(&text, Path::new("a.toml"), &[]).unwrap_err().to_string();
    let said = "mistaken.csv:3: found \"...\": \"2\" is above 1; expected a time in s, a loss from 0 to 1";
    assert!(error.starts_with("a.toml:7:") && error.ends_with(said), "{error}");
    let missing = "link.sat.forward.series=none.csv";
    let error =
        Scenario::parse(SATELLITE, Path::new("a.toml"), &[missing.to_owned()]).unwrap_err().to_string();
    assert!(error.contains("found \"none.csv\"; expected the path of a file"), "{error}");
    let bare = format!("link.sat.forward.series={}", examples().join("traces/leo.csv").display());
    assert_eq!(scenario(SATELLITE, &[&bare]).links[0].forward.component("series").name, "file");
    let short = "link.sat.forward.series={ type = \"geo\", duration = \"60 s\" }";
    let error = Scenario::parse(SATELLITE, Path::new("a.toml"), &[short.to_owned()]).unwrap_err().to_string();
    let said = "60 s; expected from 300 s to 3600 s for geo: a shorter one would let the rain come and go faster than rain does";
    assert!(error.ends_with(said), "{error}");
}

/// Another path for each seed, the same in both directions, with a gap at each change of the satellite.
#[test]
fn a_constellation_is_drawn_for_each_seed_and_for_both_directions() {
    let scenario = Scenario::from_file(examples().join("leo.toml"), &["duration=32 s".to_owned()]).unwrap();
    let of = |seed| {
        let options = lab::Options { seed: Some(seed), tables: true, ..lab::Options::default() };
        crate::bed::run_with(&scenario, &options)
    };
    let (one, again, other) = (of(1), of(1), of(2));
    assert_equal(&one, &again, "equal seeds");
    assert_ne!(one.text, other.text);
    let capacity =
        |run: &Run, link: &str| run.numbers("rate", "mbps", &[("subject", link), ("kind", "capacity")]);
    let (there, back) = (capacity(&one, "satellite forward"), capacity(&one, "satellite backward"));
    assert!(there.len() >= 319 && there.iter().zip(&back).all(|(a, b)| (a / b / 8.0 - 1.0).abs() < 0.01));
    // 30 to 60 ms of the 100 ms behind each change.
    for change in [150, 300] {
        assert!(there[change] < 0.85 * there[change + 1], "{:?}", &there[change - 2..change + 3]);
    }
    let rtt = min_rtt(&one, "download");
    assert!((20.0..60.0).contains(&rtt), "{rtt}");
}
