"""Quality of experience by ITU-T P.1203: what the model is told of a playback, and its scores.

    from quiclab import p1203

    inputs = p1203.inputs(run, "film", resolutions=["640x360", "1280x720", "1920x1080"])
    print(p1203.score(inputs).mos)

The model is not part of quiclab. `score` asks the package itu-p1203, if it is installed; `inputs` works without it.
Sources: ITU-T P.1203 (10/2017), P.1203.1, P.1203.2, P.1203.3.
"""

import copy
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.values.extras import install
from quiclab.values.stored_tables import NOTE

if TYPE_CHECKING:
    from quiclab.results.run import Run

PACKAGE = "git+https://github.com/itu-p1203/itu-p1203"
"""Where pip finds the package; no registry has it. Its licence allows non-commercial research and nothing else."""

OLDEST = (1, 6)
"""The oldest usable version of the package: before it, equation 30 of P.1203.3 was missing."""

LADDER: tuple[tuple[float, str], ...] = (
    (0.0, "416x234"),
    (0.365, "640x360"),
    (0.73, "768x432"),
    (2.0, "960x540"),
    (3.0, "1280x720"),
    (6.0, "1920x1080"),
)
"""The resolution from a bitrate in Mbit/s on, where nobody says it: H.264 in Apple's HLS Authoring Specification."""

AUDIO_CODECS = ("aaclc", "heaac", "ac3", "mp2")
"""The codecs of audio that P.1203.2 knows, as the package writes them."""


@dataclass(frozen=True)
class Score:
    """The scores of a playback. All scores are from 1 (bad) to 5 (excellent); P.1203, clause 7.5."""

    mos: float
    """O.46: the quality of the whole session, with initial loading and stalls."""
    audiovisual: float
    """O.35: the quality of coding alone, over the whole session."""
    stalling: float
    """O.23: initial loading and stalls alone."""
    audiovisual_by_second: tuple[float, ...]
    """O.34: the quality of coding in each second of the media."""
    audio_by_second: tuple[float, ...]
    """O.21: that of audio; 5 throughout, or empty, where there is no audio."""
    video_by_second: tuple[float, ...]
    """O.22: that of video."""


def inputs(
    run: "Run",
    flow: str | None = None,
    *,
    resolutions: Sequence[str] | None = None,
    fps: float = 24.0,
    codec: str = "h264",
    audio_codec: str = "aaclc",
    bitrate: str = "declared",
    display: str = "1920x1080",
    device: str = "pc",
) -> dict[str, Any]:
    """The inputs of the model for a playback in mode 0: the JSON document that the package itu-p1203 reads.

    >>> run = quiclab.Scenario.from_file("examples/video.toml").run()
    >>> inputs = quiclab.p1203.inputs(run, "near")
    >>> inputs["I13"]["segments"][0]["bitrate"]
    230.0

    It has what was shown, in media time from the first picture on (P.1203, clause 7.2 and table 5): the segments of
    video (``I13``) and audio (``I11``), cut where playback began and ended, and under ``I23`` pairs of position and
    duration in seconds: first the initial loading, at 0, then each stall. (I.14 is the Recommendation's name for it.)
    Without a track of audio, ``I11`` has no segments, and the package assumes perfect audio.

    A simulated picture has no contents. What a scenario does not say is an argument:

    :param flow: the connection that plays. Default: the only one.
    :param resolutions: "WIDTHxHEIGHT" of each representation of video, by rising bitrate. Default: the option `heights`
        of the presentation; without it that of `LADDER`, by the declared bitrate.
    :param fps: frames per second of all representations. Default: 24; from there on the frame rate costs nothing.
    :param codec: of the video. The Recommendation, and so the package, has only "h264".
    :param audio_codec: one of `AUDIO_CODECS`. Default: "aaclc".
    :param bitrate: "declared": of the representation, as the Recommendation has it (table 5, row 11). "segment": the
        bytes of each segment by its duration.
    :param display: "WIDTHxHEIGHT" of the screen. Default: that for which the model was made.
    :param device: "pc" (also a television, 24 to 100 inches) or "mobile" (up to 10 inches); clause 7.1.

    Raises `quiclab.Error` if the flow plays nothing, has no video, never showed a second of it, or jumps: seeks are
    outside the Recommendation (clause 7.3). Also if a table of the run is missing or not complete.
    """
    _check(resolutions, fps, audio_codec, bitrate, display, device)
    name = _player(run, flow)
    shown = _Shown(run, name)
    sizes = list(resolutions) if resolutions is not None else _heights(run, name)
    video = []
    for span in shown.track("video"):
        entry = _segment(span, codec, bitrate)
        video.append({**entry, "resolution": _resolution(name, span.row, sizes), "fps": fps})
    if not video:
        raise Error(
            f"quiclab.p1203: flow {name!r} shows no video: the Recommendation rates video with or without audio"
        )
    return {
        "IGen": {"displaySize": display, "device": device},
        "I11": {"streamId": 0, "segments": [_segment(span, audio_codec, bitrate) for span in shown.track("audio")]},
        "I13": {"streamId": 0, "segments": video},
        "I23": {"streamId": 0, "stalling": shown.stalling()},
    }


