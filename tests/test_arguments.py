"""Wrong arguments of the Python interface: whatever they are, one line says what would be right."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import SCENARIO, SWEEP
from quiclab import plots, report, statistics, traces, view
from quiclab.values import arguments

HALF = "a\ud800"
LONG = "x" * 100_000
TRACE = "time_s,rate_mbps\n0,5\n1,0\n2,5\n"
NO_PATHS: tuple[Any, ...] = (3, 1.5, None, [], {}, b"runs", object(), True, "\0", HALF, LONG, "a/" * 5000)
NO_NAMES: tuple[Any, ...] = (3, [], {}, b"loss", object(), HALF, LONG)
NO_NUMBERS: tuple[Any, ...] = ("x", None, [], {}, math.nan, b"1", object(), True)
NO_WHOLE: tuple[Any, ...] = (*NO_NUMBERS, 1.5, -1, 1 << 200, 10**5000)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, its run and its sweep."""
    root = tmp_path_factory.mktemp("arguments")
    (root / "s.toml").write_text(SCENARIO)
    (root / "t.csv").write_text(TRACE)
    scenario = quiclab.Scenario.from_file(root / "s.toml")
    scenario.run(out=root / "run", figure=False)
    quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out=root / "sweep")
    return root


Call = Callable[[Path, Any], object]
"""Gives a wrong value to a function: the place, and the value."""


def _run(place: Path) -> quiclab.Run:
    return quiclab.load(place / "run")


def _sweep(place: Path) -> quiclab.Sweep:
    return quiclab.load_sweep(place / "sweep")


def _scenario(place: Path) -> quiclab.Scenario:
    return quiclab.Scenario.from_file(place / "s.toml")


def _trace(place: Path) -> traces.Capacity:
    return traces.read(place / "t.csv")


def _chart(place: Path, **more: Any) -> object:
    return _sweep(place).plot(**{"x": "delay_ms", "y": "goodput_mbps", **more})


