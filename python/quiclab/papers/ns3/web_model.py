"""Table 1: what pages of the model are drawn from, beside the laws that were fitted and what was measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import erfc, exp, expm1, log, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.results.scenario import Scenario
from quiclab.values.units import number

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

_FLOW = "page"
_DRAWS = 1_000_000
_DRAWS_OF_MEAN = 10_000_000
_STEPS = 20_000
"""Of the integrals of the means."""
_WHOLE = 5000
"""Up to here whole numbers are summed one by one."""
_SHOWN = 60
"""Points of a curve."""

Cdf = Callable[[float], float]
Draws: TypeAlias = "np.ndarray[Any, Any]"


def _log_normal(mu: float, sigma: float) -> Cdf:
    return lambda x: 0.5 * erfc(-(log(x) - mu) / (sigma * sqrt(2)))


def _weibull(scale: float, shape: float) -> Cdf:
    return lambda x: -expm1(-((x / scale) ** shape))


def _exponential(rate: float) -> Cdf:
    return lambda x: -expm1(-rate * x)


@dataclass(frozen=True)
class _Row:
    """A row of the paper's table."""

    quantity: str
    """As the generators call it; with underscores, the begin of the names of its options."""
    label: str
    law: Callable[..., Cdf]
    parameters: tuple[str, ...]
    measured_mean: float
    measured_deviation: float
    least: float | None = 1
    """What a page uses of the draw is the nearest whole number, and at least so much; None: the draw itself."""

    def used(self, draws: "Draws") -> "Draws":
        """What a page uses of draws."""
        import numpy as np

        return draws if self.least is None else np.maximum(np.floor(draws + 0.5), self.least)


_TABLE = (
    _Row("main-size", "bytes of a main object", _weibull, ("scale", "shape"), 31561, 49219),
    _Row("main-count", "main objects", _log_normal, ("mu", "sigma"), 1.2, 2.63),
    _Row("embedded-size", "bytes of an embedded object", _log_normal, ("mu", "sigma"), 23915, 128079),
    _Row("embedded-count", "embedded objects", _exponential, ("rate",), 31.93, 37.65, least=0),
    _Row("reading", "reading time in s", _log_normal, ("mu", "sigma"), 39.7, 324.92, least=None),
)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """For each row of the table how far the draws are from its law, and points of both distributions."""
    import numpy as np

    scenario = Scenario(sweeps["main"].scenario)
    (flow,) = sweeps["main"].scenario["flow"]
    model = flow["application"]["page"]
    drawn = scenario.page_draws(_FLOW, _DRAWS_OF_MEAN)
    points: Points = []
    for row in _TABLE:
        used = row.used(np.frombuffer(drawn[row.quantity]))
        prefix = row.quantity.replace("-", "_")
        law = row.law(*(model[f"{prefix}_{parameter}"] for parameter in row.parameters))
        points += _compared(row, used, law, number(model[f"{prefix}_max"]))
    pages, others = _pages(sweeps["main"])
    points.append({**dict.fromkeys(points[0]), "what": "pages", "quantity": "pages", "pages": pages, "others": others})
    return points


def _pages(runs: Runs) -> tuple[int, int]:
    """How many pages were loaded, and how many of them are not what their draws say, object by object."""
    import numpy as np

    rows = {row.quantity: row for row in _TABLE}
    sizes = {run: sorted(column(of_run, "size_bytes")) for (run,), of_run in groups(runs.tables["object"], "run")}
    others = 0
    for row in runs.rows:
        scenario = Scenario(runs.scenario).with_({"seed": row["seed"]})
        drawn = scenario.page_draws(_FLOW, 2000)
        used = {name: rows[name].used(np.frombuffer(drawn[name])) for name in rows}
        wanted = [
            *used["main-size"][: int(used["main-count"][0])],
            *used["embedded-size"][: int(used["embedded-count"][0])],
        ]
        others += sizes[row["run"]] != sorted(wanted)
    return len(runs.rows), others


