"""The environment of rate adaptation: its checker, rewards and the QoE, equal seeds, equal runs."""

import gc
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import quiclab
import quiclab.learning.video
from quiclab.gym import RateAdaptation

LADDER = ["400 kbit/s", "1 Mbit/s", "2500 kbit/s", "5 Mbit/s"]
LINK = {"name": "wire", "from": "server", "to": "client", "rate": "2 Mbit/s", "delay": "10 ms", "queue": "50 kB"}


def scenario(abr: Any = "throughput", **keys: Any) -> quiclab.Scenario:
    film = {"type": "ladder", "bitrates": LADDER, "duration": "60 s", "variation": 0.3}
    video = {"type": "video", "presentation": film, "abr": abr, "max_buffer": "15 s", **keys.pop("application", {})}
    flow = {"name": "film", "client": "client", "server": "server", "application": video}
    given = {"duration": "5 min", "link": [{**LINK, "loss": "1 %"}], "flow": [flow], **keys}
    return quiclab.Scenario(name="gym", **given)


Policy = Callable[[int], int]


def episode(env: RateAdaptation, seed: int, policy: Policy) -> tuple[list[list[float]], list[float], dict[str, Any]]:
    """The observations and the rewards, and the playback in the summary."""
    seen, info = env.reset(seed=seed)
    observations, rewards, over = [seen.tolist()], [], False
    while not over:
        seen, reward, terminated, truncated, info = env.step(policy(info["segment"]))
        observations.append(seen.tolist())
        rewards.append(reward)
        over = terminated or truncated
        assert env.observation_space.contains(seen)
    return observations, rewards, info["summary"]["connections"][0]


def ring(segment: int) -> int:
    return segment % 4


