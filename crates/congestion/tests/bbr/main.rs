//! Both BBRs over a path, and by hand-made acknowledgements.

#[path = "../defaults/mod.rs"]
mod defaults;
mod ecn;
mod hand;
mod path;
mod v1;
mod v3;
mod v3_cases;
