"""`quiclab dev bench`, with a transfer that takes no time."""

import json

from conftest import Command

CASES = ["null", "tls", "null, tables", "null, qlog", "tls, tables", "tls, qlog", "tls, pcap"]


def test_bench_prints_a_row_for_each_case(command: Command) -> None:
    result = command("dev", "bench", "--size", "2 MB", "--rounds", "1")
    assert result.returncode == 0, result.stderr
    for case in CASES:
        assert case in result.stdout
    assert "data packets per CPU second" in result.stdout
    assert list(command.folder.iterdir()) == [command.folder / "bulk.toml"], "traces do not stay"


def test_bench_json(command: Command) -> None:
    result = command("dev", "bench", "--size", "2 MB", "--rounds", "2", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    assert [row["case"] for row in told["cases"]] == CASES
    assert told["data_packets"] >= 2_000_000 / 1472
    for row in told["cases"]:
        assert 0 < row["lowest"] <= row["packets_per_cpu_second"] <= row["highest"]
        assert row["cost"] > 0
    assert told["cases"][0]["cost"] == 1


def test_a_size_that_is_none_is_told(command: Command) -> None:
    result = command("dev", "bench", "--size", "much")
    assert (result.returncode, result.stdout) == (2, "")
    assert "size" in result.stderr and len(result.stderr.splitlines()) == 1
