"""A flow of application `video` played for real: its client and its server become gates of the same network."""

import json
import shlex
import sys
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error
from quiclab.engines.emulation import Application, Emulation
from quiclab.engines.play.browser import AVAILABLE_FROM, Order
from quiclab.engines.play.record import Record, read
from quiclab.results.scenario import Scenario
from quiclab.values import toml_text
from quiclab.values.quantities import number

PORT = 443
SERVES_WITHIN_S = 30.0
"""How long the server may take until it serves."""
_DASH = "urn:mpeg:dash:schema:mpd:2011"
_ONLY_SIMULATED: dict[str, Any] = {
    "seeks": [],
    "from": "0 s",
    "until": None,
    "pace": None,
    "chunk": None,
    "deadline": None,
}
"""Options of `video` that a real player has no like of, and what they are if they ask for nothing."""


@dataclass(frozen=True)
class Play:
    """What is played: the network with gates, and what the flow says of player and server."""

    gated: Scenario
    """The scenario with gates in the place of the flow's hosts."""
    flow: str
    client: str
    server: str
    ip: int
    """The version of IP: 4 or 6."""
    manifest: Path
    since_s: float | None
    """Live: how long it had been filmed when the player begins, in seconds."""
    dashjs: dict[str, Any]
    """Settings of dash.js."""
    transport: list[str]
    """Options of the server's transport that differ from the defaults, as `--set` takes them."""
    left_out: list[str]
    """Names of flows of the same hosts, which do not run."""


def plan(scenario: Scenario, flow: str | None = None, settings: Mapping[str, Any] | None = None) -> Play:
    """What is played of a scenario.

    :param flow: the name of a flow of application `video`; may be left out if there is one.
    :param settings: settings of dash.js that go before those that follow from the flow.
    Raises `Error` if the flow cannot be played for real.
    """
    whole = tomllib.loads(scenario.to_toml())
    videos = {one["name"]: one for one in whole.get("flow", []) if one["application"].get("type") == "video"}
    if flow is None and len(videos) != 1:
        what = f"there are {', '.join(videos)}: which one? --flow {next(iter(videos))}" if videos else "there is none"
        raise Error(f'expected one flow with application = {{ type = "video", ... }}: {what}')
    chosen = videos.get(next(iter(videos)) if flow is None else flow)
    if chosen is None:
        raise Error(f"--flow {flow}: it plays no video: expected one of {', '.join(videos) or 'none'}")
    name, application = chosen["name"], chosen["application"]
    if chosen["protocol"] != "quic" or application["over"] != "http3":
        raise Error(f'flow {name}: a real player is served over HTTP/3; expected protocol = "quic", over = "http3"')
    for option, nothing in _ONLY_SIMULATED.items():
        if application.get(option, nothing) != nothing:
            raise Error(f"flow {name}: the option {option} is for a simulated player only")
    presentation = application["presentation"]
    if presentation["type"] != "mpd":
        raise Error(
            f"flow {name}: a presentation of type {presentation['type']!r} has no pictures; expected "
            'presentation = { type = "mpd", file = "film.mpd", sizes = "film.csv" }, which `quiclab video film` makes'
        )
    ends = chosen["client"], chosen["server"]
    others = [one["name"] for one in whole["flow"] if one is not chosen and {one["client"], one["server"]} & set(ends)]
    whole["flow"] = [one for one in whole["flow"] if not {one["client"], one["server"]} & set(ends)]
    whole["node"] = [_as_gate(node) if node["name"] in ends else node for node in whole["node"]]
    plain = tomllib.loads(Scenario.from_text(_EMPTY).to_toml())["transport"]
    wanted = {**whole["transport"], **chosen.get("transport", {})}
    return Play(
        gated=Scenario.from_text(toml_text.to_toml(whole), origin="the scenario with gates"),
        flow=name,
        client=ends[0],
        server=ends[1],
        ip=chosen["ip"],
        manifest=Path(presentation["file"]),
        since_s=number(application["since"]) if "latency" in application else None,
        dashjs=_merged(_settings(name, application, Path(presentation["file"])), settings or {}),
        transport=[
            f"transport.{key}={toml_text.literal(value)}" for key, value in wanted.items() if plain.get(key) != value
        ],
        left_out=others,
    )


_EMPTY = """
[[link]]
name = "line"
from = "a"
to = "b"
both = { rate = "1 Mbit/s", delay = "1 ms" }
[[flow]]
name = "flow"
client = "a"
server = "b"
application = { type = "bulk", size = "1 B" }
"""


