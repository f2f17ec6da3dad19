//! The TLS 1.3 handshake of QUIC and packet protection (RFC 9001), in two kinds.
//!
//! * [`Protection::Tls`]: rustls with real cryptography. All randomness comes from the stream that a session is given,
//!   certificates and their keys come from the seed of the [`Context`], and the time is that of its caller behind a
//!   fixed date, so that equal seeds give equal bytes.
//! * [`Protection::Null`]: the same messages in size, level and order, without cryptography. The sizes are learned from
//!   one real handshake when the [`Context`] is made, so that a connection under `null` has the packets of one
//!   under `tls`. Only transport parameters and ALPN are carried; the rest is filler.
//!
//! [`Context::real`] creates contexts for real networks: certificates of real servers, true dates, randomness of the
//! operating system.
//!
//! A [`Context`] is created once per scenario and shared; a [`Session`] is one end of one connection. Neither has a
//! socket, a clock or a thread.

mod certificate;
mod context;
mod derive;
mod endpoint_key;
mod error;
mod framing;
mod hello;
mod identity;
mod key_log;
mod key_share;
mod keys;
mod lent;
mod library;
mod model;
mod options;
mod outbox;
mod provider;
mod real;
mod retry;
mod session;
mod sessions;
mod siphash;
mod start;
mod store;
mod ticket;
mod trial;
mod trust;
mod world;

#[cfg(test)]
mod rfc9001;
#[cfg(test)]
mod rfc9369;

pub use certificate::LARGEST_CHAIN;
pub use context::{Context, EPOCH, LARGEST_PARAMETERS};
pub use endpoint_key::EndpointKey;
pub use error::{Alert, Error};
pub use identity::{Identity, base64, sha256};
pub use key_log::Secret;
pub use keys::{
    DirectionalKeys, HeaderKey, KeyChange, Keys, NullKey, OpenError, Opener, PacketKey, PacketKeys,
    SAMPLE_LENGTH, Sealer, TAG_LENGTH, TooShort, initial_keys,
};
pub use options::{Cipher, KeyShare, Options, PARAMETERS, Protection, RealOptions};
pub use retry::retry_integrity_tag;
pub use session::{Level, Session};
pub use siphash::SipKey;
pub use start::{Change, Choice, Choose, EarlyData, Offer, Request, Start};
pub use store::{Admission, MAX_TICKETS, TicketStore};
pub use ticket::Ticket;
pub use trust::Trust;
pub use wire::Side;
