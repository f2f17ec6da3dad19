"""`quiclab report`: runs and sweeps as one HTML file that needs nothing else.

`runs.py` and `sweep.py` make the sections, `figures.py` the series of figures, `tags.py` escapes whatever comes from
outside, and `page.py` puts it into one file with what is in `browser/`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.report.page import page
from quiclab.explanations.differences import folder as opened
from quiclab.results.run import Run
from quiclab.results.sweeps import Sweep
from quiclab.values import arguments, folders

if TYPE_CHECKING:
    from quiclab.results.run import Run
    from quiclab.results.sweeps import Sweep

PAGE = "report.html"
"""The name of the page."""

MOST = 24
"""Runs and sweeps on a page at most: a sweep has as many runs as it likes."""


@dataclass(frozen=True)
class Report:
    """What is in a report."""

    report: Path
    """The file."""
    size_bytes: int
    """Its size."""
    runs: int
    """Runs that are shown beside each other."""
    sweeps: int
    """Sweeps, each with its own section."""
    notes: list[str]
    """What is left out, and why."""

    def as_json(self) -> dict[str, Any]:
        """As `quiclab report --json` prints it."""
        return {**asdict(self), "report": str(self.report)}


def write(
    what: "str | PathLike[str] | Run | Sweep | Sequence[str | PathLike[str] | Run | Sweep]",
    out: str | PathLike[str] | None = None,
    *,
    show: Sequence[str] = (),
) -> Report:
    """Writes a report: one self-contained HTML file.

    :param what: runs and sweeps, or one: objects, or the paths of their folders. Runs are shown side by side.
    :param out: the file. Default: report.html in the folder if there is one, else in the current folder.
    :param show: columns of sweeps that are shown first, by the end of their name; default: goodput, completion time
        and mean RTT.
    :raises Error: there is nothing to show, too much, or no such column. :raises OutputError: a folder cannot be read,
        or the report cannot be written.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run(out="runs/a", figure=False)
    >>> report = quiclab.report.write("runs/a", "report.html")
    """
    is_one = isinstance(what, str | PathLike | Run | Sweep)
    given = (
        [what] if is_one else arguments.listed("write: what", what, "runs and sweeps, or the paths of their folders")
    )
    show = arguments.texts("write: show", show, "names of columns")
    if not 1 <= len(given) <= MOST:
        raise Error(f"{len(given)} runs and sweeps; expected 1 to {MOST}: a sweep is one, with all its runs")
    read = [one if isinstance(one, Run | Sweep) else opened(arguments.path("write: what", one)) for one in given]
    runs = [one for one in read if isinstance(one, Run)]
    sweeps = [one for one in read if isinstance(one, Sweep)]
    alone = read[0].path if len(read) == 1 else None
    path = (
        arguments.path("write: out", out)
        if out is not None
        else folders.default_file(alone / PAGE if alone else Path(PAGE))
    )
    text, notes = page(runs, sweeps, show, path.parent)
    size = folders.write_whole(path, text)
    return Report(path, size, len(runs), len(sweeps), notes)
