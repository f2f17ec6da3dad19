"""The class `Controller`: a congestion controller written in Python."""

from quiclab._quiclab import Ack, CongestionSignal, ResumeAdjustment
from quiclab.values.components.parts import Plugged, part


class Controller(Plugged):
    """A congestion controller: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Mine(quiclab.Controller):
            "Half of the window at a loss, one packet for each window."

            options = {"beta": 0.5}

            def on_ack(self, ack):
                self.window_bytes += self.datagram_bytes * ack.acked_bytes / self.window_bytes

            def on_loss(self, loss):
                self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)

    In a file `mine.py` beside the scenario it is ``controller = "mine.py:Mine"``, or
    ``controller = { type = "mine.py:Mine", beta = 0.7 }``; in a module that can be imported,
    ``"package.module:Mine"``. In Python it is the class itself, or an object:
    ``Scenario(transport={"controller": Mine(beta=0.7)}, ...)``.

    One object is made for each end of each connection, and `on_ack` is called once for each ACK frame. The other
    methods are called only if the class has them. Times are seconds of virtual time, rates bit/s. It must not read
    the clock or use a random generator that it has not seeded: equal scenarios must give equal runs. An exception ends
    the run.
    """

    window_bytes: float
    """How many bytes may be in flight: what it decides. At least one packet."""
    pacing_bps: float | None
    """At what rate packets are released, in bit/s: what it decides. None: as fast as the window allows."""
    state: str = "running"
    """Its state, for traces."""
    datagram_bytes: int
    """The size of a full packet."""

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        """The connection starts, or starts again on another path: the window is the initial one, nothing is known."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK frame acknowledged something new; `ack` has its contents."""

    def on_loss(self, loss: CongestionSignal) -> None:
        """Packets were declared lost. Called before `on_ack` for the ACK frame that showed it."""

    def on_mark(self, mark: CongestionSignal) -> None:
        """Packets were marked with CE."""

    def on_spurious(self, spurious: CongestionSignal) -> None:
        """Packets that were declared lost were acknowledged after all."""

    def on_persistent_congestion(self) -> None:
        """All packets over a long time were lost (RFC 9002 section 7.6)."""

    def on_resume(self, adjustment: ResumeAdjustment) -> None:
        """Careful Resume (RFC 9959) asks for another window or slow start threshold.

        Apply it by `self.window_bytes = adjustment.window_bytes`, unless that is None. Its kinds are
        "jump" (to half of what was saved), "seed" (to all of it), "limit" (what was used of the jump), "retreat" (there
        was congestion) and "settle" (the retreat is over). Without this method the window does not jump.
        """

    def on_sent(self, now_s: float, sent_bytes: int, bytes_in_flight: int) -> None:
        """A packet was sent. A class that has this method is called for every packet."""


part(
    "controller",
    Controller,
    needed=("on_ack",),
    called=("on_sent", "on_loss", "on_mark", "on_spurious", "on_persistent_congestion", "on_resume"),
    decides=("window_bytes", "pacing_bps"),
)
