"""The class `Rate`: how fast a link sends, written in Python."""

from random import Random

from quiclab.values.components.parts import Plugged, part


class Rate(Plugged):
    """A rate: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Halves(quiclab.Rate):
            "Full speed for a second, then half of it for a second, and so on."

            options = {"full_bps": 10e6}

            def start(self):
                self.mean_bps = 0.75 * self.full_bps

            def serve(self, start_s, size_bytes):
                rate_bps = self.full_bps / (1 + int(start_s) % 2)
                return start_s + 8 * size_bytes / rate_bps

    In a file `mine.py` beside the scenario it is ``rate = "mine.py:Halves"``, or
    ``rate = { type = "mine.py:Halves", full_bps = 20e6 }``; in a module that can be imported,
    ``"package.module:Halves"``. In Python it is the class itself, or an object: ``rate=Halves(full_bps=20e6)``.

    One object is made for each direction of a link. Times are seconds of virtual time, rates bit/s; a time is not
    before the one that the method was called with, and `math.inf` means never. It must not read the clock, and draws
    random numbers from `random` only: equal scenarios must give equal runs. An exception ends the run.
    """

    mean_bps: float
    """The mean rate, from which queues and summaries know what the link can carry. `start` sets it."""
    random: Random
    """Random numbers, which depend on the seed of the run and on the place of the link."""

    def start(self) -> None:
        """The run begins. Called when the object has its options and attributes."""

    def ready(self, at_s: float) -> float:
        """When the first bit of a packet that waits at `at_s` can be sent: later than that during an outage.

        The packet stays in its queue until then.
        """
        return at_s

    def serve(self, start_s: float, size_bytes: int) -> float:
        """When the last bit of a packet is sent whose first bit is sent at `start_s`, a result of `ready`."""
        raise NotImplementedError(f"{type(self).__name__} has no method serve")


part("rate", Rate, needed=("serve",), decides=("mean_bps",))
