"""The tables of the transport: `connection`, `loss`, `event`, `packet`, `stream`, `gauge`."""

from itertools import pairwise
from typing import Any

from recomputed.recovery import Replay
from recomputed.sheet import Sheet
from recomputed.sources import OTHER, SIDES, Case, End, Packet

MSS = 1472
"""The largest datagram of the scenarios."""
REPLAYED = ("lossy", "upload")


def replays(case: Case) -> dict[str, Replay]:
    """RFC 9002 at both ends."""
    return {side: Replay(case.ends["get", side], MSS) for side in SIDES}


def connection(case: Case, sheet: Sheet) -> None:
    """The whole table by RFC 9002 and NewReno; the pacing rate by its equation, where there is pacing."""
    if case.name in REPLAYED:
        rows = case.by("connection", "connection", "side")
        for side, replay in replays(case).items():
            found = rows["get", side]
            for column in replay.rows[0]:
                # The endpoint counts whole nanoseconds and whole bits in a second.
                wanted = [row[column] for row in replay.rows]
                sheet.column(f"connection.{column}", [row[column] for row in found], wanted, 1e-9, by=2e-5)
            sheet.column("connection.pacing_rate_mbps", [row["pacing_rate_mbps"] for row in found], [None] * len(found))
        sheet.column("connection.connection", *_names(case.rows("connection"), {"get"}))
        sheet.column("connection.side", *_names(case.rows("connection"), set(SIDES), "side"))
    if case.name == "paced":
        ends = case.rows("connection")
        wanted = []
        for row in ends:
            threshold = row["ssthresh_bytes"]
            gain = 2.0 if threshold is None or row["cwnd_bytes"] < threshold else 1.25
            wanted.append(gain * row["cwnd_bytes"] * 8e-3 / row["smoothed_rtt_ms"])
        sheet.column("connection.pacing_rate_mbps", [row["pacing_rate_mbps"] for row in ends], wanted, 1e-5)


def _names(rows: list[dict[str, Any]], names: set[str], column: str = "connection") -> tuple[list[str], list[str]]:
    """A column of names that must have all of these and no others."""
    return sorted({row[column] for row in rows}), sorted(names)


def loss(case: Case, sheet: Sheet) -> None:
    """What RFC 9002 section 6.1 declares lost."""
    if case.name not in REPLAYED:
        return
    rows = case.by("loss", "side")
    columns = ("time_s", "connection", "kind", "number", "trigger")
    for side, replay in replays(case).items():
        silent = {(one.kind, one.number) for one in case.ends["get", side].sent if not one.is_in_flight}
        found = [tuple(row[key] for key in columns) for row in rows[side]]
        # Packets with acknowledgements alone may be declared lost, too.
        found = [row for row in found if (row[2], row[3]) not in silent]
        wanted = [(time, "get", kind, number, trigger) for time, kind, number, trigger in replay.lost]
        for at, column in enumerate(columns):
            sheet.column(f"loss.{column}", [row[at] for row in found], [row[at] for row in wanted], by=1e-7)
        sheet.column("loss.side", [row["side"] for row in rows[side]], [side] * len(rows[side]))


def packet(case: Case, sheet: Sheet) -> None:
    """What an end sent by its own log, what it received by the log of its peer, what it dropped by the capture."""
    rows = case.by("packet", "connection", "side", "direction")
    for (name, side), end in case.ends.items():
        peer = case.ends.get((name, OTHER[side]))
        if peer is None:
            continue
        sheet.column("packet.direction", ["sent" if rows[name, side, "sent"] else ""], ["sent"])
        _packets(sheet, rows[name, side, "sent"], [(one.time, one) for one in end.sent])
        sent = {(one.kind, one.number): one for one in peer.sent if one.number is not None}
        wanted = [(one.time, sent[one.kind, one.number]) for one in end.received if one.number is not None]
        found = [row for row in rows[name, side, "received"] if row["number"] is not None]
        _packets(sheet, found, wanted)
        sheet.column("packet.direction", [row["direction"] for row in found], ["received"] * len(wanted))
        sheet.column("packet.connection", [row["connection"] for row in found], [name] * len(wanted))
        sheet.column("packet.side", [row["side"] for row in found], [side] * len(wanted))


