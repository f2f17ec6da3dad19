"""How long a queue Copa senders keep, among themselves and beside others: the tables of docs/model/copa.md.

python examples/copa_company.py
"""

import quiclab

SEEDS = (1, 2, 3)
RTT_MS = 40


def scenario(flows: list[tuple[object, int]], queue: str) -> quiclab.Scenario:
    """Downloads with these controllers and base RTTs (in ms) over 20 Mbit/s, each beginning a second after the last.

    Each has its own server and client, and up to half a millisecond of jitter before the bottleneck.
    """
    wide = {"rate": "1 Gbit/s", "queue": "100000 packets"}
    narrow = {"rate": "20 Mbit/s", "queue": queue}
    links: list[object] = [
        {"name": "bottleneck", "from": "left", "to": "right", "delay": "5 ms", "forward": narrow, "backward": wide}
    ]
    downloads: list[object] = []
    for number, (controller, rtt) in enumerate(flows):
        name, delay = f"f{number}", f"{(rtt - 10) / 2} ms"
        server, client = f"{name}-server", f"{name}-client"
        access = {**wide, "delay": delay, "forward": {"jitter": "500 us"}}
        links.append({"name": f"{name}-access", "from": server, "to": "left", **access})
        links.append({"name": f"{name}-home", "from": "right", "to": client, **wide})
        start = f"{1037 * number} ms"
        own = {"start": start, "application": "bulk", "transport": {"controller": controller}}
        downloads.append({"name": name, "client": client, "server": server, **own})
    room = {"initial_max_data": "64 MB", "initial_max_stream_data_bidi_local": "64 MB"}
    return quiclab.Scenario(duration="60 s", transport=room, link=links, flow=downloads)


def measure(label: str, flows: list[tuple[object, int]], queue: str = "unlimited") -> None:
    """Prints one line: means over the seeds, and of the mean queue the least and the greatest too."""
    queues, used, fairness, shares = [], [], [], []
    for seed in SEEDS:
        summary = scenario(flows, queue).run(seed, tables=False).summary
        link = next(link for link in summary["links"] if (link["name"], link["direction"]) == ("bottleneck", "forward"))
        rates = [connection["goodput_mbps"] for connection in summary["connections"]]
        queues.append(link["queue_mean_packets"])
        used.append(link["utilisation"])
        fairness.append(sum(rates) ** 2 / len(rates) / sum(rate * rate for rate in rates))
        shares.append(rates[0] / sum(rates))

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    print(
        f"{label:44} queue {mean(queues):6.1f} ({min(queues):.1f} to {max(queues):.1f})  utilisation {mean(used):.3f}"
        f"  Jain {mean(fairness):.3f}  share of the first {mean(shares):.2f}",
        flush=True,
    )


def main() -> None:
    """All lines."""
    for competitive in (True, False):
        copa = {"type": "copa", "competitive": competitive}
        mode = "" if competitive else ", competitive = false"
        for number in (2, 3, 5, 10):
            measure(f"{number} flows{mode}", [(copa, RTT_MS)] * number)
        for rtts in ([40, 80], [30, 40, 60], [20, 40, 60, 80, 100]):
            measure(f"RTTs of {', '.join(map(str, rtts))} ms{mode}", [(copa, rtt) for rtt in rtts])
    for other in ("newreno", "cubic"):
        for queue in ("100 kB", "200 kB", "400 kB"):
            measure(f"beside {other}, queue of {queue}", [("copa", RTT_MS), (other, RTT_MS)], queue)


if __name__ == "__main__":
    main()
