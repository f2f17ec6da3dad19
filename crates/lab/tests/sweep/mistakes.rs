//! Mistakes in `[sweep]`, each with its error.

use super::bed::{BASE, read};
use lab::Scenario;
use lab::sweep::Sweep;
use std::path::Path;

/// Tables after the scenario of the tests, from line 16 on, with their errors.
const MISTAKES: &[(&str, &str)] = &[
    (
        "[sweep]\nrepetitions = 0\n",
        "a.toml:17:15: sweep.repetitions: out of range, found 0; expected a whole number from 1 to 1000000",
    ),
    (
        "[sweep]\nrepetition = 3\n",
        r#"a.toml:17:1: sweep.repetition: unknown key, found "repetition"; expected one of repetitions, seeds, series, keep, zip, seed, duration, record, tls, transport, tcp, node, link, medium, flow, cross_traffic, memory, event (did you mean "repetitions"?)"#,
    ),
    (
        "[sweep]\nflows.get.start = [1]\n",
        r#"a.toml:17:1: sweep.flows: unknown key, found "flows"; expected one of repetitions, seeds, series, keep, zip, seed, duration, record, tls, transport, tcp, node, link, medium, flow, cross_traffic, memory, event (did you mean "flow"?)"#,
    ),
    (
        "[sweep]\nlink.cell.delay = '5 ms'\n",
        r#"a.toml:17:19: sweep.link.cell.delay: a single value, found "5 ms"; expected a list of values, or a range like { from = "10 ms", to = "100 ms", step = "10 ms" }"#,
    ),
    (
        "[sweep]\nflow.get.transport.ack_ratio = 5\n",
        r#"a.toml:17:32: sweep.flow.get.transport.ack_ratio: a single value, found 5; expected a list of values, or a range like { from = "10 ms", to = "100 ms", step = "10 ms" }"#,
    ),
    ("[sweep]\nlink.cell.delay = []\n", "a.toml:17:19: sweep.link.cell.delay: 0 values; expected 1 to 10000"),
    (
        "[sweep]\nlink.cell.delay = ['5 ms', '5']\n",
        r#"a.toml:17:28: link.cell.delay: the unit is missing, found "5"; expected a duration with its unit (ns, us, ms, s, min, h), like "20 ms""#,
    ),
    (
        "[sweep]\nlink.cell.dealy = ['5 ms']\n",
        r#"a.toml:17:20: link.cell.dealy: unknown key, found "dealy"; expected one of name, from, to, preset, forward, backward, both, rate, delay, queue, loss, jitter, series, reorder, mtu, duplicate, corrupt (did you mean "delay"?)"#,
    ),
    (
        "[sweep]\nlink.sell.delay = ['5 ms']\n",
        r#"a.toml:17:20: link.sell: unknown, found "sell"; expected one of cell, or a number from 0 to 0 (did you mean "cell"?)"#,
    ),
    (
        "[sweep]\nlink.cell.delay = ['5 ms', '0.005 s']\n",
        r#"a.toml:17:28: sweep.link.cell.delay: given twice, found "5 ms"; expected each value once"#,
    ),
    (
        "[sweep]\nlink.cell.delay = ['5 ms']\n'link.cell.delay' = ['6 ms']\n",
        "a.toml:18:22: sweep.link.cell.delay: given twice; expected each path once",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms' }\n",
        "a.toml:17:19: sweep.link.cell.delay.to: missing; expected a number, with its unit if it has one",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '10 kB', step = '1 ms' }\n",
        r#"a.toml:17:41: sweep.link.cell.delay.to: another unit, found "10 kB"; expected the unit of `from`"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '5 ms', step = '1 ms' }\n",
        r#"a.toml:17:41: sweep.link.cell.delay.to: not above `from`, found "5 ms"; expected a value above it"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '9 ms' }\n",
        "a.toml:17:19: sweep.link.cell.delay: expected exactly one of step, factor, count beside from and to",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '9 ms', step = '1 ms', count = 3 }\n",
        "a.toml:17:19: sweep.link.cell.delay: expected exactly one of step, factor, count beside from and to",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '9 ms', step = '0 ms' }\n",
        r#"a.toml:17:56: sweep.link.cell.delay.step: not above zero, found "0 ms"; expected a value above zero"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '5 ms', to = '9 ms', step = 1 }\n",
        "a.toml:17:56: sweep.link.cell.delay.step: another unit, found 1; expected the unit of `from`",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '0 s', to = '9 s', step = '1 ns' }\n",
        r#"a.toml:17:54: sweep.link.cell.delay.step: too many values, found "1 ns"; expected at most 10000 of a range"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '0 s', to = '9 s', factor = 2 }\n",
        r#"a.toml:17:28: sweep.link.cell.delay.from: not above zero, found "0 s"; expected a value above zero in a logarithmic range"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '1 s', to = '9 s', factor = 1 }\n",
        "a.toml:17:56: sweep.link.cell.delay.factor: not above 1, found 1; expected a number above 1",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '1 s', to = '9 s', count = 1 }\n",
        "a.toml:17:55: sweep.link.cell.delay.count: wrong, found 1; expected a whole number from 2 to 10000",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '1 s', to = '9 s', count = 3, scale = 'log' }\n",
        r#"a.toml:17:66: sweep.link.cell.delay.scale: wrong, found "log"; expected one of linear, logarithmic"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '1 s', to = '9 s', step = '1 s', scale = 'linear' }\n",
        "a.toml:17:61: sweep.link.cell.delay.scale: only for a range with `count`; `step` is linear and `factor` logarithmic",
    ),
    (
        "[sweep]\nlink.cell.delay = { from = '1 s', to = '9 s', by = '1 s' }\n",
        r#"a.toml:17:47: sweep.link.cell.delay.by: unknown key, found "by"; expected one of from, to, step, factor, count, scale"#,
    ),
    (
        "[sweep]\nlink.cell.delay = { from = 'a', to = '9 s', step = '1 s' }\n",
        r#"a.toml:17:28: sweep.link.cell.delay.from: not a number, found "a"; expected a number, with its unit if it has one"#,
    ),
    (
        "[sweep]\nzip = 3\n",
        "a.toml:17:7: sweep.zip: wrong type, found 3; expected an array of tables, [[sweep.zip]]",
    ),
    (
        "[sweep]\n[[sweep.zip]]\nlink.cell.delay = ['5 ms', '9 ms']\n",
        "a.toml:17:1: sweep.zip.0: too few paths, found 1; expected two or more that vary together",
    ),
    (
        "[sweep]\n[[sweep.zip]]\nlink.cell.delay = ['5 ms', '9 ms']\nlink.cell.queue = ['1 BDP']\n",
        "a.toml:19:20: sweep.zip.0.link.cell.queue: wrong length, found 1 values; expected 2, as many as \
         link.cell.delay has",
    ),
    (
        "[sweep]\nrepetitions = 2\nseed = [1, 2]\n",
        "a.toml:17:15: sweep.repetitions: not allowed, found 2; expected 1 where the seed itself is varied",
    ),
    (
        "[sweep]\nrepetitions = 1000000\nseeds = 'pair'\n",
        r#"a.toml:18:9: sweep.seeds: unknown word, found "pair"; expected one of independent, paired (did you mean "paired"?)"#,
    ),
    (
        "[sweep]\nrepetitions = 1000000\nflow.get.transport.ack_ratio = [1, 2]\n",
        "a.toml:16:1: sweep: too many runs, found 2000000; expected at most 1000000",
    ),
    (
        "[sweep]\nseries = ['loss']\n",
        r#"a.toml:17:11: sweep.series.0: unknown word, found "loss"; expected one of connection, gauge, queue, rate"#,
    ),
    (
        "[sweep]\nkeep = ['loss', 'runs']\n",
        r#"a.toml:17:17: sweep.keep.1: unknown word, found "runs"; expected one of connection, loss, event, gauge, wait, stream, message, object, segment, playback, queue, drop, rate, node, air"#,
    ),
    (
        "[sweep]\nkeep = ['loss', 'gauge']\n",
        r#"a.toml:17:8: sweep.keep: "gauge" is not recorded; expected it in record.tables"#,
    ),
];