_FRAMES = {"ack": ("ACK", "ACK_ECN"), "datagram": ("DATAGRAM",)}


def _packets(sheet: Sheet, rows: list[dict[str, Any]], wanted: list[tuple[float, Packet]]) -> None:
    sheet.column("packet.time_s", [row["time_s"] for row in rows], [time for time, _ in wanted])
    for column, field in (("kind", "kind"), ("number", "number"), ("length_bytes", "length")):
        sheet.column(f"packet.{column}", [row[column] for row in rows], [getattr(one, field) for _, one in wanted])
    for row, (_, one) in zip(rows, wanted, strict=True):
        words = [word for word in row["frames"].split(",") if word]
        types = [frame["frame_type"] for frame in one.frames]
        names = [
            word if word in _FRAMES.get(kind, ()) else kind.upper() for word, kind in zip(words, types, strict=False)
        ]
        sheet.column("packet.frames", [",".join(words)], [",".join(names) if len(names) == len(types) else str(types)])


class Stream:
    """A stream by the STREAM frames of one direction at one end."""

    def __init__(self, packets: list[Packet], stream: int) -> None:
        self.ranges: list[tuple[int, int]] = []
        self.first: float | None = None
        self.whole: float | None = None
        self.size: int | None = None
        self.steps: list[tuple[float, int]] = []
        """When how many bytes were there without a gap."""
        for one in packets:
            for frame in one.of_type("stream"):
                if frame["stream_id"] == stream:
                    self.add(one.time, frame)

    def add(self, time: float, frame: dict[str, Any]) -> None:
        """Count a frame that came or went."""
        start = frame["offset"]
        end = start + frame["raw"]["length"]
        self.first = time if self.first is None else self.first
        self.size = end if frame.get("fin") else self.size
        before = self.reach
        self.ranges = merged([*self.ranges, (start, end)])
        if self.reach > before:
            self.steps.append((time, self.reach))
        if self.whole is None and self.size is not None and self.reach == self.size:
            self.whole = time

    @property
    def reach(self) -> int:
        """The bytes from the beginning without a gap."""
        return self.ranges[0][1] if self.ranges and self.ranges[0][0] == 0 else 0

    @property
    def top(self) -> int:
        """The end of the last byte."""
        return max((end for _, end in self.ranges), default=0)

    @property
    def has_gap(self) -> bool:
        """Whether something waits for data before it."""
        return self.top > self.reach

    def when(self, count: int) -> float | None:
        """When this many bytes were there without a gap."""
        return next((time for time, reach in self.steps if reach >= count), None)


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of ranges."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _acked(end: End, stream: int) -> float | None:
    """When all that an end sent on a stream, with its end, was acknowledged."""
    waiting = {
        (one.kind, one.number) for one in end.sent for frame in one.of_type("stream") if frame["stream_id"] == stream
    }
    whole = Stream(end.sent, stream)
    parts: list[tuple[int, int]] = []
    has_end = False
    by_number = {(one.kind, one.number): one for one in end.sent}
    for one in end.received:
        for frame in one.of_type("ack"):
            for part in frame["acked_ranges"]:
                for number in range(part[0], part[-1] + 1):
                    if (one.kind, number) in waiting:
                        waiting.discard((one.kind, number))
                        for sent in by_number[one.kind, number].of_type("stream"):
                            if sent["stream_id"] == stream:
                                parts.append((sent["offset"], sent["offset"] + sent["raw"]["length"]))
                                has_end = has_end or bool(sent.get("fin"))
        if has_end and merged(parts) == [(0, whole.size)]:
            return one.time
    return None


