//! What is known of a radio link before a packet is sent: schemes, sizes of blocks, channels.
//!
//! Pure functions and values; the media of `network` send by them.

pub mod lte;
pub mod nr;
