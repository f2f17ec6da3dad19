"""Labels of figures by matplotlib: plain characters, none cut by the edge, values as they are."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import quiclab
from conftest import SWEEP
from quiclab import plots
from quiclab.drawings import traces as trace_figure
from quiclab.drawings.plots.looks import styled
from quiclab.traces import read


def texts(figure: Any) -> list[str]:
    """The texts of a figure that are seen. Asserts that none is cut, and that none is TeX."""
    with styled():
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        frame = figure.bbox
        found = []
        unseen = _unseen(figure)
        for text in figure.findobj(Text):
            words = text.get_text()
            if not words.strip() or not text.get_visible() or text in unseen:
                continue
            box = text.get_window_extent()
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= frame.width + 1 and box.y1 <= frame.height + 1
            assert inside, (words, box, frame)
            assert "$" not in words and "\\" not in words, words
            found.append(words)
    return found


def _unseen(figure: Any) -> set[Text]:
    """The texts that are not drawn: those of hidden axes, and of ticks beyond the ends of an axis."""
    found = set()
    for axes in figure.axes:
        if not axes.get_visible():
            found |= set(axes.findobj(Text))
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low - 1e-9 * abs(low) <= tick.get_loc() <= high + 1e-9 * abs(high):
                    found |= {tick.label1, tick.label2}
    return found


def trace(tmp_path: Path, rates: list[float]) -> Path:
    path = tmp_path / "a.csv"
    lines = [f"{at * 100},{rate:.6f}" for at, rate in enumerate(rates)]
    path.write_text("time_ms,rate_mbps\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 0.3, 1.0, 42.0, 9999.0, 100_000.0])
def test_a_trace(tmp_path: Path, scale: float) -> None:
    path = trace(tmp_path, [scale * part for part in (1.0, 0.0, 0.3, 1.0, 0.01, 0.7)])
    drawn = trace_figure.draw(read(path), "a name that is fairly long.csv")
    words = texts(drawn)
    spread = drawn.axes[1]
    labels = [label.get_text() for label in spread.get_xticklabels() if label.get_text()]
    assert len(labels) >= 3, labels
    for place, label in zip(spread.get_xticks(), (one.get_text() for one in spread.get_xticklabels()), strict=True):
        if label and place >= 0:
            assert _number(label) == pytest.approx(place, rel=1e-6, abs=1e-12), (label, place)
    assert any("mean" in one for one in words)


def _number(label: str) -> float:
    """What a label of an axis says: 0, 0.1, 10\u207b\u00b2, 2\u00b710\u00b3."""
    digits = label.translate(
        str.maketrans("\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "-0123456789")
    )
    if digits == label:
        return float(label.replace("\u2212", "-"))
    found = re.fullmatch(r"(?:([0-9.]+)\u00b7)?10(.+)", label)
    assert found, label
    return float(found[1] or 1) * 10.0 ** int(digits[found.start(2) :])


@pytest.mark.parametrize("kind", [kind for kind in plots.PLOTS if kind not in ("air", "playback")])
def test_a_run(run: quiclab.Run, kind: str) -> None:
    texts(run.plot(kind=kind))


@pytest.fixture(scope="module")
def swept() -> quiclab.Sweep:
    return quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("line", {"x": "ack_ratio", "y": "goodput_mbps", "group": "delay_ms", "log": "xy"}),
        ("line", {"x": "delay_ms", "y": "packets_lost", "log": "x"}),
        ("bar", {"x": "ack_ratio", "y": "packets_sent", "log": "y"}),
        ("box", {"x": "ack_ratio", "y": "rtt_mean_ms", "group": "delay_ms", "log": "y"}),
        ("ecdf", {"x": "completion_s", "group": "ack_ratio", "log": "x"}),
        ("heatmap", {"x": "ack_ratio", "y": "delay_ms", "value": "packets_sent", "log": "v"}),
        ("heatmap", {"x": "ack_ratio", "y": "delay_ms", "value": "rtt_mean_ms", "log": "v"}),
    ],
)
def test_a_sweep(swept: quiclab.Sweep, kind: str, columns: dict[str, str]) -> None:
    figure, _ = plots.draw_sweep(swept, kind, None, columns)
    assert texts(figure)
