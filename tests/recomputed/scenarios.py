"""The scenarios whose runs are computed again. Together they reach every column and every key of the summary."""

_TABLES = (
    *("connection", "loss", "event", "gauge", "wait", "stream", "message", "object", "segment", "playback"),
    *("queue", "drop", "rate", "node", "air"),
)
_HEAD = f"""
seed = 3
duration = "20 s"
[record]
packets = true
blocks = true
queue_delay = true
tables = {list(_TABLES)}
"""
_CELL = """
[[link]]
name = "cell"
from = "server"
to = "client"
delay = "10 ms"
[link.forward]
rate = "5 Mbit/s"
queue = "15 kB"
{forward}
[link.backward]
rate = "1 Mbit/s"
queue = "15 kB"
{backward}
"""
_GET = """
[[flow]]
name = "get"
client = "client"
server = "server"
application = {application}
"""


def _line(application: str, forward: str = "", backward: str = "", more: str = "") -> str:
    """A flow over one link between two hosts."""
    link = _CELL.format(forward=forward, backward=backward)
    return _HEAD + more + link + _GET.format(application=application)


_BULK = '{ type = "bulk", size = "300 kB" }'
_NEWRENO = '[transport]\ncontroller = { type = "newreno", pacing = false }\n'
_MESSAGES = '{ type = "messages", source = { type = "constant", size = 3000, gap = "15 ms" }, count = 60, '
_WIRED = """
[[node]]
name = "server"
[[node]]
name = "base"
kind = "router"
[[link]]
name = "line"
from = "server"
to = "base"
both = { rate = "200 Mbit/s", delay = "5 ms" }
"""

