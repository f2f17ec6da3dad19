"""Situations in which a setting far from its default, an event or a dead path is the cause."""

from typing import Any

from why_situations import Draw, Parts, Situation, bulk, flow, scenario, situation


def _nodes(*others: Parts) -> list[Parts]:
    return [{"name": "server"}, {"name": "client"}, *others]


def _wire(draw: Draw, to: str) -> Parts:
    return {"name": "wire", "from": "server", "to": to, "rate": "1 Gbit/s", "delay": f"{draw.between(5, 20)} ms"}


def _air(draw: Draw, get: Parts, duration: str = "60 s", **options: Any) -> Parts:
    medium = {"name": "air", "station": "ap", "terminals": ["client"], **options}
    nodes = _nodes({"name": "ap", "kind": "router"})
    return scenario(_wire(draw, "ap"), get, medium=[medium], node=nodes, duration=duration)


@situation
def a_wlan_that_sends_frame_by_frame(draw: Draw) -> Situation:
    get = flow(bulk(f"{draw.one(10, 15, 20)} MB"), transport={"controller": draw.one("cubic", "newreno")})
    options: Parts = {"type": "wlan", "standard": "n", "mcs": draw.one(12, 15), "ampdu_frames": draw.one(1, 2)}
    return Situation(_air(draw, get, **options), ("capacity",))


@situation
def a_wlan_that_is_too_fast_for_its_channel(draw: Draw) -> Situation:
    get = flow(bulk(f"{draw.one(3, 5)} MB"), transport={"controller": "cubic"})
    options: Parts = {"type": "wlan", "standard": "g", "frame_errors": "curve", "channel": draw.between(21.8, 22.3)}
    return Situation(_air(draw, get, **options), ("capacity", "recovery", "window"))


@situation
def a_cell_with_rare_grants(draw: Draw) -> Situation:
    asks = {"type": "request-response", "request": 300, "response": 3000, "count": draw.one(40, 60)}
    options: Parts = {"type": "lte", "request_period": draw.one("40 ms", "80 ms"), "first_grant": "30 B"}
    return Situation(_air(draw, flow(asks), **options), ("return path", "delivery", "application"))


@situation
def messages_with_nagle(draw: Draw) -> Situation:
    source = {"type": "constant", "size": draw.one(1600, 1900, 2200), "gap": f"{draw.between(120, 190)} ms"}
    get = flow({"type": "messages", "source": source, "count": 100}, protocol="tcp")
    get["tcp"] = {"nagle": True, "delayed_ack": "200 ms"}
    truth = ("stream credit", "ACK delay", "delivery", "send queue", "window")
    return Situation(scenario(draw.link((10, 40), (5, 30)), get), truth)


@situation
def a_proxy_that_begins_with_one_segment(draw: Draw) -> Situation:
    pep = {"type": "pep", "initial_window": draw.one(1, 2)}
    sat = draw.link((20, 80), (200, 280)) | {"name": "sat", "from": "gateway", "to": "client"}
    nodes = _nodes({"name": "gateway", "kind": pep})
    get = flow(bulk(f"{draw.one(600, 800, 1000)} kB"), protocol="tcp")
    return Situation(
        scenario([_wire(draw, "gateway"), sat], get, node=nodes),
        ("delivery", "slow start", "send queue", "application"),
    )


def _film(draw: Draw, link: Parts, duration: str = "150 s", **options: Any) -> Parts:
    transport = options.pop("transport", {})
    ladder = {"type": "ladder", "duration": "60 s", **options.pop("presentation", {})}
    return scenario(
        link, flow({"type": "video", "presentation": ladder, **options}, transport=transport), duration=duration
    )


@situation
def a_film_at_less_than_its_pace(draw: Draw) -> Situation:
    abr = {"type": "fixed", "bitrate": draw.one("2 Mbit/s", "3 Mbit/s")}
    document = _film(draw, draw.link((15, 40), (10, 30)), pace=draw.between(0.6, 0.85), abr=abr)
    return Situation(document, ("application", "delivery"))


@situation
def a_player_with_room_for_one_segment(draw: Draw) -> Situation:
    abr = {"type": "fixed", "bitrate": "3 Mbit/s"}
    options: Parts = {"presentation": {"segment": "4 s"}, "max_buffer": "4 s", "abr": abr}
    return Situation(_film(draw, draw.link((15, 30), (40, 70)), **options), ("application",))


@situation
def a_timid_player(draw: Draw) -> Situation:
    abr = {"type": "throughput", "safety_factor": draw.between(0.04, 0.08)}
    return Situation(_film(draw, draw.link((15, 30), (10, 30)), abr=abr), ("application",))


