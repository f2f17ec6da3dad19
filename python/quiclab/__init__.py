"""A laboratory for QUIC: a scenario describes a network and its traffic, quiclab runs it in virtual time.

    import quiclab

    run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    print(run.summary["connections"][0]["goodput_mbps"])
    run.table("connection")  # a pyarrow.Table, not copied
    run.plot("figure.png")

Every error is a `quiclab.Error` with one line that says what to change.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from quiclab._quiclab import (
    VERSION,
    AbrView,
    Ack,
    Adjustment,
    Download,
    Error,
    OutputError,
    Priority,
    RunError,
    ScenarioError,
    ScriptError,
    Trouble,
    Underway,
    View,
)
from quiclab._quiclab import rooms_json as _rooms_json

if TYPE_CHECKING:
    # For the others, `_PLACES` says where they are.
    from quiclab.abr import Abr
    from quiclab.controller import Controller
    from quiclab.differences import Change, Diff, diff
    from quiclab.progress import Progress, SweepProgress
    from quiclab.run import Run, load
    from quiclab.scenario import Scenario
    from quiclab.scheduler import Scheduler
    from quiclab.sweeps import Sweep, load_sweep, sweep

__version__ = VERSION
"""The version of the package and of the simulator in it."""

__all__ = [
    "Abr",
    "AbrView",
    "Ack",
    "Adjustment",
    "Change",
    "Controller",
    "Diff",
    "Download",
    "Error",
    "OutputError",
    "Priority",
    "Progress",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "ScriptError",
    "Sweep",
    "SweepProgress",
    "Trouble",
    "Underway",
    "View",
    "__version__",
    "diff",
    "load",
    "load_sweep",
    "rooms",
    "sweep",
]


_PLACES = {
    "abr": ("Abr",),
    "controller": ("Controller",),
    "differences": ("Change", "Diff", "diff"),
    "progress": ("Progress", "SweepProgress"),
    "report": (),
    "run": ("Run", "load"),
    "scenario": ("Scenario",),
    "scheduler": ("Scheduler",),
    "statistics": (),
    "sweeps": ("Sweep", "load_sweep", "sweep"),
}
"""The modules that are imported when something of them is used, and what `quiclab` has of each."""


def __getattr__(name: str) -> _Any:
    for module, names in _PLACES.items():
        if name == module or name in names:
            found = _import_module(f"quiclab.{module}")
            value = found if name == module else getattr(found, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'quiclab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PLACES})


def rooms() -> list[dict[str, _Any]]:
    """What can stand in a scenario, read from the simulator's own tables.

    One entry per room (controllers, queues, losses, ...) with its components, and for each of their options the
    kind, the default and one line of explanation. `quiclab list` prints it.
    """
    import json

    return list(json.loads(_rooms_json()))
