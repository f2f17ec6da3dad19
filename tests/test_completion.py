"""Completion in real shells: what is typed with the Tab key is what the command gets."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import SCENARIO, Command
from programs import needs
from quiclab.commands.complete import answer, complete
from quiclab.commands.completion import SCRIPTS

PLUGGED = """#!/bin/sh
if [ "$1" = __complete ]; then
    exec "{python}" -c 'import sys; from quiclab.cli import main; sys.exit(main())' "$@"
fi
printf '%s\\n' "$@" > arguments
"""

TYPED = {
    "a command": ("quiclab ru\tbulk.toml", ["run", "bulk.toml"]),
    "a file": ("quiclab run bul\t--json", ["run", "bulk.toml", "--json"]),
    "a file in a folder": ("quiclab check mo\tmo\t", ["check", "more/more.toml"]),
    "an option": ("quiclab run bulk.toml --see\t7", ["run", "bulk.toml", "--seed", "7"]),
    "a word of an option": ("quiclab plot x --kind he\t", ["plot", "x", "--kind", "heatmap"]),
    "a component": ("quiclab real serve . --controller bbr3\t", ["real", "serve", ".", "--controller", "bbr3"]),
    "a command in a group": ("quiclab trace inf\tx", ["trace", "info", "x"]),
    "a key of a scenario": (
        "quiclab run bulk.toml --set li\tce\tforw\tdela\t'5 ms'",
        ["run", "bulk.toml", "--set", "link.cell.forward.delay=5 ms"],
    ),
    "a value of a key": (
        "quiclab run bulk.toml --set transport.controller=cub\t--json",
        ["run", "bulk.toml", "--set", "transport.controller=cubic", "--json"],
    ),
    "what is explained": ("quiclab explain transport.ack_ra\t", ["explain", "transport.ack_ratio"]),
}
"""What a person types, and what the command then gets."""


def shell(name: str) -> str:
    """The program of a shell. Without it the test is skipped, and in CI it fails."""
    needs(name)
    return str(shutil.which(name))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a scenario, and a `quiclab` on the path that keeps its arguments."""
    (tmp_path / "bulk.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "more.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "more" / "other.txt").touch()
    (tmp_path / "bin").mkdir()
    plugged = tmp_path / "bin" / "quiclab"
    plugged.write_text(PLUGGED.format(python=sys.executable), encoding="utf-8")
    plugged.chmod(0o755)
    for name, script in SCRIPTS.items():
        (tmp_path / "bin" / f"completion.{name}").write_text(script, encoding="utf-8")
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    return {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(place),
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
    }


