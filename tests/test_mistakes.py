"""Every mistake costs one clear line and exit code 2, without a traceback and without a half-written run folder."""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SCENARIO, Command
from quiclab import Scenario, ScenarioError

TRACE = "trace.down"
VIDEO = str(Path(__file__).parents[1] / "examples" / "video.toml")


def write_trace(folder: Path, text: str = "0\n5\n5\n20\n") -> None:
    (folder / TRACE).write_text(text, encoding="utf-8")


def entries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def check_one_line(result: "subprocess.CompletedProcess[str]", words: tuple[str, ...], code: int = 2) -> None:
    assert result.returncode == code, result.stdout + result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("quiclab: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


# Mistakes outside of the scenario: the arguments, the words of the line.
ARGUMENTS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no such file": (["run", "nothing.toml"], ("nothing.toml", "No such file")),
    "nearly a file": (["run", "bluk.toml"], ("bluk.toml: No such file or directory; did you mean 'bulk.toml'?",)),
    "a folder as scenario": (["run", "."], ("a folder, not a file",)),
    "bytes that are no text": (["check", "binary.toml"], ("binary.toml", "UTF-8")),
    "an empty file": (["check", "empty.toml"], ("empty.toml",)),
    "no file": (["run"], ("FILE",)),
    "an unknown command": (["rum", "bulk.toml"], ("rum", "run")),
    "an unknown option": (["run", "bulk.toml", "--sed", "1"], ("--sed",)),
    "a seed that is no number": (["run", "bulk.toml", "--seed", "many"], ("--seed", "integer")),
    "a negative seed": (["run", "bulk.toml", "--seed=-1"], ("--seed",)),
    "a seed too large": (["run", "bulk.toml", "--seed", "99999999999999999999999"], ("seed",)),
    "a set without a value": (["run", "bulk.toml", "--set", "duration"], ("duration", "=")),
    "a set of an unknown key": (["run", "bulk.toml", "--set", "duratoin=1 s"], ("duratoin", "duration")),
    "a set of no such link": (["run", "bulk.toml", "--set", "link.cel.forward.rate=1 Mbit/s"], ("cel", "cell")),
    "a set of a wrong value": (["run", "bulk.toml", "--set", "duration=fast"], ("duration", "fast")),
    "an output folder that exists": (["run", "bulk.toml", "--out", "taken"], ("taken", "exists already")),
    "an output folder that is a file": (["run", "bulk.toml", "--out", "bulk.toml"], ("bulk.toml", "exists already")),
    "an output folder in a file": (["run", "bulk.toml", "--out", "bulk.toml/x"], ("bulk.toml/x", "Not a directory")),
    "an output folder with a name too long": (["run", "bulk.toml", "--out", "x" * 300], ("File name too long",)),
    "a plot of nothing": (["plot", "nothing"], ("nothing", "no such run folder")),
    "a plot of another folder": (["plot", "taken"], ("taken", "not a run folder", "summary.json")),
    "why of the folder of runs": (["why", "kept"], ("kept: not a run folder: it contains one, two",)),
    "why of nearly a run": (["why", "kept/onee"], ("no such run folder; did you mean 'kept/one'?",)),
    "why of a scenario": (["why", "bulk.toml"], ("bulk.toml: is a file, not a run folder; `quiclab run` makes one",)),
    "why of a file of a run": (
        ["why", "kept/one/summary.json"],
        ("kept/one/summary.json: is a file, not a run folder; its folder is kept/one",),
    ),
    "why of a sweep": (["why", "kept/two"], ("it is that of a sweep", "`quiclab plot`")),
    "a plot of no sweep": (["plot", "sweeps/s", "--x", "ack_ratio"], ("sweeps/s: there is no such run folder",)),
    "a plot of a file": (["plot", "bulk.toml"], ("bulk.toml: is a file, not a run folder",)),
    "a scenario without a name": (["new", ""], ("expected a name of letters",)),
    "a set that is no text": (["run", "bulk.toml", "--set", "x\udcff=3"], ("x\\udcff=3: not text in UTF-8",)),
    "a size that is none": (["dev", "bench", "--size", "many"], ("quiclab: --size 'many': no number, found",)),
    "a film in a folder that exists": (["video", "film", "taken"], ("taken: exists already; choose another folder",)),
    "a film without bitrates": (
        ["video", "film", "x", "--bitrates", "fast"],
        ("--bitrates: 'fast': expected numbers",),
    ),
    "a folder to serve that is missing": (["real", "serve", "nothing"], ("nothing: No such file or directory\n",)),
    "a key that is none": (
        ["real", "serve", "taken", "--listen", "127.0.0.1:0", "--cert", TRACE, "--key", TRACE],
        (f"{TRACE}: invalid ", "(PEM)"),
    ),
    "authorities that are none": (
        ["real", "fetch", "https://localhost:1/x", "--ca", TRACE],
        (f"{TRACE}: invalid certificate (PEM)",),
    ),
    "settings that are missing": (
        ["video", "play", VIDEO, "--flow", "near", "--settings", "nothing"],
        ("--settings: nothing: No such file or directory\n",),
    ),
    "a plot in an unknown format": (["plot", "taken", "--out", "figure.gif"], ("figure.gif", ".png")),
    "a trace into a folder": (["trace", "generate", "leo", "--out", "."], (".: is a folder",)),
    "a trace into another folder": (["trace", "generate", "leo", "--out", "taken"], ("taken: is a folder",)),
    "a trace converted into a folder": (["trace", "convert", TRACE, "."], (".: is a folder",)),
    "escape codes in a name": (["run", "\x1b[31mred\x1b[0m.toml"], ("\\x1b[31mred\\x1b[0m.toml: No such file",)),
    "a name with lines": (["check", "a\nb\rc.toml"], ("a b c.toml: No such file",)),
    "a name that is no UTF-8": (["check", "\udcff.toml"], ("\\udcff.toml: No such file",)),
    "two formats at a time": (["export", "kept", "--json", "--format", "csv"], ("--format csv and --json exclude",)),
    "a column that is not there": (
        ["sweep", "bulk.toml", "--out", "s", "--show", "goodput_mbp"],
        ("no column 'goodput_mbp'", "did you mean 'connection.download.goodput_mbps'?"),
    ),
    "a list of an unknown room": (["list", "nonsense"], ("nonsense", "controllers")),
}


