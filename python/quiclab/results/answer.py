"""What `why` answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quiclab.values import toml_text


@dataclass(frozen=True)
class Remedy:
    """A change of the scenario that takes a cause away, or a part of it.

    >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
    >>> (answer,) = scenario.run().why()
    >>> remedy = answer.causes[0].remedy
    >>> remedy.sets
    {'link.cell.forward.rate': '22.9 Mbit/s'}
    >>> scenario.with_(remedy.sets).run().why(tries=False)[0].end_s < answer.end_s / 2
    True
    """

    what: str
    """In words."""
    sets: Mapping[str, Any]
    """The keys of the scenario to change, and their values: for `Scenario.with_`, and for `quiclab run --set`."""
    claim: float
    """The share of the flow's time that it saves, 0 to 1: what a trial saved, or an estimate from the records."""
    tried: str | None = None
    """What a trial changed (`completed after 3.412 s instead of 21.698 s`); None if it was not tried."""
    elsewhere: bool = False
    """Whether it asks for another path, which is advice only where nothing else helps."""

    def __str__(self) -> str:
        return f"{self.what} ({', '.join(f'`{change}`' for change in self.changes)})"

    @property
    def changes(self) -> list[str]:
        """The changes as `quiclab run --set` takes them."""
        return [f"{key}={_value(value)}" for key, value in self.sets.items()]


@dataclass(frozen=True)
class Cause:
    """A cause, and the time that it took.

    >>> (answer,) = quiclab.Scenario.from_file("examples/cellular.toml").run().why()
    >>> answer.causes[0].name, answer.causes[0].what
    ('capacity', 'cell forward was full')
    """

    name: str
    """One of `handshake`, `path validation`, `slow start`, `window`, `recovery`, `reordering`, `corruption`, `timeout`,
    `pacer`, `stream credit`, `connection credit`, `stream count`, `send queue`, `scheduler`, `application`, `delivery`,
    `capacity`, `competition`, `processing`, `outage`, `middlebox`, `return path`, `ACK delay`, `idle timeout`; beside
    these `queueing` and `head of line`."""
    seconds: float
    """In all."""
    share: float
    """Of the time of the flow, 0 to 1."""
    longest: tuple[float, float]
    """Start and end of the longest stretch, in seconds of the run. A break of up to one round trip does not end it."""
    what: str
    """What happened."""
    change: str
    """What would change it: the remedy first, and others after it."""
    remedy: Remedy | None = None
    """The first of the changes, as keys of the scenario; None where none is known, or none that was tried helps."""

    def __str__(self) -> str:
        start, end = self.longest
        when = f" ({start:,.3f} to {end:,.3f} s)" if end > start else ""
        return f"{self.share:6.1%}  {self.name}, {self.seconds:,.3f} s{when}: {self.advice}"

    @property
    def advice(self) -> str:
        """What happened, what would change it, and what that brings, as a sentence or two."""
        if self.remedy is None:
            return f"{self.what}. {self.change[0].upper()}{self.change[1:]}."
        saved = f"{self.remedy.claim:.0%} of the time".replace("%", " %")
        brings = f"Tried: {self.remedy.tried}, {saved}." if self.remedy.tried else f"It should save {saved}."
        return f"{self.what}. Try: {self.change}. {brings}"


@dataclass(frozen=True)
class Answer:
    """Where the time of one connection went.

    >>> (answer,) = quiclab.Scenario.from_file("examples/cellular.toml").run().why()
    >>> answer.completed, {cause.name: round(cause.seconds, 1) for cause in answer.causes}
    (True, {'capacity': 13.5, 'outage': 0.5, 'recovery': 0.4, 'slow start': 0.3, 'handshake': 0.1})
    """

    connection: str
    """The connection."""
    start_s: float
    """The start of the flow, in seconds of the run."""
    end_s: float
    """When the receiver had everything, or the end of the run."""
    completed: bool
    """Whether the receiver had everything before the end of the run."""
    causes: tuple[Cause, ...]
    """The one first whose remedy saves the most time. Their seconds add up to the time of the flow, except for causes
    of less than 0.5 % of it."""
    beside: tuple[Cause, ...] = ()
    """What happened at the same time as the causes: `queueing` and `head of line`."""
    unfinished: str | None = None
    """Why it was not completed."""
    notes: tuple[str, ...] = field(default=())
    """What is to be known of the advice: that nothing helps, or why nothing was tried."""

    def __str__(self) -> str:
        done = "completed" if self.completed else "not completed"
        lines = [f"{self.connection}: {self.end_s - self.start_s:,.3f} s, {done}"]
        lines += [f"{note[0].upper()}{note[1:]}." for note in self.notes]
        lines += [str(cause) for cause in self.causes]
        lines += [f"At the same time: {str(cause).strip()}" for cause in self.beside]
        lines += [f"Not completed: {self.unfinished}."] if self.unfinished else []
        return "\n".join(lines)


def _value(value: Any) -> str:
    """A value as `--set` takes it: text without quotation marks, all else as TOML."""
    return value if isinstance(value, str) else toml_text.literal(value)
