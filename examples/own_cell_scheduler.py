"""A scheduler of a cell in Python: who had the least is served first.

quiclab run examples/cell.toml --set medium.cell.scheduler=examples/own_cell_scheduler.py:Fewest
"""

import quiclab


class Fewest(quiclab.CellScheduler):
    """The terminal that had the fewest bits so far, which forgets a share of them in each slot."""

    options = {"forget": 0.001}
    forget: float

    def start(self) -> None:
        self.bits = [0.0] * self.terminals
        self.slot = 0

    def rank(self, candidates: list[tuple[int, float]], slot: int) -> list[float]:
        left = (1 - self.forget) ** (slot - self.slot)
        self.bits, self.slot = [left * bits for bits in self.bits], slot
        return [-self.bits[terminal] for terminal, _ in candidates]

    def on_served(self, terminal: int, bits: int, slot: int) -> None:
        self.bits[terminal] += bits
