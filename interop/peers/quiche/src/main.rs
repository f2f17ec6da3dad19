//! The peer quiche: `serve` and `fetch` over hq-interop and HTTP/3.

mod answer;
mod ask;
mod fetch;
mod serve;
mod settings;

use command_line::{About, Command};

/// What quiche is, and what its interface gives no access to.
const ABOUT: About = About {
    name: "quiche",
    package: "quiche",
    cannot: &[
        ("v2", "it speaks version 1 only"),
        ("ecn", "it sends no ECN counts and asks for no marks"),
        ("key-update", "it follows a key update but has no call that starts one"),
        ("chacha20", "its TLS library has no call that chooses the suites of TLS 1.3"),
        ("preferred-address", "its server has no setting for it"),
    ],
};

type Failure = Box<dyn std::error::Error>;

fn main() {
    let done = match ABOUT.command() {
        Command::About => {
            println!("{}", ABOUT.json());
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
