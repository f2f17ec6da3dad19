//! quiclab in the interoperability matrix: `serve` and `fetch` by the command line that all its peers understand.
//!
//! It puts the endpoint on a UDP socket and does what no user would ask for: it updates keys and moves to another port in
//! the middle of a connection, and it speaks only one cipher suite.

#![cfg(target_os = "linux")]

mod diary;
mod fetch;
mod files;
mod serve;
mod settings;
mod socket;
mod stack;

use command_line::{About, Command};

/// What quiclab is. It can do all that the cases ask for.
const ABOUT: About = About { package: "quiclab", cannot: &[] };

type Failure = Box<dyn std::error::Error>;

fn main() {
    let done = match ABOUT.command() {
        Command::About => {
            println!("{{\"name\": \"quiclab {}\", \"cannot\": {{}}}}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        Command::Serve(options) => serve::serve(&options),
        Command::Fetch(options) => fetch::fetch(&options),
    };
    if let Err(error) = done {
        eprintln!("failed: {error}");
        std::process::exit(1);
    }
}
