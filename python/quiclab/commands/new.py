"""`quiclab new NAME`: a scenario to begin with."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from quiclab._quiclab import OutputError
from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import checked

TEMPLATES = Path(__file__).parents[1] / "templates"
"""The scenarios, in which NAME stands for the name that is given."""
LIKE = ("cellular", "dumbbell", "page", "lte", "satellite", "video")
"""Their names, the first of them by default."""
_STRANGE = "a name of letters, digits, - _ and . that begins with a letter or digit"


def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Its name; the file is NAME.toml.", show_default=False)],
    like: Annotated[
        str,
        typer.Option(
            metavar="KIND", help=f"{', '.join(LIKE[:-1])} or {LIKE[-1]}.", autocompletion=completions.words(*LIKE)
        ),
    ] = LIKE[0],
    as_json: Json = False,
) -> None:
    """Write a scenario to start from: a file with comments that runs as it is. It overwrites no file.

    Example: quiclab new film --like video
    """
    template = TEMPLATES / f"{checked('--like', like, LIKE)}.toml"
    # The name of nothing, or of the root, cannot be changed.
    file = name if name.suffix == ".toml" or not name.name else name.with_name(f"{name.name}.toml")
    if not _is_name(file.stem):
        raise OutputError(f"{name}: expected {_STRANGE}")
    text = template.read_text(encoding="utf-8").replace("NAME", file.stem)
    try:
        # Fails if there is something, also if it came to be this moment.
        with file.open("x", encoding="utf-8") as opened, _removed_if_incomplete(file):
            opened.write(text)
            opened.flush()
    except FileExistsError as error:
        raise OutputError(f"{file}: exists already; choose another name or remove it") from error
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from error
    if as_json:
        echo(json.dumps({"scenario": str(file), "like": like}))
        return
    echo(f"written  {plain(file)}")
    echo(f"next     quiclab run {plain(file)}")


@contextmanager
def _removed_if_incomplete(file: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _is_name(text: str) -> bool:
    return (
        text[:1].isascii()
        and text[:1].isalnum()
        and all(one.isascii() and (one.isalnum() or one in "-_.") for one in text)
    )
