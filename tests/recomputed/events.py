"""The tables `event` and `wait`."""

from collections import defaultdict
from itertools import pairwise
from typing import Any

from recomputed.recovery import Replay
from recomputed.sheet import Sheet
from recomputed.sources import OTHER, Case, End
from recomputed.transport import MSS, REPLAYED, Stream

Row = tuple[float, str, str]


def _parameters(data: dict[str, Any]) -> str:
    values = {key: value for key, value in data.items() if key != "initiator"}
    return " ".join(f"{key}={int(value)}" for key, value in values.items())


def _address(data: dict[str, Any]) -> str:
    return f"{data['ip_v4']}:{data['port_v4']}"


def _events(end: End, peer: End) -> list[Row]:
    """The rows of an end, by its log; what it says of its peer, by the peer's."""
    theirs = next(data for _, name, data in peer.events if name == "parameters_set" and data["initiator"] == "local")
    found: list[Row] = []
    for time, name, data in end.events:
        match name:
            case "connection_started":
                text = f"local {_address(data['local'])} remote {_address(data['remote'])}"
                found.append((time, name, text))
            case "parameters_set":
                is_local = data["initiator"] == "local"
                text = _parameters(data if is_local else theirs)
                found.append((time, name, f"{'local' if is_local else 'remote'} {text}"))
            case "connection_state_updated":
                found.append((time, "connection_state", data["new"]))
            case "congestion_state_updated":
                found.append((time, "congestion_state", data["new"]))
            case "key_updated":
                phase = f" phase {data['key_phase']}" if "key_phase" in data else ""
                found.append((time, name, data["key_type"] + phase))
            case "key_discarded":
                found.append((time, name, data["key_type"]))
            case "mtu_updated":
                found.append((time, name, f"{data['old']} {data['new']}{' done' if data['done'] else ''}"))
            case "ecn_state_updated":
                found.append((time, "ecn_state", data["new"]))
            case "migration_state_updated":
                text = f"local {_address(data['tuple_local'])} remote {_address(data['tuple_remote'])}"
                found.append((time, "migration_state", f"{data['new']} {text}"))
            case "packet_dropped":
                kind, length = data["header"]["packet_type"], data["raw"]["length"]
                found.append((time, name, f"{kind} {length} bytes {data['trigger']}"))
            case "connection_closed":
                side, space = data["initiator"], "application" if "application_error" in data else "transport"
                found.append((time, name, f"{side} {space} {data.get('error_code', 0):#x} {data.get('reason', '')}"))
    return found


def event(case: Case, sheet: Sheet) -> None:
    """Each event of each end."""
    if case.name not in ("lossy", "upload", "marked", "altered", "small", "moved"):
        return
    rows = case.by("event", "connection", "side")
    for (name, side), end in case.ends.items():
        found, wanted = rows[name, side], _events(end, case.ends[name, OTHER[side]])
        sheet.column("event.event", [row["event"] for row in found], [word for _, word, _ in wanted])
        sheet.column("event.time_s", [row["time_s"] for row in found], [time for time, _, _ in wanted])
        sheet.column("event.detail", [row["detail"] for row in found], [text for _, _, text in wanted])
        sheet.column("event.connection", [row["connection"] for row in found], [name] * len(wanted))
        sheet.column("event.side", [row["side"] for row in found], [side] * len(wanted))


class Gaps:
    """Whether received data waits for data before it on its stream, and for how long it has so far."""

    def __init__(self, end: End) -> None:
        reach: dict[int, Stream] = defaultdict(lambda: Stream([], 0))
        self.changes: list[tuple[float, bool]] = []
        for packet in end.received:
            for frame in packet.of_type("stream"):
                reach[frame["stream_id"]].add(packet.time, frame)
            has_gap = any(stream.has_gap for stream in reach.values())
            if has_gap != (bool(self.changes) and self.changes[-1][1]):
                self.changes.append((packet.time, has_gap))

    def until(self, time: float) -> float:
        """The time in gaps."""
        total, since = 0.0, None
        for at, has_gap in self.changes:
            if at > time + 1e-9:
                break
            if since is not None:
                total += at - since
            since = at if has_gap else None
        return total + (max(time - since, 0.0) if since is not None else 0.0)

    def at(self, time: float) -> bool:
        """Whether there is one after this time."""
        return [False, *(has_gap for at, has_gap in self.changes if at <= time + 1e-9)][-1]


WAITS = (
    *("handshake", "validation", "slow_start", "window", "recovery", "timeout", "pacer", "stream_credit"),
    *("connection_credit", "stream_count", "send_queue", "delivery", "application"),
)


