"""The networks of a matrix: scenarios with a gate for the client and one for the server, and what is varied in them."""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error, ScenarioError
from quiclab.results.scenario import Scenario
from quiclab.values.quantities import read
from quiclab.values.toml_text import to_toml

Value = str | float

COLUMNS = {"rate": "rate_mbps", "rtt": "rtt_ms", "loss": "loss_percent", "queue": "queue"}
"""The options of the built-in network, and their columns."""
DEFAULTS = {"rate": "20", "rtt": "40", "loss": "0", "queue": "1BDP"}
_UNITS = {"rate": ("bit/s", 1e6), "rtt": ("s", 1e-3), "loss": ("", 0.01)}
"""The base unit of each, and what a number without a unit is in it."""
_RANGES: Mapping[str, tuple[float, float, str]] = {
    "rate": (0.001, 100_000.0, "a rate from 0.001 to 100000 Mbit/s, such as 20 or '2 Gbit/s'"),
    "rtt": (0.0, 60_000.0, "a round-trip time from 0 to 60000 ms, such as 40 or '1 s'"),
    "loss": (0.0, 100.0, "a share of the packets from 0 to 100 %, such as 1%"),
}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_QUEUE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")
_MOST_VALUES = 100


@dataclass(frozen=True)
class Network:
    """A scenario with values for all that is varied."""

    scenario: Scenario
    """Without the seed and the duration of a run."""
    client: str
    server: str
    """The gates."""
    values: Mapping[str, Value]
    """By column."""
    label: str
    """Its name, and the values that are varied, for people."""
    rate_mbps: float | None = None
    """That of the bottleneck, if it is known."""


def split(text: str, option: str) -> list[str]:
    """The values of a list with commas; commas in brackets and quotation marks do not separate."""
    found, depth, quote, word = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        if letter == "," and not quote and depth == 0:
            found.append(word.strip())
            word = ""
        else:
            word += letter
    found.append(word.strip())
    if not all(found):
        raise Error(f"{option} {text!r}: a value is empty; expected values separated by commas")
    if len(found) > _MOST_VALUES:
        raise Error(f"{option}: {len(found)} values; expected at most {_MOST_VALUES}")
    if twice := next((value for value in found if found.count(value) > 1), None):
        raise Error(f"{option}: {twice!r} is given twice")
    return found


def varied(texts: Sequence[str]) -> dict[str, list[str]]:
    """What `--vary PATH=V1,V2` says: the values by path."""
    found: dict[str, list[str]] = {}
    for text in texts:
        path, equals, values = text.partition("=")
        if not equals or not path.strip():
            raise Error(f"--vary {text!r}: expected PATH=V1,V2, such as link.path.both.delay='10 ms,50 ms'")
        if path in found:
            raise Error(f"--vary {path}: is given twice; expected all its values in one")
        if path in ("seed", "duration"):
            raise Error(
                f"--vary {path}: is set by the matrix; --runs gives the number of seeds, --timeout the duration"
            )
        found[path] = split(values, f"--vary {path}")
    return found


def _number(option: str, text: str) -> float:
    low, high, wanted = _RANGES[option]
    unit, scale = _UNITS[option]
    if _NUMBER.fullmatch(text):
        value: float | None = float(text)
    else:
        found = read(text, unit)
        # 0.07 of 1 is 7 %, and not 7.000000000000001.
        value = None if found is None else round(found / scale, 12)
    if value is not None and low <= value <= high:
        return value
    raise Error(f"--{option} {text!r}: expected {wanted}")


def _queue(text: str) -> str:
    found = _QUEUE.fullmatch(text)
    if not found:
        raise Error(f"--queue {text!r}: expected a number with its unit, such as 1BDP, '100 packets' or '50 ms'")
    return f"{found[1]} {found[2]}"


