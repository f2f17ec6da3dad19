//! Web clients and web servers over two QUIC endpoints in virtual time.

mod bed;
mod both;
mod h3;
mod hq;
mod rules;
mod script;
mod shelf;
mod splits;
