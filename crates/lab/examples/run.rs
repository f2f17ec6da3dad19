//! Runs a scenario file and prints its summary: `cargo run --release -p lab --example run -- FILE [KEY=VALUE]...`

use lab::{Options, Scenario};
use std::ops::ControlFlow;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: run FILE [KEY=VALUE]...");
        std::process::exit(2);
    };
    let sets: Vec<String> = arguments.collect();
    let scenario = match Scenario::from_file(Path::new(&file), &sets) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    match lab::run(&scenario, &Options::default(), &mut |_| ControlFlow::Continue(())) {
        Ok(outcome) => print!("{}", outcome.summary),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
