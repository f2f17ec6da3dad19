"""`quiclab view`: the packets of a run, stream by stream, and what waited for what, as a page for the browser.

The public name of `quiclab.drawings.view`.
"""

from quiclab.drawings.view import LIMIT as LIMIT
from quiclab.drawings.view import PAGE as PAGE
from quiclab.drawings.view import Shown as Shown
from quiclab.drawings.view import write as write
