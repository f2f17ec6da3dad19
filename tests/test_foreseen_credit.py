"""What `quiclab check` says of credit, beside runs: drawn networks with and without a proxy, over QUIC and TCP."""

import random
import re
from typing import Any

import pytest

import quiclab

SIZES_KB = (8, 16, 32, 64, 128, 300, 1000, 4000)
WIDE = {"receive_buffer": "16 MB", "max_receive_buffer": "64 MB"}


def drawn(seed: int) -> dict[str, Any]:
    """A transfer over two links, with credit that may or may not hold it back."""
    draw = random.Random(seed)

    def buffers(probability: float) -> dict[str, Any]:
        size = f"{draw.choice(SIZES_KB)} kB"
        return {"receive_buffer": size, "max_receive_buffer": size} if draw.random() < probability else {}

    def scaling() -> dict[str, Any]:
        return {"window_scaling": False} if draw.random() < 0.2 else {}

    rate, faster = draw.choice([2, 5, 10, 20]), draw.choice([1, 2, 5])
    near = {"rate": f"{rate * faster} Mbit/s", "delay": f"{draw.choice([1, 5, 20, 60])} ms", "queue": "2 MB"}
    far = {"rate": f"{rate} Mbit/s", "delay": f"{draw.choice([1, 5, 20, 60, 150])} ms", "queue": "2 MB"}
    if draw.random() < 0.3:
        near, far = far, near
    links = [
        {"name": "near", "from": "client", "to": "mid", **near},
        {"name": "far", "from": "mid", "to": "server", **far},
    ]
    sides = {side: own for side in ("client", "server") if (own := buffers(0.3))}
    kind = {"type": "pep", **buffers(0.6), **scaling(), **sides}
    nodes: list[dict[str, Any]] = [{"name": "client"}, {"name": "server"}]
    nodes.append({"name": "mid", "kind": kind} if draw.random() < 0.5 else {"name": "mid"})
    direction = draw.choice(["upload", "download"])
    flow: dict[str, Any] = {"name": "get", "client": "client", "server": "server"}
    flow["application"] = {"type": "bulk", "size": f"{rate} MB", "direction": direction}
    if draw.random() < 0.7:
        flow |= {"protocol": "tcp", "tcp": {**buffers(0.5), **scaling()}}
    else:
        stream = "initial_max_stream_data_uni" if direction == "upload" else "initial_max_stream_data_bidi_local"
        options = [option for option in ("initial_max_data", stream, "send_queue") if draw.random() < 0.4]
        flow["transport"] = {option: f"{draw.choice(SIZES_KB)} kB" for option in options}
    return {"name": "credit", "duration": "300 s", "node": nodes, "link": links, "flow": [flow]}


def with_much_credit(document: dict[str, Any]) -> dict[str, Any]:
    """The same with credit that holds nothing back."""
    (flow,) = document["flow"]
    own = {key: value for key, value in flow.items() if key not in {"tcp", "transport"}}
    if flow.get("protocol") == "tcp":
        own["tcp"] = WIDE
    nodes = [{**node, "kind": {"type": "pep", **WIDE}} if "kind" in node else node for node in document["node"]]
    return {**document, "node": nodes, "flow": [own]}


def goodput(document: dict[str, Any]) -> float:
    (connection,) = quiclab.Scenario(document).run(1).summary["connections"]
    return float(connection["goodput_mbps"])


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_a_flow_gets_no_more_than_a_warning_says_and_without_one_more_credit_is_of_no_use(first: int) -> None:
    warned = 0
    for seed in range(first, first + 10):
        document = drawn(seed)
        told = [words for subject, words in quiclab.Scenario(document).describe() if subject.endswith(", warning")]
        credit = [words for words in told if "data has to wait" in words or "make data wait" in words]
        most = [re.search(r"allow at most ([\d.]+) ([kM])bit/s", words) for words in credit]
        bounds = [float(found[1]) * {"k": 1e-3, "M": 1.0}[found[2]] for found in most if found]
        carried = goodput(document)
        assert all(carried <= 1.02 * bound for bound in bounds), (seed, carried, told)
        if not credit:
            assert carried >= 0.8 * goodput(with_much_credit(document)), (seed, carried, told)
        warned += bool(credit)
    assert 0 < warned < 10
