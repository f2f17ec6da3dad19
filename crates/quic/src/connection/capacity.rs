//! How the capacity of a path goes to the client and comes back: in tokens and in BDP_FRAMEs.

use super::{Connection, Progress};
use crate::bdp_frame::BdpFrame;
use crate::error::TransportError;
use crate::sent::SentFrame;
use congestion::Learned;
use trace::PacketKind;
use units::Time;
use wire::{Code, Frame, Side, TransportParameters};

impl Connection {
    /// Passes an observed capacity on to the client: in a token (RFC 9000 section 8.1.3), and in a BDP_FRAME if the client
    /// understands it.
    pub(super) fn pass_on(&mut self, now: Time, learned: Learned) {
        let open = self.progress == Progress::Confirmed && !self.is_over();
        if !open || self.side() == Side::Client {
            return;
        }
        let resume = self.config.resume;
        if resume.token
            && let Some(index) = self.tokens.issue_capacity(now, self.versions.in_use(), learned)
        {
            self.ask_for(SentFrame::NewToken { index });
        }
        // draft-kuhn-quic-0rtt-bdp-09 section 3.2: only to a client that has announced it.
        if resume.bdp_frame
            && self.peer.is_some_and(|peer| peer.enable_bdp > 0)
            && let Some(index) = self.tokens.issue_bdp(now, &resume, learned)
        {
            self.ask_for(SentFrame::Bdp { index });
        }
    }

    /// Sends back what the server has passed on, in 0-RTT packets, if the server said that it understands that.
    pub(super) fn return_capacity(&mut self, parameters: &TransportParameters) {
        if self.config.resume.bdp_frame && parameters.enable_bdp > 0 && self.tokens.recall_bdp() {
            self.ask_for(SentFrame::Bdp { index: 0 });
        }
    }

    /// A BDP_FRAME to send. A client sends it in 0-RTT packets alone.
    pub(super) fn bdp_frame(&self, index: u8) -> Option<Frame<'_>> {
        let allowed = self.side() == Side::Server || self.sends_early_data();
        self.tokens.bdp(index).filter(|_| allowed).map(BdpFrame::frame)
    }

    /// Handles BDP_FRAME (draft-kuhn-quic-0rtt-bdp-09 section 3.3).
    #[cold]
    pub(super) fn on_bdp(
        &mut self,
        now: Time,
        packet: PacketKind,
        frame: &Frame<'_>,
    ) -> Result<(), TransportError> {
        let error = |reason| Err(TransportError::new(Code::PROTOCOL_VIOLATION, reason));
        let resume = self.config.resume;
        if !resume.bdp_frame {
            return error("BDP_FRAME was not negotiated");
        }
        let Some(received) = BdpFrame::read(frame) else { return Ok(()) };
        if self.side() == Side::Client {
            self.tokens.remember_bdp(received);
            return Ok(());
        }
        if packet != PacketKind::ZeroRtt {
            return error("BDP_FRAME from a client in a 1-RTT packet");
        }
        let opened = self.tokens.open_bdp(now, &resume, self.remote().ip(), &received);
        self.with_paths(now, |paths, _| paths.on_bdp(now, opened, received.date_ms()));
        Ok(())
    }

    /// At a server: uses what was learned on the connection that issued the ticket that the client resumes.
    pub(super) fn recall_ticket(&mut self, now: Time) {
        let terms = self.session.resumed_terms();
        if let Some(key) = terms.and_then(crate::resume::ticket_key) {
            self.with_paths(now, |paths, _| paths.recall_ticket(now, key));
        }
    }
}
