//! Pages whose objects come from several servers.

use crate::bed::{Run, file_of, run, scenario};
use lab::Scenario;
use std::path::Path;

/// A document from one host, then objects from two hosts of a network for contents and one of an advertiser.
const PAGE: &str = "size,host,after\n20 kB,www.example,\n10 kB,a.cdn.example,1\n10 kB,b.cdn.example,1\n5 kB,ads.example,1\n8 kB,www.example,4\n";

/// Three servers at different distances behind fast links.
fn network(page: &'static str, flows: &str) -> String {
    let link = |server: &str, delay: &str| {
        format!(
            "[[link]]\nname = \"to-{server}\"\nfrom = \"{server}\"\nto = \"home\"\nboth = {{ rate = \"1 Gbit/s\", delay = \"{delay}\" }}\n"
        )
    };
    let page = file_of(page).display().to_string();
    format!(
        "seed = 2\nduration = \"20 s\"\n[record]\ntables = [\"object\"]\n[tcp]\ntls = \"tls1.3\"\n{}{}{}[[link]]\nname = \"cable\"\nfrom = \"home\"\nto = \"client\"\nboth = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[flow]]\nname = \"page\"\nclient = \"client\"\nserver = \"www\"\napplication = {{ type = \"page\", page = {{ type = \"list\", file = \"{page}\" }} }}\n{flows}",
        link("www", "19 ms"),
        link("edge", "4 ms"),
        link("far", "49 ms"),
    )
}

fn origin(name: &str, server: &str, options: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nclient = \"client\"\nserver = \"{server}\"\napplication = {{ type = \"origin\", of = \"page\", {options} }}\n"
    )
}

fn three(options: &str) -> String {
    origin("cdn", "edge", &format!("hosts = [\"*.cdn.example\"]{options}"))
        + &origin("ads", "far", "hosts = [\"ads.example\"], dns = \"30 ms\"")
}

fn number(run: &Run, flow: &str, key: &str) -> f64 {
    run.connection(flow)[key].as_f64().unwrap_or_else(|| panic!("{flow}: no {key}"))
}

fn of(flows: &str, sets: &[&str]) -> Run {
    run(&scenario(&network(PAGE, flows), sets))
}

/// The flow and the stream of each object, and when it could be requested, was requested and was complete.
fn objects(run: &Run) -> Vec<(String, [f64; 3])> {
    let table = run.table("object");
    let number = |name: &str, row: usize| table.column(name).unwrap().number(row);
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    rows.sort_by_key(|row| number("object", *row).unwrap() as usize);
    let times = |row| ["wanted_s", "asked_s", "complete_s"].map(|name| number(name, row).unwrap_or(f64::NAN));
    let flow = |row| table.column("connection").unwrap().text(row).unwrap().to_owned();
    rows.into_iter().map(|row| (flow(row), times(row))).collect()
}

/// Asserts that a time is this one, or up to a millisecond later: the links are fast, and packets short.
#[track_caller]
fn assert_about(found: f64, expected: f64) {
    assert!((expected..expected + 0.001).contains(&found), "found {found}, expected about {expected}");
}

#[test]
fn each_origin_has_its_name_its_handshake_and_its_distance() {
    let run = of(&three(""), &[]);
    // Two round trips of 40 ms to the first byte; 20 kB take a third one, after the initial window.
    assert_about(number(&run, "page", "first_byte_s"), 0.080);
    assert_about(number(&run, "cdn", "start_s"), 0.120);
    assert_about(number(&run, "cdn", "first_byte_s"), 0.020);
    assert_about(number(&run, "ads", "start_s"), 0.150);
    assert_about(number(&run, "ads", "first_byte_s"), 0.200);
    // The last object waits for that of the advertiser, and its connection is open.
    assert_about(run.connection("page")["page"]["load_max_s"].as_f64().unwrap(), 0.390);
    let loaded: Vec<(String, [f64; 3])> = objects(&run);
    let carriers: Vec<&str> = loaded.iter().map(|(flow, _)| flow.as_str()).collect();
    assert_eq!(carriers, ["page", "cdn", "cdn", "ads", "page"]);
    let [requestable, requested, complete] = loaded[3].1;
    assert_about(requestable, 0.120);
    assert_about(requested - requestable, 0.130);
    assert_about(complete - requested, 0.100);
    for flow in ["page", "cdn", "ads"] {
        assert_eq!(
            (&run.connection(flow)["completed"], &run.connection(flow)["clean"]),
            (&true.into(), &true.into())
        );
    }
    assert_eq!(run.connection("cdn")["delivered_bytes"], 20_000);
    assert_eq!((&run.connection("cdn")["of"], run.connection("page").get("of")), (&"page".into(), None));
}

