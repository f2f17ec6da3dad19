"""The class `Scheduler`: a stream scheduler written in Python.

The public name of `quiclab.values.components.scheduler`.
"""

from quiclab.values.components.scheduler import Scheduler as Scheduler
