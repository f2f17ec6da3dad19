"""The documents that a line of explanation names: RFCs, drafts, recommendations."""

import re

_SOURCE = re.compile(
    r"RFC \d+(?: (?:section|appendix) [0-9A-Z]+(?:\.\d+)*)?|draft-[a-z0-9-]+(?: section \d+(?:\.\d+)*)?"
    r"|3GPP [\d.]+|ITU-T [A-Z.\d]+"
)


def sources_of(text: str) -> list[str]:
    """The documents, each once."""
    return list(dict.fromkeys(_SOURCE.findall(text)))


def without_sources(text: str) -> str:
    """The line without the parentheses that hold nothing but sources."""
    return re.sub(rf" \(({_SOURCE.pattern})(, ({_SOURCE.pattern}))*\)", "", text)