CASES: dict[str, tuple[Call, Sequence[Any]]] = {
    "from_file": (lambda _, value: quiclab.Scenario.from_file(value), NO_PATHS),
    "from_text": (lambda _, value: quiclab.Scenario.from_text(value), (3, None, b"", [], HALF, f"a = '{HALF}'")),
    "from_text: origin": (lambda _, value: quiclab.Scenario.from_text(SCENARIO, origin=value), NO_PATHS),
    "Scenario": (lambda _, value: quiclab.Scenario(value), (3, "x", [1], b"", {"name": HALF}, {HALF: 1})),
    "with_": (
        lambda place, value: _scenario(place).with_(value),
        (3, None, [3], {1: 2}, HALF, [HALF], {"name": HALF}, {HALF: 1}, {LONG: 1}, {"name": [HALF]}),
    ),
    "run: out": (lambda place, value: _scenario(place).run(out=value), (3, 1.5, [], b"x", "\0", HALF, LONG, False)),
    "run: progress": (lambda place, value: _scenario(place).run(progress=value, tables=False), (3, "x", [1])),
    "save": (lambda place, value: _run(place).save(value), NO_PATHS),
    "load": (lambda _, value: quiclab.load(value), NO_PATHS),
    "load_sweep": (lambda _, value: quiclab.load_sweep(value), NO_PATHS),
    "sweep": (lambda _, value: quiclab.sweep(value), [one for one in NO_PATHS if one != {}]),
    "sweep: out": (lambda _, value: quiclab.sweep(quiclab.Scenario.from_text(SWEEP), out=value), (3, [], b"", "\0")),
    "sweep: progress": (lambda _, value: quiclab.sweep(quiclab.Scenario.from_text(SWEEP), progress=value), (3, "x")),
    "diff": (lambda place, value: quiclab.diff(value, place / "run"), NO_PATHS),
    "diff: b": (lambda place, value: quiclab.diff(place / "run", value), NO_PATHS),
    "view": (lambda _, value: view.write(value), NO_PATHS),
    "view: out": (lambda place, value: view.write(place / "run", value), [one for one in NO_PATHS if one is not None]),
    "report": (lambda place, value: report.write([value], place / "r.html"), NO_PATHS),
    "report: what": (lambda place, value: report.write(value, place / "r.html"), NO_PATHS),
    "report: show": (lambda place, value: report.write(place / "sweep", place / "r.html", show=value), (3, [3], LONG)),
    "page_draws: flow": (lambda place, value: _scenario(place).page_draws(value, 1), NO_NAMES),
    "page_draws: count": (lambda place, value: _scenario(place).page_draws("download", value), NO_WHOLE),
    "table": (lambda place, value: _run(place).table(value), NO_NAMES),
    "table of a sweep": (lambda place, value: _sweep(place).table(value), NO_NAMES),
    "parts": (lambda place, value: list(_run(place).parts(value, ["time_s"])), NO_NAMES),
    "parts: columns": (lambda place, value: list(_run(place).parts("drop", value)), (3, [3], [[]], {}, HALF, [LONG])),
    "plot": (lambda place, value: _run(place).plot(value, "rtt"), [one for one in NO_PATHS if one is not None]),
    "plot: kind": (lambda place, value: _run(place).plot(kind=value), NO_NAMES),
    "plot: connection": (lambda place, value: _run(place).plot(connection=value), NO_NAMES),
    "why: connection": (lambda place, value: _run(place).why(value, tries=False), NO_NAMES),
    "draw": (lambda _, value: plots.draw(value, "rtt"), (3, None, "run", [], b"")),
    "save a figure": (lambda place, value: plots.save(_run(place), value, "rtt"), NO_PATHS),
    "means": (lambda place, value: _sweep(place).means(value), (*NO_NAMES, None)),
    "means: by": (lambda place, value: _sweep(place).means("goodput_mbps", by=value), (3, [3], [None], HALF, b"x")),
    "means: confidence": (lambda place, value: _sweep(place).means("goodput_mbps", confidence=value), NO_NUMBERS),
    "means: interval": (lambda place, value: _sweep(place).means("goodput_mbps", interval=value), (*NO_NAMES, None)),
    "means: seed": (
        lambda place, value: _sweep(place).means("goodput_mbps", interval="bootstrap", seed=value),
        NO_WHOLE,
    ),
    "quantiles": (lambda place, value: _sweep(place).quantiles("goodput_mbps", q=value), (3, None, "x", {}, b"")),
    "quantiles: one": (lambda place, value: _sweep(place).quantiles("goodput_mbps", q=[value]), (*NO_NUMBERS, 2, -1)),
    "resolve": (lambda _, value: statistics.resolve(value, ["a"]), NO_NAMES),
    "chart: x": (lambda place, value: _chart(place, x=value), (*NO_NAMES, None)),
    "chart: group": (lambda place, value: _chart(place, group=value), NO_NAMES),
    "chart: kind": (lambda place, value: _chart(place, kind=value), (3, None, [])),
    "chart: where": (lambda place, value: _chart(place, where=value), (3, "x", [], None, {3: 1})),
    "chart: log": (lambda place, value: _chart(place, log=value), (*NO_NAMES, None)),
    "chart: spread": (lambda place, value: _chart(place, spread=value), NO_NAMES),
    "chart: confidence": (lambda place, value: _chart(place, confidence=value), NO_NUMBERS),
    "generate": (lambda _, value: traces.generate(value), (*NO_NAMES, None)),
    "generate: seed": (lambda _, value: traces.generate("mmwave", seed=value), NO_WHOLE),
    "generate: duration": (
        lambda _, value: traces.generate("leo", duration_s=value),
        [one for one in NO_NUMBERS if one is not None],
    ),
    "generate: options": (lambda _, value: traces.generate("leo", options=value), (3, "x", [1], {1: 2}, {"a": 3})),
    "read": (lambda _, value: traces.read(value), NO_PATHS),
    "write": (lambda _, value: traces.write(value, "csv"), (3, None, "x", [])),
    "binned": (lambda place, value: _trace(place).binned(value), (*NO_WHOLE, 0)),
    "outages: least": (lambda place, value: _trace(place).outages(value, 1), (*NO_NUMBERS, -1)),
    "outages: below": (lambda place, value: _trace(place).outages(1, value), (*NO_NUMBERS, -1)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_argument_is_told_in_one_line(place: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(place)
    call, values = CASES[case]
    for value in values:
        with pytest.raises(quiclab.Error) as found:
            call(place, value)
        told = str(found.value)
        assert told.isprintable() and len(told) < 500, (value if value is not LONG else "long", told[:600])


@pytest.mark.parametrize("environment", ["CongestionControl", "RateAdaptation"])
def test_a_wrong_seed_of_an_environment_is_told_in_one_line(environment: str) -> None:
    gym = pytest.importorskip("quiclab.gym")
    video = ['flow.download.application={ type = "video" }'] if environment == "RateAdaptation" else []
    made = getattr(gym, environment)
    scenario = quiclab.Scenario.from_text(SCENARIO, video)
    one = made(scenario)
    seeds: tuple[Any, ...] = (-1, 1.5, "x", 1 << 63, 1 << 70, [], True)
    for seed in seeds:
        with pytest.raises(quiclab.Error, match=r"reset: seed is .*; expected a whole number from 0 to"):
            one.reset(seed=seed)
        with pytest.raises(quiclab.Error, match=r"scenario_seed is .*; expected a whole number from 0 to"):
            made(scenario, scenario_seed=seed)
    one.reset(seed=(1 << 63) - 1)
    one.close()


def test_right_arguments_are_taken(place: Path) -> None:
    assert arguments.path("x", "a/b") == arguments.path("x", Path("a/b")) == Path("a/b")
    assert arguments.texts("x", "ab", "names") == ["ab"] and arguments.texts("x", ("a", "b"), "names") == ["a", "b"]
    assert len(_sweep(place).means("goodput_mbps", interval="bootstrap", seed=1 << 100)) == 4
    assert _trace(place).outages(0, 0) == [(1_000_000_000, 2_000_000_000)]
    plots.save(_run(place), str(place / "p.png"), "rtt")
    assert (place / "p.png").exists()
