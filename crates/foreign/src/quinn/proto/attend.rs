//! A connection of quinn-proto as its host attends to it.

use super::clock::instant;
use super::connection::Connection;
use super::view::View;
use bytes::Bytes;
use transport::{Application, Counters, Event, Snapshot};
use units::Time;

impl transport::Connection for Connection {
    fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.gather();
        }
        self.events.pop_front()
    }
    fn notify(&mut self, now: Time, event: &Event, application: &mut dyn Application) {
        application.on_event(now, event, &mut View { connection: self, now });
    }
    fn wake(&mut self, now: Time, application: &mut dyn Application) {
        application.on_wake(now, &mut View { connection: self, now });
    }
    fn close(&mut self, now: Time, code: u64, reason: &str) {
        if self.ended.is_none() {
            let bytes = Bytes::copy_from_slice(reason.as_bytes());
            self.inner.close(instant(now), super::transport::varint(code), bytes);
            self.end(format!("closed here (code {code}): {reason}"), Some(code));
        }
    }
    fn is_over(&self) -> bool {
        self.ended.is_some()
    }
    fn snapshot(&self, no_error: u64) -> Snapshot {
        let stats = self.inner.stats();
        let counters = Counters {
            packets_sent: stats.path.sent_packets,
            data_packets_sent: self.sent.data,
            ack_only_packets_sent: self.sent.ack_only,
            packets_declared_lost: stats.path.lost_packets,
            sent_bytes: self.written,
            ..Counters::default()
        };
        let close = self.ended.as_ref().map(|(reason, code)| (reason.clone(), *code == Some(no_error)));
        Snapshot { counters, window: stats.path.cwnd, close, streams: None }
    }
    fn take_secrets(&mut self) -> Vec<String> {
        self.secrets.take()
    }
}
