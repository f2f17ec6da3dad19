//! What a connection tells its application: the events of crate `transport`.

pub(crate) use transport::Event;
