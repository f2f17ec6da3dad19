"""Trials: the scenario of a run is run again with a change, and the flow is compared with what it was."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.results.scenario import Scenario

if TYPE_CHECKING:
    from quiclab.results.run import Run
    from quiclab.results.scenario import Scenario
    from quiclab.values.progress import Progress

MOST_PACKETS = 2_000_000
"""All trials of one question simulate at most this many packets."""
_PACKET = 1_500
"""The bytes that a packet delivers, at most, on most links."""
_LONGEST_S = 120.0
"""No trial takes longer, in seconds of the machine: two million packets take some seconds."""
_MESSAGES = ("messages", "requests")


@dataclass(frozen=True)
class Outcome:
    """How a flow went."""

    cost: float
    """What it is compared by: less is better. Seconds, or seconds for each byte, message or request."""
    measure: str
    """What the cost is: `completed after`, `mean delay`."""
    shown: str
    """The value in words."""


def outcome(entry: Mapping[str, Any], span: float, likewise: "str | None" = None) -> Outcome | None:
    """How a flow went: the delay of what it waits for one by one, or its completion, or its rate.

    :param entry: its entry in the summary.
    :param span: the time from its start to the end of the run, in seconds.
    :param likewise: the measure to take, where there are several.
    """
    for measure, value in _measures(entry, span):
        if likewise in (None, measure):
            return Outcome(value, measure, _shown(measure, value))
    return None


def _measures(entry: Mapping[str, Any], span: float) -> Iterator[tuple[str, float]]:
    """What a flow can be compared by, the most telling first."""
    playback = entry.get("playback")
    if isinstance(playback, Mapping):
        stopped = (playback.get("start_up_s") or span) + (playback.get("stalled_s") or 0.0)
        if playback.get("end_s") is None and entry.get("close") not in (None, "open"):
            # Nothing was played after the end of its connection.
            stopped = span - (playback.get("played_s") or 0.0)
        if stopped > _NOTABLE_STOP * span:
            yield "stopped for", stopped
        yield "seconds for each Mbit/s of video", 1 / max(playback.get("bitrate_mean_mbps") or 0.0, 1e-6)
        yield "stopped for", stopped
    tallies = [entry.get("messages")]
    for part in (entry.get("parts") or {}).values():
        tallies += [part.get(name) for name in _MESSAGES]
    delays = [delay for tally in tallies if isinstance(tally, Mapping) and (delay := _delay(tally, span)) is not None]
    if delays:
        yield "mean delay", max(delays)
    if (completed := entry.get("completion_s")) is not None:
        yield "completed after", float(completed)
    delivered = entry.get("delivered_bytes") or 0
    yield "for each byte", (float(entry.get("completion_s") or span)) / max(delivered, 1)


_NOTABLE_STOP = 0.02
"""A video that stands still for a smaller share of the time is compared by its bitrate."""


_LONG_DELAY = 3
"""The last messages may take this multiple of the mean delay."""


def _delay(tally: Mapping[str, Any], span: float) -> float | None:
    number, missing = tally.get("number") or 0, tally.get("missing") or 0
    done = number - missing
    if not number:
        return None
    mean = (tally.get("delay_mean_ms") or 0.0) / 1e3
    # The last ones are under way when a run ends; of others nothing is known but that they took long.
    under_way = math.ceil(_LONG_DELAY * mean * number / span) + 1 if done else 0
    late = max(missing - under_way, 0)
    return (mean * done + span * late) / (done + late)


def _shown(measure: str, value: float) -> str:
    if measure == "for each byte":
        return f"{8e-6 / value:,.3f} Mbit/s"
    if measure == "seconds for each Mbit/s of video":
        return f"{1 / value:,.3f} Mbit/s"
    return f"{value:,.3f} s" if value >= 0.1 else f"{value * 1e3:,.1f} ms"


class Trials:
    """Runs of a scenario with changes, within a budget.

    :param run: the run that is asked about.
    :param flows: how many flows are asked about.
    """

    def __init__(self, run: "Run", flows: int) -> None:
        self._run, self._flows = run, max(flows, 1)
        self._known: dict[str, dict[str, Any] | None] = {}
        self._spent = 0
        connections = run.summary.get("connections") or []
        cross = run.summary.get("cross_traffic") or []
        counts = [
            *(entry.get(name) or 0 for entry in connections for name in ("packets_sent", "return_packets_sent")),
            *(entry.get("packets_sent") or 0 for entry in cross),
        ]
        self._bytes = sum(entry.get("delivered_bytes") or 0 for entry in connections)
        self.packets = max(int(sum(counts)), self._bytes // _PACKET, 1)
        """Of one run."""

    @cached_property
    def refused(self) -> str | None:
        """Why the scenario cannot be run again; None if it can."""
        if "lateness" in self._run.tables:
            return "the run was made in real time"
        if _plugged(self._document):
            return "the scenario names components in Python, which are not executed for an answer"
        if 2 * self.packets * self._flows > MOST_PACKETS:
            return f"a run has {self.packets:,} packets, and at most {MOST_PACKETS:,} are simulated for an answer"
        if self._scenario is None:
            return self._reason
        return self._differs()

    @cached_property
    def _document(self) -> dict[str, Any]:
        return self._run._document

    _reason: str | None = None

    @cached_property
    def _scenario(self) -> "Scenario | None":
        # The remedies are changes of the resolved scenario, in which each direction has its own options.
        origin = self._run.path / "scenario.toml" if self._run.path is not None else "scenario.toml"
        try:
            return Scenario.from_text(self._run.scenario_toml, origin=origin)
        except Error as error:
            self._reason = f"the scenario cannot be run again: {error}"
            return None

    def _differs(self) -> str | None:
        """Whether the run is another one when it is repeated: that of another version, or a folder that was changed."""
        again = self._entries({})
        if again is None:
            return self._reason or "the scenario cannot be run again"
        for entry in self._run.summary.get("connections") or []:
            now = again.get(str(entry.get("name")))
            if now is None or any(entry.get(key) != now.get(key) for key in ("completion_s", "delivered_bytes")):
                return "the scenario gives another run with this version of quiclab"
        return None

    def outcome(self, name: str, sets: Mapping[str, Any], span: float, measure: str) -> Outcome | None:
        """How a connection goes with some changes; None if that is no scenario, or the budget is used up."""
        entries = self._entries(sets)
        entry = None if entries is None else entries.get(name)
        return None if entry is None else outcome(entry, span, measure)

    def _entries(self, sets: Mapping[str, Any]) -> dict[str, Any] | None:
        """The entries of the summary by name, of a run with some changes."""
        key = repr(sorted(sets.items(), key=lambda pair: pair[0]))
        if key not in self._known:
            if self._scenario is None or self._spent + self.packets > MOST_PACKETS:
                return None
            # The run itself, repeated, delivers what it did. The scenario of a changed folder may go on for hours.
            most = MOST_PACKETS * _PACKET if sets else self._bytes
            try:
                summary = self._scenario.with_(sets).run(tables=False, progress=_Watch(most)).summary
            except _TooLongError as error:
                self._reason = str(error)
                self._known[key] = None
                return None
            except Error as error:
                self._reason = f"the scenario cannot be run again: {error}"
                self._known[key] = None
                return None
            self._known[key] = {str(entry["name"]): entry for entry in summary.get("connections") or []}
            self._spent += self.packets
        return self._known[key]


class _TooLongError(Exception):
    """A trial goes on for too long."""


class _Watch:
    """Ends a trial that delivers more than it may, or takes too long."""

    def __init__(self, most: int) -> None:
        self._most, self._began = most, time.monotonic()

    def __call__(self, progress: "Progress") -> None:
        if progress.done_bytes > self._most:
            raise _TooLongError("the scenario gives another run: it delivers more than the summary says")
        if time.monotonic() - self._began > _LONGEST_S:
            raise _TooLongError(f"a run takes longer than {_LONGEST_S:g} s")


def saved(before: Outcome, after: Outcome) -> float:
    """The share of the cost that a change saves; below zero if it costs more."""
    return 1 - after.cost / before.cost if before.cost > 0 else 0.0


def _plugged(value: Any) -> bool:
    """Whether a document names a component that is Python: `module:Class`, `file.py:Class`."""
    if isinstance(value, Mapping):
        return any(
            (key in _PLACES and isinstance(one, str) and ":" in one) or _plugged(one) for key, one in value.items()
        )
    return isinstance(value, list) and any(map(_plugged, value))


_PLACES = (
    *("type", "controller", "scheduler", "abr", "application", "algorithm"),
    *("queue", "kind", "loss", "jitter", "rate"),
)
