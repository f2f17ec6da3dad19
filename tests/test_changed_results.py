"""Results that somebody changed: whatever was done to a file of a good folder, commands end with one line."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quiclab
from conftest import SCENARIO, SWEEP
from quiclab import cli
from quiclab.values import shapes
from quiclab.values.described_tables import TABLES

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1e308, -1e300, 10**30, float("nan"), float("inf")),
    *("", "x" * 5000, "a\nb", [], [None], {}, {"a": []}),
)
"""What a value of JSON becomes."""
SEEDS = range(int(os.environ.get("QUICLAB_CHANGES", "10")))
"""Changes of each file; QUICLAB_CHANGES=110 draws more, in some minutes."""
"""Changes of each file."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Good folders: a download, a video over a cell, a page over TCP with middleboxes, a sweep."""
    root = tmp_path_factory.mktemp("good")
    examples = Path(__file__).parent.parent / "examples"
    made = {"bulk": quiclab.Scenario.from_text(SCENARIO)}
    made["video"] = quiclab.Scenario.from_text(SCENARIO, ['flow.download.application={ type = "video" }'])
    for name in ("page", "pep", "cell"):
        made[name] = quiclab.Scenario.from_file(examples / f"{name}.toml")
    for name, scenario in made.items():
        scenario.run(out=root / name, qlog=name == "bulk", figure=False)
    quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out=root / "sweep")
    return {folder.name: folder for folder in root.iterdir()}


def commands(folder: Path, good: Path, out: Path) -> list[list[str]]:
    """All that reads the folder."""
    if (good / "sweep.json").exists():
        return [
            ["report", str(folder), "--out", str(out / "r.html")],
            ["plot", str(folder), "--x", "delay_ms", "--y", "goodput_mbps", "--out", str(out / "p.png")],
            ["plot", str(folder), "--x", "time_s", "--y", "packets", "--out", str(out / "p.png")],
            ["diff", str(folder), str(good)],
            ["export", str(folder)],
            ["export", str(folder), "series", "--format", "json"],
        ]
    tables = sorted(file.stem for file in good.glob("*.parquet"))
    return [
        ["why", str(folder)],
        ["report", str(folder), "--out", str(out / "r.html")],
        ["view", str(folder), "--out", str(out / "v.html")],
        ["plot", str(folder), "--out", str(out / "p.png")],
        ["diff", str(folder), str(good)],
        ["diff", str(good), str(folder)],
        ["export", str(folder)],
        ["check", str(folder / "scenario.toml")],
        *(["export", str(folder), table] for table in tables[:2]),
    ]


