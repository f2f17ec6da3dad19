"""Frames in the words of the current schema, however a stack spells them: other names, capitals, or numbers."""

import re
from typing import Any

_NUMBERS = {
    0x00: "padding",
    0x01: "ping",
    0x02: "ack",
    0x03: "ack",
    0x04: "reset_stream",
    0x05: "stop_sending",
    0x06: "crypto",
    0x07: "new_token",
    **dict.fromkeys(range(0x08, 0x10), "stream"),
    0x10: "max_data",
    0x11: "max_stream_data",
    0x12: "max_streams",
    0x13: "max_streams",
    0x14: "data_blocked",
    0x15: "stream_data_blocked",
    0x16: "streams_blocked",
    0x17: "streams_blocked",
    0x18: "new_connection_id",
    0x19: "retire_connection_id",
    0x1A: "path_challenge",
    0x1B: "path_response",
    0x1C: "connection_close",
    0x1D: "connection_close",
    0x1E: "handshake_done",
    0x30: "datagram",
    0x31: "datagram",
}
"""The types of frames by their numbers (RFC 9000 section 19, RFC 9221)."""

_ALIASES = {"rststream": "reset_stream", "ackecn": "ack", "appclose": "connection_close"}
"""Other names: mvfst, and drafts of QUIC."""

_WORDS = {word.replace("_", ""): word for word in _NUMBERS.values()} | _ALIASES

_FIELDS = {
    "id": "stream_id",
    "streamid": "stream_id",
    "len": "length",
    "maximumdata": "maximum",
    "datalimit": "limit",
    "ackedranges": "acked_ranges",
    "ackdelay": "ack_delay",
}
"""Fields of frames: draft-00 and draft-01 (`id`), mvfst, and names in one word."""

_FIN = 0x01
"""The bit of a STREAM frame's type that ends the stream (RFC 9000 section 19.8)."""


def frame(found: dict[str, Any]) -> dict[str, Any]:
    """The frame with the type and the fields of the schema; as it is if its type is not known."""
    key = next((key for key in ("frame_type", "frameType", "type") if key in found), None)
    if key is None:
        return found
    word, number = _type(found[key])
    renamed: dict[str, Any] = {"frame_type": word}
    for name, value in found.items():
        if name != key:
            target = _FIELDS.get(plain(name), name)
            renamed[name if target in found else target] = value
    if number is not None and word == "stream":
        renamed.setdefault("fin", bool(number & _FIN))
    return renamed


def _type(value: Any) -> tuple[Any, int | None]:
    """The word for a type, and its number if it is one."""
    number = _number(value)
    if number is not None:
        return _NUMBERS.get(number, f"0x{number:02x}"), number
    if not isinstance(value, str):
        return value, None
    word = plain(value)
    return _WORDS.get(word.removesuffix("frame") or word, value.lower()), None


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,16}", value):
        return int(value, 0) if value[:2].lower() == "0x" else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 62:
        return None
    return int(value) if value == int(value) else None


def plain(word: str) -> str:
    """A word in lower case without all but letters and digits."""
    return "".join(filter(str.isalnum, word)).lower()
