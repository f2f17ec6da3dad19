"""Sweeps: many runs of a scenario, their folder, their tables.

The public name of `quiclab.engines.sweeps` and `quiclab.results.sweeps`.
"""

from quiclab.engines.sweeps import Engine as Engine
from quiclab.engines.sweeps import cores as cores
from quiclab.engines.sweeps import foretold as foretold
from quiclab.engines.sweeps import planned as planned
from quiclab.engines.sweeps import sweep as sweep
from quiclab.results.sweeps import Failure as Failure
from quiclab.results.sweeps import Sweep as Sweep
from quiclab.results.sweeps import load_sweep as load_sweep
from quiclab.results.sweeps import varied as varied
