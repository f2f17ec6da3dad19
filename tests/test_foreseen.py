"""What `quiclab check` warns of before a run: thin ways back, slow nodes, queues far from the BDP, NATs that forget."""

from pathlib import Path
from typing import Any

import quiclab

LINK = {"name": "l", "from": "server", "to": "nat", "rate": "10 Mbit/s", "delay": "10 ms"}
LAN = {"name": "lan", "from": "nat", "to": "client", "rate": "100 Mbit/s", "delay": "1 ms"}
THINKS = {"type": "request-response", "count": 3, "think": "45 s"}


def warned(
    link: dict[str, Any] | None = None,
    application: object = "bulk",
    timeout: str = "5 min",
    processing: dict[str, Any] | None = None,
    nat: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, str]:
    """The warnings about the flow, by their option."""
    nodes = [nat or {"name": "nat", "kind": {"type": "nat", "inside": ["lan"], "timeout": timeout}}]
    nodes += [{"name": "server"}, {"name": "client"}]
    for node in nodes:
        if node["name"] in (processing or {}):
            node["processing"] = {"type": "server", **(processing or {})[node["name"]]}
    flow = {"name": "get", "client": "client", "server": "server", "application": application, **more}
    document = {"name": "foreseen", "node": nodes, "link": [LAN, {**LINK, **(link or {})}], "flow": [flow]}
    lines = quiclab.Scenario(document).describe()
    return {
        subject.removeprefix("flow get, ").removesuffix(", warning"): text
        for subject, text in lines
        if subject.startswith("flow get, ") and subject.endswith(", warning")
    }


def test_a_way_back_that_is_too_thin_for_acknowledgements() -> None:
    assert warned() == {}
    found = warned({"backward": {"rate": "150 kbit/s"}})
    assert list(found) == ["ack_ratio"]
    assert "needs 206.666 kbit/s" in found["ack_ratio"] and "l backward carries 150 kbit/s" in found["ack_ratio"]
    assert warned({"backward": {"rate": "150 kbit/s"}}, transport={"ack_ratio": 4}) == {}
    upload = {"type": "bulk", "direction": "upload"}
    assert warned({"backward": {"rate": "150 kbit/s"}}, upload) == {}
    assert list(warned({"forward": {"rate": "150 kbit/s"}}, upload)) == ["ack_ratio"]
    assert list(warned({"backward": {"rate": "150 kbit/s"}}, protocol="tcp")) == ["ack_ratio"]


def test_a_node_that_is_slower_than_the_link() -> None:
    # 1,500 B at 10 Mbit/s: 1.2 ms.
    upload = {"type": "bulk", "direction": "upload"}
    assert warned(processing={"client": {"packet": "1.1 ms"}}) == {}
    assert list(warned(processing={"client": {"packet": "1.3 ms"}})) == ["processing"]
    assert warned(application=upload, processing={"client": {"packet": "1.3 ms"}}) == {}
    # A server receives acknowledgements: one for every two packets of data.
    found = warned(processing={"server": {"packet": "4 ms"}})["processing"]
    assert "node server takes 4 ms for each acknowledgement" in found and "about 6 Mbit/s of the 10 Mbit/s" in found
    assert warned(processing={"server": {"packet": "4 ms"}}, transport={"ack_ratio": 8}) == {}
    assert warned(processing={"server": {"packet": "4 ms", "ack": "100 us"}}) == {}
    # A node on the way has both.
    both = warned(processing={"nat": {"packet": "800 us", "byte": "200 ns"}})["processing"]
    assert "node nat takes 1.1 ms for each packet of data and 812.4 us for each acknowledgement" in both
    assert list(warned(processing={"server": {"packet": "4 ms"}}, protocol="tcp")) == ["processing"]


def test_a_queue_far_above_or_below_the_bdp() -> None:
    deep = warned({"queue": "1 s"})
    assert list(deep) == ["queue"] and "holds 1.25 MB, 1 s at 10 Mbit/s" in deep["queue"]
    assert warned({"queue": "200 ms"}) == {}
    assert warned({"queue": {"type": "fq-codel", "limit": "2 s"}}) == {}
    far = {"delay": "80 ms", "queue": "5 packets"}
    assert "bursts are lost" in warned(far)["queue"]
    assert warned({**far, "queue": "20 packets"}) == {}
    assert list(warned({"queue": {"type": "priority", "classes": [["get"]], "limit": "1 s"}})) == ["queue"]
    assert "has no limit" in warned({"queue": "unlimited"})["queue"]


def test_a_way_back_is_not_too_thin_for_a_flow_with_a_clock_of_its_own() -> None:
    source = {"type": "constant", "size": 200, "gap": "100 ms"}
    messages = {"type": "messages", "direction": "download", "source": source}
    assert warned({"backward": {"rate": "150 kbit/s"}}, messages) == {}