def stream(case: Case, sheet: Sheet) -> None:
    """Streams by the frames that each end sent and received."""
    rows = case.by("stream", "connection", "side")
    for (name, side), end in case.ends.items():
        found = rows.get((name, side), [])
        ids = sorted(
            {frame["stream_id"] for one in end.packets for frame in one.of_type("stream")}
            | {row["stream"] for row in found}
        )
        if case.name not in ("lossy", "upload", "credit", "paced", "several", "mix"):
            continue
        found = sorted(found, key=lambda row: row["stream"])
        start = min((one.time for one in end.sent if one.of_type("stream")), default=None)
        opened, closed, sent_bytes, received_bytes = [], [], [], []
        for number in ids:
            outward, inward = Stream(end.sent, number), Stream(end.received, number)
            is_own = (number & 1 == 0) == (side == "client")
            is_both = number & 2 == 0
            first = outward.first if is_own else inward.first
            # What an application opens before the end of the handshake is open when the limits of the peer are known.
            is_waiting = is_own and first == start
            opened.append(end.first("parameters_set", initiator="remote") if is_waiting else first)
            ends = [] if not is_own and not is_both else [_acked(end, number)]
            ends += [inward.whole] if is_both or not is_own else []
            is_closed = None not in ends
            closed.append(max(time for time in ends if time is not None) if is_closed else None)
            sent_bytes.append(outward.top if is_closed else None)
            received_bytes.append(inward.top if is_closed else None)
        sheet.column("stream.connection", [row["connection"] for row in found], [name] * len(ids))
        sheet.column("stream.side", [row["side"] for row in found], [side] * len(ids))
        sheet.column("stream.stream", [row["stream"] for row in found], ids)
        if case.name not in ("credit", "mix"):
            sheet.column("stream.opened_s", [row["opened_s"] for row in found], opened)
        sheet.column("stream.closed_s", [row["closed_s"] for row in found], closed)
        sheet.column("stream.sent_bytes", [row["sent_bytes"] for row in found], sent_bytes)
        sheet.column("stream.received_bytes", [row["received_bytes"] for row in found], received_bytes)


def gauge(case: Case, sheet: Sheet) -> None:
    """CUBIC by RFC 9438 sections 4.2 and 4.7, from the congestion windows of the table `connection`."""
    if case.name != "marked":
        return
    states = case.by("connection", "side")["server"]
    rows = case.by("gauge", "side")["server"]
    times: dict[float, dict[str, float]] = {}
    for row in rows:
        times.setdefault(row["time_s"], {})[row["gauge"]] = row["value"]
    thresholds = {row["time_s"]: row["ssthresh_bytes"] for row in states}
    last: float | None = None
    w_max: float | None = None
    for time, values in times.items():
        epoch = values["cubic_epoch_s"]
        if epoch != last:
            last = epoch
            before = _before_reduction(states, epoch)
            w_max = before * 0.85 if w_max is not None and before < w_max else before
            at_epoch = thresholds[time]
        assert w_max is not None
        k = ((w_max - at_epoch) / MSS / 0.4) ** (1 / 3)
        sheet.column("gauge.value", [values["cubic_w_max_bytes"], values["cubic_k_s"]], [w_max, k], 1e-3)
        sheet.column("gauge.time_s", [time], [time if time in thresholds else -1.0])
    sheet.column(
        "gauge.gauge",
        sorted({row["gauge"] for row in rows}),
        ["cubic_epoch_s", "cubic_k_s", "cubic_w_est_bytes", "cubic_w_max_bytes"],
    )
    sheet.column("gauge.connection", *_names(rows, {"get"}))
    sheet.column("gauge.side", *_names(rows, {"server"}, "side"))


def _before_reduction(states: list[dict[str, Any]], until: float) -> int:
    """The congestion window before the last change of the slow start threshold up to a time."""
    pairs = [pair for pair in pairwise(states) if pair[1]["time_s"] <= until]
    windows = [old["cwnd_bytes"] for old, new in pairs if old["ssthresh_bytes"] != new["ssthresh_bytes"]]
    return int(windows[-1])
