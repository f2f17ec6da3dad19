"""The word that a mistyped one was meant to be, for errors."""

from collections.abc import Iterable

from quiclab._quiclab import Error

_LISTED = 12
"""Words that an error lists."""


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'line'?`, or nothing if no known word is near."""
    from difflib import get_close_matches

    if not isinstance(word, str):
        # What callers from Python may give.
        return ""
    words = list(dict.fromkeys(known))
    near = get_close_matches(word, words, n=1, cutoff=0.6)
    if not near:
        folded = {one.lower(): one for one in reversed(words)}
        near = [folded[one] for one in get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)]
    return f"; did you mean {near[0]!r}?" if near else ""


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
