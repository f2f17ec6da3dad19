"""The stacks of the matrix, and the command lines that start them."""

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
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


OURS = "quiclab"

STACKS = {
    stack.name: stack
    for stack in (
        Stack(OURS, (str(BUILT / "bin" / "quiclab"),)),
        Stack("quinn", (str(BUILT / "bin" / "quinn"),)),
        Stack("quic-go", (str(BUILT / "bin" / "quic-go"),)),
        Stack("aioquic", (str(BUILT / "venv" / "bin" / "python"), str(PEERS / "aioquic" / "peer.py"))),
        Stack("quiche", (str(BUILT / "bin" / "quiche"),)),
    )
}
"""All of them by name; the first one is ours."""

OTHERS = [name for name in STACKS if name != OURS]


def certificates(folder: Path) -> Path:
    """The certificates of a run, made anew."""
    python = BUILT / "venv" / "bin" / "python"
    subprocess.run([str(python), str(PEERS / "certificates.py"), str(folder)], check=True)
    return folder
