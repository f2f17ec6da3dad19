//! The endpoint and its connections as their host sees them.

use crate::{Connection, Endpoint, Opening, QuicTransport, Stats};
use transport::{
    Application, Arrival, Counters, Datagram, Event, Handle, Outgoing, Snapshot, Stack, Transmit,
};
use units::Time;
use wire::TypedPacket;

impl Stack for Endpoint {
    type Connection = Connection;
    type Opening = Opening;

    fn connect(&mut self, now: Time, opening: Opening) -> Result<Handle, String> {
        Endpoint::connect(self, now, opening).map_err(|error| error.to_string())
    }
    #[inline]
    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        Endpoint::receive(self, now, datagram);
    }
    #[inline]
    fn receive_typed(&mut self, now: Time, arrival: Arrival<'_>, packet: &TypedPacket) -> bool {
        Endpoint::receive_typed(self, now, arrival, packet)
    }
    #[inline]
    fn transmit(&mut self, now: Time, out: Outgoing<'_>) -> Option<Transmit> {
        Endpoint::transmit_into(self, now, out)
    }
    #[inline]
    fn wake_at(&self) -> Option<Time> {
        Endpoint::wake_at(self)
    }
    #[inline]
    fn wake(&mut self, now: Time) {
        Endpoint::wake(self, now);
    }
    #[inline]
    fn next_active(&self) -> Option<Handle> {
        Endpoint::next_active(self)
    }
    #[inline]
    fn active(&mut self) -> Option<(Handle, &mut Connection)> {
        Endpoint::active(self)
    }
    #[inline]
    fn sender(&self) -> Option<Handle> {
        Endpoint::sender(self)
    }
    #[inline]
    fn has_sent(&self, handle: Handle) -> bool {
        Endpoint::has_sent(self, handle)
    }
    #[inline]
    fn get(&self, handle: Handle) -> Option<&Connection> {
        Endpoint::get(self, handle)
    }
    #[inline]
    fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        Endpoint::get_mut(self, handle)
    }
}

impl transport::Connection for Connection {
    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        Connection::poll_event(self)
    }
    #[inline]
    fn notify(&mut self, now: Time, event: &Event, application: &mut dyn Application) {
        application.on_event(now, event, &mut QuicTransport { connection: self, now });
    }
    #[inline]
    fn wake(&mut self, now: Time, application: &mut dyn Application) {
        application.on_wake(now, &mut QuicTransport { connection: self, now });
    }
    fn close(&mut self, now: Time, code: u64, reason: &str) {
        Connection::close(self, now, code, reason);
    }
    #[inline]
    fn is_over(&self) -> bool {
        Connection::is_over(self)
    }
    fn snapshot(&self, no_error: u64) -> Snapshot {
        let clean = (true, no_error);
        let close = self.close_reason().map(|reason| (reason.to_string(), reason.code() == clean));
        let streams = Some(self.stream_books());
        Snapshot { counters: self.stats().into(), window: self.flight().0, close, streams }
    }
    #[inline]
    fn records(&mut self) -> Option<(usize, &mut trace::Log)> {
        self.records_are_due().then(|| (0, self.log()))
    }
    fn take_secrets(&mut self) -> Vec<String> {
        Connection::take_secrets(self).iter().map(ToString::to_string).collect()
    }
}

impl From<Stats> for Counters {
    fn from(stats: Stats) -> Counters {
        Counters {
            packets_sent: stats.packets_sent,
            data_packets_sent: stats.data_packets_sent,
            ack_only_packets_sent: stats.ack_only_packets_sent,
            packets_declared_lost: stats.packets_declared_lost,
            packets_spuriously_lost: stats.packets_spuriously_lost,
            probe_timeouts: stats.probe_timeouts,
            sent_bytes: stats.streams.sent_bytes + stats.datagram_frames.sent_bytes,
            retransmitted_bytes: stats.streams.retransmitted_bytes,
            rtt: stats.rtt,
        }
    }
}
