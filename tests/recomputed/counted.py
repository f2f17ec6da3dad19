"""The summary of media, servers, middleboxes, cross traffic and applications, from computed tables and packets."""

import math
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from recomputed.applications import seconds
from recomputed.network import NS, ns
from recomputed.sheet import Sheet
from recomputed.sources import Case
from recomputed.summary import HISTOGRAM, Keys, integral, mean, quantile
from recomputed.transport import Stream

PERCENTILES = (5, 25, 50, 75, 95, 99)


def end_of(case: Case) -> int:
    """The end of the run."""
    return max(ns(time) for end in case.ends.values() for time, *_ in end.events[-1:])


def _queue(case: Case, label: str) -> list[tuple[int, int, int]]:
    rows = case.by("queue", "link").get(label, [])
    return [(ns(row["time_s"]), row["packets"], row["bytes"]) for row in rows]


def _queue_keys(case: Case, keys: Keys, label: str) -> None:
    """The queue of a carrier by its table, and the packets that it delivered by the bins of their rate."""
    rows = _queue(case, label)
    means = integral(rows, end_of(case))
    keys(
        {
            "queue_mean_packets": means[0],
            "queue_mean_bytes": means[1],
            "queue_max_packets": max((packets for _, packets, _ in rows), default=0),
            "queue_max_bytes": max((size for _, _, size in rows), default=0),
        },
        1e-5,
    )
    bins = [row["mbps"] for row in case.rows("rate") if row["subject"] == label and row["kind"] == "delivered"]
    keys({"delivered_bytes": round(sum(bins) * 1e5 / 8)})
    drops = case.by("drop", "link", "reason")
    dropped = Keys(keys.sheet, f"{keys.place}.drops", keys.entry["drops"])
    dropped({reason: len(drops.get((label, reason), [])) for reason in ("queue", "loss", "mtu")})
    # Little's law: the mean queue is the rate of packets times their mean delay.
    delay, packets = keys.entry["queue_delay_mean_ms"], keys.entry["offered_packets"] - keys.entry["drops"]["queue"]
    air = keys.entry.get("air", {})
    if case.name == "wlan":
        # Here a packet that waits for the medium has left the queue of the table.
        keys({"queue_delay_mean_ms": air["queue_delay_mean_ms"] + air["access_delay_mean_ms"]}, 0.02)
    elif delay is not None and packets:
        wanted = means[0] * end_of(case) / 1e6 / packets
        keys({"queue_delay_mean_ms": wanted}, 0.02)
    if case.name in ("boxes", "shared"):
        spans = waits(rows, packets)
        keys({f"queue_delay_p{share}_ms": quantile(spans, share / 100) for share in (50, 99)}, HISTOGRAM)


def altered(case: Case, sheet: Sheet) -> None:
    """Copies and damaged packets by the capture; marks by its ECN field; sizes by the table `drop`."""
    forward = Keys(sheet, "links", case.run.summary["links"][0])
    if case.name == "altered":
        client = case.capture[0].source
        payloads = [packet.payload for packet in case.capture if packet.source != client]
        forward({"duplicated": len(payloads) - len(set(payloads))})
        broken = [data for _, name, data in case.ends["get", "client"].events if name == "packet_dropped"]
        forward({"corrupted": sum(data["trigger"] != "duplicate" for data in broken)})
    if case.name == "small":
        drops = Keys(sheet, "links.drops", case.run.summary["links"][0]["drops"])
        drops({"mtu": sum(row["reason"] == "mtu" for row in case.rows("drop"))})
    if case.name in ("marked", "l4s"):
        client = case.capture[0].source
        marks = [packet.ecn for packet in case.capture if packet.source != client]
        forward({"marked_packets": marks.count(3)})
    if case.name == "l4s":
        # All packets of the server are ECT(1) or CE: what all wait, they do.
        assert set(marks) <= {1, 3}, set(marks)
        entry = forward.entry
        forward({"l4s_delay_mean_ms": entry["queue_delay_mean_ms"], "l4s_delay_p99_ms": entry["queue_delay_p99_ms"]})
        rows = _queue(case, "cell forward")
        packets = entry["offered_packets"] - entry["drops"]["queue"]
        forward({"queue_delay_mean_ms": integral(rows, end_of(case))[0] * end_of(case) / 1e6 / packets}, 0.01)


