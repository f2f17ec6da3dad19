"""Nothing that others read says where the home is; files are found again; what was left out of them is noted."""

import copy
import html
import json
import os
import pickle
import shlex
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

import quiclab
from conftest import SCENARIO, SWEEP, Command
from quiclab import report
from test_report import data_of

PLUGGED = """
import quiclab

class Mine(quiclab.Controller):
    options = {"gain": 1.0}
    def on_ack(self, ack):
        self.window_bytes += self.gain * 10

class Turn(quiclab.Scheduler):
    def next(self, view):
        return next(iter(self.ready))

class Low(quiclab.Abr):
    def choose(self, view):
        return 0
"""
LADDER = 'presentation = { type = "ladder", duration = "4 s", segment = "2 s" }'
HAR = (
    '{"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "pages": [], "entries": ['
    '{"startedDateTime": "2024-01-01T00:00:00.000Z", "time": 5, "request": {"method": "GET", "url": "https://a.example/",'
    ' "headers": []}, "response": {"status": 200, "headers": [], "content": {"size": 900, "mimeType": "text/html"},'
    ' "bodySize": 900}}, {"startedDateTime": "2024-01-01T00:00:00.010Z", "time": 5, "request": {"method": "GET",'
    ' "url": "https://a.example/b", "headers": []}, "response": {"status": -1, "headers": [], "content": {"size": 0,'
    ' "mimeType": ""}, "bodySize": -1}}]}}'
)
FILES = {
    "t.csv": "time_s,rate_mbps\n0,5\n1,4\n2,5\n",
    "v.csv": "time_s,rate_mbps\n0,5\n1,3\n2,5\n",
    "loss.txt": "0 0.01\n100 0.02\n200 0\n",
    "jitter.txt": "0 5\n100 20\n200 5\n",
    "page.csv": "size,urgency\n1000,0\n20 kB,3\n",
    "page.har": HAR,
    "sizes.csv": "low,middle\n86250,258000\n90112,301442\n",
    "messages.csv": "time_ms,size_bytes\n0,1000\n10,2000\n",
    "mine.py": PLUGGED,
}
APPLICATION = "flow.download.application="
KINDS = {
    "t.csv": 'link.cell.forward.rate={{ type = "series", file = "{}" }}',
    "loss.txt": 'link.cell.forward.loss={{ type = "trace", file = "{}" }}',
    "jitter.txt": 'link.cell.forward.jitter={{ type = "trace", file = "{}" }}',
    "page.csv": APPLICATION + '{{ type = "page", page = {{ type = "list", file = "{}" }} }}',
    "page.har": APPLICATION + '{{ type = "page", page = {{ type = "har", file = "{}" }} }}',
    "sizes.csv": APPLICATION
    + '{{ type = "video", presentation = {{ type = "sizes", file = "{}", segment = "2 s" }} }}',
    "messages.csv": APPLICATION + '{{ type = "messages", source = {{ type = "file", file = "{}" }} }}',
    "mine.py:Mine": 'flow.download.transport.controller="{}"',
    "mine.py:Turn": 'transport.scheduler="{}"',
    "mine.py:Low": APPLICATION
    + '{{ type = "video", abr = "{}", '
    + LADDER.replace("{", "{{").replace("}", "}}")
    + " }}",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is a link, with a project in it, where the process is."""
    (tmp_path / "disk" / "ada" / "lab").mkdir(parents=True)
    home = tmp_path / "people" / "ada"
    home.parent.mkdir()
    home.symlink_to(tmp_path / "disk" / "ada")
    for name, text in FILES.items():
        (home / "lab" / name).write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "lab")
    return home


def texts(place: Path) -> str:
    """Everything that is written in the files of a folder, or in one."""
    found = ""
    for file in [place] if place.is_file() else (one for one in place.rglob("*") if one.is_file()):
        found += (
            str(pq.read_table(file).to_pylist()) if file.suffix == ".parquet" else file.read_bytes().decode("latin-1")
        )
    return found


def is_silent(home: Path, text: str) -> bool:
    return str(home) not in text and str(home.resolve()) not in text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", ["named", "real", "dots", "relative"])
def test_runs_do_not_say_where_the_home_is(tmp_path: Path, home: Path, kind: str, spelling: str) -> None:
    folders = {"named": f"{home}/lab/", "real": f"{home.resolve()}/lab/", "relative": ""}
    folders["dots"] = f"{tmp_path}/disk/../disk/ada/lab/../lab/"
    change = KINDS[kind].format(folders[spelling] + kind)
    scenario = quiclab.Scenario.from_text(SCENARIO, [change, "duration=2 s"], origin=home / "lab" / "s.toml")
    run = scenario.run(seed=2)
    for text in (scenario.to_toml(), run.scenario_toml, str(run.notes), run._repr_html_(), scenario._repr_html_()):
        assert is_silent(home, text), text
    assert quiclab.Scenario.from_text(run.scenario_toml).run().summary == run.summary
    results = {
        "a": home / "lab" / "runs" / "a",
        "b": tmp_path / "elsewhere" / "b",
        "c": home / "c",
        "d": tmp_path / "d",
    }
    run.save(results["a"], figure=False)
    scenario.run(seed=2, out=results["b"], figure=False)
    quiclab.load(results["b"]).save(results["c"], figure=False)
    quiclab.load(results["a"]).save(results["d"], figure=False)
    for folder in results.values():
        assert is_silent(home, texts(folder)), folder
        # It finds its files again.
        again = quiclab.Scenario.from_file(folder / "scenario.toml").run()
        assert again.summary == run.summary
        assert quiclab.load(folder).notes == run.notes
    made = report.write([results["a"], results["d"]], tmp_path / "r.html").report
    assert is_silent(home, texts(made))


@pytest.mark.parametrize("spelling", ["named", "real"])
def test_sweeps_do_not_say_where_the_home_is(tmp_path: Path, home: Path, spelling: str) -> None:
    place = f"{home if spelling == 'named' else home.resolve()}/lab"
    rates = f'[{{ type = "series", file = "{place}/t.csv" }}, {{ type = "series", file = "v.csv" }}]'
    broken = f"{place}/broken.py"
    Path(broken).write_text(PLUGGED.replace("self.gain * 10", "self.gian"))
    controllers = f'["{place}/mine.py:Mine", "{broken}:Mine"]'
    document = SCENARIO + f"# as in {place}/notes.txt\n[sweep]\nlink.cell.forward.rate = {rates}\n"
    document += f"flow.download.transport.controller = {controllers}\n"
    (home / "lab" / "s.toml").write_text(document)
    for out in ("swept", str(tmp_path / "elsewhere")):
        swept = quiclab.sweep("s.toml", ["duration=2 s"], out=out, jobs=1)
        assert swept.info["failed"] == 2 and len(swept.failures) == 2
        loaded = quiclab.load_sweep(out)
        assert loaded.info == swept.info and loaded.runs == swept.runs
        for text in (texts(Path(out)), str(swept.info), str(swept.runs.arrow.to_pylist()), swept._repr_html_()):
            assert is_silent(home, text), text
        assert "~/lab/t.csv" in str(swept.info) and "broken.py:7: AttributeError" in str(swept.failures)
        # The values of its columns are those of sweep.json, so that charts find them.
        column = next(one for one in swept.info["parameters"] if one["path"].endswith("controller"))
        assert set(swept.runs[column["column"]].to_pylist()) == set(column["values"])
        made = report.write(swept, tmp_path / "r.html").report
        assert is_silent(home, texts(made))
    # What is written with `~` is found again from anywhere.
    alone = SCENARIO + f'[sweep]\nlink.cell.forward.rate.file = ["{place}/t.csv", "{place}/v.csv"]\n'
    changes = ["duration=2 s", f'link.cell.forward.rate={{ type = "series", file = "{place}/t.csv" }}']
    first = quiclab.sweep(quiclab.Scenario.from_text(alone, changes), out="alone")
    again = quiclab.sweep("alone/sweep.toml", first.info["set"], out=tmp_path / "again")
    assert again.runs == first.runs and again.info["failed"] == 0


def test_a_home_is_found_in_texts_and_nothing_else() -> None:
    from quiclab.values.folders import _in_text

    pattern = _in_text("/people/ada")
    for text, expected in (
        ("/people/ada", "~"),
        ("/people/ada/x.csv", "~/x.csv"),
        ("'/people//./ada/x'", "'~/x'"),
        ("cannot read /people/ada.", "cannot read ~."),
        ("see file:///people/ada/x", "see file:~/x"),
        ("/people/adam/x", "/people/adam/x"),
        ("/people/ada.old/x", "/people/ada.old/x"),
        ("/data/people/ada/x", "/data/people/ada/x"),
        ("../people/ada/x", "../people/ada/x"),
        ("/people/ada-2", "/people/ada-2"),
        ('a = "/people/ada/x", b = "/people/ada"', 'a = "~/x", b = "~"'),
    ):
        assert pattern.sub(r"\1~", text) == expected, text


ODD_HOMES = ("/people/o'brien", '/people/a"b', "/people/r&d", "/people/andré", "/people/a b<c>", "/people/a\\b")


@pytest.mark.parametrize("place", ODD_HOMES)
def test_a_home_is_found_however_a_text_writes_its_name(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    from quiclab.values.folders import without_home

    monkeypatch.setenv("HOME", place)
    path = f"{place}/x"
    for text in (
        path,
        html.escape(path),
        html.escape(path, quote=False),
        quote(path),
        json.dumps(path),
        json.dumps(path, ensure_ascii=False),
        repr(path),
        shlex.quote(path),
        f"'{html.escape(shlex.quote(path))}'",
        html.escape(json.dumps(path)),
        unicodedata.normalize("NFD", path),
        unicodedata.normalize("NFC", path),
    ):
        found = without_home(f"before {text} behind")
        assert "~/x" in found and "people" not in found, (text, found)


def test_the_home_in_an_option_of_a_command_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab.values.folders import without_home

    monkeypatch.setenv("HOME", "/people/ada")
    for text, expected in (
        ("cc -I/people/ada/include x.c", "cc -I~/include x.c"),
        ("cc -o/people/ada/f", "cc -o~/f"),
        ("-isystem/people/ada/x", "-isystem~/x"),
        ("-L/people/ada -Wl,-R/people/ada/lib", "-L~ -Wl,-R~/lib"),
        ("['-I/people/ada/x']", "['-I~/x']"),
        ("--prefix/people/ada/x", "--prefix~/x"),
        ("a\\n/people/ada/x", "a\\n~/x"),
        ("X=/people/ada:/people/ada/bin", "X=~:~/bin"),
        ("-I/data/people/ada/x", "-I/data/people/ada/x"),
        ("my-data/people/ada/x", "my-data/people/ada/x"),
        ("-I/people/adam/x", "-I/people/adam/x"),
    ):
        assert without_home(text) == expected, text


def test_no_link_of_a_page_leads_through_the_home(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out="swept")
    scenario = quiclab.Scenario.from_text(SWEEP, ["transport.ack_ratio=1", 'link.cell.delay="10 ms"'])
    scenario.run(int(swept.runs["seed"][0].as_py()), out=True, figure=False)
    for page, links in ((home / "r.html", 1), (tmp_path / "r.html", 0), (tmp_path / "people" / "r.html", 0)):
        text = report.write(swept, page).report.read_text()
        packed = data_of(page)["sweeps"][0]["repeat"]
        assert sum(link is not None for _, link in packed) == links, packed
        assert is_silent(home, text + json.dumps(packed)) and "disk/ada" not in text + json.dumps(packed)
    (tmp_path / "elsewhere").mkdir()
    for start in (tmp_path / "people", tmp_path / "elsewhere", home / "lab"):
        monkeypatch.chdir(start)
        for folder in (home / "lab", home.resolve() / "lab"):
            near = os.path.relpath(folder / "swept", start)
            text = report.write(near, tmp_path / "r.html").report.read_text()
            assert "people/ada" not in text and "disk/ada" not in text, near


def test_a_missing_file_is_named(tmp_path: Path, home: Path) -> None:
    change = KINDS["t.csv"].format(f"{home}/lab/t.csv")
    quiclab.Scenario.from_text(SCENARIO, [change, "duration=2 s"]).run(out=tmp_path / "a", figure=False)
    (home / "lab" / "t.csv").unlink()
    done = Command(home / "lab")("run", str(tmp_path / "a" / "scenario.toml"), "--out", "b", env={"HOME": str(home)})
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "no such file" in done.stderr and "t.csv" in done.stderr


def test_what_is_left_out_of_a_file_is_noted_wherever_it_is_used(tmp_path: Path, home: Path) -> None:
    note = "page.har: 1 of 2 entries is left out: 1 never made, blocked or given up (no HTTP status)"
    note += ", the first is entry 2"
    scenario = quiclab.Scenario.from_text(SCENARIO, [KINDS["page.har"].format("page.har"), "duration=2 s"])
    run = scenario.run()
    assert scenario.notes == run.notes == [note]
    assert scenario.run(out="a", figure=False).notes == [note]
    run.save("b", figure=False)
    for folder in ("a", "b"):
        loaded = quiclab.load(folder)
        assert loaded.notes == [note] and loaded.summary == run.summary
        assert pickle.loads(pickle.dumps(loaded)).notes == copy.copy(loaded).notes == [note]
        assert json.loads(Path(folder, "summary.json").read_text())["notes"] == [note]
        assert note in loaded._repr_html_()
    # Also what only one of the swept values leaves out.
    document = SCENARIO + '[sweep]\nflow.download.application.page.file = ["full.har", "page.har"]\n'
    Path("full.har").write_text(HAR.replace('"status": -1', '"status": 200'))
    Path("s.toml").write_text(document)
    changes = [KINDS["page.har"].format("full.har"), "duration=2 s"]
    swept = quiclab.sweep("s.toml", changes, out="swept")
    assert note in swept.notes and note in quiclab.load_sweep("swept").notes
    assert quiclab.Scenario.from_text(SCENARIO, changes).notes == []
    told = Command(home / "lab")("run", "s.toml", "--set", KINDS["page.har"].format("page.har"), "--json", "--out", "c")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["notes"] == [note]
