"""`quiclab video qoe FOLDER`: the quality of experience of the players of a run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.results.numbers import arranged, of_playback

with late():
    import quiclab.explanations.video_quality as video_quality


if TYPE_CHECKING:
    from quiclab import Run

_NUMBERS = ("qoe_lin", "qoe_log", "qoe_hd")


def qoe(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A run's folder.", show_default=False, autocompletion=completions.folders
        ),
    ],
    p1203: Annotated[bool, typer.Option("--p1203", help="Also ITU-T P.1203; needs the package itu-p1203.")] = False,
    inputs: Annotated[bool, typer.Option("--inputs", help="Print the inputs of P.1203 as JSON.")] = False,
    connection: Annotated[
        str | None, typer.Option(help="Only this connection. Default: all that play a video.", show_default=False)
    ] = None,
    resolutions: Annotated[
        str | None,
        typer.Option(
            metavar="WxH,...",
            help="P.1203: of each representation. Default: as the scenario says.",
            show_default=False,
        ),
    ] = None,
    fps: Annotated[float, typer.Option(help="P.1203: frames per second.")] = 24.0,
    device: Annotated[str, typer.Option(metavar="pc|mobile", help="P.1203: the screen.")] = "pc",
    as_json: Json = False,
) -> None:
    """Quality of experience of each player of a run: the linear QoE of the literature, and scores of ITU-T P.1203.

    Example: quiclab video qoe runs/video-seed1

    The linear QoE is per segment (docs/model/abr.md). The scores, from 1 to 5, are those of mode 0: what a
    scenario does not say is assumed, such as resolutions by bitrate.
    """
    result = quiclab.load(run)
    result._check()
    playbacks = _playbacks(result)
    if connection is not None:
        if connection not in playbacks:
            raise Error(f"--connection {connection}: it plays no video: {', '.join(playbacks) or 'none does'}")
        playbacks = {connection: playbacks[connection]}
    if not playbacks:
        raise Error(f"{run}: no connection plays a video")
    told: dict[str, dict[str, Any]] = {}
    sizes = None if resolutions is None else [size.strip() for size in resolutions.split(",")]
    if p1203 or inputs:
        for name in playbacks:
            told[name] = video_quality.inputs(result, name, resolutions=sizes, fps=fps, device=device)
    if inputs:
        echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    scores = {name: video_quality.score(one) for name, one in told.items()}
    if as_json:
        found = []
        for name, playback in playbacks.items():
            entry: dict[str, Any] = {"name": name, **{key: playback[key] for key in _NUMBERS}}
            if name in scores:
                one = scores[name]
                entry["p1203"] = {"mos": one.mos, "audiovisual": one.audiovisual, "stalling": one.stalling}
            found.append(entry)
        echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    _print(result, playbacks, scores)


def _playbacks(run: "Run") -> dict[str, dict[str, Any]]:
    connections = run.summary.get("connections") or []
    return {connection["name"]: connection["playback"] for connection in connections if connection.get("playback")}


def _print(run: "Run", playbacks: dict[str, dict[str, Any]], scores: dict[str, Any]) -> None:
    from rich.console import Console

    rows: dict[str, list[str]] = {}
    for name, playback in playbacks.items():
        shown = of_playback(playback)
        for title, key in (("QoE (log) per segment", "qoe_log"), ("QoE (hd) per segment", "qoe_hd")):
            shown[title] = "-" if playback[key] is None else f"{playback[key]:,.3f}"
        if name in scores:
            shown["P.1203 session (O.46)"] = f"{scores[name].mos:.2f}"
            shown["P.1203 coding (O.35)"] = f"{scores[name].audiovisual:.2f}"
            shown["P.1203 stalling (O.23)"] = f"{scores[name].stalling:.2f}"
        for title, text in shown.items():
            rows.setdefault(title, []).append(text)
    # A number that not all have, such as the latency of live presentations, is left out.
    whole = [(title, texts) for title, texts in rows.items() if len(texts) == len(playbacks)]
    console = Console(highlight=False)
    title = f"{run.summary.get('scenario')}, seed {run.summary.get('seed')}"
    for table in arranged(title, list(playbacks), whole, console.width):
        console.print(table)
