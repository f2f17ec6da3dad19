"""Equal seeds give run folders that are equal byte for byte; different seeds give different ones."""

from pathlib import Path

import pytest

from conftest import SCENARIO, Command
from quiclab import Scenario

PROTECTIONS = ("null", "tls")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def arguments(protection: str, out: str) -> list[str]:
    capture = ["--pcap"] if protection == "tls" else []
    return ["run", "bulk.toml", "--set", f"tls.protection={protection}", "--qlog", *capture, "--out", out]


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_in_one_process_and_in_two(command: Command, protection: str) -> None:
    for out in ("a", "b"):
        assert command(*arguments(protection, out)).returncode == 0
    first = contents(command.folder / "a")
    assert first == contents(command.folder / "b")
    assert {"scenario.toml", "summary.json", "connection.parquet", "figure.png"} <= first.keys()
    assert ("capture.pcapng" in first) == (protection == "tls")
    scenario = Scenario.from_file(command.folder / "bulk.toml", set={"tls.protection": protection})
    for out in ("c", "d"):
        scenario.run(qlog=True, pcap=protection == "tls", out=command.folder / out)
        assert contents(command.folder / out) == first


def test_the_resolved_scenario_gives_the_same_folder(command: Command) -> None:
    assert command("run", "bulk.toml", "--seed", "4", "--out", "a").returncode == 0
    assert command("run", "a/scenario.toml", "--out", "b").returncode == 0
    assert contents(command.folder / "a") == contents(command.folder / "b")


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    tables = [Scenario.from_text(SCENARIO).run(seed).table("loss") for seed in (1, 2, 1)]
    assert tables[0].equals(tables[2])
    assert not tables[0].equals(tables[1])


@pytest.mark.parametrize("with_traces", [False, True])
def test_looking_changes_nothing(with_traces: bool, tmp_path: Path) -> None:
    scenario = Scenario.from_text(SCENARIO)
    plain = scenario.run(tables=False).summary
    assert scenario.run(tables=True, qlog=with_traces, pcap=with_traces).summary == plain