#[test]
fn a_certificate_decides_which_hosts_share_a_connection() {
    for (certificate, carriers) in [
        ("", ["cdn", "cdn"]),
        (", certificate = [\"*.cdn.example\"]", ["cdn", "cdn"]),
        (", certificate = [\"b.cdn.example\", \"a.cdn.example\"]", ["cdn", "cdn"]),
        (", certificate = [\"a.cdn.example\"]", ["cdn", "cdn@b.cdn.example"]),
        (", certificate = [\"*.example\"]", ["cdn", "cdn@b.cdn.example"]),
        (", certificate = []", ["cdn", "cdn@b.cdn.example"]),
    ] {
        let run = of(&three(certificate), &[]);
        let found = objects(&run);
        assert_eq!([&found[1].0, &found[2].0], carriers, "{certificate}");
        // A connection of its own needs a handshake of its own, at the same time.
        assert_about(found[2].1[1], 0.130);
    }
}

#[test]
fn a_host_on_an_open_connection_still_needs_its_name() {
    let page = "size,host,after\n2 kB,www.example,\n2 kB,a.cdn.example,1\n2 kB,b.cdn.example,2\n";
    let flows = origin("cdn", "edge", "hosts = [\"*.cdn.example\"], dns = \"50 ms\"");
    let run = run(&scenario(&network(page, &flows), &[]));
    let found = objects(&run);
    assert_about(found[1].1[1] - found[1].1[0], 0.060);
    assert_about(found[2].1[1] - found[2].1[0] + 1e-9, 0.050);
    assert_eq!(found[2].0, "cdn");
}

#[test]
fn http_1_1_has_connections_for_each_host() {
    let sets = [
        "flow.cdn.protocol=tcp",
        "flow.cdn.application.over=http1.1",
        "flow.ads.protocol=tcp",
        "flow.ads.application.over=http2",
    ];
    let run = of(&three(""), &sets);
    let found = objects(&run);
    let carriers: Vec<&str> = found.iter().map(|(flow, _)| flow.as_str()).collect();
    assert_eq!(carriers, ["page", "cdn", "cdn@b.cdn.example", "ads", "page"]);
    // TCP and TLS: two round trips before the request.
    assert_about(found[1].1[1] - found[1].1[0], 0.020);
    assert_about(found[3].1[1] - found[3].1[0], 0.230);
    assert_eq!(run.connection("page")["page"]["pages_complete"], 1);
}

#[test]
fn an_origin_may_have_another_stack() {
    if !cfg!(feature = "quinn") {
        eprintln!("SKIPPED: this build has no quinn-proto");
        return;
    }
    let node = ["www", "edge", "far", "home", "client"].map(|name| {
        let stack = if name == "edge" { "stack = \"quinn\"\n" } else { "" };
        format!("[[node]]\nname = \"{name}\"\n{stack}")
    });
    let node = node.concat();
    let run = run(&scenario(&network(PAGE, &format!("{}{node}", three(""))), &[]));
    assert_eq!(run.connection("page")["page"]["pages_complete"], 1);
    assert_about(number(&run, "cdn", "first_byte_s"), 0.020);
}

#[test]
fn a_page_from_one_server_is_the_same_over_either_loader() {
    let flows = origin("none", "edge", "hosts = [\"*.elsewhere.example\"]");
    let page = "size,host,after,urgency\n20 kB,www.example,,\n90 kB,a.example,1*,5\n10 kB,b.example,1*,2\n5 kB,www.example,3,\n8 kB,,4,\n";
    let one = run(&scenario(&network(page, ""), &[]));
    let several = run(&scenario(&network(page, &flows), &[]));
    for ((_, one), (_, other)) in objects(&one).iter().zip(objects(&several)) {
        for (one, other) in one.iter().zip(other) {
            // The names of hosts are longer than `server`: by some bytes at 1 Gbit/s.
            assert!((one - other).abs() < 1e-6, "{one} and {other}");
        }
    }
    let unused = several.connection("none");
    assert_eq!((&unused["close"], &unused["start_s"]), (&"never opened".into(), &serde_json::Value::Null));
    assert!(several.summary["duration_s"].as_f64().unwrap() < 1.0, "nobody waits for it");
}

#[test]
fn the_name_of_the_server_itself_takes_time() {
    let named = of("", &["flow.page.application.dns=70 ms"]);
    let known = of("", &[]);
    let first = |run: &Run| number(run, "page", "first_byte_s");
    assert_about(first(&named) - first(&known) + 1e-9, 0.070);
    let load = |run: &Run| run.connection("page")["page"]["load_max_s"].as_f64().unwrap();
    // And those of its three other hosts, which are named at once, and of the last one.
    assert_about(load(&named), load(&known) + 0.140 - 1e-9);
}

#[test]
fn a_visit_resumes_with_every_origin() {
    let flows = three("") + "";
    let sets = [
        "flow.page.visits=[{at = \"5 s\"}]",
        "flow.page.early_data=true",
        "flow.cdn.early_data=true",
        "flow.ads.early_data=true",
        "tls.tickets=2",
        "tls.early_data=true",
    ];
    let run = of(&flows, &sets);
    for (flow, first) in
        [("page", 0.080), ("page@2", 0.040), ("cdn", 0.020), ("cdn@2", 0.010), ("ads", 0.2), ("ads@2", 0.1)]
    {
        assert_about(number(&run, flow, "first_byte_s"), first);
    }
    assert_eq!(run.connection("cdn@2")["of"], "page@2");
}

