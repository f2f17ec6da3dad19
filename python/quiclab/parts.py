"""The classes from which parts of a network and applications in Python are derived.

The public names of `quiclab.values.components`.
"""

from quiclab.values.components.application import Application as Application
from quiclab.values.components.application import End as End
from quiclab.values.components.cell_scheduler import CellScheduler as CellScheduler
from quiclab.values.components.jitter import Jitter as Jitter
from quiclab.values.components.loss import Loss as Loss
from quiclab.values.components.middlebox import Middlebox as Middlebox
from quiclab.values.components.queue import Queue as Queue
from quiclab.values.components.rate import Rate as Rate
