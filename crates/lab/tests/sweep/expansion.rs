//! The runs of `[sweep]` tables: products, zips, ranges, seeds.

use super::bed::{BASE, read, sweep};
use lab::sweep::{Planned, Sweep};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The runs as text, with the last keys of paths: `ack_ratio=1 delay=5 ms #0`.
fn runs(sweep: &Sweep) -> Vec<String> {
    let text = |planned: Planned| {
        let settings = sweep.settings(&planned);
        let mut words: Vec<String> = settings
            .iter()
            .map(|(path, value)| format!("{}={value}", path.rsplit('.').next().unwrap_or_default()))
            .collect();
        words.push(format!("#{}", planned.repetition));
        words.join(" ")
    };
    (0..sweep.runs()).map(|number| text(sweep.planned(number))).collect()
}

/// The values of one path.
fn values(table: &str) -> Vec<String> {
    let sweep = sweep(&format!("[sweep]\n{table}\n"));
    let axis = sweep.plan().axes().next().unwrap();
    axis.labels.clone()
}

#[test]
fn products_vary_repetitions_first_and_then_the_last_path() {
    let sweep = sweep(
        "[sweep]\nrepetitions = 2\nflow.get.transport.ack_ratio = [1, 2]\nlink.cell.delay = ['5 ms', '1 s']\n",
    );
    assert_eq!(
        runs(&sweep),
        [
            "ack_ratio=1 delay=5 ms #0",
            "ack_ratio=1 delay=5 ms #1",
            "ack_ratio=1 delay=1 s #0",
            "ack_ratio=1 delay=1 s #1",
            "ack_ratio=2 delay=5 ms #0",
            "ack_ratio=2 delay=5 ms #1",
            "ack_ratio=2 delay=1 s #0",
            "ack_ratio=2 delay=1 s #1",
        ]
    );
}

#[test]
fn zips_vary_together_and_combine_with_other_paths() {
    let sweep = sweep(concat!(
        "[sweep]\nflow.get.transport.ack_ratio = [1, 2]\n",
        "[[sweep.zip]]\nlink.cell.delay = ['5 ms', '9 ms']\nlink.cell.queue = ['1 BDP', '2 BDP']\n",
    ));
    assert_eq!(
        runs(&sweep),
        [
            "ack_ratio=1 delay=5 ms queue=1 BDP #0",
            "ack_ratio=1 delay=9 ms queue=2 BDP #0",
            "ack_ratio=2 delay=5 ms queue=1 BDP #0",
            "ack_ratio=2 delay=9 ms queue=2 BDP #0",
        ]
    );
}

#[test]
fn values_reach_the_scenario() {
    let sweep = sweep(concat!(
        "[sweep]\n'flow.get.transport.ack_ratio' = [3]\n",
        "flow.get.transport.controller = ['newreno', { type = 'newreno', beta = 0.6 }]\n",
        "link.'cell'.forward.loss = ['1 %', 'none']\nflow.0.application.size = ['1 kB']\n",
    ));
    let texts: Vec<String> =
        (0..sweep.runs()).map(|number| sweep.scenario(&sweep.planned(number)).unwrap().to_toml()).collect();
    assert_eq!(texts.len(), 4);
    for (text, words) in texts.iter().zip([
        ["beta = 0.5", "probability = 0.01"],
        ["beta = 0.5", "loss = \"none\""],
        ["beta = 0.6", "probability = 0.01"],
        ["beta = 0.6", "loss = \"none\""],
    ]) {
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}\n{text}");
        assert!(text.contains("ack_ratio = 3") && text.contains("size = \"1 kB\""), "{text}");
    }
}

