"""The class `Middlebox`: a node that acts on the packets that pass, written in Python."""

from random import Random

from quiclab._quiclab import Packet
from quiclab.values.components.parts import Plugged, part


class Middlebox(Plugged):
    """A middlebox: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Late(quiclab.Middlebox):
            "Packets without data leave together, every few milliseconds."

            options = {"every_s": 0.005}

            def start(self):
                self.waiting = []

            def on_packet(self, packet, now_s):
                if packet.has_data:
                    packet.send()
                else:
                    self.waiting.append(packet)
                    self.wake_s = self.wake_s or now_s + self.every_s

            def on_wake(self, now_s):
                for packet in self.waiting:
                    packet.send()
                self.waiting.clear()

    In a file `mine.py` beside the scenario it is ``kind = "mine.py:Late"`` of a ``[[node]]``, or ``kind = { type =
    "mine.py:Late", every_s = 0.01 }``; in a module that can be imported, ``"package.module:Late"``. In Python it is the
    class itself, or an object: ``node=[{"name": "box", "kind": Late(every_s=0.01)}]``.

    One object is made for each node. The lab keeps the packets and counts them; the class says which of them are sent
    on (`Packet.send`), dropped (`Packet.drop`) and marked (`Packet.mark`), at once or later. A packet that is sent
    takes the route to its destination. The summary of the node has the numbers of packets that arrived, were sent,
    dropped and marked, and that it holds at the end. Times are seconds of virtual time. It must not read the clock, and
    draws random numbers from `random` only: equal scenarios must give equal runs. An exception ends the run.

    """

    wake_s: float | None = None
    """The time in seconds of the next call of `on_wake`; None for no call. Each call sets it back to None first."""
    carriers: list[str]
    """The names of the links and media at the node; `Packet.port` counts them from 0."""
    random: Random
    """Random numbers, which depend on the seed of the run and on the node."""

    def start(self) -> None:
        """The run begins. Called when the object has its options and attributes."""

    def on_packet(self, packet: Packet, now_s: float) -> None:
        """A packet arrives. The node holds it until it is sent or dropped."""
        raise NotImplementedError(f"{type(self).__name__} has no method on_packet")

    def on_wake(self, now_s: float) -> None:
        """The time `wake_s` has come."""


part("middlebox", Middlebox, needed=("on_packet",))
