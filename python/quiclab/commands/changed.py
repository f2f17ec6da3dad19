"""What commands say of results that were changed so that their parts do not go together any more."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quiclab._quiclab import Error

_TRACEBACK = "QUICLAB_TRACEBACK"


@contextmanager
def reading(*folders: Path) -> Iterator[None]:
    """Turns into one line what only changed results can cause, after each file on its own was found right.

    The values of a summary, a scenario and a table may each be possible, and still contradict one another: a connection
    that no table knows, times that run backwards, a number that leaves nothing to divide by. What numpy only warns of
    would be a wrong number; what matplotlib warns of is shown in the figure.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", UserWarning)
            yield
    except Error:
        raise
    except _CONTRADICTIONS as error:
        if os.environ.get(_TRACEBACK):
            raise
        where = ", ".join(map(str, folders))
        raise Error(
            f"{where}: its summary, scenario and tables contradict one another; expected them as quiclab wrote them "
            f"(set {_TRACEBACK}=1 to see more)"
        ) from error


_CONTRADICTIONS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RuntimeWarning,
    TypeError,
    ValueError,
)
