"""What a command imports: the time at the prompt, without a clock. Its times are measured by `benches/prompt.py`."""

import inspect
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import quiclab
from conftest import SCENARIO
from quiclab.commands import COMMANDS, app, load
from quiclab.commands.group import Command as PlainCommand
from quiclab.commands.group import PlainGroup

LARGE = {"matplotlib", "numpy", "pandas", "pyarrow"}
"""Libraries that take longer than most commands."""
LOADED = "print(*(name for name, module in sys.modules.items() if type(module).__name__ != 'Late'), file=sys.stderr)"
"""The modules that were executed: see `quiclab.commands.late`."""
IMPORTED = f"import sys; from quiclab.cli import main; main(); {LOADED}"


def imported(folder: Path, *arguments: str, script: str = IMPORTED) -> set[str]:
    """The modules of a process after a command."""
    (folder / "bulk.toml").write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-c", script, *arguments]
    # A Dask cluster of another test leaves the variables of its workers, which set the allocator of glibc.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=clean)
    return set(done.stderr.splitlines()[-1].split())


def commands_of(modules: set[str]) -> set[str]:
    """Which commands are among modules."""
    places = {row.where.partition(":")[0] or name.rpartition(" ")[2] for name, row in COMMANDS.items()}
    return {name for name in places if f"quiclab.commands.{name}" in modules}


def test_the_package_is_imported_by_parts(tmp_path: Path) -> None:
    script = "import sys, quiclab; print(*sys.modules, file=sys.stderr)"
    modules = imported(tmp_path, script=script)
    assert not modules & {*LARGE, "rich", "typer", "pydantic", "json", "dataclasses"}
    assert {name for name in modules if name.startswith("quiclab")} == {"quiclab", "quiclab._quiclab"}


def test_a_late_module_is_executed_when_it_is_used(tmp_path: Path) -> None:
    script = """if True:
        import sys, threading
        from quiclab.commands.late import Late, late
        import quiclab.values.plain_text as there
        with late():
            import quiclab.drawings.plots as plots
            import quiclab.values.plain_text as same
        assert same is there and type(same) is not Late, "what is there stays as it is"
        assert type(plots) is Late and plots.__name__ == "quiclab.drawings.plots"
        assert "numpy" not in sys.modules
        found = []
        threads = [threading.Thread(target=lambda: found.append(plots.__all__)) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(found) == 4 and all(one is plots.__all__ for one in found)
        assert type(plots) is not Late and "numpy" in sys.modules
        from quiclab.drawings import plots as again
        assert again is plots
        with late():
            import quiclab.engines.sweeps as sweeps
        try:
            sweeps.nothing
        except AttributeError as error:
            assert "'quiclab.engines.sweeps' has no attribute 'nothing'" in str(error)
        assert callable(sweeps.sweep)
        print("-", file=sys.stderr)
    """
    assert imported(tmp_path, script=script) == {"-"}


def test_all_of_the_package_is_there() -> None:
    listed = dir(quiclab)
    for name in quiclab.__all__:
        assert getattr(quiclab, name) is not None
        assert name in listed
    assert quiclab.Scenario is quiclab.scenario.Scenario
    assert quiclab.sweeps.Sweep is quiclab.Sweep
    assert callable(quiclab.statistics.means)
    with pytest.raises(AttributeError, match="module 'quiclab' has no attribute 'nothing'"):
        quiclab.nothing  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(ImportError):
        exec("from quiclab import nothing")


USES = ("abr.Abr", "gym.CongestionControl", "p1203.inputs", "plots.draw", "traces.read", "view.write")


@pytest.mark.parametrize("use", USES)
def test_modules_are_imported_when_they_are_used(use: str, tmp_path: Path) -> None:
    name = use.partition(".")[0]
    before = f"import sys, quiclab; assert 'quiclab.{name}' not in sys.modules"
    assert f"quiclab.{name}" in imported(
        tmp_path, script=f"{before}; quiclab.{use}; print(*sys.modules, file=sys.stderr)"
    )
    assert name in dir(quiclab)


