//! The peer quinn: `serve` and `fetch` over hq-interop and HTTP/3.

mod fetch;
mod secure;
mod serve;

use command_line::{About, Command};

/// What quinn is, and what its interface gives no access to.
const ABOUT: About = About { name: "quinn", package: "quinn", cannot: &[("v2", "it speaks version 1 only")] };

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let done = match ABOUT.command() {
        Command::About => {
            println!("{}", ABOUT.json());
            Ok(())
        }
        Command::Serve(options) => serve::serve(options).await,
        Command::Fetch(options) => fetch::fetch(options).await,
    };
    if let Err(error) = done {
        eprintln!("failed: {error}");
        std::process::exit(1);
    }
}