#[test]
fn ranges_have_steps_factors_and_counts() {
    for (range, expected) in [
        ("link.cell.delay = { from = '10 ms', to = '30 ms', step = '10 ms' }", "10 ms, 20 ms, 30 ms"),
        ("link.cell.delay = { from = '10 ms', to = '0.0299 s', step = '10 ms' }", "10 ms, 20 ms"),
        ("link.cell.delay = { from = '1 ms', to = '1 s', factor = 10 }", "1 ms, 10 ms, 100 ms, 1 s"),
        ("link.cell.delay = { from = '0 s', to = '1 s', count = 3 }", "0 s, 500 ms, 1 s"),
        (
            "link.cell.forward.rate = { from = '1 Mbit/s', to = '100 Mbit/s', count = 3, scale = 'logarithmic' }",
            "1 Mbit/s, 10 Mbit/s, 100 Mbit/s",
        ),
        (
            "link.cell.forward.rate = { from = '1 Mbit/s', to = '10 Mbit/s', count = 3, scale = 'logarithmic' }",
            "1 Mbit/s, 3.16228 Mbit/s, 10 Mbit/s",
        ),
        ("flow.get.transport.ack_ratio = { from = 1, to = 10, step = 3 }", "1, 4, 7, 10"),
        // Equal numbers after rounding become one.
        (
            "flow.get.transport.ack_ratio = { from = 1, to = 4, count = 7, scale = 'logarithmic' }",
            "1, 2, 3, 4",
        ),
        ("link.cell.forward.loss = { from = 0, to = 0.3, step = 0.1 }", "0.0, 0.1, 0.2, 0.3"),
        ("link.cell.forward.loss = { from = '0 %', to = '3 %', step = '1 %' }", "0.0, 0.01, 0.02, 0.03"),
        (
            "link.cell.queue = { from = '0.5 BDP', to = '2 BDP', step = '0.5 BDP' }",
            "0.5 BDP, 1 BDP, 1.5 BDP, 2 BDP",
        ),
    ] {
        assert_eq!(values(range).join(", "), expected, "{range}");
    }
}

#[test]
fn columns_have_the_common_unit_of_all_values() {
    for (line, column) in [
        ("link.cell.delay = ['5 ms', '1 s']", "link.cell.delay_ms"),
        ("link.cell.forward.rate = ['5 Mbit/s']", "link.cell.forward.rate_mbps"),
        ("link.cell.queue = ['1 BDP', '2 BDP']", "link.cell.queue_bdp"),
        ("link.cell.queue = ['1 BDP', '20 packets']", "link.cell.queue"),
        ("flow.get.application.size = ['1 kB']", "flow.get.application.size_bytes"),
        ("flow.get.transport.controller = ['newreno']", "flow.get.transport.controller"),
    ] {
        let sweep = sweep(&format!("[sweep]\n{line}\n"));
        assert_eq!(sweep.plan().axes().next().unwrap().column(), column);
    }
}

/// The seeds of runs by settings and repetition.
fn seeds(table: &str) -> BTreeMap<String, u64> {
    let sweep = sweep(table);
    let seed = |number| sweep.seed(&sweep.planned(number), sweep.base().seed);
    runs(&sweep).into_iter().zip((0..sweep.runs()).map(seed)).collect()
}

#[test]
fn an_extended_sweep_keeps_the_seeds_of_its_runs() {
    let small = seeds(
        "[sweep]\nrepetitions = 2\nflow.get.transport.ack_ratio = [1, 4]\nlink.cell.delay = ['5 ms']\n",
    );
    let large = seeds(concat!(
        "[sweep]\nrepetitions = 3\nlink.cell.delay = ['0.001 s', '0.005 s']\n",
        "flow.get.transport.ack_ratio = { from = 1, to = 5, step = 1 }\n",
    ));
    assert_eq!((small.len(), large.len()), (4, 30));
    // The paths have another order there.
    for (run, seed) in &small {
        let [ratio, delay, _, repetition] = run.split(' ').collect::<Vec<_>>()[..] else { panic!("{run}") };
        assert_eq!(large.get(&format!("{delay} ms {ratio} {repetition}")), Some(seed), "{run}");
    }
    let different: BTreeSet<u64> = large.values().copied().collect();
    assert_eq!(different.len(), large.len());
}

