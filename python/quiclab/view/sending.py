"""What waits at the sender: data that was written and not sent yet, and streams without credit.

Data that the application has written waits for the scheduler's choice, for the congestion window, or for credit (RFC
9000 section 4). That it was written is told by an event of qlog; that a stream has no credit by the frames
STREAM_DATA_BLOCKED and DATA_BLOCKED (sections 19.12 and 19.13), which a sender should send then.
"""

from collections.abc import Sequence

from quiclab.view.qlog import Log, Packet
from quiclab.view.waiting import NOBODY, Spans

CONNECTION = -1
"""Instead of a stream: the credit of the connection."""


def queued(packets: Sequence[Packet], log: Log, places: dict[int, int], end: int) -> Spans:
    """From when a stream has data that was not sent yet until all that was written is sent, each byte once.

    `offset` of a span is the first byte that waited, `held` the most bytes that did, and `filled` the packet with which
    it ended. Nothing is found where the log does not say what was written.
    """
    spans = Spans()
    written: dict[int, int] = {}
    sent: dict[int, int] = {}
    open_: dict[int, list[int]] = {}
    writes = sorted((entry for entry in log.written if entry[1] in places), key=lambda entry: entry[0])
    next_write = 0

    def write(time: int, stream: int, behind: int) -> None:
        written[stream] = max(written.get(stream, 0), behind)
        waiting = written[stream] - sent.get(stream, 0)
        if waiting > 0:
            span = open_.setdefault(stream, [time, sent.get(stream, 0), 0])
            span[2] = max(span[2], waiting)

    def close(time: int, stream: int, packet: int) -> None:
        span = open_.pop(stream, None)
        if span is not None:
            _add(spans, places[stream], (span[0], time), packet, (span[1], span[2]))

    for at, packet in enumerate(packets):
        while next_write < len(writes) and writes[next_write][0] <= packet.time:
            write(*writes[next_write])
            next_write += 1
        for stream, offset, length, _ in packet.streams:
            if offset + length > sent.get(stream, 0):
                sent[stream] = offset + length
                if sent[stream] >= written.get(stream, 0):
                    close(packet.time, stream, at)
        for stream in packet.resets:
            # RFC 9000 section 3.1: what was written and not sent is not sent any more.
            close(packet.time, stream, at)
            written.pop(stream, None)
    for entry in writes[next_write:]:
        write(*entry)
    for stream in list(open_):
        close(end, stream, NOBODY)
    return spans


def blocked(packets: Sequence[Packet], log: Log, places: dict[int, int], end: int) -> Spans:
    """From the frame that says that a stream, or the connection, has no credit until more comes.

    `stream` is `CONNECTION` for that of the connection; `offset` of a span is the limit that was reached.
    """
    spans = Spans()
    open_: dict[int, tuple[int, int]] = {}
    limits: dict[int, int] = {}
    events: list[tuple[int, int, str, int, int]] = []
    for order, seen in enumerate((log.received, packets)):
        events += [(packet.time, order, *credit) for packet in seen for credit in packet.credit]
    for time, order, what, stream, limit in sorted(events, key=lambda event: event[:2]):
        is_own = order == 1
        if not is_own and what == "max" and limit > limits.get(stream, -1):
            limits[stream] = limit
            if stream in open_ and limit > open_[stream][1]:
                start, reached = open_.pop(stream)
                _add(spans, places.get(stream, CONNECTION), (start, time), NOBODY, (reached, 0))
            continue
        # A frame that was lost and is sent again tells nothing new.
        is_new = is_own and what == "blocked" and limit >= limits.get(stream, 0) and stream not in open_
        if is_new and (stream == CONNECTION or stream in places):
            open_[stream] = (time, limit)
    for stream, (start, reached) in open_.items():
        _add(spans, places.get(stream, CONNECTION), (start, end), NOBODY, (reached, 0))
    return spans


def _add(spans: Spans, place: int, times: tuple[int, int], filled: int, what: tuple[int, int]) -> None:
    if times[1] <= times[0]:
        return
    spans.stream.append(place)
    spans.start.append(times[0])
    spans.end.append(times[1])
    spans.missing.append(NOBODY)
    spans.filled.append(filled)
    spans.offset.append(what[0])
    spans.held.append(what[1])
