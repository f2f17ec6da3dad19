//! The writer of a qlog file: the header, and the parts common to both schemas.

use super::json::Json;
use super::options::{Options, Schema};
use super::state::State;
use super::{current, legacy};
use crate::{Event, Record, Side};
use std::io::{self, Write};

/// The size from which on the buffer is flushed.
const FULL: usize = 32 * 1024;

/// The writer of a connection end's file.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    options: Options,
    name: String,
    json: Json,
    state: State,
    started: bool,
    failed: Option<io::ErrorKind>,
}

impl<W: Write> Writer<W> {
    /// Creates the file of one end of the connection `name`. Nothing is written yet.
    pub fn new(out: W, name: &str, side: Side, options: Options) -> Writer<W> {
        let own_fields = options.own_fields;
        let state = State::new(side, own_fields);
        let json = Json::default();
        Writer { out, options, name: name.to_owned(), json, state, started: false, failed: None }
    }

    /// Writes an event. Events of other subjects, and events without a change, are ignored.
    ///
    /// # Errors
    /// The error of the underlying writer. The file is then truncated, and all further calls fail.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.alive()?;
        if !self.started {
            self.header(&record.event);
        }
        let (json, state) = (&mut self.json, &mut self.state);
        let datagram = matches!(record.event, Event::DatagramSent { .. } | Event::DatagramReceived { .. });
        if !datagram || self.options.datagrams {
            match self.options.schema {
                Schema::Current => current::event(json, state, record),
                Schema::V03 => legacy::event(json, state, record),
            }
        }
        if self.json.len() >= FULL { self.send() } else { Ok(()) }
    }

    /// Passes the buffer to the underlying writer and flushes that.
    ///
    /// # Errors
    /// The error of the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.send()?;
        self.out.flush().inspect_err(|error| self.failed = Some(error.kind()))
    }

    /// Returns the underlying writer. Data buffered since the last [`Writer::flush`] is lost.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn alive(&self) -> io::Result<()> {
        match self.failed {
            None => Ok(()),
            Some(kind) => Err(io::Error::new(kind, "an earlier error cut the qlog file off")),
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.alive()?;
        let result = self.out.write_all(self.json.as_bytes());
        self.json.clear();
        result.inspect_err(|error| self.failed = Some(error.kind()))
    }

    fn header(&mut self, first: &Event) {
        self.started = true;
        let group = match first {
            // The only id that never changes and that both ends know (quic-events-13 section 1.1).
            Event::ConnectionStarted { original_destination, .. } => &original_destination[..],
            _ => &[],
        };
        let json = &mut self.json;
        json.begin();
        match self.options.schema {
            Schema::Current => {
                json.literal("\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"");
                json.literal("\"serialization_format\":\"application/qlog+json-seq\"");
            }
            Schema::V03 => json.literal("\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\""),
        }
        if !self.options.title.is_empty() {
            json.string("title", &self.options.title);
        }
        json.open("trace");
        json.open("common_fields");
        if !group.is_empty() {
            json.hex("group_id", group);
        }
        match self.options.schema {
            // Virtual time has no date, and is monotonic.
            Schema::Current => json.literal(
                "\"time_format\":\"relative_to_epoch\",\
                 \"reference_time\":{\"clock_type\":\"monotonic\",\"epoch\":\"unknown\"}",
            ),
            Schema::V03 => {
                json.literal(
                    "\"protocol_type\":[\"QUIC\"],\"time_format\":\"relative\",\"reference_time\":0",
                );
            }
        }
        json.close();
        json.open("vantage_point");
        json.string("name", &self.name);
        json.word("type", self.state.side().name());
        json.close();
        if self.options.schema == Schema::Current {
            json.literal("\"event_schemas\":[\"urn:ietf:params:qlog:events:quic-13\"]");
        }
        json.close();
        json.end();
    }
}
