"""Values for the script of a page: JSON, DEFLATE, base64. Nothing in them can be taken for HTML."""

import base64
import json
import math
import zlib
from collections.abc import Iterable
from typing import Any


def packed(value: Any) -> str:
    """A value as text, which `browser/packed.js` reads."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def shortened(values: Iterable[float], digits: int = 6) -> list[float | int | None]:
    """Numbers with this many significant digits, as JSON writes them short; None where there is none."""
    return [_shortened(value, digits) for value in values]


def _shortened(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def steps(times: Iterable[float]) -> list[int]:
    """Times in seconds as microseconds, each after the one before."""
    before = 0
    found = []
    for time in times:
        now = round(time * 1e6)
        found.append(now - before)
        before = now
    return found
