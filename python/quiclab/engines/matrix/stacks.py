"""The stacks of a matrix, and which client meets which server."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quiclab._quiclab import Error

Role = Literal["client", "server"]
ROLES: tuple[Role, ...] = ("client", "server")
PAIRS = ("same", "all")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_MOST = 32


@dataclass(frozen=True)
class Stack:
    """A QUIC stack: a command that is a client or a server, as the variable ROLE says."""

    name: str
    command: str
    """A line for `sh`."""
    roles: tuple[Role, ...] = ROLES
    """What it can be."""


def stack_of(text: str, roles: tuple[Role, ...] = ROLES, option: str = "--stack") -> Stack:
    """The stack of `NAME=COMMAND`. Raises `Error`, naming the option, if the text is not of this form."""
    name, equals, command = text.partition("=")
    if not equals or not _NAME.fullmatch(name) or not command.strip():
        raise Error(
            f"{option} {text!r}: expected NAME=COMMAND, the name of up to 40 letters, digits, '.', '_' and '-', "
            "such as quinn='interop/peers/endpoint quinn'"
        )
    if "\0" in command:
        raise Error(f"{option} {name}: a command has no NUL character")
    return Stack(name, command, roles)


def check_program(stack: Stack) -> None:
    """Raises `Error` if the command begins with a program that does not exist.

    `sh` would exit with 127, which means that a stack does not support a test case.
    """
    # What begins with a quote, a variable or an assignment only the shell itself can read.
    found = re.match(r"[\w./+-]+(?=\s|$)", stack.command.strip())
    if found and subprocess.run(["sh", "-c", 'command -v -- "$0"', found[0]], capture_output=True).returncode != 0:
        raise Error(f"{stack.name}={stack.command}: no program {found[0]!r}; expected NAME=COMMAND, a line for sh")


def pairs(stacks: Sequence[Stack], which: str = "same") -> list[tuple[Stack, Stack]]:
    """The pairs of client and server.

    :param which: `same`: each stack with itself, and one that has only one role with all of the other role;
        `all`: each client with each server.
    Raises `Error` if a name occurs twice in a role, or there is no pair.
    """
    if which not in PAIRS:
        raise Error(f"--pairs {which}: expected one of {', '.join(PAIRS)}")
    if len(stacks) > _MOST:
        raise Error(f"{len(stacks)} stacks: expected at most {_MOST}")
    sides: dict[Role, list[Stack]] = {role: [one for one in stacks if role in one.roles] for role in ROLES}
    for role, side in sides.items():
        names = [one.name for one in side]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise Error(f"two {role}s have the name {twice!r}: expected a name of its own for each")
        if not side:
            raise Error(f"no {role}: expected --stack NAME=COMMAND or --{role} NAME=COMMAND")
    return [
        (client, server)
        for client in sides["client"]
        for server in sides["server"]
        if which == "all" or client is server or len(client.roles) < 2 or len(server.roles) < 2
    ]
