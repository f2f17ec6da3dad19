//! One end of an application, as its host drives it.

use crate::{Event, Progress, Report, Transport};
use units::Time;

/// One end of an application. It reacts to the events of its connection and to its own timer.
pub trait Application {
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