def score(inputs: Mapping[str, Any]) -> Score:
    """The scores of a playback, computed by the installed package itu-p1203.

    :param inputs: from `inputs`, or of the same form; it is not changed.

    Raises `quiclab.Error` if the package is not installed, is too old, or refuses the inputs.
    """
    package = _package()
    try:
        model = package.P1203Standalone(copy.deepcopy(dict(inputs)), quiet=True)
        result = model.calculate_complete(print_intermediate=True)
        found = {name: result[name] for name in ("O46", "O35", "O23", "O34", "O21", "O22")}
        numbers = {name: float(found[name]) for name in ("O46", "O35", "O23")}
        series = {name: tuple(float(value) for value in found[name]) for name in ("O34", "O21", "O22")}
    # The package raises whatever its arithmetic does, and SystemExit for empty frames.
    except (Exception, SystemExit) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Error(f"quiclab.p1203: itu-p1203 refuses the inputs: {type(error).__name__}: {reason}") from error
    return Score(numbers["O46"], numbers["O35"], numbers["O23"], series["O34"], series["O21"], series["O22"])


@dataclass(frozen=True)
class _Span:
    """What was shown of a segment: its row of the table `segment`, and seconds from the first picture on."""

    row: dict[str, Any]
    start_s: float
    duration_s: float


class _Shown:
    """What a playback showed."""

    def __init__(self, run: "Run", name: str) -> None:
        self._segments = [row for row in _rows(run, "segment", name) if row["segment"] is not None]
        self._events = _rows(run, "playback", name)
        self._start_up_s = _entries(run)[name]["start_up_s"]
        begins = next((event for event in self._events if event["event"] == "start"), None)
        if self._start_up_s is None or begins is None:
            raise Error(f"quiclab.p1203: flow {name!r} never showed a picture")
        if any(event["event"] == "seek" for event in self._events):
            raise Error(f"quiclab.p1203: flow {name!r} jumps in the media: the Recommendation has no seeks")
        self._from_s = begins["position_s"]
        ends = next((event["time_s"] for event in self._events if event["event"] == "end"), run.summary["duration_s"])
        self._ends_s = float(ends)
        self._shown_s = self._position(self._ends_s) - self._from_s
        if self._shown_s < 1:
            raise Error(f"quiclab.p1203: flow {name!r} showed {self._shown_s:.3g} s: the model scores whole seconds")

    def track(self, kind: str) -> list[_Span]:
        """The segments of a track that were shown, in order, the first and the last one as far as they were."""
        spans: list[_Span] = []
        start = 0.0
        rows = [row for row in self._segments if row["kind"] == kind and row["outcome"] == "complete"]
        for row in sorted(rows, key=lambda row: int(row["segment"])):
            # When its last byte came, all of the segment was in the buffer.
            end = self._position(row["ended_s"]) + row["buffer_after_s"] - self._from_s
            cut = _cut(row["duration_s"] - end) + _cut(end - self._shown_s)
            duration = round(row["duration_s"] - cut, 6)
            if duration > 0:
                spans.append(_Span(row, round(start, 6), duration))
                start += duration
        return spans

    def stalling(self) -> list[list[float]]:
        """Positions in the media and durations, in seconds: the initial loading and each stall."""
        found = [[0.0, float(self._start_up_s)]]
        for at, event in enumerate(self._events):
            if event["event"] == "stall":
                after = self._events[at + 1]["time_s"] if at + 1 < len(self._events) else self._ends_s
                found.append([round(event["position_s"] - self._from_s, 6), round(after - event["time_s"], 6)])
        return found

    def _position(self, time_s: float) -> float:
        """The position in the media at a time, in seconds; before the first picture that of the first picture."""
        last = None
        for event in self._events:
            if event["time_s"] <= time_s:
                last = event
        if last is None:
            return float(self._from_s)
        return float(last["position_s"] + last["playback_rate"] * (time_s - last["time_s"]))


