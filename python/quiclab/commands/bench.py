"""`quiclab dev bench`: how fast it is here, and what traces cost."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

import quiclab
from quiclab._quiclab import ScenarioError
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo

SCENARIO = Path(__file__).parent / "bench.toml"
"""The bulk transfer of docs/performance.md."""
_SIZE = "flow.download.application.size"


@dataclass(frozen=True)
class Case:
    """One way of running the scenario."""

    name: str
    protection: str
    tables: bool = False
    qlog: bool = False
    pcap: bool = False

    @property
    def base(self) -> str:
        """The case that its cost is told by: the same without traces."""
        return CASES[0].name if self.protection == "null" else CASES[1].name


CASES = (
    Case("null", "null"),
    Case("tls", "tls"),
    Case("null, tables", "null", tables=True),
    Case("null, qlog", "null", qlog=True),
    Case("tls, tables", "tls", tables=True),
    Case("tls, qlog", "tls", qlog=True),
    Case("tls, pcap", "tls", pcap=True),
)
"""The cases, in the order in which each round runs them."""


def bench(
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="Bytes to transfer: fewer take less time and are less exact.")
    ] = "375 MB",
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Runs of each case; the median counts.")] = 3,
    as_json: Json = False,
) -> None:
    """Measure a bulk transfer: data packets per second of CPU time, and what TLS, tables, qlog and pcap cost.

    Example: quiclab dev bench --size "50 MB"
    """
    speeds, packets = _measure(size, rounds)
    rows = [
        {
            "case": case.name,
            "packets_per_cpu_second": round(median(speeds[case.name])),
            "lowest": round(min(speeds[case.name])),
            "highest": round(max(speeds[case.name])),
            "cost": round(_cost(speeds, case), 3),
        }
        for case in CASES
    ]
    if as_json:
        echo(json.dumps({"size": size, "rounds": rounds, "data_packets": packets, "cases": rows}, indent=2))
        return
    _print(rows, f"{size}, {packets:,} data packets, median of {rounds}")


def _measure(size: str, rounds: int) -> tuple[dict[str, list[float]], int]:
    """The speeds of all rounds by case, and the data packets that a transfer takes."""
    from rich.console import Console
    from rich.progress import track

    try:
        base = quiclab.Scenario.from_file(SCENARIO).with_({_SIZE: size})
    except ScenarioError as error:
        raise ScenarioError(f"--size {size!r}: {str(error).rpartition(f'{_SIZE}: ')[2]}") from None
    scenarios = {protection: base.with_({"tls.protection": protection}) for protection in ("null", "tls")}
    speeds: dict[str, list[float]] = {case.name: [] for case in CASES}
    packets = 0
    # Round by round, so that a change of the machine's speed meets all cases.
    work = [case for _ in range(rounds) for case in CASES]
    console = Console(stderr=True)
    for case in track(work, "measuring", console=console, transient=True, disable=not console.is_terminal):
        start = time.process_time()
        run = scenarios[case.protection].run(tables=case.tables, qlog=case.qlog, pcap=case.pcap)
        seconds = time.process_time() - start
        packets = run.summary["links"][0]["delivered_packets"]
        speeds[case.name].append(packets / max(seconds, 1e-9))
    return speeds, packets


def _cost(speeds: dict[str, list[float]], case: Case) -> float:
    """CPU time per packet over that of its base, for `tls` over that of `null`: the median over rounds."""
    base = CASES[0].name if case.name == CASES[1].name else case.base
    return median(over / under for over, under in zip(speeds[base], speeds[case.name], strict=True))


def _print(rows: Sequence[dict[str, Any]], caption: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(caption=caption, caption_justify="left")
    table.add_column("case")
    for title in ("data packets per CPU second", "lowest", "highest", "cost"):
        table.add_column(title, justify="right")
    for row in rows:
        numbers = [f"{row[key]:,}" for key in ("packets_per_cpu_second", "lowest", "highest")]
        table.add_row(row["case"], *numbers, f"{row['cost']:.2f}")
    console = Console(highlight=False)
    console.print(table)
    echo("cost: CPU time per packet, relative to the same case without traces; for tls, relative to null")
