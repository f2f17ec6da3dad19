//! An application that owns several connections.

use crate::{Application, Event, Opening, Progress, Report, Transport};
use std::cell::RefCell;
use std::rc::Rc;
use units::Time;

/// An application of a host that owns any number of connections, as their client or as their server. Connections are numbered.
///
/// A transport is at hand only for the connection that an event or a timer belongs to. What is to be done on another
/// connection is done at its [`Program::on_wake`], for which [`Program::wake_at`] asks. After each call the host asks every
/// connection of the program when it opens and when it is to be woken.
pub trait Program {
    /// When a connection opens of which this is the client.
    fn opening(&self, connection: usize) -> Opening;
    /// The client begins to open a connection. Before all events of the connection.
    fn on_open(&mut self, now: Time, connection: usize);
    /// Handles an event of a connection; the first one is [`Event::Connected`].
    fn on_event(&mut self, now: Time, connection: usize, event: &Event, transport: &mut dyn Transport);
    /// The time of [`Program::wake_at`] has come.
    fn on_wake(&mut self, now: Time, connection: usize, transport: &mut dyn Transport);
    /// When it wants to act on an open connection, at the latest at the next nanosecond.
    fn wake_at(&self, connection: usize) -> Option<Time>;
    /// The progress of a connection so far.
    fn progress(&self, connection: usize) -> Progress;
    /// The report of a connection at the end of the run. What concerns the whole program is in that of one connection.
    fn report(&mut self, now: Time, connection: usize) -> Report;
    /// The code for closing a connection without an error.
    fn no_error(&self, connection: usize) -> u64;
}

/// A connection of a [`Program`], as an application of its own.
pub struct Owned {
    program: Rc<RefCell<dyn Program>>,
    connection: usize,
}

impl Owned {
    /// The first `count` connections of a program.
    pub fn all(program: impl Program + 'static, count: usize) -> impl Iterator<Item = Owned> {
        let program: Rc<RefCell<dyn Program>> = Rc::new(RefCell::new(program));
        (0..count).map(move |connection| Owned { program: Rc::clone(&program), connection })
    }
}

impl Application for Owned {
    fn program(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.program).cast::<()>() as usize)
    }
    fn opening(&self) -> Opening {
        self.program.borrow().opening(self.connection)
    }
    fn on_open(&mut self, now: Time) {
        self.program.borrow_mut().on_open(now, self.connection);
    }
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        self.program.borrow_mut().on_event(now, self.connection, event, transport);
    }
    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.program.borrow_mut().on_wake(now, self.connection, transport);
    }
    fn wake_at(&self) -> Option<Time> {
        self.program.borrow().wake_at(self.connection)
    }
    fn progress(&self) -> Progress {
        self.program.borrow().progress(self.connection)
    }
    fn report(&mut self, now: Time) -> Report {
        self.program.borrow_mut().report(now, self.connection)
    }
    fn no_error(&self) -> u64 {
        self.program.borrow().no_error(self.connection)
    }
}
