//! Laws of every scheduler: what its page promises, for random sequences of events.

mod laws;
