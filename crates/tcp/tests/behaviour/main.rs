//! Two ends of a connection, and one end against segments from nowhere.

mod closing;
mod flow;
mod handshake;
mod loss;
mod marks;
mod pair;
mod prr;
mod seeds;
