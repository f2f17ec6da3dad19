"""A stream scheduler in Python: the most urgent stream first, but no more than its share.

quiclab run examples/dumbbell.toml --set transport.scheduler=examples/quota.py:Quota
"""

import quiclab


class Quota(quiclab.Scheduler):
    """Sends the most urgent stream while it has had at most `share` of the bytes, otherwise the others in turns."""

    options = {"share": 0.75}
    share: float

    def start(self) -> None:
        self.sent_bytes, self.urgent_bytes, self.last = 1, 0, -1

    def next(self, view: quiclab.SchedulerView) -> int:
        urgent = min(self.ready, key=lambda stream: (self.ready[stream].urgency, stream))
        if self.urgent_bytes <= self.share * self.sent_bytes:
            return urgent
        others = [stream for stream in self.ready if stream != urgent]
        return min((stream for stream in others if stream > self.last), default=min(others))

    def on_sent(self, stream: int, sent_bytes: int) -> None:
        self.sent_bytes += sent_bytes
        if stream == min(self.ready, key=lambda stream: (self.ready[stream].urgency, stream)):
            self.urgent_bytes += sent_bytes
        else:
            self.last = stream
