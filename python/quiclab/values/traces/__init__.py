"""Traces of capacity: read, written, described, drawn, and made from a seed.

A trace says what a link can carry over time. `read` reads both formats of the simulator, Mahimahi files and CSV of
time and rate, with the simulator's own reader. `generate` makes a trace from a seed; docs/traces.md says how.
"""

from quiclab.values.traces.capacity import Capacity, read, write
from quiclab.values.traces.generate import KINDS, generate
from quiclab.values.traces.series import Series, laws, series_of

__all__ = ["KINDS", "Capacity", "Series", "generate", "laws", "read", "series_of", "write"]
