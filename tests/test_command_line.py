"""What all commands have in common: help that fits a screen, JSON, plain pipes, short errors; and small commands."""

import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

import quiclab
from conftest import SCENARIO, SWEEP, Command
from quiclab.commands import COMMANDS, app
from quiclab.commands.keys import Keys, example
from quiclab.commands.new import LIKE, TEMPLATES
from quiclab.values.plain_text import short
from quiclab.values.suggestions import hint

EXAMPLES = Path(__file__).parents[1] / "examples"


def leaves() -> Iterator[tuple[list[str], Any]]:
    """All commands with their words, those in groups too, and the groups."""
    group: Any = typer.main.get_command(app)
    context = group.context_class(group, info_name="quiclab")
    yield [], group
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        yield [name], command
        if hasattr(command, "list_commands"):
            for inner in command.list_commands(context):
                _, found, _ = command.resolve_command(context, [inner])
                yield [name, inner], found


def helps() -> list[Any]:
    return [pytest.param(words, command, id=" ".join(words) or "quiclab") for words, command in leaves()]


@pytest.mark.parametrize(("words", "command"), helps())
def test_help_fits_a_screen_and_shows_an_example(words: list[str], command: Any) -> None:
    told = CliRunner().invoke(app, [*words, "--help"], prog_name="quiclab", env={"COLUMNS": "80"}).output
    context = command.context_class(command, info_name="x")
    # A list of commands is as long as they are many.
    many = len(command.get_params(context)) > 10 or hasattr(command, "list_commands")
    lines = told.rstrip("\n").split("\n")
    assert len(lines) <= (40 if many else 24), told
    assert max(map(len, lines)) <= 80
    example_ = told.partition("Example: ")[2].partition("\n\n")[0]
    assert " ".join(["quiclab", *words]) in example_


@pytest.mark.parametrize("group", [[], ["trace"], ["video"], ["real"], ["dev"]])
def test_no_line_of_the_list_of_commands_is_cut(group: list[str]) -> None:
    told = CliRunner().invoke(app, [*group, "--help"], prog_name="quiclab", env={"COLUMNS": "80"}).output
    listed = told.partition("Commands:" if group else "Everyday:")[2]
    assert listed
    assert "..." not in listed


def test_every_command_that_prints_results_has_json() -> None:
    without = {"shell", "completion", "schema", "trace", "video", "real", "dev"}
    for words, command in leaves():
        if words and words[-1] not in without:
            options = {name for one in command.get_params(command.context_class(command)) for name in one.opts}
            assert "--json" in options, words


@pytest.fixture
def place(command: Command) -> Command:
    """A folder with a finished sweep `made` and a run `ran`."""
    (command.folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    assert command("sweep", "sweep.toml", "--out", "made", "--json").returncode == 0
    assert command("run", "bulk.toml", "--out", "ran", "--qlog").returncode == 0
    return command


def test_json_is_one_document_and_nothing_else(place: Command) -> None:
    for arguments in (
        "run bulk.toml --json --no-tables",
        "sweep sweep.toml --out made --json",
        "check bulk.toml --json",
        "plot ran --out a.png --json",
        "plot made --x ack_ratio --y goodput_mbps --out b.png --json",
        "export made --json",
        "export ran queue --json",
        "view ran --json",
        "list --json",
        "list cubic --json",
        "explain transport.ack_ratio --json",
        "new first --json",
        "trace generate lte-driving --out t.csv --json",
        "trace convert t.csv t.down --json",
        "trace info t.csv --json",
        "trace plot t.csv --out t.png --json",
        "reproduce --list --json",
        "dev schema",
    ):
        done = place(*arguments.split())
        assert done.returncode == 0, (arguments, done.stderr)
        json.loads(done.stdout)


@pytest.mark.parametrize("more", [{}, {"FORCE_COLOR": ""}, {"NO_COLOR": "1", "TERM": "xterm-256color"}])
def test_pipes_have_no_colours_and_no_control_characters(place: Command, more: dict[str, str]) -> None:
    for arguments in (
        "run bulk.toml",
        "sweep sweep.toml --out made",
        "check sweep.toml",
        "list",
        "list --all",
        "explain queue",
        "--help",
        "list nothing",
        "reproduce --list",
    ):
        done = place(*arguments.split(), env=more)
        assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f]", done.stdout + done.stderr) == [], arguments


