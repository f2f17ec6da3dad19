"""Table 1: what pages of the model are drawn from, beside the laws that were fitted and what was measured."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import erfc, exp, expm1, log, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.quantities import number
from quiclab.reproduce.runs import Runs
from quiclab.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

_SCENARIO = Path(__file__).with_name("web_model.scenario.toml")
_FLOW = "page"
_DRAWS = 1_000_000
_DRAWS_OF_MEAN = 10_000_000
_STEPS = 20_000
"""Of the integrals of the means."""
_SHOWN = 60
"""Points of a curve."""

Cdf = Callable[[float], float]


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


_TABLE = (
    _Row("main-size", "bytes of a main object", _weibull, ("scale", "shape"), 31561, 49219),
    _Row("main-count", "main objects", _log_normal, ("mu", "sigma"), 1.2, 2.63),
    _Row("embedded-size", "bytes of an embedded object", _log_normal, ("mu", "sigma"), 23915, 128079),
    _Row("embedded-count", "embedded objects", _exponential, ("rate",), 31.93, 37.65),
    _Row("reading", "reading time in s", _log_normal, ("mu", "sigma"), 39.7, 324.92),
)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """For each row of the table how far the draws are from its law, and points of both distributions."""
    import numpy as np

    assert sweeps["main"].made, "the page is loaded"
    scenario = Scenario.from_file(_SCENARIO)
    (flow,) = tomllib.loads(scenario.to_toml())["flow"]
    model = flow["application"]["page"]
    drawn = scenario.page_draws(_FLOW, _DRAWS_OF_MEAN)
    points: Points = []
    for row in _TABLE:
        draws = np.frombuffer(drawn[row.quantity])
        prefix = row.quantity.replace("-", "_")
        law = row.law(*(model[f"{prefix}_{parameter}"] for parameter in row.parameters))
        most = number(model[f"{prefix}_max"])
        points += _compared(row, draws, law, most)
    return points


def _compared(row: _Row, draws: "np.ndarray[Any, Any]", law: Cdf, most: float) -> Points:
    import numpy as np

    whole = law(most)
    first = np.sort(draws[:_DRAWS])
    expected = np.array([law(x) for x in first]) / whole
    below = np.arange(_DRAWS) / _DRAWS
    distance = float(max(np.max(expected - below), np.max(below + 1 / _DRAWS - expected)))
    about = {"quantity": row.label}
    law_mean = _mean(law, most)
    summary = {
        "distance": distance,
        "critical": 1.63 / sqrt(_DRAWS),
        "mean": float(draws.mean()),
        "law_mean": law_mean,
        "law_mean_low": 0.99 * law_mean,
        "law_mean_high": 1.01 * law_mean,
        "measured_mean": row.measured_mean,
        "deviation": float(draws.std()),
        "measured_deviation": row.measured_deviation,
        "largest": float(draws.max()),
        "most": most,
    }
    nowhere = {"x": None, "drawn_share": None, "law_share": None}
    points: Points = [{"what": "law", **about, **nowhere, **summary}]
    for place in np.linspace(0, _DRAWS - 1, _SHOWN).astype(int):
        x = float(first[place])
        shares = {"drawn_share": (place + 1) / _DRAWS, "law_share": law(x) / whole}
        points.append({"what": "curve", **about, "x": x, **shares, **dict.fromkeys(summary)})
    return points


def _mean(law: Cdf, most: float) -> float:
    """The mean of the law truncated at its maximum: the integral of what is above x, in steps of ln x."""
    low, high = log(most) - 60, log(most)
    step = (high - low) / _STEPS
    whole = law(most)
    middles = (exp(low + (index + 0.5) * step) for index in range(_STEPS))
    return sum((1 - law(x) / whole) * x * step for x in middles)


def draw(points: Points) -> "Figure":
    """A panel for each quantity: its law as a line, the draws as dots, the measured mean as a mark."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(_TABLE), figsize=(11, 2.6), sharey=True, layout="constrained")
    for axes, ((label,), of_it) in zip(panels, groups(points, "quantity"), strict=True):
        curve = select(of_it, {"what": "curve"})
        axes.plot(column(curve, "x"), column(curve, "law_share"), color=style.BLACK, linewidth=0.9, label="law")
        axes.plot(column(curve, "x"), column(curve, "drawn_share"), ".", color=style.BLUE, markersize=3, label="draws")
        (summary,) = select(of_it, {"what": "law"})
        for mean, colour, dashes in (("law_mean", style.BLACK, ":"), ("measured_mean", style.VERMILLION, "--")):
            axes.axvline(summary[mean], color=colour, linewidth=0.7, linestyle=dashes, label=mean.replace("_", " "))
        axes.set_xscale("log")
        axes.set_xlabel(label)
        # The least of all draws is far from the others, and says nothing.
        axes.set_xlim(left=max(curve[0]["x"], curve[1]["x"] / 10))
    panels[0].set_ylabel("share not above")
    panels[0].legend(fontsize="x-small", loc="upper left")
    return figure
