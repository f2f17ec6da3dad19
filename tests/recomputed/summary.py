"""The summary of a run, of bulk transfers, and of links, from packets."""

import math
from typing import Any

import quiclab
from recomputed.carriers import DIRECTIONS, WIRED
from recomputed.network import Line, line
from recomputed.sheet import Sheet
from recomputed.sources import OTHER, SIDES, Case
from recomputed.transport import REPLAYED, Stream, replays

HISTOGRAM = 1 / 32
"""The accuracy of quantiles: the width of a bucket (docs/results.md)."""
ACK = 62
"""Bytes of an IP packet with an acknowledgement of one range, to a few bytes."""


def quantile(values: list[float], share: float) -> float:
    """The value that this share does not exceed."""
    return sorted(values)[max(math.ceil(len(values) * share), 1) - 1]


def mean(values: list[float]) -> float | None:
    """The mean, or nothing of nothing."""
    return sum(values) / len(values) if values else None


class Keys:
    """Compares the keys of one entry of the summary."""

    def __init__(self, sheet: Sheet, place: str, entry: dict[str, Any]) -> None:
        self.sheet, self.place, self.entry = sheet, place, entry

    def __call__(self, wanted: dict[str, Any], within: float = 1e-9) -> None:
        """Compare some of its keys."""
        for key, value in wanted.items():
            self.sheet.key(f"{self.place}.{key}", self.entry[key], value, within)


def run(case: Case, sheet: Sheet) -> None:
    """The run itself."""
    summary = case.run.summary
    ends = [time for end in case.ends.values() for time, *_ in end.events[-1:]]
    keys = Keys(sheet, "run", summary)
    keys({"scenario": case.document["name"], "seed": case.document["seed"], "version": quiclab.__version__})
    if case.name in WIRED:
        keys({"duration_s": max(ends)})
    if case.name == "moved":
        # Neither end's peer has them, and no carrier dropped them.
        keys({"dropped_at_interfaces": _vanished(case)})


def _vanished(case: Case) -> int:
    """Datagrams that were sent and neither received nor dropped by a carrier, nor on the way at the end."""
    count = -len(case.rows("drop"))
    for side in SIDES:
        end, peer = case.ends["get", side], case.ends["get", OTHER[side]]
        count += len(end.datagrams()) - len(peer.datagrams(is_sent=False))
    under_way: int = sum(entry["inside_packets"] for entry in case.run.summary["links"])
    return count - under_way


def connections(case: Case, sheet: Sheet) -> None:
    """A bulk transfer over QUIC, by the streams, the packets and the replay of RFC 9002."""
    if case.name not in (*WIRED, "reordered") or case.name == "requests":
        return
    entry = case.connection("get")
    keys = Keys(sheet, "connections", entry)
    sender = "client" if case.flow("get")["application"]["direction"] == "upload" else "server"
    end, peer = case.ends["get", sender], case.ends["get", OTHER[sender]]
    ids = sorted({frame["stream_id"] for one in end.sent for frame in one.of_type("stream")})
    came = [Stream(peer.received, number) for number in ids]
    outward = [Stream(end.sent, number) for number in ids]
    whole = max(one.whole or math.inf for one in came)
    first = min(one.when(1) or math.inf for one in came)
    size = sum(one.top for one in came)
    copies = sum(frame["raw"]["length"] for one in end.sent for frame in one.of_type("stream"))
    silent = [one for one in peer.sent if {frame["frame_type"] for frame in one.frames} <= {"ack", "padding"}]
    keys(
        {
            "name": "get",
            "sender": sender,
            "completed": True,
            "completion_s": whole,
            "first_byte_s": first,
            "delivered_bytes": size,
            "goodput_mbps": size * 8e-6 / whole,
            "packets_sent": len(end.sent),
            "return_packets_sent": len(peer.sent),
            "data_packets_sent": sum(bool(one.of_type("stream")) for one in end.sent),
            # Those that the receiver of the data sent.
            "ack_only_packets_received": len(silent),
            "retransmitted_bytes": copies - sum(one.top for one in outward),
            "packets_declared_lost": sum(row["side"] == sender for row in case.rows("loss")),
            "close": "closed by the application here (0: done)",
            "clean": True,
        }
    )
    if case.name in WIRED:
        _network(case, keys, sender)
    if case.name in (*REPLAYED, "reordered"):
        replay = replays(case)[sender]
        keys({"probe_timeouts": len(replay.probes), "packets_spuriously_lost": replay.spurious})
        keys({"rtt_mean_ms": (mean(replay.samples) or 0.0) * 1e3, "cwnd_bytes": int(replay.window)}, 1e-5)
        keys({"rtt_p95_ms": quantile(replay.samples, 0.95) * 1e3}, HISTOGRAM)


