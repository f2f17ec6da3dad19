"""What a chart shows: the columns by name, which rows, which interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Required, TypedDict, get_args

from quiclab.values import arguments

Spread = Literal["student", "bootstrap", "quantiles"]
SPREADS: tuple[Spread, ...] = get_args(Spread)
"""The words for what can be around a mean."""


@dataclass(frozen=True)
class Choice:
    """The columns of a chart. A column may be named by the end of its name if that is unique.

    >>> quiclab.plots.Choice(x="ack_ratio", y="goodput_mbps", where={"loss.probability": [0.0, 0.01]}).named()
    ['ack_ratio', 'goodput_mbps', 'loss.probability']
    """

    x: str
    """The horizontal axis; of an empirical distribution the values themselves."""
    y: str | None = None
    """The vertical axis: the values; of a heat map what is varied along it. None only for an empirical distribution."""
    group: str | None = None
    """A colour for each value of this column."""
    facet: str | None = None
    """A panel for each value of this column."""
    value: str | None = None
    """Of a heat map: the values, as colours."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Only rows that have this value, or one of these values, in a column."""
    spread: Spread | None = None
    """Around the mean: its interval by Student's t or by the bootstrap; or the median with two quantiles.

    None: Student's for lines and bars, and no band in other charts. Of an empirical distribution it is the interval of
    each point, of a box the mean with its interval or whiskers at the quantiles, of a heat map a number in each cell.
    """
    confidence: float = 0.95
    """The coverage of the interval; with quantiles the part of the runs between them."""
    log: str = ""
    """Logarithmic axes: some of "x", "y" and "v" (the colours of a heat map)."""
    title: str | None = None
    """Instead of the name of the scenario, the number of runs, and what the band is. An empty one is none."""
    x_label: str | None = None
    """Instead of the column's name with its unit."""
    y_label: str | None = None
    """The same for the vertical axis."""
    value_label: str | None = None
    """The same for the colours of a heat map."""

    def __post_init__(self) -> None:
        for name in ("y", "group", "facet", "value", "spread", "title", "x_label", "y_label", "value_label"):
            if getattr(self, name) is not None:
                arguments.text(name, getattr(self, name), "a text, or None")
        for name in ("x", "log"):
            arguments.text(name, getattr(self, name), "a text")
        for name in arguments.table("where", self.where, "a table of columns"):
            arguments.text("where", name, "the name of a column")
        arguments.between("confidence", self.confidence)

    def named(self) -> Sequence[str]:
        """The columns that distinguish the runs in the chart."""
        return [name for name in (self.x, self.y, self.group, self.facet, *self.where) if name is not None]


class Options(TypedDict, total=False):
    """The fields of a `Choice`, as arguments by name."""

    x: Required[str]
    y: str | None
    group: str | None
    facet: str | None
    value: str | None
    where: Mapping[str, Any]
    spread: Spread
    confidence: float
    log: str
    title: str | None
    x_label: str | None
    y_label: str | None
    value_label: str | None
