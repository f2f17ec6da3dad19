"""The class `Controller`: a congestion controller written in Python.

The public name of `quiclab.values.components.controller`.
"""

from quiclab.values.components.controller import Controller as Controller
