//! quinn-proto, the part of quinn without IO.
//!
//! In `proto` it runs in virtual time (`clock`), draws all random numbers from a named generator (`seeds`), and uses the TLS of the
//! crate `tls` (`session`, `keys`).

#[cfg(feature = "quinn")]
mod proto;

use crate::row::{Build, Foreign, Maker, row};
use units::parameter::Row;

/// Its row.
pub(crate) const ROW: Row<Maker> =
    row("quinn-proto, the part of quinn without IO, in builds with the feature `quinn`", &QUINN);

static QUINN: Foreign = Foreign {
    name: "quinn",
    project: "quinn-proto",
    feature: "quinn",
    controllers: &CONTROLLERS,
    options: &[
        "controller",
        "initial_window",
        "initial_rtt",
        "keep_alive",
        "max_idle_timeout",
        "max_udp_payload",
        "mtu_discovery",
        "initial_max_data",
        "initial_max_stream_data_bidi_local",
        "initial_max_stream_data_bidi_remote",
        "initial_max_stream_data_uni",
        "initial_max_streams_bidi",
        "initial_max_streams_uni",
        "ecn",
        "send_queue",
        "peer_ack_ratio",
        "peer_max_ack_delay",
        "peer_reordering_threshold",
    ],
    datagrams: false,
    partial_resets: false,
    early_data: false,
    build: BUILD,
};

/// Its BBR is left out: it draws from the operating system, so that equal seeds would give different runs.
const CONTROLLERS: [&str; 2] = ["newreno", "cubic"];

#[cfg(feature = "quinn")]
const BUILD: Option<Build> = Some(proto::build);
#[cfg(not(feature = "quinn"))]
const BUILD: Option<Build> = None;