def wait(case: Case, sheet: Sheet) -> None:
    """What senders of a known number of bytes wait for, by the replay; gaps by the streams; all time is somewhere."""
    rows = case.by("wait", "connection", "side")
    for (name, side), end in case.ends.items():
        found, gaps = rows[name, side], Gaps(end)
        sheet.column(
            "wait.gap_s", [row["gap_s"] for row in found], [gaps.until(row["time_s"]) for row in found], by=1e-7
        )
        whole = [sum(row[f"{word}_s"] for word in WAITS) for row in found]
        start = found[0]["time_s"]
        assert all(abs(total - row["time_s"] + start) < 1e-7 for total, row in zip(whole, found, strict=True)), (
            case.name
        )
        times = [row["time_s"] for row in found]
        alone = [row for row in found if times.count(row["time_s"]) == 1]
        sheet.column("wait.in_gap", [row["in_gap"] for row in alone], [gaps.at(row["time_s"]) for row in alone])
        if case.name in REPLAYED:
            ids = {frame["stream_id"] for one in end.sent for frame in one.of_type("stream")}
            total = max((Stream(end.sent, number).top for number in ids), default=0)
            replay = Replay(end, MSS, total=total)
            _replayed(sheet, found, replay)
        sheet.column("wait.connection", [row["connection"] for row in found], [name] * len(found))
        sheet.column("wait.side", [row["side"] for row in found], [side] * len(found))


def _replayed(sheet: Sheet, rows: list[dict[str, Any]], replay: Replay) -> None:
    for row in rows:
        spans = dict.fromkeys(WAITS, 0.0)
        last: tuple[float, str] | None = None
        for time, word in replay.waits:
            if time > row["time_s"] + 1e-7:
                break
            if last is not None:
                spans[last[1]] += time - last[0]
            last = (time, word)
        assert last is not None
        spans[last[1]] += row["time_s"] - last[0]
        for word in WAITS:
            sheet.column(f"wait.{word}_s", [row[f"{word}_s"]], [spans[word]], by=1e-6)
    at = {round(time, 7): word for time, word in replay.waits}
    final = rows[-1]
    sheet.column("wait.wait", [final["wait"]], [at[round(final["time_s"], 7)]])
    sheet.column(
        "wait.time_s",
        [row["time_s"] if round(row["time_s"], 7) in at else None for row in rows],
        [row["time_s"] for row in rows],
    )


CREDIT = 20_000
"""Bytes that the scenarios `connection_credit` and `stream_credit` grant at first."""
BUFFER = 10_000
"""Bytes in the send buffer of the scenario `send_queue`."""
SINGLE = ("connection_credit", "stream_credit", "stream_count", "send_queue", "pacer")


def single(case: Case, sheet: Sheet) -> None:
    """Scenarios with one cause of waiting: it holds where the table says so, and its time is that of its rows."""
    if case.name not in SINGLE:
        return
    side = "client" if case.name == "stream_count" else "server"
    end, rows = case.ends["get", side], case.by("wait", "side")[side]
    marked = [row for row in rows if row["wait"] == case.name]
    for row in marked:
        assert _holds(case.name, end, row["time_s"]), f"{case.name} at {row['time_s']} s"
    sheet.column("wait.wait", [row["wait"] for row in marked], [case.name] * len(marked))
    first, last = marked[0], rows[-1]
    sheet.column(f"wait.{case.name}_s", [first[f"{case.name}_s"]], [0.0])
    # Between rows of other causes it is waited for the whole time, unless it alternates within 10 ms.
    spans = [after["time_s"] - row["time_s"] for row, after in pairwise(rows) if row in marked]
    sheet.column(f"wait.{case.name}_s", [last[f"{case.name}_s"]], [sum(spans)], within=0.02)


def _holds(cause: str, end: End, time: float) -> bool:
    """Whether packets up to a time say that an end may send no more for this cause."""
    sent = [packet for packet in end.sent if packet.time <= time + 1e-9]
    received = [packet for packet in end.received if packet.time <= time + 1e-9]
    ids = {frame["stream_id"] for packet in sent for frame in packet.of_type("stream")}
    tops = {number: Stream(sent, number).top for number in ids}
    match cause:
        case "connection_credit":
            limits = [frame["maximum"] for packet in received for frame in packet.of_type("max_data")]
            return sum(tops.values()) == max(limits, default=CREDIT)
        case "stream_credit":
            frames = [frame for packet in received for frame in packet.of_type("max_stream_data")]
            return tops[0] == max((frame["maximum"] for frame in frames), default=CREDIT)
        case "stream_count":
            limits = [frame["maximum"] for packet in received for frame in packet.of_type("max_streams")]
            return len(ids) == max(limits, default=1)
        case "send_queue":
            acked = _acknowledged(end, time)
            return tops[0] - acked >= BUFFER - MSS
        case _:
            # The pacer: the next packet with data comes later, not with the packet that leaves.
            later = [packet.time for packet in end.sent if packet.is_eliciting and packet.time > time - 1e-9]
            return later[0] > time + 1e-9


def _acknowledged(end: End, time: float) -> int:
    """The bytes of stream 0 from the beginning that were acknowledged up to a time."""
    data = {packet.number: packet.of_type("stream") for packet in end.sent if packet.kind == "1RTT"}
    acked = Stream([], 0)
    for packet in end.received:
        if packet.time <= time + 1e-9 and packet.kind == "1RTT":
            for frame in packet.of_type("ack"):
                for part in frame["acked_ranges"]:
                    for number in range(part[0], part[-1] + 1):
                        for one in data.pop(number, []):
                            acked.add(packet.time, one)
    return acked.reach
