"""Labels of the figures of reports, in a headless Chromium: none is cut, none lies on another, values are right."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import quiclab
from chromium import Browser, Page, browser
from quiclab.drawings import self_contained

WIDTHS = (360, 500, 820, 1400)
SCALES = (1e-6, 1e-3, 0.5, 1.0, 7.3, 123.0, 9999.0, 12_345.0, 2_500_000.0, 8.1e7, 1e9, 1e12)
HARNESS = """<!doctype html><html><head><meta charset="utf-8"><style>{style}</style></head>
<body><div id="place"></div><script>{script}
const {{ Chart }} = {scope}chart, {{ Panel }} = {scope}panel, {{ element }} = {scope}elements;
const {{ TimeAxis }} = drawings_view_browser_time;
window.quiclab = {{}};</script></body></html>"""
"""The modules of a report's page, with names to call."""
SCOPE = "drawings_report_browser_"
COLOURS = "() => ({ palette: Array(6).fill('#0072B2'), stream: (n) => `hsl(${n * 40} 70% 40%)` })"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    # All modules but the last, which fills the page.
    script, last, _ = self_contained.bundle("drawings/report/browser/main.js").partition(f"const {SCOPE}main = ")
    assert last
    path = tmp_path_factory.mktemp("page") / "page.html"
    style = self_contained.source("drawings/report/browser/style.css")
    path.write_text(HARNESS.format(style=style, script=script, scope=SCOPE))
    made = chromium.page()
    made.load(path, "window.quiclab")
    return made


def chart(
    page: Page, x: list[Any], y: list[float], group: list[Any] | None, *, kind: str = "means", is_log: bool = False
) -> None:
    """Draws the chart of runs: a row for each x, y and group."""
    columns = [_column("link.x", x, varied=True)]
    if group is not None:
        columns.append(_column("group.name", group, varied=True))
    columns.append({**_column("connection.y", y), "shown": True})
    facts = {"quantiles": [12.7, 4.3, 3.18], "normal": 1.96}
    page.value(
        f"""(() => {{
        const place = document.getElementById("place");
        const more = (one) => ({{ short: one.name.split(".").at(-1), decimals: 3, isShown: !!one.shown }});
        const columns = {json.dumps(columns)}.map((one) => ({{ ...one, ...more(one) }}));
        const rows = columns[0].values.map((_, at) => at);
        window.chart = new Chart({{ columns, rows }}, {json.dumps(facts)}, {COLOURS});
        place.replaceChildren(window.chart.element);
        window.chart.kind = {json.dumps(kind)};
        window.chart.isLogarithmic = {json.dumps(is_log)};
        window.chart.draw();
        }})()"""
    )
    page.settle()


def _column(name: str, values: list[Any], *, varied: bool = False) -> dict[str, Any]:
    if any(isinstance(value, str) for value in values):
        words = list(dict.fromkeys(values))
        return {
            "name": name,
            "kind": "text",
            "words": words,
            "values": [words.index(value) for value in values],
            "varied": varied,
        }
    return {"name": name, "kind": "number", "words": [], "values": values, "varied": varied}


BOXES = """(svg) => [...svg.querySelectorAll("text")].map((text) => {
  const [box, frame] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
  const words = [...text.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data).join("");
  return { words, kind: text.getAttribute("class"),
    title: text.querySelector("title")?.textContent ?? null,
    left: box.left - frame.left, right: frame.right - box.right,
    top: box.top - frame.top, bottom: frame.bottom - box.bottom,
    width: box.width, height: box.height };
})"""


def boxes(page: Page, svg: str) -> list[dict[str, Any]]:
    """The texts of a figure: their words, and how far they are from each side of it."""
    found: list[dict[str, Any]] = page.value(f"({BOXES})({svg})")
    return found


def apart(found: list[dict[str, Any]]) -> None:
    """Asserts that no text is cut by the figure, and that none lies on another."""
    assert found
    for one in found:
        for side in ("left", "right", "top", "bottom"):
            assert one[side] >= -0.6, (side, one)
    for at, one in enumerate(found):
        for other in found[at + 1 :]:
            beside = (
                one["left"] + one["width"] <= other["left"] + 0.6 or other["left"] + other["width"] <= one["left"] + 0.6
            )
            below = one["top"] + one["height"] <= other["top"] + 3 or other["top"] + other["height"] <= one["top"] + 3
            assert beside or below, (one, other)


def number(words: str) -> float:
    return float(words.replace(",", "").replace("\u2212", "-"))


