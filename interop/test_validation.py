"""What CI runs of `make validation`: the schedulers that differ by factors, in virtual and in real time."""

import itertools
import random
from pathlib import Path

import pytest
from runner.stacks import OURS
from test_endpoint import PERMITTED
from validation import abr, completion, kernel, player, resumption, schedulers, stacks, whole_packets
from validation.__main__ import DOCUMENT, page

from quiclab.engines.matrix import Outcome


def test_the_order_of_schedulers_is_that_of_the_simulation(tmp_path: Path) -> None:
    """One seed of three schedulers without losses: the places come from the simulation, the delays from sockets."""
    virtual, wall = {}, {}
    for name in ("fifo", "rr", "rfc9218"):
        transfer = schedulers.transfer(name, "0 %")
        virtual[name] = schedulers.delay_ms(transfer.simulated(1).delays_s)
        (outcome,) = transfer.real(tmp_path, [1])
        wall[name] = schedulers.delay_ms(outcome.delays_s)
    groups = schedulers.places(virtual)
    assert groups == [["rfc9218"], ["rr"], ["fifo"]]
    assert schedulers.same_order(groups, wall), wall


def test_whole_packets_carry_less_than_fractions() -> None:
    """The less the smaller the windows are; without losses both grow without end, the one in steps."""
    assert -0.2 < whole_packets.difference(0.03) < whole_packets.difference(0.01) < 0
    for model in (whole_packets.Fractions(), whole_packets.WholePackets()):
        for _ in range(1000):
            model.acknowledge()
        growth = (model.window**2 - 10**2) / (2 * 1000)
        assert growth == pytest.approx(whole_packets.ALPHA, rel=0.1), model


def test_places_have_ties_and_orders_can_differ() -> None:
    """Judged by hand: 5 % is a tie, 20 % is not, and one that is too slow breaks the order."""
    assert schedulers.places({"c": 200.0, "a": 100.0, "b": 105.0}) == [["a", "b"], ["c"]]
    groups = [["a", "b"], ["c"]]
    assert schedulers.same_order(groups, {"a": 130.0, "b": 90.0, "c": 131.0})
    assert not schedulers.same_order(groups, {"a": 132.0, "b": 90.0, "c": 131.0})


def cell(low: float, high: float, rtt_ms: int = 10) -> completion.Cell:
    """A row with this interval."""
    return completion.Cell(rtt_ms, "1 %", 9, 1.0, 1.0, (low + high) / 2, (low, high))


def test_a_sentence_claims_no_more_than_its_rows() -> None:
    """A row beyond the limit, and one whose interval is too wide, stand in it by name."""
    assert "every interval" in completion.claim([cell(-0.01, 0.02), cell(-0.05, 0.05)])
    beyond = completion.claim([cell(-0.01, 0.02), cell(0.051, 0.09, 100)])
    assert "in 1 of 2 cells" in beyond and "differ by more than that at 100 ms with 1 % loss." in beyond
    wide = completion.claim([cell(-0.01, 0.051), cell(-0.2, 0.01, 50), cell(-0.01, 0.01, 99)])
    assert "in 1 of 3 cells" in wide and "open at 10 ms with 1 % loss and 50 ms with 1 % loss." in wide
    one_seed = completion.compared(10, "0 %", [1.0], [1.001])
    assert one_seed.interval is None and "in 0 of 1 cells" in completion.claim([one_seed])


def test_the_page_says_what_its_rows_say() -> None:
    """A changed number of the table, or a changed sentence above it, fails here."""
    text = DOCUMENT.read_text(encoding="utf-8")
    cells = completion.read(text)
    assert len(cells) == len(completion.RTTS_MS) * len(completion.LOSSES)
    assert all(cell.interval is not None and cell.seeds >= completion.LEAST for cell in cells)
    assert "\n".join(completion.INTRODUCTION) in text
    assert "\n".join(completion.table(cells)) in text
    assert f"\n{completion.claim(cells)}\n" in text


def test_an_interval_covers_what_is_there_nineteen_times_of_twenty() -> None:
    """400 cells of 12 seeds whose real times are 3 % longer, with a scatter of 10 %."""
    draws = random.Random(1)
    covered = 0
    for _ in range(400):
        simulated = [draws.lognormvariate(0, 0.3) for _ in range(12)]
        real = [time * 1.03 * draws.lognormvariate(0, 0.1) for time in simulated]
        low, high = completion.compared(10, "1 %", simulated, real).interval or (1, -1)
        covered += low <= 0.03 <= high
    assert 0.92 <= covered / 400 <= 0.975, covered


