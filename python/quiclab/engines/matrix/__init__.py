"""QUIC stacks as commands, each client with each server over many networks, in real time: `quiclab matrix`."""

from quiclab.engines.matrix.cells import Cell, Task
from quiclab.engines.matrix.networks import Network, built_in, from_file
from quiclab.engines.matrix.results import Outcome
from quiclab.engines.matrix.run import Matrix, run
from quiclab.engines.matrix.stacks import Stack, pairs, stack_of

__all__ = [
    "Cell",
    "Matrix",
    "Network",
    "Outcome",
    "Stack",
    "Task",
    "built_in",
    "from_file",
    "pairs",
    "run",
    "stack_of",
]
