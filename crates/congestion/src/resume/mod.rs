//! What an earlier connection learned of a path, and how a later one uses it: Careful Resume (RFC 9959).
//!
//! [`Capacity`](crate::Capacity) is what a connection holds of all this. It observes the capacity of its path ([`observe`]); a
//! store keeps it ([`store`]), and a later connection of the same path tries it with care ([`careful`], within the limits of
//! [`limits`]; [`bbr`] in controllers that send at a modelled rate). What a peer presents is used once ([`spent`]). [`options`]
//! has the rows of the option `resume`.

pub(crate) mod bbr;
pub(crate) mod careful;
pub(crate) mod limits;
pub(crate) mod observe;
pub(crate) mod options;
pub(crate) mod spent;
pub(crate) mod store;

pub use careful::{Adjustment, CarefulResume, Congestion, Phase, ResumeOptions, Saved, Transition, Trigger};
pub(crate) use options::rooms;
pub use options::{Checks, RESUMPTIONS, Resume, ResumeMode, StoreKey};
pub use spent::Spent;
pub use store::{InUse, Learned, PathKey, PathStore, Refusal, TicketKey};
