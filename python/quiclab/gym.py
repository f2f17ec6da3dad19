"""Environments of Gymnasium: somebody who learns is a part of a scenario.

The public name of `quiclab.learning`.
"""

from quiclab.learning import *  # noqa: F403  (its `__all__`)
from quiclab.learning import __all__ as __all__
