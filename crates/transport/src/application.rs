//! One end of an application, as hosts drive it.

use crate::{Event, Progress, Report, Transport};
use units::Time;

/// One end of an application. It reacts to the events of its connection and to its own timer.
pub trait Application {
    /// Something happened; [`Event::Connected`] is the first.
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport);
    /// Its time has come.
    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        let _ = (now, transport);
    }
    /// When it wants to be woken.
    fn wake_at(&self) -> Option<Time> {
        None
    }
    /// How far it is. It costs little: a run that is being watched asks again and again.
    fn progress(&self) -> Progress;
    /// What became of it. Asked once, when the run is over, at this time: what was due by then counts as begun.
    fn report(&mut self, now: Time) -> Report {
        let _ = now;
        Report { progress: self.progress(), ..Report::default() }
    }
    /// The code with which this application closes a connection when nothing is wrong.
    fn no_error(&self) -> u64 {
        0
    }
}
