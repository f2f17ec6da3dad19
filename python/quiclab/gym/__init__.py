"""Environments of Gymnasium: somebody who learns is a part of a scenario.

* `CongestionControl` sets the window, or the rate, of one sender, step by step of virtual time.
* `RateAdaptation` chooses the representation of each segment of a video.

They need the extra `quiclab[gym]`.
"""

from quiclab.gym.congestion import FIELDS, ID, CongestionControl, Observation, Reward, copa_utility
from quiclab.gym.video import RateAdaptation

__all__ = ["FIELDS", "ID", "CongestionControl", "Observation", "RateAdaptation", "Reward", "copa_utility"]