def _network(case: Case, keys: Keys, sender: str) -> None:
    data, back = ("forward", "backward") if sender == "server" else ("backward", "forward")
    lines = {direction: line(case, direction) for direction in DIRECTIONS}
    lost = {direction: len(one.refused) + len(one.lost) for direction, one in lines.items()}
    keys({"packets_lost": lost[data], "return_packets_lost": lost[back], "bottleneck": f"cell {data}"})
    spans = lines[data].span(1500) + lines[back].span(ACK) + 2 * lines[data].delay
    keys({"path_rtt_ms": spans / 1e6}, 2e-3)
    route = Keys(keys.sheet, "connections.route", keys.entry["route"])
    route({"there": ["cell backward"], "back": ["cell forward"], "nodes": ["client", "server"]})


def integral(rows: list[tuple[int, int, int]], end: int) -> tuple[float, float]:
    """The means of packets and bytes over the run, of a series that starts with none."""
    packets = held = at = 0
    sums = [0, 0]
    for time, count, size in [*rows, (end, 0, 0)]:
        sums[0] += packets * (time - at)
        sums[1] += held * (time - at)
        packets, held, at = count, size, time
    return sums[0] / end, sums[1] / end


def links(case: Case, sheet: Sheet) -> None:
    """Each direction of the link, by the replay of its queue."""
    if case.name not in WIRED:
        return
    for entry in case.run.summary["links"]:
        one = line(case, entry["direction"])
        keys = Keys(sheet, "links", entry)
        means = integral(one.rows, one.end)
        waits = [(packet.begins - packet.came) / 1e6 for packet in one.passed if packet.begins <= one.end]
        busy = sum(max(min(packet.ends, one.end) - packet.begins, 0) for packet in one.passed)
        dropped = len(one.refused) + len(one.lost)
        keys(
            {
                "name": "cell",
                "queue_mean_packets": means[0],
                "queue_mean_bytes": means[1],
                "queue_max_packets": max(packets for _, packets, _ in one.rows),
                "queue_max_bytes": max(size for _, _, size in one.rows),
                "utilisation": busy / one.end,
                "delivered_packets": len(one.delivered),
                "delivered_bytes": sum(size for _, size in one.delivered),
                "marked_packets": 0,
                "corrupted": 0,
                "duplicated": 0,
                "queue_delay_mean_ms": mean(waits),
                "l4s_delay_mean_ms": None,
                "l4s_delay_p99_ms": None,
            },
            1e-6,
        )
        keys({"direction": entry["direction"] if entry["direction"] in DIRECTIONS else ""})
        keys({"queue_delay_p50_ms": quantile(waits, 0.5), "queue_delay_p99_ms": quantile(waits, 0.99)}, HISTOGRAM)
        arrived = len(one.passed) + len(one.refused) + _waiting(one)
        keys({"offered_packets": arrived, "inside_packets": arrived - len(one.delivered) - dropped})
        drops = Keys(sheet, "links.drops", entry["drops"])
        drops({"queue": len(one.refused), "loss": len(one.lost), "mtu": 0})


def _waiting(one: Line) -> int:
    """The packets that wait at the end."""
    return one.rows[-1][1] if one.rows else 0
