"""The intervals between the packets that a paced sender sends."""

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import quiclab

SCENARIO = """
seed = 1
duration = "{seconds} s"
[record]
packets = true
[transport]
controller = {controller}
pacing_burst = {burst}
pacing_quantum = {quantum}
max_udp_payload = {payload}
initial_max_data = "1 GB"
initial_max_stream_data_uni = "1 GB"
[tcp]
controller = {controller}
pacing_burst = {burst}
pacing_quantum = {quantum}
receive_buffer = "64 MB"
[[link]]
name = "line"
from = "client"
to = "server"
rate = "10 Gbit/s"
delay = "10 ms"
[[flow]]
name = "up"
client = "client"
server = "server"
protocol = "{protocol}"
application = {{ type = "bulk", direction = "upload" }}
"""


def sent(
    *, skipped: int = 20, changes: dict[str, str] | None = None, more: str = "", **given: Any
) -> npt.NDArray[np.float64]:
    """When the client sent its packets with data, in s, beyond the ten or so of the first burst."""
    values = {"seconds": 1, "burst": 10, "quantum": 1, "payload": 1252, "protocol": "quic"} | given
    text = (SCENARIO + more).format(**values)
    for old, new in (changes or {}).items():
        text = text.replace(old, new)
    packets = quiclab.Scenario.from_text(text).run().table("packet").to_pandas()
    mine = packets[(packets["side"] == "client") & (packets["direction"] == "sent") & (packets["length_bytes"] > 600)]
    mine = mine[~mine["kind"].isin(["initial", "handshake"])]
    times: npt.NDArray[np.float64] = mine["time_s"].to_numpy(dtype=np.float64)
    return times[skipped:]


def unevenness(times: npt.NDArray[np.float64]) -> float:
    """The standard deviation of the intervals as a part of their mean."""
    apart = np.diff(times)
    return float(apart.std() / apart.mean())


FIXED = '{{ type = "fixed", rate = "{} kbit/s" }}'


@pytest.mark.parametrize("protocol", ["quic", "tcp"])
def test_a_fixed_rate_is_even(protocol: str) -> None:
    """At 10 Mbit/s, and at drawn rates and sizes: no packet leaves with less credit than it needs."""
    drawn = random.Random(5)
    cases = [(10_000, 1252)] + [(drawn.randrange(1000, 50_000), drawn.randrange(1200, 1453)) for _ in range(6)]
    for rate, payload in cases:
        times = sent(controller=FIXED.format(rate), protocol=protocol, payload=payload)
        # TCP's receive window opens in the first round trips.
        times = times[times > 0.2]
        assert len(times) > 40
        # A frame that is sent along with the data takes some of its room, and the interval after it is the same.
        assert unevenness(times) < 0.02, f"{rate} kbit/s, {payload} bytes"


@pytest.mark.parametrize("protocol", ["quic", "tcp"])
@pytest.mark.parametrize("controller", ["newreno", "cubic", "vegas", "westwood", "copa", "prague"])
def test_a_burst_of_one_packet_lets_no_two_leave_together(controller: str, protocol: str) -> None:
    """Whatever paces: with a burst of one packet, each waits for its credit, also after an acknowledgement."""
    times = sent(controller=f'"{controller}"', protocol=protocol, burst=1, seconds=0.3)
    assert len(times) > 100
    assert (np.diff(times) > 0).all()


def test_a_larger_quantum_leaves_together() -> None:
    times = sent(controller=FIXED.format(10_000), quantum=4)
    together = np.split(times, np.nonzero(np.diff(times))[0] + 1)
    assert {len(burst) for burst in together[1:-1]} == {4}


MEMORY = """
[[memory]]
name = "known"
node = "client"
peer = "server"
protocol = "{protocol}"
capacity = "1 MB"
rtt = "200 ms"
"""


@pytest.mark.parametrize("protocol", ["quic", "tcp"])
@pytest.mark.parametrize("controller", ["newreno", "cubic"])
def test_the_jump_of_careful_resume_is_even(controller: str, protocol: str) -> None:
    """RFC 9959 section 4.3.2: packets leave (current_RTT x MMS) / jump_cwnd apart: half of 1 MB in 200 ms."""
    changes = {'delay = "10 ms"': 'delay = "100 ms"', "pacing_burst": 'resume = "careful"\npacing_burst'}
    times = sent(controller=f'"{controller}"', protocol=protocol, skipped=0, changes=changes, more=MEMORY)
    began = times[np.nonzero(np.diff(times) > 0.15)[0][-1] + 1]
    # What slow start sends comes first.
    jump = times[(times > began + 0.07) & (times < began + 0.18)]
    assert len(jump) > 150
    assert unevenness(jump) < 0.05
    assert np.diff(jump).mean() == pytest.approx(0.2 * 1250 / 500_000, rel=0.25)
