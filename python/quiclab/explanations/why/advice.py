"""The advice of an answer: remedies that are tried, and causes in the order of what they bring."""

from collections.abc import Sequence
from dataclasses import replace

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies import Option, known, options, usual
from quiclab.explanations.why.trial import Outcome, Trials, saved
from quiclab.explanations.why.words import nothing, words
from quiclab.results.answer import Cause, Remedy

_HELPS = 0.03
"""A remedy that saves less of the time is none."""
_NOTABLE = 0.1
"""Where a remedy saves this share of the time, another path is no advice."""
_ALTERNATIVES = 2
"""The number of further changes that are named."""
_ABOUT = 0.85
"""A remedy that saves this part of what the best one saves is about as good."""
_MOST_TRIED = 10
"""Changes that are tried for one cause."""


class Advice:
    """What would help a flow.

    :param name: of the connection.
    :param before: how the flow went; None if that cannot be compared.
    :param span: from its start to the end of the run, in seconds.
    :param trials: None if nothing is tried.
    """

    def __init__(self, name: str, before: Outcome | None, span: float, trials: Trials | None) -> None:
        self._name, self._before, self._span, self._trials = name, before, span, trials

    def told(self, cause: Cause, facts: Facts, weight: float) -> Cause:
        """A cause with its words, and with the remedy that saves the most.

        :param cause: without words.
        :param facts: what is known of it.
        :param weight: the share of the time that a cause can have at all.
        """
        found = list(options(cause.name, facts))
        share = min(cause.share / weight, 1.0) if weight > 0 else 0.0
        what = words(cause.name, facts)
        if self._trials is None or self._before is None:
            found = [*known(cause.name, facts), *found]
            found.sort(key=lambda option: (option.is_last, -option.brings))
            ranked: list[tuple[Option, float, str | None]] = [(option, option.brings * share, None) for option in found]
        else:
            ranked = self._tried([*found[:_MOST_TRIED], *usual(facts)], share)
        if not ranked:
            change = (
                "nothing that was tried helps" if found and self._trials is not None else nothing(cause.name, facts)
            )
            return replace(cause, what=what, change=change)
        (first, claim, tried), *others = ranked
        remedy = Remedy(first.what, first.sets, claim, tried, first.is_last)
        # Of changes of one sort, such as other controllers, the first is named.
        more = {_sort(option): option.what for option, *_ in reversed(others) if _sort(option) != _sort(first)}
        change = ", or ".join([str(remedy), *list(more.values())[::-1][:_ALTERNATIVES]])
        return replace(cause, what=what, change=change, remedy=remedy)

    def _tried(self, found: Sequence[Option], share: float) -> list[tuple[Option, float, str | None]]:
        """The changes that help, the one that saves the most first."""
        assert self._trials is not None and self._before is not None
        ranked: list[tuple[Option, float, str | None]] = []
        for option in found:
            after = self._trials.outcome(self._name, option.sets, self._span, self._before.measure)
            if after is not None and (brought := saved(self._before, after)) >= _HELPS:
                ranked.append((option, brought, _compared(self._before, after)))
        best = max((brought for option, brought, _ in ranked if not option.is_last), default=0.0)

        def key(place: int) -> tuple[bool, bool, float]:
            option, brought, _ = ranked[place]
            # Of about equal ones that comes first which is listed first: it costs less, or harms nobody else.
            near = brought >= _ABOUT * best
            return (option.is_last, not near, place if near and not option.is_last else -brought)

        return [ranked[place] for place in sorted(range(len(ranked)), key=key)]


def _sort(option: Option) -> str:
    return option.what.split(" (", 1)[0].split(", of ", 1)[0]


def _compared(before: Outcome, after: Outcome) -> str:
    words = "" if before.measure in ("for each byte", "seconds for each Mbit/s of video") else f"{before.measure} "
    return f"{words}{after.shown} instead of {before.shown}"


def ranked(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Causes by what their remedies save.

    What a remedy saves beyond twice the time of its cause it does not save by this cause, and it does not count.
    """

    def brings(cause: Cause) -> float:
        return min(cause.remedy.claim, 2 * cause.share) if cause.remedy is not None else 0.0

    here = any(brings(cause) >= _NOTABLE for cause in causes if cause.remedy is not None and not cause.remedy.elsewhere)

    def key(cause: Cause) -> tuple[bool, float, float]:
        elsewhere = here and cause.remedy is not None and cause.remedy.elsewhere
        return (elsewhere or cause.remedy is None, -brings(cause), -cause.seconds)

    return tuple(sorted(causes, key=key))


def notes(causes: Sequence[Cause], trials: Trials | None, refused: str | None) -> tuple[str, ...]:
    """What is to be known of the advice."""
    if refused is not None:
        return (f"nothing was tried, and the savings are estimates: {refused}",)
    if trials is not None and causes and all(cause.remedy is None for cause in causes):
        return ("no remedy that was tried makes this flow faster",)
    return ()