def in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str], what: str) -> int:
    """Runs a command in this process: it succeeds, or ends with one line that is no internal error."""
    code = cli.main(arguments)
    told = capsys.readouterr().err
    assert code in (0, 1, 2), (what, arguments, told)
    assert "internal error" not in told and "Traceback" not in told, (what, arguments, told)
    if code == 2:
        errors = [line for line in told.splitlines() if line.startswith("quiclab: ")]
        assert len(errors) == 1, (what, arguments, told)
        assert len(errors[0]) < 300
    return code


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values of a document."""
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        found += places(one, (*path, key))
    return found


def change_json(text: str, draw: random.Random) -> str:
    """Another document: a value replaced, removed, swapped with another, moved into a list; or a cut text."""
    kind = draw.choice(["cut", "value", "value", "value", "remove", "remove", "swap", "wrap", "bytes"])
    if kind == "cut":
        return text[: draw.randrange(len(text))]
    if kind == "bytes":
        at = draw.randrange(len(text))
        return text[:at] + chr(draw.randrange(1, 300)) + text[at + draw.randrange(9) :]
    document = json.loads(text)
    paths = places(document)
    path = draw.choice(paths)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if kind == "remove":
        del holder[path[-1]]
    elif kind == "wrap":
        holder[path[-1]] = draw.choice([[holder[path[-1]]], {"a": holder[path[-1]]}, str(holder[path[-1]])])
    elif kind == "swap":
        other = draw.choice(paths)
        from_ = document
        for key in other[:-1]:
            from_ = from_[key]
        holder[path[-1]] = json.loads(json.dumps(from_[other[-1]]))
    else:
        holder[path[-1]] = draw.choice(VALUES)
    return json.dumps(document)


def change_toml(text: str, draw: random.Random) -> str:
    """Another text: cut, lines removed, doubled or swapped, values replaced, letters changed."""
    lines = text.splitlines(keepends=True)
    kind = draw.choice(["cut", "remove", "double", "swap", "value", "value", "value", "letter", "section"])
    at = draw.randrange(len(lines))
    if kind == "cut":
        return text[: draw.randrange(len(text))]
    if kind == "remove":
        del lines[at]
    elif kind == "double":
        lines.insert(at, lines[at])
    elif kind == "swap":
        other = draw.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == "section":
        lines = [line for line in lines if not line.startswith(draw.choice(["[[flow", "[[link", "[link", "name", "["]))]
    elif kind == "value" and " = " in lines[at]:
        key = lines[at].partition(" = ")[0]
        value = draw.choice(["1", "-1", "nan", "1e308", '""', '"x"', "[]", "{}", "true", '"9 s"', "9" * 40, "[[1]]"])
        lines[at] = f"{key} = {value}\n"
    else:
        place = draw.randrange(len(text))
        return text[:place] + draw.choice('"[]{}=.#\n\x00ä') + text[place + 1 :]
    return "".join(lines)


def change_table(path: Path, draw: random.Random) -> None:
    """Another table: bytes changed, columns removed, renamed, cast, swapped, emptied; rows removed or turned round."""
    kind = draw.choice(
        ["cut", "bytes", "bytes", "drop", "rename", "cast", "null", "swap", "rows", "turn", "nan", "text"]
    )
    content = bytearray(path.read_bytes())
    if kind == "cut":
        path.write_bytes(content[: draw.randrange(len(content))])
        return
    if kind == "bytes":
        for _ in range(draw.randrange(1, 9)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        return
    table = pq.read_table(str(path))
    at = draw.randrange(table.num_columns)
    name, rows = table.column_names[at], table.num_rows
    if kind == "drop":
        table = table.drop_columns([name])
    elif kind == "rename":
        names = list(table.column_names)
        names[at] = draw.choice(["other", *names])
        table = table.rename_columns(names)
    elif kind == "cast":
        table = table.set_column(at, name, pa.array([str(value) for value in table[name].to_pylist()]))
    elif kind == "null":
        values = [None if draw.random() < 0.5 else value for value in table[name].to_pylist()]
        table = table.set_column(at, name, pa.array(values, table[name].type))
    elif kind == "swap":
        other = draw.randrange(table.num_columns)
        table = table.set_column(at, name, table.column(other))
    elif kind == "rows":
        table = table.slice(0, draw.choice([0, 1, rows // 2]))
    elif kind == "turn":
        table = table.take(pa.array(draw.sample(range(rows), rows)))
    elif kind == "nan":
        number = draw.choice([float("nan"), float("inf"), -1.0, 1e300])
        table = table.set_column(at, name, pa.array([number] * rows, pa.float64()))
    else:
        table = table.set_column(at, name, pa.array(["word"] * rows).dictionary_encode())
    pq.write_table(table, str(path))


def change(path: Path, draw: random.Random) -> None:
    if path.suffix == ".parquet":
        change_table(path, draw)
    else:
        made: Callable[[str, random.Random], str] = change_json if path.suffix == ".json" else change_toml
        path.write_text(made(path.read_text(encoding="utf-8"), draw), encoding="utf-8", errors="replace")


NAMES = ("summary.json", "scenario.toml", "connection.parquet", "wait.parquet", "rate.parquet", "queue.parquet")


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_of_a_run_is_one_line(
    folders: dict[str, Path], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = 0
    for seed in SEEDS:
        draw = random.Random(f"{name} {seed}")
        good = folders[draw.choice(sorted(set(folders) - {"sweep"}))]
        folder = tmp_path / "changed"
        shutil.copytree(good, folder)
        change(folder / name, draw)
        # All commands would take minutes: for each change three, by turns.
        every = commands(folder, good, tmp_path)
        for arguments in (every[(seed + step * 3) % len(every)] for step in range(3)):
            refused += in_one_line(arguments, capsys, f"{name} {seed}") == 2
        shutil.rmtree(folder)
    assert refused > len(SEEDS) / 6


@pytest.mark.parametrize("name", ["sweep.json", "sweep.toml", "runs.parquet", "series.parquet"])
def test_a_changed_file_of_a_sweep_is_one_line(
    folders: dict[str, Path], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in SEEDS:
        draw = random.Random(f"{name} {seed}")
        folder = tmp_path / "changed"
        shutil.copytree(folders["sweep"], folder)
        change(folder / name, draw)
        every = commands(folder, folders["sweep"], tmp_path)
        for arguments in (every[(seed + step) % len(every)] for step in range(2)):
            in_one_line(arguments, capsys, f"{name} {seed}")
        shutil.rmtree(folder)


def test_good_folders_are_read(folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for good in folders.values():
        for arguments in commands(good, good, tmp_path):
            code = cli.main(arguments)
            told = capsys.readouterr().err
            assert code == 0 or "has no qlog" in told or "time_s" in str(arguments), (arguments, told)


def test_an_error_says_where_what_and_what_would_be_right(folders: dict[str, Path], tmp_path: Path) -> None:
    for path, value, told in (
        (
            ("connections", 0, "packets_sent"),
            None,
            "connections.0.packets_sent is null; expected a whole number, 0 or more",
        ),
        (("connections", 0, "name"), 7, "connections.0.name is 7; expected a text"),
        (("connections", 0, "goodput_mbps"), [], "connections.0.goodput_mbps is a list; expected a number"),
        (("duration_s",), "20 s", "duration_s is a text; expected a number"),
        (("connections",), None, "connections is null; expected a list"),
    ):
        folder = tmp_path / "changed"
        shutil.copytree(folders["bulk"], folder)
        summary = json.loads((folder / "summary.json").read_text())
        holder = summary
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value
        (folder / "summary.json").write_text(json.dumps(summary))
        with pytest.raises(quiclab.OutputError) as error:
            quiclab.load(folder)
        assert str(error.value) == f"{folder}: cannot be read as a run folder: summary.json: {told}"
        shutil.rmtree(folder)


def test_round_trips_of_no_time_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    for value in (-1.0, float("-inf"), float("nan")):
        folder = tmp_path / "changed"
        shutil.copytree(folders["bulk"], folder)
        table = pq.read_table(folder / "connection.parquet")
        at = table.schema.get_field_index("smoothed_rtt_ms")
        column = pa.array([value] * table.num_rows, table.schema.field(at).type)
        pq.write_table(table.set_column(at, table.schema.field(at), column), folder / "connection.parquet")
        with pytest.raises(quiclab.Error, match="smoothed_rtt_ms is"):
            quiclab.load(folder).why()
        shutil.rmtree(folder)


def test_deep_and_long_documents_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    for name, text in (
        ("summary.json", "[" * 200_000),
        ("summary.json", '{"a": ' * 100_000),
        ("scenario.toml", "a = " + "[" * 100_000),
        ("summary.json", "9" * 10_000),
    ):
        folder = tmp_path / "changed"
        shutil.copytree(folders["bulk"], folder)
        (folder / name).write_text(text)
        with pytest.raises(quiclab.Error):
            quiclab.load(folder).why()
        shutil.rmtree(folder)


def test_the_shape_is_that_of_real_runs(folders: dict[str, Path]) -> None:
    # Texts, flags and numbers of the tables are what the list says, so that a new column is put there.
    for folder in folders.values():
        if (folder / "sweep.json").exists():
            continue
        run = quiclab.load(folder)
        for name in run.tables:
            schema = pq.read_schema(str(folder / f"{name}.parquet"))
            shapes.columns(schema, schema.names)
            assert list(TABLES[name].columns) == schema.names, name
            for field in schema:
                is_text = str(field.type).startswith("dictionary")
                assert TABLES[name].columns[field.name].optional == field.nullable, (name, field.name)
                assert is_text == (field.name in shapes.TEXTS), (name, field.name)
        shapes.scenario("", run._document)


def test_qoe_of_a_changed_playback_ends_in_one_line(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = json.loads((folders["video"] / "summary.json").read_text())
    playback = good["connections"][0]["playback"]
    folder = tmp_path / "video"
    shutil.copytree(folders["video"], folder)
    refused = 0
    for key in playback:
        for value in (*VALUES, None):
            changed = json.loads(json.dumps(good))
            if value is VALUES[0]:
                del changed["connections"][0]["playback"][key]
            else:
                changed["connections"][0]["playback"][key] = value
            (folder / "summary.json").write_text(json.dumps(changed))
            for more in ([], ["--json"], ["--inputs"]):
                refused += in_one_line(["video", "qoe", str(folder), *more], capsys, f"{key}: {value!r}") == 2
    assert refused > len(playback)
