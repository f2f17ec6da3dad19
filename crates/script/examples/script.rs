//! Runs script files, as `quiclab dev script` does, without Python: `cargo run -p script --example script FILE...`.

use script::{Script, Verdict};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                code = ExitCode::FAILURE;
                continue;
            }
        };
        match Script::parse(&path, &text).and_then(|script| script.run()) {
            Ok(Verdict::Passed { packets, .. }) => println!("{path}: holds, {packets} packets"),
            Ok(Verdict::Failed(failure)) => {
                print!("{failure}");
                code = ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("{error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
