"""Situations at media that several stations share, and at nodes that take time for packets."""

from typing import Any

from why_situations import Draw, Parts, Situation, bulk, flow, scenario, situation

WIRE: Parts = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "10 ms"}
PAGE: Parts = {"type": "http3", "sizes": ["40 kB"], "count": 12, "concurrency": 6}


def _busy(draw: Draw, node: str, processing: Parts, *flows: Parts, **more: Any) -> Parts:
    """A fast link between client and server, of which one takes time for packets."""
    nodes = [{"name": name, **({"processing": processing} if name == node else {})} for name in ("client", "server")]
    link = draw.link((100, 300), (5, 25), queue="1000 packets")
    return scenario(link, *flows, node=nodes, **more)


def _between(draw: Draw, processing: Parts, *flows: Parts, **more: Any) -> Parts:
    """Two fast links, and between them a node that takes time for packets."""
    near = draw.link((100, 300), (2, 10), queue="1000 packets") | {"name": "near", "from": "bridge"}
    far = draw.link((100, 300), (2, 20), queue="1000 packets") | {"name": "far", "to": "bridge"}
    nodes = [{"name": "client"}, {"name": "bridge", "kind": "router", "processing": processing}, {"name": "server"}]
    return scenario([near, far], *flows, node=nodes, **more)


@situation
def a_client_that_takes_time_for_packets(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(300, 900)} us", "queue": "100 packets"}
    return Situation(_busy(draw, "client", times, flow(bulk("10 MB"))), ("processing",))


@situation
def a_client_that_takes_time_for_bytes_over_tcp(draw: Draw) -> Situation:
    times = {"byte": f"{int(draw.between(200, 600))} ns", "queue": "200 packets"}
    return Situation(_busy(draw, "client", times, flow(bulk("10 MB"), protocol="tcp")), ("processing",))


@situation
def a_server_that_takes_time_for_acknowledgements(draw: Draw) -> Situation:
    times = {"ack": f"{draw.between(0.8, 2)} ms"}
    return Situation(
        _busy(draw, "server", times, flow(bulk("10 MB"), protocol=draw.one("quic", "tcp"))), ("processing",)
    )


@situation
def an_upload_to_a_server_that_takes_time(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(300, 900)} us", "queue": "100 packets"}
    get = flow(bulk("10 MB", direction="upload"), protocol=draw.one("quic", "tcp"))
    return Situation(_busy(draw, "server", times, get), ("processing",))


@situation
def acknowledgements_of_an_upload_at_a_slow_client(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(0.8, 2)} ms"}
    return Situation(_busy(draw, "client", times, flow(bulk("10 MB", direction="upload"))), ("processing",))


@situation
def requests_to_a_node_that_takes_long(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(15, 40)} ms"}
    asks = {"type": "request-response", "count": 12, "response": 5_000}
    return Situation(_busy(draw, draw.one("client", "server"), times, flow(asks)), ("processing", "delivery"))


@situation
def a_bridge_that_takes_time_for_packets(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(150, 400)} us", "queue": "500 packets"}
    return Situation(_between(draw, times, flow(bulk("10 MB"), protocol=draw.one("quic", "tcp"))), ("processing",))


@situation
def a_page_behind_a_download_at_a_slow_bridge(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(150, 400)} us", "queue": "1000 packets"}
    page = flow(PAGE, start="5 s")
    return Situation(_between(draw, times, flow(bulk(), "long"), page, duration="30 s"), ("processing",))


@situation
def cross_traffic_of_small_packets_at_a_slow_bridge(draw: Draw) -> Situation:
    service = draw.between(150, 300)
    gap = f"{service * draw.between(1.1, 1.4):.0f} us"
    noise = {"name": "noise", "from": "client", "to": "server", "source": {"type": "constant", "size": 100, "gap": gap}}
    document = _between(draw, {"packet": f"{service} us"}, flow(bulk("8 MB")), cross_traffic=[noise], duration="90 s")
    return Situation(document, ("processing",))


@situation
def a_short_queue_of_a_slow_bridge(draw: Draw) -> Situation:
    times = {"packet": f"{draw.between(100, 200)} us", "queue": "2 packets"}
    return Situation(_between(draw, times, flow(bulk("6 MB")), duration="120 s"), ("recovery", "window", "processing"))


def _air(kind: str, *flows: Parts, cross: Parts | None = None, at: Parts | None = None, **options: Any) -> Parts:
    """A medium with three terminals, and a wire behind its station."""
    air: Parts = {"name": "air", "type": kind, "station": "ap", "terminals": ["client", "phone", "tablet"], **options}
    air |= {"at": at} if at else {}
    names = ("server", "client", "phone", "tablet")
    nodes = [*({"name": name} for name in names), {"name": "ap", "kind": "router"}]
    more = {"cross_traffic": [cross]} if cross else {}
    return scenario(WIRE, *flows, node=nodes, medium=[air], duration="60 s", **more)


