//! What the hosts of a run share: the sinks, and how far the flows are.

use crate::capture::Capture;
use crate::error::RunError;
use crate::order::Order;
use crate::recorder::Recorder;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

/// A capture into a file.
pub(crate) type Captured = Capture<Box<dyn std::io::Write>>;

/// What the hosts of a run share.
pub(crate) struct Shared<'a> {
    pub recorder: RefCell<Recorder<'a>>,
    /// Where clients' packets are captured; taken out at the end.
    pub capture: Option<RefCell<Option<Captured>>>,
    /// Flows that are not finished.
    pub unfinished: Cell<usize>,
    /// Flows that wait for others.
    pub order: RefCell<Order>,
    /// Where the records and where the captured packets go, for errors.
    pub paths: [PathBuf; 2],
    /// The first error: the run is over.
    pub error: RefCell<Option<RunError>>,
}

impl Shared<'_> {
    /// Keeps an error of the sinks of records.
    pub(crate) fn note_records(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[0].clone(), error }));
    }
    /// Keeps an error of the capture.
    pub(crate) fn note_capture(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[1].clone(), error }));
    }
    pub(crate) fn note(&self, result: Result<(), RunError>) {
        if let Err(error) = result {
            self.error.borrow_mut().get_or_insert(error);
        }
    }
    /// Whether the network must stand still: all is done, there is an error, or a flow may start.
    pub(crate) fn must_stop(&self) -> bool {
        self.unfinished.get() == 0 || self.error.borrow().is_some() || self.order.borrow().has_ready()
    }
}