def media(case: Case, sheet: Sheet) -> None:
    """Lanes by the tables `queue`, `block` and `air`, and by the capture at their clients."""
    if case.name not in ("cell", "wlan", "train", "shared"):
        return
    blocks, bins = case.by("block", "link"), case.by("air", "link")
    for entry in case.run.summary["media"]:
        keys = Keys(sheet, "media", entry)
        to = f" {entry['to']}" if "to" in entry else ""
        label = f"air {entry['attachment']}{to}"
        keys({"name": "air", "attachment": label.split()[1]})
        if to:
            keys({"to": label.split()[2]})
        _queue_keys(case, keys, label)
        if entry["attachment"] != "base":
            flow = next(flow["name"] for flow in case.document["flow"] if flow["client"] == entry["attachment"])
            keys({"offered_packets": len(case.ends[flow, "client"].datagrams())})
        inside = entry["offered_packets"] - entry["delivered_packets"] - sum(entry["drops"].values())
        keys({"inside_packets": inside, "marked_packets": 0, "corrupted": 0, "duplicated": 0})
        keys({"l4s_delay_mean_ms": None, "l4s_delay_p99_ms": None})
        if "air" in entry:
            _air(case, Keys(sheet, "media.air", entry["air"]), keys, blocks[label], bins[label])
    _received(case, sheet)
    if case.name == "cell":
        for name, data, back in (("get", "air base near", "air near"), ("put", "air far", "air base far")):
            lanes = Keys(sheet, "connections.lanes", case.connection(name)["lanes"])
            lanes({"data": [data], "back": [back]})


def _air(case: Case, keys: Keys, lane: Keys, blocks: list[dict[str, Any]], bins: list[dict[str, Any]]) -> None:
    end = end_of(case)
    again = sum(row["attempt"] > 1 for row in blocks)
    share = sum(row["airtime_us"] for row in blocks) * 1e3 / end
    keys({"sent_blocks": len(blocks) - again, "again_blocks": again})
    keys({"handovers": sum(row["handovers"] for row in bins), "lost_blocks": sum(row["lost_blocks"] for row in bins)})
    # A block in the air at the end is in the share, but has no row.
    keys({"air_share": share}, 0.01)
    lane({"utilisation": share}, 0.01)
    packets = sum(row["packets"] for row in bins)
    if case.name != "train":
        # At the end of a run that a stop ends, one may be delivered and not be recorded.
        lane({"delivered_packets": packets})
    for part in ("queue", "access", "transfer", "order") if case.name != "train" else ():
        total = sum(row["packets"] * (row[f"{part}_delay_ms"] or 0.0) for row in bins)
        keys({f"{part}_delay_mean_ms": total / packets}, 1e-5)


def _address(case: Case, flow: str) -> bytes:
    """The address of the client of a flow."""
    started = next(data for _, name, data in case.ends[flow, "client"].events if name == "connection_started")
    return bytes(int(part) for part in started["local"]["ip_v4"].split("."))


def waits(rows: list[tuple[int, int, int]], packets: int) -> list[float]:
    """How long each of this many packets waited in a first-in, first-out queue, in ms."""
    came: deque[int] = deque()
    found: list[float] = []
    before = 0
    for time, count, _ in rows:
        if count > before:
            came.append(time)
        else:
            found.append((time - came.popleft()) / 1e6)
        before = count
    return [0.0] * (packets - len(found) - len(came)) + found


def _received(case: Case, sheet: Sheet) -> None:
    """What attachments received: at a client by the capture, at the base station what its clients' lanes delivered."""
    entries = case.run.summary["media"]
    for entry in entries:
        name = entry["attachment"]
        if "received_packets" not in entry:
            continue
        if name == "base":
            inward = [other for other in entries if other["attachment"] != "base"]
            wanted = sum(one["delivered_packets"] for one in inward), sum(one["delivered_bytes"] for one in inward)
        else:
            flow = next(flow["name"] for flow in case.document["flow"] if flow["client"] == name)
            packets = [one for one in case.capture if one.target == _address(case, flow)]
            wanted = len(packets), sum(one.length for one in packets)
        Keys(sheet, "media", entry)({"received_packets": wanted[0], "received_bytes": wanted[1]})


def nodes(case: Case, sheet: Sheet) -> None:
    """Middleboxes, servers of packets, and cross traffic."""
    if case.name == "boxes":
        _boxes(case, sheet)
    if case.name == "spaced":
        box = Keys(sheet, "nodes", case.run.summary["nodes"][0])
        delays = [row["value"] for row in case.rows("node") if row["gauge"] == "ack_delay_ms"]
        client = case.capture[0].source
        still = case.run.summary["links"][1]["inside_packets"]
        came = sum(one.source == client for one in case.capture) - still
        least = case.document["node"][1]["kind"]["ack_only_size"]
        short = [size for _, size in case.ends["get", "client"].datagrams() if size <= least]
        box({"name": "box", "kind": "ack-pacer", "uplink_packets": came})
        box({"delayed_packets": sum(value > 0 for value in delays), "delayed_ms": int(sum(delays))}, 0.01)
        # The box does not see into packets: it takes short ones for acknowledgements.
        box({"ack_only_packets": len(short) - still})


