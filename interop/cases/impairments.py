"""Paths that lose, alter, and go dark."""

from cases.case import CLEAN, Case, Evidence, needs, numbers_of_connections, one_connection

HANDSHAKES = 50
"""Connections of the cases that are about handshakes, each for one small file."""


def handshakes(evidence: Evidence) -> None:
    """All handshakes are there, and something befell them."""
    seen = len(numbers_of_connections(evidence.at_client))
    needs(seen >= HANDSHAKES, f"{seen} connections instead of {HANDSHAKES}")
    impaired(evidence)


def transfer(evidence: Evidence) -> None:
    """One connection, and something befell it."""
    one_connection(evidence)
    impaired(evidence)


def impaired(evidence: Evidence) -> None:
    """Both directions of the path lost or altered datagrams."""
    for link in evidence.relay["links"]:
        needs(link["lost"] or link["corrupted"], f"nothing befell what was on {link['link']}")


def blackhole(evidence: Evidence) -> None:
    """The same connection goes on after a time in which nothing passed."""
    one_connection(evidence)
    needs(evidence.relay["blacked_out"], "nothing was lost in the dark: the transfer was over before")


CASES = [
    Case(
        "handshakeloss",
        "30 % of all datagrams are lost; 50 connections",
        handshakes,
        files=(1024,) * HANDSHAKES,
        link=CLEAN + '\nloss = "30 %"',
        client=("--each",),
        timeout=300,
    ),
    Case(
        "transferloss",
        "2 % of all datagrams are lost",
        transfer,
        files=(2 << 20,),
        link=CLEAN + '\nloss = "2 %"',
    ),
    Case(
        "handshakecorruption",
        "30 % of all datagrams are altered; 50 connections",
        handshakes,
        files=(1024,) * HANDSHAKES,
        link=CLEAN + '\ncorrupt = "30 %"',
        client=("--each",),
        timeout=300,
    ),
    Case(
        "transfercorruption",
        "2 % of all datagrams are altered",
        transfer,
        files=(2 << 20,),
        link=CLEAN + '\ncorrupt = "2 %"',
    ),
    Case(
        "blackhole",
        "after 5 s nothing passes for 2 s",
        blackhole,
        files=(10 << 20,),
        relay=("--blackout", "5 s-7 s"),
    ),
]
