"""`quiclab report`: what is in the file, and what is left out of it. In a browser: `test_report_page.py`."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quiclab
from conftest import SCENARIO, SWEEP, Command
from quiclab import report
from quiclab.drawings.plots.view import views
from quiclab.drawings.report import figures, runs, sweep
from quiclab.drawings.report.packed import packed, shortened, steps
from quiclab.drawings.report.tags import Html, table, tag, text, worded


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    """A sweep of 12 runs with the series of the queues."""
    where = tmp_path_factory.mktemp("swept") / "sweeps" / "bulk"
    return quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out=where)


def data_of(path: Path) -> Any:
    """What the script of a report reads."""
    (found,) = re.findall(r'<script type="text/plain" id="data">([^<]*)</script>', path.read_text(encoding="utf-8"))
    return json.loads(zlib.decompress(base64.b64decode(found)))


def test_a_report_of_a_run(saved: Path, tmp_path: Path) -> None:
    made = report.write(saved, tmp_path / "r.html")
    assert (made.runs, made.sweeps, made.notes) == (1, 0, [])
    page = made.report.read_text(encoding="utf-8")
    assert made.size_bytes == len(page.encode()) < 1_000_000
    run = quiclab.load(saved)
    (connection,) = run.summary["connections"]
    assert f">{connection['goodput_mbps']:,.3f}<" in page and "goodput (Mbit/s)" in page
    for subject, told in quiclab.Scenario.from_text(run.scenario_toml).describe():
        assert str(text(subject.removesuffix(", warning"))) in page and str(text(told)) in page
    assert str(text(run.scenario_toml)) in page
    assert run.summary["version"] in page
    for answer in run.why(tries=False):
        for cause in answer.causes:
            assert f">{cause.seconds:,.3f}<" in page and str(worded(cause.advice)) in page
    # Equal runs give equal reports.
    assert report.write(run, tmp_path / "again.html").report.read_bytes() == made.report.read_bytes()


def test_the_file_is_in_the_folder_by_default(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = quiclab.load(saved).save(tmp_path / "run", figure=False)
    assert report.write("run").report == Path("run/report.html")
    assert report.write([folder, saved]).report == Path("report.html")
    # A run that was not saved.
    assert report.write(quiclab.Scenario.from_text(SCENARIO).run()).report == Path("report.html")


def test_a_report_of_many_has_their_number_as_its_title(saved: Path, swept: quiclab.Sweep, tmp_path: Path) -> None:
    for what, title in (
        ([saved] * 4, "4 runs"),
        ([saved] * 3 + [swept], "3 runs and 1 sweep"),
        ([swept] * 4, "4 sweeps"),
    ):
        page = report.write(what, tmp_path / "r.html").report.read_text(encoding="utf-8")
        assert f"<title>{title}" in page


def test_why_a_flow_was_not_completed_stands_below_its_name(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO, {"duration": "100 ms"})
    page = report.write(scenario.run(), tmp_path / "r.html").report.read_text(encoding="utf-8")
    assert page.index("0.100 s, not completed") < page.index("Not completed: ")


def test_the_error_of_all_runs_stands_with_each(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    code = (
        "import quiclab\nclass Bad(quiclab.Controller):\n    def on_ack(self, _): self.window_bytes = int('of all')\n"
    )
    bad.write_text(code, encoding="utf-8")
    text = SCENARIO + f'[sweep]\nrepetitions = 2\nflow.download.transport.controller = ["{bad}:Bad"]\n'
    swept = quiclab.sweep(quiclab.Scenario.from_text(text), jobs=1)
    assert len(swept.failures) == 2
    made = report.write(swept, tmp_path / "r.html").report
    (values,) = data_of(made)["sweeps"]
    (error,) = (column for column in values["columns"] if column["name"] == "error")
    assert error["shown"] and swept.failures[0]["error"] in error["words"]


def test_series_keep_their_extremes(run: quiclab.Run) -> None:
    (figure,) = figures.figures(run, 5)
    (view,) = views(run, None)
    panels = {panel["title"]: panel for panel in figure["panels"]}
    lines = {line["label"]: line for line in panels["Window"]["lines"]}
    times, flight = view.gauge("bytes_in_flight")
    shown = lines["in flight"]
    assert len(shown["values"]) <= figures.POINTS
    assert max(shown["values"]) == pytest.approx(flight.max() / 1e3, rel=1e-5)
    assert sum(shown["times"]) == round(times[-1] * 1e6)
    assert panels["Window"]["marks"][0]["count"] == len(view.losses())
    assert {"Window", "Round-trip time", "Rate", "Queue"} == panels.keys()


def test_long_series_are_bounded() -> None:
    panel = figures.Panel("p", "u")
    times = np.linspace(0, 10, 100_000)
    values = np.sin(times)
    values[77_777] = 9.0
    panel.line("l", "blue", (times, values))
    panel.mark("m", times)
    assert len(panel.lines[0]["values"]) <= figures.POINTS and max(panel.lines[0]["values"]) == 9
    assert len(panel.marks[0]["times"]) <= 1001 and panel.marks[0]["count"] == 100_000


def test_runs_beside_each_other(saved: Path, tmp_path: Path) -> None:
    other = quiclab.Scenario.from_text(SCENARIO, {"link.cell.forward.rate": "10 Mbit/s"}).run()
    made = report.write([saved, other], tmp_path / "r.html")
    page = made.report.read_text(encoding="utf-8")
    assert "link.cell.forward.rate.rate" in page and "10 Mbit/s" in page
    assert [figure["run"] for figure in data_of(made.report)["figures"]] == [0, 1]
    one, two = (run.summary["connections"][0]["goodput_mbps"] for run in (quiclab.load(saved), other))
    assert f"{100 * (two / one - 1):+,.1f} %" in page
    # What differs in the description of the network is marked, and its other rows are not.
    marked = re.findall(r'<tr class="differs"><th scope="row">([^<]*) <', page)
    assert "link cell forward" in marked and "link cell backward" not in marked


def test_a_run_without_tables_has_its_numbers(tmp_path: Path) -> None:
    run = quiclab.Scenario.from_text(SCENARIO).run(tables=False)
    made = report.write(run, tmp_path / "r.html")
    assert len(made.notes) == 2 and "no figures" in made.notes[0] and "cannot say" in made.notes[1]
    page = made.report.read_text(encoding="utf-8")
    assert str(text(made.notes[0])) in page and "goodput (Mbit/s)" in page


def test_a_run_whose_files_are_gone(tmp_path: Path) -> None:
    trace = tmp_path / "t.down"
    trace.write_text("1\n2\n3\n", encoding="utf-8")
    changes = {"link.cell.forward.rate": {"type": "trace", "file": str(trace)}}
    run = quiclab.Scenario.from_text(SCENARIO, changes, origin=tmp_path / "s.toml").run()
    trace.unlink()
    page = report.write(run, tmp_path / "r.html").report.read_text(encoding="utf-8")
    assert "the network is not described" in page and "goodput (Mbit/s)" in page


def test_a_report_of_a_sweep(swept: quiclab.Sweep, tmp_path: Path) -> None:
    made = report.write(swept, tmp_path / "r.html")
    (data,) = data_of(made.report)["sweeps"]
    columns = {column["name"]: column for column in data["columns"]}
    runs = swept.runs
    goodput = "connection.download.goodput_mbps"
    assert columns[goodput]["values"] == pytest.approx(runs[goodput].to_pylist(), rel=1e-6)
    assert [columns["seed"]["words"][at] for at in columns["seed"]["values"]] == [
        str(s) for s in runs["seed"].to_pylist()
    ]
    assert columns["transport.ack_ratio"]["varied"] and columns[goodput]["shown"]
    # What is the same in all runs is said once.
    assert "connection.download.delivered_bytes" not in columns
    page = made.report.read_text(encoding="utf-8")
    assert "connection.download.delivered_bytes" in page and "300,000" in page
    # All series of all runs, with their extremes.
    assert {one[0] for one in data["series"]} == set(runs["run"].to_pylist())
    series = swept.series
    assert series is not None
    rows = [row for row in series.to_pylist() if row["run"] == 5 and row["quantity"] == "packets"]
    for _, subject, quantity, times, values in (one for one in data["series"] if one[0] == 5):
        mine = [row for row in rows if f"{row['table']} {row['subject']}" == subject and row["quantity"] == quantity]
        if mine:
            assert max(values) == max(row["value"] for row in mine)
            assert sum(times) == round(mine[-1]["time_s"] * 1e6)


def test_a_run_of_a_sweep_can_be_repeated(
    swept: quiclab.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options on the page make the same run; its folder is then linked."""
    monkeypatch.chdir(tmp_path)
    (data,) = data_of(report.write(swept, tmp_path / "r.html").report)["sweeps"]
    options, folder = data["repeat"][7]
    assert folder is None
    words = re.findall(r"--set (?:'([^']*)'|(\S+))", options)
    seed = int(re.findall(r"--seed (\d+)", options)[0])
    scenario = quiclab.Scenario.from_text(SWEEP, [one or other for one, other in words])
    run = scenario.run(seed, out=True, figure=False)
    assert run.summary["connections"][0]["goodput_mbps"] == swept.runs["connection.download.goodput_mbps"][7].as_py()
    (data,) = data_of(report.write(swept, tmp_path / "sub.html").report)["sweeps"]
    links = [place for _, place in data["repeat"]]
    assert links[7] == f"runs/bulk-seed{seed}/" and links.count(None) == 11


