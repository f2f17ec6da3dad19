"""Quality of experience by ITU-T P.1203: what the model is told of a playback, and its scores.

The public name of `quiclab.explanations.video_quality`.
"""

from quiclab.explanations.video_quality import AUDIO_CODECS as AUDIO_CODECS
from quiclab.explanations.video_quality import LADDER as LADDER
from quiclab.explanations.video_quality import OLDEST as OLDEST
from quiclab.explanations.video_quality import PACKAGE as PACKAGE
from quiclab.explanations.video_quality import Score as Score
from quiclab.explanations.video_quality import inputs as inputs
from quiclab.explanations.video_quality import score as score