def _cut(seconds: float) -> float:
    """What is missing of a segment. Times of the tables are rounded, and a frame must not be lost by that."""
    return seconds if seconds > 1e-4 else 0.0


def _segment(span: _Span, codec: str, bitrate: str) -> dict[str, Any]:
    row = span.row
    mbps = row["bitrate_mbps"] if bitrate == "declared" else row["size_bytes"] * 8e-6 / row["duration_s"]
    return {
        "codec": codec,
        "start": span.start_s,
        "duration": span.duration_s,
        "bitrate": round(mbps * 1000, 3),
        "representation": row["representation"],
    }


def _resolution(name: str, row: dict[str, Any], sizes: Sequence[str] | None) -> str:
    if sizes is None:
        return next(size for above, size in reversed(LADDER) if float(row["bitrate_mbps"]) >= above)
    at = int(row["representation"])
    if at >= len(sizes):
        raise Error(f"quiclab.p1203: {len(sizes)} resolutions: flow {name!r} shows representation {at}, counted from 0")
    return sizes[at]


def _heights(run: "Run", name: str) -> list[str] | None:
    """The resolutions that the scenario gives: 16/9 of the heights, rounded to an even number."""
    flows = run._document.get("flow", [])
    # Later visits of a flow have a number behind its name.
    names = (name, name.rpartition("#")[0])
    application = next((flow.get("application") for flow in flows if flow.get("name") in names), None)
    presentation = application.get("presentation") if isinstance(application, dict) else None
    heights = presentation.get("heights") if isinstance(presentation, dict) else None
    if not heights:
        return None
    return [f"{max((height * 8 + 4) // 9 * 2, 2)}x{height}" for height in heights]


def _entries(run: "Run") -> dict[str, dict[str, Any]]:
    """The playbacks of a summary, by connection."""
    connections = run.summary.get("connections") or []
    return {connection["name"]: connection["playback"] for connection in connections if connection.get("playback")}


def _player(run: "Run", flow: str | None) -> str:
    names = list(_entries(run))
    if not names:
        raise Error("quiclab.p1203: the run plays no video")
    if flow is None:
        if len(names) > 1:
            raise Error(f"quiclab.p1203: which of the flows: {', '.join(names)}?")
        return names[0]
    if flow not in names:
        raise Error(f"quiclab.p1203: no flow {flow!r} that plays a video: {', '.join(names)}")
    return flow


def _rows(run: "Run", table: str, name: str) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    rows = run.table(table)
    if NOTE in (rows.schema.metadata or {}):
        raise Error(f"quiclab.p1203: the table {table} is not complete: record.rows is too low")
    found: list[dict[str, Any]] = rows.filter(pc.equal(rows["connection"].cast("string"), name)).to_pylist()
    return found


def _package() -> Any:
    try:
        package = importlib.import_module("itu_p1203")
    except ModuleNotFoundError as error:
        if error.name != "itu_p1203":
            raise Error(f"quiclab.p1203: the package itu-p1203 cannot be imported: {error}") from error
        raise Error(f"quiclab.p1203: the package itu-p1203 is not installed: {install(PACKAGE)}") from error
    version = str(getattr(package, "__version__", ""))
    parts = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    if len(parts) == 2 and tuple(parts) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise Error(f"quiclab.p1203: itu-p1203 {version} is too old, {oldest} or later is needed: {install(PACKAGE)}")
    return package


def _check(
    resolutions: Sequence[str] | None, fps: float, audio_codec: str, bitrate: str, display: str, device: str
) -> None:
    if isinstance(resolutions, str):
        raise Error(
            f"quiclab.p1203: resolutions: expected a list, with one for each representation, not {resolutions!r}"
        )
    for what, size in [("display", display), *(("resolutions", size) for size in resolutions or ())]:
        width, _, height = str(size).partition("x")
        if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
            raise Error(f"quiclab.p1203: {what}: expected WIDTHxHEIGHT as in '1280x720', not {size!r}")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 1000:
        raise Error(f"quiclab.p1203: fps: expected frames per second above 0 and below 1000, not {fps!r}")
    words: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("audio_codec", audio_codec, AUDIO_CODECS),
        ("bitrate", bitrate, ("declared", "segment")),
        ("device", device, ("pc", "mobile")),
    )
    for what, word, known in words:
        if word not in known:
            raise Error(f"quiclab.p1203: {what}: expected one of {', '.join(known)}, not {word!r}")