def _compared(row: _Row, used: "Draws", law: Cdf, most: float) -> Points:
    import numpy as np

    whole = law(most)
    half = 0.0 if row.least is None else 0.5

    def share(x: float) -> float:
        """The share of what is used that is not above x, of the truncated law."""
        return 0.0 if x < (row.least or 0) else min(1.0, law(x + half) / whole)

    values, counts = np.unique(used[:_DRAWS], return_counts=True)
    upto = np.cumsum(counts) / _DRAWS
    expected = np.array([share(x) for x in values])
    # Just before each value that came nothing came: there the law is that of the whole number before it.
    before = np.array([share(x - 2 * half) for x in values])
    distance = float(max(np.max(np.abs(upto - expected)), np.max(np.abs(np.append(0, upto[:-1]) - before))))
    about = {"quantity": row.label}
    law_mean, law_deviation = _moments(share, row.least, most)
    summary = {
        "distance": distance,
        "critical": 1.63 / sqrt(_DRAWS),
        "mean": float(used.mean()),
        "law_mean": law_mean,
        "measured_mean": row.measured_mean,
        "deviation": float(used.std()),
        "law_deviation": law_deviation,
        "measured_deviation": row.measured_deviation,
        "largest": float(used.max()),
        "most": most,
        "pages": None,
        "others": None,
    }
    nowhere = {"x": None, "drawn_share": None, "law_share": None}
    points: Points = [{"what": "law", **about, **nowhere, **summary}]
    first = np.sort(used[:_DRAWS])
    for place in np.linspace(0, _DRAWS - 1, _SHOWN).astype(int):
        x = float(first[place])
        shares = {"drawn_share": float(np.searchsorted(first, x, side="right")) / _DRAWS, "law_share": share(x)}
        points.append({"what": "curve", **about, "x": x, **shares, **dict.fromkeys(summary)})
    return points


def _moments(share: Cdf, least: float | None, most: float) -> tuple[float, float]:
    """Mean and standard deviation: sums over whole numbers up to some thousands, integrals in steps of ln x beyond."""
    mean = square = low = 0.0
    if least is not None:
        low = min(most, _WHOLE)
        for whole in range(int(low)):
            above = 1 - share(whole)
            mean += above
            square += (2 * whole + 1) * above
    if low < most:
        start = log(low) if low else log(most) - 60
        step = (log(most) - start) / _STEPS
        for index in range(_STEPS):
            x = exp(start + (index + 0.5) * step)
            # Of whole numbers the share above x is a step function: this is the line through its steps.
            above = (1 - share(x - (0.5 if least is not None else 0.0))) * x * step
            mean += above
            square += 2 * x * above
    return mean, sqrt(square - mean**2)


def draw(points: Points) -> "Figure":
    """A panel for each quantity: its law as a line, the draws as dots, the measured mean as a mark."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(_TABLE), figsize=(11, 2.6), sharey=True, layout="constrained")
    for axes, ((label,), of_it) in zip(
        panels, groups(select(points, {"what": ["law", "curve"]}), "quantity"), strict=True
    ):
        curve = select(of_it, {"what": "curve"})
        axes.plot(column(curve, "x"), column(curve, "law_share"), color=style.BLACK, linewidth=0.9, label="law")
        axes.plot(column(curve, "x"), column(curve, "drawn_share"), ".", color=style.BLUE, markersize=3, label="draws")
        (summary,) = select(of_it, {"what": "law"})
        for mean, colour, dashes in (("law_mean", style.BLACK, ":"), ("measured_mean", style.VERMILLION, "--")):
            axes.axvline(summary[mean], color=colour, linewidth=0.7, linestyle=dashes, label=mean.replace("_", " "))
        set_logarithmic(axes, "x")
        axes.set_xlabel(label)
    panels[0].set_ylabel("share not above")
    legend_above(figure, panels)
    return figure
