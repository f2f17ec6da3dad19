"""Good classes that a scenario names, written in unusual ways, run without a word; errors have a place."""

import json
import textwrap
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO, Command

NAMES = ("statistics", "queue", "quiclab", "types", "numpy", "class", "my-law 2")
ON = "def on_ack(self, ack): "
GROW = "self.window_bytes += ack.acked_bytes"
GROWS = ON + GROW
SETTER = "@window_bytes.setter\ndef window_bytes(self, _): pass\n"
BODIES = (
    # Methods behind decorators, descriptors and other objects.
    f"@bare\n{GROWS}",
    f"@Held\n{GROWS}",
    f"@Called\n{GROWS}",
    f"@given_time\ndef on_ack(self, ack, now_s): {GROW}",
    f"@bare\n@bare\n{GROWS}",
    f"@functools.lru_cache\n{GROWS}",
    f"def _grow(self, by, ack): {GROW}\non_ack = functools.partialmethod(_grow, 2)",
    "on_ack = lambda self, ack: setattr(self, 'window_bytes', 50_000)",
    "on_ack = of_module\ndef on_loss(self, loss): self.window_bytes = 3000",
    f"def __init__(self): self.on_ack = self.grow\ndef grow(self, ack): {GROW}",
    "def start(self, *a):\n  self.on_ack = self.on_loss = self.any\ndef any(self, _): self.window_bytes += 9",
    f"law = Law()\n{ON}self.law.apply(self, ack)",
    f"{ON}LAWS[0].apply(self, ack)",
    f"{ON}Law.grow(self)",
    f"@functools.singledispatchmethod\ndef grow(self, ack): {GROW}\n{ON}self.grow(ack)",
    # Calls by names.
    f"{ON}getattr(self, 'on_' + 'any'[:9])(ack)\ndef on_any(self, ack): {GROW}\non_other = on_any",
    f"phase = 'x'\n{ON}getattr(self, f'on_ack_{{self.phase}}')(ack)\ndef on_ack_x(self, ack): {GROW}",
    f"{ON}operator.methodcaller('on_grow', ack)(self)\ndef on_grow(self, ack): {GROW}",
    f"table = {{'a': 'on_grow'}}\n{ON}getattr(self, self.table['a'])(ack)\ndef on_grow(self, ack): {GROW}",
    f"{ON}vars(type(self))['on_acks'](self, ack)\ndef on_acks(self, ack): {GROW}",
    f"def on_slow(self, ack): {GROW}\ntable = {{'slow': on_slow}}\n{ON}self.table['slow'](self, ack)",
    f"@noted\ndef on_lost(self, ack): {GROW}\n{ON}NOTED[-1](self, ack)",
    f"@noted\ndef on_growth(self, ack): {GROW}\n{ON}NOTED[0](self, ack)",
    # Attributes by names.
    f"{ON}[setattr(self, k, v) for k, v in {{'window_bytes': 50_000, 'pacing_bps': None}}.items()]",
    f"{ON}vars(self).update(window_bytes=50_000)",
    f"{ON}self.__dict__.update({{'window_bytes': 50_000}})",
    f"{ON}object.__setattr__(self, 'window_bytes', 50_000)",
    f"{ON}[setattr(self, k, 50_000) for k in FIELDS]",
    f"def __setattr__(self, k, v): super().__setattr__({{'c': 'window_bytes'}}.get(k, k), v)\n{ON}self.c = 50_000",
    f"{ON}exec('self.window_bytes = 50_000')",
    f"@property\ndef window_bytes(self): return 50_000\n{SETTER}{ON}pass",
    f"window_bytes = Fixed()\n{ON}pass",
    # Attributes that are only written, for whoever looks at the object later.
    *(
        f"def on_ack(self, ack):\n  {GROW}\n  self.{name} = self.window_bytes"
        for name in (
            *("stats", "stage", "status", "stat", "slate", "window_max", "window_start_s", "window_bytes_0", "windows"),
            *("pacing_gain", "pacing_index", "last_window_bytes", "state_since", "estate", "datagrams", "window_s"),
        )
    ),
    # Helpers that are kept, with names that only look alike.
    *(
        f"{GROWS}\ndef {name}(self): pass"
        for name in (
            *("restart", "reset", "backoff", "update", "stats", "_on_tick", "acknowledge", "losses", "startup"),
            *("starter", "estimates_of"),
        )
    ),
    f"option_names = ()\n{GROWS}",
)
HEAD = """
import functools, operator
import quiclab

NOTED, FIELDS = [], ["window_bytes"]

def registered(f):
    f.name = "x"
    return f

def bare(f):
    def inner(*a): return f(*a)
    return inner

def given_time(f):
    @functools.wraps(f)
    def inner(self, ack): return f(self, ack, ack.now_s)
    return inner

def noted(f):
    NOTED.append(f)
    return f

def of_module(self, ack): self.window_bytes += 1000

class Held:
    def __init__(self, f): self.f = f
    def __get__(self, one, kind=None): return lambda *a: self.f(one, *a)

class Called:
    def __init__(self, f): self.f = f
    def __get__(self, one, kind=None): return functools.partial(self, one)
    def __call__(self, *a): return self.f(*a)

class Fixed:
    def __get__(self, one, kind=None): return 50_000
    def __set__(self, one, value): pass

class Law:
    def apply(self, one, ack): one.window_bytes += ack.acked_bytes
    @staticmethod
    def grow(one): one.window_bytes += 1000

LAWS = [Law()]

class Mine(quiclab.Controller):
"""


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What stands on standard error, but that code runs."""
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("quiclab: the scenario runs")]


def of_file(path: Path, key: str = "flow.download.transport.controller", name: str = "Mine") -> quiclab.Scenario:
    return quiclab.Scenario.from_text(SCENARIO, [f'{key}="{path}:{name}"'])


@pytest.mark.parametrize("body", BODIES)
def test_a_good_class_runs_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + textwrap.indent(body, "    ") + "\n")
    run = of_file(path).run(tables=False)
    assert run.summary["connections"][0]["packets_sent"] > 10
    assert said(capsys) == []


def test_a_slip_beside_numpy_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    text = (
        f"import numpy as np{HEAD}    {ON}self.window_bytes = np.minimum(9e4, np.float32(3e4) + np.array([1e3])[0])\n"
    )
    path.write_text(f"{text}    def on_los(self, loss): pass\n")
    with pytest.raises(quiclab.ScenarioError, match=r"nothing calls Mine.on_los; expected on_loss"):
        of_file(path)
    path.write_text(text.replace("window_bytes", "cwnd"))
    with pytest.raises(quiclab.ScenarioError, match=r"Mine decides nothing"):
        of_file(path)
    path.write_text(text)
    of_file(path).run(tables=False)
    assert said(capsys) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_be_called_as_it_likes(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(f"{HEAD}    law = Law()\n    {ON}self.law.apply(self, ack)\n    def on_los(self, loss): pass\n")
    with pytest.raises(quiclab.ScenarioError, match=rf"{name}\.py:\d+: nothing calls Mine.on_los; expected on_loss"):
        of_file(path)
    path.write_text(f"{HEAD}    law = Law()\n    {ON}self.law.apply(self, ack)\n")
    of_file(path).run(tables=False)
    assert said(capsys) == []


SETS = "def on_ack(self, ack): self.window_bytes = 9000\n"
SUSPICIONS = (
    (f"{SETS}@registered\ndef on_lost(self, ack): pass", "Mine.on_lost; expected on_loss"),
    (f"{SETS}def _on_acks(self, ack): pass", "Mine._on_acks; expected on_ack"),
    (f"{SETS}@registered\ndef on_acks(self, ack): pass", "Mine.on_acks; expected on_ack"),
    (f"def __init__(self): self.__dict__.update(cwnd=9)\n{ON}self.cwnd += 1", "Mine decides nothing"),
    (f"{SETS}def _a(self): yield\non_ack.__wrapped__ = _a", "Mine.on_ack has a yield"),
)


@pytest.mark.parametrize(("body", "told"), SUSPICIONS)
def test_what_only_may_be_wrong_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, told: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + textwrap.indent(body, "    ") + "\n")
    of_file(path).run(tables=False)
    (line,) = said(capsys)
    assert line.startswith(f"warning: {path}:") and told in line


def test_check_has_the_warnings_in_its_json(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        HEAD + "    def on_ack(self, ack): self.window_bytes = 9000\n    def _on_acks(self): pass\n"
    )
    (tmp_path / "s.toml").write_text(SCENARIO)
    done = Command(tmp_path)("check", "s.toml", "--json", "--set", "flow.download.transport.controller=mine.py:Mine")
    (text,) = [text for subject, text in json.loads(done.stdout)["warnings"] if subject == "class"]
    assert "mine.py:48: nothing calls Mine._on_acks" in text
    assert done.stderr.splitlines().count(f"warning: {text}") == 1


SCHEDULER = "import quiclab\n\nclass Mine(quiclab.Scheduler):\n    def next(self, view):\n"
CONTROLLER = "import abc, functools, quiclab\n\nclass Mine(quiclab.Controller, metaclass=abc.ABCMeta):\n"
STREAMS = 'flow.download.application={ type = "bulk", streams = 4, size = "300 kB" }'
LAW = "    def _a(self, by, ack): self.window_bytes = by\n    on_ack = functools.partialmethod"
CHANGES = (
    *("self.ready.pop(k)", "del self.ready[k]", "self.ready.clear()", "self.ready[9] = None", "self.ready |= {9: 1}"),
    *("self.ready.update({9: 1})", "self.ready.setdefault(9, 1)"),
)
AT_RUN = (
    *(
        ("scheduler", f"        k = min(self.ready)\n        {one}\n", "6: TypeError: self.ready cannot")
        for one in CHANGES
    ),
    (
        "scheduler",
        "        return dict.pop(self.ready, min(self.ready))\n",
        "4: next gave .*; expected one|3: KeyError",
    ),
    ("controller", f"    {ON}self.window_bytes = float('inf')\n", "4: Mine.window_bytes is inf; expected a finite"),
    ("controller", f"    {ON}self.pacing_bps = float('inf')\n", "4: Mine.pacing_bps is inf; expected None, or a fi"),
    ("controller", f"{LAW}(_a, -1)\n", "3: Mine.window_bytes is -1"),
    ("controller", f"{LAW}(_a)\n", "3: TypeError: .*missing 1"),
    (
        "controller",
        f"    def __new__(cls, some): pass\n    {ON}self.window_bytes = 1\n",
        "3: .*Mine cannot be made: Type",
    ),
)


@pytest.mark.parametrize(("kind", "text", "problem"), AT_RUN)
def test_an_error_of_a_run_has_a_place(tmp_path: Path, kind: str, text: str, problem: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text((SCHEDULER if kind == "scheduler" else CONTROLLER) + text)
    scenario = quiclab.Scenario.from_text(SCENARIO, [STREAMS, f'flow.download.transport.{kind}="{path}:Mine"'])
    with pytest.raises(quiclab.RunError, match=rf"mine\.py:({problem})"):
        scenario.run(tables=False)


RIGHT = f"    {ON}self.window_bytes = 1\n"
AT_ONCE = (
    ("    @staticmethod\n    def on_ack(ack): pass\n", "3: Mine decides nothing"),
    ("    on_ack = property(lambda self: 1)\n", "3: Mine decides nothing"),
    *(
        (f'    options = {{"gain": {value}}}\n{RIGHT}', f"3: option gain of Mine has the default {told}; expected")
        for value, told in (("-1", "-1"), ('float("nan")', "nan"), ("None", "None"), ("2 ** 70", "118.*"), ("{}", "{}"))
    ),
    (f"    {ON}self.window_bytes = None\n", "3: Mine decides nothing"),
    (f"{RIGHT}    def __on_loss(self, loss): pass\n", "5: nothing calls Mine.__on_loss; expected on_loss"),
    (f"{RIGHT}    @staticmethod\n    def on_los(loss): pass\n", "5: nothing calls Mine.on_los; expected"),
    (f"{RIGHT}    on_los = functools.partialmethod(on_ack)\n", "4: nothing calls Mine.on_los; expected"),
    (
        f"{RIGHT}    def on_los(self, loss):\n        'Like on_loss.'\n        getattr(self, 'last', 0)\n",
        "5: nothing calls Mine.on_los; expected on_loss",
    ),
    (
        f"{RIGHT}    @abc.abstractmethod\n    def grow(self): pass\n",
        "3: Mine is abstract; expected a class with .* grow",
    ),
)


@pytest.mark.parametrize(("body", "problem"), AT_ONCE)
def test_an_error_of_a_class_has_a_place(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CONTROLLER + body)
    with pytest.raises(quiclab.ScenarioError, match=rf"mine\.py:{problem}") as error:
        of_file(path, "transport.controller")
    assert "\n" not in str(error.value)
