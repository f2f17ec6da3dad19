//! QUIC on the wire: the same endpoint as in the simulator, on UDP sockets and driven by the wall clock.
//!
//! Linux only; elsewhere the crate is empty.
#![cfg(target_os = "linux")]

mod clock;
mod driver;
pub mod emulate;
mod entropy;
mod error;
mod fetch;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod known_paths;
mod outbox;
mod records;
pub mod relay;
mod serve;
mod settings;
mod socket;

pub use clock::Clock;
pub use entropy::system_random;
pub use error::LiveError;
pub use fetch::{Connections, FetchOptions, FetchProgress, FetchReport, FetchedOver, FetchedUrl, Url, fetch};
pub use records::Recording;
pub use serve::{Limits, Responder, ServeOptions, ServeStats, Server};
pub use settings::Settings;