def test_seeds_go_where_times_vary_and_the_time_is_kept() -> None:
    """By hand: no scatter needs the least; twice the scatter needs four times the seeds; slow cells run at once."""
    still, some, much = completion.Effort(0, 1.0), completion.Effort(0.03, 1.0), completion.Effort(0.06, 1.0)
    assert completion.plan([still, some]) == [completion.LEAST, 35]
    assert completion.plan([still, much]) == [completion.LEAST, 139]
    assert [completion.at_once(seconds) for seconds in (0.1, 4.1, 17.0)] == [1, 2, 8]
    endless = [completion.Effort(1.0, 5.0), completion.Effort(2.0, 5.0)]
    seeds = completion.plan(endless)
    spent = sum(effort.cost_s(count) for effort, count in zip(endless, seeds, strict=True))
    assert completion.BUDGET_S - 5 <= spent <= completion.BUDGET_S
    assert seeds[1] == pytest.approx(4 * seeds[0], rel=0.05)


@pytest.mark.parametrize("carrier", ["store", "bdp_frame"])
def test_a_returning_client_resumes_from_what_the_first_download_found(tmp_path: Path, carrier: str) -> None:
    """With small files: `real` fails unless 0-RTT and the saved capacity are accepted. A busy machine may be slower."""
    small = {"first": 3_000_000, "second": 200_000}
    plain, resumed = (resumption.Return(name, **small).simulated() for name in ("none", carrier))
    assert resumed < 0.8 * plain
    assert 0.95 * resumed < resumption.Return(carrier, **small).real(tmp_path) < plain


