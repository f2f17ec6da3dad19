//! The peer OpenSSL: `serve` and `fetch` over hq-interop.

// The library is written in C: `ffi` has its interface, and `ssl` what is safe of it.
#![allow(unsafe_code)]

mod fetch;
mod ffi;
mod serve;
mod ssl;

use command_line::{About, Command};

/// What OpenSSL's QUIC is, and what it has not.
const ABOUT: About = About {
    name: "OpenSSL",
    package: "openssl-src",
    cannot: &[
        ("v2", "it speaks version 1 only"),
        ("h3", "it has no HTTP/3"),
        ("ecn", "it does not read the ECN field, sends no counts and sets no marks"),
        ("early-data", "it has no 0-RTT for QUIC, at neither end"),
        ("migrate", "its client does not move"),
        ("follow", "its server sends to the address of the first packet as long as a connection lasts"),
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