def test_a_missing_extra_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab.values.extras import install_extra

    monkeypatch.chdir(tmp_path)
    script = """if True:
        import sys, quiclab
        sys.modules["gymnasium"] = None
        try:
            quiclab.gym
        except ImportError as error:
            print(error, file=sys.stderr)
    """
    assert imported(tmp_path, script=script) == set(f"quiclab.gym needs Gymnasium: {install_extra('gym')}".split())


def test_help_imports_no_command(tmp_path: Path) -> None:
    modules = imported(tmp_path, "--help")
    assert not modules & {*LARGE, "rich", "pydantic"}
    assert commands_of(modules) == set()


def test_help_of_a_command_imports_it_alone(tmp_path: Path) -> None:
    modules = imported(tmp_path, "run", "--help")
    assert not modules & {*LARGE, "rich", "pydantic", "quiclab.results.scenario"}
    assert commands_of(modules) == {"run"}


def test_help_of_a_group_imports_none_of_its_commands(tmp_path: Path) -> None:
    assert commands_of(imported(tmp_path, "dev", "--help")) == set()
    assert commands_of(imported(tmp_path, "dev", "schema", "--help")) == {"schema"}


def test_a_run_without_tables_imports_no_large_library(tmp_path: Path) -> None:
    arguments = ("run", "bulk.toml", "--no-tables", "--seed", "3", "--set", "duration=5 s", "--out", "there")
    modules = imported(tmp_path, *arguments)
    assert not modules & {
        *LARGE,
        "pydantic",
        "quiclab.drawings.plots",
        "quiclab.results.sweeps",
        "quiclab.results.statistics",
    }
    modules = imported(tmp_path, "run", "bulk.toml", "--no-tables", "--json")
    assert not modules & {*LARGE, "pydantic", "rich"}


def test_a_run_imports_what_its_figure_needs(tmp_path: Path) -> None:
    modules = imported(tmp_path, "run", "bulk.toml")
    assert {"matplotlib", "numpy", "pyarrow"} <= modules
    unneeded = {"pandas", "pydantic", "matplotlib.pyplot", "matplotlib.backends.backend_pdf"}
    assert not modules & {*unneeded, "quiclab.drawings.plots.charts", "quiclab.results.statistics"}


def test_a_command_leaves_libraries_and_its_environment_whole(tmp_path: Path) -> None:
    script = """if True:
        import gc, os, sys
        from quiclab.values import libraries
        environment = dict(os.environ)
        with libraries.loaded(figures=True):
            assert "numpy" not in sys.modules, "only in a command"
        libraries.alone()
        with libraries.loaded(figures=True):
            assert {"numpy", "pyarrow.parquet", "matplotlib.figure"} <= set(sys.modules)
            assert not gc.isenabled()
        assert gc.isenabled()
        assert dict(os.environ) == environment
        import pyarrow
        assert pyarrow.default_memory_pool().backend_name == "system"
        from matplotlib.artist import Artist
        from matplotlib.lines import Line2D
        assert "linewidth" not in (Line2D.set.__doc__ or ""), "the manuals are made for nobody"
        class Line(Artist):
            def set_subject(self, subject): pass
        assert "subject" in Line.set.__doc__
        print(file=sys.stderr)
        print("-", file=sys.stderr)
    """
    assert imported(tmp_path, script=script) == {"-"}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="NO GLIBC HERE: NOT TESTED")
def test_a_command_that_reads_much_gives_memory_back(tmp_path: Path) -> None:
    script = """if True:
        import re, sys
        from pathlib import Path
        from quiclab.values import libraries
        def left():
            bytearray(30_000_000)
            pieces = [bytearray(2_000_000) for _ in range(50)]
            resident = lambda: 1024 * int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
            full = resident()
            del pieces[:-1]
            return 100_000_000 + resident() - full
        assert left() > 90_000_000, "the last piece keeps the others"
        libraries.give_back()
        assert left() > 90_000_000, "only in a command"
        libraries.alone()
        libraries.give_back()
        assert left() < 10_000_000
        print("\\n-", file=sys.stderr)
    """
    assert imported(tmp_path, script=script) == {"-"}


