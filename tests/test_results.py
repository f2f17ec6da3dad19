"""The tables that are printed after a run: readable on a terminal of 80 columns, with nothing cut off."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

import quiclab
from conftest import Command
from quiclab.results.numbers import METRICS, Column, arranged, beside, of_applications, of_bottlenecks, tables

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(made: list[Any], width: int) -> list[str]:
    """The lines of a terminal. The console is wider than the tables may be, so that it cuts nothing off."""
    out = io.StringIO()
    console = Console(file=out, width=width + 200, highlight=False)
    for table in made:
        console.print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def read(lines: list[str]) -> list[dict[str, list[str]]]:
    """The tables in it: the cells of each row by the first of it, the head under "connection"."""
    found: list[dict[str, list[str]]] = []
    head: list[list[str]] = []
    for line in lines:
        cells = [cell.strip() for cell in line.replace("┃", "│").strip("│").split("│")]
        if line.startswith("┏"):
            found.append({})
            head = []
        elif line.startswith("┃"):
            head.append(cells)
        elif line.startswith("┡"):
            first, *others = (" ".join(" ".join(parts).split()) for parts in zip(*head, strict=True))
            found[-1][first] = others
        elif line.startswith("│"):
            found[-1][cells[0]] = cells[1:]
    return found


@pytest.mark.parametrize("example", ["video", "busy-server", "wlan", "page", "quic-and-tcp", "cell"])
@pytest.mark.parametrize("width", [80, 60, 200])
def test_a_terminal_shows_all_numbers(example: str, width: int, summaries: dict[str, dict[str, Any]]) -> None:
    summary = summaries[example]
    lines = printed(tables(summary, width), width)
    assert max(map(cell_len, lines)) <= width
    connections = summary["connections"]
    names = [entry["name"] for entry in connections]
    wanted = [(title, [write(entry.get(key)) for entry in connections]) for title, key, write in METRICS]
    wanted += of_applications(connections) + of_bottlenecks(summary)
    if all(entry["packets_declared_lost"] == entry["packets_lost"] for entry in connections):
        wanted = [(title, texts) for title, texts in wanted if title != "packets declared lost"]
    found: dict[tuple[str, str], str] = {}
    for table in read(lines):
        head = table.pop("connection")
        for first, cells in table.items():
            for other, cell in zip(head, cells, strict=True):
                title, name = (first, other) if len(names) <= 4 else (other, first)
                assert (title, name) not in found
                found[title, name] = cell
    assert found == {(title, name): text for title, texts in wanted for name, text in zip(names, texts, strict=True)}


@pytest.fixture(scope="module")
def summaries() -> dict[str, dict[str, Any]]:
    """The summaries of examples with three, twelve, seven, three, two and several connections."""
    names = ("video", "busy-server", "wlan", "page", "quic-and-tcp", "cell")
    runs = {name: quiclab.Scenario.from_file(EXAMPLES / f"{name}.toml").run(tables=False) for name in names}
    return {name: run.summary for name, run in runs.items()}


def test_one_table_where_there_is_room(summaries: dict[str, dict[str, Any]]) -> None:
    assert len(tables(summaries["video"], 80)) == 1
    assert len(tables(summaries["busy-server"], 300)) == 1


def test_what_is_wider_than_the_terminal_is_folded() -> None:
    names, values = ["a" * 70, "second"], ["x" * 90, "[bold]short[/bold]"]
    lines = printed(arranged("a title", names, [("a row", values)], 60), 60)
    # rich folds for the console, so that of a narrow one is asked.
    out = io.StringIO()
    console = Console(file=out, width=60, highlight=False)
    for table in arranged("a title", names, [("a row", values)], 60):
        console.print(table)
    text = out.getvalue()
    assert max(map(cell_len, text.splitlines())) <= 60
    assert text.count("x") == 90 and text.count("a" * 10) >= 5 and "…" not in text
    # Names are no markup.
    assert any("[bold]short[/bold]" in line for line in lines)


def test_heads_break_between_words_alone() -> None:
    names = [f"flow{at}" for at in range(6)]
    rows = [(f"some long head of column {at}", ["1"] * 6) for at in range(9)]
    lines = printed(arranged("t", names, rows, 80), 80)
    assert max(map(cell_len, lines)) <= 80
    assert [head for table in read(lines) for head in table["connection"]] == [title for title, _ in rows]


def test_heads_that_are_names_break_at_dots_and_underscores() -> None:
    first = [Column("queue_bdp", ["1", "4"])]
    others = [Column(f"{flow}.goodput_mbps", ["12.81 ± 0.4", "7.598 ± 0.58"]) for flow in ("first", "second", "third")]
    (table,) = beside("t", first, others, 60)
    lines = printed([table], 60)
    assert lines[1:5] == [
        "┏━━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┓",
        "┃           ┃       first. ┃      second. ┃       third. ┃",
        "┃ queue_bdp ┃ goodput_mbps ┃ goodput_mbps ┃ goodput_mbps ┃",
        "┡━━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━┩",
    ]
    # Narrower: another line, and not another table.
    (table,) = beside("t", first, others, 57)
    assert max(map(cell_len, printed([table], 57))) <= 57
    # The first columns stand in each table.
    split = printed(beside("t", first, others, 40), 40)
    assert [line.count("queue") for line in split if line.startswith("┃")].count(1) == 2
    assert max(map(cell_len, split)) <= 40


def test_a_transfer_without_a_size_is_endless(command: Command) -> None:
    (command.folder / "two.toml").write_text((EXAMPLES / "dumbbell.toml").read_text(encoding="utf-8"), encoding="utf-8")
    result = command("run", "two.toml", "--set", "duration=6 s", "--out", "two")
    assert "│ completion time          │" in result.stdout and result.stdout.count("endless") == 2
    assert "not completed" not in result.stdout
    assert result.stdout.endswith("folder   two\nnext     quiclab why two\n")
    sized = command("run", "two.toml", "--set", "duration=6 s", "--set", "flow.first.application.size=1 GB").stdout
    assert sized.count("endless") == 1 and sized.count("not completed") == 1
    assert "no `size`" in command("why", "two").stdout


def test_the_command_prints_for_80_columns(command: Command) -> None:
    text = (EXAMPLES / "busy-server.toml").read_text(encoding="utf-8")
    (command.folder / "busy.toml").write_text(text, encoding="utf-8")
    result = command("run", "busy.toml", "--no-tables", env={"COLUMNS": "80"})
    assert result.returncode == 0, result.stderr
    shown = [line for line in result.stdout.splitlines() if line[:1] in "┃│┏└"]
    assert max(map(cell_len, shown)) <= 80 and "…" not in result.stdout
    for word in ("completion", "percentile", "retransmitted", "access forward", "bottleneck queue maximum"):
        assert word in result.stdout
