"""Figures as files: equal figures give equal bytes."""

from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab._quiclab import OutputError
from quiclab.drawings.plots.looks import styled
from quiclab.values.folders import write_new, writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as AnyFigure

FORMATS = ("png", "svg", "pdf")
"""The endings that a figure's file may have."""

# Nothing of the moment or of the machine: equal runs give equal files.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save_figures(figures: Sequence["AnyFigure"], path: Path) -> None:
    """Writes figures into a file, in the format that its ending names: a PDF has a page for each, others the first.

    Equal figures give equal files. Raises `OutputError` if the ending is another one, or if it cannot be written.
    """
    ending = check_format(path)
    drawn = _bytes(figures, ending)
    # Beside its name and then moved, so that a figure is never half of one.
    partial = path.with_name(f".{path.name}.partial")
    try:
        with writing(path):
            write_new(partial, drawn)
            partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def check_format(path: Path) -> str:
    """The format that the ending of `path` names. Raises `OutputError` if it is not one of `FORMATS`."""
    ending = path.suffix[1:].lower()
    if ending not in FORMATS:
        raise OutputError(f"{path}: a figure ends in .png, .svg or .pdf")
    return ending


def _bytes(figures: Sequence["AnyFigure"], ending: str) -> bytes:
    """The file as bytes: the writers of formats need not handle a full disk."""
    file = BytesIO()
    with styled():
        if ending == "pdf":
            from matplotlib.backends.backend_pdf import PdfPages

            with PdfPages(file, metadata=_METADATA["pdf"]) as pages:
                for figure in figures:
                    pages.savefig(figure)
        elif ending == "png":
            _save_png(figures[0], file)
        else:
            figures[0].savefig(file, format=ending, metadata=_METADATA[ending])
    return file.getvalue()


def _save_png(figure: "AnyFigure", file: BytesIO) -> None:
    """As `savefig` does, but with one drawing instead of two: where there is a layout, `savefig` draws to make it."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas, layout, resolution = figure.canvas, figure.get_layout_engine(), figure.get_dpi()
    FigureCanvasAgg(figure)
    try:
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])
        if layout is not None and figure.axes:
            layout.execute(figure)
        figure.set_layout_engine(None)
        figure.savefig(file, format="png", metadata=_METADATA["png"])
    finally:
        figure.set_layout_engine(layout)
        figure.set_dpi(resolution)
        figure.set_canvas(canvas)
