"""`quiclab report`: runs and sweeps as one HTML file that needs nothing else.

The public name of `quiclab.drawings.report`.
"""

from quiclab.drawings.report import MOST as MOST
from quiclab.drawings.report import PAGE as PAGE
from quiclab.drawings.report import Report as Report
from quiclab.drawings.report import write as write
