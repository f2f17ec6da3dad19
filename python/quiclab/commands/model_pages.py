"""The pages of docs/model that describe the components of a scenario."""

from collections.abc import Mapping
from typing import Any

_PAGES = {
    "controllers": "{row}",
    "queues": "{row}",
    "schedulers": "scheduler-{row}",
    "rates": "link",
    "offsets": "link",
    "losses": "loss",
    "kinds": "middleboxes",
    "visits": "hosts",
    "presets": "satellite",
    "series": "satellite",
    "middleboxes": "middleboxes",
    "processing": "processing",
    "sides": "pep",
    "stacks": "stacks",
    "media": "media",
    "channels": "cell",
    "block_errors": "cell",
    "cell_schedulers": "cell",
    "handovers": "cell",
    "frame_errors": "wlan",
    "rate_controls": "wlan",
    "events": "events",
    "resumptions": "resume",
    "tcp_resumptions": "resume",
    "jitters": "jitter",
    "applications": "applications",
    "pages": "pages",
    "presentations": "presentations",
    "abrs": "abr",
    "sources": "cross-traffic",
    "changes": "applications",
}
"""Of each topic, the pages of docs/model that describe its rows: one for all, or one of the row's name for each."""
_OWN_PAGES = {"media/lte": "cell", "media/nr": "cell", "media/wlan": "wlan", "kinds/gate": "gates"}
"""The pages of components that have not that of their topic."""


def page_of(topic: Mapping[str, Any], row: Mapping[str, Any]) -> str | None:
    """Where the model is described: scope, equations, validation, references."""
    page = _OWN_PAGES.get(f"{topic['name']}/{row['name']}") or _PAGES.get(topic["name"])
    return page and f"docs/model/{page.format(row=row['name'])}.md"
