"""What commands say of results that were changed so that their parts do not go together any more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRACEBACK = "QUICLAB_TRACEBACK"


@contextmanager
def reading(*folders: Path) -> Iterator[None]:
    """Makes one line of what only results can cause that somebody changed, after each file by itself was found right.

    The values of a summary, a scenario and a table may each be possible, and still contradict one another: a connection
    that no table knows, times that run backwards, a number that leaves nothing to divide by.
    """
    from quiclab import Error

    try:
        yield
    except Error:
        raise
    except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        if os.environ.get(_TRACEBACK):
            raise
        kind = type(error).__name__
        where = ", ".join(map(str, folders))
        told = " ".join(str(error).split())
        short = f"{kind}: {told[:80]}" if told else kind
        raise Error(
            f"{where}: the files do not go together ({short}); expected them as quiclab wrote them "
            f"(set {_TRACEBACK}=1 to see more)"
        ) from error
