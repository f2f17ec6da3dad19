"""An active queue management in Python: BLUE (Feng, Shin, Kandlur and Saha, IEEE/ACM Trans. on Networking 10, 2002).

quiclab run examples/dumbbell.toml --set link.bottleneck.queue=examples/own_queue.py:Blue
"""

from collections import deque

import quiclab


class Blue(quiclab.Queue):
    """Marks or drops with a probability that rises when packets are lost, and falls when the link is idle."""

    options = {"limit": 100, "increase": 0.02, "decrease": 0.002, "freeze_s": 0.1}
    limit: int
    increase: float
    decrease: float
    freeze_s: float

    def start(self) -> None:
        self.waiting: deque[quiclab.Packet] = deque()
        self.probability = 0.0
        self.changed_s = self.free_s = 0.0

    def change(self, by: float, now_s: float) -> None:
        if now_s - self.changed_s > self.freeze_s:
            self.probability = min(max(self.probability + by, 0.0), 1.0)
            self.changed_s = now_s

    def enqueue(self, packet: quiclab.Packet, now_s: float) -> None:
        if not self.waiting and now_s > self.free_s:
            self.change(-self.decrease, now_s)
        if len(self.waiting) >= self.limit:
            self.change(self.increase, now_s)
            packet.drop()
        elif self.random.random() < self.probability and not packet.mark():
            packet.drop()
        else:
            self.waiting.append(packet)

    def dequeue(self, now_s: float) -> quiclab.Packet | None:
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        self.free_s = now_s + 8 * packet.size_bytes / (self.rate_bps or float("inf"))
        return packet
