"""The text of a scenario for a page, if it is one. What else lies in its place may be a file of the reader's own."""

import json
import tomllib

from quiclab import _quiclab
from quiclab._quiclab import Error
from quiclab.report.tags import Html, tag


def whole(title: str, text: str, where: str) -> Html:
    """The text of a scenario, to be opened. Raises `Error` if it is none, without a word of it.

    A scenario can name files that are gone, so its keys are judged and not its values.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Error(f"{where}: not TOML, so it is no scenario, and is not shown") from error
    known = json.loads(_quiclab.schema_json())["properties"]
    if not {"link", "cell", "wlan", "flow"} & set(document) or not set(document) <= set(known):
        raise Error(
            f"{where}: not a scenario, and not shown: it has other keys at its top, or neither networks nor flows"
        )
    return tag("details", tag("summary", title), tag("pre", text))
