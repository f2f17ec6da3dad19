"""Rate adaptation in whole runs, beside a reference that was written from the papers (`tests/abr_reference.py`)."""

import sys
from pathlib import Path

from validation.section import Section

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from abr_in_runs import SESSIONS, Comparison, compared
from abr_reference import ALGORITHMS

REQUEST_S = 1e-5
"""How far a request may be from that of the reference with the downloads of the run."""
DOWNLOAD_S = 1e-6
"""How far a download may be from its predicted time: about a byte at 9 Mbit/s, so that a byte too many is seen."""
SESSION_S = 1e-4
"""How far the end of a session may be, after 40 downloads, outages and slow phases."""

TEXT = """\
## Rate adaptation

Four algorithms each play {sessions} random sessions of 40 segments, on demand: once in whole runs over HTTP/3 and
one link, and once with a player and algorithms in Python that share no code with quiclab. The throughput changes
every 0.5 s to 20 s, between 200 kbit/s and 9 Mbit/s, with outages; the ladder, the durations and sizes of segments
and the limit of the buffer are random, too. The link has a delay of 1 us, an unlimited queue, and no loss;
`controller = "none"`, wide windows, and `max_ack_delay = "16 s"`, so that outages below 16 s cause no probes. Two
comparisons are made:

* *same downloads*: the reference knows when each download of the run began and ended, and must make the same
  choices, and send its requests at the same times;
* *alone*: the reference knows when the first request was sent, and plays the whole session on its own. The cost of
  a download beyond its segment is computed, not fitted: 2 us for the path of the request and of the answer, and each
  byte of the answer on the link, by the formats of HTTP/3, QPACK, QUIC, UDP and IP (`answer` in
  `tests/abr_in_runs.py`). *Download off* is the largest difference between the end of a download and that prediction,
  if both requested it at the same time; *session off* is the same for the last download of a session. Both exclude
  sessions in which an outage of more than 16 s caused a probe, which repeats data that still waits at the link.

No choice may differ. Where several choices of `mpc` are the best ones, since plans with the same steps at other times
have the same value (to within 1e-9, which is rounding), the run's counts as equal if it is one of them, and the
reference goes on with it; *ties* counts these. A request may be off by 10 us, a download by 1 us, a session by
100 us. *Without costs* shows why the costs are computed: with the bytes of the segments alone, a choice close to a
threshold changes, and others after it. Written by `make validation-abr`.
"""


def row(name: str, one: Comparison) -> tuple[str, bool]:
    """A line of the table, and whether it holds."""
    holds = one.differ_replayed == one.differ_alone == 0
    holds &= one.request_off_s < REQUEST_S and one.download_off_s < DOWNLOAD_S and one.end_off_s < SESSION_S
    cells = [
        f"`{name}`",
        f"{one.choices}",
        f"{one.differ_replayed}",
        f"{one.differ_alone}",
        f"{one.ties}",
        f"{one.differ_without_costs} ({one.differ_without_costs / one.choices:.1%})",
        f"{one.request_off_s * 1e6:.3f} us",
        f"{one.download_off_s * 1e6:.3f} us",
        f"{one.end_off_s * 1e6:.1f} us",
        f"{one.sessions_probed}",
        "holds" if holds else "**differs**",
    ]
    return f"| {' | '.join(cells)} |", holds


def study(folder: Path, runs: int | None) -> Section:
    """Plays all sessions, or as many as `runs` says."""
    sessions = runs or SESSIONS
    rows = [row(name, compared(name, folder, sessions)) for name in ALGORITHMS]
    head = ["", "choices", "differ, same downloads", "differ, alone", "ties", "alone, without costs"]
    head += ["request off", "download off", "session off", "sessions with probes", ""]
    lines = [*TEXT.format(sessions=sessions).splitlines(), "", f"| {' | '.join(head)} |"]
    lines += ["| --- |" + " ---: |" * (len(head) - 2) + " --- |", *(line for line, _ in rows)]
    return Section(lines, all(holds for _, holds in rows))
