"""`quiclab emulate FILE`: a scenario in real time, with real packets at its gates."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import quiclab
from quiclab import _quiclab
from quiclab.commands.arguments import Json, ScenarioFile, Sets
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values import folders
from quiclab.values.plain_text import plain

with late():
    import quiclab.engines.emulation as emulations


if TYPE_CHECKING:
    from quiclab._quiclab import Emulator
    from quiclab.engines.emulation import Emulation
    from quiclab.results.scenario import Scenario


def emulate(
    file: ScenarioFile,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="After --: a command for the only gate.", show_default=False),
    ] = None,
    in_: Annotated[
        list[str] | None,
        typer.Option("--in", metavar="GATE=COMMAND", help="A command line in a gate.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's own seed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run folder. Default: runs/NAME-seedN."),
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Write a capture of the packets at the gates.")] = False,
    qlog: Annotated[
        bool, typer.Option("--qlog", help="Write a qlog for each end of each simulated connection.")
    ] = False,
    pcap_at: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="Also capture what reaches this node.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="GATE", help="End with the commands of this gate.", show_default=False),
    ] = None,
    max_lateness: Annotated[
        float | None,
        typer.Option(metavar="MS", min=0.0, help="Exit code 3 if 1 % of events are later.", show_default=False),
    ] = None,
    set_: Sets = None,
    as_json: Json = False,
) -> None:
    """Run a scenario in real time, with real applications at its gates.

    Example: quiclab emulate examples/gates.toml --in phone="ping -c 3 server"

    Each node with kind = "gate" gets a network namespace, in which the commands run. They reach the other gates by
    name. The run ends with the last command (or that of --until), with the scenario's duration, or with Ctrl-C. The
    exit code is that of the command that failed first.
    """
    if not emulations.inside():
        raise typer.Exit(emulations.enter(sys.argv[1:]))
    captured = pcap_at or ()
    more: dict[str, Any] = {"until": until, "qlog": qlog, "captured": captured}
    _emulate(
        file, _commands(command, in_), seed, out, pcap or bool(captured), max_lateness, set_ or (), as_json, **more
    )


def shell(
    file: ScenarioFile,
    gate: Annotated[str, typer.Argument(help="The gate: a node of the scenario.")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's own seed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run folder. Default: runs/NAME-seedN."),
    ] = None,
    set_: Sets = None,
) -> None:
    """Open a shell in a gate of a scenario that runs in real time. The run ends with the shell.

    Example: quiclab real shell examples/gates.toml phone
    """
    if not emulations.inside():
        raise typer.Exit(emulations.enter(sys.argv[1:], interactive=True))
    words = [os.environ.get("SHELL") or "/bin/sh"]
    _emulate(file, [(gate, words)], seed, out, False, None, set_ or (), False, interactive=True)


def _commands(command: Sequence[str] | None, in_: Sequence[str] | None) -> list[tuple[str | None, list[str]]]:
    commands: list[tuple[str | None, list[str]]] = []
    for text in in_ or ():
        gate, equals, words = text.partition("=")
        if not equals or not words.strip():
            raise typer.BadParameter(
                f"{text!r} is not a command in a gate; expected GATE=COMMAND, like phone=COMMAND", param_hint="--in"
            )
        commands.append((gate, ["sh", "-c", words]))
    if command:
        commands.append((None, list(command)))
    return commands


def _emulate(
    file: Path,
    commands: Sequence[tuple[str | None, list[str]]],
    seed: int | None,
    out: Path | None,
    pcap: bool,
    max_lateness: float | None,
    sets: Sequence[str],
    as_json: bool,
    *,
    interactive: bool = False,
    until: str | None = None,
    qlog: bool = False,
    captured: Sequence[str] = (),
) -> None:
    scenario = quiclab.Scenario.from_file(file, sets)
    if seed is not None:
        scenario = scenario.with_(seed=seed)
    emulator = emulator_of(scenario)
    gates = [entry["name"] for entry in emulator.gates()]
    placed = []
    for gate, words in commands:
        if gate is None and len(gates) > 1:
            raise _quiclab.Error(f"several gates ({', '.join(gates)}): which one? --in {gates[0]}={shlex.join(words)}")
        if gate is not None and gate not in gates:
            raise _quiclab.Error(f"no gate {gate!r}: expected one of {', '.join(gates)}")
        placed.append((gate or gates[0], words))
    if until is not None and until not in [gate for gate, _ in placed]:
        raise _quiclab.Error(f"--until {until}: no command runs in a gate of this name")
    names = folders.numbered(scenario.name, scenario.seed) if out is None else folders.only(out)
    with folders.complete(names) as (path, place):
        emulation = emulations.Emulation(emulator, interactive=interactive)
        for gate, words in placed:
            emulation.start(gate, words)
        capture = path / folders.CAPTURE if pcap else None
        counters = Counters(gates) if sys.stderr.isatty() and not (as_json or interactive) else None
        options = {"pcap": capture, "pcap_at": list(captured), "qlog": path if qlog else None}
        summary, results, status = emulation.run(status=counters, until=until, **options)
        if counters is not None:
            counters.clear()
        whole = json.loads(summary)
        whole["emulation"] = summary_of(emulation, gates, status)
        run = quiclab.Run(whole, scenario, {table.name: table for table in results})
        run._write(path, figure=bool(whole["connections"]))
    if as_json:
        echo(json.dumps({"folder": str(place.final), **whole}, indent=2))
    else:
        assert place.final is not None, "the folder is complete"
        show(whole["emulation"], place.final)
        for note in run.notes:
            echo(f"note: {plain(note)}", err=True)
    warn_if_late(status["lateness"], status["tolerance_us"])
    raise typer.Exit(_code(emulation.applications, status["lateness"], max_lateness, until))


def emulator_of(scenario: "Scenario") -> "Emulator":
    """The devices of a scenario's gates. Raises `Error` without the right to make them."""
    try:
        return _quiclab.Emulator(scenario._inner)
    except PermissionError as error:
        raise _quiclab.Error(f"{error}: run it as root, or where users may make namespaces") from None


