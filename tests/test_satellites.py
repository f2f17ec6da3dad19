"""docs/satellites.md: the numbers of the tutorial are those that its commands give."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import quiclab

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "satellites.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def connections(example: str, **changes: Any) -> list[dict[str, Any]]:
    run = quiclab.Scenario.from_file(ROOT / "examples" / example, changes).run()
    found: list[dict[str, Any]] = run.summary["connections"]
    return found


def printed(program: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a program of the page prints, in the folder of the checkout."""
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    return out.getvalue().splitlines()


def test_a_geostationary_link() -> None:
    (download,) = connections("geo.toml")
    assert f"takes {download['completion_s']:.3f} s, and uses {100 * download['goodput_mbps'] / 50:.0f} %" in PAGE
    (download,) = connections("geo.toml", **{"flow.download.application.size": "100 kB"})
    assert f"takes {download['completion_s']:.3f} s, for what the link sends in {100e3 * 8 / 50e3:.0f} ms" in PAGE


def test_a_client_that_returns() -> None:
    nothing: dict[str, Any] = {"transport.resume": "none"}
    rows: dict[str, dict[str, Any]] = {
        "nothing saved, no 0-RTT": {**nothing, "flow.get.early_data": False},
        "nothing saved, 0-RTT": nothing,
        "Careful Resume": {},
        "window and threshold at once": {"transport.resume": "seed"},
    }
    for name, changes in rows.items():
        second = connections("resume-store.toml", **changes)[1]
        assert re.search(rf"^\| {name}[^|]*\| {second['completion_s']:.3f} \|$", PAGE, re.MULTILINE), name


@pytest.mark.parametrize(
    ("example", "carrier"),
    [("store", "store of the server"), ("token", "token"), ("bdp-frame", "BDP_FRAME")],
)
def test_who_remembers(example: str, carrier: str) -> None:
    second = connections(f"resume-{example}.toml")[1]
    assert f"| {carrier} | {second['completion_s']:.3f} |" in PAGE


def test_tcp_with_help_and_quic_without() -> None:
    tcp, quic = connections("pep.toml")
    words = " ".join(PAGE.split())
    assert f"pair of proxies](model/pep.md) take {tcp['completion_s']:.3f} s" in words
    assert f"takes {quic['completion_s']:.3f} s from nothing" in words


def test_the_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(PROGRAMS[0], monkeypatch)
    assert "".join(f"    {line}\n" for line in lines) in PAGE


def test_a_memory_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"0": "nothing", "1": "the capacity", "2": "twice as much", "10": "ten times as much"}
    lines = [line.split() for line in printed(PROGRAMS[1], monkeypatch)]
    assert [factor for factor, _, _ in lines] == list(names)
    for factor, seconds, lost in lines:
        assert f"| {names[factor]} | {float(seconds):.3f} | {int(lost):,} |" in PAGE
    known = quiclab.Scenario.from_file(ROOT / "examples" / "resume-store.toml").run().memory
    assert f"{float(known[0]['capacity'].removesuffix(' B')) * 1e-6:.2f} MB in a round trip of 600 ms" in PAGE


def test_a_low_orbit() -> None:
    (download,) = connections("leo.toml")
    assert f"receives {download['goodput_mbps']:.1f} Mbit/s" in PAGE