@pytest.mark.parametrize("mistake", ARGUMENTS)
def test_a_mistake_in_the_arguments(command: Command, mistake: str) -> None:
    arguments, words = ARGUMENTS[mistake]
    (command.folder / "taken").mkdir()
    for name, file in (("one", "summary.json"), ("two", "sweep.json")):
        (command.folder / "kept" / name).mkdir(parents=True)
        (command.folder / "kept" / name / file).touch()
    (command.folder / "binary.toml").write_bytes(b"name = \xff\xfe")
    (command.folder / "empty.toml").touch()
    write_trace(command.folder)
    before = entries(command.folder)
    check_one_line(command(*arguments), words)
    assert entries(command.folder) == before


def test_the_documentation_shows_an_error_as_it_is(command: Command) -> None:
    pages = Path(__file__).parents[1] / "docs"
    failed = command("run", "bulk.toml", "--set", "transport.ack_rato=2")
    check_one_line(failed, ("did you mean",))
    assert failed.stderr in (pages / "command-line.md").read_text(encoding="utf-8")


def without_capabilities() -> None:
    """Takes from root what lets it write where the mode forbids it (Linux, CAP_DAC_OVERRIDE = 1)."""
    if os.geteuid() == 0:
        drop_from_bounding_set = 24
        if ctypes.CDLL(None).prctl(drop_from_bounding_set, 1, 0, 0, 0) != 0:
            raise OSError("prctl")


@pytest.mark.skipif(sys.platform != "linux", reason="modes bind root only where capabilities can be dropped")
@pytest.mark.parametrize("out", [["--out", "locked/x"], ["--out", "locked/x/y"], []])
def test_no_right_to_write(command: Command, out: list[str]) -> None:
    locked = command.folder / ("locked" if out else "runs")
    locked.mkdir(mode=0o555)
    try:
        check_one_line(command("run", "bulk.toml", *out, before=without_capabilities), ("Permission denied",))
        assert entries(command.folder) == ["bulk.toml", locked.name]
    finally:
        locked.chmod(0o755)


