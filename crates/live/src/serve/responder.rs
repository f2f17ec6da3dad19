//! The web server without sockets and clock: for callers that provide connections and the time.

use super::files::Files;
use super::folder::Folder;
use super::{Limits, Sites};
use crate::driver::Applications;
use crate::error::LiveError;
use crate::records::{Recording, Records};
use quic::{Connection, Handle};
use std::path::Path;
use trace::Side;
use units::Time;

/// The application of [`Server`](super::Server): it answers requests with the files of a folder. It records
/// nothing.
pub struct Responder(Sites);

impl Responder {
    /// Serves the plain files below this folder, except hidden ones, within these limits; the caller enforces
    /// the limits on connections.
    ///
    /// # Errors
    /// [`LiveError::File`] if it is not a readable folder, [`LiveError::Memory`] if the limits leave too
    /// little.
    pub fn new(root: &Path, limits: &Limits) -> Result<Responder, LiveError> {
        limits.check()?;
        let folder = Folder::new(root, false, Files::new(limits))
            .map_err(|error| LiveError::File(root.to_owned(), error))?;
        Ok(Responder(Sites::new(folder, limits, Records::new(Side::Server, &Recording::default())?)))
    }

    /// Handles the events of a connection, and writes answers.
    pub fn attend(&mut self, now: Time, handle: Handle, connection: &mut Connection) {
        self.0.attend(now, handle, connection);
    }

    /// The number of connections with state.
    pub fn connections(&self) -> usize {
        self.0.connections.len()
    }
}
