"""The figures of the BDP paper: its settings in every scenario, paired seeds, and what is measured."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from quiclab import Scenario
from quiclab.papers import bdp
from quiclab.papers.bdp import taken
from quiclab.papers.bdp.variable import saved
from quiclab.papers.bdp.ways import way
from quiclab.reproduce.runs import Runs

SCENARIOS = sorted(Path(bdp.__file__).parent.glob("*.scenario.toml"))
PLAIN = [file for file in SCENARIOS if not file.name.startswith("hystart.")]


def controllers(value: Any) -> Iterator[Any]:
    """Every controller in a document, with those that a sweep sets."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.endswith("controller"):
                yield from inner if isinstance(inner, list) else [inner]
            else:
                yield from controllers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from controllers(inner)


def proxies(value: Any) -> Iterator[dict[str, Any]]:
    """Every proxy in a document."""
    if isinstance(value, dict) and value.get("type") == "pep":
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from proxies(inner)


@pytest.mark.parametrize("file", PLAIN, ids=lambda file: file.name)
def test_no_sender_and_no_proxy_uses_hystart(file: Path) -> None:
    """As in Figs. 3, 4 and 5 of the paper. Defaults count: a bare `cubic` uses HyStart++."""
    written = tomllib.loads(file.read_text())
    base = tomllib.loads(Scenario.from_file(file).to_toml())
    names = {flow.get("protocol", "quic") for flow in base["flow"]}
    used = [
        base[section]["controller"] for section in ("transport", "tcp") if section.replace("transport", "quic") in names
    ]
    found = [*used, *controllers(written.get("sweep", {}))]
    assert found
    for controller in found:
        name, options = (controller, {}) if isinstance(controller, str) else (controller["type"], controller)
        assert name != "cubic" or options.get("slow_start") == "standard", controller
    for proxy in proxies(written):
        assert proxy.get("controller", {}).get("slow_start") == "standard", proxy


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_runs_that_are_compared_have_the_same_seeds(file: Path) -> None:
    """The figures compare run by run; by default each combination of a sweep has seeds of its own."""
    sweep = tomllib.loads(file.read_text()).get("sweep", {})
    assert sweep.get("repetitions", 1) == 1 or sweep["seeds"] == "paired"


def test_a_share_that_is_saved_has_the_interval_of_a_ratio() -> None:
    """Where each run saves the same share it is certain, however much the times differ; the difference is not."""
    share, low, high = saved([(10.0, 6.0), (100.0, 60.0), (1.0, 0.6)])
    assert (share, low, high) == pytest.approx((0.4, 0.4, 0.4))
    share, low, high = saved([(10.0, 6.0), (10.0, 8.0), (10.0, 4.0)])
    assert share == pytest.approx(0.4) and low == pytest.approx(0.4 - (high - 0.4)) and high > 0.8


def test_the_saved_capacity_is_used_or_refused_by_what_the_events_say(tmp_path: Path) -> None:
    """The long queue makes the check refuse it, and nothing else changes; the short queue and wide bounds do not."""
    text = (Path(bdp.__file__).parent / "congested.scenario.toml").read_text()
    text = text.replace('duration = "120 s"', 'duration = "64 s"').replace("repetitions = 20", "repetitions = 1")
    file = tmp_path / "congested.toml"
    file.write_text(text)
    runs = Runs.of(quiclab.sweep(file), Scenario.from_file(file))
    refused, used = taken.refusing(runs), taken.using(runs)
    found = {(way(row), row["link.satellite.queue_bdp"]): row for row in runs.rows}
    assert not runs.failures and not refused & used
    assert {case for case, row in found.items() if row["run"] in refused} == {
        *((name, queue) for name in ("zero_rtt", "bdp_frame", "bbr3") for queue in (1.0,)),
        ("zero_rtt", 0.2),
    }
    assert {case for case, row in found.items() if row["run"] in used} == {
        ("bdp_frame_wide", 1.0),
        ("careful", 1.0),
        ("careful_bbr3", 1.0),
        ("bdp_frame", 0.2),
        ("careful", 0.2),
    }
    plain, same = found["zero_rtt", 1.0], found["bdp_frame", 1.0]
    told = [name for name in plain if name.startswith(("connection.", "link."))]
    assert len(told) > 100 and [plain[name] for name in told] == [same[name] for name in told]
