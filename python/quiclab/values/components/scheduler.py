"""The class `Scheduler`: a stream scheduler written in Python."""

from quiclab._quiclab import Priority, SchedulerView
from quiclab.values.components.parts import Plugged, part


class Scheduler(Plugged):
    """A stream scheduler: derive a class from it, and name it in a scenario by its file or module.

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
    only if the class has them. Streams are known by their ids; times are seconds of virtual time. It must not read
    the clock or use a random generator that it has not seeded: equal scenarios must give equal runs. An exception ends
    the run.
    """

    ready: dict[int, Priority]
    """The streams that have something to send and may send it, in the order in which they became ready, with what the
    application says of each. It is kept up to date for the class, which only reads it."""

    def start(self) -> None:
        """The connection begins: no stream is ready. Called when the object has its options."""

    def next(self, view: SchedulerView) -> int:
        """The stream to send from next, one of `ready`. Called again only after something has changed."""
        raise NotImplementedError(f"{type(self).__name__} has no method next")

    def on_ready(self, stream: int, now_s: float) -> None:
        """The stream has something to send; it is in `ready` already."""

    def on_idle(self, stream: int) -> None:
        """The stream has nothing to send any more, or no credit to send it; it is no longer in `ready`."""

    def on_sent(self, stream: int, sent_bytes: int) -> None:
        """The stream whose turn it was sent `sent_bytes` in a packet, new or retransmitted; 0: only its end."""

    def on_sent_out_of_turn(self, stream: int, sent_bytes: int) -> None:
        """`sent_bytes` of lost data were sent before others (``retransmissions = "first"``), outside of any turn."""

    def on_head(self, stream: int, written_s: float, order: int) -> None:
        """The next data of the stream was written at `written_s`, as write number `order` over all streams."""

    def on_priority(self, stream: int, priority: Priority) -> None:
        """The application has changed the priority of a stream, ready or not."""

    def on_lost(self, stream: int) -> None:
        """The stream, which is ready, has lost data to retransmit, and sends it before its new data."""

    def on_repaired(self, stream: int) -> None:
        """The stream has no lost data left."""

    def on_closed(self, stream: int) -> None:
        """The stream is over."""


part(
    "scheduler",
    Scheduler,
    needed=("next",),
    called=(
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
