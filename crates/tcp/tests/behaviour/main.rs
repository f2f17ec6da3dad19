//! Two ends of a connection, and one end against forged segments.

mod closing;
mod flow;
mod handshake;
mod loss;
mod marks;
mod pair;
mod prr;
mod relay;
mod seeds;
