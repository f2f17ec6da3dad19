"""The controls of the page of `quiclab view` in a headless Chromium, and what a screen reader finds there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from chromium import Browser, Page, browser
from quiclab import view
from quiclab.drawings.view import model
from quiclab.drawings.view.page import page as build
from quiclab.records import qlog
from test_view_page import MS, READY, Figure, many
from test_view_runs import OUTAGE
from view_logs import write_two_streams


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the log by hand: packet 1 of stream 4 is lost, and sent again as packet 5."""
    return view.write(write_two_streams(tmp_path_factory.mktemp("hand") / "run")).view


@pytest.fixture(scope="module")
def two_flows(tmp_path_factory: pytest.TempPathFactory) -> tuple[quiclab.Run, Path]:
    """A run with an outage, of two flows over one link, and its page."""
    folder = tmp_path_factory.mktemp("two") / "run"
    return OUTAGE.run(qlog=True, out=folder), view.write(folder).view


def opened(chromium: Browser, path: Path, scheme: str = "light") -> Figure:
    page = chromium.page()
    page.scheme(scheme)
    page.load(path, READY)
    return Figure(page)


def text(figure: Figure, selector: str) -> str:
    """The visible text of an element, with single spaces."""
    return " ".join(str(figure.page.value(f"document.querySelector({selector!r}).innerText")).split())


def typed(page: Page, words: str) -> None:
    for letter in words:
        page.key(letter)


def kept(figure: Figure) -> Any:
    """The place of the packet that is marked."""
    return figure.value("figure.kept?.kind === 'packet' ? figure.kept.packet : null")


