"""Folders of strangers: who reads results runs no code, opens only files, and shows nothing of files that are named."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quiclab
import quiclab.traces
from conftest import SCENARIO, Command
from quiclab import _quiclab, report, view
from quiclab.commands import app
from quiclab.drawings.report.whole import whole

PLUGGED = """
from pathlib import Path
import quiclab
Path(r"{marker}").write_text("ran")

class Mine(quiclab.Controller):
    "One packet for each window."
    options = {{"beta": 0.5}}
    def on_ack(self, ack):
        self.window_bytes += self.datagram_bytes * ack.acked_bytes / self.window_bytes
    def on_loss(self, loss):
        self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)

class Turn(quiclab.Scheduler):
    "The first."
    def next(self, view):
        return next(iter(self.ready))
"""
NAMED = """controller = { type = "mine.py:Mine", beta = 0.7 }
scheduler = "mine.py:Turn"
"""


def document() -> str:
    assert SCENARIO.endswith('controller = "newreno"\n')
    return SCENARIO.replace('controller = "newreno"\n', NAMED)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody else: code, a scenario that names it, its run and its sweep; the code has not run here."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "mine.py").write_text(PLUGGED.format(marker=folder / "MARKER"))
    (folder / "s.toml").write_text(document())
    swept = '\n[sweep]\nrepetitions = 2\nlink.cell.delay = ["10 ms", "20 ms"]\nseries = ["queue"]\n'
    (folder / "sweep.toml").write_text(document() + swept)
    for arguments in (
        ["run", "s.toml", "--out", "a", "--qlog"],
        ["run", "s.toml", "--out", "b", "--seed", "7"],
        ["sweep", "sweep.toml", "--out", "sweep", "--jobs", "1"],
    ):
        made = subprocess.run(
            [sys.executable, "-m", "quiclab", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        assert made.stderr.count("runs Python code: mine.py") == 1, made.stderr
    (folder / "MARKER").unlink()
    return folder


READING = (
    ("report", "a", "--out", "r.html"),
    ("report", "a", "b", "sweep", "--out", "r2.html"),
    ("view", "a", "--out", "v.html"),
    ("why", "a"),
    ("why", "a", "--json"),
    ("diff", "a", "b"),
    ("diff", "a", "s.toml"),
    ("diff", "s.toml", "a/scenario.toml"),
    ("diff", "sweep", "sweep"),
    ("plot", "a", "--out", "p.png"),
    ("plot", "sweep", "--x", "delay_ms", "--y", "goodput_mbps", "--out", "q.png"),
    ("export", "a"),
    ("export", "a", "connection"),
    ("export", "sweep"),
    ("export", "sweep", "series"),
    ("check", "a/scenario.toml"),
    ("check", "a/scenario.toml", "--set", "seed=9"),
    ("check", "sweep/sweep.toml"),
)


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_reading_results_runs_no_code(stranger: Path, arguments: tuple[str, ...]) -> None:
    done = Command(stranger)(*arguments)
    assert done.returncode in (0, 1 if arguments[0] == "diff" else 0), done.stderr
    assert not (stranger / "MARKER").exists()


def test_no_attribute_of_results_runs_code(stranger: Path) -> None:
    run, sweep = quiclab.load(stranger / "a"), quiclab.load_sweep(stranger / "sweep")
    for one in (run, sweep):
        for name in dir(one):
            if name.startswith("_") and name not in ("_repr_html_", "__repr__", "__getstate__"):
                continue
            value = getattr(one, name)
            if callable(value) and name in ("_repr_html_", "__repr__", "__getstate__", "why", "plot", "means"):
                try:
                    value()
                except (quiclab.Error, TypeError, ValueError):
                    assert name in ("means", "plot")
    for table in run.tables:
        repr(run.table(table))
    repr(quiclab.diff(stranger / "a", stranger / "b"))
    repr(quiclab.diff(stranger / "s.toml", stranger / "a"))
    report.write([run, stranger / "b"], stranger / "api.html")
    view.write(run, stranger / "apiv.html")
    run.save(stranger / "copy")
    shutil.rmtree(stranger / "copy")
    assert not (stranger / "MARKER").exists()


def test_a_report_describes_the_network_beside_code_that_it_does_not_load(stranger: Path) -> None:
    text = report.write(stranger / "a", stranger / "described.html").report.read_text()
    assert "link cell forward" in text
    assert "mine.py:Mine" in text


def test_the_scenario_of_results_cannot_be_run(stranger: Path) -> None:
    text = (stranger / "a" / "scenario.toml").read_text()
    scenario = _quiclab.Scenario.recorded(text, stranger / "a" / "scenario.toml")
    for use in (lambda: scenario.run(), lambda: scenario.page_draws("download", 1)):
        with pytest.raises(quiclab.RunError, match="without the code"):
            use()
    assert _quiclab.Scenario.recorded(scenario.to_toml(), "x.toml").to_toml() == scenario.to_toml()


def test_code_is_said_before_it_runs(stranger: Path) -> None:
    for arguments in (
        ("check", "s.toml"),
        ("run", "s.toml", "--out", "again"),
        ("run", "a/scenario.toml", "--out", "again"),
        ("sweep", "sweep.toml", "--out", "again", "--jobs", "1"),
    ):
        done = Command(stranger)(*arguments)
        shutil.rmtree(stranger / "again", ignore_errors=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("quiclab: the scenario runs Python code: mine.py\n"), done.stderr
        assert (stranger / "MARKER").exists()
        (stranger / "MARKER").unlink()
    (stranger / "evil.py").write_text(PLUGGED.format(marker=stranger / "MARKER"))
    (stranger / "m.toml").write_text(document().replace("mine.py:", "evil:"))
    done = Command(stranger)("check", "m.toml")
    assert done.stderr.startswith("quiclab: the scenario runs Python code: evil.py\n"), done.stderr
    (stranger / "MARKER").unlink()


# Files that are none.


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    # A name of a socket may have 108 bytes.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def _link_to_a_fifo(path: Path) -> None:
    _fifo(path.with_name("pipe"))
    path.symlink_to("pipe")


KINDS: dict[str, Callable[[Path], object]] = {
    "fifo": _fifo,
    "socket": _socket,
    "folder": lambda path: path.mkdir(),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to a fifo": _link_to_a_fifo,
    "broken link": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["summary.json", "scenario.toml", "connection.parquet", "rate.parquet"])
def test_what_is_no_file_is_neither_read_nor_waited_for(stranger: Path, tmp_path: Path, kind: str, name: str) -> None:
    folder = tmp_path / "a"
    shutil.copytree(stranger / "a", folder)
    (folder / name).unlink()
    KINDS[kind](folder / name)
    reading: list[Callable[[], Any]] = [
        lambda: quiclab.load(folder).why(),
        lambda: quiclab.load(folder).plot(),
        lambda: report.write(folder, tmp_path / "r.html"),
        lambda: view.write(folder, tmp_path / "v.html"),
        lambda: quiclab.diff(folder, stranger / "b"),
    ]
    failed = 0
    for read in reading:
        try:
            read()
        except quiclab.Error as error:
            failed += 1
            assert "\n" not in str(error)
    assert failed or name == "rate.parquet"


def _page(kind: str) -> str:
    return f'flow.download.application={{{{ type = "page", page = {{{{ type = "{kind}", file = "{{path}}" }}}} }}}}'


def _video(kind: str, more: str = "") -> str:
    source = f'{{{{ type = "{kind}", file = "{{path}}"{more} }}}}'
    return f'flow.download.application={{{{ type = "video", presentation = {source} }}}}'


CROSS = '[[cross_traffic]]\nname = "x"\nfrom = "server"\nto = "client"\nsource = {{ type = "file", file = "{path}" }}\n'
MEDIUM = (
    '[[medium]]\nname = "air"\ntype = "lte"\nstation = "server"\nterminals = ["phone"]\n'
    '[medium.at.phone]\nchannel = {{ type = "series", file = "{path}" }}\n'
)

OPTIONS = {
    ("rates", "trace"): 'link.cell.forward.rate={{ type = "trace", file = "{path}" }}',
    ("rates", "series"): 'link.cell.forward.rate={{ type = "series", file = "{path}" }}',
    ("series", "file"): 'link.cell.forward.series={{ type = "file", file = "{path}" }}',
    ("losses", "trace"): 'link.cell.forward.loss={{ type = "trace", file = "{path}" }}',
    ("jitters", "trace"): 'link.cell.forward.jitter={{ type = "trace", file = "{path}" }}',
    ("pages", "list"): _page("list"),
    ("pages", "har"): _page("har"),
    ("presentations", "sizes"): _video("sizes"),
    ("presentations", "mpd"): _video("mpd"),
    ("sources", "file"): CROSS,
    ("channels", "series"): MEDIUM,
    ("controllers", ""): 'transport.controller="{path}:Mine"',
    ("schedulers", ""): 'transport.scheduler="{path}:Mine"',
}
"""Every option of a component that is a file: a change of the scenario, or what is added to it."""


def naming(option: tuple[str, str], path: Path) -> quiclab.Scenario:
    """The scenario with this file."""
    text = OPTIONS[option].format(path=path)
    if text.startswith("[["):
        return quiclab.Scenario.from_text(f"{SCENARIO}\n{text}", origin=path.parent / "s.toml")
    return quiclab.Scenario.from_text(SCENARIO, [text], origin=path.parent / "s.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_a_scenario_names_are_files(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "named.py"
    KINDS[kind](path)
    for option in OPTIONS:
        with pytest.raises(quiclab.ScenarioError, match=r"file|folder|link|levels") as error:
            naming(option, path)
        assert "\n" not in str(error.value)
    for read in (quiclab.Scenario.from_file, quiclab.traces.read, view.write, quiclab.load, quiclab.load_sweep):
        with pytest.raises(quiclab.Error) as raised:
            read(path)
        assert "\n" not in str(raised.value)


SECRET = "hunter2-Tr0ub4dor"
SECRETS = (
    SECRET,
    f"root:{SECRET}:19000:0:99999:7:::",
    f"{SECRET},1,2,3\n1,2,3",
    f"time_s,{SECRET}\n0,x",
    f"0,{SECRET}\n1,2",
    f"1\n2\n{SECRET}\n",
    f"url,size\n{SECRET},abc\n",
    f"size_bytes\n{SECRET}\n",
    f'{{"{SECRET}": 1}}',
    f'{{"log": "{SECRET}"}}',
    f'{{"log": {{"version": "{SECRET}"}}}}',
    f'{{"log": {{"version": "1.2", "entries": [{{"startedDateTime": "{SECRET}"}}]}}}}',
    f'"{SECRET}',
    f"<{SECRET}/>",
    f"<MPD {SECRET}='1'/>",
    f"<MPD>{SECRET}</MPD>",
    f"<MPD type='{SECRET}' xmlns='urn:mpeg:dash:schema:mpd:2011'/>",
    f"<MPD xmlns='{SECRET}'/>",
    f"<a></{SECRET}>",
    f"&{SECRET};",
    f"-----BEGIN {SECRET}-----\n{SECRET}",
    f"API_KEY={SECRET}",
    f"'{SECRET}'",
    f"`{SECRET}`",
    f'\\"{SECRET}\\"',
    f"\x00{SECRET}",
    f"ä{SECRET}\t{SECRET}",
)


@pytest.mark.parametrize("text", SECRETS)
def test_an_error_shows_nothing_of_a_file_that_a_scenario_names(tmp_path: Path, text: str) -> None:
    # Every option of every component that is a file, whoever adds one.
    path = tmp_path / "named"
    path.write_text(text, encoding="utf-8")
    refused = 0
    for option in OPTIONS:
        try:
            told = str(naming(option, path).describe())
        except quiclab.Error as error:
            told = str(error)
            refused += 1
        assert SECRET[:7] not in told, (option, told)
    assert refused == len(OPTIONS)


def test_every_kind_of_file_is_tried() -> None:
    named = {
        (room["name"], row["name"])
        for room in quiclab.topics()
        for row in room["rows"]
        if any(parameter["kind"] == "file" for parameter in row["parameters"]) and ":" not in row["name"]
    }
    assert len(named) >= 11
    assert named == {option for option in OPTIONS if option[1]}


@pytest.mark.parametrize("text", [*SECRETS, f'[registry]\ntoken = "{SECRET}"', f"[flow]\n[{SECRET}]"])
def test_no_page_shows_what_lies_in_place_of_a_scenario(stranger: Path, tmp_path: Path, text: str) -> None:
    mine = tmp_path / "mine"
    mine.write_text(text, encoding="utf-8")
    for folder, name in (("a", "scenario.toml"), ("sweep", "sweep.toml")):
        copy = tmp_path / folder
        shutil.copytree(stranger / folder, copy)
        (copy / name).unlink()
        (copy / name).symlink_to(mine)
        page = tmp_path / f"{folder}.html"
        with pytest.raises(quiclab.Error) as error:
            report.write(copy, page)
        assert SECRET[:7] not in str(error.value)
        assert not page.exists()


@pytest.mark.parametrize("kind", ["link", "medium", "flow"])
def test_a_page_shows_a_scenario_of_any_part(kind: str) -> None:
    text = f'seed = 1\n[[{kind}]]\nname = "a"\n[[cross_traffic]]\n'
    assert "cross_traffic" in str(whole("The whole scenario", text, "scenario.toml"))


def test_a_link_to_the_scenario_of_results_runs_no_code(stranger: Path, tmp_path: Path) -> None:
    (tmp_path / "link.toml").symlink_to(stranger / "a" / "scenario.toml")
    shutil.copy(stranger / "mine.py", tmp_path)
    subprocess.run(
        [sys.executable, "-m", "quiclab", "check", "link.toml"], cwd=tmp_path, check=True, capture_output=True
    )
    assert not (tmp_path / "MARKER").exists()


def test_a_page_in_a_folder_of_a_stranger_is_not_written_through_a_link(stranger: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    shutil.copytree(stranger / "a", folder)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    for name, write in (
        ("report.html", lambda: report.write(folder)),
        ("view.html", lambda: view.write(folder)),
    ):
        (folder / name).symlink_to(mine)
        with pytest.raises(quiclab.OutputError, match="not a plain file"):
            write()
    for name in ("figure.png", ".figure.png.partial"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(mine)
        Command(tmp_path)("plot", "a")
    assert mine.read_text() == "mine"


def test_nothing_that_others_read_says_where_the_home_is(tmp_path: Path) -> None:
    home = tmp_path / "home" / "ada"
    (home / "lab").mkdir(parents=True)
    (home / "lab" / "mine.py").write_text(PLUGGED.format(marker=tmp_path / "MARKER"))
    (home / "lab" / "t.csv").write_text("time_s,rate_mbps\n0,5\n1,4\n2,5\n")
    text = document().replace("\n[sweep]", "")
    (home / "lab" / "s.toml").write_text(text)
    rate = 'link.cell.forward.rate={ type = "series", file = "t.csv" }'
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = Command(home / "lab")
    env = {"HOME": str(home)}
    for out in ("runs/one", str(elsewhere / "one")):
        done = command("run", "s.toml", "--set", rate, "--out", out, "--qlog", "--pcap", env=env)
        assert done.returncode == 0, done.stderr
        folder = home / "lab" / out
        assert command("report", out, "--out", "r.html", env=env).returncode == 0
        assert command("view", out, "--out", "v.html", env=env).returncode == 0
        assert command("plot", out, "--out", "p.pdf", env=env).returncode == 0
        for file in [*folder.iterdir(), *(home / "lab" / name for name in ("r.html", "v.html", "p.pdf"))]:
            assert str(home).encode() not in file.read_bytes(), file
        # It is found again from there.
        again = command("run", f"{out}/scenario.toml", "--out", f"{out}-again", env=env)
        assert again.returncode == 0, again.stderr
        assert (folder / "summary.json").read_bytes() == Path(f"{folder}-again/summary.json").read_bytes()
    swept = command(
        "sweep", "s.toml", "--set", 'sweep.link.cell.forward.rate=[{ type = "series", file = "t.csv" }, "5 Mbit/s"]',
        "--out", "swept", "--jobs", "1", env=env,
    )  # fmt: skip
    assert swept.returncode == 0, swept.stderr
    assert command("report", "swept", "--out", "r.html", env=env).returncode == 0
    for file in [*(home / "lab" / "swept").glob("*.*"), home / "lab" / "r.html"]:
        assert str(home).encode() not in file.read_bytes(), file


def test_check_shows_no_names_of_a_file_that_a_scenario_names(tmp_path: Path) -> None:
    """The first line of a file may be a secret: its columns are not told by their names."""
    (tmp_path / "rates.csv").write_text("time_s,SECRET,rate_mbps\n0,1,5\n1,2,4\n", encoding="utf-8")
    (tmp_path / "page.csv").write_text("size,SECRET\n5 kB,1\n", encoding="utf-8")
    scenario = """duration = "5 s"
[[link]]
name = "l"
from = "server"
to = "client"
rate = { type = "series", file = "rates.csv" }
[[flow]]
name = "f"
client = "client"
server = "server"
application = { type = "page", page = { type = "list", file = "page.csv" } }
"""
    (tmp_path / "a.toml").write_text(scenario, encoding="utf-8")
    for more in ([], ["--json"]):
        told = CliRunner().invoke(app, ["check", str(tmp_path / "a.toml"), *more]).output
        assert "skipped a column that is not needed" in told and "SECRET" not in told, told
