//! quiclab in the interoperability matrix: `serve` and `fetch` by the command line that all its peers understand.
//!
//! It puts the endpoint on a UDP socket and does what no user would ask for: it updates keys and moves to another port in
//! the middle of a connection, and it speaks only one cipher suite.

#[cfg(target_os = "linux")]
mod diary;
#[cfg(target_os = "linux")]
mod fetch;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod settings;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod stack;

#[cfg(target_os = "linux")]
use command_line::{About, Command};

/// What quiclab is. It can do all that the cases ask for.
#[cfg(target_os = "linux")]
const ABOUT: About = About { package: "quiclab", cannot: &[] };

#[cfg(target_os = "linux")]
type Failure = Box<dyn std::error::Error>;

#[cfg(target_os = "linux")]
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

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("quiclab speaks on the wire on Linux only");
    std::process::exit(1);
}