def test_a_large_sweep_is_cut_and_says_so(
    swept: quiclab.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "RUNS", 5)
    monkeypatch.setattr(sweep, "CELLS", 40)
    monkeypatch.setattr(sweep, "_COLUMNS", 7)
    monkeypatch.setattr(sweep, "POINTS", 800)
    show = ["packets_sent", "queue_max_packets"]
    with pytest.raises(quiclab.Error, match="queue_max_packets"):
        report.write(swept, tmp_path / "r.html", show=show)
    made = report.write(swept, tmp_path / "r.html", show=["cwnd_bytes"])
    (data,) = data_of(made.report)["sweeps"]
    columns = {column["name"]: column for column in data["columns"]}
    assert columns["run"]["values"] == [1, 4, 7, 10]
    assert "connection.download.cwnd_bytes" in columns and 7 <= len(columns) <= 12
    page = made.report.read_text(encoding="utf-8")
    assert "one run in 3 of 12: means and charts are of these" in page
    assert "columns are left out" in page and "The page has the time series of one run in 12 of 12." in page
    assert len(made.notes) == 3


def test_text_from_outside_is_escaped() -> None:
    assert text("<b>") == "&lt;b&gt;" and text(Html("<b>")) == "<b>"
    assert tag("p", "<i>", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;">&lt;i&gt;</p>'
    assert worded("a `<b>` & `c`") == "a <code>&lt;b&gt;</code> &amp; <code>c</code>"
    assert "<img" not in table("<img>", ["<img>"], [["<img>", "<img>"]])


def test_packed_values() -> None:
    value = {"</script>": [1.5, None, "\ud800"], "t": steps([0.5, 0.500001, 2])}
    written = packed(value)
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", written)
    assert value["t"] == [500_000, 1, 1_499_999]
    assert shortened([1.23456789, 2e20, 3.0, float("nan"), float("inf")]) == [1.23457, 2e20, 3, None, None]


def test_the_command(command: Command, saved: Path) -> None:
    done = command("report", str(saved), "--out", "r.html")
    assert done.returncode == 0 and done.stdout.startswith("report   r.html (0.") and done.stderr == ""
    told = json.loads(command("report", str(saved), str(saved), "--json").stdout)
    assert told["report"] == "report.html" and told["runs"] == 2 and told["notes"] == []
    wrong = command("report", "nothing")
    assert wrong.returncode == 2
    assert wrong.stderr == "quiclab: nothing: there is no such run folder\n"
    assert "expected 1 to 24" in command("report", *[str(saved)] * 25).stderr
    assert not [path for path in command.folder.iterdir() if path.name.startswith(".")]


def test_numbers_are_no_longer_than_they_mean_something() -> None:
    carrier = {"name": "wire", "direction": "forward", "delivered_packets": 7, "delivered_bytes": 2_000_000}
    carrier |= {"utilisation": 0.006692, "queue_mean_packets": 0.00012, "queue_max_packets": 18, "marked_packets": 0}
    shown = runs._carriers("Links", [("", carrier)], several=False)
    cells = re.findall(r'<td class="number">([^<]*)</td>', shown)
    assert cells == ["7", "2.00", "0.67", "0.00", "18", "-", "-", "-", "0"]
    assert [sweep._value(value) for value in ("0.0", 0.001, -2.0, "1.50", 20, "v1.0", "cubic")] == [
        "0", "0.001", "-2", "1.50", "20", "v1.0", "cubic",
    ]  # fmt: skip


def test_a_head_that_says_nothing_is_not_seen() -> None:
    assert '<thead class="unseen">' in table("Facts", ["", "value"], [["seed", 1]])
    assert "<thead><tr>" in table("Facts", ["", "first", "second"], [["seed", 1, 2]])
