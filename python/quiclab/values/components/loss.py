"""The class `Loss`: a loss model written in Python."""

from random import Random

from quiclab._quiclab import Packet
from quiclab.values.components.parts import Plugged, part


class Loss(Plugged):
    """A loss model: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Pairs(quiclab.Loss):
            "Two packets in a row are lost, with a probability."

            options = {"probability": 0.01}

            def start(self):
                self.second = False

            def loses(self, packet, end_s):
                self.second = not self.second and self.random.random() < self.probability
                return self.second

    In a file `mine.py` beside the scenario it is ``loss = "mine.py:Pairs"``, or
    ``loss = { type = "mine.py:Pairs", probability = 0.02 }``; in a module that can be imported,
    ``"package.module:Pairs"``. In Python it is the class itself, or an object: ``loss=Pairs(probability=0.02)``.

    One object is made for each direction of a link, and for each lane of a medium. Times are seconds of virtual time.
    It must not read the clock, and draws random numbers from `random` only: equal scenarios must give equal runs. An
    exception ends the run.
    """

    random: Random
    """Random numbers, which depend on the seed of the run and on the place of the loss."""

    def start(self) -> None:
        """The run begins. Called when the object has its options and attributes."""

    def loses(self, packet: Packet, end_s: float) -> bool:
        """Whether a packet is lost whose last bit is sent at `end_s`. Called once for each packet, in that order."""
        raise NotImplementedError(f"{type(self).__name__} has no method loses")


part("loss model", Loss, needed=("loses",))
