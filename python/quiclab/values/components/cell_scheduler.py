"""The class `CellScheduler`: which terminals of a cell are served in a slot, written in Python."""

from quiclab.values.components.parts import Plugged, part


class CellScheduler(Plugged):
    """A scheduler of a cell: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Fewest(quiclab.CellScheduler):
            "The terminal that had the fewest bits so far."

            def start(self):
                self.bits = [0] * self.terminals

            def rank(self, candidates, slot):
                return [-self.bits[terminal] for terminal, _ in candidates]

            def on_served(self, terminal, bits, slot):
                self.bits[terminal] += bits

    In a file `mine.py` beside the scenario it is ``scheduler = "mine.py:Fewest"`` of a `[[medium]]` of the type `lte`
    or `nr`; in a module that can be imported, ``"package.module:Fewest"``. In Python it is the class itself, or an
    object.

    One object is made for each direction of a cell. It draws no random numbers and must not read the clock: equal
    scenarios must give equal runs. An exception ends the run.
    """

    terminals: int
    """The number of terminals of the cell, which are counted from 0."""
    slot_s: float
    """The length of a slot."""

    def start(self) -> None:
        """The run begins. Called when the object has its options and attributes."""

    def rank(self, candidates: list[tuple[int, float]], slot: int) -> list[float]:
        """The priorities of terminals in a slot, one for each candidate: the highest is served first.

        A candidate is a terminal that has something to send, and the bits that all resource blocks of the slot would
        have for it. They come in the order of their terminals; of equal ones the first is served first.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method rank")

    def on_served(self, terminal: int, bits: int, slot: int) -> None:
        """A terminal gets this many bits in a slot."""


part("cell scheduler", CellScheduler, needed=("rank",), called=("on_served",))
