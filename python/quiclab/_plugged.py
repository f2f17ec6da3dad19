"""Where the compiled module finds `quiclab.values.components.plugged`: its name for it is older than the floors."""

from quiclab.values.components.plugged import Ready as Ready
from quiclab.values.components.plugged import describe_ as describe_
from quiclab.values.components.plugged import make_ as make_
from quiclab.values.components.plugged import place_ as place_
from quiclab.values.components.plugged import told_ as told_
