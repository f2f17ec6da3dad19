"""Text for people, as lines of a terminal: control characters in names are shown as escapes."""


def plain(text: object) -> str:
    """The text on one line: characters that would move the cursor, colour or erase (names of files may) as escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(text)
    )
