//! The behaviour of two endpoints together, one file per subject.

#[path = "../storm/allocator.rs"]
mod allocator;
mod pair;

mod ack_frequency;
mod acks;
mod address_tokens;
mod attacks;
mod capacity;
mod close;
mod congestion;
mod control_frames;
mod datagrams;
mod early_data;
mod ecn;
mod flow_control;
mod handshake;
mod hostile;
mod idle;
mod ids;
mod key_update;
mod loss;
mod migration;
mod mixed_data;
mod mtu;
mod packet_laws;
mod path_attacks;
mod path_validation;
mod preferred_address;
mod probe;
mod reset_at;
mod resume;
mod rtt;
mod sampling;
mod stream_states;
mod streams;
mod transfer;
mod transport_errors;
mod variety;
mod version_negotiation;
mod versions;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;