def test_an_interval_holds_the_median_whatever_the_distribution() -> None:
    """By hand: 22 of 1024 orders leave it outside of the second and the ninth of ten values; of five there is none."""
    assert resumption.interval_of_median([float(at) for at in range(10)]) == (1.0, 8.0)
    assert resumption.interval_of_median([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)
    assert resumption.interval_of_median([1.0] * 5) is None
    draws = random.Random(1)
    covered = 0
    for _ in range(400):
        low, high = resumption.interval_of_median([draws.expovariate(1) for _ in range(10)]) or (1, 0)
        covered += low <= 0.6931 <= high
    assert 0.95 <= covered / 400 <= 0.995, covered


def test_the_page_says_what_its_rows_say_of_resumption() -> None:
    """As for the completion times; and a median that is too far from the simulation has another sentence."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = resumption.read(text)
    assert [row.carrier for row in rows] == list(resumption.CARRIERS)
    assert all(row.runs >= resumption.RUNS and row.interval_s is not None and row.holds for row in rows)
    assert "\n".join(resumption.INTRODUCTION) in text
    assert "\n".join(resumption.table(rows)) in text
    assert f"\n{resumption.claim(rows)}\n" in text
    far = [resumption.measured(row.carrier, row.simulated_s, [row.simulated_s * 1.06]) for row in rows]
    assert "by more than 5% for `none` and `store` and `bdp_frame`" in resumption.claim(far)


def test_the_page_says_what_its_rows_say_of_rate_adaptation(tmp_path: Path) -> None:
    """All of it, which takes seconds; and a choice that differs does not hold."""
    section = abr.study(tmp_path, None)
    assert section.holds
    assert "\n".join(section.lines) in DOCUMENT.read_text(encoding="utf-8")
    line, holds = abr.row("bola", abr.Comparison(choices=100, differ_alone=1))
    assert not holds and line.endswith("| **differs** |")


def test_the_page_says_what_its_rows_say_of_the_kernel() -> None:
    """And a median that is too far from the simulation is named."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = kernel.read(text)
    assert [(row.link, row.controller) for row in rows] == [(cell.link, cell.controller) for cell in kernel.CELLS]
    assert all(row.runs >= kernel.RUNS and row.interval is not None for row in rows)
    told = [*kernel.INTRODUCTION, "", kernel.claim(rows), "", *kernel.table(rows), "", *kernel.reasons()]
    assert "\n".join(told) in text
    ours, near, away = (kernel.Transfer(rate, 50.0, 1.0) for rate in (10.0, 9.6, 9.4))
    far = kernel.measured(kernel.Cell("cubic", "clean"), [ours], [away])
    assert not far.holds and "`cubic` on clean (-6.0%)" in kernel.claim([far])
    assert "within the bound" in kernel.claim([kernel.measured(kernel.Cell("cubic", "clean"), [ours], [near])])


def test_a_kernel_without_a_module_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that cannot be measured does not vanish in silence, and the study does not hold."""
    (tmp_path / "available").write_text("reno\n", encoding="utf-8")
    monkeypatch.setattr(kernel, "AVAILABLE", tmp_path / "available")
    monkeypatch.setattr(kernel, "CELLS", [kernel.Cell("bbr1", "long 3 % loss")])
    section = kernel.study(tmp_path, 1)
    text = "\n".join(section.lines)
    assert not section.holds
    assert "NOT MEASURED: this kernel has no `bbr`" in text and "no `cubic`" in text and "no `reno`" not in text


def test_the_page_says_what_its_rows_say_of_other_stacks() -> None:
    """And a median of ours that is too far from the simulation does not hold."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = stacks.read(text)
    names = [subject.name for subject in stacks.SUBJECTS]
    assert [(row.network, row.stack) for row in rows] == list(itertools.product(stacks.NETWORKS, names))
    assert all(row.runs >= stacks.RUNS and row.interval is not None for row in rows)
    section = [*stacks.INTRODUCTION, "", stacks.claim(rows), "", *stacks.table(rows), "", *stacks.REASONS]
    assert "\n".join(section) in text
    outcomes = [Outcome("passed", goodput_mbps=rate, rtt_mean_ms=50, server_packets=10) for rate in (10.0, 9.4)]
    for outcome in outcomes:
        outcome.server_packets_lost = 1
    far = stacks.measured("plain", stacks.SUBJECTS[0], outcomes[:1], outcomes[1:])
    assert not far.holds and "Beyond the bound: quiclab on plain (-6.0%)" in stacks.claim([far])
    assert stacks.read("\n".join([stacks.TITLE, *stacks.table([far])])) == [far]


@PERMITTED
def test_packets_meet_the_same_network_simulated_and_real(tmp_path: Path) -> None:
    """One run of a small file: what the network alone decides is equal, and what the clock decides is bounded."""
    (real,) = stacks.real(tmp_path, [OURS], "plain", 1, 300_000)[OURS]
    simulated = stacks.SUBJECTS[0].simulated("plain", 1, 300_000)
    for outcome in (real, simulated):
        assert outcome.rtt_min_ms is not None and outcome.rtt_min_ms >= 40
        assert outcome.goodput_mbps is not None and 0 < outcome.goodput_mbps < 20
        assert outcome.server_overhead is not None and 1.02 < outcome.server_overhead < 1.5


def test_the_page_says_what_its_rows_say_of_a_player_in_a_browser() -> None:
    """And a median that is too far from the simulation is named."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = player.read(text)
    measures = [measure.name for measure in player.MEASURES]
    assert [(row.network, row.measure) for row in rows] == list(itertools.product(player.networks(), measures))
    for part in player.INTRODUCTION, [player.claim(rows)], player.table(rows), player.reasons(rows):
        assert "\n".join(part) in text
    assert (DOCUMENT.parent / "images" / player.FIGURE).exists()
    session = {"bitrate_mean_mbps": 1.0, "standing_ratio": 0.05, "start_up_s": 0.5}
    far = {"bitrate_mean_mbps": 0.75, "standing_ratio": 0.14, "start_up_s": 0.76}
    found = player.measured("loss 10 %", [session], [far])
    assert [row.holds for row in found] == [False, True, False]
    assert "Beyond the bound: loss 10 %, bitrate (1.00, 0.75); loss 10 %, start-up (0.50, 0.76)." in player.claim(found)
    assert player.claim(player.measured("loss 10 %", [session], [session])).startswith("All 3 medians")
    assert "cannot tell them apart" in " ".join(player.reasons(found))
    (apart, *_) = player.measured("loss 10 %", [session], [far] * player.RUNS)
    assert "except for loss 10 %, bitrate." in " ".join(player.reasons([apart]))


def test_a_section_takes_the_place_of_its_former_self() -> None:
    """The others stay as they are."""
    former = page("", ["## A\n\nold\n", "## B\n\nkept\n"])
    assert page(former, ["## A\n\nnew\n"]) == former.replace("old", "new")
    assert page(former, ["## C\n\nmore\n"]).endswith("kept\n\n## C\n\nmore\n")
