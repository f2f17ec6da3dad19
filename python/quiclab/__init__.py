"""A laboratory for QUIC: a scenario describes a network and its traffic, quiclab runs it in virtual time.

    import quiclab

    run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    print(run.summary["connections"][0]["goodput_mbps"])
    run.table("connection").to_pandas()
    run.plot("figure.png")

Its modules are imported when they are used: `quiclab.abr`, `gym`, `p1203`, `plots`, `statistics`, `traces`, `view`,
`why`.

Every error is a `quiclab.Error` with one line that says what to change.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from quiclab._quiclab import (
    VERSION,
    AbrView,
    Ack,
    CongestionSignal,
    Connection,
    Download,
    Error,
    Measurement,
    OutputError,
    Packet,
    PartialDownload,
    Priority,
    ResumeAdjustment,
    RunError,
    ScenarioError,
    SchedulerView,
    ScriptError,
    Stream,
)
from quiclab._quiclab import rooms_json as _rooms_json

if TYPE_CHECKING:
    # For the others, `_PLACES` says where they are.
    from quiclab import abr as abr
    from quiclab import controller as controller
    from quiclab import gym as gym
    from quiclab import p1203 as p1203
    from quiclab import parts as parts
    from quiclab import plots as plots
    from quiclab import progress as progress
    from quiclab import report as report
    from quiclab import run as run
    from quiclab import scenario as scenario
    from quiclab import scheduler as scheduler
    from quiclab import statistics as statistics
    from quiclab import sweeps as sweeps
    from quiclab import table as table
    from quiclab import testing as testing
    from quiclab import traces as traces
    from quiclab import view as view
    from quiclab import why as why
    from quiclab.abr import Abr
    from quiclab.controller import Controller
    from quiclab.differences import Change, Diff, diff
    from quiclab.parts import Application, CellScheduler, End, Jitter, Loss, Middlebox, Queue, Rate
    from quiclab.progress import Progress, SweepProgress
    from quiclab.run import Run, load
    from quiclab.scenario import Scenario
    from quiclab.scheduler import Scheduler
    from quiclab.sweeps import Sweep, load_sweep, sweep
    from quiclab.table import Table

__version__ = VERSION
"""The version of the package and of the simulator in it."""

__all__ = [
    "Abr",
    "AbrView",
    "Ack",
    "Application",
    "CellScheduler",
    "Change",
    "CongestionSignal",
    "Connection",
    "Controller",
    "Diff",
    "Download",
    "End",
    "Error",
    "Jitter",
    "Loss",
    "Measurement",
    "Middlebox",
    "OutputError",
    "Packet",
    "PartialDownload",
    "Priority",
    "Progress",
    "Queue",
    "Rate",
    "ResumeAdjustment",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "SchedulerView",
    "ScriptError",
    "Stream",
    "Sweep",
    "SweepProgress",
    "Table",
    "__version__",
    "diff",
    "load",
    "load_sweep",
    "sweep",
    "topics",
]


_PLACES = {
    "abr": ("Abr",),
    "controller": ("Controller",),
    "differences": ("Change", "Diff", "diff"),
    "gym": (),
    "p1203": (),
    "parts": ("Application", "CellScheduler", "End", "Jitter", "Loss", "Middlebox", "Queue", "Rate"),
    "plots": (),
    "progress": ("Progress", "SweepProgress"),
    "report": (),
    "run": ("Run", "load"),
    "scenario": ("Scenario",),
    "scheduler": ("Scheduler",),
    "statistics": (),
    "sweeps": ("Sweep", "load_sweep", "sweep"),
    "table": ("Table",),
    "testing": (),
    "traces": (),
    "view": (),
    "why": (),
}
"""The modules that are imported when something of them is used, and what `quiclab` has of each."""


_ATTACHED = {
    "Figure._repr_png_": "drawings.notebooks:figure_png",
    "Run.__repr__": "drawings.notebooks:run_text",
    "Run._draw": "drawings.plots:save",
    "Run._repr_html_": "drawings.notebooks:run_html",
    "Run.plot": "drawings.plots:plot_run",
    "Run.why": "explanations.why:why",
    "Scenario._repr_html_": "drawings.notebooks:scenario_html",
    "Sweep.__repr__": "drawings.notebooks:sweep_text",
    "Sweep._repr_html_": "drawings.notebooks:sweep_html",
    "Sweep.plot": "drawings.plots.sweep:plot_sweep",
}
"""The methods that higher floors attach to results, and where their bodies are: see `quiclab.results.attached`."""


_RENAMED = {
    "Adjustment": "ResumeAdjustment",
    "Trouble": "CongestionSignal",
    "Underway": "PartialDownload",
    "View": "SchedulerView",
    "rooms": "topics",
}
"""Former names, and the present ones."""


if TYPE_CHECKING:
    # Annotations may use the former names.
    Adjustment = ResumeAdjustment
    Trouble = CongestionSignal
    Underway = PartialDownload
    View = SchedulerView
else:
    # For types, all that there is stands above.

    def __getattr__(name: str) -> _Any:
        if name in _RENAMED:
            now = _RENAMED[name]
            warn = _import_module("warnings").warn
            warn(f"quiclab.{name} is called quiclab.{now} now", DeprecationWarning, stacklevel=2)
            return globals()[now]
        for module, names in _PLACES.items():
            if name == module or name in names:
                found = _import_module(f"quiclab.{module}")
                value = found if name == module else getattr(found, name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'quiclab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PLACES})


def topics() -> list[dict[str, _Any]]:
    """What a scenario can contain, read from the simulator's own tables.

    One entry per topic (controllers, queues, losses, ...) with its components, and for each of their options the kind,
    the default and one line of explanation. `quiclab list` prints it.

    >>> topics = {topic["name"]: topic for topic in quiclab.topics()}
    >>> [row["name"] for row in topics["queues"]["rows"]][:4]
    ['drop-tail', 'drop-head', 'codel', 'fq-codel']
    """
    json = _import_module("json")

    return list(json.loads(_rooms_json()))