@situation
def a_film_whose_connection_times_out(draw: Draw) -> Situation:
    options: Parts = {
        "presentation": {"duration": "200 s", "segment": "25 s", "bitrates": ["1 Mbit/s"]},
        "max_buffer": "60 s",
        "transport": {"max_idle_timeout": f"{draw.between(12, 20)} s"},
    }
    return Situation(_film(draw, draw.link((15, 30), (10, 30)), duration="300 s", **options), ("idle timeout",))


@situation
def a_call_that_loses_some_messages(draw: Draw) -> Situation:
    link = draw.link((10, 30), (10, 30))
    link["forward"] = {"loss": {"type": "periodic", "every": draw.one(40, 55, 70)}}
    source = {"type": "constant", "size": 200, "gap": "20 ms"}
    call = {"type": "messages", "source": source, "over": "datagrams", "direction": "download", "count": 1500}
    get = flow(call, transport={"max_datagram_frame_size": 1200})
    return Situation(scenario(link, get), ("delivery", "recovery", "application"))


@situation
def a_nat_without_room(draw: Draw) -> Situation:
    nat = {"type": "nat", "inside": ["home", "home2"], "mappings": 1}
    net = draw.link((10, 30), (10, 30)) | {"name": "net", "to": "nat"}
    homes = [
        {"name": name, "from": "nat", "to": to, "rate": "100 Mbit/s", "delay": "1 ms"}
        for name, to in (("home", "client"), ("home2", "other"))
    ]
    first = flow(bulk(), "first") | {"client": "other"}
    get = flow(bulk("500 kB"), start="2 s")
    document = scenario(
        [net, *homes], first, get, node=_nodes({"name": "other"}, {"name": "nat", "kind": nat}), duration="20 s"
    )
    return Situation(document, ("handshake", "middlebox"))


@situation
def a_nat_that_is_made_to_forget(draw: Draw) -> Situation:
    net = draw.link((10, 30), (10, 30)) | {"name": "net", "to": "nat"}
    home = {"name": "home", "from": "nat", "to": "client", "rate": "100 Mbit/s", "delay": "1 ms"}
    event = {"at": f"{draw.between(0.8, 1.5)} s", "type": "forget", "node": "nat"}
    nodes = _nodes({"name": "nat", "kind": {"type": "nat", "inside": ["home"]}})
    get = flow(bulk(draw.megabytes(6)), protocol="tcp")
    return Situation(scenario([net, home], get, node=nodes, event=[event]), ("middlebox", "timeout"))


@situation
def a_link_that_loses_all_from_a_time_on(draw: Draw) -> Situation:
    link = draw.link((5, 20), (10, 30))
    steps = [["0 s", 0.0], [f"{draw.between(1, 3)} s", 1.0]]
    link["forward"] = {"loss": {"type": "changes", "steps": steps}}
    return Situation(scenario(link, flow(bulk(draw.megabytes(6)))), ("idle timeout", "timeout"))


@situation
def a_move_to_a_dead_network(draw: Draw) -> Situation:
    wlan = draw.link((10, 30), (5, 15)) | {"name": "wlan"}
    cell = {"name": "cell", "from": "server", "to": "client", "rate": "20 Mbit/s", "delay": "30 ms", "loss": 1.0}
    event = {"at": "1 s", "type": "migrate", "flow": "get", "interface": "cell", "how": "rebound"}
    document = scenario([wlan, cell], flow(bulk(draw.megabytes(4))), event=[event])
    return Situation(document, ("idle timeout", "timeout", "path validation"))


@situation
def two_slow_links_in_series(draw: Draw) -> Situation:
    core = draw.link((6, 12), (10, 20)) | {"name": "core", "to": "r"}
    edge = {"name": "edge", "from": "r", "to": "client", "delay": "5 ms", "rate": f"{0.9 * draw.mbps:.3g} Mbit/s"}
    nodes = _nodes({"name": "r", "kind": "router"})
    return Situation(scenario([core, edge], flow(bulk(draw.megabytes(8))), node=nodes), ("capacity",))


@situation
def jitter_of_acknowledgements(draw: Draw) -> Situation:
    link = draw.link((10, 30), (10, 20))
    link["backward"] = {"jitter": {"type": "uniform", "maximum": f"{draw.between(200, 300)} ms"}}
    get = flow(bulk("2 MB"), protocol="tcp", tcp={"controller": "cubic"})
    return Situation(scenario(link, get), ("slow start", "capacity", "window", "reordering", "recovery"))
