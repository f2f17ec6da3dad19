//! The web client and the web server, which speak the negotiated protocol: HTTP/1.1, HTTP/2, HTTP/3 or hq-interop.

mod client;
mod server;

pub use client::WebClient;
pub use server::WebServer;
