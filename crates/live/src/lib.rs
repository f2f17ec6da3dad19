//! QUIC on the wire: the same endpoint as in the simulator, on UDP sockets and driven by the wall clock.
//!
//! Linux only; elsewhere the crate is empty.
#![cfg(target_os = "linux")]

mod clock;
mod entropy;
pub mod relay;

pub use clock::Clock;
pub use entropy::system_random;
