"""The law of advice: what the first advice for a situation claims, and what it brings when it is followed.

`python tests/why_law.py` prints the table of docs/why.md, `--write` puts it there, and `--seeds N` draws each situation
N times and prints how many keep the law.
"""

import argparse
import itertools
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quiclab
import why_situations_media  # noqa: F401
import why_situations_more  # noqa: F401
import why_situations_settings  # noqa: F401
from quiclab.explanations.why.situation import number
from quiclab.explanations.why.trial import outcome, saved
from quiclab.why import Answer
from why_situations import SITUATIONS, Draw, Situation

PAGE = Path(__file__).parent.parent / "docs" / "why.md"
BEGIN, END = "<!-- the law: made by tests/why_law.py -->", "<!-- end of the law -->"
HEAD = "| situation | first cause | its share | advice | claimed | brought |"


@dataclass(frozen=True)
class Kept:
    """What the first advice for a situation claims and brings."""

    situation: Situation
    answer: Answer
    entry: dict[str, Any]
    """That of the flow in the summary."""
    claimed: float
    brought: float

    @property
    def holds(self) -> bool:
        """Whether it brings at least half of what it claims, and is no harm."""
        return self.answer.causes[0].remedy is not None and self.brought > 0 and self.brought >= 0.5 * self.claimed

    def row(self, name: str) -> str:
        """Its row of the table."""
        cause = self.answer.causes[0]
        sets = ", ".join(f"`{change}`" for change in (cause.remedy.changes if cause.remedy else []))
        numbers = [f"{share:.0%}".replace("%", " %") for share in (cause.share, self.claimed, self.brought)]
        return f"| {name} | {cause.name} | {numbers[0]} | {sets} | {numbers[1]} | {numbers[2]} |"


def kept(name: str, seed: int, *, tries: bool = True) -> Kept:
    """Runs a situation, asks why, and follows the first advice."""
    situation = SITUATIONS[name](Draw(name, seed))
    scenario = quiclab.Scenario(situation.document)
    run = scenario.run()
    (answer,) = run.why(situation.flow, tries=tries)
    entry = entry_of(run, situation.flow)
    remedy = answer.causes[0].remedy
    if remedy is None:
        return Kept(situation, answer, entry, 0.0, 0.0)
    span = (number(situation.document["duration"]) or 0.0) - answer.start_s
    before = outcome(entry, span)
    assert before is not None
    after = outcome(entry_of(scenario.with_(remedy.sets).run(tables=False), situation.flow), span, before.measure)
    # A flow that does not complete any more has nothing to be compared by.
    return Kept(situation, answer, entry, remedy.claim, -1.0 if after is None else saved(before, after))


def entry_of(run: quiclab.Run, flow: str) -> dict[str, Any]:
    """The entry of a flow in a summary."""
    return next(entry for entry in run.summary["connections"] if entry["name"] == flow)


def table(seed: int = 1) -> str:
    """The table of docs/why.md."""
    rows = [kept(name, seed).row(name) for name in SITUATIONS]
    return "\n".join([HEAD, "| --- | --- | ---: | --- | ---: | ---: |", *rows])


def written() -> list[list[str]]:
    """The cells of the table in docs/why.md."""
    text = PAGE.read_text(encoding="utf-8")
    rows = text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def _write() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _cost() -> None:
    """Prints how long runs, answers from the records and answers with trials take, over all situations."""
    clock = [0.0, 0.0, 0.0]
    for name in SITUATIONS:
        situation = SITUATIONS[name](Draw(name, 1))
        scenario = quiclab.Scenario(situation.document)
        marks = [time.perf_counter()]
        run = scenario.run()
        marks.append(time.perf_counter())
        run.why(situation.flow, tries=False)
        marks.append(time.perf_counter())
        run.why(situation.flow)
        marks.append(time.perf_counter())
        clock = [spent + end - start for spent, (start, end) in zip(clock, itertools.pairwise(marks), strict=True)]
    runs, records, tried = clock
    print(f"runs {runs:.1f} s; from the records {records / runs:.1f} times that, with trials {tried / runs:.1f} times")


def _drawn(seeds: int, *, tries: bool) -> int:
    """Prints the situations that break the law, and how many keep it."""
    good = right = total = 0
    for name in SITUATIONS:
        for seed in range(1, seeds + 1):
            one = kept(name, seed, tries=tries)
            first = one.answer.causes[0].name
            total, good, right = total + 1, good + one.holds, right + (first in one.situation.truth)
            if not one.holds or first not in one.situation.truth:
                print(f"seed {seed}: {one.row(name)}")
    print(f"{good} of {total} bring half of what they claim, {right} of {total} name the cause")
    return int(good < total)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to docs/why.md")
    parser.add_argument("--seeds", type=int, default=0, help="draw each situation so often")
    parser.add_argument("--cost", action="store_true", help="measure what answers cost")
    parser.add_argument("--no-try", action="store_true", help="take the advice from the records alone")
    given = parser.parse_args()
    if given.cost:
        _cost()
    elif given.seeds:
        raise SystemExit(_drawn(given.seeds, tries=not given.no_try))
    elif given.write:
        _write()
    else:
        print(table())