def terminal(command: Command, *arguments: str, **more: str) -> str:
    """What a command prints in a terminal."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(command.folder)
        variables = {**os.environ, "LINES": "24", "COLUMNS": "80", "TERM": "xterm", **more}
        os.execve(sys.executable, [sys.executable, "-m", "quiclab", *arguments], variables)
    told = b""
    while True:
        if not select.select([master], [], [], 60)[0]:
            break
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        told += part
    os.close(master)
    os.waitpid(pid, 0)
    return told.decode()


def test_long_lists_go_through_a_pager_on_a_terminal(command: Command) -> None:
    pager = command.folder / "pager"
    pager.write_text('#!/bin/sh\necho paged; wc -l; echo "$@"\n', encoding="utf-8")
    pager.chmod(0o755)
    mine = {"PAGER": f"{pager} --mine"}
    assert terminal(command, "list", "--all", **mine).startswith("paged\r\n")
    assert "--mine" in terminal(command, "list", "controllers", **mine)
    # What fits is printed, and so is everything where no pager is wanted.
    assert "paged" not in terminal(command, "explain", "transport.ack_ratio", **mine)
    assert "paged" not in terminal(command, "list", "--all", "--no-pager", **mine)
    assert "paged" not in terminal(command, "list", "--all", NO_PAGER="1", **mine)
    assert "controllers" in terminal(command, "list", "--all", PAGER="cat")
    assert "controllers" in terminal(command, "list", "--all", PAGER="no-such-pager")
    assert "paged" not in command("list", "--all", env=mine).stdout


def test_a_terminal_has_colours_unless_they_are_unwanted(command: Command) -> None:
    assert "\x1b[" in terminal(command, "list", NO_PAGER="1")
    plain = terminal(command, "list", NO_PAGER="1", NO_COLOR="1")
    assert "\x1b[3" not in plain and "controllers" in plain
    # Its lines are not wider than the terminal.
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in plain.splitlines()) <= 80


MISTAKES = {
    "a command": ("chek bulk.toml", "'check'"),
    "a command of a group": ("dev schem", "'schema'"),
    "an old word of a command": ("qeo", "'video qoe'"),
    "an option": ("run bulk.toml --sede 1", "--seed"),
    "a key of --set": ("check bulk.toml --set transport.ack_rato=2", '"ack_ratio"'),
    "a table of --set": ("check bulk.toml --set trasport.ack_ratio=2", '"transport"'),
    "a component": ("check bulk.toml --set transport.controller=cubci", '"cubic"'),
    "a topic": ("list contrllers", "'controllers'"),
    "an explained key": ("explain transport.ack_rato", "'transport.ack_ratio'"),
    "an explained name": ("explain link.dely", "'link.delay'"),
    "a column to show": ("sweep sweep.toml --show goodput_mbp", "goodput_mbps'"),
    "a column of groups": ("sweep sweep.toml --by ack_rato", "'transport.ack_ratio'"),
    "a column of a chart": ("plot made --x ack_rato --y goodput_mbps", "'transport.ack_ratio'"),
    "a kind of chart": ("plot made --kind heetmap --x ack_ratio", "'heatmap'"),
    "a kind of plot": ("plot ran --kind overvew", "'overview'"),
    "a spread": ("plot made --x ack_ratio --y goodput_mbps --spread studnt", "'student'"),
    "a style": ("plot ran --style papr", "'paper'"),
    "a connection": ("plot ran --connection donwload", "'download'"),
    "a value of --where": ("plot made --x ack_ratio --y goodput_mbps --where scenario=blk", "no column"),
    "an engine": ("sweep sweep.toml --engine dsk", "'dask'"),
    "an interval": ("sweep sweep.toml --interval bootstap", "'bootstrap'"),
    "a table": ("export ran conection", "'connection'"),
    "a table of a sweep": ("export made serie", "'series'"),
    "a column of a table": ("export ran queue --column packts", "'packets'"),
    "a format": ("export ran --format cvs", "'csv'"),
    "a template": ("new x --like satelite", "'satellite'"),
    "a shell": ("dev completion zhs", "'zsh'"),
    "a kind of trace": ("trace generate lte-drivin --out x", "'lte-driving'"),
    "a figure": ("reproduce bdp-method", "'bdp-methods'"),
}


OLD = {row.old: name for name, row in COMMANDS.items() if row.old}


def test_old_words_go_on_working_with_a_line(place: Command) -> None:
    words = {"film", "play", "qoe", "serve", "fetch", "relay", "shell", "script", "bench", "schema", "completion"}
    assert words == OLD.keys()
    told = place("--help").stdout
    for old, now in OLD.items():
        line = "" if old == "completion" else f"quiclab {old} is called quiclab {now} now\n"
        before, today = place(old, "--help"), place(*now.split(), "--help")
        assert (before.returncode, before.stdout, before.stderr) == (0, today.stdout, line)
        assert f"\n  {old} " not in told
        # An error is the same line, and the same exit code.
        before, today = place(old, "--nothing"), place(*now.split(), "--nothing")
        assert (before.returncode, before.stdout, before.stderr) == (2, "", line + today.stderr)
    before, today = place("schema", "--out", "a.json"), place("dev", "schema", "--out", "b.json")
    assert (before.returncode, before.stdout) == (0, "a.json\n")
    assert (place.folder / "a.json").read_bytes() == (place.folder / "b.json").read_bytes()
    # Whoever wants JSON is a program, which may read standard error too.
    assert place("qoe", "none", "--json").stderr == place("video", "qoe", "none", "--json").stderr
    # In a group they are words like any other.
    assert "No such command 'serve'" in place("video", "serve").stderr


def test_errors_are_short_and_name_the_nearest_word(place: Command) -> None:
    for mistake, (line, near) in MISTAKES.items():
        for as_json in ((), ("--json",)):
            if as_json and "completion" in line:
                continue
            done = place(*line.split(), *as_json)
            # With --json errors are the same line, and nothing is on standard output.
            assert (done.returncode, done.stdout) == (2, ""), (mistake, done.stdout)
            assert done.stderr.startswith("quiclab: ") and done.stderr.count("\n") == 1, mistake
            assert len(done.stderr) <= 300, (mistake, len(done.stderr))
            assert near in done.stderr, (mistake, done.stderr)


def test_lines_are_shortened_where_they_are_long() -> None:
    names = [f"name-{number}" for number in range(100)]
    line = f"no column 'nam'; there are: {', '.join(names)} (did you mean 'name-1'?)"
    told = short(line, 290)
    assert len(told) <= 290
    assert told.startswith("no column 'nam'; there are: name-0, name-1, ")
    assert told.endswith("more (did you mean 'name-1'?)")
    kept = told.count("name-") - 1
    assert f" and {100 - kept} more " in told
    assert short("x x " * 100 + "; did you mean 'y'?", 100) == "x x " * 18 + "x x ... ; did you mean 'y'?"
    assert short(f"{'a' * 200}{'b' * 200}: File name too long", 100) == f"{'a' * 30}...{'b' * 29}: File name too long"
    assert short("a, b", 4) == "a, b"
    assert hint("Cubci", ["cubic", "newreno"]) == "; did you mean 'cubic'?"
    assert hint("zzz", ["cubic"]) == ""


def test_scenarios_come_from_standard_input(command: Command) -> None:
    def run(*arguments: str, text: str | bytes = SCENARIO) -> "subprocess.CompletedProcess[str]":
        given = text if isinstance(text, bytes) else text.encode()
        done = subprocess.run(
            [sys.executable, "-m", "quiclab", *arguments],
            cwd=command.folder,
            input=given,
            capture_output=True,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    read = run("run", "-", "--json", "--out", "x")
    assert (read.returncode, json.loads(read.stdout)["scenario"]) == (0, "bulk")
    assert (
        json.loads(command("run", "bulk.toml", "--json", "--out", "y").stdout)["connections"]
        == (json.loads(read.stdout)["connections"])
    )
    # Without a name of its own.
    nameless = run("run", "-", "--no-tables", text=SCENARIO.replace('name = "bulk"\n', ""))
    assert "folder   runs/stdin-seed1" in nameless.stdout
    assert run("check", "-").stdout.endswith("<stdin>: a valid scenario\n")
    assert json.loads(run("sweep", "-", "--json", text=SWEEP).stdout)["runs"] == 12
    wrong = run("check", "-", text="seed = x")
    assert (wrong.returncode, wrong.stderr[:21]) == (2, "quiclab: <stdin>:1:8:")
    assert "<stdin>: not text in UTF-8" in run("check", "-", text=b"\xff").stderr
    # Files are relative to the folder of the process.
    (command.folder / "t.down").write_text("0\n5\n", encoding="utf-8")
    trace = SCENARIO.replace('"5 Mbit/s"', '{ type = "trace", file = "t.down" }')
    assert run("check", "-", text=trace).returncode == 0


@pytest.mark.parametrize("like", LIKE)
def test_new_scenarios_run_at_once(command: Command, like: str) -> None:
    assert {file.stem for file in TEMPLATES.glob("*.toml")} == set(LIKE)
    done = command("new", "mine", "--like", like)
    assert done.stdout == "written  mine.toml\nnext     quiclab run mine.toml\n"
    text = (command.folder / "mine.toml").read_text(encoding="utf-8")
    assert "NAME" not in text and "quiclab run mine.toml" in text
    assert command("check", "mine.toml").stderr == ""
    told = command("run", "mine.toml", "--json", "--no-tables")
    assert (told.returncode, told.stderr) == (0, "")
    assert all(connection["delivered_bytes"] > 0 for connection in json.loads(told.stdout)["connections"])
    # The commands of its comments go on working.
    for line in re.findall(r"^#\s+quiclab (check|run|explain) (.*?)(?:\s{2,}.*)?$", text, re.MULTILINE):
        assert command(line[0], *line[1].split(), *(["--no-tables"] if line[0] == "run" else [])).returncode == 0, line


def test_new_writes_over_nothing(command: Command) -> None:
    before = (command.folder / "bulk.toml").read_bytes()
    for name, words in {
        "bulk": "bulk.toml: exists already",
        "bulk.toml": "bulk.toml: exists already",
        "no/such/folder": "No such file or directory",
        "-x": "",
        "a b": "expected a name",
        ".toml": "expected a name",
    }.items():
        done = command("new", name)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, name
    assert [path.name for path in command.folder.iterdir()] == ["bulk.toml"]
    assert (command.folder / "bulk.toml").read_bytes() == before


def test_explain_knows_keys_components_tables_and_columns(command: Command) -> None:
    def explained(key: str) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = json.loads(command("explain", key, "--json").stdout)
        return told

    (ratio,) = explained("transport.ack_ratio")
    assert (ratio["kind"], ratio["default"], ratio["source"]) == (
        "integer 1 to 10000",
        "2",
        ["RFC 9000 section 13.2.2"],
    )
    assert ratio["example"] == "[transport]\nack_ratio = 2"
    assert explained("ack_ratio")[0]["name"] == "transport.ack_ratio"
    assert explained("flow.download.transport.ack_ratio")[0]["what"] == "option of [flow.transport]"
    (rate,) = explained("link.cell.forward.rate")
    assert rate["kind"] == "one of the rates" and "fixed" in rate["components"]
    assert {one["what"] for one in explained("transport.controller.beta")} >= {"option of controllers: cubic"}
    (cubic,) = explained("cubic")
    assert cubic["page"] == "docs/model/cubic.md" and any(one.startswith("beta ") for one in cubic["options"])
    channel = explained("medium.cell.at.phone.channel")[0]
    assert channel["kind"] == "one of the channels"
    assert channel["example"] == '[[medium]]\ntype = "lte"\nchannel = "constant"'
    assert explained("transport.controller.beta")[0]["example"].startswith("[transport]\ncontroller = { type = ")
    assert "delay" in explained("link.cell.forward")[0]["keys"]
    assert explained("queue")[0]["what"].startswith("option of")
    assert explained("connection.cwnd_bytes")[0]["unit"] == "bytes"
    # All columns of a table, those that others have too among them.
    (drop,) = explained("drop")
    assert (drop["what"], drop["columns"]) == ("table of a run", ["time_s", "link", "length_bytes", "reason"])
    (numbers,) = (one for one in explained("number") if "loss" in one["what"])
    assert numbers["what"] == "column of the table loss"
    lengths = [one["what"] for one in explained("length_bytes")]
    assert lengths == ["column of the tables packet, drop"]
    assert explained("connection.download.goodput_mbps")[0]["unit"] == "Mbit/s"
    assert explained("losses")[0]["components"][0] == "none"
    shown = command("explain", "transport.ack_ratio").stdout
    assert shown.splitlines()[0] == "transport.ack_ratio: option of [transport]"
    assert "  default    2\n" in shown and "             ack_ratio = 2\n" in shown


def test_every_option_has_an_example_that_is_a_value_of_it() -> None:
    from jsonschema import Draft7Validator

    from quiclab._quiclab import schema_json

    schema = json.loads(schema_json())
    topics = {topic["name"]: topic for topic in quiclab.topics()}
    for name, topic in topics.items():
        if name == "sections":
            continue
        one = {"$ref": f"#/definitions/one-of-the-{name.replace(' ', '-')}", "definitions": schema["definitions"]}
        # Classes of users, which other tests of this process have named, have a colon.
        for row in (row for row in topic["rows"] if ":" not in row["name"]):
            for option in row["parameters"]:
                values = "".join(
                    f", {other['name']} = {example(other, topics)}"
                    for other in row["parameters"]
                    if other["required"] or other is option
                )
                document = tomllib.loads(f'x = {{ type = "{row["name"]}"{values} }}')
                assert Draft7Validator(one).is_valid(document["x"]), (row["name"], document)


def test_paths_of_keys() -> None:
    keys = Keys(quiclab.topics())
    assert [option.owner for option in keys.find(["seed"])] == [keys.top]
    assert keys.find(["link", "cell", "backward", "mtu"])[0].owner == "[link.backward]"
    assert keys.find(["link", "cell", "cell", "mtu"]) == []
    assert keys.level(["nothing"]) is None and keys.level(["seed", "x"]) is None
    assert {path for path, _ in keys.every()} >= {"seed", "transport.ack_ratio", "link.delay", "cubic.beta"}


def test_export_of_a_run(place: Command) -> None:
    run = quiclab.load(place.folder / "ran")
    rows = list(csv.DictReader(io.StringIO(place("export", "ran", "connection").stdout)))
    table = run.table("connection")
    assert list(rows[0]) == table.column_names and len(rows) == table.num_rows
    assert [float(row["time_s"]) for row in rows] == table.column("time_s").to_pylist()
    # Null is an empty field.
    assert rows[0]["ssthresh_bytes"] == "" and table.column("ssthresh_bytes")[0].as_py() is None
    told = json.loads(place("export", "ran", "queue", "--json", "--column", "packets").stdout)
    assert [row["packets"] for row in told] == run.table("queue").column("packets").to_pylist()
    summary = list(csv.DictReader(io.StringIO(place("export", "ran").stdout)))
    assert float(summary[0]["goodput_mbps"]) == run.summary["connections"][0]["goodput_mbps"]
    lines = place("export", "ran", "drop", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == run.table("drop").to_pylist()


def test_export_of_a_sweep_and_into_files(place: Command) -> None:
    runs = quiclab.load_sweep(place.folder / "made").runs
    rows = list(csv.DictReader(io.StringIO(place("export", "made").stdout)))
    assert [int(row["transport.ack_ratio"]) for row in rows] == runs.column("transport.ack_ratio").to_pylist()
    assert place("export", "made", "series", "--out", "series.csv").stdout.endswith("series.csv\n")
    assert (place.folder / "series.csv").read_text().startswith("run,table,subject,quantity,time_s,value\n")
    assert place("export", "made", "--out", "runs.parquet", "--column", "goodput_mbps").returncode == 0
    assert pq.read_table(place.folder / "runs.parquet").column_names == ["connection.download.goodput_mbps"]
    refused = place("export", "made", "--format", "parquet")
    assert refused.returncode == 2 and "--out" in refused.stderr
    assert "cannot be written" in place("export", "made", "--out", "no/such/x.csv").stderr
    assert "cannot be written: Is a directory" in place("export", "made", "--out", "ran").stderr
    for name in ("runs.parquet", "sweep.json", "sweep.toml"):
        before = (place.folder / "made" / name).read_bytes()
        refused = place("export", "made", "--format", "parquet", "--out", f"made/{name}")
        assert refused.returncode == 2 and "a file of made itself" in refused.stderr
        assert (place.folder / "made" / name).read_bytes() == before
    assert place("export", "made", "--out", "made/runs.csv").returncode == 0
    (place.folder / "made" / "runs.csv").unlink()
    # A link stays one, and what it leads to is written.
    (place.folder / "link.csv").symlink_to("target.csv")
    assert json.loads(place("export", "made", "--out", "link.csv", "--json").stdout) == {"runs": "link.csv"}
    assert (place.folder / "link.csv").is_symlink() and (place.folder / "target.csv").is_file()
    assert (place.folder / "target.csv").read_text().startswith("run,")
    assert not list(place.folder.glob(".*partial*"))


def test_the_table_of_a_sweep_is_by_the_columns_that_are_asked_for(place: Command) -> None:
    sweep = quiclab.load_sweep(place.folder / "made")

    def told(*by: str) -> dict[str, Any]:
        more = [word for one in by for word in ("--by", one)]
        result: dict[str, Any] = json.loads(place("sweep", "sweep.toml", "--out", "made", "--json", *more).stdout)
        return result

    every = told()
    assert every["by"] == sweep.parameters and len(every["means"]) == 4 * 3
    by = told("transport.ack_ratio")
    assert by["by"] == ["transport.ack_ratio"]
    wanted = sweep.means("goodput_mbps", by=["transport.ack_ratio"]).to_pylist()
    assert [row for row in by["means"] if row["column"].endswith("goodput_mbps")] == wanted
    assert told("link.cell.delay", "ack_ratio")["by"] == ["link.cell.delay_ms", "transport.ack_ratio"]
    assert [row["total"] for row in told("")["means"]] == [12] * 3
    table = place("sweep", "sweep.toml", "--out", "made", "--by", "ack_ratio").stdout
    assert "means over all delay_ms" in table and table.count("│ ") == 2 * 4


@pytest.mark.parametrize("group", [[], ["trace"], ["video"], ["real"], ["dev"]])
def test_a_group_by_itself_prints_its_help(command: Command, group: list[str]) -> None:
    alone, asked = command(*group), command(*group, "--help")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == asked.stdout and ("Commands:\n" if group else "Everyday:\n") in alone.stdout


def test_a_sweep_says_what_its_table_is_and_what_comes_next(command: Command) -> None:
    (command.folder / "s.toml").write_text(
        (EXAMPLES / "dumbbell.toml").read_text(encoding="utf-8").replace('start = "5 s"', "")
    )
    told = ["--set", "duration=1 s", "--set", "sweep.repetitions=3", "--set", "sweep.transport.ack_ratio=[1, 2]"]
    result = command("sweep", "s.toml", *told, "--set", "link.bottleneck.forward.jitter=1 ms", env={"COLUMNS": "80"})
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[-4:] == [
        "±        95 % interval of the mean of 3 runs in each row (Student's t)",
        "runs     6, 0 reused, 0 failed",
        "folder   sweeps/s",
        "next     quiclab plot sweeps/s --x ack_ratio --y goodput_mbps",
    ]
    assert "completion" not in result.stdout
    assert result.stderr.startswith("note: no run has connection.first.completion_s, connection.second.completion_s:")
    # Of all flows, where several have it.
    shown = command("sweep", "s.toml", *told, "--set", "link.bottleneck.forward.jitter=1 ms", "--show", "goodput_mbps")
    assert "first.goodput_mbps" in shown.stdout and "second.goodput_mbps" in shown.stdout
    alone = command("sweep", "s.toml", "--set", "duration=1 s", "--out", "one")
    assert "s, 1 run\n" in "\n".join(map(str.rstrip, alone.stdout.splitlines())) + "\n"
    assert alone.stdout.endswith("next     quiclab report one\n") and "note: one run: nothing varies" in alone.stderr
    one = command("run", str(EXAMPLES / "sweep.toml"), "--out", "run")
    assert one.stderr.startswith("note: one run, without the [sweep] table: quiclab sweep ")


def test_large_numbers_of_a_sweep_have_no_powers_of_ten(command: Command) -> None:
    from quiclab.commands.sweep import _digits

    assert [_digits(value, 4) for value in (0, 12.3456, 9999.6, 123456.0, 1e-7)] == [
        "0",
        "12.35",
        "10,000",
        "123,500",
        "1e-07",
    ]
    assert [_digits(value, 2) for value in (0.61234, 99.7, 168.4)] == ["0.61", "100", "170"]


def test_an_option_is_explained_once(command: Command) -> None:
    heads = [line for line in command("explain", "delay").stdout.splitlines() if ": option of " in line]
    owners = [head.partition(": option of ")[2] for head in heads]
    assert owners[0] == "[[link]]" and "media: lte" in owners
    assert len(set(owners)) == len(owners)
    # By the name of its component it is found as well.
    assert command("explain", "lte.delay").stdout.startswith("lte.delay: option of media: lte\n")
