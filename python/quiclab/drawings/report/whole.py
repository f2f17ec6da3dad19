"""The text of a scenario for a page, if it is one. What else lies in its place may be a file of the reader's own."""

import json
import tomllib

from quiclab import _quiclab
from quiclab._quiclab import Error
from quiclab.drawings.report.tags import Html, tag


def whole(title: str, text: str, where: str) -> Html:
    """A part of a page that opens and has the text of a scenario.

    Raises `Error` if the text is no scenario; the message has nothing of it.

    Only keys are judged, since files that a scenario names may be gone.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Error(f"{where}: not TOML, so it is no scenario, and is not shown") from error
    known = json.loads(_quiclab.schema_json())["properties"]
    if set(document) - set(known) or not {"link", "medium", "flow"} & set(document):
        raise Error(f"{where}: not a scenario, and not shown: it has other keys, or neither a network nor flows")
    return tag("details", tag("summary", title), tag("pre", text))
