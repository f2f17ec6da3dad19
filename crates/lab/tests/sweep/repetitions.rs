//! Repetitions that are equal because nothing is random, which a sweep predicts and detects.

use super::bed::{BASE, finish, folder, sweep, sweep_of};
use lab::sweep::Sweep;
use lab::{Options, Scenario, draws, run};
use std::ops::ControlFlow;
use std::path::Path;

const FOUR: &str = "[sweep]\nrepetitions = 4\nkeep = [\"stream\"]\nlink.cell.delay = [\"5 ms\", \"9 ms\"]\n";

fn without_loss(more: &str) -> Sweep {
    sweep_of(&format!("{}{more}", BASE.replace(", loss = \"2 %\"", "")))
}

/// Repetitions are equal if nothing draws.
#[test]
fn repetitions_without_chance_are_found() {
    let same = without_loss(FOUR);
    assert!(!same.draws());
    let mut finished = finish(&same, &folder("identical"), 2);
    assert_eq!(finished.identical(0, u64::MAX).unwrap(), 2);
    let different = sweep(FOUR);
    assert!(different.draws());
    assert_eq!(finish(&different, &folder("different"), 2).identical(0, u64::MAX).unwrap(), 0);
}

/// The prediction considers each value, and equal repetitions count by combination.
#[test]
fn a_value_that_draws_is_enough() {
    let some = without_loss("[sweep]\nrepetitions = 3\nlink.cell.forward.loss = [0.0, 0.05]\n");
    assert!(some.draws());
    assert_eq!(finish(&some, &folder("some"), 2).identical(0, u64::MAX).unwrap(), 1);
    let once = without_loss("[sweep]\nlink.cell.delay = [\"5 ms\", \"9 ms\"]\n");
    assert_eq!(finish(&once, &folder("once"), 2).identical(0, u64::MAX).unwrap(), 0);
}

/// A scenario without draws gives the same run for all seeds.
#[test]
fn components_that_draw_are_known() {
    const PAGE: &str = "{ type = \"page-streams\", page = { type = \"ns3\" } }";
    const MIX: &str = "{ type = \"mix\", parts = [{ type = \"bulk\", size = \"30 kB\" }, \
                       { type = \"messages\", source = \"mavlink\", direction = \"upload\" }] }";
    const TRACE: &str = "{ type = \"generated\", model = \"lte-driving\", duration = \"30 s\"";
    for (set, expected) in [
        ("link.cell.both.series=leo", true),
        ("link.cell.preset=leo", true),
        ("link.cell.preset=geo", false),
        ("link.cell.forward.loss=0.0", false),
        ("link.cell.forward.loss=0.02", true),
        ("link.cell.forward.loss={ type = \"periodic\", every = 20 }", false),
        ("link.cell.forward.jitter={ type = \"uniform\", maximum = \"3 ms\" }", true),
        ("link.cell.backward.duplicate=0.1", true),
        ("link.cell.forward.corrupt=0.1", true),
        ("link.cell.forward.queue={ type = \"red\", limit = \"9 packets\" }", true),
        ("link.cell.forward.queue={ type = \"codel\", limit = \"9 packets\" }", false),
        (&format!("link.cell.forward.rate={TRACE} }}"), true),
        (&format!("link.cell.forward.rate={TRACE}, seed = 3 }}"), false),
        (&format!("link.cell.forward.rate={TRACE}, seed = 3, offset = \"random\" }}"), true),
        (&format!("link.cell.forward.rate={TRACE}, seed = 3, offset = \"7 s\" }}"), false),
        (&format!("flow.get.application={PAGE}"), true),
        (&format!("flow.get.application={MIX}"), true),
        ("flow.get.application={ type = \"mix\", parts = [{ type = \"bulk\" }] }", false),
        ("flow.get.transport.skip_packet_numbers=true", true),
        ("flow.get.transport.spin_bit=true", false),
        ("flow.get.protocol=tcp", false),
        ("flow.get.transport.controller=cubic", false),
        ("flow.get.transport.controller=copa", false),
        ("flow.get.transport.controller=bbr1;flow.get.application.size=4 MB", true),
        ("flow.get.transport.controller=bbr3;flow.get.application.size=4 MB", true),
        ("flow.get.protocol=tcp;flow.get.tcp.controller=bbr1;flow.get.application.size=4 MB", true),
        ("tls.protection=tls", false),
    ] {
        let text = BASE
            .replace(", loss = \"2 %\"", "")
            .replace("10 s", if set.contains("MB") { "20 s" } else { "2 s" });
        let changes: Vec<String> = set.split(';').map(str::to_owned).collect();
        let scenario =
            Scenario::parse(&text, Path::new("a.toml"), &changes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(draws(&scenario).unwrap(), expected, "{set}");
        let of_seed = |seed| {
            let options = Options { seed: Some(seed), ..Options::default() };
            let outcome = run(&scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap();
            outcome.summary.replacen(&format!("\"seed\": {seed}"), "", 1)
        };
        let same = (2..6).all(|seed| of_seed(1) == of_seed(seed));
        assert!(same || expected, "{set}: seeds matter, but nothing draws");
        // A queue draws only when it is long.
        assert!(
            !same || !expected || set.contains("queue"),
            "{set}: something draws, but five seeds give equal runs"
        );
    }
}
