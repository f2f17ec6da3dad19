//! Numbers of the summary that differ only where two flows, two hops or two objects differ. All others are computed again by
//! `tests/test_recomputed.py`.

use crate::bed::{ONE_LINK, run, scenario};

/// The goodput of a flow that was stopped is over its own time, however long another one goes on.
#[test]
fn a_stopped_flow_has_the_goodput_of_its_own_time() {
    let text = format!(
        "{}stop = \"1 s\"\n[[flow]]\nname = \"other\"\nclient = \"client\"\nserver = \"server\"\nstart = \"1500 ms\"\n\
         application = {{ type = \"bulk\", size = \"2 MB\" }}\n",
        ONE_LINK.replace(", size = \"300 kB\"", "")
    );
    let run = run(&scenario(&text, &[]));
    let (stopped, other) = (run.connection("get"), run.connection("other"));
    let number = |entry: &serde_json::Value, key: &str| entry[key].as_f64().unwrap();
    assert!(number(&run.summary, "duration_s") > 3.0, "the other flow goes on");
    // What was on the way at the stop still arrives: 67 packets at most.
    let wanted = number(stopped, "delivered_bytes") * 8e-6;
    let goodput = number(stopped, "goodput_mbps");
    assert!((wanted / 1.1..wanted + 1e-5).contains(&goodput), "{goodput} Mbit/s over 1 s are {wanted}");
    // A flow that starts late counts from its start.
    let wanted = 2_000_000.0 * 8e-6 / number(other, "completion_s");
    assert!((number(other, "goodput_mbps") - wanted).abs() < 1e-5, "{other}");
    assert!(
        (number(other, "completion_s") + 1.5 - number(&run.summary, "duration_s")).abs() < 0.1,
        "{other}"
    );
}

/// Of two hops that no packet waited at, the slower one is the bottleneck, wherever it is.
#[test]
fn the_slower_of_two_empty_hops_is_the_bottleneck() {
    let hop = |name: &str, from: &str, to: &str, rate: &str| {
        format!(
            "[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             both = {{ rate = \"{rate}\", delay = \"5 ms\", queue = \"200 packets\" }}\n"
        )
    };
    for (first, second, slower) in
        [("50 Mbit/s", "10 Mbit/s", "b forward"), ("10 Mbit/s", "50 Mbit/s", "a forward")]
    {
        // The flight of the server is one packet, and so is the response.
        let text = format!(
            "seed = 1\nduration = \"20 s\"\n[tls]\ncertificate_chain = \"1 kB\"\n{}{}[[flow]]\nname = \"get\"\n\
             client = \"client\"\nserver = \"server\"\napplication = {{ type = \"bulk\", size = \"500 B\" }}\n",
            hop("a", "server", "router", first),
            hop("b", "router", "client", second)
        );
        let run = run(&scenario(&text, &[]));
        for name in ["a", "b"] {
            assert_eq!(run.link(name, "forward")["queue_max_packets"], 0, "{name}: {}", run.text);
        }
        assert_eq!(run.connection("get")["bottleneck"], slower, "{first}, {second}");
    }
}

/// The time of an object counts from when the page needs it, not from the start of its flow.
#[test]
fn an_object_takes_from_when_it_is_wanted() {
    let sets = [
        "flow.get.application={ type = \"page\", page = { type = \"list\", file = \"pages/article.csv\" } }",
        "flow.get.start=2 s",
        "record.tables=[\"object\"]",
    ];
    let run = run(&scenario(ONE_LINK, &sets));
    let [wanted, complete] = ["wanted_s", "complete_s"].map(|column| run.numbers("object", column, &[]));
    let spans: Vec<f64> = complete.iter().zip(&wanted).map(|(end, start)| end - start).collect();
    let mean = spans.iter().sum::<f64>() / spans.len() as f64;
    let page = &run.connection("get")["page"];
    assert!((page["object_mean_s"].as_f64().unwrap() - mean).abs() < 2e-6, "{page}: {mean} s");
    // The page itself counts from the start of the flow.
    let load = complete.iter().copied().fold(0.0, f64::max) - 2.0;
    assert!((page["load_mean_s"].as_f64().unwrap() - load).abs() < 2e-6, "{page}: {load} s");
}

/// Each percentile has the rank of its name, to the width of a bucket.
#[test]
fn quantiles_are_those_of_their_names() {
    let application =
        "{ type = \"messages\", source = { type = \"poisson\", gap = \"9 ms\", size = 9000 }, count = 400 }";
    let set = format!("flow.get.application={application}");
    let run = run(&scenario(ONE_LINK, &[&set, "link.cell.both.loss=1 %"]));
    let mut delays = run.numbers("message", "delay_ms", &[]);
    delays.sort_by(f64::total_cmp);
    let messages = &run.connection("get")["messages"];
    let mut before = 0.0;
    for share in [5, 25, 50, 75, 95, 99] {
        let told = messages[format!("delay_p{share}_ms")].as_f64().unwrap();
        let wanted = delays[(delays.len() * share).div_ceil(100) - 1];
        assert!((told / wanted - 1.0).abs() < 1.0 / 32.0, "p{share}: {told} ms, not {wanted}");
        assert!(wanted > 1.07 * before, "the percentiles differ: {wanted} after {before}");
        before = wanted;
    }
    assert!((messages["delay_max_ms"].as_f64().unwrap() - delays[delays.len() - 1]).abs() < 1e-5);
}
