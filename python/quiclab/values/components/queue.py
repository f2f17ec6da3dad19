"""The class `Queue`: a queue written in Python."""

from random import Random

from quiclab._quiclab import Packet
from quiclab.values.components.parts import Plugged, part


class Queue(Plugged):
    """A queue: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Shortest(quiclab.Queue):
            "The smallest packet first, and no more than a number of packets."

            options = {"limit": 100}

            def start(self):
                self.waiting = []

            def enqueue(self, packet, now_s):
                if len(self.waiting) >= self.limit:
                    packet.drop()
                else:
                    self.waiting.append(packet)

            def dequeue(self, now_s):
                first = min(self.waiting, key=lambda packet: packet.size_bytes)
                self.waiting.remove(first)
                return first

    In a file `mine.py` beside the scenario it is ``queue = "mine.py:Shortest"``, or
    ``queue = { type = "mine.py:Shortest", limit = 50 }``; in a module that can be imported,
    ``"package.module:Shortest"``. In Python it is the class itself, or an object: ``queue=Shortest(limit=50)``.

    One object is made for each direction of a link, and for each lane of a medium. The lab keeps the packets and counts
    them; the class says which of them are dropped (`Packet.drop`), marked (`Packet.mark`) and sent next. A packet that
    is not dropped waits until `dequeue` returns it. Times are seconds of virtual time, rates bit/s. It must not read
    the clock, and draws random numbers from `random` only: equal scenarios must give equal runs. An exception ends the
    run.
    """

    rate_bps: float | None
    """The mean rate of the link; None if it is unlimited, or if it is a medium's."""
    round_trip_s: float
    """The base round-trip time of the link's two directions."""
    mtu_bytes: int
    """The largest packet."""
    flows: dict[int, str]
    """The names of flows by `Packet.flow`."""
    random: Random
    """Random numbers, which depend on the seed of the run and on the place of the queue."""

    def start(self) -> None:
        """The run begins: nothing waits. Called when the object has its options and attributes."""

    def enqueue(self, packet: Packet, now_s: float) -> None:
        """A packet arrives. It waits unless it is dropped.

        Called for each packet, also if the link is free: `dequeue` follows at once then.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method enqueue")

    def dequeue(self, now_s: float) -> Packet | None:
        """The link is free: the packet to send of those that wait. Called only if some do.

        None means that none waits any more because all were dropped; a queue that keeps packets waiting while the link
        is free is an error.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method dequeue")


part("queue", Queue, needed=("enqueue", "dequeue"))
