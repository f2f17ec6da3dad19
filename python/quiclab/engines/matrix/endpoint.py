"""One end of a cell, inside of its gate: `python -m quiclab.engines.matrix.endpoint PLAN ROLE`.

Runs the command of a stack with the variables of the QUIC interop runner, and writes what became of it: ROLE.json in
the folder of the plan. The server's end makes the certificates first; the client's waits until the server listens.
"""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from quiclab._quiclab import Error
from quiclab.engines.matrix.certificates import make

PORT = 443
HOSTS = Path("/etc/hosts")
START_S = 30.0
"""How long a server may take until it listens."""
LINGER_S = 0.3
"""How long the world goes on after the client, for packets that are under way."""
PATIENCE_S = 1.0
"""How long a command has for its end once it was asked to: less than the emulation gives this process."""
EVERY_S = 0.02


def main(plan_file: str, role: str) -> int:
    """Runs the end; the exit code is 0 whatever became of the command."""
    path = Path(plan_file)
    folder, plan = path.parent, json.loads(path.read_text(encoding="utf-8"))
    address = _addresses(plan["server"]["gate"])
    names = _name(plan["server"]["gate"], address)
    if role == "server":
        try:
            make(folder / "certs", [*names, *address])
        except Error as error:
            _write(folder / "server.json", {"error": str(error)})
            return 0
    environment = {**os.environ, **_variables(plan, role, folder, address)}
    for key in [key for key in environment if key.startswith("QUICLAB_LEASH")]:
        del environment[key]
    end = _serve if role == "server" else _ask
    told = end(plan, folder, environment)
    told["addresses"] = _addresses(plan[role]["gate"])
    _write(folder / f"{role}.json", told)
    return 0


def _serve(plan: Mapping[str, Any], folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    process = _start(plan["server"]["command"], folder / "server", environment)
    ready = False
    deadline = time.monotonic() + START_S
    while not stopped and process.poll() is None:
        if not ready and (ready := _listens()):
            (folder / "ready").touch()
        if not ready and time.monotonic() > deadline:
            break
        time.sleep(EVERY_S)
    if process.poll() is not None:
        return {"exit_code": process.returncode, "ready": ready, "ended": False}
    _end(process)
    return {"exit_code": process.returncode, "ready": ready, "ended": True}


def _ask(plan: Mapping[str, Any], folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    deadline = time.monotonic() + START_S + PATIENCE_S
    while not (folder / "ready").exists():
        if (folder / "server.json").exists() or time.monotonic() > deadline:
            return {"exit_code": None, "timed_out": False, "seconds": 0.0}
        time.sleep(EVERY_S)
    start = time.monotonic()
    process = _start(plan["client"]["command"], folder / "client", environment)
    timed_out = False
    try:
        process.wait(plan["timeout_s"])
    except subprocess.TimeoutExpired:
        timed_out = True
        _end(process)
    seconds = time.monotonic() - start
    time.sleep(LINGER_S)
    return {"exit_code": process.returncode, "timed_out": timed_out, "seconds": seconds}


def _start(command: str, folder: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    with (folder / "output.txt").open("wb") as output:
        return subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a command with all that it has started: SIGTERM, and SIGKILL after a while."""
    for number, patience in ((signal.SIGTERM, PATIENCE_S), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)


def _listens() -> bool:
    """Whether somebody in this namespace has the port, by IPv4 or IPv6."""
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        if any(line.split()[1].endswith(f":{PORT:04X}") for line in lines):
            return True
    return False


def _addresses(gate: str) -> list[str]:
    name = "".join(letter if letter.isalnum() else "_" for letter in gate).upper()
    return [os.environ[f"QUICLAB_{name}{suffix}"] for suffix in ("", "_IPV6")]


def _name(gate: str, address: list[str]) -> list[str]:
    """The names of the server; `server4` and `server6` are added to those of this mount namespace."""
    names = {"server4": address[0], "server6": address[1]}
    # Of a run's own file the name is gone: what has a name is the system's, and is left alone.
    if HOSTS.exists() and HOSTS.stat().st_nlink == 0 and stat.S_ISREG(HOSTS.stat().st_mode):
        with HOSTS.open("a", encoding="utf-8") as file:
            file.write("".join(f"{ip} {name}\n" for name, ip in names.items()))
    # Some clients, told an address, ask for this name.
    return list(dict.fromkeys([*names, "server", gate, "localhost"]))


def _variables(plan: Mapping[str, Any], role: str, folder: Path, address: list[str]) -> dict[str, str]:
    """What a command is told."""
    own = folder / role
    ipv6 = plan["testcase"] == "ipv6"
    name = "server6" if ipv6 else "server4"
    found = {
        "ROLE": role,
        "TESTCASE": plan["testcase"],
        "SERVER": name,
        "IP": address[1] if ipv6 else address[0],
        "PORT": str(PORT),
        "CERTS": str(folder / "certs"),
        "LOGS": str(own),
        "SSLKEYLOGFILE": str(own / "keys.log"),
        "QLOGDIR": str(own / "qlog"),
    }
    if role == "server":
        return {**found, "WWW": plan["www"], "SERVER_PARAMS": plan["server"]["params"]}
    requests = " ".join(f"https://{name}:{PORT}/{file}" for file in plan["files"])
    return {
        **found,
        "DOWNLOADS": str(folder / "downloads"),
        "REQUESTS": requests,
        "CLIENT_PARAMS": plan["client"]["params"],
    }


def _write(path: Path, told: Mapping[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(told), encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
