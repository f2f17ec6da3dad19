"""The classes from which parts of a network and of its traffic are derived that are written in Python.

The public names of `quiclab.values.components`.
"""

from quiclab.values.components.queue import Queue as Queue
