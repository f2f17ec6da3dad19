"""Compares columns and keys with what was computed again, and keeps which of them were."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any


class Sheet:
    """What was compared so far. A column counts as compared with two different values, or a name with one."""

    def __init__(self) -> None:
        self.values: dict[str, set[Any]] = defaultdict(set)

    def column(
        self, place: str, found: Sequence[Any], wanted: Sequence[Any], within: float = 1e-9, by: float = 1.5e-9
    ) -> None:
        """Compare the cells of a column, `TABLE.COLUMN`. Numbers may differ by this share, or by this much."""
        assert len(found) == len(wanted), f"{place}: {len(found)} rows, and {len(wanted)} are computed"
        for row, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert _agrees(one, other, within, by), f"{place}, row {row}: {one!r}, and {other!r} is computed"
        self.values[place].update(value for value in wanted if value is not None)

    def key(self, place: str, found: Any, wanted: Any, within: float = 1e-9) -> None:
        """Compare a value of the summary, with its six decimals."""
        if isinstance(wanted, float) and isinstance(found, float):
            wanted = found if abs(found - wanted) <= 1.01e-6 else wanted
        value = tuple(found) if isinstance(found, list) else found
        self.column(place, [value], [tuple(wanted) if isinstance(wanted, list) else wanted], within)


def _agrees(one: Any, other: Any, within: float, by: float) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or isinstance(one, str) or one is None or other is None:
        return one == other and type(one) is type(other)
    if isinstance(one, tuple):
        return bool(one == other)
    return math.isclose(one, other, rel_tol=within, abs_tol=by)