def _of(terminal: str, name: str, application: Any, **more: Any) -> Parts:
    return flow(application, name, client=terminal, **more)


@situation
def other_terminals_of_a_cell(draw: Draw) -> Situation:
    others = [_of("phone", "one", bulk()), _of("tablet", "two", bulk())]
    get = flow(bulk("2 MB"), start="2 s", protocol=draw.one("quic", "tcp"))
    document = _air("lte", *others, get, bandwidth=draw.one("3 MHz", "5 MHz"), channel=draw.between(12, 22))
    return Situation(document, ("competition",))


@situation
def other_uploads_in_a_cell(draw: Draw) -> Situation:
    up = bulk(direction="upload")
    others = [_of("phone", "one", up), _of("tablet", "two", up)]
    get = flow(bulk("2 MB", direction="upload"), start="2 s")
    return Situation(_air("lte", *others, get, bandwidth="3 MHz", channel=draw.between(12, 22)), ("competition",))


@situation
def background_traffic_of_a_cell(draw: Draw) -> Situation:
    source = {"type": "constant", "size": 1200, "gap": f"{draw.between(1, 1.5)} ms"}
    cross = {"name": "background", "from": "server", "to": "phone", "source": source}
    cells: Parts = {
        "lte": {"bandwidth": "3 MHz", "scheduler": "round-robin"},
        "nr": {"bandwidth": 5, "scheduler": "round-robin"},
    }
    word = draw.one("lte", "nr")
    get = flow(bulk("3 MB"), start="1 s")
    at = {"phone": {"channel": draw.between(0, 4)}}
    return Situation(_air(word, get, cross=cross, at=at, **cells[word]), ("competition", "capacity"))


@situation
def a_cell_that_serves_the_best(draw: Draw) -> Situation:
    get = flow(bulk("1 MB"), start="2 s")
    at = {"client": {"channel": draw.between(8, 12)}, "phone": {"channel": draw.between(18, 25)}}
    document = _air("lte", _of("phone", "one", bulk()), get, at=at, bandwidth="5 MHz", scheduler="max-rate")
    return Situation(document, ("competition", "timeout", "handshake"))


@situation
def a_slow_station_takes_the_air(draw: Draw) -> Situation:
    slow = _of("phone", "slow", draw.one(bulk(), bulk(direction="upload")))
    get = flow(bulk("3 MB"), start="2 s")
    return Situation(_air("wlan", slow, get, at={"phone": {"rate": "1 Mbit/s"}}, standard="b"), ("competition",))


@situation
def an_own_station_that_is_slow(draw: Draw) -> Situation:
    other = _of("phone", "other", bulk())
    get = flow(bulk("2 MB"), start="2 s")
    at = {"client": {"rate": draw.one("1 Mbit/s", "2 Mbit/s")}}
    return Situation(_air("wlan", other, get, at=at, standard="b"), ("capacity",))


@situation
def an_upload_against_downloads_in_a_wireless_lan(draw: Draw) -> Situation:
    downs = [_of("phone", "one", bulk()), _of("tablet", "two", bulk())]
    get = flow(bulk("4 MB", direction="upload"), start="2 s")
    document = _air("wlan", *downs, get, standard=draw.one("b", "g"))
    return Situation(document, ("competition", "capacity"))


@situation
def a_page_behind_an_upload_of_another_station(draw: Draw) -> Situation:
    up = bulk(direction="upload")
    others = [_of("phone", "one", up), _of("tablet", "two", up)]
    document = _air("wlan", *others, flow(bulk("2 MB"), start="3 s"), standard=draw.one("b", "g"))
    return Situation(document, ("competition",))


@situation
def a_page_behind_the_queue_of_an_access_point(draw: Draw) -> Situation:
    long = _of("phone", "long", bulk(), transport={"controller": "cubic"})
    get = flow(PAGE, start="5 s")
    document = _air("wlan", long, get, standard="g", queue=f"{int(draw.between(800, 1500))} packets")
    return Situation(document, ("competition",))


@situation
def a_shared_medium_full_of_others(draw: Draw) -> Situation:
    others = [_of("phone", "one", bulk(direction="upload")), _of("tablet", "two", bulk())]
    get = flow(bulk("2 MB"), start="2 s")
    return Situation(
        _air("shared", *others, get, rate=f"{draw.between(4, 12)} Mbit/s", queue="80 kB"), ("competition",)
    )
