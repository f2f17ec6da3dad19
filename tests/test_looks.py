"""Figures for papers, and the spread of every chart: widths, fonts, letters, colours in grey, intervals."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import quiclab
from conftest import SCENARIO, Command
from quiclab import Error, plots
from quiclab.drawings.plots.looks import STYLES, WIDTHS, current
from quiclab.statistics import interval_of

SWEEP = (
    SCENARIO
    + """
[sweep]
repetitions = 6
transport.ack_ratio = [1, 2, 5]
link.cell.delay = ["10 ms", "20 ms"]
"""
)
_BOTH: dict[str, Any] = {"x": "ack_ratio", "y": "goodput_mbps"}
CHARTS: dict[str, dict[str, Any]] = {
    "line": {**_BOTH, "group": "link.cell.delay"},
    "bar": {**_BOTH, "group": "link.cell.delay"},
    "box": {**_BOTH, "group": "link.cell.delay"},
    "ecdf": {"x": "goodput_mbps", "group": "link.cell.delay"},
    "heatmap": {"x": "ack_ratio", "y": "link.cell.delay", "value": "goodput_mbps"},
}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    return quiclab.sweep(quiclab.Scenario.from_text(SWEEP), out=tmp_path_factory.mktemp("sweep") / "s")


def goodput(sweep: quiclab.Sweep, **where: float) -> "np.ndarray[Any, Any]":
    """The values of the runs with these values of columns."""
    rows = sweep.runs.to_pylist()
    names = {"ratio": "transport.ack_ratio", "delay": "link.cell.delay_ms"}
    mine = [row for row in rows if all(row[names[name]] == value for name, value in where.items())]
    return np.asarray([row["connection.download.goodput_mbps"] for row in mine])


@pytest.mark.parametrize("style", WIDTHS)
@pytest.mark.parametrize("column", ["one", "two"])
def test_a_pdf_is_as_wide_as_the_column_and_has_its_fonts(
    sweep: quiclab.Sweep, run: quiclab.Run, tmp_path: Path, style: str, column: str
) -> None:
    with plots.drawn_for(plots.look(style, column)):
        sweep.plot(tmp_path / "chart.pdf", "line", **CHARTS["line"])
        run.plot(tmp_path / "run.pdf")
    inches = {"ieee": {"one": 3.5, "two": 7.16}, "acm": {"one": 3.33, "two": 7.0}, "paper": {"one": 3.33, "two": 7.0}}
    for name in ("chart.pdf", "run.pdf"):
        pdf = (tmp_path / name).read_bytes()
        (box,) = re.findall(rb"/MediaBox \[ 0 0 ([0-9.]+) [0-9.]+ \]", pdf)
        assert float(box) == pytest.approx(72 * inches[style][column], abs=0.01)
        assert b"/Type3" not in pdf
        assert b"/CIDFontType2" in pdf and b"/FontFile2" in pdf


def texts(figure: Figure) -> list[Text]:
    return [one for one in figure.findobj(Text) if isinstance(one, Text) and one.get_visible() and one.get_text()]


@pytest.mark.parametrize("kind", CHARTS)
def test_letters_are_those_of_a_paper_and_lie_inside(sweep: quiclab.Sweep, kind: str) -> None:
    with plots.drawn_for(plots.look("acm")):
        figure = sweep.plot(None, kind, **CHARTS[kind])
        figure.draw_without_rendering()
        assert {text.get_fontsize() for text in texts(figure)} <= {6.5, 7, 8}
        assert figure.get_suptitle() == ""
        width, height = figure.bbox.size
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box is not None
            assert box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        titled = sweep.plot(None, kind, **CHARTS[kind], title="Mine")
        assert titled.get_suptitle() == "Mine"
    assert sweep.plot(None, kind, **CHARTS[kind]).get_suptitle() != ""


def brightness(colour: Any) -> float:
    """The lightness of CIE 1976 from 0 to 1, which is what a print in grey keeps."""
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in to_rgb(colour)]
    y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (116 * y ** (1 / 3) - 16) / 100 if y > 0.008856 else 9.033 * y


def test_groups_differ_without_colours() -> None:
    look = plots.look("ieee")
    first = [brightness(colour) for colour in look.palette[:5]]
    assert min(abs(one - other) for one, other in combinations(first, 2)) >= 0.1
    assert max(first) < 0.8, "it can be seen on white"
    assert len(set(map(str, look.dashes))) == len(look.dashes) >= 4


def test_lines_of_a_paper_have_their_own_dashes_and_markers(sweep: quiclab.Sweep) -> None:
    with plots.drawn_for(plots.look("paper")):
        axes = sweep.plot(None, "line", **CHARTS["line"]).axes[0]
    lines = axes.lines
    assert len({str(line._dash_pattern) for line in lines}) == len(lines) == 2  # type: ignore[attr-defined]
    assert len({line.get_marker() for line in lines}) == 2


def test_a_figure_on_the_screen_is_what_it_was(sweep: quiclab.Sweep, tmp_path: Path) -> None:
    sweep.plot(tmp_path / "a.pdf", "line", **CHARTS["line"])
    with plots.drawn_for(plots.look("screen")):
        sweep.plot(tmp_path / "b.pdf", "line", **CHARTS["line"])
    with plots.drawn_for(plots.look("acm")):
        sweep.plot(tmp_path / "c.pdf", "line", **CHARTS["line"])
        assert current().width == 3.33
    assert current().width is None
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes() != (tmp_path / "c.pdf").read_bytes()


def test_the_command_takes_styles(command: Command, sweep: quiclab.Sweep, saved: Path) -> None:
    assert sweep.path is not None
    chart = ["plot", str(sweep.path), "--x", "ack_ratio", "--y", "goodput_mbps"]
    for style in STYLES:
        done = command(*chart, "--style", style, "--column", "two", "--out", f"{style}.svg", "--json")
        assert json.loads(done.stdout) == {"figure": f"{style}.svg"}, done.stderr
    widths = [
        float(re.findall(r'width="([0-9.]+)pt"', (command.folder / f"{style}.svg").read_text())[0])
        for style in ("ieee", "acm")
    ]
    assert widths == pytest.approx([72 * 7.16, 72 * 7.0], abs=0.01)
    assert command("plot", str(saved), "--style", "acm", "--out", "run.pdf").returncode == 0
    with pytest.raises(Error, match="no style 'iee': one of screen, ieee, acm, paper; did you mean 'ieee'"):
        plots.look("iee")


def draw(sweep: quiclab.Sweep, kind: str, **more: Any) -> Axes:
    return sweep.plot(None, kind, **{**CHARTS[kind], **more}).axes[0]


@pytest.mark.parametrize("spread", ["student", "bootstrap"])
def test_the_spread_of_a_distribution_is_the_interval_of_a_part(sweep: quiclab.Sweep, spread: Any) -> None:
    assert len(draw(sweep, "ecdf").collections) == 0
    bands = draw(sweep, "ecdf", spread=spread, confidence=0.9).collections
    assert len(bands) == 2
    values = goodput(sweep, delay=10)
    middle = np.sort(values)[len(values) // 2]
    low, high = interval_of(np.where(values <= middle, 1.0, 0.0), spread, 0.9) or (0.0, 0.0)
    corners = np.asarray(bands[0].get_paths()[0].vertices)
    there = corners[np.isclose(corners[:, 0], middle)][:, 1]
    assert np.isclose(there, low).any() and np.isclose(there, high).any()
    assert corners[:, 1].min() >= 0 and corners[:, 1].max() <= 1


def test_a_distribution_has_no_quantiles_beside_itself(sweep: quiclab.Sweep) -> None:
    with pytest.raises(Error, match="its spread is student or bootstrap"):
        draw(sweep, "ecdf", spread="quantiles")


def test_the_spread_of_boxes(sweep: quiclab.Sweep) -> None:
    plain = draw(sweep, "box")
    with_means = draw(sweep, "box", spread="student")
    assert len(with_means.lines) > len(plain.lines)
    diamonds = [line for line in with_means.lines if line.get_marker() == "D"]
    means = [goodput(sweep, ratio=ratio, delay=10).mean() for ratio in (1, 2, 5)]
    np.testing.assert_allclose(np.asarray(diamonds[0].get_ydata(), dtype=float), means)
    # Whiskers at quantiles: the first line of each box.
    whiskers = draw(sweep, "box", spread="quantiles", confidence=0.5).lines[0]
    values = goodput(sweep, ratio=1, delay=10)
    reached = values[values >= np.quantile(values, 0.25)].min()
    assert min(np.asarray(whiskers.get_ydata(), dtype=float)) == pytest.approx(min(reached, np.quantile(values, 0.25)))


def test_the_spread_of_a_heat_map_stands_in_its_cells(sweep: quiclab.Sweep) -> None:
    def words(**more: Any) -> list[str]:
        return [text.get_text() for text in draw(sweep, "heatmap", **more).texts]

    assert all("\n" not in text for text in words())
    values = goodput(sweep, ratio=1, delay=10)
    low, high = interval_of(values) or (0.0, 0.0)
    assert f"{values.mean():.2f}\n\N{PLUS-MINUS SIGN}{(high - low) / 2:.2f}" in words(spread="student")
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    assert f"{middle:.2f}\n{low:.2f}\N{EN DASH}{high:.2f}" in words(spread="quantiles", confidence=0.5)


def test_titles_say_what_the_spread_is(sweep: quiclab.Sweep) -> None:
    def title(kind: str, **more: Any) -> str:
        return sweep.plot(None, kind, **{**CHARTS[kind], **more}).get_suptitle()

    assert "interval" not in title("ecdf") and "interval" not in title("box") and "interval" not in title("heatmap")
    assert "with 95 % intervals (bootstrap) at each value" in title("ecdf", spread="bootstrap")
    assert "means with 95 % intervals (Student)" in title("heatmap", spread="student")
    assert "whiskers around the middle 90 %" in title("box", spread="quantiles", confidence=0.9)
    assert "medians and the middle 95 %" in title("heatmap", spread="quantiles")
