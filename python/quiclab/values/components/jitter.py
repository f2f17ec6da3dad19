"""The class `Jitter`: a delay that changes from packet to packet, written in Python."""

from random import Random

from quiclab.values.components.parts import Plugged, part


class Jitter(Plugged):
    """A jitter: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Wave(quiclab.Jitter):
            "The delay falls by a millisecond in a second, and rises again in the next."

            options = {"height_s": 0.001}

            def shift(self, end_s):
                return self.height_s * abs(end_s % 2 - 1)

    In a file `mine.py` beside the scenario it is ``jitter = "mine.py:Wave"``, or
    ``jitter = { type = "mine.py:Wave", height_s = 0.002 }``; in a module that can be imported,
    ``"package.module:Wave"``. In Python it is the class itself, or an object: ``jitter=Wave(height_s=0.002)``.

    One object is made for each direction of a link, and for each lane of a medium. Times are seconds of virtual time.
    It must not read the clock, and draws random numbers from `random` only: equal scenarios must give equal runs. An
    exception ends the run.
    """

    random: Random
    """Random numbers, which depend on the seed of the run and on the place of the jitter."""

    def start(self) -> None:
        """The run begins. Called when the object has its options and attributes."""

    def shift(self, end_s: float) -> float:
        """By how many seconds a packet is later than the propagation delay says, or earlier if it is below zero.

        `end_s` is when the last bit of the packet is sent: it does not arrive before. Called once for each packet, in
        the order of these times. Packets do not overtake each other unless the link has `reorder = true`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method shift")


part("jitter", Jitter, needed=("shift",))