def test_the_checker_of_gymnasium_has_nothing_to_say() -> None:
    env = gymnasium.make(quiclab.learning.video.ID, scenario=scenario(), disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation.*")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("qoe", ["lin", "log", "hd"])
@pytest.mark.parametrize("policy", [ring, lambda _: 3, lambda _: 0])
def test_rewards_add_up_to_the_qoe_of_the_summary(qoe: Any, policy: Policy) -> None:
    _, rewards, connection = episode(RateAdaptation(scenario(), qoe=qoe), 1, policy)
    playback = connection["playback"]
    assert len(rewards) == playback["segments_played"] == 20
    assert sum(rewards) == pytest.approx(20 * playback[f"qoe_{qoe}"], abs=1e-4)


def test_what_is_asked_for_and_not_played_counts_in_the_rewards_alone() -> None:
    env = RateAdaptation(scenario(application={"seeks": [["10 s", "40 s"]]}))
    _, rewards, connection = episode(env, 1, lambda _: 1)
    played = connection["playback"]["segments_played"]
    # All have 1 Mbit/s. The seek drops what is in the buffer and what is underway.
    stalls = 4.3 * connection["playback"]["stalled_s"]
    assert len(rewards) > played and connection["completed"]
    assert sum(rewards) == pytest.approx(len(rewards) - stalls, abs=1e-4)
    assert connection["playback"]["qoe_lin"] * played == pytest.approx(played - stalls, abs=1e-4)


def test_a_reward_by_hand() -> None:
    env = RateAdaptation(scenario(link=[{**LINK, "rate": "100 Mbit/s"}]))
    _, rewards, _ = episode(env, 1, lambda segment: 3 if segment == 2 else 1)
    # 1 Mbit/s; 5 Mbit/s after a step of 4; 1 after a step of 4.
    assert rewards[:5] == pytest.approx([1, 1, 1, -3, 1])


@pytest.mark.parametrize(
    "abr", [{"type": "fixed", "representation": 2}, {"type": "throughput", "abandon": False}, "bba", "mpc"]
)
def test_an_episode_with_the_choices_of_a_row_is_the_run_with_that_row(abr: Any) -> None:
    run = scenario(abr).run(3)
    rows = run.table("segment").to_pylist()
    choices = [row["representation"] for row in rows]
    _, _, connection = episode(RateAdaptation(scenario()), 3, lambda segment: choices[segment])
    # Packet by packet: the run waits for each choice, and goes on as if it had been there.
    assert connection == run.summary["connections"][0]


def test_what_is_seen() -> None:
    env = RateAdaptation(scenario(), history=3)
    observations, _, connection = episode(env, 1, ring)
    rows = scenario("bba").run(1).table("segment").to_pylist()
    assert env.fields[:3] == ("last_bitrate_mbps", "buffer_s", "segments_left")
    seen = [dict(zip(env.fields, values, strict=True)) for values in observations]
    first, second, last = seen[0], seen[1], seen[-1]
    names = ("last_bitrate_mbps", "buffer_s", "throughput_mbps_1", "download_s_1")
    assert [first[name] for name in names] == [0, 0, 0, 0] and first["segments_left"] == 20
    sizes = [first[f"size_mb_{number}"] for number in range(4)]
    assert sizes == pytest.approx([size * sizes[0] / 0.4 for size in (0.4, 1, 2.5, 5)], rel=1e-3)
    assert rows[0]["size_bytes"] == pytest.approx(1e6 * sizes[0], abs=1)
    assert second["last_bitrate_mbps"] == pytest.approx(0.4) and second["segments_left"] == 19
    assert second["throughput_mbps_1"] == pytest.approx(8 * sizes[0] / second["download_s_1"], rel=1e-4)
    assert (second["throughput_mbps_2"], second["download_s_3"]) == (0, 0)
    third = seen[2]
    assert (third["download_s_2"], third["throughput_mbps_2"]) == (second["download_s_1"], second["throughput_mbps_1"])
    assert (last["segments_left"], last["size_mb_3"], last["last_bitrate_mbps"]) == (0, 0, 5)
    assert connection["completed"]


def test_equal_seeds_are_equal_episodes_and_others_are_not() -> None:
    env = RateAdaptation(scenario())
    first = episode(env, 7, ring)
    assert episode(env, 7, ring) == first == episode(RateAdaptation(scenario()), 7, ring)
    assert episode(env, 8, ring) != first
    assert episode(RateAdaptation(scenario(), scenario_seed=7), 8, ring) == first


def test_episodes_end_with_the_video_or_with_the_run() -> None:
    env = RateAdaptation(scenario(duration="20 s"))
    env.reset(seed=1)
    ends: list[tuple[bool, bool]] = []
    while not ends or not any(ends[-1]):
        _, _, terminated, truncated, info = env.step(3)
        ends.append((terminated, truncated))
    # 1.9 MB or more take 7.5 s.
    assert ends[-1] == (False, True) and len(ends) <= 4
    assert info["summary"]["connections"][0]["playback"]["segments_played"] < len(ends)
    with pytest.raises(quiclab.Error, match="there is no segment to choose for; expected reset"):
        env.step(3)


def test_an_episode_that_is_left_ends_its_run() -> None:
    before = threading.active_count()
    env = RateAdaptation(scenario())
    for seed in range(3):
        env.reset(seed=seed)
        env.step(1)
        assert threading.active_count() == before + 1
    env.close()
    assert threading.active_count() == before
    env.reset(seed=1)
    del env
    gc.collect()
    assert threading.active_count() == before
    pair = [RateAdaptation(scenario()) for _ in range(2)]
    seen = [env.reset(seed=5)[0].tolist() for env in pair]
    assert seen[0] == seen[1]
    assert pair[0].step(2)[0].tolist() == pair[1].step(2)[0].tolist()


def test_sound_other_flows_and_periods_are_as_the_scenario_says(tmp_path: Path) -> None:
    film = {"type": "ladder", "duration": "30 s", "bitrates": LADDER[:2], "audio": ["96 kbit/s"]}
    plain = {"client": "client", "server": "server"}
    video = {"type": "video", "presentation": film}
    flows: list[dict[str, Any]] = [
        {"name": "bulk", **plain, "application": "bulk"},
        {"name": "film", **plain, "application": video},
    ]
    path = tmp_path / "two.toml"
    path.write_text(scenario(flow=flows, duration="60 s").to_toml(), encoding="utf-8")
    env = RateAdaptation(path)
    observations, rewards, _ = episode(env, 1, lambda _: 1)
    assert len(rewards) == 10 and env.action_space == gymnasium.spaces.Discrete(2)
    alone = RateAdaptation(scenario(flow=flows[1:]))
    assert episode(alone, 1, lambda _: 1)[0][5] != observations[5]
    plain_word = RateAdaptation(scenario(flow=[{**flows[1], "application": "video"}]))
    assert plain_word.action_space == gymnasium.spaces.Discrete(10)
    named = RateAdaptation(path, "film")
    assert episode(named, 1, lambda _: 1)[1] == rewards


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(quiclab.Error, match="there is no flow 'nobody'; the scenario has: film"):
        RateAdaptation(scenario(), "nobody")
    flow = {"name": "bulk", "client": "client", "server": "server", "application": "bulk"}
    with pytest.raises(quiclab.Error, match="no flow plays one; expected a flow with the application video"):
        RateAdaptation(scenario(flow=[flow]))
    with pytest.raises(quiclab.Error, match="flow 'bulk' has another application"):
        RateAdaptation(scenario(flow=[flow]), "bulk")
    for history in (0, 65, 1.5):
        with pytest.raises(quiclab.Error, match=f"history is {history}; expected a whole number from 1 to 64"):
            RateAdaptation(scenario(), history=history)  # type: ignore[arg-type]
    with pytest.raises(quiclab.Error, match="qoe is 'best'; expected one of lin, log, hd"):
        RateAdaptation(scenario(), qoe="best")  # type: ignore[arg-type]
    with pytest.raises(quiclab.Error, match="the run ended before the first segment was chosen"):
        RateAdaptation(scenario(duration="5 ms"))
    env = RateAdaptation(scenario())
    with pytest.raises(quiclab.Error, match="expected reset"):
        env.step(1)
    env.reset(seed=1)
    for action in (-1, 4):
        with pytest.raises(quiclab.Error, match=f"the action is {action}; expected a representation from 0 to 3"):
            env.step(action)
    for wrong in (1.5, "1", None, np.array([1, 2])):
        with pytest.raises(quiclab.Error, match=r"the action is .*; expected a whole number"):
            env.step(wrong)  # type: ignore[arg-type]
    # The episode goes on.
    assert env.step(np.int64(1))[4]["segment"] == 1
