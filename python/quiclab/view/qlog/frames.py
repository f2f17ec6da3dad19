"""The data of a packet: its header, and its frames."""

import re
from typing import Any

from quiclab.view.qlog.log import SPACES, Packet
from quiclab.view.qlog.wrong import LARGEST, WRONG, QlogError, nanoseconds, number, said, size, whole


def packet(time: int, data: dict[str, Any], odd: list[str]) -> Packet:
    """The packet of an event. Frames that cannot be read are kept as texts; `odd` gets what is wrong with them."""
    # A stateless reset has no header that could be read.
    header = data.get("header", data)
    word = kind(data, header)
    packet_number = number(header["packet_number"]) if word in SPACES else -1
    length = data.get("raw", {}).get("length", header.get("packet_size"))
    found = Packet(time, word, packet_number, -1 if length is None else size(length), [], [], [], [])
    for frame in data.get("frames") or ():
        try:
            _frame(found, frame)
        except WRONG as error:
            odd.append(said(error))
            found.others.append(
                _other(str(frame.get("frame_type", "?")), frame) if isinstance(frame, dict) else ("?", ())
            )
    return found


def kind(data: dict[str, Any], header: dict[str, Any]) -> str:
    """The type of a packet, in lower case."""
    # aioquic says `type` in packet_lost.
    word = header.get("packet_type", data.get("packet_type", data.get("type")))
    if not isinstance(word, str):
        raise QlogError(f"packet_type is {word!r:.60}: expected a word")
    return whole(word.lower())


def _frame(found: Packet, frame: dict[str, Any]) -> None:
    """Adds a frame to a packet. Raises one of `WRONG`, and adds nothing, if it cannot be read."""
    name = frame["frame_type"]
    if name == "stream":
        # The FIN bit is left out by some when it is not set.
        place = number(frame["stream_id"]), number(frame.get("offset", 0))
        found.streams.append((*place, _length(frame), bool(frame.get("fin", False))))
    elif name == "ack":
        found.acks.append(_ack(frame))
    elif name == "datagram":
        found.streams.append((-1, 0, _length(frame), False))
    else:
        resets = [number(frame["stream_id"])] if name == "reset_stream" else []
        if name in _CREDIT:
            what, limit = _CREDIT[name]
            stream = number(frame["stream_id"]) if "stream" in name else -1
            if limit in frame:
                found.credit = (*found.credit, (what, stream, number(frame[limit])))
        found.resets += resets
        found.others.append(_other(str(name), frame))


_CREDIT = {
    "max_data": ("max", "maximum"),
    "max_stream_data": ("max", "maximum"),
    "data_blocked": ("blocked", "limit"),
    "stream_data_blocked": ("blocked", "limit"),
}
"""Frames of flow control (RFC 9000 sections 19.9 to 19.13): what they say, and the field with the limit."""


def _length(frame: dict[str, Any]) -> int:
    """The length of a frame's data: a field of its own until 0.3, part of `raw` since."""
    value = frame.get("length")
    if value is None:
        raw = frame.get("raw") or {}
        value = raw.get("payload_length", raw.get("length"))
    if value is not None:
        return size(value)
    raise QlogError(f"a frame {frame['frame_type']} has no length")


def _ack(frame: dict[str, Any]) -> tuple[int, list[tuple[int, int]]]:
    ranges = []
    for entry in frame.get("acked_ranges", ()):
        first, last = number(entry[0]), number(entry[-1])
        if first > last:
            raise QlogError(f"an acknowledged range ends before it begins: {entry!r:.60}")
        ranges.append((first, last))
    return nanoseconds(frame.get("ack_delay", 0)), ranges


_PLAIN = re.compile(r"[^\x20-\x7e]|[{}]")


def _other(name: str, frame: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """A frame as a text with places for its numbers, so that equal frames of different numbers share their text."""
    parts: list[str] = []
    numbers: list[int] = []

    def add(key: str, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST:
            numbers.append(value)
            parts.append("{} B" if key in ("length", "payload_length") else f"{_plain(key)} {{}}")
        elif isinstance(value, str | int | float):
            parts.append(f"{_plain(key)} {_plain(str(value))}")
        elif isinstance(value, dict):
            for inner, what in value.items():
                add(inner, what)

    for key, value in frame.items():
        if key != "frame_type":
            add(key, value)
    return f"{_plain(name).upper()} {', '.join(parts)}".rstrip(), tuple(numbers)


def _plain(text: str) -> str:
    """Outside text, without what would be read as a place, and not longer than a line of the page."""
    return _PLAIN.sub("?", text[:64])
