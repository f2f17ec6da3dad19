"""The plots of a run, each kind one file and one line in `PLOTS`; those of a sweep are in `CHARTS`.

The public name of `quiclab.drawings.plots`.
"""

from quiclab.drawings.plots import *  # noqa: F403  (its `__all__`)
from quiclab.drawings.plots import __all__ as __all__
