//! The events that a connection reports to its application, from crate `transport`.

pub(crate) use transport::Event;
