//! The door of a server: who gives way to whom, and attacks under each of which a good client gets in within a second.

mod patterns;
mod sources;
mod world;