def built_in(
    given: Mapping[str, str | None] | None = None, vary: Mapping[str, Sequence[str]] | None = None
) -> list[Network]:
    """The point-to-point network, for each combination of values.

    :param given: lists of values of `rate`, `rtt`, `loss` and `queue`; default: those of `DEFAULTS`.
    :param vary: more values by path, as `varied` reads them; the link is called `path`.
    Raises `Error` for a value that cannot be.
    """
    texts = {
        key: split(text, f"--{key}")
        for key, text in {**DEFAULTS, **{k: v for k, v in (given or {}).items() if v is not None}}.items()
    }
    numbers = {key: [_number(key, text) for text in texts[key]] for key in _UNITS}
    queues = [_queue(text) for text in texts["queue"]]
    networks: list[Network] = []
    for rate, rtt, loss, queue in itertools.product(numbers["rate"], numbers["rtt"], numbers["loss"], queues):
        link: dict[str, Any] = {"name": "path", "from": "server", "to": "client"}
        link["both"] = {"rate": f"{rate:.10g} Mbit/s", "delay": f"{1e6 * rtt / 2:.0f} ns", "queue": queue}
        link["forward"] = {"loss": f"{loss:.10g} %"}
        nodes = [{"name": name, "kind": "gate"} for name in ("server", "client")]
        text = to_toml({"name": "path", "node": nodes, "link": [link]})
        values: dict[str, Value] = {"rate_mbps": rate, "rtt_ms": rtt, "loss_percent": loss, "queue": queue}
        label = f"{rate:g} Mbit/s, {rtt:g} ms, {loss:g} %, {queue}"
        try:
            scenario = Scenario.from_text(text, origin="the built-in network")
        except ScenarioError as error:
            raise Error(f"{label}: {error}") from None
        networks += _combined(scenario, vary or {}, values, label, ("client", "server"), rate)
    return networks


def from_file(
    file: Path,
    vary: Mapping[str, Sequence[str]] | None = None,
    *,
    client: str | None = None,
    server: str | None = None,
) -> list[Network]:
    """The network of a scenario file, for each combination of the values by path.

    :param client: the gate of the client; default: the one of that name, or the one that is not the server's.
    Raises `Error` if the scenario, its gates or a value is wrong.
    """
    scenario = Scenario.from_file(file)
    gates = _gates(file, _gate_names(scenario), client, server)
    return list(_combined(scenario, vary or {}, {}, scenario.name, gates, None))


def _gate_names(scenario: Scenario) -> list[str]:
    nodes = tomllib.loads(scenario.to_toml()).get("node", [])
    return [node["name"] for node in nodes if node.get("kind") == "gate"]


def _gates(file: Path, names: Sequence[str], client: str | None, server: str | None) -> tuple[str, str]:
    has = f"has the gates {', '.join(names)}" if names else 'has no gate, a node with kind = "gate"'
    for option, wanted in {"--client-gate": client, "--server-gate": server}.items():
        if wanted is not None and wanted not in names:
            raise Error(f"{file}: {option} {wanted}: the scenario {has}")
    client = client or ("client" if "client" in names and server != "client" else None)
    server = server or ("server" if "server" in names and client != "server" else None)
    if len(names) == 2 and (client is None) != (server is None):
        other = next(name for name in names if name not in (client, server))
        client, server = client or other, server or other
    if client is None or server is None:
        raise Error(
            f"{file}: {has}: expected gates named client and server, or the names with --client-gate and --server-gate"
        )
    if client == server:
        raise Error(f"{file}: client and server are both at the gate {client}: expected two gates")
    return client, server


def _combined(
    scenario: Scenario,
    vary: Mapping[str, Sequence[str]],
    values: Mapping[str, Value],
    label: str,
    gates: tuple[str, str],
    rate: float | None,
) -> Iterator[Network]:
    for chosen in itertools.product(*vary.values()):
        own = dict(zip(vary, chosen, strict=True))
        found = scenario.with_([f"{path}={value}" for path, value in own.items()]) if own else scenario
        words = [label, *(f"{path.rpartition('.')[2]} {value}" for path, value in own.items())]
        if any(path.endswith("rate") for path in own):
            rate = None
        yield Network(found, *gates, {**values, **own}, ", ".join(words), rate)
