//! Scenarios, the networks that they describe, and their runs: the crate to start with.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//!
//! let text = r#"
//!     duration = "10 s"
//!
//!     [[link]]
//!     name = "cell"
//!     from = "server"
//!     to = "client"
//!     both = { rate = "10 Mbit/s", delay = "20 ms" }
//!
//!     [[flow]]
//!     name = "download"
//!     server = "server"
//!     client = "client"
//!     application = { type = "bulk", size = "1 MB" }
//! "#;
//! // What `--set` is on the command line, and where files that the text names are looked for.
//! let sets = ["transport.controller=bbr3".to_owned()];
//! let scenario = lab::Scenario::parse(text, Path::new("first.toml"), &sets)?;
//! let outcome = lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(()))?;
//! assert!(outcome.summary.to_string().contains("goodput_mbps"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! | to do | see |
//! | --- | --- |
//! | run a scenario, with tables, logs and captures | [`Scenario`], [`run()`], [`Options`], [`Outcome`] |
//! | make many runs, which are kept and continued | [`sweep`] |
//! | follow a run step by step | [`Stepper`] |
//! | write a congestion controller | [`congestion`]; a whole one is the crate `own-controller` in `examples/` |
//! | write a stream scheduler, a queue, an application | [`schedule`], [`network`], [`traffic`] |
//! | use the QUIC endpoint by itself: no sockets, no clock | [`quic`], and [`transport`] for what runs on it |
//! | put it on the wire | the crate [`live`](../live/index.html) |
//! | test an endpoint packet by packet | the crate [`script`](../script/index.html) |
//!
//! # The crates
//!
//! From bottom to top; each imports only those before it: [`units`], [`random`], [`radio`](../radio/index.html), [`wire`], [`trace`],
//! [`view`](../view/index.html), [`tls`], [`congestion`], [`transport`], [`schedule`], [`quic`], [`tcp`],
//! [`foreign`](../foreign/index.html), [`network`], [`http`](../http/index.html), [`web`](../web/index.html), [`pages`](../pages/index.html), [`video`], [`traffic`],
//! `lab`, [`script`](../script/index.html), [`live`](../live/index.html), [`python`](../_quiclab/index.html).

mod account;
mod books;
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
mod foreign;
#[cfg(feature = "fuzz")]
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
mod tables;
#[cfg(test)]
mod typed_law;
mod world;

pub use account::Imbalance;
pub use contexts::contexts_made;
pub use draws::draws;
pub use error::RunError;
pub use graph::Network;
pub use pages::{MAX_DRAWS, page_draws};
pub use run::{Options, Outcome, Prepared, Progress, check, run, run_prepared, run_storing};
pub use scenario::outside;
pub use scenario::{
    MAX_FLOWS, Scenario, ScenarioError, describe, file_notes, rooms, rooms_json, schema_json,
};
pub use stepper::Stepper;
pub use summary::Summary;
pub use summary::value::Value;
pub use tables::tables_json;
