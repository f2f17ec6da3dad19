//! One end of an application, as its host drives it.

use crate::{Event, Progress, Report, Transport};
use units::{Duration, Time};

/// When a client opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// This long after the start that its host knows, for example once the name of the server is resolved.
    After(Duration),
    /// At this time.
    At(Time),
    /// That is not decided yet.
    Undecided,
    /// Never: it is not needed.
    Never,
}

/// One end of an application. It reacts to the events of its connection and to its own timer.
pub trait Application {
    /// When its client opens the connection.
    fn opening(&self) -> Opening {
        Opening::After(Duration::ZERO)
    }
    /// What is equal for all connections of one [`crate::Program`] on a host, and different for those of others; `None` for an
    /// application with one connection.
    fn program(&self) -> Option<usize> {
        None
    }
    /// The client begins to open the connection. Before all events.
    fn on_open(&mut self, now: Time) {
        let _ = now;
    }
    /// Handles an event of the connection; the first one is [`Event::Connected`].
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport);
    /// Handles the expiry of its timer.
    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        let _ = (now, transport);
    }
    /// The time of its timer, if it is set.
    fn wake_at(&self) -> Option<Time> {
        None
    }
    /// The progress so far. It is cheap: a run that is being watched asks for it often.
    fn progress(&self) -> Progress;
    /// The report at the end of the run. Called once, at this time: whatever was due by then counts as started.
    fn report(&mut self, now: Time) -> Report {
        let _ = now;
        Report { progress: self.progress(), ..Report::default() }
    }
    /// The code for closing a connection without an error.
    fn no_error(&self) -> u64 {
        0
    }
}
