"""The stacks of the matrix, and the command lines that start them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
"""The repository."""

BUILT = ROOT / "target" / "interop"
"""Where `make interop-peers` puts the peers."""

PEERS = ROOT / "interop" / "peers"

UNSUPPORTED = 127
"""The exit code for what a stack cannot do, as the QUIC interop runner has it."""


@dataclass(frozen=True)
class Stack:
    """A program that understands the command line of interop/README.md."""

    name: str
    command: tuple[str, ...]
    ready: str = "listening on "
    """How the line begins by which a server says that it is ready."""

    def words(self, words: Sequence[str], qlog: Path | None = None) -> list[str]:
        """The command that runs `serve` or `fetch` with these options. Peers find the folder of qlog in QLOGDIR."""
        return [*self.command, *words]

    @cached_property
    def about(self) -> dict[str, object]:
        """What it says of itself."""
        text = subprocess.run([*self.command, "about"], capture_output=True, text=True, check=True).stdout
        told: dict[str, object] = json.loads(text)
        return told

    @cached_property
    def cannot(self) -> dict[str, str]:
        """What it cannot do, by the name of the option without dashes, with the reason."""
        cannot = self.about["cannot"]
        assert isinstance(cannot, dict)
        return cannot

    def knows(self, option: str) -> bool:
        """Whether it can do what an option asks for."""
        return option.removeprefix("--") not in self.cannot


class Quiclab(Stack):
    """`quiclab real serve` and `quiclab real fetch`: their options for those of the peers."""

    @cached_property
    def about(self) -> dict[str, object]:
        """What it is; there is nothing that it cannot do."""
        return {"name": f"quiclab {metadata.version('quiclab')}", "cannot": {}}

    def words(self, words: Sequence[str], qlog: Path | None = None) -> list[str]:
        """The command that runs `serve` or `fetch` with these options."""
        command, *rest = words
        options = {"--alpn": "hq-interop"}
        urls = []
        left = iter(rest)
        for word in left:
            if not word.startswith("--"):
                urls.append(word)
            else:
                options[word] = "" if word in FLAGS else next(left)
        # As with the peers: some repeat what was lost by a timer that doubles and by nothing else.
        sets = ["transport.max_idle_timeout=60 s"]
        found = [*self.command, "real", command, "--alpn", options.pop("--alpn")]
        found += ["--stall", "60"] if command == "fetch" else []
        for option, value in options.items():
            match option:
                case "--root":
                    urls.append(value)
                case "--timeout":
                    found += ["--max-time", value, "--timeout", value]
                case "--migrate":
                    found += ["--migrate-after", "0.3"]
                case "--early-data":
                    found += ["--resume", "--early-data"]
                case "--chacha20":
                    sets.append("tls.cipher=chacha20poly1305")
                    found.append("--only-cipher")
                case _ if option in SETS:
                    sets.append(SETS[option])
                case _:
                    found += [option, value] if value else [option]
        # Clients bring early data only if they are asked to; a connection takes as many requests as the peer lets it.
        found += ["--qlog", str(qlog)] if qlog else []
        found += ["--early-data"] if command == "serve" else ["--parallel", "2000"]
        return [*found, *(word for option in sets for word in ("--set", option)), *urls]


FLAGS = ("--v2", "--chacha20", "--key-update", "--ecn", "--retry", "--resume", "--early-data", "--each", "--migrate")
"""Options of the peers without a value."""

SETS = {
    "--v2": "transport.versions=2 1",
    "--key-update": "transport.key_update_after=100",
    "--ecn": "transport.ecn=true",
    "--retry": "transport.retry=always",
}
"""Options of the peers that are options of connections."""

OURS = "quiclab"

STACKS = {
    stack.name: stack
    for stack in (
        Quiclab(OURS, (sys.executable, "-m", "quiclab"), "serving "),
        Stack("quinn", (str(BUILT / "bin" / "quinn"),)),
        Stack("quic-go", (str(BUILT / "bin" / "quic-go"),)),
        Stack("aioquic", (str(BUILT / "venv" / "bin" / "python"), str(PEERS / "aioquic" / "peer.py"))),
        Stack("quiche", (str(BUILT / "bin" / "quiche"),)),
        Stack("openssl", (str(BUILT / "bin" / "openssl"),)),
        Stack("kwik", ("java", "-cp", f"{BUILT}/kwik/libraries/*:{BUILT}/kwik/classes", "Peer")),
        Stack("lsquic", (str(BUILT / "lsquic" / "node_modules" / ".bin" / "bun"), str(PEERS / "lsquic" / "peer.js"))),
    )
}
"""All of them by name; the first one is ours."""

OTHERS = [name for name in STACKS if name != OURS]


def certificates(folder: Path) -> Path:
    """The certificates of a run, made anew."""
    python = BUILT / "venv" / "bin" / "python"
    subprocess.run([str(python), str(PEERS / "certificates.py"), str(folder)], check=True)
    return folder
