"""A user's program: `mypy --strict` finds nothing in it, and knows the types (`tests/test_typed.py`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import quiclab


class Careful(quiclab.Controller):
    """A window that grows by a packet per round trip, and is cut at a loss."""

    options = {"factor": 0.5}
    factor: float

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        """Nothing is paced."""
        assert_type(self.window_bytes, float)
        self.pacing_bps = None

    def on_ack(self, ack: quiclab.Ack) -> None:
        """Grow."""
        assert_type(ack.delivery_rate_bps, float | None)
        self.window_bytes += self.datagram_bytes * ack.acked_bytes / self.window_bytes

    def on_loss(self, loss: quiclab.CongestionSignal) -> None:
        """Cut."""
        assert_type(loss.bytes, int)
        self.window_bytes *= self.factor


class Lowest(quiclab.Abr):
    """The lowest representation."""

    def choose(self, view: quiclab.AbrView) -> int:
        """The lowest one."""
        assert_type(view.downloads, list[quiclab.Download])
        return 0


def runs(scenario: quiclab.Scenario, folder: Path) -> Iterator[quiclab.Run]:
    """Every way to a run."""
    yield scenario.run()
    yield scenario.run(7, qlog=True, out=folder / "run", progress=lambda progress: print(progress.fraction))
    yield quiclab.load(folder / "run")


def tables(run: quiclab.Run) -> None:
    """Every way out of a run."""
    assert_type(run.summary, dict[str, Any])
    assert_type(run.path, Path | None)
    assert_type(run.tables, tuple[str, ...])
    table = run.table("connection")
    assert_type(table, quiclab.Table)
    assert_type(table.num_rows, int)
    assert_type(table.column_names, list[str])
    assert_type(table.to_pylist(), list[dict[str, Any]])
    assert_type(table.for_sql(), quiclab.Table)
    table.to_pandas(), table.to_polars()
    for part in run.parts("connection", ["time_s"]):
        assert_type(part, quiclab.Table)
    assert_type(run.plot(), quiclab.plots.Figure)
    assert_type(quiclab.plots.draw(run, "rtt"), quiclab.plots.Figure)
    assert_type(run.why(), list[quiclab.why.Answer])
    shown = quiclab.view.write(run.path or "runs/there")
    assert_type(shown.view, Path)


def sweep(scenario: quiclab.Scenario) -> None:
    """Every way out of a sweep."""
    result = quiclab.sweep(scenario, jobs=2, progress=True)
    assert_type(result, quiclab.Sweep)
    assert_type(result.runs, quiclab.Table)
    assert_type(result.series, quiclab.Table | None)
    assert_type(result.means("goodput_mbps", by=["ack_ratio"], interval="bootstrap"), quiclab.Table)
    assert_type(result.quantiles("goodput_mbps", q=[0.5]), quiclab.Table)
    for failure in result.failures:
        assert_type(failure["error"], str)
    result.plot("figure.pdf", "line", x="ack_ratio", y="goodput_mbps", spread="quantiles", where={"seed": 1})


def main() -> None:
    """From a file to a figure."""
    scenario = quiclab.Scenario.from_file("examples/cellular.toml", {"seed": 3})
    changed = scenario.with_({"flow.download.transport.controller": Careful(factor=0.7)})
    for run in runs(changed, Path("there")):
        tables(run)
    sweep(scenario.with_({"sweep.transport.ack_ratio": [1, 2]}))
    try:
        quiclab.Scenario(name="nothing")
    except quiclab.ScenarioError as error:
        print(error)


if __name__ == "__main__":
    main()
