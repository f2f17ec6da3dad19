"""The command line, as a user runs it."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

import quiclab
from conftest import SCENARIO, Command
from quiclab.commands import COMMANDS, load


def test_run_prints_a_table_and_writes_a_folder(command: Command) -> None:
    result = command("run", "bulk.toml")
    assert (result.returncode, result.stderr) == (0, "")
    for row in (
        "goodput", "completion time", "mean RTT", "95th percentile RTT", "packets sent", "packets lost",
        "retransmitted", "bottleneck queue mean", "bottleneck queue maximum",
    ):  # fmt: skip
        assert row in result.stdout
    assert "figure   runs/bulk-seed1/figure.png" in result.stdout
    folder = command.folder / "runs" / "bulk-seed1"
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert {"scenario.toml", "summary.json", "connection.parquet"} <= {file.name for file in folder.iterdir()}
    assert "packets" in quiclab.load(folder).table("queue").column_names


@pytest.mark.parametrize("more", [0, 2])
def test_packets_declared_lost_are_shown_where_some_only_came_late(run: quiclab.Run, more: int) -> None:
    from quiclab.results.numbers import tables

    summary = json.loads(json.dumps(run.summary))
    connection = summary["connections"][0]
    connection["packets_declared_lost"] = connection["packets_lost"] + more
    (table,) = tables(summary, 100)
    assert ("packets declared lost" in map(str, table.columns[0].cells)) == (more > 0)


def test_run_shows_what_applications_count(command: Command) -> None:
    parts = '[{ type = "messages", source = "mavlink", deadline = "1 ms" }, { type = "bulk", size = "20 kB" }]'
    mix = f'flow.download.application={{ type = "mix", parts = {parts} }}'
    table = command("run", "bulk.toml", "--set", "duration=5 s", "--set", mix).stdout
    assert "messages: messages complete" in table and "messages: deadline misses" in table
    assert "bulk: completion time" in table
    page = 'flow.download.application={ type = "page", page = "3gpp" }'
    table = command("run", "bulk.toml", "--set", page).stdout
    assert "mean page load time" in table and "objects complete" in table


def test_run_json_is_the_summary(command: Command) -> None:
    result = command("run", "bulk.toml", "--seed", "3", "--json", "--out", "x/y")
    assert (result.returncode, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    assert told.pop("folder") == "x/y"
    assert told == json.loads((command.folder / "x/y/summary.json").read_text())
    assert told["seed"] == 3


def test_run_without_tables(command: Command) -> None:
    result = command("run", "bulk.toml", "--no-tables", "--out", "lean")
    assert result.returncode == 0
    assert sorted(file.name for file in (command.folder / "lean").iterdir()) == ["scenario.toml", "summary.json"]
    result = command("plot", "lean")
    assert (result.returncode, result.stdout) == (2, "")
    assert "without tables" in result.stderr


def test_run_with_traces(command: Command) -> None:
    result = command("run", "bulk.toml", "--qlog", "--pcap", "--set", "tls.protection=tls", "--out", "x")
    assert result.returncode == 0, result.stderr
    folder = command.folder / "x"
    assert len(list(folder.glob("*.sqlog"))) == 2
    # The section header block of pcapng.
    assert (folder / "capture.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    assert "qlog     x/*.sqlog" in result.stdout
    assert "capture  x/capture.pcapng" in result.stdout


def test_set_changes_the_scenario(command: Command) -> None:
    slow = command("run", "bulk.toml", "--json", "--set", "link.cell.forward.rate=1 Mbit/s")
    fast = command("run", "bulk.toml", "--json", "--set", "link.cell.forward.rate=4 Mbit/s")
    goodput = [json.loads(result.stdout)["connections"][0]["goodput_mbps"] for result in (slow, fast)]
    assert goodput[0] < 1.0 < goodput[1]


def test_check(command: Command) -> None:
    result = command("check", "bulk.toml")
    assert result.returncode == 0
    assert "a valid scenario" in result.stdout
    told = json.loads(command("check", "bulk.toml", "--json").stdout)
    assert told["valid"] is True
    assert told["scenario"] == "bulk"
    assert told["description"]
    assert sorted(path.name for path in command.folder.iterdir()) == ["bulk.toml"]


def test_check_warns_of_a_queue_of_a_single_packet(command: Command) -> None:
    # 1 Mbit/s back over 20 ms are 2500 bytes: one packet, too.
    faster = ("--set", "link.cell.backward.rate=2 Mbit/s")
    calm = command("check", "bulk.toml", "--json", *faster)
    assert calm.stderr == ""
    assert json.loads(calm.stdout)["warnings"] == []
    changed = (*faster, "--set", "link.cell.delay=0 s")
    result = command("check", "bulk.toml", *changed)
    assert result.returncode == 0
    assert "a valid scenario" in result.stdout
    assert "warning" not in result.stdout
    lines = result.stderr.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["warning", "link cell forward"],
        ["warning", "link cell backward"],
    ]
    assert all("one full-sized packet" in line for line in lines)
    told = json.loads(command("check", "bulk.toml", "--json", *changed).stdout)
    assert told["valid"] is True
    assert [subject for subject, _ in told["warnings"]] == ["link cell forward", "link cell backward"]


def test_plot(command: Command, saved: Path) -> None:
    before = (saved / "figure.png").read_bytes()
    assert command("plot", str(saved)).returncode == 0
    assert (saved / "figure.png").read_bytes() == before
    result = command("plot", str(saved), "--out", "a.pdf", "--kind", "rtt")
    assert (result.returncode, result.stdout) == (0, "figure   a.pdf\n")
    told = json.loads(command("plot", str(saved), "--out", "b.svg", "--json").stdout)
    assert told == {"figure": "b.svg"}
    assert (command.folder / "b.svg").stat().st_size > 10_000


def test_list(command: Command) -> None:
    overview = command("list")
    everything = command("list", "--all")
    assert (overview.returncode, everything.returncode) == (0, 0)
    rooms = json.loads(command("list", "--json").stdout)
    pages = {(room["name"], row["name"]): row["page"] for room in rooms for row in room["rows"]}
    # In a process of its own: what tests of Python controllers and schedulers have registered in this one stays.
    fresh = [sys.executable, "-c", "import json, quiclab; print(json.dumps(quiclab.topics()))"]
    assert rooms == json.loads(subprocess.run(fresh, capture_output=True, check=True).stdout)
    # Each component has a page that names it; the tables of a scenario file are no components.
    project = Path(__file__).parents[1]
    for (room_name, row_name), page in pages.items():
        assert (page is None) == (room_name == "sections"), row_name
        assert page is None or f"`{row_name}`" in (project / page).read_text(), row_name
        assert page is None or page in everything.stdout
    lines = {line.split()[0]: line for line in overview.stdout.splitlines() if line.startswith("  ")}
    # Every topic has a subject.
    assert sorted(lines) == sorted(room["name"] for room in rooms)
    for room in rooms:
        assert room["name"] in everything.stdout
        assert room["about"] in lines[room["name"]]
        for row in room["rows"]:
            assert row["name"] in everything.stdout and row["name"] in lines[room["name"]]
    (room,) = json.loads(command("list", "controllers", "--json").stdout)
    assert room["name"] == "controllers"
    (room,) = json.loads(command("list", "newreno", "--json").stdout)
    assert [row["name"] for row in room["rows"]] == ["newreno"]


def test_version_and_help(command: Command) -> None:
    assert command("--version").stdout == f"quiclab {quiclab.__version__}\n"
    for arguments in ((), ("run",), ("check",), ("plot",), ("list",)):
        result = command(*arguments, "--help")
        assert (result.returncode, result.stderr) == (0, "")
        assert "Usage: quiclab" in result.stdout


def test_texts_of_the_help_are_no_markup(command: Command) -> None:
    for word, text in (("sweep", "[sweep]"), ("check", "[sweep]"), ("trace", "Mahimahi")):
        assert text in command(word, "--help").stdout
    # Text in brackets in a docstring or in the help of an option is printed.
    for name in COMMANDS:
        function = load(name)
        if isinstance(function, typer.Typer):
            continue
        wanted = re.findall(r"\[[a-z.]+\]", function.__doc__ or "")
        for parameter in inspect.signature(function).parameters.values():
            for extra in getattr(parameter.annotation, "__metadata__", ()):
                wanted += re.findall(r"\[[a-z.]+\]", getattr(extra, "help", None) or "")
        told = command(*name.split(), "--help").stdout
        assert all(text in told for text in wanted), name


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["list", "--json"], ["--version"], ["check", "quiet.toml"], ["run", "bulk.toml"], ["--help"]],
)
def test_an_output_that_is_closed_or_full_is_one_line(command: Command, arguments: list[str]) -> None:
    # Without the warning of a queue of a single packet.
    quiet = SCENARIO.replace('rate = "1 Mbit/s"', 'rate = "2 Mbit/s"')
    (command.folder / "quiet.toml").write_text(quiet, encoding="utf-8")
    for where, line in (
        (">&-", "quiclab: standard output is closed; expected a file, a pipe or a terminal, like >/dev/null\n"),
        (">/dev/full", "quiclab: standard output: cannot be written: No space left on device\n"),
    ):
        script = f'"$0" -m quiclab "$@" {where}'
        done = subprocess.run(
            ["sh", "-c", script, sys.executable, *arguments],
            cwd=command.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (2, line), (arguments, where)
    # With standard error closed an error is not printed elsewhere.
    script = '"$0" -m quiclab check nothing.toml 2>&-'
    silent = subprocess.run(["sh", "-c", script, sys.executable], cwd=command.folder, capture_output=True, check=False)
    assert (silent.returncode, silent.stdout) == (2, b"")


def test_a_reader_that_has_enough_is_no_error(command: Command) -> None:
    process = command.start("list")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.wait(30)
    assert process.stderr.read() == ""


LONG = (
    "run",
    "bulk.toml",
    "--set",
    "duration=10000 h",
    "--set",
    "flow.download.application.size=100 TB",
    "--no-tables",
    "--out",
    "x",
)


@pytest.mark.parametrize(
    ("number", "code", "line"),
    [(signal.SIGINT, 130, "quiclab: interrupted\n"), (signal.SIGTERM, 143, "quiclab: terminated\n")],
)
def test_an_interrupt_stops_at_once_and_leaves_nothing(
    command: Command, number: signal.Signals, code: int, line: str
) -> None:
    process = command.start(*LONG)
    try:
        deadline = time.monotonic() + 30
        while not list(command.folder.glob(".x.partial-*")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(process.pid, number)
        _, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, stderr) == (code, line)
    assert sorted(path.name for path in command.folder.iterdir()) == ["bulk.toml"]


def test_an_unexpected_error_is_one_line_with_a_hint(command: Command) -> None:
    (command.folder / "sitecustomize.py").write_text("import quiclab.scenario\nquiclab.scenario.Scenario = None\n")
    broken = {"PYTHONPATH": str(command.folder)}
    result = command("check", "bulk.toml", env=broken)
    assert result.returncode == 2
    assert result.stderr.startswith("quiclab: internal error: AttributeError: ")
    assert "QUICLAB_TRACEBACK=1" in result.stderr
    assert result.stderr.count("\n") == 1
    result = command("check", "bulk.toml", env={**broken, "QUICLAB_TRACEBACK": "1"})
    assert result.returncode == 1
    assert "Traceback" in result.stderr