def test_credit_below_the_bdp() -> None:
    # 10 Mbit/s over 22 ms: some 28 kB.
    upload = {"type": "bulk", "direction": "upload"}
    low = {"initial_max_stream_data_uni": "10 kB"}
    assert list(warned(application=upload, transport=low)) == ["initial_max_stream_data_uni"]
    assert warned(transport=low) == {}
    local = {"initial_max_stream_data_bidi_local": "10 kB"}
    assert list(warned(transport=local)) == ["initial_max_stream_data_bidi_local"]
    assert warned(application=upload, transport=local) == {}
    assert warned(application={"type": "bulk", "streams": 6}, transport=local) == {}
    assert "about" in warned(transport={"initial_max_data": "40 kB"})["initial_max_data"]
    assert warned(application={"type": "bulk", "size": "9 kB"}, transport=local) == {}
    far = {"delay": "100 ms"}
    assert list(warned(far, protocol="tcp", tcp={"window_scaling": False})) == ["window_scaling"]
    assert warned(far, protocol="tcp") == {}
    assert warned({"delay": "20 ms"}, protocol="tcp", tcp={"window_scaling": False}) == {}


def test_a_proxy_ends_a_connection_and_has_credit_of_its_own() -> None:
    # 10 Mbit/s over 20 ms beyond the proxy: 25 kB; over 2 ms before it: 2.5 kB.
    upload = {"type": "bulk", "direction": "upload"}
    low: dict[str, Any] = {"receive_buffer": "10 kB", "max_receive_buffer": "10 kB"}

    def through(application: object = "bulk", tcp: dict[str, Any] | None = None, **options: Any) -> dict[str, str]:
        pep = {"name": "nat", "kind": {"type": "pep", **options}}
        return warned(application=application, nat=pep, protocol="tcp", tcp=tcp or {})

    assert through() == {}
    assert list(through(**low)) == ["node nat, max_receive_buffer"]
    assert list(through(server=low)) == ["node nat, max_receive_buffer"]
    assert through(client=low) == {}
    assert through(upload, **low) == {}
    assert through(tcp=low) == {}
    assert list(through(upload, tcp=low)) == ["max_receive_buffer"]
    assert list(through(upload, server={"controller": {"type": "fixed", "window": "10 kB"}})) == [
        "node nat, controller"
    ]
    # Either end of a connection can keep its windows small; each is named once.
    scaled, far = {"window_scaling": False}, {"delay": "100 ms"}
    pep = {"name": "nat", "kind": {"type": "pep", **scaled}}
    assert list(warned(far, protocol="tcp", nat=pep)) == ["node nat, window_scaling"]
    assert list(warned(far, upload, protocol="tcp", nat=pep)) == ["node nat, window_scaling"]
    assert list(warned(far, protocol="tcp", tcp=scaled, nat=pep)) == ["node nat, window_scaling", "window_scaling"]
    # Over QUIC it ends nothing.
    pep = {"name": "nat", "kind": {"type": "pep", **low}}
    assert warned(nat=pep) == {}


def test_a_policer_is_a_bottleneck() -> None:
    policer = {"type": "policer", "rate": "150 kbit/s", "burst": "10 kB"}
    found = warned({"backward": {"queue": policer}})
    assert list(found) == ["ack_ratio"] and "the policer of l backward carries 150 kbit/s" in found["ack_ratio"]
    assert warned({"backward": {"queue": {**policer, "exceed": "mark"}}}) == {}
    slow = {"forward": {"queue": {**policer, "rate": "2 Mbit/s"}}, "backward": {"rate": "150 kbit/s"}}
    assert warned(slow) == {}
    # A burst passes at the rate of the link.
    burst = {"forward": {"queue": {**policer, "burst": "10 MB"}}}
    assert warned(burst, {"type": "bulk", "size": "9 MB"}, stop="20 s") == {}


def test_a_nat_that_forgets_within_a_pause(tmp_path: Path) -> None:
    assert warned(application=THINKS) == {}
    found = warned(application=THINKS, timeout="30 s")
    assert "silent for 45 s" in found["keep_alive"] and "forgets the connection after 30 s" in found["keep_alive"]
    assert warned(application=THINKS, timeout="30 s", transport={"keep_alive": "15 s"}) == {}
    source = {"type": "on-off", "gap": "10 ms", "off": "40 s"}
    news = {"type": "messages", "direction": "download", "source": source}
    assert list(warned(application=news, timeout="30 s")) == ["keep_alive"]
    nat = {"name": "nat", "kind": {"type": "nat", "inside": ["lan"], "tcp_timeout": "30 s"}}
    pages = tmp_path / "pages.csv"
    pages.write_text("size\n20 kB\n", encoding="utf-8")
    page = {"type": "page", "over": "http1.1", "page": {"type": "list", "file": str(pages), "reading": "45 s"}}
    assert list(warned(application=page, nat=nat, protocol="tcp")) == ["keep_alive"]
