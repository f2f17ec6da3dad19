"""Section IV.A: the three ways to carry a capacity to the next connection, and what keeps it from being used."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CHECKS = {
    "elsewhere": "another address",
    "nearer": "half the RTT or less",
    "farther": "more than ten times the RTT",
    "expired": "expired",
    "forged": "forged",
}
_ONLY_CARRIED = "forged"
"""What the server's own store cannot be: it never leaves the server."""
_COLUMNS = (
    "what",
    "case",
    "mode",
    "carrier",
    "completion_s",
    "other_s",
    "off_percent",
    "later_ms",
    "extra_bytes",
    "accepted",
    "said",
)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each carrier, and one for each carrier and failed check, beside the run without anything saved."""
    found: Points = []
    runs = {how: (row, said) for how, row, said in _by_carrier(sweeps["main"])}
    plain = runs["none", "none"][0]
    for (mode, carrier), (row, said) in runs.items():
        other = plain if mode == "none" else runs[mode, "address"][0]
        found.append(_point("carrier", "", mode, carrier, (row, other), said))
    for check, case in _CHECKS.items():
        runs = {how: (row, said) for how, row, said in _by_carrier(sweeps[check])}
        for (mode, carrier), (row, said) in runs.items():
            if mode != "none" and (check != _ONLY_CARRIED or carrier in ("token", "bdp_frame")):
                found.append(_point("check", case, mode, carrier, (row, runs["none", "none"][0]), said))
    return found


def _point(
    what: str, case: str, mode: str, carrier: str, rows: tuple[dict[str, Any], dict[str, Any]], said: str
) -> dict[str, Any]:
    (here, sent), (other, sent_there) = ((_completion(row), _sent(row)) for row in rows)
    return {
        **dict.fromkeys(_COLUMNS),
        "what": what,
        "case": case,
        "mode": mode,
        "carrier": carrier,
        "completion_s": here,
        "other_s": other,
        "off_percent": 100 * abs(here / other - 1),
        "later_ms": 1e3 * abs(here - other),
        "extra_bytes": sent - sent_there,
        "accepted": float(said == "accepted"),
        "said": said,
    }


def _by_carrier(runs: Runs) -> Iterator[tuple[tuple[str, str], dict[str, Any], str]]:
    """The runs by the way of resumption and by its carrier, and what became of what was saved."""
    for row in runs.rows:
        words = row["transport.resume"]
        mode = "none" if words == "none" else next(mode for mode in ("seed", "careful") if f'"{mode}"' in words)
        names = {"address": 'store = "address"', "ticket": 'store = "ticket"', "token": "token = true"}
        names["bdp_frame"] = "bdp_frame = true"
        carrier = next((name for name, part in names.items() if part in words), "none")
        events = (event for event in runs.tables["event"] if event["run"] == row["run"])
        said = {event["detail"].split()[-1] for event in events if event["event"] == "saved_path"}
        yield (mode, carrier), row, ", ".join(sorted(said))


def _second(row: dict[str, Any]) -> str:
    """The name of the second connection."""
    return "connection.get@2" if "connection.get@2.completion_s" in row else "connection.again"


def _completion(row: dict[str, Any]) -> float:
    end = row[f"{_second(row)}.completion_s"]
    if end is None:
        raise Error(f"bdp-storage: run {row['run']} is over before its transfers are; expected a longer duration")
    return float(end)


def _sent(row: dict[str, Any]) -> float:
    """What the clients have put on the link, in bytes."""
    return float(row["link.satellite.backward.delivered_bytes"])


def draw(points: Points) -> "Figure":
    """Bars: how long the second download takes, for each carrier, and for each carrier and failed check."""
    from matplotlib import pyplot

    carried = select(points, {"what": "carrier"})
    checks = select(points, {"what": "check", "mode": "careful"})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 5), layout="constrained", sharex=True)
    colours = {"none": style.GREY, "seed": style.ORANGE, "careful": style.BLUE}
    names = [
        f"{point['mode']}, {point['carrier']}" if point["mode"] != "none" else "nothing saved" for point in carried
    ]
    left.barh(names, [point["completion_s"] for point in carried], color=[colours[point["mode"]] for point in carried])
    left.set_title("resumed")
    names = [f"{point['case']}, {point['carrier']}" for point in checks]
    right.barh(names, [point["completion_s"] for point in checks], color=style.BLUE)
    right.set_title("a check failed")
    for axes in (left, right):
        axes.invert_yaxis()
        axes.set_xlabel("500 kB in s")
    return figure
