"""What several figures of the paper measure in the same way."""

from typing import Any

IP_UDP = 28
"""Bytes of the headers of IPv4 and UDP."""


def quic_bytes(row: dict[str, Any], link: str, direction: str = "forward") -> float:
    """Bytes of QUIC packets that a link took to its far end in a run: the packets without their IP and UDP headers."""
    name = f"link.{link}.{direction}"
    return float(row[f"{name}.delivered_bytes"] - IP_UDP * row[f"{name}.delivered_packets"])