def test_a_packet_is_gone_to_by_its_number(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    assert text(figure, "#marked") == "Nothing is marked."
    figure.page.key("g")
    assert figure.page.value("document.activeElement.id") == "go"
    typed(figure.page, "5")
    figure.page.key("Enter")
    assert kept(figure) == 5
    assert text(figure, "#marked").startswith(
        "packet 5 (1rtt), acknowledged \u00b7 retransmits bytes of packet 1 \u00b7 sent at"
    )
    # The packet that it repeats is a step away, and leads back.
    figure.page.value("document.querySelector('#marked button').click()")
    assert kept(figure) == 1
    assert text(figure, "#marked").startswith("packet 1 (1rtt), lost \u00b7 retransmitted by packet 5 \u00b7")
    figure.page.value("document.querySelector('#marked button').click()")
    assert kept(figure) == 5
    figure.page.key("Escape")
    figure.page.key("g")
    typed(figure.page, "77")
    figure.page.key("Enter")
    assert text(figure, "#found") == "no packet 77" and kept(figure) == 5
    # Next and previous packet, from the figure.
    figure.page.key("Escape")
    figure.page.key(",")
    assert kept(figure) == 4
    figure.page.key(".")
    assert kept(figure) == 5
    assert figure.page.complaints == []


def test_a_packet_that_is_gone_to_can_be_told_from_its_neighbours(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(build("many", [many(20_000, 3)], [], "1"), encoding="utf-8")
    figure = opened(chromium, path)
    figure.page.value("document.querySelector('#go').value = '9,876'")
    figure.page.value("document.querySelector('#go').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))")
    figure.page.settle()
    assert figure.value("figure.direction.number[figure.kept.packet]") == 9876
    start, end = figure.range()
    assert start < 9876 * 50_000 < end and end - start < 100 * MS
    drawn = figure.pixel(figure.x(9876 * 50_000), figure.top("figure.sent")[0] + 98)
    assert drawn != figure.value("figure.colours.panel")


def test_numbers_that_several_packet_number_spaces_have_are_gone_through(
    chromium: Browser, two_flows: tuple[quiclab.Run, Path]
) -> None:
    """RFC 9000 section 12.3: each space begins at 0."""
    figure = opened(chromium, two_flows[1])
    figure.page.key("g")
    typed(figure.page, "0")
    seen = []
    for _ in range(4):
        figure.page.key("Enter")
        seen.append(figure.value("figure.direction.facts.kinds[figure.direction.kind[figure.kept.packet]]"))
    assert seen == ["1rtt", "handshake", "initial", "1rtt"]
    assert text(figure, "#found") == "1 of 3 packets 0"


def test_packets_are_searched_for(chromium: Browser, two_flows: tuple[quiclab.Run, Path]) -> None:
    run, path = two_flows
    lost = run.summary["connections"][0]["packets_declared_lost"]
    figure = opened(chromium, path)
    figure.page.key("/")
    assert figure.page.value("document.activeElement.id") == "search"
    typed(figure.page, "lost")
    assert text(figure, "#found") == f"{lost} packets"
    for at in (1, 2):
        figure.page.key("Enter")
        assert text(figure, "#found") == f"{at} of {lost} packets"
    packets = figure.value("[...figure.direction.sent.keys()].filter((at) => figure.direction.isLost(at))")
    assert kept(figure) == packets[1]
    figure.page.value("document.querySelector('#previous').click()")
    assert kept(figure) == packets[0]
    figure.page.value("document.querySelector('#previous').click()")
    assert kept(figure) == packets[-1], "behind the last comes the first"
    # A mark above the bar of what was found.
    found = "figure.overlay.getContext('2d').getImageData(X, figure.sent.top + 2, 1, 1).data[3]"
    x = figure.value(f"96 + Math.round(figure.time.x(figure.direction.sent[{packets[-1]}]))")
    assert figure.value(found.replace("X", str(x))) == 255
    figure.page.key("Escape")


@pytest.mark.parametrize(
    ("words", "condition"),
    [
        ("again", "direction.isAgain[at]"),
        ("stream 4", "direction.carries(at, direction.streams.findIndex(({ id }) => id === 4))"),
        (
            "stream:4 lost",
            "direction.isLost(at) && direction.carries(at, direction.streams.findIndex(({ id }) => id === 4))",
        ),
        ("handshake_done", "words(at).includes('HANDSHAKE_DONE')"),
        ("time threshold", "words(at).includes('time threshold')"),
        ("ACK", "words(at).includes('ACK ')"),
        ("initial", "words(at).includes('(initial)')"),
        ("crypto ack", "words(at).includes('CRYPTO') && words(at).includes('ACK ')"),
    ],
)
def test_each_word_finds_what_the_packets_say(
    chromium: Browser, two_flows: tuple[quiclab.Run, Path], words: str, condition: str
) -> None:
    """Against the words of the tip of each packet."""
    figure = opened(chromium, two_flows[1])
    figure.page.value(
        f"(() => {{ const field = document.querySelector('#search'); field.value = {words!r};"
        " field.dispatchEvent(new Event('input')); })()"
    )
    expected = figure.page.value(
        "(({ figure: { direction }, describe }) => {"
        " const words = (packet) => describe({ kind: 'packet', packet }).join(' ');"
        f" return [...direction.sent.keys()].filter((at) => {condition}); }})(window.quiclab)"
    )
    assert expected
    assert figure.value("[...figure.found.get(figure.track)]") == expected
    assert text(figure, "#found") == f"{len(expected)} packet{'s' if len(expected) > 1 else ''}"


def test_the_end_of_a_stream_is_found(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    figure.page.key("/")
    typed(figure.page, "fin")
    figure.page.key("Enter")
    assert (text(figure, "#found"), kept(figure)) == ("1 of 1 packet", 4)


def test_a_word_that_nothing_has_is_named(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    figure.page.key("/")
    typed(figure.page, "lost <b>x</b>")
    assert text(figure, "#found") == "nothing here has the word \u201c<b>x</b>\u201d"
    assert figure.page.value("document.querySelectorAll('#found b').length") == 0
    assert figure.page.value("document.querySelector('#next').disabled")


def test_the_list_of_keys_keeps_the_focus_and_gives_it_back(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    page = figure.page
    page.value("document.querySelector('#figure').focus()")
    before = figure.range()
    page.key("?")
    assert page.value("document.querySelector('#keys').open")
    listed = text(figure, "#keys")
    for word in ("go to a packet", "search", "zoom in", "Escape"):
        assert word in listed
    focus = (
        "document.activeElement === document.body || document.querySelector('#keys').contains(document.activeElement)"
    )
    assert page.value("document.querySelector('#keys').contains(document.activeElement)")
    for _ in range(4):
        page.key("Tab")
        assert page.value(focus), "the focus stays in the list"
    # The keys of the figure do nothing meanwhile.
    page.key("+")
    assert figure.range() == before
    page.key("Escape")
    assert not page.value("document.querySelector('#keys').open")
    assert page.value("document.activeElement.id") == "figure"
    page.key("+")
    assert figure.range() != before


def test_each_key_of_the_list_does_something(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    listed = figure.page.value("[...document.querySelectorAll('#keys kbd')].map((key) => key.textContent)")
    signs = {"\u2212": "-", "\u2190": "ArrowLeft", "\u2192": "ArrowRight", "\u2191": "ArrowUp", "\u2193": "ArrowDown"}
    pointer = {"wheel", "drag", "two fingers", "click", "double click"}
    for key in set(listed) - pointer:
        prevented = figure.page.value(
            "(() => { const event = new KeyboardEvent('keydown', { key: KEY, cancelable: true, bubbles: true });"
            " document.querySelector('#figure').dispatchEvent(event); document.querySelector('#keys').close();"
            " return event.defaultPrevented; })()".replace("KEY", repr(signs.get(key, key)))
        )
        assert prevented, key
    assert len(listed) == len(set(listed))


NAMED = {
    "button", "textbox", "searchbox", "combobox", "ComboBoxSelect", "checkbox", "image", "img", "table", "dialog",
    "DisclosureTriangle", "listbox", "group", "search", "form", "columnheader",
}  # fmt: skip
"""Roles of what must have a name."""


@pytest.mark.parametrize("width", [1400, 400])
def test_everything_that_is_operated_has_a_name(
    chromium: Browser, two_flows: tuple[quiclab.Run, Path], width: int
) -> None:
    figure = opened(chromium, two_flows[1])
    figure.page.resize(width, 900)
    several(figure, [0, 2], keep_open=True)
    figure.page.send("Accessibility.enable")
    seen: dict[str, int] = {}
    for node in figure.page.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if node["ignored"] or role not in NAMED:
            continue
        name = node.get("name", {}).get("value", "").strip()
        box = figure.page.send("DOM.describeNode", backendNodeId=node["backendDOMNodeId"])["node"]
        # A fieldset and a form have roles of their own; a group without a name says nothing, and reads nothing.
        assert name or box["nodeName"] == "DETAILS", f"{role} {box['nodeName']} {box['attributes']} has no name"
        seen[role] = seen.get(role, 0) + 1
    assert seen["table"] == 3 and seen["textbox"] + seen.get("combobox", 0) >= 2
    assert seen["button"] > 20 and seen["checkbox"] == 5
    # The page is as wide as the window, and so are its tables.
    assert figure.page.value("document.documentElement.scrollWidth") <= width
    widths = "[...document.querySelectorAll('#tables .wide')].map((one) => one.scrollWidth - one.clientWidth)"
    assert figure.page.value(widths) == [0, 0, 0]


@pytest.mark.parametrize("width", [1280, 400])
def test_what_is_marked_is_read_to_its_end(chromium: Browser, two_flows: tuple[quiclab.Run, Path], width: int) -> None:
    figure = opened(chromium, two_flows[1])
    figure.page.resize(width, 900)
    figure.page.key("/")
    typed(figure.page, "lost")
    figure.page.key("Enter")
    assert " declared lost at " in text(figure, "#marked")
    cut = "((one) => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight])"
    assert figure.page.value(f"{cut}(document.querySelector('#marked'))") == [0, 0]


def test_the_figure_is_told_in_words(chromium: Browser, two_flows: tuple[quiclab.Run, Path]) -> None:
    run, path = two_flows
    figure = opened(chromium, path)
    page = figure.page
    label = (
        "new Promise((done) => setTimeout(() => done(document.querySelector('#plot').getAttribute('aria-label')), 350))"
    )
    assert page.value("document.querySelector('#plot').getAttribute('role')") == "img"
    told = page.value(label)
    summary = run.summary["connections"][0]
    assert told.startswith("Time from 0.00 s to 4.00 s.")
    assert f"{summary['packets_sent']:,} packets sent" in told
    assert f"{summary['packets_declared_lost']} declared lost" in told
    assert "1 outage of 800 ms in all" in told
    figure.value("{ figure.time.show(1.6e9, 1.7e9); figure.invalidate(); }")
    packets = figure.value("figure.direction.sent.filter((at) => at >= 1.6e9 && at <= 1.7e9).length")
    told = page.value(label)
    assert told.startswith("Time from 1.600 s to 1.700 s.") and f": {packets} packet" in told
    assert ", 0 waits of streams, " in told
    page.key(".")
    assert "Marked: packet" in page.value(label)


def several(figure: Figure, chosen: list[int], keep_open: bool = False) -> None:
    """Chooses flows by their places in the list."""
    figure.page.value(
        "(async () => { const list = document.querySelector('#several'); list.open = true;"
        " await new Promise((done) => setTimeout(done, 50));"
        " [...document.querySelectorAll('#several-list input')].forEach((box, at) => {"
        f" if (box.checked !== {chosen}.includes(at)) box.click(); }}); list.open = {str(keep_open).lower()}; }})()"
    )
    figure.page.settle()


def test_several_flows_and_directions_share_a_time_axis(chromium: Browser, two_flows: tuple[quiclab.Run, Path]) -> None:
    figure = opened(chromium, two_flows[1])
    alone = figure.value("figure.panels.map((panel) => panel.title)")
    several(figure, [0, 1, 2])
    assert figure.value("figure.tracks.map((track) => track.name)") == [
        "get, from the server",
        "get, from the client",
        "second, from the server",
    ]
    titles = figure.value("figure.panels.map((panel) => panel.title)")
    assert titles.count("sent") == titles.count("in flight") == 3
    # The link that both share is there once, at the bottom.
    assert titles[-2:] == ["rate (Mbit/s)", "queue (kB)"] and titles.count("queue (kB)") == 1
    # The second flow starts after half a second: its first packet stands there, and is told so.
    assert figure.value("figure.tracks[2].offset") == pytest.approx(500 * MS, abs=1)
    sent = 500 * MS + figure.value("figure.tracks[2].direction.sent[0]")
    place = "figure.tracks[2].time.x(figure.tracks[2].direction.sent[0])"
    assert figure.value(place) == pytest.approx(figure.value(f"figure.time.x({sent})"))
    left = figure.value("figure.element.getBoundingClientRect().left + 96")
    top = figure.value("figure.element.getBoundingClientRect().top + figure.tracks[2].sent.top")
    x = left + figure.value(f"figure.time.x({sent})")
    figure.page.value(f"window.scrollTo(0, {top} - 300)")
    top = figure.value("figure.element.getBoundingClientRect().top + figure.tracks[2].sent.top")
    said = figure.hover(x + 1, top + figure.value("figure.tracks[2].sent.height") - 4).splitlines()
    assert said[0].startswith("packet 0 (") and said[1].startswith(f"sent at {sent / MS:.3f} ms")
    # A click there marks a packet of that flow, and the keys go on in it.
    figure.page.click(x + 1, top + figure.value("figure.tracks[2].sent.height") - 4)
    assert figure.value("figure.kept.track === figure.tracks[2] && figure.track === figure.tracks[2]")
    assert text(figure, "#marked").startswith("second, from the server: packet 0 (")
    # The tables tell which flow.
    for table in ("#longest", "#stalls", "#why"):
        flows = figure.page.value(
            f"[...new Set([...document.querySelectorAll('{table} tbody tr')].map((row) => row.cells[0].innerText))]"
        )
        assert set(flows) <= {"get server", "get client", "second server"} and len(flows) > 1, table
    # One alone is shown as before.
    several(figure, [])
    assert figure.value("figure.panels.map((panel) => panel.title)") == alone
    assert figure.page.complaints == []


def test_a_search_goes_through_all_flows_by_time(chromium: Browser, two_flows: tuple[quiclab.Run, Path]) -> None:
    run, path = two_flows
    figure = opened(chromium, path)
    several(figure, [0, 2])
    figure.page.key("/")
    typed(figure.page, "lost")
    count = sum(entry["packets_declared_lost"] for entry in run.summary["connections"])
    assert text(figure, "#found") == f"{count} packets"
    times = []
    for _ in range(count):
        figure.page.value("document.querySelector('#next').click()")
        times.append(figure.value("figure.kept.track.direction.sent[figure.kept.packet] + figure.kept.track.offset"))
    assert times == sorted(times) and len(times) > 10


def test_at_most_four_are_chosen(chromium: Browser, tmp_path: Path) -> None:
    logs = [log for path in write_two_streams(tmp_path / "run").iterdir() for log in qlog.read(path)]
    (one,) = model.connections(logs)
    path = tmp_path / "page.html"
    path.write_text(build("three", [one, one, one], [], "1"), encoding="utf-8")
    figure = opened(chromium, path)
    several(figure, [0, 1, 2, 3])
    boxes = figure.page.value("[...document.querySelectorAll('#several-list input')].map((box) => box.disabled)")
    assert boxes == [False] * 4 + [True] * 2
    assert figure.value("figure.tracks.length") == 4
    # The choice of one lets go the others.
    figure.page.value(
        "(() => { const choice = document.querySelector('#direction'); choice.value = '1';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    assert figure.value("figure.tracks.length") == 1
    assert not figure.page.value("[...document.querySelectorAll('#several-list input')].some((box) => box.checked)")


def test_numbers_have_equal_digits_and_round_steps(chromium: Browser, hand: Path) -> None:
    figure = opened(chromium, hand)
    for start, end in [(0, 45e6), (10e6, 10.7e6), (0.1e6, 0.1004e6), (-1e5, 44e6)]:
        texts, unit = figure.value(
            f"{{ figure.time.show({start}, {end}); const {{ ticks, unit }} = figure.time.ticks();"
            " return [ticks.map((tick) => tick.text), unit]; }"
        )
        assert unit == "ms" and len(texts) > 2
        assert len({len(text.partition(".")[2]) for text in texts}) == 1, texts
        step = float(texts[1]) - float(texts[0])
        assert re.fullmatch(r"[125]e[+-]\d+", f"{step:.0e}"), texts
        assert [float(text) for text in texts] == pytest.approx(
            [float(texts[0]) + at * step for at in range(len(texts))]
        )
    lengths = [999.7e6, 1234e9, 14.72e6, 1.2e9, 999.4e6, 5e3]
    said = figure.page.value(
        f"{lengths}.map((end) => window.quiclab.describe({{ kind: 'span', start: 0, end, text: '' }})[1])"
    )
    assert [re.findall(r"\((.*)\)", line)[0] for line in said] == [
        "1.00 s",
        "1,234 s",
        "14.7 ms",
        "1.20 s",
        "999 ms",
        "5.00 \u00b5s",
    ]


def test_many_found_packets_cost_no_more_than_the_pixels(chromium: Browser, tmp_path: Path) -> None:
    """Half of 20,000 packets are found: a mark for each pixel at most, and Enter goes through them."""
    path = tmp_path / "many.html"
    path.write_text(build("many", [many(20_000, 2)], [], "1"), encoding="utf-8")
    figure = opened(chromium, path)
    figure.page.key("/")
    typed(figure.page, "stream 4")
    packets = figure.value("[...figure.found.get(figure.track)]")
    assert len(packets) > 9000
    marks = (
        "(() => { const { figure } = window.quiclab; let count = 0; const context = figure.overlay.getContext('2d');"
        " const fill = context.fillRect; context.fillRect = (...box) => { count++; fill.apply(context, box); };"
        " figure.drawOverlay(); delete context.fillRect; return count; })()"
    )
    assert figure.value("figure.time.width") / 2 < figure.page.value(marks) <= figure.value("figure.time.width") + 2
    for at in range(3):
        figure.page.key("Enter")
        assert kept(figure) == packets[at]
        assert text(figure, "#found") == f"{at + 1} of {len(packets):,} packets"