def test_help_lines_are_the_first_of_the_manuals() -> None:
    for name, row in COMMANDS.items():
        command = load(name)
        manual = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
        assert row.help == str(manual).split("\n\n")[0], name


GROUPS = [name for name, row in COMMANDS.items() if row.heading == "Groups"]


def eager() -> typer.Typer:
    """The same commands, all imported and read by typer."""
    group = typer.Typer(
        name="quiclab",
        help=app.info.help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    assert app.registered_callback is not None and app.registered_callback.callback is not None
    group.callback()(app.registered_callback.callback)
    groups = {"": group}
    for name, row in COMMANDS.items():
        command, (before, _, word) = load(name), name.rpartition(" ")
        if row.example:
            assert isinstance(command, typer.Typer)
            groups[name] = typer.Typer(cls=PlainGroup, help=command.info.help, rich_markup_mode=None)
            groups[name].callback()(lambda: None)
            command = groups[name]
        if isinstance(command, typer.Typer):
            groups[before].add_typer(command, name=word, short_help=row.short)
        else:
            groups[before].command(word, short_help=row.short)(command)
    return group


@pytest.mark.parametrize(
    "name", ["", "nothing", "rn", "dev schem", *COMMANDS, "trace info", "trace plot", "trace generate"]
)
def test_help_and_errors_are_those_of_typer(name: str) -> None:
    for arguments in ([*name.split(), "--help"], name.split(), [*name.split(), "--nothing"]):
        if arguments in (
            [],
            ["matrix"],
            ["list"],
            ["dev", "script"],
            ["reproduce"],
            ["dev", "bench"],
            ["dev", "schema"],
        ):
            # These run without arguments, and a group by itself prints its help.
            continue
        lazily, eagerly = (CliRunner().invoke(group, arguments, prog_name="quiclab") for group in (app, eager()))
        told = lazily.output
        if arguments == ["--help"]:
            # Typer has one list without headings.
            for heading in {row.heading for row in COMMANDS.values()} - {"", "Everyday"}:
                told = told.replace(f"\n{heading}:\n", "")
            told = told.replace("\nEveryday:\n", "\nCommands:\n")
        assert (lazily.exit_code, told) == (eagerly.exit_code, eagerly.output)
        assert lazily.output


VALUES = {
    "plain": ["a", "", "-", "é", "no/such", "0", "1", "10", "7.5", "99999"],
    "not plain": ["-1", "+1", " 1", "1_0", "1.0", "1e3", "nan", "x", "1" * 30, "0x1", "\u0661", "true", "1."],
}


def outcome(read: Any, value: Any, parameter: Any) -> Any:
    """What a reader makes of a value: the value with its kind, or the error."""
    try:
        made = read.coerce(value, param=parameter, ctx=None)
    except typer.BadParameter as error:
        return error.format_message()
    kinds = [type(one) for one in made] if isinstance(made, list | tuple) else type(made)
    return repr(list(made) if isinstance(made, tuple) else made), kinds


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in GROUPS])
def test_plain_values_are_read_as_typer_reads_them(name: str) -> None:
    function = load(name)
    made = []
    for kind in (PlainCommand, None):
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(name, cls=kind)(function)
        made.append(typer.main.get_command(one))
    ours, theirs = made
    context: Any = typer.Context(ours)
    pairs: Any = zip(ours.get_params(context), theirs.get_params(context), strict=True)
    for ours_, theirs_ in pairs:
        several = ours_.multiple or ours_.nargs == -1
        for value in [None, ours_.default, *VALUES["plain"], *VALUES["not plain"]]:
            given = (value, "a") if several and isinstance(value, str) else value
            if isinstance(given, bool):
                continue
            readers = ours_.get_runtime_param(), theirs_.get_runtime_param()
            assert type(readers[0]) is not type(readers[1])
            left, right = (
                outcome(read, given, parameter) for read, parameter in zip(readers, (ours_, theirs_), strict=True)
            )
            assert left == right, (ours_.name, given)