def rising(found: list[dict[str, Any]], low: float, high: float) -> None:
    """Asserts that the values of an axis are even steps, and reach over what is drawn."""
    values = [number(one["words"]) for one in found if one["kind"] == "value"]
    assert len(values) >= 3, values
    steps = {round((other - one) / (values[1] - values[0]), 3) for one, other in pairwise(values)}
    assert steps == {1.0}, values
    step = values[1] - values[0]
    assert values[0] - step <= low and values[-1] + step >= high, (values, low, high)
    places = [one["top"] for one in found if one["kind"] == "value"]
    assert places == sorted(places, reverse=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_values_of_a_chart_are_whole(page: Page, width: int) -> None:
    page.resize(width, 900)
    for scale in SCALES:
        for sign in (1, -1):
            y = [sign * scale * part for part in (0.2, 0.5, 0.9, 1.0)]
            for kind in ("means", "runs"):
                chart(page, [1, 2, 3, 4], y, None, kind=kind)
                found = boxes(page, "window.chart.svg")
                apart(found)
                rising(found, min(0, *y), max(0, *y))


def test_two_and_a_half_million_is_written(page: Page) -> None:
    page.resize(1400, 900)
    chart(page, [1, 2], [2_400_000.0, 2_500_000.0], None)
    found = boxes(page, "window.chart.svg")
    assert "2,500,000" in [one["words"] for one in found]
    apart(found)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("length", [2, 12, 40, 90])
def test_every_category_is_there_and_whole(page: Page, width: int, count: int, length: int) -> None:
    page.resize(width, 900)
    names = [f"{at}-{'mWi' * 40}"[:length] for at in range(count)]
    chart(page, names, [float(at) for at in range(count)], None)
    found = boxes(page, "window.chart.svg")
    apart(found)
    told = [one["title"] or one["words"] for one in found if one["kind"] == "place"]
    assert told == names
    # One that is too long for any chart has its ends, and the whole beside it.
    for one in found:
        if one["title"]:
            assert one["words"][:2] == one["title"][:2] and one["words"][-2:] == one["title"][-2:]


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("kind", ["means", "runs"])
@pytest.mark.parametrize("groups", [2, 3, 7, 12])
def test_groups_do_not_lie_on_each_other(page: Page, groups: int, kind: str, is_text: bool) -> None:
    page.resize(1400, 900)
    places = ["cubic", "bbr3", "newreno"] if is_text else [10, 20, 30]
    rows = [(place, f"group {at:02}") for place in places for at in range(groups) for _ in range(3)]
    values = [5.0 + 0.1 * (at % 3) for at in range(len(rows))]
    chart(page, [place for place, _ in rows], values, [name for _, name in rows], kind=kind)
    if kind == "means":
        drawn = page.value(
            "[...window.chart.svg.querySelectorAll('.mean, .interval')].map((one) => one.getBoundingClientRect())"
            ".map(({ left, right }) => [left, right])"
        )
        assert len(drawn) == 2 * groups * len(places)
        spans = sorted(
            {
                (round(min(one[0], other[0]), 2), round(max(one[1], other[1]), 2))
                for one, other in zip(drawn[::2], drawn[1::2], strict=True)
            }
        )
        assert len(spans) == groups * len(places)
        assert all(before[1] <= after[0] + 1.5 for before, after in pairwise(spans)), spans
    else:
        drawn = page.value(
            "[...window.chart.svg.querySelectorAll('.dots')].flatMap((one) => ("
            "[...one.getAttribute('d').matchAll(/M([0-9.]+)/g)].map((found) => Number(found[1]))))"
        )
        assert len(set(drawn)) == groups * len(places)
        gaps = [after - before for before, after in pairwise(sorted(set(drawn)))]
        assert min(gaps) >= 5


def panel(page: Page, values: list[float], width: int, seconds: float) -> None:
    """Draws a panel of a run over time."""
    page.value(
        f"""(() => {{
        const place = document.getElementById("place");
        const values = {json.dumps(values)};
        const line = {{ label: "sent", colour: "blue", style: "line", times: [], values }};
        const facts = {{ title: "Rate", unit: "Mbit/s", marks: [], lines: [line] }};
        window.panel = new Panel(facts);
        window.panel.lines[0].times = values.map((_, at) => at * {seconds} * 1e9 / (values.length - 1));
        const time = new TimeAxis({seconds} * 1e9);
        const range = window.panel.range(time);
        const left = window.panel.room(range, {width});
        time.width = {width} - left - 8;
        window.panel.draw(time, ({COLOURS})(), range, {width}, true, left);
        window.panel.svg.style.width = "{width}px";
        place.replaceChildren(window.panel.svg);
        }})()"""
    )
    page.settle()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_values_of_a_panel_are_whole(page: Page, width: int) -> None:
    page.resize(width + 40, 900)
    for scale in SCALES:
        for sign in (1, -1):
            values = [sign * scale * part for part in (0.0, 0.3, 1.0, 0.7)]
            panel(page, values, width, 20.0)
            found = boxes(page, "window.panel.svg")
            apart(found)
            rising(found, min(0, *values), max(0, *values))
            inside = page.value("window.panel.svg.querySelector('.series').getBBox().height")
            assert inside > 60


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 1.0, 33.0, 5000.0, 1e6])
def test_the_times_of_a_panel_are_whole(page: Page, seconds: float) -> None:
    for width in WIDTHS:
        page.resize(width + 40, 900)
        panel(page, [0.0, 1.0], width, seconds)
        found = boxes(page, "window.panel.svg")
        apart(found)
        assert [one for one in found if one["kind"] == "time"]


def test_figures_over_one_time_axis_begin_at_one_place(chromium: Browser, saved: Path, tmp_path: Path) -> None:
    path = quiclab.report.write([saved, saved], tmp_path / "r.html").report
    made = chromium.page()
    made.load(path, "window.quiclab")
    for width in WIDTHS:
        made.resize(width, 900)
        made.settle()
        for at in range(made.value("document.querySelectorAll('#figures svg.panel').length")):
            apart(boxes(made, f"document.querySelectorAll('#figures svg.panel')[{at}]"))
        lefts = made.value("quiclab.figures.figures.map(({ left }) => left)")
        assert len(set(lefts)) == 1
    assert made.complaints == []
