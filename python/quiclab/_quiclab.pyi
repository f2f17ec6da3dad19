from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from typing_extensions import CapsuleType

__all__ = [
    "PROGRAM",
    "VERSION",
    "Error",
    "FinishedSweep",
    "OutputError",
    "RunError",
    "Scenario",
    "ScenarioError",
    "ScriptError",
    "Sweep",
    "SweepSession",
    "Table",
    "carry_out",
    "fetch",
    "relay",
    "rooms_json",
    "run_script",
    "serve",
]

PROGRAM: Final[str]
VERSION: Final[str]

class Error(Exception): ...
class ScenarioError(Error): ...
class RunError(Error): ...
class OutputError(Error): ...
class ScriptError(Error): ...

def carry_out(
    orders: Sequence[tuple[str, Mapping[Path, str]]], series: Sequence[str]
) -> list[tuple[bytes | None, str | None]]: ...
def rooms_json() -> str: ...
def run_script(origin: str, text: str) -> dict[str, Any]: ...
def relay(
    scenario: Scenario,
    pairs: Sequence[tuple[str, str]],
    *,
    seed: int,
    ready: Callable[[list[tuple[str, str]]], object],
    blackouts: Sequence[tuple[str, str]],
    rebinds: Sequence[tuple[str, str]],
    capture: str | PathLike[str] | None,
) -> dict[str, Any]: ...
def serve(
    root: str | PathLike[str],
    listen: Sequence[str],
    *,
    identity: tuple[bytes, bytes] | None,
    names: Sequence[str],
    sets: Sequence[str],
    protocols: Sequence[str],
    max_connections: int,
    key_log: str | PathLike[str] | None,
    qlog: str | PathLike[str] | None,
    ready: Callable[[list[str], str, str, str], object],
) -> dict[str, int]: ...
def fetch(
    urls: Sequence[str],
    out: str | PathLike[str],
    *,
    trust: tuple[str, bytes],
    sets: Sequence[str],
    protocols: Sequence[str],
    ipv6: bool | None,
    concurrency: int,
    resume: bool,
    early_data: bool,
    connect_timeout: float,
    key_log: str | PathLike[str] | None,
    qlog: str | PathLike[str] | None,
    watch: Callable[[int, int, int], object],
) -> dict[str, Any]: ...

@final
class Scenario:
    @staticmethod
    def parse(text: str, origin: str | PathLike[str], sets: Sequence[str]) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def to_toml(self) -> str: ...
    def describe(self) -> list[tuple[str, str]]: ...
    def run(
        self,
        *,
        tables: bool = True,
        qlog: str | PathLike[str] | None = None,
        pcap: str | PathLike[str] | None = None,
        progress: Callable[[float, float, int, int | None], object] | None = None,
    ) -> tuple[str, list[Table]]: ...

@final
class Table:
    @property
    def name(self) -> str: ...
    @property
    def note(self) -> str | None: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def addresses(self) -> list[int]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_array__(self, requested_schema: CapsuleType | None = None) -> tuple[CapsuleType, CapsuleType]: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...

@final
class Sweep:
    @staticmethod
    def parse(text: str, origin: str | PathLike[str], sets: Sequence[str]) -> Sweep: ...
    @property
    def name(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def repetitions(self) -> int: ...
    @property
    def series(self) -> list[str]: ...
    @property
    def parameters(self) -> list[tuple[str, list[str], str]]: ...
    def run(
        self,
        folder: str | PathLike[str],
        jobs: int,
        progress: Callable[[int, int, int, int], object],
    ) -> FinishedSweep: ...
    def session(self, folder: str | PathLike[str]) -> SweepSession: ...

@final
class SweepSession:
    def order(self) -> tuple[int, str, dict[Path, str]] | None: ...
    def put(self, number: int, contents: bytes | None, error: str | None) -> None: ...
    @property
    def counts(self) -> tuple[int, int, int, int]: ...
    def finish(self) -> FinishedSweep: ...

@final
class FinishedSweep:
    @property
    def counts(self) -> tuple[int, int, int, int]: ...
    @property
    def failures(self) -> list[tuple[int, int, int, list[tuple[str, str]], str]]: ...
    def scenario(self, number: int) -> str: ...
    def runs(self, first: int, most: int) -> Table: ...
    def series_rows(self, first: int, most: int) -> tuple[Table, int]: ...
