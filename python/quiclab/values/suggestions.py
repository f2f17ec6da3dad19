"""The word that a mistyped one was meant to be, for errors."""

from collections.abc import Iterable

from quiclab._quiclab import Error, nearest

_LISTED = 12
"""Words that an error lists."""


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'line'?`, or nothing if no known word is near."""
    # Callers from Python may give anything, and names of files may be no text.
    is_text = isinstance(word, str) and word.isprintable()
    near = nearest(word, [one for one in known if one.isprintable()]) if is_text else None
    return "" if near is None else f"; did you mean {near!r}?"


def listed(words: Iterable[str]) -> str:
    """The words, or the first of many."""
    every = list(words)
    return ", ".join(every[:_LISTED]) + (", ..." if len(every) > _LISTED else "")


def checked(option: str, word: str, known: Iterable[str]) -> str:
    """The word. Raises `Error`, with the known words and the nearest of them, if it is none of them."""
    words = list(known)
    if word in words:
        return word
    raise Error(f"{option} {word!r}: expected one of {listed(words)}{hint(word, words)}")
