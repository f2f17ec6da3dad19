"""The progress of runs and sweeps, for callbacks, on a terminal and in a notebook.

The public name of `quiclab.values.progress`.
"""

from quiclab.values.progress import Callback as Callback
from quiclab.values.progress import Progress as Progress
from quiclab.values.progress import SweepCallback as SweepCallback
from quiclab.values.progress import SweepProgress as SweepProgress
from quiclab.values.progress import shown as shown
from quiclab.values.progress import shown_reading as shown_reading
from quiclab.values.progress import shown_sweep as shown_sweep
