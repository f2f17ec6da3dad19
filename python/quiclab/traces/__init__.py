"""Traces of capacity: read, written, described, drawn, and made from a seed.

A trace says what a link can carry over time. `read` takes both forms that the simulator takes, Mahimahi files and CSV
of time and rate, and the simulator's own reader is what reads them. `generate` makes one; docs/traces.md says how.
"""

from quiclab.traces.capacity import Capacity, read, write
from quiclab.traces.generate import KINDS, generate
from quiclab.traces.series import Series, laws, series_of

__all__ = ["KINDS", "Capacity", "Series", "generate", "laws", "read", "series_of", "write"]
