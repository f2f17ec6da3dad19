"""The environment of Gymnasium: what its checker says, what is seen, equal seeds."""

import os
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import quiclab
import quiclab.gym
from quiclab.gym import FIELDS, CongestionControl

LINK = {"name": "wire", "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "50 kB"}
FLOW: dict[str, Any] = {"name": "flow", "client": "client", "server": "server", "application": "bulk"}


def scenario(**keys: Any) -> quiclab.Scenario:
    given = {"duration": "5 s", "transport": {"initial_max_data": "16 MB"}, "link": [LINK], "flow": [FLOW], **keys}
    return quiclab.Scenario(name="gym", **given)


def episode(env: Any, seed: int, value: float) -> list[list[float]]:
    seen, _ = env.reset(seed=seed)
    rows = [seen.tolist()]
    over = False
    while not over:
        seen, reward, terminated, truncated, _ = env.step(np.array([value], dtype=np.float32))
        rows.append([*seen.tolist(), reward])
        over = terminated or truncated
    return rows


@pytest.mark.parametrize("action", ["window", "rate"])
def test_the_checker_of_gymnasium_has_nothing_to_say(action: Any) -> None:
    env = gymnasium.make(quiclab.gym.ID, scenario=scenario(), action=action, disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation.*")
        check_env(env.unwrapped, skip_render_check=True)


def test_a_window_of_the_bandwidth_delay_product_fills_the_link_and_leaves_the_queue_empty() -> None:
    env = CongestionControl(scenario(), normalised=False)
    # 10 Mbit/s x 20 ms = 25 kB, 17 packets.
    rows = {packets: episode(env, 1, packets)[20] for packets in (8, 18, 40)}
    acked, rtt = FIELDS.index("acked_mbps"), FIELDS.index("rtt_ms")
    assert rows[8][acked] < 6 < 9.3 < rows[18][acked]
    assert rows[18][rtt] < 25 < 40 < rows[40][rtt]
    assert rows[18][-1] > rows[8][-1] and rows[18][-1] > rows[40][-1], "the reward is highest in between"
    assert all(row[FIELDS.index("window_packets")] == pytest.approx(packets) for packets, row in rows.items())


def test_a_rate_is_what_is_sent() -> None:
    rows = episode(CongestionControl(scenario(), action="rate", normalised=False, interval_s=0.5), 1, 4.0)
    assert rows[5][FIELDS.index("acked_mbps")] == pytest.approx(4.0, rel=0.02)
    assert rows[5][FIELDS.index("delivery_rate_mbps")] == pytest.approx(4.0, rel=0.1)


def test_equal_seeds_are_equal_episodes_and_others_are_not() -> None:
    lossy = scenario(link=[{**LINK, "loss": "1 %"}])
    env = CongestionControl(lossy)
    # 100 packets x 100^-0.35: 20.
    first = episode(env, 7, -0.35)
    assert episode(env, 7, -0.35) == first == episode(CongestionControl(lossy), 7, -0.35)
    assert episode(env, 8, -0.35) != first
    fixed = CongestionControl(lossy, scenario_seed=7)
    assert episode(fixed, 8, -0.35) == first


def test_episodes_end_with_the_run_or_with_the_flow() -> None:
    env = CongestionControl(scenario(), normalised=False)
    assert len(episode(env, 1, 18)) == 50
    _, info = env.reset(seed=1)
    assert 0 < info["now_s"] <= 0.2
    short = CongestionControl(
        scenario(flow=[{**FLOW, "application": {"type": "bulk", "size": "1 MB"}}]), normalised=False
    )
    short.reset(seed=1)
    ends: list[tuple[bool, bool]] = []
    while not ends or not any(ends[-1]):
        ends.append(short.step(np.array([18], dtype=np.float32))[2:4])
    assert ends[-1] == (True, False) and 8 <= len(ends) <= 11


def test_the_other_flows_are_as_the_scenario_says(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(scenario(flow=[FLOW, {**FLOW, "name": "other"}]).to_toml(), encoding="utf-8")
    alone = episode(CongestionControl(scenario(), normalised=False), 1, 18)[30]
    shared = episode(CongestionControl(os.fspath(path), "flow", normalised=False), 1, 18)[30]
    acked = FIELDS.index("acked_mbps")
    assert shared[acked] < 0.8 * alone[acked]
    upload = {**FLOW, "application": {"type": "bulk", "direction": "upload"}}
    env = CongestionControl(scenario(flow=[upload]), side="client", normalised=False)
    assert episode(env, 1, 18)[30][acked] > 5


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(quiclab.Error, match="there is no flow 'nobody'; the scenario has: flow"):
        CongestionControl(scenario(), "nobody")
    # A step of less than a nanosecond would never end.
    for interval_s in (0, 1e-12, -1.0, np.nan, np.inf):
        with pytest.raises(quiclab.Error, match=f"interval_s is {interval_s}; expected a number of seconds, 1e-06 or"):
            CongestionControl(scenario(), interval_s=interval_s)
    with pytest.raises(quiclab.Error, match="action is 'speed'; expected 'window' or 'rate'"):
        CongestionControl(scenario(), action="speed")  # type: ignore[arg-type]
    env = CongestionControl(scenario())
    with pytest.raises(quiclab.Error, match="expected reset"):
        env.step(np.array([1.0], dtype=np.float32))
    env.reset(seed=1)
    for value in (np.nan, 1.1, -np.inf):
        with pytest.raises(quiclab.Error, match=f"the action is {value:.1f}.*; expected a number from -1 to 1"):
            env.step(np.array([value], dtype=np.float32))
    for wrong in (np.zeros(2), np.zeros((1, 1)), np.zeros(0), 0.5):
        with pytest.raises(quiclab.Error, match=r"the action has the shape \(.*\); expected \(1,\)"):
            env.step(wrong)  # type: ignore[arg-type]
    with pytest.raises(quiclab.Error, match="expected an array of one number"):
        env.step("fast")  # type: ignore[arg-type]
    absolute = CongestionControl(scenario(), normalised=False)
    absolute.reset(seed=1)
    with pytest.raises(quiclab.Error, match="expected a number from 1 to 10000"):
        absolute.step(np.array([0.5], dtype=np.float32))


@pytest.mark.parametrize(("action", "ends"), [("window", (1.0, 100.0, 10_000.0)), ("rate", (0.01, 10.0, 10_000.0))])
def test_an_action_is_a_place_on_a_logarithmic_scale(action: Any, ends: tuple[float, ...]) -> None:
    env = CongestionControl(scenario(), action=action, interval_s=1e-3)
    assert env.action_space == gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    for number, value in zip((-1, 0, 1), ends, strict=True):
        env.reset(seed=1)
        env.step(np.array([number], dtype=np.float32))
        agent = env._agent
        assert agent is not None
        set_to = agent.window_bytes / agent.datagram_bytes if action == "window" else (agent.pacing_bps or 0) / 1e6
        assert set_to == pytest.approx(value)
