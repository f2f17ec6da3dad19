//! How two endpoints behave together, a file for each subject.

mod pair;

mod acks;
mod close;
mod congestion;
mod flow_control;
mod handshake;
mod hostile;
mod idle;
mod ids;
mod loss;
mod probe;
mod streams;
mod transfer;