def _boxes(case: Case, sheet: Sheet) -> None:
    summary = case.run.summary
    drops = case.by("drop", "link")
    values = [row["value"] for row in case.rows("node")]
    steps = [after - before for before, after in pairwise([0.0, *values])]
    links = {(one["name"], one["direction"]): one for one in summary["links"]}
    box = Keys(sheet, "nodes", summary["nodes"][0])
    box(
        {
            "name": "nat",
            "kind": "nat",
            "mappings_made": steps.count(1.0),
            "mappings_forgotten": steps.count(-1.0),
            "unsolicited_packets": len(drops["nat"]),
            "refused_packets": 0,
            "untranslatable_packets": 0,
            # What the NAT sent on.
            "outward_packets": links["line", "backward"]["offered_packets"],
            "inward_packets": links["home", "forward"]["offered_packets"],
        }
    )
    noise = Keys(sheet, "cross_traffic", summary["cross_traffic"][0])
    source = case.document["cross_traffic"][0]["source"]
    count = int(min(end_of(case) / NS, 0.9) / seconds(source["gap"]))
    lost = sum(row["length_bytes"] == source["size"] + 28 for rows in drops.values() for row in rows)
    noise({"name": "noise", "packets_sent": count, "sent_bytes": count * source["size"], "packets_lost": lost})
    route = Keys(sheet, "cross_traffic.route", noise.entry["route"])
    route({"there": ["line forward", "home forward"], "nodes": ["server", "nat", "client"]})
    server = Keys(sheet, "processing", summary["processing"][0])
    _queue_keys(case, server, "nat processing")
    entry = server.entry
    arrived = links["home", "backward"]["delivered_packets"] + links["line", "forward"]["delivered_packets"]
    delivered = len(drops["nat"]) + box.entry["outward_packets"] + box.entry["inward_packets"]
    server({"name": "nat", "offered_packets": arrived, "delivered_packets": delivered})
    server({"inside_packets": arrived - delivered - len(drops["nat processing"])})
    server({"marked_packets": 0, "corrupted": 0, "duplicated": 0, "l4s_delay_mean_ms": None, "l4s_delay_p99_ms": None})
    # 300 us for a packet and 100 ns for a byte.
    server({"utilisation": (delivered * 300e-6 + entry["delivered_bytes"] * 100e-9) * NS / end_of(case)}, 1e-3)
    connection = Keys(sheet, "connections", case.connection("get"))
    connection({"bottleneck": "nat processing"})
    connection({"packets_lost": _lost_data(drops) - lost}, 0.3)


def _lost_data(drops: dict[str, list[dict[str, Any]]]) -> int:
    return sum(len(rows) for rows in drops.values())


def tallied(keys: Keys, delays: list[float], number: int, misses: int | None) -> None:
    """A list of things that an application waits for; the delays are in ms."""
    keys(
        {
            "number": number,
            "completed": len(delays),
            "missing": number - len(delays),
            "delay_mean_ms": mean(delays),
            "delay_max_ms": max(delays),
            "deadline_misses": misses,
        },
        1e-6,
    )
    keys({f"delay_p{share}_ms": quantile(delays, share / 100) for share in PERCENTILES}, HISTOGRAM)


def applications(case: Case, sheet: Sheet) -> None:
    """Messages, requests, streams, parts, pages."""
    entry = case.connection("get") if case.name not in ("several", "origins", "cell", "wlan") else {}
    if case.name in ("messages", "datagrams", "mix"):
        rows = case.rows("message")
        delays = [row["delay_ms"] for row in rows if row["delay_ms"] is not None]
        late = sum(row["missed"] is not False for row in rows) if case.name != "mix" else None
        place, inside = (
            ("connections.messages", entry)
            if case.name != "mix"
            else ("connections.parts.messages.messages", entry["parts"]["messages"])
        )
        tallied(Keys(sheet, place, inside["messages"]), delays, len(rows), late)
    if case.name == "mix":
        _parts(case, sheet, entry)
    if case.name in ("requests", "credit"):
        what = "requests" if case.name == "requests" else "streams"
        client = case.ends["get", "client"]
        ids = sorted({frame["stream_id"] for one in client.sent for frame in one.of_type("stream")})
        spans = []
        for number in ids:
            outward, inward = Stream(client.sent, number), Stream(client.received, number)
            start = outward.first if what == "requests" else 0.0
            assert start is not None and inward.whole is not None
            spans.append((inward.whole - start) * 1e3)
        if what == "requests":
            tallied(Keys(sheet, "connections.requests", entry[what]), spans, len(ids), None)
        else:
            # They are open when the limits of the peer are known.
            asked = client.first("parameters_set", initiator="remote") or 0.0
            tallied(
                Keys(sheet, "connections.streams", entry[what]), [span - asked * 1e3 for span in spans], len(ids), None
            )
    if case.name == "page":
        _page(case, sheet, entry)


