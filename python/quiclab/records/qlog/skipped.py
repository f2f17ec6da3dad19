"""What was passed over in a file: how many records and frames, and where and why the first."""

from dataclasses import dataclass, field


@dataclass
class Skipped:
    """Records and frames that could not be read."""

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, place: str, why: str) -> None:
        """Counts one more, "record" or "frame"."""
        self.counts[what] = self.counts.get(what, 0) + 1
        self.firsts.setdefault(what, f"{place}: {why}")

    def notes(self) -> list[str]:
        """A sentence for each kind."""
        return [
            f"{count} {what}{' was' if count == 1 else 's were'} skipped; the first, {self.firsts[what]}"
            for what, count in self.counts.items()
        ]
