"""Situations with one known cause each, drawn from a seed: networks, flows, and the causes that may stand first."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Parts = dict[str, Any]
SITUATIONS: dict[str, Callable[["Draw"], "Situation"]] = {}
"""By name; each is drawn anew from a seed."""


@dataclass(frozen=True)
class Situation:
    """A scenario, the flow that is asked about, and what is true of it."""

    document: Parts
    truth: tuple[str, ...]
    """The causes of which one must stand first."""
    flow: str = "get"


class Draw:
    """Values of a variant."""

    def __init__(self, name: str, seed: int) -> None:
        self._random = random.Random(f"{name} {seed}")

    def between(self, low: float, high: float) -> float:
        """A number with three digits, evenly between two."""
        return float(f"{self._random.uniform(low, high):.3g}")

    def one(self, *values: Any) -> Any:
        """One of some values."""
        return self._random.choice(values)

    def link(self, mbps: tuple[float, float] = (5, 40), ms: tuple[float, float] = (5, 60), **more: Any) -> Parts:
        """A link between the server and the client, with a queue of one BDP."""
        self.mbps, self.ms = self.between(*mbps), self.between(*ms)
        return {
            "name": "l",
            "from": "server",
            "to": "client",
            "rate": f"{self.mbps} Mbit/s",
            "delay": f"{self.ms} ms",
            "queue": f"{max(int(self.mbps * 2 * self.ms * 125), 15_000)} B",
            **more,
        }

    def megabytes(self, seconds: float) -> str:
        """What the last link carries in some time."""
        return f"{int(self.mbps * seconds * 125e3)} B"


def situation(draw: Callable[[Draw], Situation]) -> Callable[[Draw], Situation]:
    """One more situation, by the name of its function."""
    SITUATIONS[draw.__name__.replace("_", " ")] = draw
    return draw


def drawn(seed: int) -> Iterator[tuple[str, Situation]]:
    """Each situation once, with values of a seed."""
    for name, draw in SITUATIONS.items():
        yield name, draw(Draw(name, seed))


def flow(application: Any, name: str = "get", **more: Any) -> Parts:
    """A flow between client and server."""
    return {"name": name, "client": "client", "server": "server", "application": application} | more


def bulk(size: str | None = None, **more: Any) -> Parts:
    """A transfer."""
    return {"type": "bulk", **({"size": size} if size else {}), **more}


def scenario(links: list[Parts] | Parts, *flows: Parts, duration: str = "60 s", **more: Any) -> Parts:
    """A document."""
    links = links if isinstance(links, list) else [links]
    return {"name": "law", "duration": duration, "link": links, "flow": list(flows), **more}


@situation
def a_full_link(draw: Draw) -> Situation:
    link = draw.link()
    return Situation(scenario(link, flow(bulk(draw.megabytes(8)))), ("capacity",))


@situation
def a_full_link_upload_over_tcp(draw: Draw) -> Situation:
    link = draw.link()
    get = flow(bulk(draw.megabytes(8), direction="upload"), protocol="tcp", tcp={"controller": "cubic"})
    return Situation(scenario(link, get), ("capacity",))


@situation
def a_full_way_back(draw: Draw) -> Situation:
    link = draw.link((8, 20), (0, 10))
    link |= {"backward": {"rate": f"{draw.mbps * draw.between(6, 12):.4g} kbit/s", "queue": "100 packets"}}
    get = flow(bulk(draw.megabytes(6)), transport={"controller": draw.one("bbr3", "cubic", "newreno")})
    return Situation(scenario(link, get, duration="120 s"), ("return path",))


@situation
def a_full_way_back_over_tcp(draw: Draw) -> Situation:
    link = draw.link((8, 20), (0, 10))
    link |= {"backward": {"rate": f"{draw.mbps * draw.between(5, 10):.4g} kbit/s", "queue": "100 packets"}}
    get = flow(bulk(draw.megabytes(6)), protocol="tcp", tcp={"controller": "cubic"})
    return Situation(scenario(link, get, duration="120 s"), ("return path",))


@situation
def a_download_beside_an_upload(draw: Draw) -> Situation:
    link = draw.link((20, 60), (5, 20), queue="50 ms")
    link |= {"backward": {"rate": f"{draw.between(0.5, 2)} Mbit/s", "queue": f"{draw.between(700, 2000)} ms"}}
    up = flow(bulk(direction="upload"), "up", transport={"controller": "cubic"})
    protocol = draw.one("quic", "tcp")
    get = flow(bulk(draw.megabytes(3)), protocol=protocol)
    return Situation(scenario(link, get, up, duration="120 s"), ("return path",))


@situation
def an_upload_beside_a_download(draw: Draw) -> Situation:
    # The way back of the upload is the way of the download.
    link = draw.link((1, 3), (5, 20), queue=f"{draw.between(800, 2000)} ms")
    link |= {"backward": {"rate": "50 Mbit/s", "queue": "50 ms"}}
    down = flow(bulk(), "down", transport={"controller": "cubic"})
    get = flow(bulk("12 MB", direction="upload"))
    return Situation(scenario(link, get, down, duration="120 s"), ("return path",))


@situation
def a_page_in_the_standing_queue_of_a_download(draw: Draw) -> Situation:
    link = draw.link((5, 20), (5, 25), queue=f"{draw.between(600, 2000)} ms")
    long = flow(bulk(), "long", transport={"controller": "cubic"})
    page = {"type": "http3", "sizes": ["40 kB"], "count": 12, "concurrency": 6}
    return Situation(scenario(link, long, flow(page, start="15 s")), ("competition",))


@situation
def messages_in_the_standing_queue_of_an_upload(draw: Draw) -> Situation:
    link = draw.link((2, 10), (5, 25), queue=f"{draw.between(500, 1500)} ms")
    long = flow(bulk(direction="upload"), "long", transport={"controller": "cubic"})
    calls = {"type": "messages", "source": {"type": "constant", "gap": "40 ms", "size": 300}}
    return Situation(scenario(link, long, flow(calls, start="5 s"), duration="30 s"), ("competition",))


@situation
def a_flow_that_is_starved(draw: Draw) -> Situation:
    link = draw.link((10, 30), (20, 50))
    link["queue"] = f"{int(draw.mbps * draw.ms * 125)} B"
    greedy = flow(bulk(), "greedy", transport={"controller": "bbr1"})
    get = flow(bulk(draw.megabytes(2)), start="3 s", transport={"controller": "newreno"})
    return Situation(scenario(link, greedy, get, duration="90 s"), ("competition",))


@situation
def cross_traffic_that_takes_the_link(draw: Draw) -> Situation:
    link = draw.link((5, 20), (10, 40))
    gap = f"{1000 * 8 / (draw.mbps * 1e6) * 1e6 / draw.between(0.8, 0.9):.0f} us"
    cross = {"name": "noise", "from": "server", "to": "client", "source": {"type": "constant", "size": 972, "gap": gap}}
    get = flow(bulk(draw.megabytes(1.5)))
    return Situation(scenario(link, get, duration="90 s", cross_traffic=[cross]), ("competition", "recovery"))


@situation
def packets_that_overtake_each_other(draw: Draw) -> Situation:
    late = {"type": "spikes", "probability": draw.between(0.05, 0.2), "lateness": f"{draw.between(30, 60)} ms"}
    link = draw.link((3, 10), (15, 40), queue="200 ms") | {"forward": {"jitter": late, "reorder": True}}
    get = flow(bulk(draw.megabytes(10)), transport={"controller": "newreno"})
    return Situation(scenario(link, get, duration="120 s"), ("reordering",))


@situation
def packets_that_overtake_each_other_in_an_upload(draw: Draw) -> Situation:
    late = {"type": "uniform", "maximum": f"{draw.between(30, 60)} ms"}
    link = draw.link((3, 10), (15, 40), queue="200 ms") | {"backward": {"jitter": late, "reorder": True}}
    get = flow(bulk(draw.megabytes(10), direction="upload"))
    return Situation(scenario(link, get, duration="120 s"), ("reordering",))


@situation
def packets_that_are_altered(draw: Draw) -> Situation:
    link = draw.link((5, 20), (15, 40)) | {"forward": {"corrupt": draw.between(0.005, 0.02)}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(4))), duration="120 s"), ("corruption",))


@situation
def random_losses(draw: Draw) -> Situation:
    link = draw.link((10, 30), (15, 40)) | {"forward": {"loss": draw.between(0.005, 0.02)}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(4))), duration="120 s"), ("recovery",))


@situation
def random_losses_over_tcp(draw: Draw) -> Situation:
    link = draw.link((10, 30), (15, 40)) | {"forward": {"loss": draw.between(0.005, 0.02)}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(4)), protocol="tcp"), duration="120 s"), ("recovery",))


@situation
def acknowledgements_for_many_packets(draw: Draw) -> Situation:
    link = draw.link((20, 60), (2, 6))
    get = flow(bulk(draw.megabytes(2)), transport={"ack_ratio": draw.one(100, 500), "max_ack_delay": "200 ms"})
    return Situation(scenario(link, get), ("ACK delay",))


@situation
def late_acknowledgements_over_tcp(draw: Draw) -> Situation:
    link = draw.link((20, 60), (2, 6))
    get = flow(bulk(draw.megabytes(2)), protocol="tcp", tcp={"ack_ratio": 200, "delayed_ack": "300 ms"})
    return Situation(scenario(link, get), ("ACK delay",))


def _nat(draw: Draw, **options: Any) -> tuple[list[Parts], list[Parts]]:
    lan = {"name": "lan", "from": "client", "to": "nat", "rate": "100 Mbit/s", "delay": "1 ms"}
    wan = {"name": "wan", "from": "nat", "to": "server", "rate": f"{draw.between(5, 50)} Mbit/s", "delay": "20 ms"}
    nodes: list[Parts] = [
        {"name": "nat", "kind": {"type": "nat", "inside": ["lan"], **options}},
        {"name": "client"},
        {"name": "server"},
    ]
    return [lan, wan], nodes


@situation
def a_nat_that_forgets(draw: Draw) -> Situation:
    links, nodes = _nat(draw, timeout=f"{draw.between(15, 30)} s")
    news = {"type": "messages", "direction": "download", "source": {"type": "constant", "gap": "40 s", "size": 500}}
    get = flow(news, transport={"max_idle_timeout": "10 min"})
    return Situation(scenario(links, get, duration="400 s", node=nodes), ("middlebox",))


@situation
def an_idle_timeout_below_the_pauses(draw: Draw) -> Situation:
    link = draw.link()
    asks = {"type": "request-response", "count": 10, "think": f"{draw.between(12, 20)} s", "response": 20_000}
    get = flow(asks, transport={"max_idle_timeout": "10 s"})
    return Situation(scenario(link, get, duration="300 s"), ("idle timeout",))


@situation
def messages_behind_a_transfer_in_order(draw: Draw) -> Situation:
    link = draw.link((2, 8), (10, 30))
    calls = {"type": "messages", "source": {"type": "constant", "gap": "100 ms", "size": 200}, "over": "streams"}
    mix = {"type": "mix", "parts": [bulk("40 MB", direction="upload"), calls]}
    return Situation(scenario(link, flow(mix, transport={"scheduler": "fifo"}), duration="30 s"), ("scheduler",))


@situation
def little_credit_of_the_connection(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    get = flow(bulk(draw.megabytes(1.5)), transport={"initial_max_data": f"{draw.between(20, 60)} kB"})
    return Situation(scenario(link, get), ("connection credit",))


@situation
def little_credit_of_a_stream_upload(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    get = flow(bulk(draw.megabytes(1.5), direction="upload"), transport={"initial_max_stream_data_uni": "30 kB"})
    return Situation(scenario(link, get), ("stream credit",))


@situation
def a_small_receive_window_of_tcp(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    tcp = {"receive_buffer": "30 kB", "max_receive_buffer": "30 kB"}
    return Situation(scenario(link, flow(bulk(draw.megabytes(1.5)), protocol="tcp", tcp=tcp)), ("stream credit",))


@situation
def no_window_scaling(draw: Draw) -> Situation:
    link = draw.link((40, 80), (40, 80))
    get = flow(bulk(draw.megabytes(2)), protocol="tcp", tcp={"window_scaling": False})
    return Situation(scenario(link, get), ("stream credit",))


@situation
def few_streams(draw: Draw) -> Situation:
    link = draw.link((10, 40), (20, 60))
    files = {"type": "hq", "sizes": ["8 kB"], "count": 60, "concurrency": 60}
    return Situation(
        scenario(link, flow(files, transport={"initial_max_streams_bidi": draw.one(1, 2)})), ("stream count",)
    )


@situation
def one_request_after_the_other(draw: Draw) -> Situation:
    link = draw.link((20, 60), (20, 60))
    files = {"type": "http3", "sizes": ["8 kB"], "count": 40, "concurrency": 1}
    return Situation(scenario(link, flow(files)), ("delivery",))


@situation
def a_client_that_thinks(draw: Draw) -> Situation:
    link = draw.link()
    asks = {"type": "request-response", "count": 15, "think": f"{draw.between(300, 900)} ms"}
    return Situation(scenario(link, flow(asks)), ("application",))


@situation
def a_small_send_queue(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    get = flow(bulk(draw.megabytes(1.5)), transport={"send_queue": f"{draw.between(15, 40)} kB"})
    return Situation(scenario(link, get), ("send queue",))


@situation
def a_fixed_window(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    controller = {"type": "fixed", "window": f"{draw.between(20, 40)} kB"}
    return Situation(scenario(link, flow(bulk(draw.megabytes(1.5)), transport={"controller": controller})), ("window",))


@situation
def a_fixed_pace(draw: Draw) -> Situation:
    link = draw.link((20, 50), (10, 30))
    controller = {"type": "fixed", "window": "10 MB", "rate": f"{draw.between(1, 3)} Mbit/s"}
    return Situation(scenario(link, flow(bulk(draw.megabytes(1)), transport={"controller": controller})), ("pacer",))


@situation
def a_short_transfer_over_a_long_path(draw: Draw) -> Situation:
    link = draw.link((200, 800), (60, 150))
    return Situation(scenario(link, flow(bulk(f"{draw.between(200, 600)} kB"))), ("slow start",))


@situation
def a_short_transfer_over_tcp(draw: Draw) -> Situation:
    link = draw.link((200, 800), (60, 150))
    return Situation(scenario(link, flow(bulk(f"{draw.between(200, 600)} kB"), protocol="tcp")), ("slow start",))


@situation
def a_kilobyte_from_far_away(draw: Draw) -> Situation:
    link = draw.link((20, 100), (80, 200))
    return Situation(scenario(link, flow(bulk("1 kB"))), ("handshake",))


@situation
def a_long_certificate(draw: Draw) -> Situation:
    link = draw.link((20, 100), (80, 200))
    return Situation(scenario(link, flow(bulk("1 kB")), tls={"certificate_chain": "7 kB"}), ("handshake",))


@situation
def an_outage(draw: Draw) -> Situation:
    link = draw.link((10, 30), (10, 30))
    steps = [["0 s", f"{draw.mbps} Mbit/s"], ["1 s", "0 Mbit/s"], [f"{draw.between(8, 15)} s", f"{draw.mbps} Mbit/s"]]
    link |= {"rate": {"type": "changes", "steps": steps}}
    get = flow(bulk(draw.megabytes(3)), transport={"controller": "bbr3"})
    return Situation(scenario(link, get), ("outage",))


@situation
def a_policer_with_a_low_rate(draw: Draw) -> Situation:
    link = draw.link((20, 50), (10, 30))
    link |= {"forward": {"queue": {"type": "policer", "rate": f"{draw.between(2, 5)} Mbit/s", "burst": "60 kB"}}}
    return Situation(scenario(link, flow(bulk("4 MB"))), ("capacity",))


@situation
def a_policer_with_a_small_bucket(draw: Draw) -> Situation:
    link = draw.link((20, 50), (15, 30))
    link |= {"forward": {"queue": {"type": "policer", "rate": f"{draw.between(2, 5)} Mbit/s", "burst": "4 kB"}}}
    return Situation(scenario(link, flow(bulk("3 MB")), duration="120 s"), ("recovery", "timeout"))


@situation
def a_queue_of_a_few_packets(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50)) | {"forward": {"queue": "4 packets"}}
    return Situation(
        scenario(link, flow(bulk(draw.megabytes(3))), duration="120 s"), ("recovery", "window", "slow start")
    )


@situation
def nothing_arrives_for_a_while(draw: Draw) -> Situation:
    steps = [["0 s", 0.0], ["1 s", 1.0], [f"{draw.between(4, 7)} s", 0.0]]
    link = draw.link((10, 30), (10, 30)) | {"forward": {"loss": {"type": "changes", "steps": steps}}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(2)))), ("timeout",))


@situation
def the_first_packets_are_lost(draw: Draw) -> Situation:
    steps = [["0 s", 1.0], [f"{draw.between(2, 4)} s", 0.0]]
    link = draw.link((10, 30), (10, 30)) | {"loss": {"type": "changes", "steps": steps}}
    return Situation(scenario(link, flow(bulk("10 kB"))), ("handshake",))


@situation
def a_full_cell(draw: Draw) -> Situation:
    cell = {
        "name": "cell",
        "type": "lte",
        "station": "enb",
        "terminals": ["client"],
        "bandwidth": draw.one("3 MHz", "5 MHz"),
    }
    cell["channel"] = draw.between(10, 20)
    wire = {"name": "wire", "from": "server", "to": "enb", "rate": "1 Gbit/s", "delay": "10 ms"}
    return Situation(scenario(wire, flow(bulk("8 MB")), medium=[cell], duration="30 s"), ("capacity",))


@situation
def a_full_wireless_lan(draw: Draw) -> Situation:
    air = {"name": "air", "type": "wlan", "station": "ap", "terminals": ["client"], "standard": draw.one("b", "g")}
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "10 ms"}
    return Situation(scenario(wire, flow(bulk("6 MB")), medium=[air], duration="30 s"), ("capacity",))


@situation
def a_full_link_behind_a_proxy(draw: Draw) -> Situation:
    near = {"name": "near", "from": "client", "to": "pep", "rate": "200 Mbit/s", "delay": "2 ms", "queue": "300 kB"}
    far = draw.link((5, 15), (100, 250)) | {"from": "server", "to": "pep"}
    nodes = [{"name": "pep", "kind": {"type": "pep"}}, {"name": "client"}, {"name": "server"}]
    return Situation(scenario([near, far], flow(bulk(draw.megabytes(8)), protocol="tcp"), node=nodes), ("capacity",))


@situation
def a_film_over_a_thin_link(draw: Draw) -> Situation:
    link = draw.link((1.5, 3), (10, 40))
    film = {"type": "http2", "sizes": ["300 kB"], "count": 10, "concurrency": 10}
    return Situation(scenario(link, flow(film, protocol="tcp")), ("capacity",))


@situation
def a_managed_queue_with_a_tiny_target(draw: Draw) -> Situation:
    link = draw.link((20, 50), (30, 60)) | {
        "forward": {"queue": {"type": "codel", "target": "100 us", "interval": "2 ms"}}
    }
    return Situation(scenario(link, flow(bulk(draw.megabytes(3))), duration="120 s"), ("recovery", "window"))


@situation
def a_second_link_is_full(draw: Draw) -> Situation:
    first = draw.link((50, 100), (5, 10)) | {"name": "core", "to": "middle"}
    second = draw.link((3, 8), (10, 30)) | {"name": "edge", "from": "middle"}
    nodes = [{"name": "middle", "kind": "router"}, {"name": "server"}, {"name": "client"}]
    return Situation(scenario([first, second], flow(bulk(draw.megabytes(6))), node=nodes), ("capacity",))


@situation
def a_nat_that_rebinds_below_tcp(draw: Draw) -> Situation:
    links, nodes = _nat(draw, rebind=[f"{draw.between(2, 4)} s"])
    get = flow(bulk("60 MB"), protocol="tcp")
    return Situation(scenario(links, get, duration="120 s", node=nodes), ("middlebox",))


@situation
def requests_of_a_camera_behind_a_nat(draw: Draw) -> Situation:
    links, nodes = _nat(draw, timeout=f"{draw.between(20, 40)} s")
    asks = {"type": "request-response", "count": 6, "service": f"{draw.between(50, 70)} s", "response": 5_000}
    get = flow(asks, transport={"max_idle_timeout": "20 min"})
    return Situation(scenario(links, get, duration="1200 s", node=nodes), ("middlebox",))


@situation
def an_l4s_flow_in_a_classic_queue(draw: Draw) -> Situation:
    link = draw.link((10, 40), (10, 20), queue=f"{draw.between(200, 400)} ms")
    other = flow(bulk(), "other", transport={"controller": "cubic"})
    get = flow(bulk(draw.megabytes(3)), start="3 s", transport={"controller": "prague"})
    return Situation(scenario(link, other, get, duration="90 s"), ("competition",))


@situation
def a_flow_that_keeps_queues_short_beside_one_that_does_not(draw: Draw) -> Situation:
    link = draw.link((10, 30), (10, 30), queue=f"{draw.between(200, 500)} ms")
    other = flow(bulk(), "other", protocol="tcp", tcp={"controller": "cubic"})
    get = flow(bulk(draw.megabytes(2)), start="3 s", transport={"controller": "vegas"})
    return Situation(scenario(link, other, get, duration="120 s"), ("competition",))


@situation
def cross_traffic_on_the_way_back(draw: Draw) -> Situation:
    link = draw.link((20, 40), (5, 20)) | {"backward": {"rate": "2 Mbit/s", "queue": f"{draw.between(300, 900)} ms"}}
    noise = {"type": "constant", "size": 972, "gap": f"{draw.between(3.2, 3.9)} ms"}
    cross = {"name": "noise", "from": "client", "to": "server", "source": noise}
    return Situation(scenario(link, flow(bulk(draw.megabytes(3))), cross_traffic=[cross]), ("return path",))


@situation
def a_full_uplink_of_a_cell(draw: Draw) -> Situation:
    channel = draw.between(8, 18)
    cell: Parts = {"name": "cell", "type": "lte", "station": "enb", "terminals": ["client"], "bandwidth": "3 MHz"}
    cell |= {"channel": channel}
    wire = {"name": "wire", "from": "server", "to": "enb", "rate": "1 Gbit/s", "delay": "10 ms"}
    get = flow(bulk("5 MB", direction="upload"))
    return Situation(scenario(wire, get, medium=[cell], duration="60 s"), ("capacity",))


@situation
def a_shared_medium_full_of_an_upload(draw: Draw) -> Situation:
    rate = f"{draw.between(4, 12)} Mbit/s"
    air = {
        "name": "air",
        "type": "shared",
        "terminals": ["client", "ap"],
        "rate": rate,
        "queue": "60 kB",
        "delay": "1 ms",
    }
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "10 ms"}
    get = flow(bulk("5 MB", direction="upload"))
    nodes = [{"name": "server"}, {"name": "client"}, {"name": "ap", "kind": "router"}]
    return Situation(scenario(wire, get, medium=[air], node=nodes), ("capacity",))


@situation
def a_proxy_with_a_small_buffer(draw: Draw) -> Situation:
    near = {"name": "near", "from": "client", "to": "pep", "rate": "100 Mbit/s", "delay": "2 ms", "queue": "300 kB"}
    far = draw.link((20, 50), (100, 200)) | {"from": "server", "to": "pep"}
    buffer = f"{draw.between(30, 60)} kB"
    pep = {"type": "pep", "receive_buffer": buffer, "max_receive_buffer": buffer}
    nodes = [{"name": "pep", "kind": pep}, {"name": "client"}, {"name": "server"}]
    get = flow(bulk(draw.megabytes(1)), protocol="tcp")
    return Situation(scenario([near, far], get, node=nodes), ("stream credit",))


@situation
def losses_behind_a_proxy(draw: Draw) -> Situation:
    near: Parts = {"name": "near", "from": "client", "to": "pep", "rate": "50 Mbit/s", "delay": "10 ms"}
    near |= {"queue": "300 kB", "loss": draw.between(0.02, 0.05)}
    far = draw.link((60, 90), (20, 50)) | {"from": "server", "to": "pep"}
    pep = {"type": "pep", "controller": "newreno", "receive_buffer": "200 kB", "max_receive_buffer": "200 kB"}
    nodes = [{"name": "pep", "kind": pep}, {"name": "client"}, {"name": "server"}]
    get = flow(bulk("8 MB"), protocol="tcp")
    return Situation(scenario([near, far], get, duration="120 s", node=nodes), ("stream credit", "delivery"))


@situation
def few_connections_of_a_browser(draw: Draw) -> Situation:
    link = draw.link((20, 60), (30, 80))
    page = {"type": "http1", "sizes": ["6 kB"], "count": 60, "connections": draw.one(1, 2)}
    return Situation(scenario(link, flow(page, protocol="tcp")), ("delivery", "application"))


@situation
def a_slow_server(draw: Draw) -> Situation:
    link = draw.link((20, 60), (5, 20))
    asks = {"type": "request-response", "count": 12, "service": f"{draw.between(400, 900)} ms"}
    return Situation(scenario(link, flow(asks)), ("application",))


@situation
def two_equal_flows(draw: Draw) -> Situation:
    link = draw.link((10, 30), (10, 30))
    other = flow(bulk(), "other")
    return Situation(scenario(link, other, flow(bulk(draw.megabytes(4))), duration="90 s"), ("competition", "capacity"))


@situation
def a_burst_of_losses(draw: Draw) -> Situation:
    bursts = {"type": "gilbert-elliott", "to_bad": draw.between(0.001, 0.004), "to_good": draw.between(0.1, 0.3)}
    link = draw.link((10, 30), (20, 50)) | {"forward": {"loss": bursts}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(4))), duration="200 s"), ("recovery", "timeout"))
