"""The page of `quiclab report` in a headless Chromium without a network."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from chromium import Browser, Page, browser
from conftest import SCENARIO, SWEEP
from quiclab import report

READY = "window.quiclab"
EVIL = '</script><script>window.evil = 1</script><img src=x onerror="window.evil = 1">'


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Path:
    """The report of a run."""
    return report.write(saved, tmp_path_factory.mktemp("one") / "r.html").report


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, saved: Path) -> Path:
    """The report of two runs, one of half the rate."""
    other = quiclab.Scenario.from_text(SCENARIO, {"link.cell.forward.rate": "2500 kbit/s", "seed": 2}).run()
    return report.write([saved, other], tmp_path_factory.mktemp("two") / "r.html").report


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    """A sweep of 48 runs."""
    text = SWEEP.replace("repetitions = 3", "repetitions = 12")
    return quiclab.sweep(quiclab.Scenario.from_text(text), jobs=1, out=tmp_path_factory.mktemp("swept") / "bulk")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory, swept: quiclab.Sweep) -> Path:
    """Its report."""
    return report.write(swept, tmp_path_factory.mktemp("sweep") / "r.html").report


def opened(chromium: Browser, path: Path, scheme: str = "light") -> Page:
    page = chromium.page()
    page.scheme(scheme)
    page.load(path, READY)
    return page


def span(page: Page, figure: int = 0) -> tuple[float, float]:
    """The visible range of a figure in seconds."""
    start, end = page.value(f"(({{ time }}) => [time.start, time.end])(quiclab.figures.figures[{figure}])")
    return start / 1e9, end / 1e9


def place(page: Page, selector: str) -> tuple[float, float, float, float]:
    """Left, top, width and height in the window, after scrolling there."""
    left, top, width, height = page.value(
        f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
        " found.scrollIntoView({ block: 'center' }); const box = found.getBoundingClientRect();"
        " return [box.left, box.top, box.width, box.height]; })()"
    )
    return left, top, width, height


def drag(page: Page, start: float, end: float, y: float) -> None:
    page.mouse("mousePressed", start, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", (start + end) / 2, y, button="left", buttons=1)
    page.mouse("mouseMoved", end, y, button="left", buttons=1)
    page.mouse("mouseReleased", end, y, button="left", clickCount=1)
    page.settle()


def test_nothing_is_loaded_and_nothing_complains(chromium: Browser, one: Path, two: Path, sweep: Path) -> None:
    for path in (one, two, sweep):
        for scheme in ("light", "dark"):
            page = opened(chromium, path, scheme)
            assert page.complaints == []
            outside = [address for address in page.requests if not address.startswith("data:")]
            assert outside == [path.as_uri()]


def test_a_drag_zooms_and_a_double_click_resets(chromium: Browser, one: Path) -> None:
    page = opened(chromium, one)
    start, end = span(page)
    left, top, _, _ = place(page, "#figures svg.panel")
    x = "(seconds) => quiclab.figures.figures[0].time.x(seconds * 1e9)"
    from_, to = (left + 52 + page.value(f"({x})({seconds})") for seconds in (0.1, 0.2))
    before = page.value("document.querySelector('#figures .series').getAttribute('d')")
    drag(page, from_, to, top + 60)
    assert span(page) == pytest.approx((0.1, 0.2), abs=0.01)
    assert page.value("document.querySelector('#figures .series').getAttribute('d')") != before
    ticks = page.value("[...document.querySelectorAll('#figures text.time')].map((one) => Number(one.textContent))")
    # In milliseconds now, or in seconds.
    assert ticks and (all(90 <= tick <= 210 for tick in ticks) or all(0.09 <= tick <= 0.21 for tick in ticks))
    page.click(from_, top + 60, count=2)
    page.settle()
    assert span(page) == (start, end)


def test_the_wheel_zooms_only_a_figure_that_was_clicked(chromium: Browser, one: Path) -> None:
    page = opened(chromium, one)
    whole = span(page)
    left, top, width, _ = place(page, "#figures svg.panel")
    x, y = left + width / 2, top + 60
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    time.sleep(0.1)
    page.settle()
    assert span(page) == whole
    left, top, width, _ = place(page, "#figures svg.panel")
    x, y = left + width / 2, top + 60
    page.click(x, y)
    at = f"quiclab.figures.figures[0].time.time({width / 2 - 52})"
    below = page.value(at)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    page.settle()
    start, end = span(page)
    assert end - start < 0.9 * (whole[1] - whole[0])
    # What is at the pointer stays there.
    assert page.value(at) == pytest.approx(below, rel=0.01)
    for key, expected in (("0", "whole"), ("+", "less"), ("-", "whole")):
        page.key(key)
        page.settle()
        start, end = span(page)
        whole_again = abs((end - start) - (whole[1] - whole[0])) < 1e-6
        assert whole_again == (expected == "whole"), key
    assert page.complaints == []


def test_the_pointer_reads_the_values(chromium: Browser, one: Path, run: quiclab.Run) -> None:
    page = opened(chromium, one)
    left, top, _, _ = place(page, "#figures svg.panel")
    x = page.value("quiclab.figures.figures[0].time.x(0.3e9)")
    page.mouse("mouseMoved", left + 52 + x, top + 60)
    said = page.value("[...document.querySelectorAll('#figures .legend')][1].innerText")
    table = run.table("connection").to_pydict()
    rows = zip(table["time_s"], table["side"], table["latest_rtt_ms"], table["smoothed_rtt_ms"], strict=True)
    known = [row[2:] for row in rows if row[1] == "server" and row[0] <= 0.3 and row[2] is not None]
    # A pixel is some milliseconds: the last few values.
    assert any(f"latest {latest:,.2f}" in said or f"latest {latest:,.1f}" in said for latest, _ in known[-8:]), said


def test_an_answer_zooms_to_its_longest_stretch(chromium: Browser, one: Path) -> None:
    page = opened(chromium, one)
    button = "document.querySelector('button[data-figure]')"
    start, end = page.value(f"[{button}.dataset.from, {button}.dataset.to].map(Number)")
    assert "in the figure" in page.value(f"{button}.getAttribute('aria-label')")
    page.value(f"{button}.click()")
    page.settle()
    margin = 0.1 * (end - start)
    last = page.value("quiclab.figures.figures[0].time.most") / 1e9
    assert span(page) == pytest.approx((start - margin, min(end + margin, last)), abs=1e-3)


def test_runs_share_their_axes_or_not(chromium: Browser, two: Path) -> None:
    page = opened(chromium, two)
    assert page.value("document.querySelectorAll('#figures figure:not([hidden])').length") == 2
    assert span(page, 0) == span(page, 1)
    tops = "quiclab.figures.figures.map(({ panels }) => panels[0].top)"
    assert len(set(page.value(tops))) == 1
    page.value("document.querySelector('#figures button').click()")
    assert span(page, 0) == span(page, 1)
    page.value("document.querySelector('#figures input[type=checkbox]').click()")
    page.settle()
    assert span(page, 0) != span(page, 1)
    assert len(set(page.value(tops))) == 2
    # A figure can be put away.
    page.value("[...document.querySelectorAll('#figures input[type=checkbox]')].at(-1).click()")
    assert page.value("document.querySelectorAll('#figures figure:not([hidden])').length") == 1


def rows(page: Page) -> list[list[str]]:
    found: list[list[str]] = page.value(
        "[...document.querySelectorAll('.runs tbody tr')].filter((row) => row.closest('.split > div:first-child'))"
        ".map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    )
    return found


def enter(page: Page, words: str) -> str:
    """Enters a filter, and returns what the page says."""
    page.value(
        "((words) => { const input = document.querySelector('.filter input'); input.value = words;"
        f" input.dispatchEvent(new Event('input')); }})({json.dumps(words)})"
    )
    page.settle()
    return str(page.value("document.querySelector('.runs output').textContent"))


def test_a_filter_leaves_fewer_rows(chromium: Browser, sweep: Path, swept: quiclab.Sweep) -> None:
    page = opened(chromium, sweep)
    assert len(rows(page)) == 25
    table = swept.runs.to_pydict()
    goodput, delay = table["connection.download.goodput_mbps"], table["link.cell.delay_ms"]
    ratio = table["transport.ack_ratio"]
    middle = sorted(goodput)[24]
    expected = sum(value > middle and one == 20 for value, one in zip(goodput, delay, strict=True))
    assert 0 < expected < 24
    assert enter(page, f"goodput_mbps > {middle} and delay_ms = 20") == f"{expected} of 48 runs"
    assert len(rows(page)) == min(expected, 25)
    either = sum(one == 4 or two == 20 for one, two in zip(ratio, delay, strict=True))
    assert enter(page, "transport.ack_ratio == 4 or link.cell.delay_ms = 20") == f"{either} of 48 runs"
    assert enter(page, "not (ack_ratio = 4 or delay_ms = 20)") == f"{48 - either} of 48 runs"
    assert enter(page, "run <= 3") == "3 of 48 runs"
    seed = str(table["seed"][7])
    assert enter(page, f"seed = {seed}") == "1 of 48 runs" and rows(page)[0][0] == "8"
    assert enter(page, "goodput_mbps") == "48 of 48 runs"
    # Columns with one value in all runs, or with none.
    assert enter(page, "completed and not error") == "48 of 48 runs"
    assert (
        enter(page, "not completed or error ~ memory or connection.download.delivered_bytes < 300000") == "0 of 48 runs"
    )
    # What is wrong is said, and the rows stay.
    for wrong, why in (
        ("nothing > 3", "no column nothing"),
        ("delivered_bytes > 3", "delivered_bytes may be link.cell.forward.delivered_bytes, link.cell.backward."),
        ("run > x", "expected a number instead of x"),
        ("run >", "expected a value after run >"),
        ("(run > 3", "a ) is missing"),
        ("run > 3 4", "instead of 4"),
        ('run > "', "cannot read"),
    ):
        enter(page, "run = 5")
        assert why in enter(page, wrong)
        assert page.value("document.querySelector('.filter input').getAttribute('aria-invalid')") == "true"
        assert len(rows(page)) == 1
    assert enter(page, "") == "48 of 48 runs"
    assert page.value("document.querySelector('.filter input').getAttribute('aria-invalid')") is None
    assert page.complaints == []


def test_columns_are_sorted_and_chosen(chromium: Browser, sweep: Path, swept: quiclab.Sweep) -> None:
    page = opened(chromium, sweep)
    head = "document.querySelector('button[aria-label=\"Sort by connection.download.goodput_mbps\"]')"
    page.value(f"{head}.click()")
    column = page.value(f"[...{head}.closest('tr').cells].indexOf({head}.closest('th')) - 1")
    numbers = [float(row[column]) for row in rows(page)]
    assert numbers == sorted(numbers, reverse=True)
    best = max(swept.runs["connection.download.goodput_mbps"].to_pylist())
    assert numbers[0] == pytest.approx(best, abs=0.001)
    assert page.value(f"{head}.closest('th').getAttribute('aria-sort')") == "descending"
    page.value(f"{head}.click()")
    assert page.value(f"{head}.closest('th').getAttribute('aria-sort')") == "ascending"
    # Another column appears, and the other pages of the table have the rest.
    name = "connection.download.packets_sent"
    page.value(f"document.querySelector('fieldset label[title=\"{name}\"] input').click()")
    assert page.value(f"document.querySelectorAll('.runs th[title=\"{name}\"]').length") == 1
    seen = {row[0] for row in rows(page)}
    page.value("[...document.querySelectorAll('.runs button')].find((one) => one.textContent === 'next').click()")
    assert len(seen | {row[0] for row in rows(page)}) == 48


def test_a_click_opens_the_run(chromium: Browser, sweep: Path, swept: quiclab.Sweep) -> None:
    page = opened(chromium, sweep)
    left, top, width, height = place(page, ".runs tbody tr:nth-child(3)")
    page.click(left + width / 2, top + height / 2)
    said = page.value("document.querySelector('.detail').innerText")
    row = swept.runs.slice(2, 1).to_pylist()[0]
    assert said.startswith("Run 3") and str(row["seed"]) in said
    assert f"--seed {row['seed']} --set transport.ack_ratio=1" in said
    assert f"{row['connection.download.goodput_mbps']:.3f}" in said
    assert page.value("document.querySelectorAll('.detail svg.panel .series').length") >= 1
    assert page.value("document.querySelector('.detail svg.panel .series').getAttribute('d').length") > 100
    # By the keyboard: the row has a button.
    page.value("document.querySelector('.runs tbody tr:nth-child(5) button').focus()")
    page.value("document.activeElement.click()")
    assert page.value("document.querySelector('.detail h3').textContent") == "Run 5"
    assert page.value("document.querySelectorAll('.runs tr[aria-current=true]').length") == 1
    page.value("document.querySelector('.detail header button').click()")
    assert page.value("document.querySelector('.detail').hidden")
    assert page.complaints == []


def test_the_chart_has_the_means_of_the_sweep(chromium: Browser, sweep: Path, swept: quiclab.Sweep) -> None:
    page = opened(chromium, sweep)
    choose = (
        "((at, value) => { const select = document.querySelectorAll('.runs select')[at]; select.value = value;"
        " select.dispatchEvent(new Event('change')); })"
    )
    page.value(f"{choose}(1, 'connection.download.rtt_mean_ms')")
    found = page.value(
        "[...document.querySelectorAll('.split > div:last-child details tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    means = swept.means("rtt_mean_ms").to_pylist()
    assert len(found) == len(means) == 4
    for mean in means:
        key = [str(mean["transport.ack_ratio"]), str(mean["link.cell.delay_ms"]).removesuffix(".0")]
        (cells,) = [row for row in found if row[:2] == key]
        assert cells[2:4] == ["12", "12"]
        assert float(cells[4]) == pytest.approx(mean["mean"], abs=0.006)
        assert float(cells[5]) == pytest.approx((mean["high"] - mean["low"]) / 2, abs=0.006)
    assert page.value("document.querySelectorAll('.chart circle.mean').length") == 4
    assert page.value("document.querySelectorAll('.chart path.series').length") == 2
    # It follows the filter, and can show every run.
    enter(page, "ack_ratio = 1")
    assert page.value("document.querySelectorAll('.chart circle.mean').length") == 2
    page.value(f"{choose}(3, 'runs')")
    dots = page.value("[...document.querySelectorAll('.chart .dots')].map((one) => one.getAttribute('d')).join('')")
    assert dots.count("h0") == 24
    # A group keeps its colour when others are filtered out.
    colours = (
        "Object.fromEntries([...document.querySelectorAll('.split > div:last-child .legend i')]"
        ".map((i) => [i.nextSibling.data, i.style.color]))"
    )
    enter(page, "")
    two = page.value(colours)
    enter(page, "delay_ms = 20")
    one = page.value(colours)
    assert len(set(two.values())) == 2 and len(one) == 1 and one.items() <= two.items()
    enter(page, "run > 1000")
    assert "no run with a value is left" in page.value("document.querySelector('.split').innerText")
    assert page.complaints == []


CONTRAST = """(() => {
    const parts = (text) => (text.match(/[0-9.]+/g) ?? []).map(Number);
    const light = (colour) => {
        const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        const [red, green, blue] = parts(colour).slice(0, 3).map((part) => linear(part / 255));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    let least = [99, ""];
    for (const element of document.querySelectorAll("main *, header *, footer")) {
        const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!hasText || !element.checkVisibility() || element.disabled) continue;
        if (element.closest("title, option, em")) continue;
        const style = getComputedStyle(element);
        const colour = element instanceof SVGElement ? style.fill : style.color;
        const [one, two] = [light(colour), light(ground(element))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (two + 0.05);
        if (ratio < least[0]) least = [ratio, `${element.outerHTML.slice(0, 80)}`];
    }
    return least;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(chromium: Browser, two: Path, sweep: Path, scheme: str) -> None:
    for path in (two, sweep):
        page = opened(chromium, path, scheme)
        ratio, what = page.value(CONTRAST)
        # WCAG 2.2, 1.4.3.
        assert ratio >= 4.5, what
        dark = page.value("getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(20, 23, 26)") == (scheme == "dark")
        # The button changes the scheme, and the figures with it.
        page.value("document.querySelector('#theme').click()")
        assert page.value("getComputedStyle(document.body).backgroundColor") != dark


def test_screen_readers_find_names(chromium: Browser, two: Path, sweep: Path) -> None:
    for path in (two, sweep):
        page = opened(chromium, path)
        unnamed = page.value(
            "[...document.querySelectorAll('button, input, select, svg[role=img], [role=region], [role=group]')]"
            ".filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length))"
            ".map((one) => one.outerHTML)"
        )
        assert unnamed == []
        tables = page.value("document.querySelectorAll('table').length")
        assert tables == page.value("document.querySelectorAll('table > caption').length") > 0
        assert page.value("document.querySelectorAll('th:not([scope])').length") == 0
        assert page.value("document.documentElement.lang") == "en"


def test_a_narrow_window_does_not_scroll_sideways(chromium: Browser, two: Path, sweep: Path) -> None:
    for path in (two, sweep):
        page = chromium.page()
        page.resize(400, 800)
        page.load(path, READY)
        assert page.value("document.documentElement.scrollWidth") == 400
        widest = page.value("Math.max(...[...document.querySelectorAll('svg')].map((one) => one.clientWidth))")
        assert 300 < widest <= 400
        # What is said of a cause has the whole width.
        sentences = page.value(
            "[...document.querySelectorAll('.answers td:last-child')].filter((one) => one.textContent)"
            ".map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right, box.width])"
        )
        assert bool(sentences) == (path == two)
        assert all(left >= 0 and right <= 400 and width > 300 for left, right, width in sentences)


def test_the_example_of_a_filter_has_values(chromium: Browser, tmp_path: Path) -> None:
    # The first runs are too short for their transfer.
    text = SWEEP.replace("[sweep]", '[sweep]\nduration = ["100 ms", "60 s"]')
    swept = quiclab.sweep(quiclab.Scenario.from_text(text), jobs=1, out=tmp_path / "swept")
    assert swept.runs["connection.download.completion_s"][0].as_py() is None
    page = opened(chromium, report.write(swept, tmp_path / "r.html").report)
    example = page.value("document.querySelector('.filter input').placeholder")
    assert "completion_s > " in example and "> -" not in example
    page.value(f"""(() => {{
        const input = document.querySelector('.filter input');
        input.value = {json.dumps(example)};
        input.dispatchEvent(new Event('input'));
    }})()""")
    page.settle()
    assert "of 24 runs" in page.value("document.querySelector('.toolbar').textContent")


def test_a_name_breaks_after_dots_and_underscores_alone(chromium: Browser, sweep: Path) -> None:
    page = chromium.page()
    page.resize(400, 800)
    page.load(sweep, READY)
    page.value("document.querySelector('.runs tbody button').click()")
    page.settle()
    lines = page.value("""[...document.querySelectorAll('.detail dt')].flatMap((dt) => {
        const range = document.createRange(), tops = [];
        [...dt.childNodes].filter((node) => node.data).forEach((node) => {
            range.selectNodeContents(node);
            tops.push(new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size);
        });
        return tops;
    })""")
    assert len(lines) > 50 and set(lines) == {1}


def test_the_legend_has_the_signs_of_the_lines(chromium: Browser, one: Path) -> None:
    page = opened(chromium, one)
    keys = dict(
        page.value("[...document.querySelectorAll('#figures .legend i')].map((i) => [i.nextSibling.data, i.className])")
    )
    assert keys["minimum"] == "dashed" and keys["smoothed"] == "steps"
    assert keys["capacity of cell forward"] == "ground"
    assert page.value("document.querySelectorAll('#figures path[stroke-dasharray]').length") == 1
    # A dash is drawn, and none for a line without.
    assert "gradient" in page.value("getComputedStyle(document.querySelector('.legend i.dashed')).backgroundImage")
    assert page.value("getComputedStyle(document.querySelector('.legend i.steps')).backgroundImage") == "none"


def test_paper_is_white_and_has_no_buttons(chromium: Browser, two: Path) -> None:
    page = opened(chromium, two, "dark")
    page.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.settle()
    assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.value("document.querySelector('#theme').checkVisibility()")
    assert page.value("document.querySelector('#figures svg.panel').checkVisibility()")
    # The answers keep their times, which are buttons on the screen.
    assert page.value("document.querySelector('button[data-figure]').checkVisibility()")


def test_hostile_names_are_text(chromium: Browser, saved: Path, swept: quiclab.Sweep, tmp_path: Path) -> None:
    run = quiclab.load(saved)
    summary = json.loads(json.dumps(run.summary))
    summary["scenario"] = summary["version"] = EVIL
    summary["connections"][0] |= {"name": EVIL, "bottleneck": EVIL}
    summary["links"][0]["name"] = EVIL
    tables = {name: run.table(name) for name in run.tables}
    evil = quiclab.Run(summary, f"# {EVIL}\n{run.scenario_toml}", tables)
    info = {**swept.info, "scenario": EVIL, "notes": [EVIL], "version": EVIL}
    info["parameters"] = [{**one, "values": [EVIL, *one["values"][1:]]} for one in info["parameters"]]
    hostile = quiclab.Sweep(swept.series_path.parent, info)
    path = report.write([evil, run, hostile], tmp_path / "r.html").report
    assert path.read_text(encoding="utf-8").count("</script>") == 2
    page = opened(chromium, path)
    page.value("document.querySelector('.runs tbody tr').click()")
    page.settle()
    assert page.value("window.evil") is None
    assert page.value("document.querySelectorAll('img').length") == 0
    for selector in ("h1", "#what", "#results", "#why", "#figures", ".sweep", ".detail"):
        assert EVIL in page.value(f"document.querySelector('{selector}').textContent"), selector
    assert page.complaints == []


def test_a_page_that_is_damaged_says_so(chromium: Browser, one: Path, tmp_path: Path) -> None:
    text = one.read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    path = tmp_path / "r.html"
    path.write_text(text[:start] + text[start + 40 :], encoding="utf-8")
    page = chromium.page()
    page.load(path, "!document.querySelector('#trouble').hidden")
    assert page.value("document.querySelector('#trouble').textContent").startswith("The figures cannot be shown: ")


def values_of(page: Page) -> Any:
    return page.value("quiclab.figures.figures[0].panels[0].lines.map((line) => [...line.times].at(-1))")


def test_times_are_read_back(chromium: Browser, one: Path, run: quiclab.Run) -> None:
    page = opened(chromium, one)
    table = run.table("connection").to_pydict()
    last = max(at for at, side in zip(table["time_s"], table["side"], strict=True) if side == "server")
    assert values_of(page) == pytest.approx([last * 1e9, last * 1e9], abs=1000)


def test_failed_runs_say_why(chromium: Browser, tmp_path: Path) -> None:
    """A flow that begins after the end of its run is no scenario: one of four combinations."""
    table = '[sweep]\nrepetitions = 2\nduration = ["20 s", "1 s"]\nflow.download.start = ["0 s", "5 s"]\n'
    swept = quiclab.sweep(quiclab.Scenario.from_text(SCENARIO + table), jobs=1)
    page = opened(chromium, report.write(swept, tmp_path / "r.html").report)
    assert enter(page, "error") == "2 of 8 runs"
    assert any("too late" in cell for cell in rows(page)[0])
    page.value("document.querySelector('.runs tbody tr').click()")
    assert "failed: " in page.value("document.querySelector('.detail .note').textContent")
    # The mean of no value is none.
    assert "no run with a value is left" in page.value("document.querySelector('.split').innerText")
    enter(page, "")
    assert "2 runs have no value" in page.value("document.querySelector('.split').innerText")
    assert page.complaints == []


def test_a_chart_says_over_what_its_means_are(chromium: Browser, sweep: Path) -> None:
    page = opened(chromium, sweep)

    def shown(group: str) -> str:
        page.value(
            "((name) => { const select = document.querySelectorAll('.split select')[2]; select.value = name;"
            f" select.dispatchEvent(new Event('change')); }})({json.dumps(group)})"
        )
        page.settle()
        return str(
            page.value(
                "(({ hidden, textContent }) => hidden ? '' : textContent)(document.querySelector('.chart + .note'))"
            )
        )

    assert shown("link.cell.delay_ms") == ""
    assert shown("") == "Shown: means over all delay_ms: a filter or a group tells them apart."
    enter(page, "delay_ms = 10")
    assert shown("") == ""


def test_columns_of_text_are_groups_and_places(chromium: Browser, tmp_path: Path) -> None:
    table = '[sweep]\ntransport.scheduler = ["rr", "fifo"]\nflow.download.transport.controller = ["newreno", "bbr3"]\n'
    swept = quiclab.sweep(quiclab.Scenario.from_text(SCENARIO + table), jobs=1)
    page = opened(chromium, report.write(swept, tmp_path / "r.html").report)
    ticks = page.value("[...document.querySelectorAll('.chart > text')].map((one) => one.textContent)")
    assert {"rr", "fifo"} <= {*ticks}
    # Between texts there is no line, and of one run no interval.
    assert page.value("document.querySelectorAll('.chart .series, .chart .interval').length") == 0
    assert page.value("document.querySelectorAll('.chart circle.mean').length") == 4
    assert enter(page, 'controller = bbr3 and scheduler != "fifo"') == "1 of 4 runs"
    assert page.complaints == []
