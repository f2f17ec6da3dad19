"""qlog files of this and of other stacks: packets, frames, losses and metrics, as columns.

Read are JSON text sequences and newline-delimited JSON (`sequence.py`) and plain JSON (`contained.py`), packed by gzip
or not (`source.py`), in the schema of draft-ietf-quic-qlog-main-schema-14, in the versions 0.3, 0.4 and draft-02, and
in the rows of draft-00 and draft-01 (`old.py`).

Records of the usual form are read by the crate `view`, many at a time. Whatever it does not know is read here, one
record at a time (`events.py`, `frames.py`): what is unusual and allowed, and what is wrong. Both read the same from the
same record. A record that cannot be read is skipped, counted and named (`skipped.py`); a file is refused only where
what is wrong would change the rest, as an unknown unit of time does.
"""

from quiclab.records.qlog.file import below, read, records, runs
from quiclab.records.qlog.log import METRICS, SPACES, Log, Packet, Packets, packet

__all__ = ["METRICS", "SPACES", "Log", "Packet", "Packets", "below", "packet", "read", "records", "runs"]
