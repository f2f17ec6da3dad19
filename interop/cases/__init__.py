"""The test cases of the QUIC interop runner, by the names that they have there."""

from cases import admission, impairments, midway, transfers
from cases.case import Case

CASES: dict[str, Case] = {
    case.name: case for room in (transfers, admission, impairments, midway) for case in room.CASES
}
"""All of them by name."""
