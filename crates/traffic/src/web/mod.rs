//! What web servers offer and web clients fetch, whatever the protocol between them.

mod delayed;
mod fetches;
mod load;
mod order;
mod reply;
mod request;
mod sink;
mod site;

pub(crate) use delayed::Delayed;
pub(crate) use fetches::Fetches;
pub(crate) use load::load;
pub(crate) use order::{Gate, Order, Part};
pub(crate) use reply::{Pumped, Reply};
pub use request::{Failure, Fetched, Method, Request};
pub use sink::{Discard, Head, Sink, Take};
pub use site::{Answer, Body, Query, Site, Source};