#[test]
fn a_page_goes_on_without_an_origin_that_never_answers() {
    let run = of(&three(""), &["link.to-far.backward.loss=1"]);
    let page = &run.connection("page")["page"];
    assert_eq!((&page["objects_complete"], &page["pages_complete"]), (&3.into(), &0.into()));
    assert_eq!(run.connection("cdn")["completed"], true);
    assert_eq!(run.connection("ads")["completed"], false);
}

#[test]
fn a_page_that_is_stopped_stops_everywhere() {
    for stop in ["100 ms", "130 ms", "140 ms", "200 ms"] {
        let stop = format!("flow.page.stop={stop}");
        let run = of(&three(""), &[&stop]);
        assert!(run.summary["duration_s"].as_f64().unwrap() < 0.9, "{stop}: {}", run.summary["duration_s"]);
        assert_eq!(run.connection("ads")["completed"], false);
    }
}

#[test]
fn another_flow_follows_the_whole_page() {
    let next = "[[flow]]\nname = \"next\"\nclient = \"client\"\nserver = \"www\"\nafter = \"page\"\napplication = { type = \"bulk\", size = \"1 kB\" }\n";
    let run = of(&(three("") + next), &[]);
    assert!((0.390..0.4).contains(&number(&run, "next", "start_s")), "{}", number(&run, "next", "start_s"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let cdn = |options: &str| origin("cdn", "edge", options);
    for (flows, told) in [
        (
            cdn("hosts = [\"c.cdn.example\"]"),
            "flow.cdn.application.hosts: no object of these pages is from \"c.cdn.example\"; expected any of www.example, a.cdn.example, b.cdn.example, ads.example",
        ),
        (
            cdn("hosts = [\"www.example\"]"),
            "flow.cdn.application.hosts: the first object of the first page is from \"www.example\"",
        ),
        (cdn(""), "flow.cdn.application.hosts: the first object of the first page"),
        (cdn("hosts = [\"a cdn\"]"), "found \"a cdn\"; expected the name of a host"),
        (cdn("hosts = [\"*.cdn.example\"], certificate = [\"?\"]"), "certificate: found \"?\""),
        (
            cdn("hosts = [\"*.cdn.example\"]").replace("\"page\"", "\"pgae\""),
            "flow.cdn.application.of: unknown flow, found \"pgae\"; expected page (did you mean \"page\"?)",
        ),
        (
            cdn("hosts = [\"*.cdn.example\"]") + "start = \"1 s\"\n",
            "flow.cdn.start: the application of flow \"page\" decides",
        ),
        (
            cdn("hosts = [\"*.cdn.example\"]") + "visits = [{ at = \"2 s\" }]\n",
            "flow.cdn.visits: the application of flow \"page\" decides",
        ),
        (
            cdn("hosts = [\"*.cdn.example\"]").replace("client = \"client\"", "client = \"far\""),
            "flow.cdn.client: not the client of flow \"page\"",
        ),
        (
            cdn("hosts = [\"a.cdn.example\"]") + &origin("second", "far", "hosts = [\"a.cdn.example\"]"),
            "flow.second.application.hosts: \"a.cdn.example\" fits another origin",
        ),
        (
            cdn("hosts = [\"*.cdn.example\"]")
                + &origin("second", "far", "hosts = [\"*.cdn.example\"]")
                    .replace("of = \"page\"", "of = \"cdn\""),
            "flow.second.application.of: not a flow with several connections, found \"cdn\", which has \"origin\"; expected one with page",
        ),
    ] {
        let text = network(PAGE, &flows);
        let error = Scenario::parse(&text, Path::new("test.toml"), &[]).expect_err(&flows).to_string();
        assert!(error.contains(told), "{flows}: {error}");
    }
    let unnamed = network("size\n2 kB\n", &cdn(""));
    let error = Scenario::parse(&unnamed, Path::new("test.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("flow.cdn.application.of: its pages name no hosts"), "{error}");
}

#[test]
fn what_a_document_names_is_asked_for_while_it_arrives() {
    let page = "size,after\n300 kB,\n2 kB,1*\n2 kB,2*\n";
    for (over, protocol) in [("http1.1", "tcp"), ("http2", "tcp"), ("http3", "quic")] {
        let sets = [format!("flow.page.protocol={protocol}"), format!("flow.page.application.over={over}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let found = objects(&run(&scenario(&network(page, ""), &sets)));
        let [document, first, second] = [0, 1, 2].map(|place| found[place].1);
        assert!(first[0] < document[2] && second[0] < document[2], "{over}: they are known before its end");
        if over != "http1.1" {
            assert_eq!([first[0], second[0]], [first[1], second[1]], "{over}: and asked for at once");
        }
    }
}