def _as_gate(node: Mapping[str, Any]) -> dict[str, Any]:
    if node["kind"] not in ("host", "gate"):
        raise Error(f"node {node['name']}: a {node['kind']} cannot be a gate")
    return {"name": node["name"], "kind": "gate"}


def _settings(flow: str, application: Mapping[str, Any], manifest: Path) -> dict[str, Any]:
    """The settings of dash.js that are those of the simulated player."""
    root = _parsed(manifest)
    bandwidths = [int(one.get("bandwidth", "0")) for one in root.iter(f"{{{_DASH}}}Representation")]
    longest = _longest_s(root)
    # A simulated player asks where a whole segment still has room, dash.js where the buffer is below its target.
    target = max(1.0, number(application["max_buffer"]) - longest)
    # What the simulated player does not have: rules about frames that the machine drops and about past switches, and a
    # rest of 10 s after a download was given up.
    rules = {"droppedFramesRule": {"active": False}, "switchHistoryRule": {"active": False}}
    # The audio does not adapt: it has its highest bitrate, or that of the flow.
    audio = application.get("audio_bitrate")
    initial = {"video": min(bandwidths) / 1000, "audio": _HIGHEST if audio is None else 1000 * number(audio)}
    abr: dict[str, Any] = {"initialBitrate": initial, "autoSwitchBitrate": {"audio": False}, "rules": rules}
    kind = application["abr"]["type"]
    if kind == "fixed":
        bits = round(1e6 * number(application["abr"]["bitrate"]))
        abr["autoSwitchBitrate"]["video"] = False
        initial["video"] = max([one for one in bandwidths if one <= bits] or bandwidths[:1]) / 1000
    elif kind in ("throughput", "bola"):
        rules["bolaRule" if kind == "throughput" else "throughputRule"] = {"active": False}
    elif kind != "dynamic":
        raise Error(
            f"flow {flow}: dash.js has no rate adaptation {kind!r}: expected dynamic, throughput, bola or fixed"
        )
    names = ("bufferTimeDefault", "bufferTimeAtTopQuality", "bufferTimeAtTopQualityLongForm")
    # What is in the buffer stays, as in a simulated player.
    buffer = {**dict.fromkeys(names, target), "fastSwitchEnabled": False}
    streaming: dict[str, Any] = {"abr": abr, "buffer": buffer, "abandonLoadTimeout": 1}
    if "latency" in application:
        catch_up = application["catch_up"]
        rate = {"min": -catch_up, "max": catch_up}
        streaming["delay"] = {"liveDelay": number(application["latency"])}
        streaming["liveCatchup"] = {"enabled": catch_up > 0, "mode": "liveCatchupModeDefault", "playbackRate": rate}
        if "max_drift" in application:
            streaming["liveCatchup"]["maxDrift"] = number(application["max_drift"])
        # The clock of the page is that of the manifest.
        streaming["utcSynchronization"] = {"enabled": False}
    return {"debug": {"logLevel": 0}, "streaming": streaming}


def _merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: _merged(base[key], more[key]) for key in base if isinstance(base[key], dict) and key in more}
    return {**base, **more, **both}


def _parsed(manifest: Path) -> ET.Element:
    try:
        return ET.fromstring(manifest.read_bytes())
    except (OSError, ET.ParseError) as error:
        raise Error(f"{manifest}: cannot be read: {error}") from None


def _longest_s(root: ET.Element) -> float:
    """The duration of the longest segment."""
    found = [0.0]
    for template in [*root.iter(f"{{{_DASH}}}SegmentTemplate"), *root.iter(f"{{{_DASH}}}SegmentList")]:
        scale = int(template.get("timescale", "1"))
        spans = [int(one.get("d", "0")) for one in template.iter(f"{{{_DASH}}}S")] or [
            int(template.get("duration", "0"))
        ]
        found.append(max(spans) / scale)
    return max(found)


_HIGHEST = 1e6
"""In kbit/s: more than any audio has."""