#[test]
fn paired_seeds_depend_on_the_repetition_and_a_varied_seed_is_itself() {
    let paired = seeds("[sweep]\nrepetitions = 2\nseeds = 'paired'\nflow.get.transport.ack_ratio = [1, 4]\n");
    assert_eq!(paired["ack_ratio=1 #0"], paired["ack_ratio=4 #0"]);
    assert_ne!(paired["ack_ratio=1 #0"], paired["ack_ratio=1 #1"]);
    let sweep = sweep("[sweep]\nseed = [3, 5]\n");
    for (number, seed) in [(0, 3), (1, 5)] {
        let planned = sweep.planned(number);
        assert_eq!(sweep.seed(&planned, sweep.scenario(&planned).unwrap().seed), seed);
    }
}

#[test]
fn the_seed_of_a_run_never_changes_between_versions() {
    // Published sweeps are files without seeds, so these numbers are part of the format.
    let seeds = seeds("[sweep]\nrepetitions = 1\nlink.cell.delay = ['5 ms']\n");
    let name = "sweep/link.cell.delay=5 ms/repetition=0";
    assert_eq!(seeds["delay=5 ms #0"], random::Generator::seed_for(7, name) >> 1);
}

#[test]
fn a_document_without_a_sweep_is_one_run_with_its_own_seed() {
    let sweep = read(BASE).unwrap();
    assert_eq!(sweep.runs(), 1);
    assert_eq!(sweep.seed(&sweep.planned(0), 7), 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Each combination and repetition occurs exactly once, and all seeds differ.
    #[test]
    fn products_are_complete(a in 1usize..6, b in 1usize..6, zipped in 1usize..5, repetitions in 1u64..5) {
        let list = |count: usize, unit: &str| {
            (1..=count).map(|i| format!("'{i} {unit}'")).collect::<Vec<_>>().join(", ")
        };
        let sweep = sweep(&format!(
            "[sweep]\nrepetitions = {repetitions}\nlink.cell.delay = [{}]\nflow.get.application.size = [{}]\n\
             [[sweep.zip]]\nlink.cell.forward.rate = [{}]\nlink.cell.queue = [{}]\n",
            list(a, "ms"), list(b, "kB"), list(zipped, "Mbit/s"), list(zipped, "packets"),
        ));
        prop_assert_eq!(sweep.runs(), (a * b * zipped) as u64 * repetitions);
        let all = runs(&sweep);
        let different: BTreeSet<&String> = all.iter().collect();
        prop_assert_eq!(different.len(), all.len());
        let seeds: BTreeSet<u64> =
            (0..sweep.runs()).map(|number| sweep.seed(&sweep.planned(number), 7)).collect();
        prop_assert_eq!(seeds.len(), all.len());
        prop_assert!(seeds.iter().all(|seed| i64::try_from(*seed).is_ok()));
    }

    /// A range starts with `from`, rises, and does not exceed `to`.
    #[test]
    fn ranges_rise_from_their_first_to_their_last_value(
        from in 1u64..1000, span in 1u64..100_000, count in 2usize..50, logarithmic in any::<bool>()
    ) {
        let scale = if logarithmic { "logarithmic" } else { "linear" };
        let (from, to) = (from, from + span);
        let sweep = sweep(&format!(
            "[sweep]\nlink.cell.delay = {{ from = '{from} us', to = '{to} us', count = {count}, scale = '{scale}' }}\n"
        ));
        let axis = sweep.plan().axes().next().unwrap().clone();
        let (_, numbers) = axis.numbers.unwrap();
        prop_assert_eq!(numbers[0], from as f64 / 1e3);
        prop_assert_eq!(numbers[numbers.len() - 1], to as f64 / 1e3);
        prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", numbers);
        prop_assert!(numbers.len() <= count);
    }
}
