"""Stations of a wireless LAN with little to send collide as often as those of ns-3."""

import math
from collections import Counter
from statistics import mean

import quiclab

STATIONS, SECONDS, PACKETS_PER_S = 10, 20, 75
"""About 30 % of what the stations can send altogether."""
NS3 = (0.0107, 0.0116, 0.0131)
"""Of `python interop/ns3/wlan_load.py 10 20 75 SEED` with the seeds 1 to 3."""
DATA_NS = 1000 * (20 + 4 * math.ceil((22 + 8 * 1536) / 216))
"""A data frame of 802.11a at 54 Mbit/s with a packet of 1500 bytes."""


def share(seed: int) -> tuple[float, Counter[int]]:
    """The share of data frames that overlapped with another one, and the us between their starts."""
    names = [f"t{number}" for number in range(STATIONS)]
    nodes = "\n".join(f'[[node]]\nname = "{name}"' for name in ["station", *names, "clock", "bell"])
    source = f'{{ type = "poisson", size = 1472, gap = "{1e9 / PACKETS_PER_S:.0f} ns" }}'
    traffic = "\n".join(
        f'[[cross_traffic]]\nname = "of-{name}"\nfrom = "{name}"\nto = "station"\nsource = {source}' for name in names
    )
    text = f"""
seed = {seed}
duration = "{SECONDS} s"
{nodes}
{traffic}
[record]
tables = []
blocks = true
[[medium]]
name = "air"
type = "wlan"
standard = "a"
station = "station"
terminals = {names}
[[link]]
name = "wire"
from = "clock"
to = "bell"
[[flow]]
name = "bell"
client = "clock"
server = "bell"
application = {{ type = "messages", source = {{ type = "constant", size = 20, gap = "1 s" }} }}
"""
    blocks = quiclab.Scenario.from_text(text).run().table("block").to_pylist()
    starts = sorted(round(1e9 * block["time_s"]) - DATA_NS for block in blocks)
    overlapped, gaps = set(), Counter[int]()
    for at in range(1, len(starts)):
        gap = starts[at] - starts[at - 1]
        if gap < DATA_NS:
            overlapped |= {at - 1, at}
            gaps[gap // 1000] += 1
    return len(overlapped) / len(starts), gaps


def test_stations_with_immediate_access_collide_as_in_ns3() -> None:
    """Without a time of carrier sense the mean was 0.005: only frames that began together collided."""
    runs = [share(seed) for seed in (1, 2, 3)]
    ours, theirs = mean(one for one, _ in runs), mean(NS3)
    assert abs(ours / theirs - 1) < 0.2, (ours, theirs)
    gaps = sum((gaps for _, gaps in runs), Counter[int]())
    assert max(gaps) <= 3, "aCCATime is 4 us"
    assert min(gaps[us] for us in range(4)) > 10, gaps
