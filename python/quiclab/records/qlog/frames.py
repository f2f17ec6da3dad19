"""The data of a packet: its header, and its frames."""

import re
from typing import Any

from quiclab.records.qlog.log import SPACES, Packet
from quiclab.records.qlog.wrong import LARGEST, WRONG, QlogError, nanoseconds, number, part, said, size


def packet(time: int, data: dict[str, Any], odd: list[str]) -> Packet:
    """The packet of an event. Frames that cannot be read are kept as texts; `odd` gets what is wrong with them."""
    # A stateless reset has no header that could be read.
    header = part(data, "header", data)
    word = kind(data, header)
    packet_number = number(header["packet_number"]) if word in SPACES else -1
    length = part(data, "raw", {}).get("length", header.get("packet_size"))
    found = Packet(time, word, packet_number, -1 if length is None else size(length), [], [], [], [])
    frames = data.get("frames") or ()
    if not isinstance(frames, list | tuple):
        raise QlogError(f"frames is {frames!r:.60}; expected a list")
    for frame in frames:
        try:
            _frame(found, frame)
        except WRONG as error:
            odd.append(said(error))
            found.others.append(
                _other(str(frame.get("frame_type", "?")), frame) if isinstance(frame, dict) else ("?", ())
            )
    return found


def each(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of each packet of an event: some stacks name several in one, by their headers or their numbers."""
    header = part(data, "header", data)
    if header.get("packet_number") is not None:
        return [data]
    for place in (data, header):
        listed = next((place[key] for key in _LISTS if isinstance(place.get(key), list)), None)
        if listed is not None:
            common = {key: value for key, value in {**header, **data}.items() if key in _COMMON}
            return [{**common, **(one if isinstance(one, dict) else {"packet_number": one})} for one in listed]
    if "largest_lost_packet_num" in data:
        # So mvfst sums them up.
        raise QlogError("a sum of losses, which does not name the packets")
    return [data]


_LISTS = ("packet_numbers", "packets", "lost_packets")
"""What lists of packets are called."""
_COMMON = ("packet_type", "type", "packet_number_space", "trigger")
"""What all packets of a list have in common."""


def kind(data: dict[str, Any], header: dict[str, Any]) -> str:
    """The type of a packet, as the schema spells it."""
    # aioquic says `type` in packet_lost; mvfst and others name the space of the packet number.
    places = ((header, "packet_type"), (data, "packet_type"), (data, "type"), (data, "packet_number_space"))
    word = next((place[key] for place, key in places if place.get(key) is not None), None)
    plain = "".join(filter(str.isalnum, word.lower())) if isinstance(word, str) else ""
    if plain not in KINDS:
        raise QlogError(f"packet_type is {word!r:.60}; expected one of {', '.join(dict.fromkeys(KINDS.values()))}")
    return KINDS[plain]


KINDS = {
    "initial": "initial",
    "handshake": "handshake",
    "0rtt": "0rtt",
    "1rtt": "1rtt",
    "retry": "retry",
    "versionnegotiation": "version_negotiation",
    "statelessreset": "stateless_reset",
    "unknown": "unknown",
    # draft-00 and draft-01, mvfst, s2n-quic, lsquic and others.
    "zerortt": "0rtt",
    "0rttprotected": "0rtt",
    "earlydata": "0rtt",
    "onertt": "1rtt",
    "1rttprotected": "1rtt",
    "short": "1rtt",
    "shortheader": "1rtt",
    "protected": "1rtt",
    "applicationdata": "1rtt",
    "application": "1rtt",
    "appdata": "1rtt",
    "vneg": "version_negotiation",
}
"""The types of packets by their spellings, in lower case without `_`, `-` and blanks."""


def _frame(found: Packet, frame: dict[str, Any]) -> None:
    """Adds a frame to a packet. Raises one of `WRONG`, and adds nothing, if it cannot be read."""
    if not isinstance(frame, dict):
        raise QlogError(f"a frame is {frame!r:.60}; expected an object")
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
        raw = part(frame, "raw", {})
        value = raw.get("payload_length", raw.get("length"))
    if value is not None:
        return size(value)
    raise QlogError(f"a frame {frame['frame_type']} has no length")


def _ack(frame: dict[str, Any]) -> tuple[int, list[tuple[int, int]]]:
    ranges = []
    found = frame.get("acked_ranges") or ()
    if not isinstance(found, list | tuple):
        raise QlogError(f"acked_ranges is {found!r:.60}; expected a list")
    for entry in found:
        if not isinstance(entry, list) or len(entry) not in (1, 2):
            raise QlogError(f"an acknowledged range is {entry!r:.60}; expected [first, last]")
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
        if isinstance(value, float) and value.is_integer():
            value = int(value)
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
