"""Sets of integers as ranges: which bytes of a stream, or which packet numbers, have been seen."""

from bisect import bisect_left, bisect_right


class Ranges:
    """A set of integers, kept as sorted half-open ranges that neither overlap nor touch."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Adds start..end and returns the parts of it that were not in the set, in order."""
        if start >= end:
            return []
        starts, ends = self.starts, self.ends
        # What arrives in order extends the last range.
        if not ends or start > ends[-1]:
            starts.append(start)
            ends.append(end)
            return [(start, end)]
        if start == ends[-1]:
            ends[-1] = end
            return [(start, end)]
        first = bisect_left(ends, start)
        last = bisect_right(starts, end, lo=first)
        new, at = [], start
        for index in range(first, last):
            if at < starts[index]:
                new.append((at, min(starts[index], end)))
            at = max(at, ends[index])
        if at < end:
            new.append((at, end))
        if first < last:
            start, end = min(start, starts[first]), max(end, ends[last - 1])
        starts[first:last], ends[first:last] = [start], [end]
        return new

    def first_gap(self) -> int:
        """The smallest integer from 0 on that is not in the set."""
        return self.ends[0] if self.starts and self.starts[0] == 0 else 0

    @property
    def total(self) -> int:
        """How many integers are in the set."""
        return sum(self.ends) - sum(self.starts)


class Owners:
    """Which packet carried each byte of a stream: a map from half-open ranges to the last owner that was given."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._owners: list[int] = []

    def at(self, offset: int) -> int | None:
        """The owner of one byte; None if it has none."""
        index = bisect_right(self._starts, offset) - 1
        return self._owners[index] if index >= 0 and offset < self._ends[index] else None

    def pieces(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """The parts of start..end that have an owner, in order: start, end, owner."""
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end, lo=first)
        return [
            (max(start, self._starts[index]), min(end, self._ends[index]), self._owners[index])
            for index in range(first, last)
        ]

    def set(self, start: int, end: int, owner: int) -> list[int]:
        """Gives start..end to an owner; returns who had parts of it before, in the order of the bytes."""
        if start >= end:
            return []
        starts, ends, owners = self._starts, self._ends, self._owners
        if not ends or start >= ends[-1]:
            starts.append(start)
            ends.append(end)
            owners.append(owner)
            return []
        first = bisect_right(ends, start)
        last = bisect_left(starts, end, lo=first)
        before = list(dict.fromkeys(owners[first:last]))
        pieces = [(start, end, owner)]
        if first < last:
            if starts[first] < start:
                pieces.insert(0, (starts[first], start, owners[first]))
            if ends[last - 1] > end:
                pieces.append((end, ends[last - 1], owners[last - 1]))
        starts[first:last] = [piece[0] for piece in pieces]
        ends[first:last] = [piece[1] for piece in pieces]
        owners[first:last] = [piece[2] for piece in pieces]
        return before
