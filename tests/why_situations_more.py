"""Situations with queue disciplines, link layers, middleboxes, events and applications that few people use together."""

from typing import Any

from why_situations import Draw, Parts, Situation, bulk, flow, scenario, situation

PAGE: Parts = {"type": "http3", "sizes": ["40 kB"], "count": 12, "concurrency": 6}


def _queue(draw: Draw, queue: Any, mbps: tuple[float, float] = (20, 50), ms: tuple[float, float] = (20, 50)) -> Parts:
    return draw.link(mbps, ms) | {"forward": {"queue": queue}}


@situation
def a_red_queue_that_drops_early(draw: Draw) -> Situation:
    red = {"type": "red", "min_th": "1 packets", "max_th": "3 packets", "w_q": 0.05, "ecn": False}
    link = _queue(draw, red)
    return Situation(scenario(link, flow(bulk(draw.megabytes(3))), duration="120 s"), ("recovery", "window"))


@situation
def a_pie_with_a_tiny_target(draw: Draw) -> Situation:
    pie = {"type": "pie", "target": "50 us", "t_update": "1 ms", "max_burst": "0 s", "ecn": False}
    link = _queue(draw, pie)
    get = flow(bulk(draw.megabytes(3)), transport={"controller": draw.one("cubic", "newreno")})
    return Situation(scenario(link, get, duration="120 s"), ("recovery", "window", "capacity"))


@situation
def marks_of_a_queue_that_is_never_long(draw: Draw) -> Situation:
    link = _queue(draw, {"type": "drop-tail", "limit": "500 packets", "mark_above": "1 packets"})
    get = flow(bulk(draw.megabytes(3)), transport={"controller": "newreno", "ecn": True})
    return Situation(scenario(link, get, duration="120 s"), ("window", "recovery"))


@situation
def a_low_class_of_a_priority_queue(draw: Draw) -> Situation:
    link = draw.link((5, 20), (10, 30)) | {"forward": {"queue": {"type": "priority", "classes": [["first"]]}}}
    first = flow(bulk(), "first", transport={"controller": "bbr3"})
    return Situation(
        scenario(link, first, flow(bulk("2 MB"), start="2 s"), duration="90 s"), ("competition", "timeout")
    )


@situation
def a_page_in_a_long_drop_head_queue(draw: Draw) -> Situation:
    link = draw.link((5, 15), (5, 25)) | {"forward": {"queue": {"type": "drop-head", "limit": "900 ms"}}}
    long = flow(bulk(), "long", protocol="tcp", tcp={"controller": "cubic"})
    return Situation(scenario(link, long, flow(PAGE, start="12 s")), ("competition",))


@situation
def a_shaper(draw: Draw) -> Situation:
    link = draw.link((5, 20), (10, 30))
    shaper = {"type": "token-bucket", "rate": f"{draw.between(3, 8)} Mbit/s", "burst": "30 kB", "peak": "100 Mbit/s"}
    link |= {"rate": shaper, "queue": "100 kB"}
    return Situation(scenario(link, flow(bulk("6 MB"), protocol=draw.one("quic", "tcp"))), ("capacity",))


@situation
def a_rate_that_falls(draw: Draw) -> Situation:
    link = draw.link((20, 40), (10, 30))
    steps = [["0 s", f"{draw.mbps} Mbit/s"], ["1 s", f"{draw.between(1, 3)} Mbit/s"]]
    return Situation(scenario(link | {"rate": {"type": "changes", "steps": steps}}, flow(bulk("6 MB"))), ("capacity",))


@situation
def an_upload_over_a_satellite(draw: Draw) -> Situation:
    link = draw.link((20, 50), (250, 300)) | {"rate": "50 Mbit/s"}
    link |= {"backward": {"rate": {"type": "dvb-rcs2", "maximum": f"{draw.between(4, 10)} Mbit/s"}, "queue": "1 MB"}}
    get = flow(bulk(f"{draw.between(0.3, 1)} MB", direction="upload"))
    return Situation(scenario(link, get, duration="90 s"), ("slow start", "outage", "capacity", "delivery"))


@situation
def a_short_transfer_over_a_satellite(draw: Draw) -> Situation:
    link = draw.link((30, 60), (250, 300))
    get = flow(bulk(f"{draw.between(300, 900)} kB"), protocol=draw.one("quic", "tcp"))
    return Situation(scenario(link, get, duration="90 s"), ("slow start",))


