"""A congestion controller in Python: additive increase, multiplicative decrease.

quiclab run examples/dumbbell.toml --set transport.controller=examples/aimd.py:Aimd
"""

import quiclab


class Aimd(quiclab.Controller):
    """Adds one packet per window, and keeps the share `beta` of the window at a loss."""

    options = {"beta": 0.5}
    beta: float

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        self.reduced_s, self.state = -1.0, "slow_start"

    def on_ack(self, ack: quiclab.Ack) -> None:
        if ack.newest_sent_s > self.reduced_s and ack.limit != "application":
            share = 1 if self.state == "slow_start" else self.datagram_bytes / self.window_bytes
            self.window_bytes += share * ack.acked_bytes
            self.pacing_bps = 1.25 * 8 * self.window_bytes / ack.smoothed_rtt_s

    def on_loss(self, loss: quiclab.CongestionSignal) -> None:
        if loss.newest_sent_s > self.reduced_s:
            self.reduced_s, self.state = loss.now_s, "avoidance"
            self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)
