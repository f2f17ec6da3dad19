"""Where the time of a connection went: what `why` answers, and which cause there was when."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quiclab.drawings.view.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quiclab.explanations.why import Answer, Cause
    from quiclab.explanations.why.records import Records


@dataclass
class Causes:
    """The causes of one connection."""

    answer: "Answer"
    """As from `Run.why`."""
    spans: list[tuple[int, int, str]]
    """Start and end, in nanoseconds of the run, and the cause that most of the time between them had."""

    def facts(self, columns: Columns, prefix: str, start: int) -> dict[str, Any]:
        """As the page has it, with times in nanoseconds from a start on."""
        import numpy as np

        def after(seconds: float) -> int:
            return round(seconds * 1e9) - start

        def told(causes: "Sequence[Cause]") -> list[dict[str, Any]]:
            return [
                {
                    "name": cause.name,
                    "length": round(cause.seconds * 1e9),
                    "share": cause.share,
                    "longest": [after(time) for time in cause.longest],
                    "what": cause.what,
                    "advice": cause.advice,
                }
                for cause in causes
            ]

        names = list(dict.fromkeys(cause for _, _, cause in self.spans))
        columns.differences(f"{prefix}start", np.array([begin - start for begin, _, _ in self.spans], dtype=np.int64))
        columns.differences(f"{prefix}end", np.array([end - start for _, end, _ in self.spans], dtype=np.int64))
        columns.differences(
            f"{prefix}cause", np.array([names.index(cause) for *_, cause in self.spans], dtype=np.int64)
        )
        return {
            "start": after(self.answer.start_s),
            "end": after(self.answer.end_s),
            "completed": self.answer.completed,
            "unfinished": self.answer.unfinished,
            "causes": told(self.answer.causes),
            "beside": told(self.answer.beside),
            "names": names,
            "prefix": prefix,
        }


def causes(records: "Records", entry: dict[str, Any]) -> Causes:
    """Where the time of a connection went.

    :param entry: its entry in the summary.
    """
    from quiclab.explanations.why.flow import Flow

    flow = Flow(records, entry)
    spans = [(round(start * 1e9), round(end * 1e9), cause) for start, end, cause in flow.spans()]
    return Causes(flow.answer(), spans)
