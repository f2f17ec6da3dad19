"""The class `Abr`: a rate adaptation of video written in Python.

The public name of `quiclab.values.components.abr`.
"""

from quiclab.values.components.abr import Abr as Abr
