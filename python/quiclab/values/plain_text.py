"""Text for people, as lines of a terminal: control characters in names are shown as escapes, long lists are cut."""

import re
import unicodedata


def plain(text: object) -> str:
    """The text on one line: characters that would move the cursor, colour or erase (names of files may) as escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(text)
    )


def harmless(text: str) -> str:
    """The same text, of any number of lines, for a terminal: control characters as JSON writes them in texts."""
    if text.isprintable() or not (found := {letter for letter in text if unicodedata.category(letter) in _CONTROLS}):
        return text
    return text.translate({ord(letter): _escaped(letter) for letter in found - {"\n", "\t"}})


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


_CONTROLS = ("Cc", "Cf", "Cs")
"""Categories of characters that are not shown themselves: control, format (which may turn text round), surrogates."""

_LIST = re.compile(r"(?:[^,;:()]+, ){4,}[^,;:()]+")
"""A list of five or more."""
_LONG_WORD = re.compile(r"\S{80,}")
_TAIL = re.compile(r"[;(]? ?did you mean [^?]*\?\)?$")
"""The most useful part of an error, which stands at its end."""


def short(line: str, most: int) -> str:
    """The line in at most `most` letters: of long lists the first items, of long words both ends, else its beginning.

    The suggestion at the end of the line stays.
    """
    while len(line) > most and (lists := list(_LIST.finditer(line))):
        found = max(lists, key=lambda match: len(match[0]))
        items = found[0].split(", ")
        spare = most - (len(line) - len(found[0])) - len(" and 9999 more")
        kept = max(3, next((n for n in range(len(items) - 1, 3, -1) if len(", ".join(items[:n])) <= spare), 3))
        # The blank behind the last item is of what follows.
        behind = found[0][len(found[0].rstrip()) :]
        told = f"{', '.join(items[:kept])} and {len(items) - kept} more{behind}"
        line = line[: found.start()] + told + line[found.end() :]
    if len(line) > most:
        # Names of files, say: their beginning and their end.
        line = _LONG_WORD.sub(lambda word: f"{word[0][:30]}...{word[0][-30:]}", line)
    if len(line) <= most:
        return line
    tail = _TAIL.search(line)
    end = f" {tail[0].lstrip()}" if tail and len(tail[0]) < most // 2 else ""
    return f"{line[: most - len(end) - len(' ...')].rstrip()} ...{end}"
