"""`python -m quiclab` is the command `quiclab`."""

import sys

from quiclab.cli import main

sys.exit(main())
