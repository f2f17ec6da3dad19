//! What is written about connections on the wire: their secrets (SSLKEYLOGFILE) and their qlog.

use crate::error::LiveError;
use quic::Connection;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace::qlog::{Options, Writer};
use trace::{Interest, Side};

/// Where to.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// A file that the secrets of TLS are added to, in the format of SSLKEYLOGFILE (RFC 9850). Who has them can read
    /// everything.
    pub key_log: Option<PathBuf>,
    /// A folder that gets a qlog file for each connection; it is made if it is not there.
    pub qlog: Option<PathBuf>,
}

impl Recording {
    /// What connections note in their logs for it.
    pub(crate) fn interest(&self) -> Interest {
        if self.qlog.is_some() { Interest::ALL } else { Interest::NONE }
    }
}

/// The files.
#[derive(Debug)]
pub(crate) struct Records {
    side: Side,
    key_log: Option<File>,
    qlog: Option<PathBuf>,
    opened: u64,
    /// The first file that could not be written.
    pub(crate) failed: Option<LiveError>,
}

/// The qlog of a connection, once it has one.
pub(crate) type Log = Option<Writer<BufWriter<File>>>;

impl Records {
    /// # Errors
    /// If the file or the folder cannot be made.
    pub(crate) fn new(side: Side, recording: &Recording) -> Result<Records, LiveError> {
        let key_log = match &recording.key_log {
            None => None,
            Some(path) => {
                let file = File::options().append(true).create(true).open(path);
                Some(file.map_err(|error| LiveError::File(path.clone(), error))?)
            }
        };
        if let Some(folder) = &recording.qlog {
            fs::create_dir_all(folder).map_err(|error| LiveError::File(folder.clone(), error))?;
        }
        Ok(Records { side, key_log, qlog: recording.qlog.clone(), opened: 0, failed: None })
    }

    /// Writes down what a connection has to tell.
    pub(crate) fn take(&mut self, log: &mut Log, connection: &mut Connection) {
        if let Some(file) = &mut self.key_log {
            for secret in connection.take_secrets() {
                if let Err(error) = writeln!(file, "{secret}") {
                    self.failed.get_or_insert(LiveError::File(PathBuf::from("SSLKEYLOGFILE"), error));
                }
            }
        }
        let Some(folder) = &self.qlog else { return };
        if log.is_none() {
            self.opened += 1;
            let name =
                format!("{}-{}", if self.side == Side::Client { "client" } else { "server" }, self.opened);
            let path = folder.join(format!("{name}.sqlog"));
            match File::create(&path) {
                Ok(file) => {
                    *log = Some(Writer::new(BufWriter::new(file), &name, self.side, Options::default()))
                }
                Err(error) => drop(self.failed.get_or_insert(LiveError::File(path, error))),
            }
        }
        for record in connection.log().drain() {
            if let Some(writer) = log
                && let Err(error) = writer.write(&record)
            {
                self.failed.get_or_insert(LiveError::File(folder.clone(), error));
            }
        }
    }

    /// A connection is over.
    pub(crate) fn end(&mut self, log: &mut Log) {
        if let Some(mut writer) = log.take()
            && let Err(error) = writer.flush()
        {
            self.failed.get_or_insert(LiveError::File(self.qlog.clone().unwrap_or_default(), error));
        }
    }
}
