//! The laws of every scheduler: what each promises on its page, before drawn sequences of events.

mod laws;
