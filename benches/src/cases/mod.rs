//! What is measured: one file for each kind of case, one line for each case in [`all`].

mod bulk_quinn;
mod handshake_quinn;

use crate::case::{Case, Ratio};
use crate::quinn::Protection;

/// The ratios that are reported.
pub(crate) const RATIOS: &[Ratio] = &[Ratio {
    name: "cost-tls-quinn",
    over: "quinn-null",
    under: "quinn-tls",
    about: "quinn-proto: CPU time per packet with real keys over that without",
}];

/// The cases, in the order in which each round measures them. Candidates that are compared stand side by side, so that
/// they meet the machine in the same mood.
pub(crate) fn all() -> Vec<Box<dyn Case>> {
    vec![
        Box::new(bulk_quinn::Bulk::new(Protection::Null)),
        Box::new(bulk_quinn::Bulk::new(Protection::Tls)),
        Box::new(handshake_quinn::Handshake::new(Protection::Null)),
        Box::new(handshake_quinn::Handshake::new(Protection::Tls)),
    ]
}
