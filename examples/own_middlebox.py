"""A middlebox in Python that drops acknowledgements.

quiclab run examples/dumbbell.toml --set node.left.kind=examples/own_middlebox.py:Thin
"""

import quiclab


class Thin(quiclab.Middlebox):
    """Drops every n-th packet without data; of QUIC these are acknowledgements, but for a few of the handshake."""

    options = {"every": 4}
    every: int

    def start(self) -> None:
        self.seen = 0

    def on_packet(self, packet: quiclab.Packet, now_s: float) -> None:
        self.seen += not packet.has_data
        if not packet.has_data and self.seen % self.every == 0:
            packet.drop()
        else:
            packet.send()
