"""The class `Scheduler`: a stream scheduler written in Python."""

from quiclab._plugged import Plugged, part
from quiclab._quiclab import Priority, View


class Scheduler(Plugged):
    """A stream scheduler: derive a class from it, and name it in a scenario by where it is.

    ::

        class Newest(quiclab.Scheduler):
            "The stream that became ready last."

            def next(self, view):
                return next(reversed(self.ready))

    In a file `mine.py` beside the scenario it is ``scheduler = "mine.py:Newest"``; in a module that can be imported,
    ``"package.module:Newest"``. In Python it is the class itself, or an object:
    ``Scenario(transport={"scheduler": Newest()}, ...)``.

    One object is made for each end of each connection. `next` is called once for each turn (a STREAM frame with as much
    of the stream's data as the packet has room for) while more than one stream is ready; the other methods are called
    only if the class has them. Streams are known by their ids; times are seconds of virtual time. It must not look at
    the clock or draw from a generator that it has not seeded: equal scenarios must give equal runs. An exception ends
    the run.
    """

    ready: dict[int, Priority]
    """The streams that have something to send and may send it, in the order in which they became ready, with what the
    application says of each. It is kept up to date for the class, which only reads it."""

    def start(self) -> None:
        """The connection begins: no stream is ready. Called when the object has its options."""

    def next(self, view: View) -> int:
        """The stream to take from next, one of `ready`. Asked again only after something has changed."""
        raise NotImplementedError(f"{type(self).__name__} has no method next")

    def on_ready(self, stream: int, now_s: float) -> None:
        """The stream has something to send; it is in `ready` already."""

    def on_idle(self, stream: int) -> None:
        """It has nothing to send any more, or may not for want of credit; it is in `ready` no more."""

    def on_sent(self, stream: int, sent_bytes: int) -> None:
        """So many bytes of the stream whose turn it was went into a packet, new ones or lost ones; 0: its end alone."""

    def on_sent_out_of_turn(self, stream: int, sent_bytes: int) -> None:
        """So many lost bytes went before all others (``retransmissions = "first"``): it was nobody's turn."""

    def on_head(self, stream: int, written_s: float, order: int) -> None:
        """The data that the stream would send next was written then, as this write over all streams."""

    def on_priority(self, stream: int, priority: Priority) -> None:
        """The application has said something else of a stream, ready or not."""

    def on_lost(self, stream: int) -> None:
        """The stream, which is ready, has lost data to send again, and sends it before its new data."""

    def on_repaired(self, stream: int) -> None:
        """It has none any more."""

    def on_closed(self, stream: int) -> None:
        """The stream is over."""


part(
    "scheduler",
    Scheduler,
    (
        "on_ready",
        "on_idle",
        "on_sent",
        "on_sent_out_of_turn",
        "on_head",
        "on_priority",
        "on_lost",
        "on_repaired",
        "on_closed",
    ),
)
