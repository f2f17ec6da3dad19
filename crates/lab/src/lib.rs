//! Reads scenario files, builds their networks, and runs them.

pub mod capture;
mod contexts;
mod cross_traffic;
mod draws;
pub mod emulation;
mod end;
mod ends;
mod error;
mod event;
mod flows;
#[cfg(feature = "quinn")]
mod foreign;
pub mod fuzz;
mod graph;
mod host;
mod known_paths;
mod middlebox;
mod nearest;
mod order;
mod pages;
mod proxy;
mod recorded;
mod recorder;
mod run;
pub mod scenario;
mod shared;
mod stepper;
mod summary;
pub mod sweep;
#[cfg(test)]
mod typed_law;
mod world;

pub use contexts::contexts_made;
pub use draws::draws;
pub use error::RunError;
pub use graph::Network;
pub use pages::{MAX_DRAWS, page_draws};
pub use run::{Options, Outcome, Prepared, Progress, check, run, run_prepared, run_storing};
pub use scenario::outside;
pub use scenario::{MAX_FLOWS, Scenario, ScenarioError, describe, rooms, rooms_json, schema_json};
pub use stepper::Stepper;
pub use summary::Summary;
pub use summary::value::Value;
