//! Web objects over HTTP/3 and hq-interop in a scenario.

use crate::bed::{ONE_LINK, assert_clean, run, scenario};

const SIZES: &str = "sizes = [\"10 kB\", \"200 B\", \"0 B\", \"90 kB\"]";

fn application(name: &str, more: &str) -> String {
    format!("flow.get.application={{ type = \"{name}\", {SIZES}, count = 40, concurrency = 7{more} }}")
}

/// The delivered bytes are the bodies of all responses. A clean close has the protocol's own code: H3_NO_ERROR (RFC 9114
/// section 8.1) for HTTP/3, 0 for hq-interop.
#[test]
fn objects_arrive_and_the_connection_closes_cleanly() {
    for (name, more) in [("hq", ""), ("http3", ", urgencies = [0, 7, 3], incremental = true")] {
        for loss in ["link.cell.both.loss=0 %", "link.cell.both.loss=3 %"] {
            let run = run(&scenario(ONE_LINK, &[&application(name, more), loss]));
            let connection = run.connection("get");
            assert_clean(connection, name);
            assert_eq!(connection["delivered_bytes"], 1_002_000, "{name} {loss}");
        }
    }
}

/// RFC 9114 section 3.1: the handshake negotiates the protocol, and has the same size under both protections.
#[test]
fn http3_takes_equal_times_under_both_protections() {
    let of = |protection: &str| {
        let protection = format!("tls.protection={protection}");
        run(&scenario(ONE_LINK, &[&application("http3", ""), &protection])).connection("get").clone()
    };
    assert_eq!(of("null"), of("tls"));
}

/// Over HTTP/2 small objects go on past the credit that a client grants its connection at first, 15 MiB: the last frame of each
/// stream is given back, too.
#[test]
fn small_objects_pass_the_credit_of_an_http2_connection() {
    let sets = [
        "flow.get.protocol=tcp",
        "flow.get.application={ type = \"http2\", sizes = [\"40 kB\"], count = 450 }",
        "link.cell.both.rate=1 Gbit/s",
        "link.cell.both.queue=1000 packets",
        "record.packets=false",
    ];
    let run = run(&scenario(ONE_LINK, &sets));
    assert_clean(run.connection("get"), "get");
    assert_eq!(run.connection("get")["delivered_bytes"], 18_000_000);
}