def _parts(case: Case, sheet: Sheet, entry: dict[str, Any]) -> None:
    client = case.ends["get", "client"]
    down = Stream(client.received, 0)
    bulk = Keys(sheet, "connections.parts.bulk", entry["parts"]["bulk"])
    bulk({"completed": True, "completion_s": down.whole, "delivered_bytes": down.top})
    rows = case.rows("message")
    last = max(row["delivered_s"] for row in rows)
    words = Keys(sheet, "connections.parts.messages", entry["parts"]["messages"])
    words({"completed": True, "completion_s": last, "delivered_bytes": sum(row["bytes"] for row in rows)})
    whole = Keys(sheet, "connections", entry)
    whole(
        {"completion_s": max(last, down.whole or 0.0), "delivered_bytes": down.top + sum(row["bytes"] for row in rows)}
    )


def _page(case: Case, sheet: Sheet, entry: dict[str, Any]) -> None:
    rows = case.rows("object")
    keys = Keys(sheet, "connections.page", entry["page"])
    # The byte index: when a byte of the page is there, as a mean over its bytes.
    client = case.ends["get", "client"]
    area = total = 0.0
    for row in rows:
        read = Stream(client.received, row["stream"])
        assert read.size is not None
        head, before = read.size - row["size_bytes"], 0
        for time, reach in read.steps:
            area += time * max(reach - head - before, 0)
            before = max(reach - head, before)
        total += row["size_bytes"]
    load = max(row["complete_s"] for row in rows)
    spans = [row["complete_s"] - row["wanted_s"] for row in rows]
    keys({"pages": 1, "pages_complete": 1, "objects": len(rows), "objects_complete": len(rows)})
    keys({"load_mean_s": load, "load_max_s": load, "object_mean_s": mean(spans), "byte_index_mean_s": area / total})


def several(case: Case, sheet: Sheet) -> None:
    """Flows that start late, stop early, or follow another; and the origins of a page."""
    if case.name == "several":
        first = Keys(sheet, "connections", case.connection("first"))
        client = case.ends["first", "client"]
        # Over its own time, which is up to its stop, or to the last byte that was still on the way.
        read = Stream([one for one in client.received if one.time <= 1.5], 0)
        first({"completed": False, "completion_s": None})
        first({"goodput_mbps": read.reach * 8e-6 / 1.5, "delivered_bytes": read.reach}, 1e-3)
        late = Keys(sheet, "connections", case.connection("late"))
        read = Stream(case.ends["late", "client"].received, 0)
        span = (read.whole or 0.0) - seconds(case.flow("late")["start"])
        late(
            {"completion_s": span, "first_byte_s": (read.when(1) or 0.0) - 0.7, "goodput_mbps": read.top * 8e-6 / span}
        )
        following = Keys(sheet, "connections", case.connection("next"))
        following({"start_s": case.ends["next", "client"].packets[0].time, "sender": "client"})
    if case.name == "origins":
        for name in ("cdn", "ads"):
            keys = Keys(sheet, "connections", case.connection(name))
            keys({"of": "page", "start_s": case.ends[name, "client"].packets[0].time})


def known(case: Case, sheet: Sheet) -> None:
    """What the server knows of the path at the end: by its connection that measured it."""
    if case.name != "known":
        return
    (entry,) = [one for one in case.run.summary["memory"] if one["node"] == "server"]
    keys = Keys(sheet, "memory", entry)
    # The memory is that of the first connection: its minimum RTT, and the most that it delivered in one.
    rows = case.by("connection", "connection", "side")["get", "server"]
    rates = [row["delivery_rate_mbps"] for row in rows if row["delivery_rate_mbps"] is not None]
    keys({"node": "server", "peer": "client", "protocol": "quic", "ip": 4})
    keys({"rtt_ms": min(row["min_rtt_ms"] for row in rows)})
    keys({"capacity_bytes": max(rates) * 1e3 / 8 * entry["rtt_ms"]}, 0.02)
    # What the second connection, which is short, measures does not lower it.
    keys({"age_s": end_of(case) / NS - rows[-1]["time_s"]}, 1e-3)


