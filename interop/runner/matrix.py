"""The matrix: interop/matrix.json, and docs/interop.md that is made from it."""

import json
import tomllib
from pathlib import Path

from cases import CASES

from runner.stacks import OTHERS, ROOT

MATRIX = ROOT / "interop" / "matrix.json"
THROUGHPUT = ROOT / "interop" / "throughput.json"
PAGE = ROOT / "docs" / "interop.md"

SOURCES = ROOT / "interop" / "unsupported.toml"

Row = dict[str, str]

MARKS = {"passed": "✓", "failed": "✗", "unsupported": "—"}

HEAD = """# Interoperability

`make interop` runs each test case of the QUIC interop runner, with quiclab as client and as server, against seven other
stacks. It generates this page from `interop/matrix.json` and `interop/throughput.json`.
[interop/README.md](../interop/README.md) says how it runs and judges a cell.
"""


def load(file: Path) -> list[Row]:
    """The rows of a file; none if it is not there."""
    if not file.exists():
        return []
    rows: list[Row] = json.loads(file.read_text(encoding="utf-8"))
    return rows


def save(rows: list[Row]) -> None:
    """Put rows in the place of those of the same cells, in the order of peers, cases and roles."""
    cells = {key(row): row for row in load(MATRIX)} | {key(row): row for row in rows}
    order = [(peer, case, role) for peer in OTHERS for case in CASES for role in ("client", "server")]
    kept = [cells[cell] for cell in order if cell in cells]
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in kept)
    MATRIX.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    write_page()


def load_sources() -> list[Row]:
    """What peers cannot do: peer, option, reason, source."""
    rows: list[Row] = tomllib.loads(SOURCES.read_text(encoding="utf-8"))["unsupported"]
    return rows


def load_failures() -> list[Row]:
    """The cells that fail, always or in some runs: peer, case, role, in how many runs, cause."""
    rows: list[Row] = tomllib.loads(SOURCES.read_text(encoding="utf-8"))["failure"]
    return rows


def again(peer: str, case: str, role: str, seed: int) -> str:
    """The command that runs a cell again and keeps its folder."""
    return f"make interop ARGUMENTS='--peer {peer} --case {case} --role {role} --seed {seed} --keep'"


def key(row: Row) -> tuple[str, str, str]:
    """What a row is about."""
    return row["peer"], row["case"], row["role"]


def write_page() -> None:
    """Make docs/interop.md anew."""
    rows = load(MATRIX)
    cells = {key(row): row for row in rows}
    supported = [row for row in rows if row["result"] != "unsupported"]
    passed = [row for row in supported if row["result"] == "passed"]
    share = 100 * len(passed) / len(supported) if supported else 0.0
    text = [HEAD]
    text.append(
        f"{len(passed)} of {len(supported)} supported cells pass ({share:.1f} %). Each cell has two marks, for"
        " quiclab as client and as server: ✓ passed, ✗ failed, — unsupported by the peer.\n"
    )
    versions = {row["peer"]: row.get("version", row["peer"]) for row in rows}
    text.append("| case | " + " | ".join(versions.get(peer, peer) for peer in OTHERS) + " |")
    text.append("| --- |" + " :---: |" * len(OTHERS))
    for case in CASES.values():
        line = [f"`{case.name}`"]
        for peer in OTHERS:
            pair = (cells.get((peer, case.name, role)) for role in ("client", "server"))
            line.append(" ".join(MARKS[row["result"]] if row else "?" for row in pair))
        text.append("| " + " | ".join(line) + " |")
    text += ["", "## The cases", ""]
    text += [f"* `{case.name}`: {case.about}" for case in CASES.values()]
    text += ["", "## Cells that fail", ""]
    for row in load_failures():
        told = cells[key(row)].get("reason", "this time it passed")
        cell = f"{versions[row['peer']]}, `{row['case']}`, quiclab as {row['role']}"
        text.append(f"* {cell}, {row['runs']} runs: {row['cause']} ({told})")
    text += ["", "## What peers do not support", ""]
    for row in load_sources():
        peer = versions.get(row["peer"], row["peer"])
        text.append(f"* {peer}, `{row['option']}`: {row['reason']} ([source]({row['source']}))")
    text += throughput()
    PAGE.write_text("\n".join(text) + "\n", encoding="utf-8")


def throughput() -> list[str]:
    """The table of the large transfers."""
    rows = load(THROUGHPUT)
    if not rows:
        return []
    text = ["", "## Large transfers", ""]
    text.append(
        "`make interop-throughput` transfers one file over the loopback interface, without a relay, and checks that it"
        " arrives byte-identical. The last column is the peer with itself, in the same run on the same machine.\n"
    )
    text.append("| peer | file | quiclab fetches | quiclab serves | peer with itself |")
    text.append("| --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        rates = (row.get(name) for name in ("client_mbit_s", "server_mbit_s", "peer_mbit_s"))
        shown = " | ".join("failed" if rate is None else f"{float(rate):.0f} Mbit/s" for rate in rates)
        text.append(f"| {row['version']} | {int(row['bytes']) // 10**6} MB | {shown} |")
    return text
