//! The size of datagrams (RFC 9000 section 14): probes of the path in use, and what follows from them.

use super::packet::{Made, TAG};
use super::transmit::Transmit;
use super::{Connection, Progress};
use crate::assemble::Payload;
use crate::sent::SentKind;
use crate::space::SpaceKind;
use units::Time;
use wire::Frame;

impl Connection {
    /// The largest UDP payload in bytes that is sent on the path in use. It changes while the path is probed (option
    /// `mtu_discovery`), and with the path.
    pub fn max_udp_payload(&self) -> usize {
        self.path.size(self.config.max_udp_payload)
    }

    /// The size of the probe that waits to be sent, if there is one and the window could ever hold it.
    fn mtu_probe_due(&self) -> Option<usize> {
        let size = usize::from(self.path.mtu.as_ref()?.due()?);
        let calm = self.progress == Progress::Confirmed
            && self.path.is_proven()
            && self.path.validation.is_none()
            && self.recovery.pto_count == 0
            && self.data.probing.left == 0;
        (calm && size as u64 <= self.recovery.window()).then_some(size)
    }
    /// The room in the window without which nothing is sent: for a datagram of `limit` bytes, or for the probe that waits.
    /// That consumes window like anything else (RFC 9000 section 14.4), and a sender with much to send would never leave it
    /// any.
    #[inline]
    pub(super) fn room_wanted(&self, limit: usize) -> u64 {
        if self.path.mtu.is_none() {
            return limit as u64;
        }
        self.mtu_probe_due().unwrap_or(0).max(limit) as u64
    }

    /// A probe of the path in use, if one is to be sent (RFC 9000 section 14.4).
    #[cold]
    pub(super) fn transmit_mtu_probe(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let size = self.mtu_probe_due().filter(|size| self.recovery.admits(*size as u64))?;
        if let Some(at) = self.recovery.paced_until(now) {
            self.paced_until = Some(at);
            return None;
        }
        let id = self.remote_ids.current();
        let begun = self.begin_packet(SpaceKind::Data, id, buffer)?;
        let mut contents = std::mem::take(&mut self.contents);
        let mut payload = Payload::new(buffer, &mut contents, size - TAG, false);
        // RFC 9000 section 14.4: nothing that would be missed.
        payload.passing_frame(&Frame::Ping, true);
        payload.pad_to(size - TAG);
        contents.kind = SentKind::MtuProbe;
        let number = self.data.sent.next_number();
        let named = (number, id);
        self.trace_packet_sent(now, SpaceKind::Data, named, &buffer[begun.payload_offset..], (size, None));
        self.seal_and_note(now, buffer, begun, true, &contents);
        self.contents = contents;
        if let Some(search) = &mut self.path.mtu {
            search.on_probe_sent(number);
        }
        self.stats.mtu_probes_sent += 1;
        self.path.on_sent(size as u64);
        let ends = (self.path.local, self.path.remote);
        Some(self.finish_over(now, size, &Made::default(), ends))
    }

    /// Packets were declared lost.
    pub(super) fn note_sizes_lost(&mut self, now: Time) {
        let before = self.path.searched();
        let since = self.path.since;
        let Some(search) = &mut self.path.mtu else { return };
        for loss in self.losses.iter().filter(|loss| loss.number >= since) {
            self.stats.mtu_probes_lost += u64::from(loss.kind == SentKind::MtuProbe);
            self.stats.mtu_black_holes +=
                u64::from(search.on_lost(now, loss.number, loss.size, loss.sent_at));
        }
        self.on_searched(now, before);
    }

    /// Probe timeouts have fired one after the other.
    pub(super) fn note_silence(&mut self, now: Time) {
        let before = self.path.searched();
        let timeouts = self.recovery.pto_count;
        if let Some(search) = &mut self.path.mtu {
            self.stats.mtu_black_holes += u64::from(search.on_silence(timeouts));
            self.on_searched(now, before);
        }
    }

    /// The search may have come further than `before`.
    #[inline]
    pub(super) fn on_searched(&mut self, now: Time, before: Option<(u16, bool)>) {
        let searched = self.path.searched();
        if searched != before
            && let (Some((old, _)), Some((new, done))) = (before, searched)
        {
            if new != old {
                self.recovery.set_datagram_size(now, u64::from(new));
            }
            self.trace_mtu(now, (old, new), done);
        }
    }
}
