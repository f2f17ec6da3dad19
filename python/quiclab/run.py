"""The class `Run`: the results of a run, in memory or in a run folder.

The public name of `quiclab.results.run`.
"""

from quiclab.results.run import Run as Run
from quiclab.results.run import load as load
