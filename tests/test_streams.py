"""docs/streams.md: the numbers of the tutorial are those that its commands give."""

import re
from pathlib import Path

import pytest

import quiclab
from quiclab import view

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "streams.md").read_text(encoding="utf-8")


def test_the_waits_of_eight_objects(tmp_path: Path) -> None:
    quiclab.Scenario.from_file(ROOT / "examples" / "objects.toml").run(qlog=True, out=tmp_path / "run")
    (connection,) = view.write(tmp_path / "run").connections
    numbers = connection["directions"][0]
    line = (
        f"page, from the server: {numbers['packets_sent']} packets, {numbers['packets_declared_lost']} declared lost; "
        f"{numbers['streams']} streams, which waited {numbers['waited_s']:.3f} s, "
        f"as one byte stream {numbers['waited_one_stream_s']:.3f} s"
    )
    assert line in PAGE


def test_a_page_in_three_ways() -> None:
    summary = quiclab.Scenario.from_file(ROOT / "examples" / "page.toml").run().summary
    loads = [f"{connection['page']['load_mean_s']:.3f} s" for connection in summary["connections"]]
    assert f"| mean page load time | {' | '.join(loads)} |" in PAGE
    lost = [str(connection["packets_lost"]) for connection in summary["connections"]]
    assert f"| packets lost | {' | '.join(lost)} |" in PAGE


@pytest.mark.parametrize("over", ["stream", "streams", "datagrams"])
def test_messages_on_a_stream_on_many_on_none(over: str) -> None:
    changes = {
        "transport.scheduler": "pfifo",
        "transport.max_datagram_frame_size": 1200,
        "flow.drone.application.parts.0.over": over,
    }
    run = quiclab.Scenario.from_file(ROOT / "examples" / "streams.toml", changes).run()
    found = run.summary["connections"][0]["parts"]["messages"]["messages"]
    row = re.search(rf"^\| `{over}`: .*$", PAGE, re.MULTILINE)
    assert row
    assert row[0].split(" | ")[1:] == [
        f"{found['delay_mean_ms']:.2f} ms",
        f"{found['delay_p95_ms']:.2f} ms",
        f"{found['completed']:,} of {found['number']:,}",
        f"{found['deadline_misses']} |",
    ]
