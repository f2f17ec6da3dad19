"""What `why` answers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A cause, and the time that it took.

    >>> (answer,) = quiclab.Scenario.from_file("examples/cellular.toml").run().why()
    >>> answer.causes[0].name, answer.causes[0].what
    ('capacity', 'cell forward was full')
    """

    name: str
    """One of `handshake`, `slow start`, `window`, `recovery`, `timeout`, `pacer`, `stream credit`, `connection credit`,
    `stream count`, `send queue`, `application`, `delivery`, `capacity`, `outage`; beside these `queueing` and
    `head of line`."""
    seconds: float
    """In all."""
    share: float
    """Of the time of the flow, 0 to 1."""
    longest: tuple[float, float]
    """Start and end of the longest stretch, in seconds of the run. A break of up to one round trip does not end it."""
    what: str
    """What happened."""
    change: str
    """What would change it."""

    def __str__(self) -> str:
        start, end = self.longest
        when = f" ({start:,.3f} to {end:,.3f} s)" if end > start else ""
        return f"{self.share:6.1%}  {self.name}, {self.seconds:,.3f} s{when}: {self.what}. Try: {self.change}."


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
    """The longest first. Their seconds add up to the time of the flow, except for causes of less than 0.5 % of it."""
    beside: tuple[Cause, ...] = ()
    """What happened at the same time as the causes: `queueing` and `head of line`."""
    unfinished: str | None = None
    """Why it was not completed."""

    def __str__(self) -> str:
        done = "completed" if self.completed else "not completed"
        lines = [f"{self.connection}: {self.end_s - self.start_s:,.3f} s, {done}"]
        lines += [str(cause) for cause in self.causes]
        lines += [f"At the same time: {str(cause).strip()}" for cause in self.beside]
        lines += [f"Not completed: {self.unfinished}."] if self.unfinished else []
        return "\n".join(lines)
