//! Streamed video without a network: what a presentation consists of, which quality is asked for next, and how playback goes.
//!
//! A [`Presentation`] is a plain value, from a model or a file. An [`Abr`](abr::Abr) chooses the representation of each
//! segment. A [`Player`](player::Player) plays segments that come from elsewhere. What viewers saw of it is put into numbers
//! by [`quality`].

pub mod abr;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod player;
pub mod presentation;
pub mod quality;

pub use presentation::Presentation;
