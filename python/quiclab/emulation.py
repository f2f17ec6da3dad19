"""A scenario in real time: network namespaces for its gates, and applications in them.

Everything is made inside of namespaces of its own (network, mounts, processes), so that all of it is gone when the
process is, however it ended, and no packet leaves them. Linux only; as root, or where users may make namespaces.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error

if TYPE_CHECKING:
    from quiclab._quiclab import Emulator

LEASH = "QUICLAB_LEASH"
"""The variable with the descriptor whose end tells a process inside that the one outside is gone."""
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2"}
"""The programs that are needed, and the packages of Debian that have them."""
HOSTS = Path("/etc/hosts")
PATIENCE_S = 2.0
"""How long applications have for their end once they were asked to."""


def inside() -> bool:
    """Whether this process is in namespaces of its own already."""
    return LEASH in os.environ


def enter(arguments: Sequence[str], *, interactive: bool = False, program: Sequence[str] = ("-m", "quiclab")) -> int:
    """Runs `quiclab` with these arguments again in namespaces of its own; returns its exit code.

    :param program: what Python is to run instead of `quiclab`.
    :param interactive: Ctrl-C is for the application in it, and does not end it.
    Raises `Error` if that cannot be: a program is missing, or the system does not let this user make namespaces.
    """
    check_tools()
    kept, held = os.pipe()
    namespaces = _namespaces()
    if subprocess.run(["unshare", *namespaces, "true"], capture_output=True, check=False).returncode != 0:
        raise Error(
            "this user may not create namespaces here: run it as root, or allow it with the sysctl "
            "user.max_user_namespaces (and kernel.apparmor_restrict_unprivileged_userns = 0 on Ubuntu)"
        )
    environment = {**os.environ, LEASH: str(kept)}
    command = ["unshare", *namespaces, sys.executable, *program, *arguments]
    with subprocess.Popen(command, env=environment, pass_fds=[kept]) as process:
        os.close(kept)

        def let_go(number: int, frame: FrameType | None) -> None:
            nonlocal held
            if held >= 0:
                os.close(held)
                held = -1

        with _handling(signal.SIG_IGN if interactive else let_go, let_go):
            code = process.wait()
        let_go(0, None)
    return code if code >= 0 else 128 - code


def permitted() -> bool:
    """Whether all programs are there, and this user may make namespaces and open TUN devices in them."""
    try:
        check_tools()
    except Error:
        return False
    probe = ["unshare", *_namespaces(), "sh", "-c", "exec 3<>/dev/net/tun"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def _namespaces() -> list[str]:
    """What a run has of its own, as options of `unshare`."""
    options = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return options if os.geteuid() == 0 else [*options, "--map-root-user"]


@contextmanager
def _handling(on_interrupt: Any, on_terminate: Any) -> Iterator[None]:
    """Handles SIGINT and SIGTERM in these ways for a while."""
    handlers = {signal.SIGINT: on_interrupt, signal.SIGTERM: on_terminate}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_tools() -> None:
    """Raises `Error` if a program is missing."""
    if not sys.platform.startswith("linux"):
        raise Error("real packets need the network namespaces of Linux")
    paths = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/sbin", "/sbin"]
    for tool, package in TOOLS.items():
        if not any((Path(path) / tool).exists() for path in paths if path):
            raise Error(f"the program {tool} is missing: install {package}")
    if not Path("/dev/net/tun").exists():
        raise Error("there is no /dev/net/tun: the kernel has no TUN devices here, or a container hides them")


def _run(command: Sequence[str], given: str = "") -> None:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise Error(f"{shlex.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")


@dataclass
class Gate:
    """A gate with its namespace."""

    name: str
    ipv4: str
    ipv6: str
    holder: subprocess.Popen[str]
    """The process that keeps the namespace."""

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs these words in the namespace."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--", *words]


def open_gate(entry: Mapping[str, Any]) -> Gate:
    """Makes the namespace of a gate, and moves its device into it with addresses and routes."""
    holder = subprocess.Popen(
        ["unshare", "--net", "--", "sh", "-c", "echo ready; exec sleep infinity"], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    if holder.stdout.readline().strip() != "ready":
        raise Error(f"no network namespace for the gate {entry['name']}")
    ipv4, ipv6 = entry["addresses"]
    gate, device = Gate(entry["name"], ipv4, ipv6, holder), entry["device"]
    _run(["ip", "link", "set", "dev", device, "netns", str(holder.pid)])
    lines = [
        "link set dev lo up",
        f"address add {ipv4}/32 dev {device}",
        f"address add {ipv6}/128 dev {device} nodad",
        f"link set dev {device} up",
        f"route add default dev {device} src {ipv4}",
        f"-6 route add default dev {device} src {ipv6}",
    ]
    for line in lines:
        _run(gate.command(["ip", *line.split()]))
    return gate


@dataclass
class Application:
    """A command in a gate, and what became of it."""

    gate: str
    words: Sequence[str]
    code: int | None = None
    """Its exit code; None while it runs."""
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)
    was_ended: bool = False
    """Whether it still ran at the end, and was asked to end."""


class Emulation:
    """A scenario in real time. The process must be in namespaces of its own: see `enter`."""

    def __init__(self, emulator: "Emulator") -> None:
        """Makes the namespaces of the gates."""
        self.gates: dict[str, Gate] = {}
        self.applications: list[Application] = []
        self._emulator = emulator
        self._leash = int(os.environ[LEASH])
        os.set_blocking(self._leash, False)
        entries = emulator.gates()
        names = {entry["name"]: entry["addresses"] for entry in entries}
        self._has_named = _name_hosts(names)
        self._environment = {
            f"QUICLAB_{_variable(name)}{suffix}": address
            for name, addresses in names.items()
            for suffix, address in zip(("", "_IPV6"), addresses, strict=True)
        }
        try:
            for entry in entries:
                self.gates[entry["name"]] = open_gate(entry)
        except BaseException:
            self.close()
            raise

    def start(self, gate: str, words: Sequence[str], *, interactive: bool = False) -> Application:
        """Starts a command in the namespace of a gate.

        :param interactive: it has the terminal; otherwise a session of its own.
        """
        application = Application(gate, words)
        environment = {key: value for key, value in os.environ.items() if key != LEASH}
        application.process = subprocess.Popen(
            self.gates[gate].command(words),
            env={**environment, **self._environment, "QUICLAB_GATE": gate},
            start_new_session=not interactive,
        )
        self.applications.append(application)
        return application

    def run(
        self,
        *,
        status: Callable[[Mapping[str, Any]], None] | None = None,
        interactive: bool = False,
        until: str | None = None,
        **options: Any,
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Lets the world go on until all applications have ended, its duration is over, or the process is asked to end.

        :param status: told what has happened, every 50 ms.
        :param interactive: Ctrl-C is for the application, and does not end it.
        :param until: only the applications of this gate are waited for.
        :param options: those of the emulator's `run`: seed, tables, qlog, pcap.
        """
        stopped = False

        def stop(number: int, frame: FrameType | None) -> None:
            nonlocal stopped
            stopped = True

        def progress(now: Mapping[str, Any]) -> bool:
            if status is not None:
                status(now)
            for application in self.applications:
                if application.code is None and application.process is not None:
                    application.code = application.process.poll()
            awaited = [one for one in self.applications if until in (None, one.gate)]
            running = not awaited or any(one.code is None for one in awaited)
            return running and not stopped and not self._is_let_go()

        try:
            with _handling(signal.SIG_IGN if interactive else stop, stop):
                return self._emulator.run(progress=progress, **options)
        finally:
            self.close()

    def _is_let_go(self) -> bool:
        try:
            return os.read(self._leash, 1) == b""
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Ends the applications that still run, and the namespaces."""
        running = [one for one in self.applications if one.process is not None and one.process.poll() is None]
        for application in running:
            assert application.process is not None
            application.was_ended = True
            application.process.terminate()
        deadline = time.monotonic() + PATIENCE_S
        for application in self.applications:
            if application.process is None:
                continue
            try:
                application.code = application.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                application.process.kill()
                application.code = application.process.wait()
        for gate in self.gates.values():
            gate.holder.kill()
            gate.holder.wait()
        self.gates = {}
        if self._has_named:
            _run(["umount", str(HOSTS)])
            self._has_named = False


def _name_hosts(names: Mapping[str, Sequence[str]]) -> bool:
    """Gives these names to addresses, in this mount namespace alone. Returns whether it could."""
    if not HOSTS.exists():
        # There is nothing to mount over, and nobody to be asked for names.
        return False
    known = HOSTS.read_text(encoding="utf-8", errors="replace")
    ours = [f"{address} {name}\n" for name, addresses in names.items() for address in addresses]
    with tempfile.NamedTemporaryFile("w", prefix="quiclab-hosts-", encoding="utf-8") as file:
        file.write("".join(ours) + known)
        file.flush()
        Path(file.name).chmod(0o644)
        # The mount keeps the file when its name is gone.
        _run(["mount", "--bind", file.name, str(HOSTS)])
    return True


def _variable(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name).upper()
