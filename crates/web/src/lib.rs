//! HTTP clients and servers over a [`transport::Transport`], with the sites that servers offer and the sinks of
//! clients.
//!
//! A [`WebClient`] and a [`WebServer`] speak HTTP/3, HTTP/2, HTTP/1.1 or hq-interop, as negotiated in the handshake. A
//! server serves a [`Site`]; a client passes responses to a [`Sink`].

mod delayed;
mod fetches;
mod hq;
mod http1;
mod http2;
mod http3;
mod load;
mod loader;
mod negotiated;
mod order;
mod release;
mod reply;
mod request;
mod sink;
mod site;
mod virtual_site;

pub use http2::Windows;
pub use loader::{Origin, PageLoader, Way};
pub use negotiated::{WebClient, WebServer};
pub use order::{Gate, Order, Part};
pub use release::Release;
pub use request::{Failure, Fetched, Method, Request};
pub use sink::{Discard, Head, Sink, Take};
pub use site::{Answer, Body, Query, Site, Source};
pub use virtual_site::{MAX_FILL, VirtualSite};

pub(crate) use delayed::Delayed;
pub(crate) use fetches::{Fetches, OpenBody};
pub(crate) use reply::{Reply, Written};

/// The protocol names in the handshake (ALPN, RFC 7301).
pub mod alpn {
    pub use crate::hq::ALPN as HQ;
    pub use crate::http1::ALPN as HTTP1;
    pub use crate::http2::ALPN as HTTP2;
    pub use crate::http3::ALPN as HTTP3;
}
