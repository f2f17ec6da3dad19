"""Rate adaptation in Python: by file and as objects; what it is told, what it decides, and how it fails."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import abr_reference
import quiclab

LINK = {"name": "wire", "from": "server", "to": "client", "delay": "10 ms", "queue": "50 kB"}
LADDER = ["400 kbit/s", "1 Mbit/s", "2500 kbit/s", "5 Mbit/s"]
EXAMPLE = Path(__file__).parent.parent / "examples" / "own_abr.py"


def scenario(abr: Any, *, rate: str = "3 Mbit/s", duration: str = "60 s", **application: Any) -> quiclab.Scenario:
    film = {"type": "ladder", "bitrates": LADDER, "duration": duration, "variation": 0.3}
    video = {"type": "video", "presentation": film, "abr": abr, "max_buffer": "15 s", **application}
    flow = {"name": "film", "client": "client", "server": "server", "application": video}
    return quiclab.Scenario(name="own", duration="5 min", link=[{**LINK, "rate": rate}], flow=[flow])


def chosen(run: quiclab.Run) -> list[int]:
    """The representation of each segment that came."""
    rows = run.table("segment").to_pylist()
    return [row["representation"] for row in rows if row["outcome"] == "complete" and row["segment"] is not None]


class Third(quiclab.Abr):
    """Always the same one."""

    options = {"number": 2}
    number: int

    def choose(self, view: quiclab.AbrView) -> int:
        return self.number


class Reference(quiclab.Abr):
    """An algorithm of the reference, which was written apart from the program."""

    options = {"name": ""}
    name: str

    def choose(self, view: quiclab.AbrView) -> tuple[int, float]:
        kbit = [bitrate // 1000 for bitrate in view.bitrates_bps]
        session = abr_reference.Session(3000, round(1000 * view.max_buffer_s), kbit, [], [])
        past = abr_reference.Past(session, view.buffer_s, view.last)
        for download in view.downloads:
            # As dash.js measures: without the time to the first byte.
            took_s = download.last_byte_s - download.first_byte_s
            past.downloads.append((took_s, 8 * download.bytes / took_s))
        representation, wait_s = abr_reference.ALGORITHMS[self.name](past)
        return representation, max(wait_s, 0.0)


def test_fixed_in_python_is_fixed_in_rust_packet_by_packet() -> None:
    own, theirs = scenario(Third).run(), scenario({"type": "fixed", "representation": 2}).run()
    assert own.summary["connections"] == theirs.summary["connections"]
    assert own.table("segment").equals(theirs.table("segment"))
    other = scenario(Third(number=1)).run()
    assert set(chosen(other)) == {1}


@pytest.mark.parametrize("rate", ["1500 kbit/s", "3 Mbit/s"])
def test_the_buffer_based_reference_is_the_row_segment_by_segment(rate: str) -> None:
    own, theirs = scenario(Reference(name="bba"), rate=rate).run(), scenario("bba", rate=rate).run()
    assert len(set(chosen(own))) > 1
    assert own.table("segment").equals(theirs.table("segment"))


VIEWS: list[quiclab.AbrView] = []


class Watching(quiclab.Abr):
    """Writes down what it is told."""

    def start(self) -> None:
        self.calls: list[str] = []

    def choose(self, view: quiclab.AbrView) -> int:
        VIEWS.append(view)
        self.calls.append("choose")
        return view.segment % 4

    def on_seek(self) -> None:
        VIEWS.clear()

    def on_download(self, view: quiclab.AbrView) -> None:
        assert view.downloads[-1].segment == view.segment and view.downloads[-1].last_byte_s == view.now_s

    def estimate(self) -> float:
        return 1e6 * len(self.calls)


def test_what_is_told() -> None:
    run = scenario(Watching, rate="1500 kbit/s").run()
    rows = run.table("segment").to_pylist()
    assert [view.segment for view in VIEWS] == list(range(20)) and {view.segments for view in VIEWS} == {20}
    assert [row["estimate_mbps"] for row in rows] == [number + 1 for number in range(20)]
    first, last = VIEWS[0], VIEWS[-1]
    assert (first.last, first.last_bitrate_bps, first.downloads, first.is_playing) == (None, None, [], False)
    assert (last.last, last.last_bitrate_bps, last.latency_s, last.is_playing) == (2, 2_500_000, None, True)
    assert first.bitrates_bps == (400_000, 1_000_000, 2_500_000, 5_000_000) == last.bitrates_bps_of(7)
    assert (first.duration_s, first.duration_s_of(19), first.max_buffer_s) == (3.0, 3.0, 15.0)
    for view, row in zip(VIEWS, rows, strict=True):
        assert view.sizes_bytes[row["representation"]] == row["size_bytes"]
        assert first.sizes_bytes_of(view.segment) == view.sizes_bytes
        assert view.now_s == pytest.approx(row["asked_s"]) and view.buffer_s == pytest.approx(row["buffer_before_s"])
        assert 0 <= view.buffer_s <= 15
    for download, row in zip(last.downloads, rows, strict=False):
        assert (download.segment, download.representation) == (row["segment"], row["representation"])
        times = (download.asked_s, download.first_byte_s, download.last_byte_s)
        assert times == pytest.approx((row["asked_s"], row["first_byte_s"], row["ended_s"]))
        assert download.bytes == row["size_bytes"]
    stalled = [view.stalled_s for view in VIEWS]
    assert stalled == sorted(stalled)
    assert 0 < stalled[-1] <= run.summary["connections"][0]["playback"]["stalled_s"] + 1e-6
    with pytest.raises(IndexError, match="there is no segment 20; the presentation has 20"):
        first.sizes_bytes_of(20)
    with pytest.raises(AttributeError):
        first.buffer_s = 3.0  # type: ignore[misc]


class Leaving(quiclab.Abr):
    """Gives up what takes longer than a second."""

    def choose(self, view: quiclab.AbrView) -> tuple[int, float]:
        return 3, 0.25

    def abandon(self, view: quiclab.AbrView, download: quiclab.PartialDownload) -> int | None:
        sizes = view.sizes_bytes_of(download.segment)
        assert 0 < download.bytes < download.total_bytes == sizes[download.representation]
        assert download.asked_s <= download.first_byte_s <= view.now_s
        return 1 if download.representation == 3 and view.now_s > download.asked_s + 1 else None


def test_waits_and_downloads_that_are_given_up() -> None:
    run = scenario(Leaving).run()
    rows = run.table("segment").to_pylist()
    assert set(chosen(run)) == {1} and run.summary["connections"][0]["playback"]["abandoned"] == 20
    left = [row for row in rows if row["outcome"] == "abandoned"]
    assert {row["representation"] for row in left} == {3}
    ends = {row["segment"]: row["ended_s"] for row in rows if row["outcome"] == "complete"}
    assert all(row["asked_s"] >= ends[row["segment"] - 1] + 0.2499 for row in left if row["segment"] > 0)


def test_options_are_checked_and_resolved(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import quiclab\n\nclass Own(quiclab.Abr):\n    'One of them.'\n\n    options = {'number': 1}\n\n"
        "    def choose(self, view):\n        return self.number\n",
        encoding="utf-8",
    )
    own = scenario({"type": f"{path}:Own", "number": 3})
    assert f'{{ type = "{path}:Own", source = "{path}", number = 3 }}' in own.to_toml()
    run = own.run()
    assert set(chosen(run)) == {3}
    assert quiclab.Scenario.from_text(own.to_toml()).run().summary == run.summary
    assert pickle.loads(pickle.dumps(own)).run().summary == run.summary
    assert set(chosen(own.with_({"flow.film.application.abr": Third(number=0)}).run())) == {0}
    row = next(
        row for room in quiclab.topics() if room["name"] == "abrs" for row in room["rows"] if "own.py" in row["name"]
    )
    assert row["about"] == "One of them."
    with pytest.raises(quiclab.ScenarioError, match=r'unknown key, found "nmber".*did you mean "number"'):
        scenario({"type": f"{path}:Own", "nmber": 1})
    with pytest.raises(quiclab.ScenarioError, match="Own is not a controller"):
        quiclab.Scenario(link=[LINK], transport={"controller": f"{path}:Own"}, flow=[])
    with pytest.raises(quiclab.ScenarioError, match=r"no rate adaptation Other; .*own\.py has: Own"):
        scenario(f"{path}:Other")
    with pytest.raises(
        quiclab.ScenarioError, match=r"a set cannot be used in a scenario; expected .* Queue or another part"
    ):
        scenario({1})


def test_its_options_can_be_swept_and_the_workers_of_a_cluster_need_no_file(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    base = scenario(f"{EXAMPLE}:Affordable", duration="20 s")
    sweep = "\n[sweep]\nflow.film.application.abr.floor = [0.2, 1.0]\n"
    path.write_text(base.to_toml() + sweep, encoding="utf-8")
    here = quiclab.sweep(path, out=tmp_path / "here", jobs=1)
    there = quiclab.sweep(path, out=tmp_path / "there", engine="dask", jobs=1)
    assert here.runs.equals(there.runs)
    assert len(set(here.runs.column("connection.film.playback.bitrate_mean_mbps").to_pylist())) == 2


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def choose(self, view):\n        return 1 / 0", "own.py:5: ZeroDivisionError: division by zero"),
        (
            "def choose(self, view):\n        return 4",
            "own.py:4: choose gave 4; expected a representation from 0 to 3, or a pair of one and the seconds to wait",
        ),
        ("def choose(self, view):\n        return -1", "choose gave -1; expected a representation from 0 to 3"),
        ("def choose(self, view):\n        return 1.0", "choose gave 1.0; expected a representation"),
        ("def choose(self, view):\n        return True", "choose gave True; expected a representation"),
        ("def choose(self, view):\n        return None", "choose gave None; expected a representation"),
        ("def choose(self, view):\n        return 'x' * 3", "choose gave 'xxx'; expected a representation"),
        ("def choose(self, view):\n        return 0, -1.0", "choose gave (0, -1.0); expected a representation"),
        ("def choose(self, view):\n        return 0, float('nan')", "choose gave (0, nan); expected a representation"),
        ("def choose(self, view):\n        return 0, 1, 2", "choose gave (0, 1, 2); expected a representation"),
        ("def choose(self, view):\n        return 9, 1", "choose gave (9, 1); expected a representation"),
        (
            "def start(self):\n        raise RuntimeError('no')\n    def choose(self, view): pass",
            "own.py:5: RuntimeError: no",
        ),
        (
            "def choose(self, view): return 1\n    def abandon(self, view, download): return 1",
            "own.py:5: abandon gave 1; expected None, or a representation below that of the download, 1",
        ),
        (
            "def choose(self, view): return 1\n    def estimate(self): return 'much'",
            "own.py:5: estimate gave 'much'; expected None, or a rate in bit/s",
        ),
        (
            "def choose(self, view): return 1\n    def estimate(self): return -1.0",
            "own.py:5: estimate gave -1.0; expected None, or a rate in bit/s",
        ),
        ("def choose(self, view): return 1\n    def on_seek(self): raise KeyError(3)", "own.py:5: KeyError: 3"),
        ("def choose(self, view): return 1\n    def on_download(self, view): view.x", "own.py:5: AttributeError"),
    ],
)
def test_one_that_fails_ends_the_run_and_says_where(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"import quiclab\n\nclass Own(quiclab.Abr):\n    {body}\n", encoding="utf-8")
    with pytest.raises(quiclab.RunError) as caught:
        scenario(f"{path}:Own").run()
    assert problem in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None
    # The next run on this thread is not of it.
    scenario("bba").run()


def test_the_example_of_the_documentation() -> None:
    # 3 Mbit/s carry the third of four representations; the buffer pays for some segments of the fourth.
    floors = (0.5, 1.0)
    runs = [scenario({"type": f"{EXAMPLE}:Affordable", "floor": floor}).run(tables=False) for floor in floors]
    half, careful = (run.summary["connections"][0]["playback"] for run in runs)
    assert half["stalls"] == 0
    assert 1.8 < half["bitrate_mean_mbps"] < 3
    assert careful["bitrate_mean_mbps"] < half["bitrate_mean_mbps"]
