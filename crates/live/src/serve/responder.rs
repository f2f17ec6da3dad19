//! The web server without its sockets and its clock: for callers that bring connections and the time themselves.

use super::files::Files;
use super::folder::Folder;
use super::{Limits, Sites};
use crate::driver::Host;
use crate::error::LiveError;
use crate::records::{Recording, Records};
use quic::{Connection, Handle};
use std::path::Path;
use trace::Side;
use units::Time;

/// What [`Server`](super::Server) does on its connections: it answers requests with the files of a folder. It records
/// nothing.
pub struct Responder(Sites);

impl Responder {
    /// Serves the plain files below this folder, except hidden ones, within these limits; the caller enforces those on
    /// connections.
    ///
    /// # Errors
    /// [`LiveError::File`] if it is no folder that can be read, [`LiveError::Memory`] if the limits leave too little.
    pub fn new(root: &Path, limits: &Limits) -> Result<Responder, LiveError> {
        limits.check()?;
        let folder = Folder::new(root, false, Files::new(limits))
            .map_err(|error| LiveError::File(root.to_owned(), error))?;
        Ok(Responder(Sites::new(folder, limits, Records::new(Side::Server, &Recording::default())?)))
    }

    /// To be called when something may have happened on a connection: its events are taken, and answers are written.
    pub fn attend(&mut self, now: Time, handle: Handle, connection: &mut Connection) {
        self.0.attend(now, handle, connection);
    }

    /// How many connections it holds something for.
    pub fn connections(&self) -> usize {
        self.0.connections.len()
    }
}
