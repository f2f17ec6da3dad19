//! The state that the hosts of a run share: the sinks, and the progress of flows.

use crate::capture::Tap;
use crate::error::RunError;
use crate::order::Order;
use crate::recorder::Recorder;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

/// The state that the hosts of a run share.
pub(crate) struct Shared<'a> {
    pub recorder: RefCell<Recorder<'a>>,
    /// The capture of clients' packets, which ends with the run.
    pub capture: Option<Tap>,
    /// The number of unfinished flows.
    pub unfinished: Cell<usize>,
    /// What each flow waits for.
    pub awaited: RefCell<Vec<Awaited>>,
    /// Flows that wait for others.
    pub order: RefCell<Order>,
    /// The paths of the qlog folder and of the capture, for errors.
    pub paths: [PathBuf; 2],
    /// The first error, which ends the run.
    pub error: RefCell<Option<RunError>>,
}

/// What an unfinished flow waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// The end of its client's connection.
    pub end: bool,
    /// The last byte of what the server's application is to receive. A proxy may still have it when the client's connection
    /// has ended.
    pub arrival: bool,
}

impl Shared<'_> {
    /// A flow no longer waits for something.
    pub(crate) fn settle(&self, flow: usize, what: impl FnOnce(&mut Awaited)) {
        let awaited = &mut self.awaited.borrow_mut()[flow];
        let was_open = awaited.end || awaited.arrival;
        what(awaited);
        if was_open && !awaited.end && !awaited.arrival {
            let left = self.unfinished.get().checked_sub(1);
            self.unfinished.set(left.expect("a flow that is settled was unfinished"));
        }
    }

    /// Stores an error of the sinks of records.
    pub(crate) fn note_records(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[0].clone(), error }));
    }
    /// Stores an error of the capture.
    pub(crate) fn note_capture(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[1].clone(), error }));
    }
    /// Stores an error, unless there is one already.
    pub(crate) fn note(&self, result: Result<(), RunError>) {
        if let Err(error) = result {
            self.error.borrow_mut().get_or_insert(error);
        }
    }
    /// Whether the network must stop: all flows are finished, there is an error, or a flow may start.
    pub(crate) fn must_stop(&self) -> bool {
        self.unfinished.get() == 0 || self.error.borrow().is_some() || self.order.borrow().has_ready()
    }
}
