"""`quiclab dev script FILE...`: packet-level script tests of the endpoint."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from quiclab._quiclab import Error, ScriptError, run_script
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo
from quiclab.values import regular_files
from quiclab.values.plain_text import plain


def script(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Scripts, or folders of them (*.quic).", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Run packet-level scripts against the endpoint, in virtual time.

    Example: quiclab dev script tests/scripts/pto

    A script says which packets arrive at the endpoint and when, what its application does, and which packets the
    endpoint must send, when, and with which frames. If one fails, both traces are shown side by side at the first
    difference. The language is described in docs/scripts.md.

    The exit code is 0 if all pass, 1 if one fails, and 2 if one is not a valid script.
    """
    results = []
    for file in _found(files):
        results.append(_run(file))
        if not as_json:
            _tell(results[-1])
    failed = [result for result in results if not result["passed"]]
    if as_json:
        echo(json.dumps({"passed": not failed, "scripts": results}, indent=2))
    else:
        packets = sum(result.get("packets", 0) for result in results)
        echo(f"{len(results) - len(failed)} of {len(results)} scripts pass, {packets} packets compared")
    mistakes = [result["error"] for result in failed if "error" in result]
    if mistakes:
        more = f" (and {len(mistakes) - 1} more with a mistake)" if len(mistakes) > 1 else ""
        raise Error(mistakes[0] + more)
    if failed:
        raise typer.Exit(1)


def _tell(result: dict[str, Any]) -> None:
    word = "pass " if result["passed"] else "error" if "error" in result else "FAIL "
    echo(f"{word}  {plain(result['file'])}")
    if "report" in result:
        echo(result["report"])


def _found(files: list[Path]) -> list[Path]:
    """The scripts, each once: those that were named, and those below the folders that were."""
    found: dict[Path, None] = {}
    for file in files:
        if file.is_dir():
            below = sorted(file.rglob("*.quic"))
            if not below:
                raise Error(f"{file}: no script (*.quic) in this folder")
            found.update(dict.fromkeys(below))
        else:
            found[file] = None
    return list(found)


def _run(file: Path) -> dict[str, Any]:
    """The verdict on one script; a mistake in it is its `error`."""
    told: dict[str, Any] = {"file": str(file)}
    try:
        told |= run_script(str(file), regular_files.text(file))
    except (OSError, ValueError) as error:
        told |= {"passed": False, "error": f"{file}: {regular_files.reason(error)}"}
    except ScriptError as error:
        told |= {"passed": False, "error": str(error)}
    return told
