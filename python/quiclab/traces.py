"""Traces of capacity: read, written, described, drawn, and made from a seed.

The public name of `quiclab.values.traces`.
"""

from quiclab.values.traces import *  # noqa: F403  (its `__all__`)
from quiclab.values.traces import __all__ as __all__
