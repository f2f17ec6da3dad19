"""The tables of the network: `queue`, `drop`, `rate`, `node`, `air`, `block`."""

from collections import defaultdict
from typing import Any

from recomputed.network import NS, Line, line, ns, sent
from recomputed.sheet import Sheet
from recomputed.sources import SIDES, Case

WIRED = ("lossy", "upload", "paced", "credit", "requests")
"""Scenarios of one link with first-in, first-out queues, which are replayed."""
DIRECTIONS = ("forward", "backward")
BIN = NS // 10


def _times(rows: list[dict[str, Any]]) -> list[float]:
    return [row["time_s"] for row in rows]


def queue(case: Case, sheet: Sheet) -> None:
    """Every change of a queue: what came, and what transmission took out."""
    if case.name not in WIRED:
        return
    rows = case.by("queue", "link")
    for direction in DIRECTIONS:
        found, wanted = rows.get(f"cell {direction}", []), line(case, direction).rows
        sheet.column("queue.time_s", _times(found), [time / NS for time, _, _ in wanted])
        sheet.column("queue.packets", [row["packets"] for row in found], [packets for _, packets, _ in wanted])
        sheet.column("queue.bytes", [row["bytes"] for row in found], [count for _, _, count in wanted])
    sheet.column("queue.link", sorted(rows), ["cell backward", "cell forward"])


def drop(case: Case, sheet: Sheet) -> None:
    """What did not fit, what was lost after its transmission, and what was too large."""
    if case.name in WIRED:
        rows = case.by("drop", "link")
        for direction in DIRECTIONS:
            one = line(case, direction)
            _drops(
                sheet,
                rows.get(f"cell {direction}", []),
                [(*packet, "queue") for packet in one.refused] + [(*packet, "loss") for packet in one.lost],
            )
        sheet.column("drop.link", sorted(rows), [name for name in ("cell backward", "cell forward") if name in rows])
    if case.name == "small":
        mtu = case.document["link"][0]["forward"]["mtu"]
        rows = {"": [row for row in case.rows("drop") if row["reason"] == "mtu"]}
        _drops(sheet, rows[""], [(*packet, "mtu") for packet in sent(case, "server") if packet[1] > mtu])


def _drops(sheet: Sheet, found: list[dict[str, Any]], wanted: list[tuple[int, int, str]]) -> None:
    wanted = sorted(wanted)
    found = sorted(found, key=lambda row: (row["time_s"], row["length_bytes"], row["reason"]))
    sheet.column("drop.time_s", _times(found), [time / NS for time, _, _ in wanted])
    sheet.column("drop.length_bytes", [row["length_bytes"] for row in found], [size for _, size, _ in wanted])
    sheet.column("drop.reason", [row["reason"] for row in found], [reason for _, _, reason in wanted])


def rate(case: Case, sheet: Sheet) -> None:
    """Bytes in bins: UDP payload that ends sent, IP packets that links delivered; and the capacity of each link."""
    if case.name not in WIRED:
        return
    rows = case.by("rate", "subject", "kind")
    for side in SIDES:
        _bins(sheet, rows["get " + side, "sent"], [(time, size - 28) for time, size in sent(case, side)])
    bins = -(-ns(case.run.summary["duration_s"]) // BIN)
    for direction in DIRECTIONS:
        one = line(case, direction)
        _bins(sheet, rows["cell " + direction, "delivered"], one.delivered)
        capacity = rows["cell " + direction, "capacity"]
        sheet.column("rate.time_s", _times(capacity), [at * BIN / NS for at in range(bins)])
        sheet.column("rate.mbps", [row["mbps"] for row in capacity], [one.rate] * bins)
    subjects = [*(f"cell {direction}" for direction in DIRECTIONS), *(f"get {side}" for side in SIDES)]
    sheet.column("rate.subject", sorted({subject for subject, _ in rows}), sorted(subjects))
    sheet.column("rate.kind", sorted({kind for _, kind in rows}), ["capacity", "delivered", "sent"])


def _bins(sheet: Sheet, found: list[dict[str, Any]], packets: list[tuple[int, int]]) -> None:
    sums: dict[int, int] = defaultdict(int)
    for time, size in packets:
        sums[time // BIN] += size
    wanted = range(min(sums), max(sums) + 1)
    sheet.column("rate.time_s", _times(found), [at * BIN / NS for at in wanted])
    sheet.column("rate.mbps", [row["mbps"] for row in found], [sums[at] * 8e3 / BIN for at in wanted])


def node(case: Case, sheet: Sheet) -> None:
    """The mappings of the NAT: none until a packet comes from inside, and none from when it forgets them."""
    if case.name != "boxes":
        return
    rows = case.rows("node")
    packets = sent(case, "client")
    home = Line(20.0, 1 << 40, ns(0.002), ns(1))
    arrivals = [time + home.span(size) + home.delay for time, size in packets[:1]]
    # The NAT takes 300 us and 100 ns a byte.
    first = arrivals[0] + 300_000 + 100 * packets[0][1]
    sheet.column("node.time_s", _times(rows)[:2], [first / NS, 0.3])
    after = [time for time, _ in packets if time > ns(0.3) - ns(0.003)]
    assert after[0] < ns(rows[2]["time_s"]) < after[0] + ns(0.02), "the next packet from inside makes a mapping"
    sheet.column("node.value", [row["value"] for row in rows], [1.0, 0.0, 1.0])
    sheet.column("node.gauge", [row["gauge"] for row in rows], ["mappings"] * 3)
    sheet.column("node.node", [row["node"] for row in rows], ["nat"] * 3)


LAYERED = ("cell", "wlan", "train")
"""Scenarios of a medium with a link layer."""


def air(case: Case, sheet: Sheet) -> None:
    """Bins of the blocks, and the delays of packets between what came into a lane and what left it."""
    if case.name not in LAYERED:
        return
    blocks: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in case.rows("block"):
        blocks[row["link"], ns(row["time_s"]) // BIN].append(row)
    rows = case.rows("air")
    for row in rows:
        inside = blocks.pop((row["link"], ns(row["time_s"]) // BIN), [])
        sheet.column("air.sent_blocks", [row["sent_blocks"]], [sum(one["attempt"] == 1 for one in inside)])
        sheet.column("air.again_blocks", [row["again_blocks"]], [sum(one["attempt"] > 1 for one in inside)])
        if case.name != "train":
            # A handover gives up blocks that are not on the air.
            sheet.column("air.lost_blocks", [row["lost_blocks"]], [sum(one["fate"] == "lost" for one in inside)])
        sheet.column("air.block_bytes", [row["block_bytes"]], [sum(one["bytes"] for one in inside)])
        sheet.column("air.air_share", [row["air_share"]], [sum(one["airtime_us"] for one in inside) * 1e3 / BIN])
    assert not blocks, "each block is in a bin"
    sheet.column("air.link", sorted({row["link"] for row in rows}), sorted({row["link"] for row in case.rows("block")}))
    sheet.column("air.time_s", _times(rows), [ns(row["time_s"]) // BIN * BIN / NS for row in rows])
    if case.name == "train":
        steps = [ns(float(time.split()[0])) for time, _ in case.document["medium"][0]["handover"]["steps"][1:]]
        wanted = [sum(time // BIN == ns(row["time_s"]) // BIN for time in steps) for row in rows]
        sheet.column("air.handovers", [row["handovers"] for row in rows], wanted)
