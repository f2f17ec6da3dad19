"""QUIC stacks as commands, each client with each server over many networks, in real time: `quiclab matrix`."""

from quiclab.matrix.cells import Cell, Task
from quiclab.matrix.networks import Network, built_in, from_file
from quiclab.matrix.results import Outcome
from quiclab.matrix.run import Matrix, run
from quiclab.matrix.stacks import Stack, pairs, stack_of

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