def summary_of(emulation: "Emulation", gates: Sequence[str], status: Mapping[str, Any]) -> dict[str, Any]:
    """The entry `emulation` of a summary."""
    return {
        "gates": dict(zip(gates, status["gates"], strict=True)),
        "network": status["network"],
        "lateness": status["lateness"],
        "tolerance_us": status["tolerance_us"],
        "commands": [
            {"gate": one.gate, "command": shlex.join(one.words), "exit_code": one.code}
            for one in emulation.applications
        ],
    }


class Counters:
    """A line on the terminal with the traffic at the gates."""

    EVERY_S = 0.5

    def __init__(self, gates: Sequence[str]) -> None:
        self._gates = gates
        self._last: tuple[float, list[tuple[int, int]]] = (0.0, [(0, 0)] * len(gates))

    def __call__(self, status: Mapping[str, Any]) -> None:
        """Shows it, at most twice a second."""
        before, counted = self._last
        span = status["now_s"] - before
        if span < self.EVERY_S:
            return
        now = [(gate["entered_bytes"], gate["left_bytes"]) for gate in status["gates"]]
        rates = []
        for name, gate, earlier in zip(self._gates, now, counted, strict=True):
            entered, left = (8e-6 * (count - before) / span for count, before in zip(gate, earlier, strict=True))
            rates.append(f"{name} in {entered:.1f} out {left:.1f} Mbit/s")
        late = status["lateness"]["p99_us"] / 1000
        line = f"{status['now_s']:.0f} s  {'  '.join(rates)}  late {late:.2f} ms for 1 %"
        width = shutil.get_terminal_size().columns
        print(f"\r\x1b[K{line[: width - 1]}", end="", file=sys.stderr, flush=True)
        self._last = (status["now_s"], now)

    def clear(self) -> None:
        """Removes the line."""
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def show(emulation: Mapping[str, Any], folder: Path) -> None:
    """Prints what passed the gates, how late the run was, and where the results are."""
    for name, counts in emulation["gates"].items():
        words = [f"in {counts['entered']:,} packets ({counts['entered_bytes'] / 1e6:,.1f} MB)"]
        words.append(f"out {counts['left']:,} ({counts['left_bytes'] / 1e6:,.1f} MB)")
        words += [
            f"{what.replace('_', ' ')} {counts[what]:,}"
            for what in ("altered", "overflowed", "unreadable", "not_sent")
            if counts[what]
        ]
        echo(f"gate {name}: {', '.join(words)}", err=True)
        if counts["device_deleted"]:
            echo(f"warning: a command deleted the device of gate {name}: nothing passed it from then on", err=True)
    words = [f"{what.replace('_', ' ')} {count:,}" for what, count in emulation["network"].items() if count]
    if words:
        echo(f"network: {', '.join(words)}", err=True)
    late = emulation["lateness"]
    quantiles = [f"{late['median_us']:.0f} us median", f"{late['p99_us']:.0f} us at the 99th percentile"]
    echo(f"late: {', '.join(quantiles)}, {late['max_us']:.0f} us at most", err=True)
    echo(f"folder: {plain(folder)}", err=True)


def warn_if_late(late: Mapping[str, float], tolerance_us: float) -> None:
    """Says on the error stream that the machine was too slow for the scenario, if it was."""
    if late["p99_us"] > tolerance_us:
        limit = f"{tolerance_us / 1000:g} ms distorts the results"
        text = f"1 % of events were {late['p99_us'] / 1000:.1f} ms late or more, and {limit}"
        echo(f"warning: the machine is too slow: {text}; the table lateness has the details", err=True)


def _code(applications: Sequence[Any], late: Mapping[str, float], max_lateness: float | None, until: str | None) -> int:
    """The exit code: that of the command that failed first.

    What ran on in another gate until the commands of the gate `until` had ended has not failed.
    """
    for application in sorted(applications, key=lambda one: one.ended_s):
        ran_on = until is not None and application.gate != until and application.was_ended
        if application.code and not ran_on:
            return 128 - application.code if application.code < 0 else int(application.code)
    if max_lateness is not None and late["p99_us"] > 1000 * max_lateness:
        echo(f"too late: 1 % of events were late by more than {max_lateness:g} ms", err=True)
        return 3
    return 0