def file_limit(size: int) -> Callable[[], None]:
    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return before


@pytest.mark.parametrize("options", [[], ["--qlog"], ["--pcap", "--set", "tls.protection=tls"]])
@pytest.mark.parametrize("size", [0, 1_000, 10_000])
def test_a_file_that_cannot_grow(command: Command, options: list[str], size: int) -> None:
    result = command("run", "bulk.toml", "--out", "x/y", *options, before=file_limit(size))
    check_one_line(result, ("x/y", "File too large"))
    assert entries(command.folder) == ["bulk.toml"]


@pytest.mark.parametrize("ending", ["pdf", "png", "svg"])
def test_a_figure_on_a_full_disk(command: Command, saved: Path, ending: str) -> None:
    on_a_small_disk(command, f"plot '{saved}' --out disk/x.{ending}", f"disk/x.{ending}")


def test_a_full_disk(command: Command) -> None:
    on_a_small_disk(command, "run bulk.toml --out disk/x", "disk/x")


def test_a_new_scenario_on_a_full_disk(command: Command) -> None:
    on_a_small_disk(command, "new disk/x", "disk/x.toml", fill=True)


def on_a_small_disk(command: Command, arguments: str, name: str, *, fill: bool = False) -> None:
    disk = command.folder / "disk"
    disk.mkdir()
    run = f'"$0" -m quiclab {arguments}'
    if fill:
        # No page is free; what is listed afterwards is what else is there.
        run = f"head -c 16384 /dev/zero > disk/.full && {{ {run}; }}; code=$?; rm disk/.full; (exit $code)"
    script = f"mount -t tmpfs -o size=16k quiclab disk && {run}; code=$?; ls -A disk >&2; exit $code"
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no small disk can be made here: unshare is not there or not allowed")
    result = subprocess.run(
        [unshare, "-rm", "sh", "-c", script, sys.executable],
        cwd=command.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    check_one_line(result, (f"{name}: cannot be written: No space left on device",))


FLOW = 'application = { type = "bulk", size = "300 kB" }\n'
END = 'controller = "newreno"\n'
ISLAND = '[[link]]\nname = "far"\nfrom = "x"\nto = "y"\n'
SECOND = '[[flow]]\nname = "download"\nclient = "client"\nserver = "server"\napplication = "bulk"\n'

MPD = "film.mpd"
BOMB = """<!DOCTYPE MPD [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">&b;</MPD>
"""


def video(options: str) -> str:
    return f'application = {{ type = "video", {options} }}\n'


# Mistakes in the scenario: what is replaced in bulk.toml by what, the words of the line.
SCENARIOS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "not TOML": ("seed = 1", "seed = = 1", (":2:", "TOML")),
    "a key given twice": ("seed = 1", "seed = 1\nseed = 2", (":3:", "duplicate")),
    "an unknown key": ("duration =", "durration =", (":3:1", '"durration"', 'did you mean "duration"?')),
    "an unknown table": ("[flow.transport]", "[flow.transprot]", ("transprot", 'did you mean "transport"?')),
    "text for a number": ("seed = 1", 'seed = "one"', (":2:", "seed", '"one"', "whole number")),
    "a list for a text": ('client = "client"', 'client = ["client"]', ("flow.download.client", "a list")),
    "a table for a text": ('name = "cell"', "name = { first = 1 }", ("name", "a table")),
    "a number without a unit": ('delay = "10 ms"', "delay = 10", (":10:", "delay", "unit is missing", "10")),
    "a text without a unit": ('"5 Mbit/s"', '"5"', ("link.cell.forward.rate", "unit is missing")),
    "a unit of something else": ('delay = "10 ms"', 'delay = "10 kB"', ("delay", "unknown unit", "kB")),
    "a negative rate": ('"5 Mbit/s"', '"-5 Mbit/s"', ("link.cell.forward.rate", "negative")),
    "a probability above one": ('"1 %"', '"110 %"', ("link.cell.forward.loss", "110 %")),
    "a queue without a measure": ('"1 BDP"', '"many"', ("queue", "many")),
    "an unknown controller": ('"newreno"', '"newrneo"', ("controller", '"newrneo"', 'did you mean "newreno"?')),
    "an unknown application": ('type = "bulk"', 'type = "blk"', ('"blk"', 'did you mean "bulk"?')),
    "an unknown option": ("size =", "sise =", ('"sise"', 'did you mean "size"?')),
    "an option out of range": ("[link.backward]", "[link.backward]\nmtu = 10", ("mtu", "10")),
    "a key that is missing": ('server = "server"\n', "", ("flow.download.server", "missing")),
    "a duration of zero": ('"20 s"', '"0 s"', ("duration", "zero")),
    "a flow that begins too late": (FLOW, FLOW + 'start = "1 h"\n', ("flow.download.start", "1 h")),
    "a flow from nowhere": ('client = "client"', 'client = "clinet"', ('"clinet"', 'did you mean "client"?')),
    "a flow to itself": ('server = "server"\n', 'server = "client"\n', ("flow.download",)),
    "a link to itself": ('to = "client"', 'to = "server"', ("link.cell", "server")),
    "a node without a link": (END, END + '[[node]]\nname = "lonely"\n', ("lonely", "link")),
    "no route": ('client = "client"', 'client = "x"', ("flow.download", "no route")),
    "two flows of one name": (END, END + SECOND, ("download", "name")),
    "two links of one name": (END, END + ISLAND.replace("far", "cell"), ("cell", "name")),
    "a trace that is missing": ('"5 Mbit/s"', '{ type = "trace", file = "no.down" }', ("no.down", "no such file")),
    "a buffer without room": (FLOW, video('max_buffer = "2 s"'), ("application.max_buffer", "at least 3 s")),
    "a seek beyond the end": (FLOW, video('seeks = [["1 s", "1 h"]]'), ("application.seeks", "at most 600 s")),
    "a deadline that is not live": (FLOW, video('deadline = "1 s"'), ("application.deadline", "latency")),
    "a deadline without chunks": (FLOW, video('latency = "2 s", deadline = "1 s"'), ("application.deadline", "chunk")),
    "a deadline without a means": (
        FLOW,
        video('latency = "2 s", chunk = "1 s", deadline = "1 s"'),
        ("application", "transport.reset_stream_at"),
    ),
    "a chunk that is not live": (FLOW, video('chunk = "1 s"'), ("application.chunk", "latency")),
    "an MPD that is missing": (FLOW, video('presentation = { type = "mpd", file = "no.mpd" }'), ("no.mpd",)),
    "an MPD with entities": (FLOW, video(f'presentation = {{ type = "mpd", file = "{MPD}" }}'), (MPD, "DOCTYPE")),
    "a trace that is malformed": ('"5 Mbit/s"', f'{{ type = "trace", file = "{TRACE}" }}', (f"{TRACE}:3:", "x")),
}


@pytest.mark.parametrize("mistake", SCENARIOS)
def test_a_mistake_in_the_scenario(command: Command, mistake: str) -> None:
    old, new, words = SCENARIOS[mistake]
    assert SCENARIO.count(old) == 1, "the mistake is made in one place"
    # For the flow that has no route, there are two nodes that no link leads to from the others.
    text = SCENARIO.replace(old, new) + (ISLAND if mistake == "no route" else "")
    (command.folder / "wrong.toml").write_text(text, encoding="utf-8")
    write_trace(command.folder, "0\n5\nx\n")
    (command.folder / MPD).write_text(BOMB, encoding="utf-8")
    before = entries(command.folder)
    for word in ("run", "check"):
        check_one_line(command(word, "wrong.toml"), ("wrong.toml", *words))
    assert entries(command.folder) == before
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_file(command.folder / "wrong.toml")
    assert "\n" not in str(caught.value)