@situation
def acknowledgements_held_by_a_middlebox(draw: Draw) -> Situation:
    near = {"name": "near", "from": "ap", "to": "client", "rate": "100 Mbit/s", "delay": "2 ms", "queue": "300 kB"}
    far = {"name": "far", "from": "server", "to": "ap", "rate": "100 Mbit/s", "delay": "3 ms", "queue": "300 kB"}
    hold = f"{draw.between(60, 120)} ms"
    box = {"type": "ack-pacer", "spacing": hold, "longest_delay": hold, "wireless": ["near"], "queue": 1000}
    nodes = [{"name": "ap", "kind": box}, {"name": "client"}, {"name": "server"}]
    get = flow(bulk("6 MB"), port=443)
    return Situation(scenario([near, far], get, node=nodes), ("ACK delay",))


@situation
def a_server_that_always_asks_for_a_token(draw: Draw) -> Situation:
    link = draw.link((20, 100), (80, 200))
    return Situation(scenario(link, flow(bulk("1 kB"), transport={"retry": "always"})), ("handshake",))


@situation
def losses_on_the_way_back(draw: Draw) -> Situation:
    link = draw.link((10, 30), (20, 60)) | {"backward": {"loss": draw.between(0.3, 0.5)}}
    asks = {"type": "request-response", "count": 20, "response": 2_000}
    return Situation(scenario(link, flow(asks), duration="200 s"), ("timeout", "delivery", "handshake"))


@situation
def packets_that_are_altered_on_the_way_back(draw: Draw) -> Situation:
    link = draw.link((10, 30), (20, 50)) | {"backward": {"corrupt": draw.between(0.02, 0.06)}}
    get = flow(bulk(draw.megabytes(3), direction="upload"))
    return Situation(scenario(link, get, duration="200 s"), ("corruption",))


@situation
def losses_one_by_one(draw: Draw) -> Situation:
    link = draw.link((10, 30), (20, 50)) | {"forward": {"loss": {"type": "periodic", "every": draw.one(60, 90, 120)}}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(3)), protocol=draw.one("quic", "tcp"))), ("recovery",))


@situation
def reordering_without_detection_by_time(draw: Draw) -> Situation:
    link = draw.link((10, 30), (20, 40))
    spikes = {"type": "spikes", "probability": draw.between(0.02, 0.1), "lateness": f"{draw.between(10, 30)} ms"}
    link |= {"forward": {"jitter": spikes, "reorder": True}}
    get = flow(bulk(draw.megabytes(3)), protocol="tcp", tcp={"rack": draw.one(True, False)})
    return Situation(scenario(link, get, duration="120 s"), ("reordering", "window"))


@situation
def small_windows_of_http2(draw: Draw) -> Situation:
    link = draw.link((30, 80), (30, 60))
    files = {"type": "http2", "sizes": ["2 MB"], "count": 1, "stream_window": "65535 B"}
    return Situation(scenario(link, flow(files, protocol="tcp")), ("delivery", "stream credit"))


@situation
def a_film_with_one_bitrate(draw: Draw) -> Situation:
    link = draw.link((1, 2), (10, 40))
    ladder = {"type": "ladder", "bitrates": ["3000 kbit/s"], "segment": "2 s", "duration": "60 s"}
    film = {"type": "video", "presentation": ladder}
    return Situation(scenario(link, flow(film), duration="100 s"), ("capacity",))


@situation
def a_film_behind_a_download(draw: Draw) -> Situation:
    link = draw.link((4, 8), (10, 30), queue="60 ms")
    ladder = {"type": "ladder", "segment": "2 s", "duration": "40 s"}
    long = flow(bulk(), "long", transport={"controller": "bbr1"})
    film = {"type": "video", "presentation": ladder}
    get = flow(film, start="2 s", transport={"controller": draw.one("newreno", "vegas")})
    return Situation(scenario(link, long, get, duration="80 s"), ("competition", "application"))


@situation
def a_page_over_a_thin_upload(draw: Draw) -> Situation:
    # Other people's photos fill the way of the requests.
    link = draw.link((20, 60), (5, 20), queue="50 ms")
    link |= {"backward": {"rate": f"{draw.between(0.5, 2)} Mbit/s", "queue": f"{draw.between(500, 1500)} ms"}}
    photos = flow(bulk(direction="upload"), "photos", protocol="tcp", tcp={"controller": "cubic"})
    page = {"type": "http1", "sizes": ["30 kB"], "count": 20}
    return Situation(scenario(link, photos, flow(page, start="8 s", protocol="tcp")), ("return path",))


@situation
def calls_beside_bursts(draw: Draw) -> Situation:
    link = draw.link((2, 5), (10, 30), queue=f"{draw.between(200, 500)} ms")
    calls = {"type": "messages", "direction": "download", "source": {"type": "constant", "gap": "20 ms", "size": 160}}
    burst = {
        "type": "on-off",
        "size": 1200,
        "gap": f"{8 * 1200 / draw.mbps / 1e3 * 0.5:.3f} ms",
        "on": "1 s",
        "off": "1 s",
    }
    cross = {"name": "bursts", "from": "server", "to": "client", "source": burst}
    return Situation(scenario(link, flow(calls), cross_traffic=[cross], duration="40 s"), ("competition",))