SCENARIOS = {
    # RFC 9002 and NewReno are replayed from the packets of these.
    "lossy": _line(_BULK, 'loss = "6 %"', 'loss = "25 %"', _NEWRENO),
    "upload": _line('{ type = "bulk", size = "200 kB", direction = "upload" }', 'loss = "2 %"', "", _NEWRENO),
    "paced": _line(_BULK, 'loss = "2 %"'),
    "marked": _line(
        '{ type = "bulk", size = "1 MB" }',
        'queue = { type = "codel", limit = "200 packets" }',
        "",
        '[transport]\necn = true\ncontroller = "cubic"\n',
    ).replace('queue = "15 kB"\n', ""),
    "reordered": _line(_BULK, 'jitter = { type = "uniform", maximum = "12 ms" }\nreorder = true', "", _NEWRENO),
    "altered": _line(_BULK, "duplicate = 0.05\ncorrupt = 0.02"),
    "small": _line(_BULK, "mtu = 1400", "", "[transport]\nmtu_discovery = true\n"),
    "credit": _line(
        '{ type = "bulk", size = "300 kB", streams = 4 }',
        "",
        "",
        '[transport]\ninitial_max_data = "60 kB"\ninitial_max_stream_data_bidi_local = "20 kB"\n',
    ),
    # One cause of waiting each.
    "connection_credit": _line(_BULK, "", "", '[transport]\ninitial_max_data = "20 kB"\n'),
    "stream_credit": _line(_BULK, "", "", '[transport]\ninitial_max_stream_data_bidi_local = "20 kB"\n'),
    "stream_count": _line(
        '{ type = "bulk", size = "300 kB", streams = 4 }', "", "", "[transport]\ninitial_max_streams_bidi = 1\n"
    ),
    "send_queue": _line(_BULK, "", "", '[transport]\nsend_queue = "10 kB"\n'),
    "pacer": _line(_BULK, "", "", '[transport]\ncontroller = "bbr3"\n'),
    "tcp": _line(_BULK, 'loss = "2 %"').replace("[[flow]]", '[[flow]]\nprotocol = "tcp"'),
    "messages": _line(_MESSAGES + 'deadline = "60 ms", direction = "upload" }', "", 'loss = "3 %"'),
    "datagrams": _line(
        _MESSAGES.replace("3000", "900") + 'over = "datagrams", deadline = "25 ms", direction = "download" }',
        'loss = "5 %"\njitter = { type = "uniform", maximum = "30 ms" }',
        "",
        "[transport]\nmax_datagram_frame_size = 1200\n",
    ),
    "requests": _line('{ type = "request-response", request = 2000, response = 30_000, count = 12, think = "20 ms" }'),
    "mix": _line(
        '{ type = "mix", parts = [{ type = "bulk", size = "100 kB" }, ' + _MESSAGES + 'direction = "upload" }] }'
    ),
    "page": _line('{ type = "page", page = { type = "list", file = "FILES/article.csv" } }', 'loss = "1 %"'),
    "film": _line(
        '{ type = "video", presentation = { type = "ladder", duration = "40 s", bitrates = ["300 kbit/s", "1 Mbit/s", '
        '"3 Mbit/s"], audio = ["64 kbit/s"], audio_segment = "2 s" }, abr = "throughput", start_up = "4 s", '
        'video_urgency = 2, audio_urgency = 1, seeks = [["12 s", "30 s"]] }',
        'rate = { type = "changes", steps = [["0 s", "5 Mbit/s"], ["4 s", "200 kbit/s"], ["9 s", "4 Mbit/s"]] }',
    )
    .replace('rate = "5 Mbit/s"\n', "")
    .replace('duration = "20 s"\n', 'duration = "60 s"\n', 1),
    "live": _line(
        '{ type = "video", presentation = { type = "ladder", duration = "100 s" }, latency = "3 s", since = "30 s", '
        'until = "40 s", abr = "bola", start_up = "1 s", resume = "1 s" }'
    ),
    "cell": _HEAD
    + _WIRED
    + """
[[node]]
name = "near"
[[node]]
name = "far"
[[medium]]
name = "air"
type = "lte"
station = "base"
terminals = ["near", "far"]
bandwidth = "5 MHz"
block_errors = 0.15
harq_retransmissions = 1
rlc = "um"
[medium.at.near]
channel = 22.0
[medium.at.far]
channel = 8.0
[[flow]]
name = "get"
client = "near"
server = "server"
application = { type = "bulk", size = "500 kB" }
[[flow]]
name = "put"
client = "far"
server = "server"
start = "100 ms"
application = { type = "bulk", size = "200 kB", direction = "upload" }
""",
    "wlan": _HEAD
    + _WIRED
    + """
[[node]]
name = "phone"
[[node]]
name = "laptop"
[[medium]]
name = "air"
type = "wlan"
standard = "g"
station = "base"
terminals = ["phone", "laptop"]
[medium.at.laptop]
rate = "24 Mbit/s"
frame_errors = 0.2
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk", size = "1 MB" }
[[flow]]
name = "put"
client = "laptop"
server = "server"
application = { type = "bulk", size = "1 MB", direction = "upload" }
""",
    "train": _HEAD
    + _WIRED
    + """
[[node]]
name = "phone"
[[medium]]
name = "air"
type = "lte"
station = "base"
terminals = ["phone"]
bandwidth = "5 MHz"
sites = [0.0, 400.0]
handover = { type = "times", steps = [["0 s", 0], ["1 s", 1]] }
interruption = "40 ms"
channel = { type = "drawn", distance = 50.0, start = 100.0, speed = 40.0 }
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk" }
stop = "2 s"
""",
    "shared": _HEAD
    + _WIRED
    + """
[[node]]
name = "phone"
[[medium]]
name = "air"
type = "shared"
station = "base"
terminals = ["phone"]
rate = "10 Mbit/s"
queue = "30 kB"
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk", size = "500 kB" }
""",
    "boxes": _HEAD
    + """
[[node]]
name = "client"
[[node]]
name = "nat"
kind = { type = "nat", inside = ["home"], rebind = ["300 ms"] }
processing = { packet = "300 us", byte = "100 ns", queue = "20 packets" }
[[node]]
name = "server"
[[link]]
name = "home"
from = "nat"
to = "client"
both = { rate = "20 Mbit/s", delay = "2 ms" }
[[link]]
name = "line"
from = "server"
to = "nat"
both = { rate = "40 Mbit/s", delay = "15 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
[[cross_traffic]]
name = "noise"
from = "server"
to = "client"
stop = "900 ms"
source = { type = "constant", size = 700, gap = "3 ms" }
""",
    "spaced": _HEAD
    + """
[[node]]
name = "client"
[[node]]
name = "box"
kind = { type = "ack-pacer", ack_only_size = 46 }
[[node]]
name = "server"
[[link]]
name = "home"
from = "box"
to = "client"
both = { rate = "20 Mbit/s", delay = "2 ms" }
[[link]]
name = "line"
from = "server"
to = "box"
both = { rate = "40 Mbit/s", delay = "15 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
""",
    "moved": _HEAD
    + """
[[link]]
name = "wlan"
from = "server"
to = "phone"
delay = "8 ms"
forward = { rate = "8 Mbit/s", queue = "60 ms" }
backward = { rate = "4 Mbit/s" }
[[link]]
name = "cellular"
from = "server"
to = "phone"
delay = "30 ms"
forward = { rate = "6 Mbit/s", queue = "200 ms" }
backward = { rate = "2 Mbit/s" }
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk", size = "2 MB" }
[[event]]
at = "1 s"
type = "migrate"
flow = "get"
interface = "cellular"
[[event]]
at = "1.1 s"
type = "interface-down"
node = "phone"
interface = "wlan"
""",
    "several": _HEAD
    + _CELL.format(forward="", backward="")
    + """
[[flow]]
name = "first"
client = "client"
server = "server"
application = "bulk"
stop = "1500 ms"
[[flow]]
name = "late"
client = "client"
server = "server"
start = "700 ms"
application = { type = "bulk", size = "300 kB" }
[[flow]]
name = "next"
client = "client"
server = "server"
after = "late"
application = { type = "bulk", size = "100 kB", direction = "upload" }
""",
    "known": _HEAD
    + '[tls]\ntickets = 1\n[transport]\nresume = { type = "careful", store = "address" }\ncontroller = "cubic"\n'
    + _CELL.format(forward="", backward="").replace('"5 Mbit/s"', '"50 Mbit/s"').replace('"15 kB"', '"500 kB"')
    + _GET.format(application='{ type = "bulk", size = "4 MB" }')
    + 'visits = [{ at = "3 s", application = { type = "bulk", size = "200 kB" } }]\n',
    "l4s": _line(
        '{ type = "bulk", size = "1 MB" }', 'queue = "dualpi2"', "", '[transport]\necn = true\ncontroller = "prague"\n'
    ).replace('queue = "15 kB"\n', "", 1),
    "origins": _HEAD
    + _CELL.format(forward="", backward="").replace('from = "server"', 'from = "internet"')
    + """
[[link]]
name = "to-site"
from = "site"
to = "internet"
both = { rate = "1 Gbit/s", delay = "15 ms" }
[[link]]
name = "to-edge"
from = "edge"
to = "internet"
both = { rate = "1 Gbit/s", delay = "2 ms" }
[[flow]]
name = "page"
client = "client"
server = "site"
application = { type = "page", page = { type = "list", file = "FILES/magazine.csv" } }
[[flow]]
name = "cdn"
client = "client"
server = "edge"
application = { type = "origin", of = "page", hosts = ["*.publisher.example"], certificate = ["*.publisher.example"] }
[[flow]]
name = "ads"
client = "client"
server = "edge"
port = 8443
application = { type = "origin", of = "page", hosts = ["ads.example"] }
""",
}
