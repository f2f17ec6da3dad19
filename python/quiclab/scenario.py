"""The class `Scenario`: what is simulated, read from a file, from text, or built in Python.

The public name of `quiclab.results.scenario`.
"""

from quiclab.results.scenario import LARGEST_SEED as LARGEST_SEED
from quiclab.results.scenario import LONGEST as LONGEST
from quiclab.results.scenario import Changes as Changes
from quiclab.results.scenario import Scenario as Scenario
