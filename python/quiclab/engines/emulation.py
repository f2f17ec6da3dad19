"""A scenario in real time: network namespaces for its gates, and applications in them.

Everything is made inside of namespaces of its own (network, mounts, processes), so that all of it is gone when the
process is, however it ended, and no packet leaves them. Linux only; as root, or where users may make namespaces.
"""

import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.values import signals

if TYPE_CHECKING:
    from quiclab._quiclab import Emulator

LEASH = "QUICLAB_LEASH"
"""The variable with the descriptor by which the process outside ends the one inside: a byte for a signal, or EOF."""
TERMINAL = "QUICLAB_TERMINAL"
"""The variable that says to the process inside that it may give the terminal to a shell."""
OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Those that a shell in a gate handles itself."""
SHIELD = ("sh", "-c", f"trap '' {' '.join(str(int(number)) for number in signals.ENDING)}; exec \"$@\"", "sh")
"""The beginning of a command for a process that the signals that end a run do not end."""
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2"}
"""The programs that are needed, and the packages of Debian that have them."""
HOSTS = Path("/etc/hosts")
_LOOK_S = 0.5
"""How often the process outside looks for signals."""
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

    def end(number: int, frame: FrameType | None) -> None:
        # It may just have ended.
        with suppress(BrokenPipeError):
            os.write(held, b".")

    # A signal to the process group reaches this process alone, which passes it on: the others have a session of their
    # own, unless the application inside needs the terminal of this one.
    handle(end, interactive=interactive)
    namespaces = _namespaces()
    probe = ["unshare", *namespaces, "true"]
    probed = subprocess.run(probe, capture_output=True, start_new_session=True, check=False).returncode
    if probed < 0:
        # A signal to the group came before the probe had its session.
        return 128 - probed
    if probed != 0:
        raise Error(
            "this user may not create namespaces here: run it as root, or allow it with the sysctl "
            "user.max_user_namespaces (and kernel.apparmor_restrict_unprivileged_userns = 0 on Ubuntu)"
        )
    has_terminal = interactive and _is_in_foreground()
    environment = {**os.environ, LEASH: str(kept), **({TERMINAL: "1"} if has_terminal else {})}
    command = [*SHIELD, "unshare", *namespaces, sys.executable, *program, *arguments]
    with subprocess.Popen(command, env=environment, pass_fds=[kept], start_new_session=not interactive) as process:
        os.close(kept)
        code = None
        while code is None:
            # A signal just before a wait without a limit would be handled after it, when the run is over.
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=_LOOK_S)
    if has_terminal:
        with suppress(OSError):
            _give_terminal_to(os.getpgrp())
    return code if code >= 0 else 128 - code


def _is_in_foreground() -> bool:
    """Whether standard input is the terminal of this process group, which then gets its Ctrl-C."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _give_terminal_to(group: int) -> None:
    """Makes a process group that of the foreground, also from the background."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, group)
    signal.signal(signal.SIGTTOU, before)


def _take_terminal() -> None:
    """Of a new process: a group of its own that has the terminal.

    The group that had it is outside of the process namespace, so that a shell could not give it back at its end.
    """
    os.setpgid(0, 0)
    _give_terminal_to(os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)


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


def handle(end: signals.Handler, *, interactive: bool) -> None:
    """Lets `end` handle the signals that end a run, from now on.

    Those of the terminal do nothing if a shell has it. A function that does nothing, and not `SIG_IGN`, which the
    shell would inherit. What was ignored at the beginning ends nothing; inside, all are, by `SHIELD`.
    """

    def heeded(number: int, frame: FrameType | None) -> None:
        if not (interactive and number in OF_THE_TERMINAL):
            end(number, frame)

    if not inside():
        signals.heed(heeded)
        return
    for number in signals.ENDING:
        signal.signal(number, heeded)


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
    # A session of its own, so that Ctrl-C does not interrupt it.
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, env=environment, start_new_session=True, check=False
    )
    if done.returncode != 0:
        raise Error(f"{shlex.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")


def _go_first(does: bool) -> None:
    """Lets the calling thread run before all ordinary ones (`SCHED_FIFO`), or no longer.

    A packet then waits for no other program. Only where this user may, and where others have another processor.
    """
    if len(os.sched_getaffinity(0)) > 1:
        policy, priority = (os.SCHED_FIFO, 1) if does else (os.SCHED_OTHER, 0)
        with suppress(OSError):
            os.sched_setscheduler(0, policy, os.sched_param(priority))


@dataclass
class Gate:
    """A gate with its namespace."""

    name: str
    ipv4: str
    ipv6: str
    space: int
    """The descriptor that keeps the namespace: a process for that could be killed by commands in any gate."""

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs these words in the namespace."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self.space}", "--", *words]


def open_gate(entry: Mapping[str, Any]) -> Gate:
    """Makes the namespace of a gate, and moves its device into it with addresses and routes."""
    # In a session of its own: what ends a process group leaves it alone.
    maker = subprocess.Popen(
        ["unshare", "--net", "--", "sh", "-c", "echo ready; read end"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with maker:
        assert maker.stdout is not None
        if maker.stdout.readline().strip() != "ready":
            raise Error(f"no network namespace for the gate {entry['name']}")
        _run(["ip", "link", "set", "dev", entry["device"], "netns", str(maker.pid)])
        space = os.open(f"/proc/{maker.pid}/ns/net", os.O_RDONLY)
    ipv4, ipv6 = entry["addresses"]
    gate, device = Gate(entry["name"], ipv4, ipv6, space), entry["device"]
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
    ended_s: float = math.inf
    """When that was seen, on the monotonic clock; infinite for one that ran until the end."""


class Emulation:
    """A scenario in real time. The process must be in namespaces of its own: see `enter`."""

    def __init__(self, emulator: "Emulator", *, interactive: bool = False) -> None:
        """Makes the namespaces of the gates. From now on, signals end the run and not the process.

        :param interactive: the applications have the terminal; Ctrl-C is for them, and does not end the run.
        """
        self.gates: dict[str, Gate] = {}
        self._interactive = interactive
        self._requests = 0
        """How often the run was asked to end."""
        handle(self._request, interactive=interactive)
        self._has_terminal = interactive and TERMINAL in os.environ
        if self._has_terminal:
            # The shell is in the foreground, and what is told at the end is told from behind it.
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self.applications: list[Application] = []
        self._emulator = emulator
        self._leash = int(os.environ[LEASH])
        os.set_blocking(self._leash, False)
        entries = emulator.gates()
        names = {entry["name"]: entry["addresses"] for entry in entries}
        self._has_named = _name_hosts(emulator.names())
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

    def start(self, gate: str, words: Sequence[str]) -> Application:
        """Starts a command in the namespace of a gate: with the terminal, or in a session of its own."""
        application = Application(gate, words)
        environment = {key: value for key, value in os.environ.items() if key not in (LEASH, TERMINAL)}
        application.process = subprocess.Popen(
            self.gates[gate].command(words),
            env={**environment, **self._environment, "QUICLAB_GATE": gate},
            start_new_session=not self._interactive,
            preexec_fn=_take_terminal if self._has_terminal else None,
        )
        self.applications.append(application)
        return application

    def run(
        self, *, status: Callable[[Mapping[str, Any]], None] | None = None, until: str | None = None, **options: Any
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Lets the world go on until all applications have ended, its duration is over, or the process is asked to end.

        :param status: told what has happened, every 50 ms.
        :param until: only the applications of this gate are waited for.
        :param options: those of the emulator's `run`: seed, tables, qlog, pcap.
        """

        def progress(now: Mapping[str, Any]) -> bool:
            _go_first(False)
            if status is not None:
                status(now)
            for application in self.applications:
                if application.code is None and application.process is not None:
                    if self._has_terminal:
                        _continue(application.process.pid)
                    application.code = application.process.poll()
                    application.ended_s = math.inf if application.code is None else time.monotonic()
            awaited = [one for one in self.applications if until in (None, one.gate)]
            running = not awaited or any(one.code is None for one in awaited)
            return running and self.requests() == 0

        # The thread of the world inherits this from the calling one, which gives it up at the first report.
        _go_first(True)
        try:
            return self._emulator.run(progress=progress, **options)
        finally:
            _go_first(False)
            self.close()

    def _request(self, number: int, frame: FrameType | None) -> None:
        self._requests += 1

    def requests(self) -> int:
        """How often the run was asked to end: by signals to this process or the one outside, or by the end of that."""
        with suppress(BlockingIOError):
            asked = os.read(self._leash, 64)
            self._requests = self._requests + len(asked) if asked else max(self._requests, 1)
        return self._requests

    def close(self) -> None:
        """Ends the applications that still run, and the namespaces. A second request to end leaves no more time."""
        running = [one for one in self.applications if one.process is not None and one.process.poll() is None]
        for application in running:
            assert application.process is not None
            application.was_ended = True
            # An interactive shell ignores SIGTERM.
            application.process.send_signal(signal.SIGHUP if self._interactive else signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.requests() < 2:
            if all(one.process is None or one.process.poll() is not None for one in running):
                break
            time.sleep(0.01)
        for application in self.applications:
            if application.process is not None:
                application.process.kill()
                application.code = application.process.wait()
        for gate in self.gates.values():
            os.close(gate.space)
        self.gates = {}
        if self._has_named:
            # A command may have done so: there is no other mount namespace for it.
            with suppress(Error):
                _run(["umount", str(HOSTS)])
            self._has_named = False


def _continue(group: int) -> None:
    """Lets a process group with the terminal go on if its leader was stopped: nobody else could."""
    # One that has ended cannot be stopped any more, and then there is nothing to wait for.
    with suppress(ChildProcessError, ProcessLookupError):
        if os.waitid(os.P_PID, group, os.WSTOPPED | os.WNOHANG) is not None:
            os.killpg(group, signal.SIGCONT)


def _name_hosts(names: Iterable[tuple[str, Sequence[str]]]) -> bool:
    """Gives these names to addresses, in this mount namespace alone. Returns whether it could."""
    if not HOSTS.exists():
        # There is nothing to mount over, and nobody to be asked for names.
        return False
    known = HOSTS.read_text(encoding="utf-8", errors="surrogateescape")
    with tempfile.NamedTemporaryFile("w", prefix="quiclab-hosts-", encoding="utf-8", errors="surrogateescape") as file:
        file.write(_hosts(list(names), known))
        file.flush()
        Path(file.name).chmod(0o644)
        # The mount keeps the file when its name is gone.
        _run(["mount", "--bind", file.name, str(HOSTS)])
    return True


def _hosts(names: Sequence[tuple[str, Sequence[str]]], known: str) -> str:
    """A file of hosts with these names, and with what the machine's own says of other names.

    A program asks for all addresses of a name, and tries those of the machine itself first.
    """
    ours = [f"{address} {name}" for name, addresses in names for address in addresses]
    taken = {name.lower() for name, _ in names}
    for line in known.split("\n"):
        address, *theirs = line.partition("#")[0].split() or [""]
        left = [name for name in theirs if name.lower() not in taken]
        if len(left) == len(theirs):
            ours.append(line)
        elif left:
            ours.append(" ".join([address, *left]))
    return "\n".join(ours)


def _variable(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name).upper()
