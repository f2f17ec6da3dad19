//! Runs a scenario file with the parts of this crate beside those of quiclab, and prints the summary:
//! `cargo run -p own-parts -- examples/dumbbell.toml --set link.bottleneck.queue=last-first`.

use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    own_parts::plug()?;
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("expected: SCENARIO.toml [--set PATH=VALUE]...")?;
    let sets: Vec<String> = arguments.filter(|word| word != "--set").collect();
    let scenario = lab::Scenario::from_file(file, &sets)?;
    let outcome = lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(()))?;
    println!("{}", outcome.summary);
    Ok(())
}
