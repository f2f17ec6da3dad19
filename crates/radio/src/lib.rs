//! What is known of a radio link before any packet is sent: channel, error rates, and the bits of a transport block.
//!
//! Everything here is a value or a function of numbers. Power ratios are in dB, times are virtual, and what is random
//! comes from a named stream. The model, its sources and its limits are described in `docs/model/radio.md`.

pub mod bler;
pub mod channel;
pub mod lte;
pub mod nr;
pub mod wifi;

mod decibel;
mod gaussian;