@situation
def a_client_that_moves_to_a_thin_path(draw: Draw) -> Situation:
    wide = draw.link((30, 50), (5, 15)) | {"name": "wlan"}
    thin = draw.link((1, 3), (20, 40)) | {"name": "cellular"}
    event = {"at": "1 s", "type": "migrate", "flow": "get", "interface": "cellular"}
    return Situation(scenario([wide, thin], flow(bulk("9 MB")), event=[event], duration="90 s"), ("capacity",))


@situation
def stations_that_do_not_hear_each_other(draw: Draw) -> Situation:
    air: Parts = {"name": "air", "type": "wlan", "station": "ap", "terminals": ["client", "phone"], "standard": "b"}
    air |= {"hidden": [["client", "phone"]]}
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": f"{draw.between(5, 20)} ms"}
    up = bulk(direction="upload")
    nodes = [{"name": name} for name in ("server", "client", "phone")] + [{"name": "ap", "kind": "router"}]
    get = flow(bulk("1 MB", direction="upload"), start="1 s")
    document = scenario(wire, flow(up, "other") | {"client": "phone"}, get, medium=[air], node=nodes, duration="90 s")
    return Situation(document, ("competition", "capacity", "recovery"))


@situation
def a_terminal_far_from_its_cell(draw: Draw) -> Situation:
    cell: Parts = {"name": "cell", "type": draw.one("lte", "nr"), "station": "enb", "terminals": ["client"]}
    cell |= {"at": {"client": {"channel": draw.between(-1, 2)}}}
    wire = {"name": "wire", "from": "server", "to": "enb", "rate": "1 Gbit/s", "delay": "10 ms"}
    get = flow(bulk("8 MB"), protocol=draw.one("quic", "tcp"))
    return Situation(scenario(wire, get, medium=[cell], duration="60 s"), ("capacity",))


@situation
def frames_that_fail(draw: Draw) -> Situation:
    air: Parts = {"name": "air", "type": "wlan", "station": "ap", "terminals": ["client"], "standard": "g"}
    air |= {"at": {"client": {"frame_errors": {"type": "target", "per": draw.between(0.5, 0.7)}}}, "attempts": 3}
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "20 ms"}
    return Situation(
        scenario(wire, flow(bulk("1 MB")), medium=[air], duration="120 s"), ("recovery", "timeout", "window")
    )


@situation
def rare_acknowledgements_that_the_sender_asked_for(draw: Draw) -> Situation:
    link = draw.link((20, 50), (2, 5))
    asked = {"min_ack_delay": "1 ms", "peer_ack_ratio": 1000, "peer_max_ack_delay": f"{draw.between(80, 200)} ms"}
    return Situation(scenario(link, flow(bulk("4 MB"), transport=asked)), ("ACK delay",))


@situation
def late_acknowledgements_of_an_upload(draw: Draw) -> Situation:
    link = draw.link((20, 50), (2, 5))
    late = {"ack_ratio": 1000, "max_ack_delay": f"{draw.between(80, 200)} ms"}
    return Situation(scenario(link, flow(bulk("4 MB", direction="upload"), transport=late)), ("ACK delay",))


@situation
def little_credit_of_an_upload(draw: Draw) -> Situation:
    link = draw.link((20, 50), (20, 50))
    get = flow(bulk(draw.megabytes(1.5), direction="upload"), transport={"initial_max_data": "40 kB"})
    return Situation(scenario(link, get), ("connection credit",))


@situation
def the_near_side_of_a_proxy_is_full(draw: Draw) -> Situation:
    near = draw.link((2, 6), (5, 20)) | {"name": "near", "from": "pep"}
    far = {"name": "far", "from": "server", "to": "pep", "rate": "200 Mbit/s", "delay": "50 ms", "queue": "2 MB"}
    nodes = [{"name": "pep", "kind": {"type": "pep"}}, {"name": "client"}, {"name": "server"}]
    return Situation(
        scenario([near, far], flow(bulk("5 MB"), protocol="tcp"), node=nodes), ("capacity", "stream credit")
    )


@situation
def a_classic_flow_beside_an_l4s_one(draw: Draw) -> Situation:
    link = _queue(draw, {"type": "dualpi2", "classic_weight": 0.01, "scheduler": "wrr"}, (5, 15), (10, 20))
    others = [flow(bulk(), f"other-{at}", transport={"controller": "prague"}) for at in range(4)]
    return Situation(
        scenario(link, *others, flow(bulk("2 MB"), start="2 s"), duration="120 s"), ("competition", "capacity")
    )


