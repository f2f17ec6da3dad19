"""What a run consists of, as those see it that are below the classes `Run` and `Scenario`."""

from typing import Any, Protocol

from quiclab import _quiclab


class Recorded(Protocol):
    """The results of a run, of which `quiclab.Run` is the class."""

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""

    @property
    def _document(self) -> dict[str, Any]:
        """The values of the resolved scenario."""


class Simulated(Protocol):
    """What was run, of which `quiclab.Scenario` is the class."""

    @property
    def notes(self) -> list[str]:
        """What is left out of the files that it names."""

    @property
    def _inner(self) -> _quiclab.Scenario:
        """The scenario of the simulator."""

    def to_toml(self) -> str:
        """The scenario with every default filled in."""