#[test]
fn each_mistake_gives_its_error() {
    for (table, line) in MISTAKES {
        let text = format!("{BASE}{table}");
        assert_eq!(read(&text).err().as_deref(), Some(*line), "{table}");
        // A single run gives the same error, except for mistakes in values, which it does not check.
        if let Err(error) = Scenario::parse(&text, Path::new("a.toml"), &[]) {
            assert_eq!(error.to_string(), *line, "{table}");
        }
    }
}

#[test]
fn a_change_of_a_varied_path_is_refused() {
    let text = format!("{BASE}[sweep]\nlink.cell.delay = ['5 ms', '6 ms']\n");
    let parse = |set: &str| Sweep::parse(&text, Path::new("a.toml"), &[set.to_owned()]);
    assert_eq!(
        parse("link.\"cell\".delay=7 ms").unwrap_err().to_string(),
        "--set link.\"cell\".delay=7 ms: link.cell.delay: varied by the sweep; expected sweep.link.cell.delay=[...], its values"
    );
    assert_eq!(parse("sweep.link.cell.delay=['7 ms', '8 ms', '9 ms']").unwrap().runs(), 3);
    assert_eq!(parse("sweep.repetitions=4").unwrap().runs(), 8);
    // A single run varies nothing.
    let scenario = Scenario::parse(&text, Path::new("a.toml"), &["link.cell.delay=7 ms".to_owned()]).unwrap();
    assert!(scenario.to_toml().contains("7 ms"));
}
