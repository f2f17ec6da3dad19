"""Where the time of a flow went: what its sender waited for, and what the network did meanwhile.

The public name of `quiclab.explanations.why`.
"""

from quiclab.explanations.why import *  # noqa: F403  (its `__all__`)
from quiclab.explanations.why import __all__ as __all__
