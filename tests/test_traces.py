"""`quiclab trace`, and the traces that it makes."""

import gzip
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean, median, pstdev

import pytest
from typer.testing import CliRunner

import quiclab
from conftest import SCENARIO
from quiclab.commands import app
from quiclab.drawings.traces import draw
from quiclab.traces import KINDS, Capacity, Series, read, series_of, write
from quiclab.values.traces import generate

SEEDS = range(1, 11)


def made(tmp_path: Path, kind: str, seed: int, duration_s: float = 120) -> Capacity:
    file = tmp_path / f"{kind}-{seed}.csv"
    file.write_text(generate(kind, seed=seed, duration_s=duration_s))
    return read(file)


def command(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["trace", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("seed", SEEDS)
def test_mmwave_has_the_paper_s_mean_and_extremes_and_outages_of_hundreds_of_milliseconds(
    tmp_path: Path, seed: int
) -> None:
    capacity = made(tmp_path, "mmwave", seed)
    rates = capacity.binned(10_000_000)
    assert capacity.mean_mbps == pytest.approx(244.6, rel=0.01)
    assert (min(rates), max(rates)) == pytest.approx((0.94, 3703.79))
    outages = [(end - start) / 1e6 for start, end in capacity.outages(100_000_000, 1.0)]
    assert 8 <= len(outages) <= 35
    assert 400 <= max(outages) <= 2000
    # Skewed: half of the time less than 60 % of the mean.
    assert sorted(rates)[len(rates) // 2] < 0.6 * 244.6


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    command("generate", "leo", "--duration", "60 s", "--out", trace)
    for arguments in (
        ("plot", trace, "--out", tmp_path / "no" / "f.png"),
        ("convert", trace, tmp_path / "no" / "f.up"),
        ("generate", "leo", "--out", tmp_path / "no" / "f.csv"),
        ("generate", "leo", "--out", tmp_path),
    ):
        done = CliRunner().invoke(app, ["trace", *map(str, arguments)])
        assert isinstance(done.exception, quiclab.OutputError), done.exception
        problem = "is a folder; expected the name of a file" if arguments[-1] == tmp_path else "cannot be written: "
        assert str(done.exception).startswith(f"{arguments[-1]}: {problem}")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("seed", "duration_s"), [(1, 60), (27, 60), (45, 60), (48, 60.5), (3, 61.23), (4, 90), (5, 400), (2**63, 75)]
)
def test_mmwave_has_its_mean_and_extremes_whatever_its_length(tmp_path: Path, seed: int, duration_s: float) -> None:
    # In seeds 27, 45 and 48 all of a minute is too alike for the mean without stretching.
    capacity = made(tmp_path, "mmwave", seed, duration_s)
    rates = capacity.binned(10_000_000)
    assert capacity.mean_mbps == pytest.approx(244.6, rel=0.01)
    assert (min(rates), max(rates)) == pytest.approx((0.94, 3703.79))
    assert capacity.duration_s == pytest.approx(duration_s, abs=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_lte_driving_is_like_recorded_drives(tmp_path: Path, seed: int) -> None:
    capacity = made(tmp_path, "lte-driving", seed)
    rates, seconds = capacity.binned(10_000_000), capacity.binned(1_000_000_000)
    assert capacity.mean_mbps == pytest.approx(5.0, rel=0.001)
    # Of 400 seeds the median is 3.7, and 3 in 100 are above 5.
    assert 2.3 < pstdev(seconds) < 6.5
    assert 0.1 < rates.count(0.0) / len(rates) < 0.28
    outages = [(end - start) / 1e6 for start, end in capacity.outages(100_000_000, 0.0)]
    assert 12 <= len(outages) <= 60
    assert 700 <= max(outages) <= 2500
    middle = mean(seconds)
    together = sum((a - middle) * (b - middle) for a, b in pairwise(seconds))
    assert 0.2 < together / sum((a - middle) ** 2 for a in seconds) < 0.9


def test_lte_driving_varies_from_second_to_second_as_recorded_drives_do(tmp_path: Path) -> None:
    # The drives that are distributed with Mahimahi: 3.1 to 3.9 Mbit/s.
    deviations = [pstdev(made(tmp_path, "lte-driving", seed).binned(1_000_000_000)) for seed in range(1, 41)]
    assert 3.1 < median(deviations) < 3.9


def series(tmp_path: Path, kind: str, seed: int, **options: str) -> Series:
    file = tmp_path / f"{kind}-{seed}.csv"
    file.write_text(generate(kind, seed=seed, options=options))
    return series_of(file)


@pytest.mark.parametrize("seed", SEEDS)
def test_leo_changes_its_satellite_every_15_s_within_its_bounds(tmp_path: Path, seed: int) -> None:
    path = series(tmp_path, "leo", seed)
    assert path.capacity is not None and path.delays_ns is not None and path.losses is not None
    assert path.capacity.mean_mbps == pytest.approx(120, rel=0.001)
    gaps = path.gaps()
    assert [start for start, _ in gaps] == [15_000_000_000 * slot for slot in range(1, 8)]
    assert all(30_000_000 <= end - start <= 60_000_000 for start, end in gaps)
    assert 20e6 <= 2 * min(path.delays_ns) < 2 * max(path.delays_ns) <= 60e6
    # Inside of a slot the delay moves with the satellite, from slot to slot it jumps.
    steps = [abs(later - earlier) for earlier, later in pairwise(path.delays_ns)]
    jumps = [at for at, step in enumerate(steps, start=1) if step > 20_000]
    assert jumps and all(at % 1500 == 0 for at in jumps)
    lossy = {at % 1500 for at, loss in enumerate(path.losses) if loss > 0}
    assert all(at < 26 or at >= 1480 for at in lossy)


@pytest.mark.parametrize("seed", SEEDS)
def test_geo_is_a_rain_event(tmp_path: Path, seed: int) -> None:
    path = series(tmp_path, "geo", seed)
    assert path.rates_bps is not None and path.delays_ns is not None and path.losses is not None
    assert set(path.delays_ns) == {280_000_000}
    assert max(path.rates_bps) == 50_000_000
    middle = path.rates_bps[6000]
    assert 14_000_000 < middle < 20_000_000
    assert min(path.rates_bps[:100] + path.rates_bps[-100:]) > 40_000_000
    assert path.mean(path.losses) < 0.02


def test_what_is_generated_is_told_from_the_file(tmp_path: Path) -> None:
    out = tmp_path / "pass.csv"
    told = command("generate", "leo", "--duration", "60 s", "--option", "gap=0 s", "--out", out).splitlines()
    assert told[0] == str(out)
    assert told[1] == "duration: at least 30 s for leo, a shorter one has no change of satellite"
    assert told[2].startswith("rate: mean 120, ")
    assert told[3] == "gaps: none"
    assert told[4].startswith("delay: ") and "RTT" in told[4]
    assert told[5].startswith("loss: mean 0.")
    told = command("generate", "leo", "--duration", "60s", "--out", out).splitlines()
    assert told[3].startswith("gaps: 3 of ") and told[3].endswith(" ms, every 15 s, the first at 15 s")
    # Commands for traces take the rates of a series.
    assert json.loads(command("info", out, "--json"))["mean_mbps"] == pytest.approx(120, rel=0.001)
    delays = tmp_path / "delays.csv"
    delays.write_text("time_ms,delay_ms\n0,5\n")
    assert "1: no column rate_mbps" in refused("info", delays)


def test_options_of_a_series_are_checked(tmp_path: Path) -> None:
    out = tmp_path / "pass.csv"
    for option, said in (
        ("altitude_km=1", "altitude_km: '1' is out of range"),
        ("altitude=1", "leo: no option"),
        ("gap=2 s", "gap: 2 s; expected at most 1 s"),
        ("seed=3", "leo: no option"),
        ("gap", "expected NAME=VALUE"),
    ):
        problem = refused("generate", "leo", "--option", option, "--out", out)
        assert said.replace("'", '"') in problem.replace("'", '"'), problem
    for duration in ("-30 s", "30", "30 apples", "s"):
        assert "with its unit (ms, s, min, h)" in refused("generate", "leo", "--duration", duration, "--out", out)
    assert "duration 7200 s: expected from 30 s to 3600 s" in refused(
        "generate", "leo", "--duration", "2h", "--out", out
    )
    assert "mmwave takes no options" in refused("generate", "mmwave", "--option", "gap=1 s", "--out", out)
    assert "from 300 s to 3600 s for geo: a shorter one would let the rain" in refused(
        "generate", "geo", "--duration", "120 s", "--out", out
    )
    assert not out.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_bytes_and_others_do_not(tmp_path: Path, kind: str) -> None:
    files = [tmp_path / name for name in ("one.csv", "two.csv", "other.csv")]
    for file, seed in zip(files, (7, 7, 8), strict=True):
        command("generate", kind, "--seed", seed, "--duration", "300 s", "--out", file)
    one, two, other = (file.read_bytes() for file in files)
    assert one == two != other
    assert one.count(b"\n") == (3001 if kind == "geo" else 30001)


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_trace_runs_in_a_scenario(tmp_path: Path, kind: str) -> None:
    capacity = made(tmp_path, kind, 1, 300)
    plays = f'series = {{ type = "file", file = "{kind}-1.csv" }}'
    if not KINDS[kind].is_series:
        plays = f'rate = {{ type = "series", file = "{kind}-1.csv" }}'
    scenario = tmp_path / "run.toml"
    scenario.write_text(f"""
duration = "4 s"
[[link]]
name = "cell"
from = "server"
to = "client"
forward = {{ {plays}, queue = "200 packets" }}
backward = {{ rate = "100 Mbit/s", delay = "10 ms" }}
[[flow]]
name = "get"
client = "client"
server = "server"
application = "bulk"
""")
    run = quiclab.Scenario.from_file(scenario).run()
    table = run.table("rate").to_pydict()
    rows = zip(table["time_s"], table["subject"], table["kind"], table["mbps"], strict=True)
    told = [mbps for _, subject, kind_, mbps in rows if kind_ == "capacity" and subject == "cell forward"]
    assert told == pytest.approx(capacity.binned(100_000_000)[: len(told)], abs=0.001)
    assert len(told) == 40
    assert run.summary["connections"][0]["delivered_bytes"] > 100_000


MAHIMAHI = "1\n1\n1\n2\n2\n2\n5\n5\n5\n5\n9\n20\n"


def test_mahimahi_to_csv_and_back_gives_the_same_lines(tmp_path: Path) -> None:
    first, csv, again = tmp_path / "a.up", tmp_path / "a.csv", tmp_path / "b.up"
    first.write_text(MAHIMAHI)
    command("convert", first, csv)
    assert csv.read_text().splitlines()[:6] == ["time_ms,rate_mbps", "0,36", "2,0", "4,48", "5,0", "8,12"]
    command("convert", csv, again)
    assert again.read_text() == MAHIMAHI
    # What comes at zero comes again with the end of the circle.
    first.write_text("0\n0\n4\n")
    assert write(read(first), "mahimahi") == "4\n4\n4\n"


@pytest.mark.parametrize("seed", range(20))
def test_any_mahimahi_comes_back(tmp_path: Path, seed: int) -> None:
    draws = Random(seed)
    at, lines = 0, []
    for _ in range(draws.choice([1, 2, 50, 400])):
        at += draws.choice([0, 0, 0, 1, 1, 2, 7, 300])
        lines.append(max(at, 1))
    first = tmp_path / "a.up"
    first.write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "a.csv").write_text(write(read(first), "csv"))
    assert write(read(tmp_path / "a.csv"), "mahimahi") == first.read_text()


def test_csv_to_mahimahi_loses_less_than_a_line_and_a_millisecond(tmp_path: Path) -> None:
    capacity = made(tmp_path, "lte-driving", 3, 30)
    lines = [int(line) for line in write(capacity, "mahimahi").split()]
    (tmp_path / "a.up").write_text("\n".join(map(str, lines)))
    assert read(tmp_path / "a.up").mean_mbps == pytest.approx(capacity.mean_mbps, rel=0.01)
    due, place = 0.0, 0
    for at_ms, rate in enumerate(capacity.binned(1_000_000), start=1):
        due += rate * 1e3
        while place < len(lines) and lines[place] <= at_ms:
            place += 1
        # What has come by the end of each millisecond is behind by less than a line, and never ahead.
        assert -1e-6 <= due - place * 12_000 < 12_000 + 1e-6, at_ms


@pytest.mark.parametrize(
    "rows",
    ["0,5", "0,5\n10,6\n30,0.000001", "0,1\n0.5,2\n2.25,3.5\n3,0", "0,0.5\n0.000001,7\n100,2"],
)
def test_csv_to_csv_loses_nothing(tmp_path: Path, rows: str) -> None:
    (tmp_path / "a.csv").write_text(f"time_ms,rate_mbps\n{rows}\n")
    capacity = read(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text(write(capacity, "csv"))
    assert read(tmp_path / "b.csv") == capacity


def test_info_and_plot(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time_ms,rate_mbps\n0,10\n500,0\n800,20\n1000,20\n")
    told = json.loads(command("info", file, "--json"))
    assert told["duration_s"] == 1.2
    assert told["mean_mbps"] == pytest.approx((0.5 * 10 + 0.4 * 20) / 1.2)
    assert (told["least_10ms_mbps"], told["most_10ms_mbps"], told["p50_10ms_mbps"]) == (0, 20, 10)
    assert (told["outages"], told["longest_outage_ms"], told["outages_s"]) == (1, 300, 0.3)
    assert "mean_mbps" in command("info", file)
    command("plot", file, "--out", tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()[:1000]


@pytest.mark.parametrize("rates", [(20.5, 22), (4, 20), (0, 20), (1, 300), (0, 300_000)])
def test_every_distribution_has_labels_and_no_negative_rates(tmp_path: Path, rates: tuple[float, float]) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"time_s,rate_mbps\n0,{rates[0]}\n1,{rates[1]}\n2,{rates[1]}\n")
    figure = draw(read(file), "a")
    figure.draw_without_rendering()
    axis = figure.axes[1].xaxis
    low, high = axis.get_view_interval()
    shown = [
        text for at, text in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True) if low <= at <= high
    ]
    assert low >= 0
    assert sum(bool(text.get_text()) for text in shown) >= 2


def test_a_long_trace_has_wide_bins(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time_s,rate_mbps\n0,10\n100000,20\n200000,20\n")
    over_time, spread = draw(read(file), "a").axes
    assert over_time.get_ylabel() == "rate over 50000 ms (Mbit/s)"
    assert spread.get_xlabel() == "rate over 5000 ms (Mbit/s)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5\n4\n", "a.trace:2: 4 ms comes after 5 ms"),
        ("time_ms,rate_mbps\n3,1\n2,2\n", "a.trace:3: 2 ms comes after 3 ms"),
        ("time,rate\n0,1\n", 'a.trace:1: column 1, "time", has no unit'),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "a.trace"
    file.write_text(text)
    with pytest.raises(quiclab.Error, match=said.split(":", 1)[1].replace("(", r"\(")) as problem:
        read(file)
    assert str(problem.value).startswith(str(file))


WRONG: list[tuple[bytes, str]] = [
    (b"", ":1: "),
    (b"time_ms,rate_mbps\n", ":2: there is no line"),
    (b"\x00\xff\xfe\x80", ": not text"),
    ("time_ms,rate_mbps\n0,1\n".encode("utf-16"), ": the file is UTF-16; expected UTF-8: save it as UTF-8"),
    ("time_ms,rate_mbps\n0,1 # é\n".encode("latin-1"), ": not text in UTF-8 (byte 24 is 0xe9: Latin-1 or"),
    (gzip.compress(b"time_ms,rate_mbps\n0,1\n", mtime=0), ": the file is gzip; expected text: unpack it"),
    (b"time_s,rate_mbps\n0,1\n1,1e999\n", ':3: found "1,1e999"'),
    (b"\x00\x01\x02", ":1: "),
    (b"time_ms,rate_mbps\n0,1\n5,-1\n", ':3: found "5,-1"'),
    (b"time_ms,rate_mbps\n0,1\n5,nan\n", ':3: found "5,nan"'),
    (b"time_ms,rate_mbps\n0,1\nnan,1\n", ':3: found "nan,1"'),
    (b"time_ms,rate_mbps\n0,1e30\n", ':2: found "0,1e30"'),
    (b"time_ms,rate_mbps\n0,inf\n", ':2: found "0,inf"'),
    (b"time_ms,rate_mbps\n0,99999999999999999999\n", ":2: found"),
    (b"time_ms,rate_mbps\n0,1\n99999999999999999999,1\n", ":3: found"),
    (b"time_ms,rate_mbps\n0,1\n9,1\n5,1\n", ":4: 5 ms comes after 9 ms"),
    (b"time_ms,rate_mbps\n0,0\n", ":2: all rates are zero"),
    (b"5\n-1\n", ":2: "),
    (b"5\n99999999999\n", ":2: "),
    (b"0\n", ":1: "),
]


SAME = {
    "CSV": "time_ms,rate_mbps\n0,20\n2000,4\n",
    "a byte order mark": "\ufefftime_ms,rate_mbps\r\n0,20\r\n2000,4\r\n",
    "blanks": "time_ms , rate_mbps\n\n0, 20\n 2000,4\n\n",
    "semicolons": "time_s;rate_mbps\n0;20\n2,0;4,0\n",
    "two columns": "0.0\t20\n2.0\t4\n",
    "a later start": "time_s,rate_kbps\n7,20000\n9,4000\n",
    "duplicate seconds": "time_s,rate_mbps\n0,10\n0,30\n2,4\n",
    "numpy": "0.000000000000000000e+00 2.000000000000000000e+01\n2.000000000000000000e+00 4.000000000000000000e+00\n",
    "names in a comment": "# time_ms,rate_kbps\n0.0e+00,2e4\n2e3,4e3\n",
    "more decimals than the simulator has": "0.0 20.000000400000001\n2.0000000001 3.999999700000001\n",
    "pandas": ',cell,rate_mbps,time_s\n0,a,20.0,0\n1,"b, c",4.0,2\n',
    "line ends of old Macs": "time_s,rate_mbps\r0,20\r2,4\r",
}


def test_what_is_skipped_joined_and_rounded_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time_s,rate_mbps,cell\n0,4.03768755221,a\n0,3.5,b\n1.0,2.0,c\n")
    notes = [
        'skipped a column that is not needed: "cell"',
        "1 of 3 lines with the time of the line before: the mean is taken; the first is line 3",
        "1 of 3 lines rounded to 1 bit/s and 1 ns; the first is line 2",
    ]
    assert read(file).notes == notes
    told = CliRunner().invoke(app, ["trace", "info", str(file)])
    assert told.stderr.splitlines() == [f"note: {file}, {note}" for note in notes]
    scenario = re.sub(r'rate = "[^"]*"', f'rate = {{ type = "series", file = {json.dumps(str(file))} }}', SCENARIO)
    lines = quiclab.Scenario.from_text(scenario).describe()
    assert {text for subject, text in lines if subject.endswith(", files")} == {f"{file}, {note}" for note in notes}
    file.write_text("time_s,rate_mbps\n0,4\n")
    assert read(file).notes == []
    file.write_text("time_s,rate_mbps\n0,12000000\n1,5\n")
    assert read(file).notes == ["line 2: 12000000 Mbit/s are more than any link has"]
    file.write_text("0,4\n1,5\n")
    assert read(file).notes == ["the columns have no names: read as time_s and rate_mbps"]
    for comment in ("t in ms", "ms-kbps", "time stamps in milli seconds", "tick = 10 ms", "Kilobit/s"):
        file.write_text(f"# {comment}\n0 3500\n1000 4200\n")
        with pytest.raises(quiclab.Error, match="the comment in line 1 has"):
            read(file)


@pytest.mark.parametrize("name", SAME)
def test_info_convert_and_run_have_one_reader(tmp_path: Path, name: str) -> None:
    """What a spreadsheet or a tool writes is read the same by all of them."""
    file = tmp_path / "a.csv"
    file.write_bytes(SAME[name].encode())
    command = [sys.executable, "-m", "quiclab", "trace"]
    told = json.loads(subprocess.run([*command, "info", str(file), "--json"], capture_output=True, check=True).stdout)
    assert (told["duration_s"], told["mean_mbps"]) == (4, 12)
    subprocess.run([*command, "convert", str(file), str(tmp_path / "b.csv")], check=True)
    assert (tmp_path / "b.csv").read_text() == "time_ms,rate_mbps\n0,20\n2000,4\n"
    text = SCENARIO.replace('loss = "1 %"', 'loss = "0 %"')
    rate = f'{{ type = "series", file = {json.dumps(str(file))} }}'
    changed = re.sub(r'rate = "[^"]*"', f"rate = {rate}", text)
    assert changed != text
    plain = changed.replace("a.csv", "b.csv")
    results = [quiclab.Scenario.from_text(each).run(tables=False).summary for each in (changed, plain)]
    assert results[0]["connections"] == results[1]["connections"]


def refused(*arguments: object) -> str:
    """What the command line says, which is one line."""
    done = subprocess.run(
        [sys.executable, "-m", "quiclab", "trace", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_what_is_wrong_is_one_error_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "a.trace"
    file.write_bytes(content)
    with pytest.raises(quiclab.Error) as problem:
        read(file)
    assert str(problem.value).startswith(f"{file}:"), problem.value
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_files_that_cannot_be_read_or_written_are_told_of(tmp_path: Path) -> None:
    good, folder = tmp_path / "good.csv", tmp_path / "folder"
    good.write_text("time_ms,rate_mbps\n0,10\n500,20\n")
    folder.mkdir()
    for arguments in (
        ("info", folder),
        ("info", tmp_path / "none.csv"),
        ("convert", good, folder),
        ("convert", good, folder / "none" / "a.up"),
        ("plot", good, "--out", folder / "none" / "a.png"),
        ("plot", good, "--out", tmp_path / "a.txt"),
        ("generate", "leo", "--out", folder),
        ("generate", "leo", "--out", tmp_path / "a.csv", "--duration", "nan s"),
        ("generate", "leo", "--out", tmp_path / "a.csv", "--duration", "60"),
        ("info", good, "--below", "nan"),
    ):
        refused(*arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "good.csv"]
    assert list(folder.iterdir()) == []


def test_what_would_have_no_end_is_refused(tmp_path: Path) -> None:
    long, fast = tmp_path / "long.csv", tmp_path / "fast.csv"
    long.write_text("time_s,rate_mbps\n0,10\n999999999,20\n")
    fast.write_text("time_s,rate_mbps\n0,999999\n3600,1\n")
    assert "long.csv: 2e+09 s in bins of 10 ms: 199999999800 bins" in refused("info", long)
    assert "fast.csv: " in (said := refused("convert", fast, tmp_path / "a.up"))
    assert "the simulator reads at most 50000000" in said
    assert not (tmp_path / "a.up").exists()


def test_what_was_there_stays_if_the_new_file_cannot_be_made(tmp_path: Path) -> None:
    file, out = tmp_path / "a.csv", tmp_path / "b.up"
    file.write_text("time_ms,rate_mbps\n0,0.000001\n")
    out.write_text("1\n")
    assert "no line of Mahimahi" in refused("convert", file, out)
    assert out.read_text() == "1\n"
    # The ending counts however it is written.
    command("convert", out, tmp_path / "c.CSV")
    assert (tmp_path / "c.CSV").read_text().startswith("time_ms,rate_mbps\n")


def test_what_cannot_be_generated() -> None:
    for kind, duration, said in [("wifi", 60, "expected mmwave"), ("leo", 1, "from 30 s"), ("leo", 4000, "to 3600 s")]:
        with pytest.raises(quiclab.Error, match=said):
            generate(kind, duration_s=duration)


def test_notes_of_files_are_told_once(tmp_path: Path) -> None:
    trace = tmp_path / "bare.txt"
    trace.write_text("0 5\n1 6\n", encoding="utf-8")
    scenario = tmp_path / "run.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    rate = f'link.cell.forward.rate={{ type = "series", file = "{trace}" }}'
    scenario.write_text(quiclab.Scenario.from_file(scenario).with_(rate).to_toml(), encoding="utf-8")
    told = CliRunner().invoke(app, ["check", str(scenario)])
    assert told.exit_code == 0, told.output
    assert told.stdout.count("the columns have no names") == 1, told.stdout