@situation
def a_policer_in_the_way_of_an_upload(draw: Draw) -> Situation:
    link = draw.link((20, 50), (10, 30))
    policer = {"type": "policer", "rate": f"{draw.between(2, 5)} Mbit/s", "burst": "80 kB"}
    link |= {"backward": {"queue": policer}}
    return Situation(scenario(link, flow(bulk("4 MB", direction="upload"), protocol="tcp")), ("capacity", "recovery"))


@situation
def many_small_flows_take_the_link(draw: Draw) -> Situation:
    link = draw.link((10, 20), (10, 30))
    others = [flow(bulk(), f"other-{at}", transport={"controller": "cubic"}) for at in range(8)]
    return Situation(scenario(link, *others, flow(bulk("2 MB"), start="2 s"), duration="90 s"), ("competition",))


@situation
def a_server_that_thinks_for_a_page(draw: Draw) -> Situation:
    link = draw.link((20, 60), (5, 20))
    asks = {"type": "request-response", "count": 8, "service": f"{draw.between(500, 1500)} ms", "response": 30_000}
    asks |= {"over": "stream"}
    return Situation(scenario(link, flow(asks, protocol="tcp")), ("application",))


@situation
def requests_over_tcp_behind_a_nat_that_forgets(draw: Draw) -> Situation:
    lan = {"name": "lan", "from": "client", "to": "nat", "rate": "100 Mbit/s", "delay": "1 ms"}
    wan = draw.link((10, 50), (10, 40)) | {"name": "wan", "from": "nat", "to": "server"}
    nat = {"type": "nat", "inside": ["lan"], "tcp_timeout": f"{draw.between(15, 30)} s"}
    nodes = [{"name": "nat", "kind": nat}, {"name": "client"}, {"name": "server"}]
    asks = {"type": "request-response", "count": 4, "think": f"{draw.between(35, 50)} s", "over": "stream"}
    document = scenario([lan, wan], flow(asks, protocol="tcp"), node=nodes, duration="300 s")
    return Situation(document, ("timeout", "middlebox"))


@situation
def calls_behind_an_upload_of_the_same_station(draw: Draw) -> Situation:
    air: Parts = {
        "name": "air",
        "type": "wlan",
        "station": "ap",
        "terminals": ["client"],
        "standard": draw.one("b", "g"),
    }
    air |= {"queue": f"{int(draw.between(500, 1000))} packets"}
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "10 ms"}
    calls = {"type": "messages", "over": "datagrams", "source": {"type": "constant", "gap": "20 ms", "size": 160}}
    get = flow(calls, start="2 s", transport={"max_datagram_frame_size": 65535})
    return Situation(
        scenario(wire, flow(bulk(direction="upload"), "up"), get, medium=[air], duration="20 s"), ("competition",)
    )


def _two_ways(draw: Draw, start: float, end: float | None, node: str) -> Parts:
    """A phone with a WLAN, which goes down, and a cell."""
    wlan = draw.link((10, 30), (10, 30)) | {"name": "wlan"}
    cell = draw.link((5, 10), (20, 50)) | {"name": "cell"}
    down = {"type": "interface-down", "node": node, "interface": "wlan"}
    events = [{"at": f"{start} s", **down}]
    events += [] if end is None else [{"at": f"{end} s", **down, "type": "interface-up"}]
    return {"link": [wlan, cell], "event": events}


@situation
def an_interface_that_goes_down(draw: Draw) -> Situation:
    ways = _two_ways(draw, draw.between(0.5, 2), None, "client")
    get = flow(bulk("20 MB", direction=draw.one("download", "upload")), transport={"max_idle_timeout": "90 s"})
    return Situation(scenario(ways.pop("link"), get, duration="60 s", **ways), ("outage",))


@situation
def an_interface_that_is_down_for_a_while_over_tcp(draw: Draw) -> Situation:
    ways = _two_ways(draw, draw.between(0.5, 1.5), draw.between(8, 15), draw.one("client", "server"))
    get = flow(bulk("8 MB"), protocol="tcp")
    return Situation(scenario(ways.pop("link"), get, duration="90 s", **ways), ("outage", "timeout"))


@situation
def an_interface_that_is_down_at_the_start(draw: Draw) -> Situation:
    ways = _two_ways(draw, 0.001, draw.between(3, 5), "client")
    get = flow(bulk("1 MB"), start="10 ms")
    return Situation(scenario(ways.pop("link"), get, **ways), ("outage", "handshake"))
