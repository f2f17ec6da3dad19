"""What a reproduction is expected to give: rows known not to hold, claims that are not judged, exit codes.

`differences.toml` beside the papers names the rows that are known not to hold, with the reason::

    [[bdp-short-file]]
    rows = ["quicly, after 500 kB: 0-RTT saves"]
    reason = "..."
    in = ["full"]                  # in which form they do not hold; default: full and quick

`claims.json` has the names of the rows that each rule gives in the full form, in the order of the rules. `make papers`
writes it. The full form must give these rows and no others; the quick form lists those that it does not judge.
"""

import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error
from quiclab.reproduce.accept import FORMS, Row, Rule, forms_of

DIFFERENCES = "differences.toml"
CLAIMS = "claims.json"

AS_EXPECTED, UNEXPECTED, NOT_JUDGED = 0, 1, 3
"""Exit codes: every claim is judged, with the expected outcome; an outcome is not the expected one; all outcomes are,
but claims were not judged. 2 is that of errors."""


@dataclass(frozen=True)
class Difference:
    """Rows that are known not to hold, for one reason."""

    rows: tuple[str, ...]
    """Their names."""
    reason: str
    forms: tuple[str, ...]
    """Any of `FORMS`."""


@dataclass(frozen=True)
class Unjudged:
    """Rows of the full form that the quick form does not judge."""

    claim: str
    """The `case` of their rule."""
    rows: tuple[str, ...]
    """Their names; none if those of the full form are not known."""
    reason: str
    known: Mapping[str, str]
    """Those that are known not to hold in the full form, with the reason."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {"claim": self.claim, "rows": list(self.rows), "reason": self.reason, "known": dict(self.known)}


def differences(root: Path) -> dict[str, tuple[Difference, ...]]:
    """The known differences under a folder of papers, by figure; none if it has no such file."""
    path = root / DIFFERENCES
    if not path.exists():
        return {}
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}") from error
    return {
        figure: tuple(_difference(table, f"{path}: {figure}") for table in tables) for figure, tables in told.items()
    }


def _difference(table: dict[str, Any], where: str) -> Difference:
    if not {"rows", "reason"} <= table.keys() <= {"rows", "reason", "in"}:
        raise Error(f"{where}: needs rows and reason, and may have in")
    if not table["rows"] or not table["reason"].strip():
        raise Error(f"{where}: rows and reason are not empty")
    return Difference(tuple(table["rows"]), table["reason"].strip(), forms_of(table, where))


def known(among: Sequence[Difference], form: str) -> dict[str, str]:
    """The reasons by row, for a form. Raises `Error` if a row has two."""
    reasons: dict[str, str] = {}
    for difference in among:
        for row in difference.rows if form in difference.forms else ():
            if row in reasons:
                raise Error(f"{DIFFERENCES}: {row!r} has two reasons in the {form} form")
            reasons[row] = difference.reason
    return reasons


def expected(
    rows: Sequence[Row], among: Sequence[Difference], *, quick: bool, full: Collection[str] | None = None
) -> list[Row]:
    """The rows with the reasons of those known not to hold, and one row more for each known difference without a row.

    In the quick form, which does not have all rows, those that are known in it alone must be there, and the others
    among the rows of the full form. Raises `Error` if two rows have one name.

    :param full: the names of the rows of the full form; None if they are not known.
    """
    reasons = known(among, FORMS[quick])
    names = [row.name for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise Error(f"two rows are called {twice[0]!r}; expected a case in which all that tells rows apart is named")
    here = {*names}
    lacking = [
        Row(name, "", "", "no such row", f"a row, since {DIFFERENCES} has it", ok=False)
        for name, elsewhere in _named(among, quick=quick).items()
        if name not in here and not (elsewhere and (full is None or name in full))
    ]
    return [replace(row, known=reasons.get(row.name, "")) for row in rows] + lacking


def _named(among: Sequence[Difference], *, quick: bool) -> dict[str, bool]:
    """The rows that a form or the full form must have, and whether it suffices that the full form has them."""
    return {
        name: quick and "full" in difference.forms
        for difference in among
        if quick or "full" in difference.forms
        for name in difference.rows
    }


def undecided(rows: Sequence[Row], among: Sequence[Difference]) -> set[str]:
    """The names of the rows of a quick form that hold, and are known not to hold in the full form."""
    quick, full = known(among, "quick"), known(among, "full")
    return {row.name for row in rows if row.ok and row.name in full and row.name not in quick}


def unjudged(
    rules: Sequence[Rule],
    given: Sequence[Sequence[Row]],
    full: Sequence[Sequence[str]] | None,
    among: Sequence[Difference],
) -> list[Unjudged]:
    """What the quick form does not judge, by rule: every row of the full form that it does not give, or cannot decide.

    :param given: the rows of each rule.
    :param full: the names of its rows in the full form; None if they are not known.
    """
    reasons = known(among, "full")
    found = []
    for place, (rule, rows) in enumerate(zip(rules, given, strict=True)):
        open_ = undecided(rows, among)
        names = {row.name for row in rows}
        lacking = [name for name in (full[place] if full else ()) if name not in names]
        why = rule.not_quick or "the quick form makes no such runs"
        if full is None and rows:
            why = f"the rows of the full form are not known: {CLAIMS} has none for these rules; run make papers"
        if lacking or not rows or full is None:
            found.append(_unjudged(rule, lacking, why, reasons))
        if open_:
            decides = [row.name for row in rows if row.name in open_]
            found.append(
                _unjudged(rule, decides, "holds in these few runs, and differs in those of the full form", reasons)
            )
    return found


def unclaimed(given: Sequence[Sequence[Row]], full: Sequence[Sequence[str]] | None) -> list[str]:
    """How the rows of a full form differ from those that `CLAIMS` has, a sentence each: none missing, none new.

    :param given: the rows of each rule.
    :param full: the names in `CLAIMS`, of each rule; None if it has none for these rules.
    """
    if full is None:
        return [f"{CLAIMS} has no rows for these rules: run make papers"]
    names = {row.name for some in given for row in some}
    claimed = {name for some in full for name in some}
    told = (
        (f"rows that {CLAIMS} has and that are missing", sorted(claimed - names)),
        (f"rows that {CLAIMS} does not have", sorted(names - claimed)),
    )
    return [
        f"{words}: {len(found)}, the first: {found[0]!r}; if that is right, run make papers"
        for words, found in told
        if found
    ]


def _unjudged(rule: Rule, names: Sequence[str], why: str, reasons: Mapping[str, str]) -> Unjudged:
    return Unjudged(rule.case, tuple(names), why, {name: reasons[name] for name in names if name in reasons})


def claims(root: Path) -> dict[str, list[list[str]]]:
    """The names of the rows of each rule in the full form, by figure; of no figure if there is no such file."""
    path = root / CLAIMS
    if not path.exists():
        return {}
    try:
        told: dict[str, list[list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}: run make papers") from error
    return told


def code(rows: Sequence[Row], lacking: Sequence[Unjudged]) -> int:
    """The exit code of one reproduction."""
    if not all(row.expected for row in rows):
        return UNEXPECTED
    return NOT_JUDGED if lacking else AS_EXPECTED


def overall(codes: Sequence[int]) -> int:
    """The exit code of several reproductions."""
    return next((code for code in (UNEXPECTED, NOT_JUDGED) if code in codes), AS_EXPECTED)


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows (as plain values) have each outcome."""
    found: dict[str, int] = {}
    for row in rows:
        found[row["outcome"]] = found.get(row["outcome"], 0) + 1
    return found