class Session:
    """The server and the player in an emulation, and what came of them.

    The process must be in namespaces of its own.
    """

    def __init__(self, play: Play, emulation: Emulation, work: Path, browser: str, dashjs: Path) -> None:
        """Starts the server, and then the player.

        :param work: a folder for what only the session needs.
        Raises `Error` if the server does not serve.
        """
        self._told = work / "told.jsonl"
        self._zero_s: float | None = None
        addresses = emulation.gates[play.server].ipv4, f"[{emulation.gates[play.server].ipv6}]"
        host = f"{addresses[0] if play.ip == 4 else addresses[1]}:{PORT}"
        ready = work / "server"
        words = [
            sys.executable,
            "-m",
            "quiclab",
            "real",
            "serve",
            str(play.manifest.parent),
            "--listen",
            host,
            "--json",
        ]
        for option in play.transport:
            words += ["--set", option]
        server = emulation.start(play.server, ["sh", "-c", f"exec {shlex.join(words)} > {shlex.quote(str(ready))}"])
        order = Order(
            browser=browser,
            dashjs=str(dashjs),
            manifest=str(_manifest(play, f"https://{host}/", work)),
            since_s=play.since_s,
            origin=f"https://{host}/",
            public_key=_public_key(server, ready),
            settings=play.dashjs,
            told=str(self._told),
        )
        order.save(work / "order.json")
        words = [sys.executable, "-m", "quiclab.engines.play.browser", str(work / "order.json")]
        self.player = emulation.start(play.client, words)

    def watching(self, status: Callable[[Mapping[str, Any]], None] | None) -> Callable[[Mapping[str, Any]], None]:
        """A function that receives the status of the emulation, and learns from it when it began."""

        def watch(now: Mapping[str, Any]) -> None:
            zero_s = time.time() - now["now_s"]
            self._zero_s = zero_s if self._zero_s is None else min(self._zero_s, zero_s)
            if status is not None:
                status(now)

        return watch

    def record(self, end_s: float) -> Record | None:
        """What the player told; None if it never began."""
        return None if self._zero_s is None else read(self._told, self._zero_s, end_s)


def _public_key(server: Application, ready: Path) -> str:
    """The hash of the server's public key, which it says when it serves."""
    assert server.process is not None
    since = time.monotonic()
    while time.monotonic() - since < SERVES_WITHIN_S and server.process.poll() is None:
        line, whole, _ = (ready.read_text(encoding="utf-8") if ready.exists() else "").partition("\n")
        if whole:
            return str(json.loads(line)["public_key"])
        time.sleep(0.02)
    raise Error("the server of the video does not start")


def _manifest(play: Play, origin: str, work: Path) -> Path:
    """A copy of the manifest whose media are at this origin; of a live presentation one that counts from a time."""
    root = _parsed(play.manifest)
    for base in root.findall(f"{{{_DASH}}}BaseURL"):
        root.remove(base)
    base = ET.Element(f"{{{_DASH}}}BaseURL")
    base.text = origin
    root.insert(0, base)
    if play.since_s is not None:
        root.set("type", "dynamic")
        root.set("availabilityStartTime", AVAILABLE_FROM)
        for template in root.iter(f"{{{_DASH}}}SegmentTemplate"):
            _equal_segments(template, play)
    copy = work / "manifest.mpd"
    ET.register_namespace("", _DASH)
    ET.ElementTree(root).write(copy, encoding="utf-8", xml_declaration=True)
    return copy


def _equal_segments(template: ET.Element, play: Play) -> None:
    """Puts the duration of the segments in the place of their list: a player then asks for none before its time."""
    lines = template.find(f"{{{_DASH}}}SegmentTimeline")
    if lines is None:
        return
    spans = [int(line.get("d", "0")) for line in lines for _ in range(int(line.get("r", "0")) + 1)]
    if len(set(spans[:-1] or spans)) > 1 or spans[-1] > spans[0]:
        raise Error(f"{play.manifest}: live playback needs segments of equal duration, except the last")
    template.remove(lines)
    template.set("duration", str(spans[0]))


def connection(play: Play, record: Record, gates: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The entry of the summary for the played flow: what is known outside of the browser and the server is left out."""
    complete = [row for row in record.segments if row["outcome"] == "complete"]
    first = min((row["first_byte_s"] for row in complete if row["first_byte_s"] is not None), default=None)
    delivered = sum(row["received_bytes"] for row in record.segments)
    ends = [row["ended_s"] for row in complete if row["ended_s"] is not None]
    last = max(ends) if record.has_ended and ends else None
    span = (record.end_s if last is None else last) - first if first is not None else 0.0
    return {
        "name": play.flow,
        "sender": "server",
        "completed": last is not None,
        "completion_s": last,
        "first_byte_s": first,
        "goodput_mbps": 8e-6 * delivered / span if span > 0 else None,
        "delivered_bytes": delivered,
        "packets_sent": gates[play.server]["entered"],
        "playback": record.numbers(),
    }
