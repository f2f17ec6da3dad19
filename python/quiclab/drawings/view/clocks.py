"""The clocks of both ends of a connection: whether their times can be compared, and how they are made to."""

from quiclab.records.qlog import Log

_DATED = 1_000_000_000 * 10**9
"""Times from here on, in nanoseconds, are since 1970: those since another zero are shorter than thirty years."""

_ALIKE = "so that the shortest delay is the same in both directions"


def set_alike(client: Log, server: Log, is_one: bool) -> list[str]:
    """Corrects the server's clock if its times cannot be those of the client's. Returns what a reader should know.

    Two clocks cannot be one if a packet arrives before it is sent. Then they are set as NTP does (RFC 5905 section 8):
    so that the shortest way takes as long in both directions.

    :param is_one: whether it is known that both are one clock.
    """
    spans = client.events.span(), server.events.span()
    if spans[0] is None or spans[1] is None:
        return []
    are_dated = [span[0] >= _DATED for span in spans if span is not None]
    # Dates are comparable, as far as both clocks are right; times since a zero of their own are not.
    is_known = is_one or all(are_dated)
    there, back = client.events.shortest(server.events), server.events.shortest(client.events)
    if any(are_dated) != all(are_dated):
        return [_without_date(server, there, back, spans[1][0] - spans[0][0])]
    off = _off(there, back)
    server.events.shift(-off)
    if off:
        words = "ahead of" if off > 0 else "behind"
        return [f"the server's clock is {abs(off) / 1e6:.3f} ms {words} the client's: set {_ALIKE}"]
    if is_one or there is None or back is None:
        return []
    if is_known:
        by_wall = "the wall_clock_time of each end relates their times: delays in one direction are as right as it is"
        return [by_wall] if client.is_by_wall or server.is_by_wall else []
    return [
        "each end counts time from a zero of its own, and the logs do not relate them: "
        f"of the delays in both directions only the sum is known, at least {(there + back) / 1e6:.3f} ms"
    ]


def _without_date(server: Log, there: int | None, back: int | None, apart: int) -> str:
    """Sets the server's clock where one log has dates and the other has not."""
    if there is not None and back is not None:
        off, how = (there - back) // 2, _ALIKE
    elif there is not None or back is not None:
        off, how = there if there is not None else -(back or 0), "so that the fastest packet takes no time"
    else:
        off, how = apart, "so that both logs begin together"
    server.events.shift(-off)
    return f"only one of both logs has times since 1970: the server's clock is set {how}"


def _off(there: int | None, back: int | None) -> int:
    """By how much the server's clock is ahead of the client's, in nanoseconds; 0 if nothing speaks against them."""
    if there is None or back is None:
        known = there if back is None else back
        return 0 if known is None or known >= 0 else known if back is None else -known
    return (there - back) // 2 if min(there, back) < 0 else 0
