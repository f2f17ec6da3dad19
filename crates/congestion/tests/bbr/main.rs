//! Both BBRs over a path, and by hand-made acknowledgements.

mod ecn;
mod hand;
mod path;
mod resume;
mod v1;
mod v3;
mod v3_cases;
