"""The ways in which a client comes back, in the order of the paper, and what several figures measure of them."""

from typing import Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.values.units import number

NAMES = {
    "one_rtt": "QUIC",
    "zero_rtt": "QUIC, 0-RTT",
    "bdp_frame": "QUIC, BDP_FRAME",
    "bdp_frame_wide": "QUIC, BDP_FRAME, RTT up to ten times",
    "careful": "QUIC, RFC 9959",
    "bbr3": "BBRv3, 0-RTT",
    "careful_bbr3": "BBRv3, RFC 9959",
    "tcp": "TCP",
    "pep": "TCP, proxies",
    "pep_ten": "TCP, proxies that begin with ten segments",
}
COLOURS = {
    "one_rtt": style.BLUE,
    "zero_rtt": style.SKY,
    "bdp_frame": style.VERMILLION,
    "careful": style.ORANGE,
    "bbr3": style.GREY,
    "careful_bbr3": style.BLACK,
    "tcp": style.GREEN,
    "pep": style.PURPLE,
    "pep_ten": style.PALE,
}


def compared_with(name: str, basis: str) -> str | None:
    """The way that one is compared with: `basis`, or with BBRv3 the one of BBRv3; None for those that are a basis."""
    if name == "careful_bbr3":
        return "bbr3"
    return None if name in (basis, "bbr3") else basis


def way(row: dict[str, Any], flow: str = "get") -> str:
    """How the client of a run comes back. With a saved capacity that no RTT can confirm it is plain slow start."""
    if row.get(f"flow.{flow}.protocol") == "tcp":
        return "pep" if "pep" in row["node.terminal.kind"] else "tcp"
    resume = row["transport.resume"]
    plain = resume == "none" or "rtt_above = 1.0, rtt_most = 1.0 " in resume
    if row.get("transport.controller") == "bbr3":
        return "bbr3" if plain else "careful_bbr3"
    if plain:
        return "zero_rtt" if row.get(f"flow.{flow}.early_data", "true") == "true" else "one_rtt"
    if '"careful"' in resume:
        return "careful"
    return "bdp_frame_wide" if "rtt_most = 10.0" in resume else "bdp_frame"


def completion(row: dict[str, Any], connection: str = "get@2") -> float:
    """Seconds from the client's first packet to its last byte. Raises `Error` if the run ended before."""
    end = row[f"connection.{connection}.completion_s"]
    if end is None:
        raise Error(f"run {row['run']} is over before {connection} is; expected a longer duration")
    return float(end)


def rtt(scenario: dict[str, Any]) -> float:
    """The RTT in seconds over all links, without queues; a jitter in one direction adds its mean."""
    ways = [link[direction] for link in scenario["link"] for direction in ("forward", "backward")]
    jitters = [number(way["jitter"]["maximum"]) for way in ways if way["jitter"] != "none"]
    return sum(number(way["delay"]) for way in ways) + sum(jitters) / 2
