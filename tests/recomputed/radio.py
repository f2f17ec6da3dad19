"""The tables of link layers, by the standards and by the packets that came into a lane and left it."""

from collections import defaultdict
from typing import Any

from recomputed.network import NS, Line, ns
from recomputed.sheet import Sheet
from recomputed.sources import Case

BIN = NS // 10
# fmt: off
TBS_22 = (
    520, 1064, 1608, 2152, 2664, 3240, 3752, 4264, 4776, 5352, 5992, 6456, 6968, 7480, 7992, 8504, 9144, 9528, 10296,
    10680, 11448, 11832, 12576, 12960, 13536,
)
# fmt: on
"""3GPP TS 36.213 table 7.1.7.2.1-1: bits of a transport block of I_TBS 22, which is MCS 24, by its resource blocks."""
HEAD_80211 = 36
"""MAC header, LLC/SNAP and FCS."""


def block(case: Case, sheet: Sheet) -> None:
    """Blocks of a cell by 3GPP's table and HARQ; frames of a WLAN by the packets that clients sent."""
    rows = case.by("block", "link")
    if case.name == "cell":
        near = rows["air base near"]
        sheet.column(
            "block.bytes", [row["bytes"] for row in near], [TBS_22[row["resource_blocks"] - 1] // 8 for row in near]
        )
        sheet.column("block.mcs", [row["mcs"] for row in near], [24] * len(near))
        for link, found in rows.items():
            _slots(sheet, found)
            _attempts(sheet, found, 2)
            sheet.column("block.link", [row["link"] for row in found], [link] * len(found))
        sheet.column("block.link", sorted(rows), ["air base far", "air base near", "air far", "air near"])
    if case.name == "wlan":
        phone = rows["air phone"]
        received = [row for row in phone if row["fate"] == "received"]
        address = next(packet.source for packet in case.capture if packet.interface == 0)
        sizes = [packet.length for packet in case.capture if packet.source == address]
        wanted = [size + HEAD_80211 for size in sizes][: len(received)]
        sheet.column("block.bytes", [row["bytes"] for row in received], wanted)
        # 54 and 24 Mbit/s are the eighth and the fifth rate of 802.11g.
        sheet.column("block.mcs", [row["mcs"] for row in phone], [7] * len(phone))
        sheet.column("block.mcs", [row["mcs"] for row in rows["air laptop"]], [4] * len(rows["air laptop"]))
        sheet.column("block.resource_blocks", [row["resource_blocks"] for row in phone], [0] * len(phone))


def _slots(sheet: Sheet, rows: list[dict[str, Any]]) -> None:
    """A subframe has a millisecond and 25 resource blocks."""
    wanted = [round(row["time_s"] * 1000) / 1000 for row in rows]
    sheet.column("block.time_s", [row["time_s"] for row in rows], wanted)
    airtime = [row["airtime_us"] * 25 / 1000 for row in rows]
    sheet.column(
        "block.airtime_us", [row["airtime_us"] for row in rows], [row["resource_blocks"] * 40.0 for row in rows]
    )
    sheet.column("block.resource_blocks", [row["resource_blocks"] for row in rows], [round(share) for share in airtime])
    used: dict[float, int] = defaultdict(int)
    for row in rows:
        used[row["time_s"]] += row["resource_blocks"]
    assert max(used.values()) <= 25, "a subframe has 25 resource blocks"


def _attempts(sheet: Sheet, rows: list[dict[str, Any]], most: int) -> None:
    """What failed is sent once more with the same coding, 8 ms later or after that (TS 36.321)."""
    open_blocks: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    attempts, fates = [], []
    for row in rows:
        key = (row["bytes"], row["mcs"], row["resource_blocks"])
        ready = [time for time in open_blocks[key] if row["time_s"] - time > 0.0079]
        is_again = row["attempt"] > 1
        if is_again:
            assert ready, f"{row} repeats nothing that failed"
            open_blocks[key].remove(ready[0])
        attempts.append(2 if is_again else 1)
        if row["fate"] == "received":
            fates.append("received")
            continue
        fates.append("failed" if attempts[-1] < most else "lost")
        if attempts[-1] < most:
            open_blocks[key].append(row["time_s"])
    left = [time for times in open_blocks.values() for time in times]
    assert not left or min(left) > rows[-1]["time_s"] - 0.1, "what failed is sent again"
    sheet.column("block.attempt", [row["attempt"] for row in rows], attempts)
    sheet.column("block.fate", [row["fate"] for row in rows], fates)


def air(case: Case, sheet: Sheet) -> None:
    """Of a lane to a client: how many packets left it in a bin, and the sum of their delays there."""
    if case.name != "cell":
        return
    delays: dict[int, list[int]] = defaultdict(list)
    for came, left in _passages(case, "get"):
        delays[left // BIN].append(left - came)
    rows = case.by("air", "link")["air base near"]
    found = {ns(row["time_s"]) // BIN: row for row in rows}
    assert set(delays) <= set(found), "a bin with packets has a row"
    # What a client could not decipher has no number.
    dropped = [ns(time) // BIN for time, name, _ in case.ends["get", "client"].events if name == "packet_dropped"]
    for at, row in found.items():
        if at in dropped:
            continue
        spans = delays.get(at, [])
        parts = [row[f"{part}_delay_ms"] for part in ("queue", "access", "transfer", "order")]
        sheet.column("air.packets", [row["packets"]], [len(spans)])
        # A sum of four means is known: each of them is as certain as the others.
        mean = sum(spans) / len(spans) / 1e6 if spans else None
        whole = None if None in parts else sum(parts)
        for part in ("queue", "access", "transfer", "order"):
            sheet.column(f"air.{part}_delay_ms", [whole], [mean], by=1e-5)


def _passages(case: Case, flow: str) -> list[tuple[int, int]]:
    """When the packets of a server came to the base station, and when its client had them."""
    server, client = case.ends[flow, "server"], case.ends[flow, "client"]
    wire = Line(200.0, 1 << 40, ns(0.005), ns(case.run.summary["duration_s"]))
    others = [end for (name, side), end in case.ends.items() if side == "server"]
    departures = [(ns(time), length + 28, end.name) for end in others for time, length in end.datagrams()]
    departures.sort(key=lambda departure: departure[0])
    wire.replay([(time, size) for time, size, _ in departures], [], set())
    numbers: dict[int, int] = {}
    for (_, _, name), passed in zip(departures, wire.passed, strict=True):
        if name == server.name:
            numbers[len(numbers)] = passed.ends + wire.delay
    came = {}
    for packet in server.sent:
        came[packet.kind, packet.number] = numbers[packet.datagram]
    found = {}
    for packet in client.received:
        found[packet.datagram] = (came[packet.kind, packet.number], ns(packet.time))
    return list(found.values())
