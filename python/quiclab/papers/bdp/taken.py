"""What a client that comes back takes from the TCP flow on its link: the measures of `congested` and `hystart`."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quiclab.papers.bdp.ways import NAMES, compared_with, completion, way
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Series, by_run
from quiclab.reproduce.spread import interval
from quiclab.values.units import number

PLAIN = "zero_rtt"
"""What the others are compared with: slow start that begins at the same time."""
MEASURES = {
    "lost_packets": "packets that it loses",
    "tcp_lost_packets": "packets that TCP loses",
    "tcp_missing_mb": "MB that TCP misses",
    "tcp_dip_percent": "percent that TCP misses at most over 5 s",
    "tcp_recovery_s": "seconds until TCP has 90 % again",
    "completion_s": "seconds until it is complete",
    "refused_percent": "RTT checks that refuse the saved capacity, in percent",
    "used_percent": "runs that use the saved capacity, in percent",
}
COLUMNS = ("what", "way", "link", "measure", "words", "time_s", "quic_mbps", "tcp_mbps", "mean", "low", "high", "runs")
_BACK = 0.9
"""TCP has recovered where it receives this share of what it receives alone, over so many seconds."""
_WINDOW_S = 5.0

Values = dict[int, float]
"""A measure by repetition."""


@dataclass
class Case:
    """The runs of one way on one link."""

    way: str
    link: str
    measures: dict[str, Values] = field(default_factory=dict)
    rates: Points = field(default_factory=list)
    """Rates over time in its first run."""


def cases(runs: Runs, alone: Runs, link: Callable[[Mapping[str, Any]], str]) -> list[Case]:
    """Every measure of `runs`, by way and link. `alone` has the same links and seeds without the return.

    `tcp_lost_packets` and `tcp_missing_mb` are those from the return to the end beyond those of a run without the
    return, and `tcp_dip_percent` is the most that is missing over five seconds.

    :param link: the name of a run's link.
    """
    start = returns_at(runs)
    without = {(link(row), row["repetition"]): row["run"] for row in alone.rows}
    quics, tcps, others = received(runs, "home"), received(runs, "office"), received(alone, "office")
    lost, lost_alone = lost_by_tcp(runs, start), lost_by_tcp(alone, start)
    refused, used = refusing(runs), using(runs)
    step, steps, after = number(runs.scenario["record"]["bin"]), _steps(runs), _steps(runs, start)
    found: dict[tuple[str, str], Case] = {}
    for row in runs.rows:
        run, plain = row["run"], without[link(row), row["repetition"]]
        case = found.setdefault((way(row), link(row)), Case(way(row), link(row)))
        quic, tcp, other = quics[run], tcps[run], others[plain]
        if row["repetition"] == 1:
            case.rates = [
                {"time_s": time, "quic_mbps": _rate(quic, time), "tcp_mbps": _rate(tcp, time)} for time in steps
            ]
        recovery, dip = _dip(tcp, other, after)
        values = {
            "lost_packets": float(row["connection.get@2.packets_declared_lost"]),
            "tcp_lost_packets": float(lost[run] - lost_alone[plain]),
            "tcp_missing_mb": sum(_rate(other, time) - _rate(tcp, time) for time in after) * step / 8,
            "tcp_dip_percent": dip,
            "tcp_recovery_s": recovery,
            "completion_s": completion(row),
            "refused_percent": 100.0 * (run in refused),
            "used_percent": 100.0 * (run in used),
        }
        for name, value in values.items():
            case.measures.setdefault(name, {})[row["repetition"]] = value
    return list(found.values())


def points(found: list[Case]) -> Points:
    """Rates over time in one run of each case, means of each measure, and their differences from plain slow start."""
    made: Points = []
    measures = {(case.way, case.link): case.measures for case in found}
    for case in found:
        made.extend(_point("time", case, rates) for rates in case.rates)
        made.extend(mean("mean", case, of, values.values()) for of, values in case.measures.items())
    for case in found:
        basis = compared_with(case.way, PLAIN)
        if basis is not None and (basis, case.link) in measures:
            for of, values in case.measures.items():
                plain = measures[basis, case.link][of]
                made.append(mean("more", case, of, [value - plain[which] for which, value in values.items()]))
    return made


def mean(what: str, case: Case, of: str, values: Any) -> dict[str, Any]:
    """The point of the mean of a measure."""
    middle, low, high = interval(list(values))
    about = {"measure": of, "words": MEASURES[of], "mean": middle, "low": low, "high": high, "runs": len(values)}
    return _point(what, case, about)


def _point(what: str, case: Case, values: dict[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "what": what, "way": NAMES[case.way], "link": case.link, **values}


def returns_at(runs: Runs) -> float:
    """When the client comes back, in seconds."""
    (visit,) = runs.scenario["flow"][0]["visits"]
    return number(visit["at"])


def _steps(runs: Runs, start: float = 0.0) -> list[float]:
    """The bins of the rates from then to the end of the runs, in seconds."""
    step, end = number(runs.scenario["record"]["bin"]), number(runs.scenario["duration"])
    return [place * step for place in range(round(start / step), round(end / step))]


def received(runs: Runs, link: str) -> dict[int, Series]:
    """What a link took to its client, in Mbit/s, by run."""
    return by_run(runs, f"{link} forward", "rate", "delivered_mbps")


def _rate(taken: Series, time: float) -> float:
    """The rate in the bin that begins then; a link that has not carried anything yet has no bins."""
    return taken.at(time) or 0.0


def lost_by_tcp(runs: Runs, start: float) -> Counter[int]:
    """How many packets TCP's server lost from then on, by run."""
    import pyarrow.compute as pc

    late = (pc.field("connection") == "tcp") & (pc.field("time_s") >= start)
    return Counter(runs.select("loss", ["run", "connection", "time_s"], late)["run"].to_pylist())


def refusing(runs: Runs) -> set[int]:
    """The runs in which the RTT check refused the saved capacity."""
    return _said(runs, "rtt_not_validated")


def using(runs: Runs) -> set[int]:
    """The runs in which the saved capacity became the window: a jump, or `normal` without a reason against it."""
    return _said(runs, "^(unvalidated|normal -) ")


def _said(runs: Runs, words: str) -> set[int]:
    """The runs with a change of the phase of resumption whose detail matches."""
    import pyarrow.compute as pc

    said = (pc.field("event").cast("string") == "resume_phase") & pc.match_substring_regex(
        pc.field("detail").cast("string"), words
    )
    return set(runs.select("event", ["run", "event", "detail"], said)["run"].to_pylist())


def _dip(tcp: Series, other: Series, steps: list[float]) -> tuple[float, float]:
    """When TCP has 90 % of what it has alone until the end, and the most that is missing in percent.

    Both over five seconds.
    """
    step = steps[1] - steps[0]
    width = round(_WINDOW_S / step)
    shares = []
    for place in range(len(steps) - width + 1):
        window = steps[place : place + width]
        there = sum(_rate(other, time) for time in window)
        shares.append(sum(_rate(tcp, time) for time in window) / there if there else 1.0)
    low = [place for place, share in enumerate(shares) if share < _BACK]
    recovery = (low[-1] + width) * step if low else 0.0
    return recovery, 100 * (1 - min(shares))
