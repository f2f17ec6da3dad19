"""The queues between the two ends of a flow: when packets waited in them."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.explanations.why.records import Records
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class Queues:
    """The queues that packets of a flow can pass, in both directions.

    :param records: the tables of its run.
    :param connection: its name.
    :param nodes: the queues of nodes that take time for its packets.
    """

    def __init__(self, records: Records, connection: str, nodes: list[str]) -> None:
        waiting = {name: records.waiting(name) for name in [*records.passed(connection), *nodes]}
        self._waiting = {name: steps for name, steps in waiting.items() if steps is not None}

    def waited(self, starts: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """In each of some times, for how many seconds packets waited: the sum over the queues.

        A packet that passes all of them within such a time has not waited for longer.
        """
        return sum((steps.integrals(starts, ends) for steps in self._waiting.values()), np.zeros_like(starts))


def longest(waits: "Mapping[str, Steps]", spans: list[tuple[float, float]], usual: str) -> str:
    """The queue in which packets waited for longest in these times; of about equal ones, the usual one.

    :param waits: how long packets waited, by queue.
    """
    starts, ends = (np.array([span[at] for span in spans], dtype=float) for at in (0, 1))
    sums = {name: float(steps.integrals(starts, ends).sum()) for name, steps in waits.items()}
    most = max(sums, key=lambda name: sums[name], default=usual)
    return usual if sums.get(usual, 0.0) >= _ABOUT * sums.get(most, 0.0) else most


_ABOUT = 0.8
"""A share of the greatest sum that counts as about equal."""
