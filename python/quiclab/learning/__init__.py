"""Environments of Gymnasium: somebody who learns is a part of a scenario.

* `CongestionControl` sets the window, or the rate, of one sender, step by step of virtual time.
* `RateAdaptation` chooses the representation of each segment of a video.

They need the extra `quiclab[gym]`.
"""

from importlib.util import find_spec

from quiclab.values.extras import install_extra

if find_spec("gymnasium") is None:
    raise ImportError(f"quiclab.gym needs Gymnasium: {install_extra('gym')}")

from quiclab.learning.congestion import FIELDS, ID, CongestionControl, Observation, Reward, copa_utility
from quiclab.learning.video import RateAdaptation

__all__ = ["FIELDS", "ID", "CongestionControl", "Observation", "RateAdaptation", "Reward", "copa_utility"]