def played(case: Case, sheet: Sheet) -> None:
    """A playback by its events and its downloads: docs/model/abr.md."""
    if case.name not in ("film", "live"):
        return
    entry = case.connection("get")["playback"]
    keys = Keys(sheet, "connections.playback", entry)
    rows, downloads = case.rows("playback"), [row for row in case.rows("segment") if row["kind"] == "video"]
    start, end = rows[0]["time_s"], rows[-1]["time_s"]
    spans: dict[str, float] = {"played": 0.0, "stall": 0.0, "seek": 0.0}
    for row, after in pairwise(rows):
        word = "played" if row["playback_rate"] > 0 else row["event"]
        spans[word] += after["time_s"] - row["time_s"]
    shown = _shown(rows, {row["segment"]: row for row in downloads if row["outcome"] == "complete"})
    rates = [row["bitrate_mbps"] for row, _ in shown]
    changes = [abs(after - before) for before, after in pairwise(rates) if after != before]
    stopped = spans["stall"] + spans["seek"]
    keys(
        {
            "start_up_s": start,
            "end_s": end,
            "played_s": spans["played"],
            "stalled_s": spans["stall"],
            "seeking_s": spans["seek"],
            "missing_s": 0.0,
            "stalls": sum(row["event"] == "stall" for row in rows),
            "stall_ratio": spans["stall"] / (end - start),
            "standing_ratio": (start + stopped) / end,
            "segments_played": len(shown),
            "bitrate_mean_mbps": mean(rates),
            "bitrate_time_mean_mbps": sum(row["bitrate_mbps"] * span for row, span in shown)
            / sum(span for _, span in shown),
            "switches": len(changes),
            "switch_mean_mbps": mean(changes),
            "abandoned": sum(row["outcome"] == "abandoned" for row in downloads),
            "cut": 0,
            "wasted_bytes": sum(row["received_bytes"] for row in case.rows("segment") if row["outcome"] != "complete"),
        },
        1e-5,
    )
    lowest = min(_bitrates(case))
    scales: dict[str, tuple[Callable[[float], float], float]] = {
        "lin": (lambda rate: rate, 4.3),
        "log": (lambda rate: math.log(rate / lowest), 2.66),
        "hd": (_high_definition, 8.0),
    }
    for name, (quality, per_stall) in scales.items():
        values = [quality(rate) for rate in rates]
        total = sum(values) - per_stall * spans["stall"] - sum(abs(b - a) for a, b in pairwise(values))
        keys({f"qoe_{name}": total / len(values)}, 1e-5)
    if case.name == "live":
        _latency(keys, rows)


def _bitrates(case: Case) -> list[float]:
    texts = case.flow("get")["application"]["presentation"]["bitrates"]
    return [float(text.split()[0]) * (1e-3 if "kbit" in text else 1.0) for text in texts]


def _shown(rows: list[dict[str, Any]], complete: dict[int, dict[str, Any]]) -> list[tuple[dict[str, Any], float]]:
    """The segments that were played, with for how much of their media."""
    found: dict[int, float] = {}
    for row, after in pairwise(rows):
        at, rate = row["position_s"], row["playback_rate"]
        last = at + rate * (after["time_s"] - row["time_s"])
        while rate > 0 and at < last - 1e-6:
            number = int((at + 1e-6) // 3)
            until = min(last, 3.0 * (number + 1))
            found[number] = found.get(number, 0.0) + until - at
            at = until
    return [(complete[number], span) for number, span in found.items()]


def _high_definition(rate: float) -> float:
    points = [(0.0, 0.0), (0.3, 1.0), (0.75, 2.0), (1.2, 3.0), (1.85, 12.0), (2.85, 15.0), (4.3, 20.0)]
    for (low, one), (high, other) in pairwise(points):
        if rate <= high:
            return one + (other - one) * (rate - low) / (high - low)
    return 20.0


def _latency(keys: Keys, rows: list[dict[str, Any]]) -> None:
    """It changes linearly between two events: its mean and percentiles over time, by steps of a millisecond."""
    samples = []
    for row, after in pairwise(rows):
        steps = max(round((after["time_s"] - row["time_s"]) * 1000), 1)
        slope = (after["latency_s"] - row["latency_s"]) / steps
        samples += [row["latency_s"] + slope * (at + 0.5) for at in range(steps)]
    keys({"latency_mean_s": mean(samples)}, 1e-3)
    keys({"latency_p50_s": quantile(samples, 0.5), "latency_p95_s": quantile(samples, 0.95)}, HISTOGRAM)