def typed(place: Path, command: list[str], start: str, line: str) -> list[str]:
    """The arguments of the command that a line of an interactive shell runs."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place)
        os.execve(command[0], command, environment(place))
    told = b""
    try:
        for text in (start, f"{line}\n", "exit\n"):
            os.write(terminal, text.encode())
            deadline = time.monotonic() + 30
            seen = len(told)
            # The next line is typed when the shell asks for it. What it repeats of `start` has quotes in the word.
            while time.monotonic() < deadline and b"READY> " not in told[seen:] and not (place / "arguments").exists():
                if select.select([terminal], [], [], 0.1)[0]:
                    told += os.read(terminal, 4096)
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    assert (place / "arguments").exists(), told.decode(errors="replace")
    return (place / "arguments").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("what", TYPED)
def test_bash(place: Path, what: str) -> None:
    line, wanted = TYPED[what]
    start = "PS1='REA''DY> '; bind 'set bell-style none'; source bin/completion.bash\n"
    assert typed(place, [shell("bash"), "--norc", "--noprofile", "-i"], start, line) == wanted


@pytest.mark.parametrize("what", TYPED)
def test_zsh(place: Path, what: str) -> None:
    line, wanted = TYPED[what]
    start = "autoload -U compinit; compinit -u; source bin/completion.zsh; PROMPT='REA''DY> '\n"
    assert typed(place, [shell("zsh"), "-f", "-i"], start, line) == wanted


@pytest.mark.parametrize("what", TYPED)
def test_fish(place: Path, what: str) -> None:
    line, wanted = TYPED[what]
    # Fish says by itself what it would offer; each Tab takes the only thing.
    program, done = shell("fish"), ""
    for part in line.split("\t")[:-1]:
        done += part
        asked = f"source bin/completion.fish; complete --do-complete={done!r}"
        told = subprocess.run(
            [program, "--no-config", "-c", asked],
            cwd=place,
            env=environment(place),
            capture_output=True,
            text=True,
            check=True,
        )
        offered = [one.split("\t")[0] for one in told.stdout.splitlines()]
        assert len(offered) == 1, (done, told.stdout, told.stderr)
        before = done.rpartition(" ")[0]
        done = f"{before} {offered[0]}" + ("" if offered[0].endswith(("/", "=", ".")) else " ")
    script = f"{done}{line.rpartition(chr(9))[2]}"
    subprocess.run(["sh", "-c", script], cwd=place, env=environment(place), check=True)
    assert (place / "arguments").read_text(encoding="utf-8").splitlines() == wanted


def test_zsh_autoloads_the_script(place: Path) -> None:
    (place / "functions").mkdir()
    (place / "functions" / "_quiclab").write_text(SCRIPTS["zsh"], encoding="utf-8")
    start = "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u; PROMPT='REA''DY> '\n"
    line, wanted = TYPED["an option"]
    assert typed(place, [shell("zsh"), "-f", "-i"], start, line) == wanted


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_command_prints_the_script(command: Command, name: str) -> None:
    done = command("dev", "completion", name)
    assert (done.returncode, done.stdout, done.stderr) == (0, SCRIPTS[name], "")


def values(*words: str) -> list[str]:
    return [item.value for item in complete(words)]


def test_all_commands_and_options_are_offered() -> None:
    from quiclab.commands import COMMANDS

    # In a group are its commands, and words from before there were groups are offered nowhere.
    assert values("") == [name for name in COMMANDS if " " not in name]
    for group in ("video", "real", "dev"):
        assert values(group, "") == [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]
    assert values("dev", "completion", "") == values("completion", "") == ["bash", "zsh", "fish"]
    assert {"--seed", "--set", "--json"} <= set(values("run", "x.toml", "--"))
    # An option is offered once, unless it may be given more than once.
    assert "--seed" not in values("run", "--seed", "1", "--")
    assert "--set" in values("run", "--set", "a=b", "--")
    assert values("run", "--seed", "") == []
    assert values("trace", "") == ["info", "plot", "convert", "generate"]
    assert values("nothing", "") == []


def test_names_in_keys_are_those_of_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "bulk.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    assert values("run", str(file), "--set", "flow.") == ["flow.download."]
    assert values("run", str(tmp_path / "none.toml"), "--set", "flow.") == []
    assert "link.cell.backward.queue=" in values("run", str(file), "--set", "link.cell.backward.")
    assert values("check", "--set", "link.x.forward.lo") == ["link.x.forward.loss="]


def test_columns_are_those_of_the_sweep(command: Command) -> None:
    (command.folder / "sweep.toml").write_text(SCENARIO + "[sweep]\ntransport.ack_ratio = [1, 2]\n", encoding="utf-8")
    assert command("sweep", "sweep.toml", "--out", "made").returncode == 0
    offered = values("plot", str(command.folder / "made"), "--x", "")
    assert "transport.ack_ratio" in offered
    assert "connection.download.goodput_mbps" in offered
    assert values("export", str(command.folder / "made"), "") == ["runs"]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        (["run", "--set", "transport.pacing", "=", "fa"], []),
        (["run", "--set", "transport.controller", "=", ""], ["newreno", "cubic"]),
        (["run", "--set", "transport.controller", "=", "cub"], ["cubic"]),
        (["run", "--set=transport.contr"], ["--set=transport.controller="]),
    ],
)
def test_bash_replaces_the_last_piece_alone(pieces: list[str], lines: list[str]) -> None:
    told = answer("bash", pieces).splitlines()
    assert told[0] in ("space", "nospace")
    assert [line for line in lines if line not in told[1:]] == []


def test_nothing_goes_wrong_visibly(command: Command) -> None:
    for words in ([], ["bash"], ["fish", "run", "\udcff"], ["zsh", "plot", "--x", "'"], ["nonsense", "run", ""]):
        done = command("__complete", *words)
        assert done.stderr == "", words
