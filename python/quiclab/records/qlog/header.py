"""What a file and its traces say of themselves: the version, the end that wrote it, names, and the form of times."""

import re
from pathlib import Path
from typing import Any

from quiclab.records.qlog import old
from quiclab.records.qlog.clock import UNITS, Clock
from quiclab.records.qlog.events import Reader, group_name
from quiclab.records.qlog.log import Log
from quiclab.records.qlog.stated import stated
from quiclab.records.qlog.wrong import QlogError, shown

_VERSIONS = re.compile(r"0\.[34]|draft-0[012].*", re.IGNORECASE)
"""The versions that are known: stacks also write draft-02-wip and draft-02-RC1."""

_SCHEMA = "urn:ietf:params:qlog:file:"

_ENDING = re.compile(r"\.[a-z]+(?:\.gz)?$", re.IGNORECASE)

_CONNECTION_ID = re.compile(r"(?:[0-9a-f]{2}){1,20}")


def header(path: Path, document: Any, trace: Any) -> Reader:
    """The reader of a trace's events.

    :param document: the object that the trace stands in, or the record of a sequence.

    Raises one of `WRONG` for what would change the events: an unknown format or unit of times.
    """
    if not isinstance(trace, dict):
        raise QlogError("not a qlog: its first record has no trace")
    common = trace.get("common_fields") or {}
    if not isinstance(common, dict):
        raise QlogError("common_fields is not an object")
    point = trace.get("vantage_point")
    point = point if isinstance(point, dict) else {}
    group, is_of_description = _group(common, trace)
    file = _without_ending(path)
    name = file if is_of_description else shown(point.get("name") or file)
    title = shown(document.get("title") or trace.get("title") or "")
    log = Log(name, _side(point), group, title, _original(common), file)
    log.notes.extend(_version(document))
    return _reader(path, log, document, trace)


def _reader(path: Path, log: Log, document: dict[str, Any], trace: dict[str, Any]) -> Reader:
    fields, said = old.columns(trace), stated(document, trace)
    unit = said.unit or UNITS["ms"]
    log.notes += [f"{path.name}: {note}" for note in said.notes]
    clock = Clock(old.time_format(fields, said.format), said.reference, unit, said.offset)
    log.is_by_wall = clock.is_by_wall
    # Rows and other units are not of the usual form.
    is_usual = fields is None and unit == UNITS["ms"]
    return Reader(path, log, clock, old.Translator(fields, unit), is_usual)


def _without_ending(path: Path) -> str:
    """The name of a file without what says its form."""
    return _ENDING.sub("", path.name) or path.name


def _original(common: dict[str, Any]) -> str:
    """The first connection ID that the client chose for the server, which both ends know; empty if it is not said."""
    found = next((common[key] for key in ("ODCID", "odcid") if common.get(key)), "")
    return group_name(found) if found else ""


def _version(document: dict[str, Any]) -> list[str]:
    """A sentence if the version is unknown: the file is read by its form, which says more than the word."""
    version = str(document.get("qlog_version", ""))
    if _VERSIONS.fullmatch(version) or str(document.get("file_schema", "")).startswith(_SCHEMA):
        return []
    said = f"qlog_version {shown(version)!r}" if version else "no qlog_version and no file_schema"
    return [f"{said}: read by its form; known are draft-00 to draft-02, 0.3, 0.4 and {_SCHEMA}*"]


def _side(point: dict[str, Any]) -> str:
    """The end that wrote the trace; empty if it does not say."""
    side = point.get("type")
    if side == "network":
        side = point.get("flow")
    side = side.lower() if isinstance(side, str) else ""
    return side if side in ("client", "server") else ""


def _group(common: dict[str, Any], trace: dict[str, Any]) -> tuple[str, bool]:
    """What both ends' traces have in common, and whether it is the description: picoquic writes the connection ID."""
    group = next((common[key] for key in ("group_id", "ODCID", "odcid") if common.get(key)), "")
    if group:
        return group_name(group), False
    description = trace.get("description")
    if isinstance(description, str) and _CONNECTION_ID.fullmatch(description):
        return description, True
    return "", False
