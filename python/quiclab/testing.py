"""The laws that hold for the parts of a network and for applications, run over one of yours: a call for each kind.

The public name of `quiclab.engines.laws`. In a test of yours:

    import quiclab.testing
    from mine import Shortest

    def test_it_keeps_the_laws():
        quiclab.testing.check_queue(Shortest(limit=50), ordered=False, limit_packets=50)
"""

from quiclab.engines.laws import check_application as check_application
from quiclab.engines.laws import check_cell_scheduler as check_cell_scheduler
from quiclab.engines.laws import check_jitter as check_jitter
from quiclab.engines.laws import check_loss as check_loss
from quiclab.engines.laws import check_middlebox as check_middlebox
from quiclab.engines.laws import check_queue as check_queue
from quiclab.engines.laws import check_rate as check_rate

__all__ = [
    "check_application",
    "check_cell_scheduler",
    "check_jitter",
    "check_loss",
    "check_middlebox",
    "check_queue",
    "check_rate",
]
