"""Congestion control as an environment of Gymnasium: somebody who learns sets the window, or the rate, of one sender.

import gymnasium
import quiclab.gym

env = gymnasium.make("quiclab/CongestionControl-v0", scenario="examples/cellular.toml", interval_s=0.1)
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

import itertools
import math
import tomllib
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar, Literal
from weakref import WeakValueDictionary

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from quiclab import _quiclab
from quiclab._quiclab import Ack, CongestionSignal, Error
from quiclab.results.scenario import LARGEST_SEED, Scenario
from quiclab.values import arguments
from quiclab.values.components.controller import Controller

Observation = NDArray[np.float32]

FIELDS = (
    "delivery_rate_mbps",
    "acked_mbps",
    "lost_mbps",
    "rtt_ms",
    "smoothed_rtt_ms",
    "min_rtt_ms",
    "in_flight_packets",
    "window_packets",
    "marked_packets",
    "app_limited",
)
"""What an observation holds, in this order.

The latest delivery-rate sample; what was acknowledged and what was lost during the step, as rates; the latest, smoothed
and least RTT; packets in flight and the window, in full packets; packets that came with CE during the step; 1 if the
application held the sample down, else 0. What is not known yet is 0.
"""

Reward = Callable[[Mapping[str, float]], float]
"""What a step was worth, from the fields of its observation."""

_MOST_PACKETS = 10_000
_MOST_MBPS = 10_000.0
_LEAST_MBPS = 0.01
_LEAST_INTERVAL_S = 1e-6
"""Shorter steps would not end: virtual time is counted in nanoseconds."""

ID = "quiclab/CongestionControl-v0"


def copa_utility(seen: Mapping[str, float]) -> float:
    """The default reward: log2(rate) - log2(RTT / least RTT) - 10 x share of losses.

    >>> quiclab.gym.copa_utility({"acked_mbps": 8, "lost_mbps": 0, "rtt_ms": 100, "min_rtt_ms": 50})
    2.0

    It is Copa's utility (NSDI 2018) with losses. The rate is what was acknowledged during the step, in Mbit/s, at
    least 0.001.
    """
    rate = max(seen["acked_mbps"], 1e-3)
    delay = seen["rtt_ms"] / seen["min_rtt_ms"] if seen["min_rtt_ms"] > 0 else 1.0
    lost = seen["lost_mbps"] / (seen["lost_mbps"] + rate)
    return math.log2(rate) - math.log2(max(delay, 1.0)) - 10 * lost


class CongestionControl(gymnasium.Env[Observation, NDArray[np.float32]]):
    """One sender of a scenario, controlled by an agent; all others are as the scenario says.

    >>> environment = quiclab.gym.CongestionControl("examples/cellular.toml", action="rate", normalised=False)
    >>> observation, info = environment.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = environment.step([5.0])
    >>> round(info["rtt_ms"])
    57

    A step is `interval_s` of virtual time. An action is an array of one number, from -1 to 1 on a logarithmic scale:
    the window, 1 to 10,000 packets with 100 at 0; or the pacing rate, 0.01 to 10,000 Mbit/s with 10 at 0 (the window
    is then so large that only the rate counts). It takes effect with the next packet that is sent, acknowledged or
    lost. An episode ends with the scenario's `duration` (truncated), or when all flows are finished (terminated). Equal
    seeds and actions give equal episodes.

    :param scenario: a `Scenario`, or the path of its file.
    :param flow: the flow of the sender; default: the first.
    :param side: "server" for a download (the default), "client" for an upload.
    :param action: "window" or "rate".
    :param normalised: whether an action is a number from -1 to 1; otherwise it is in packets, or in Mbit/s.
    :param interval_s: the length of a step in seconds, at least a microsecond.
    :param reward: the reward of a step; default: `copa_utility`.
    :param scenario_seed: the seed of every episode; default: the one given to `reset`, else drawn anew from the
        environment's own generator.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (as the base class has it)

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        flow: str | None = None,
        *,
        side: Literal["server", "client"] = "server",
        action: Literal["window", "rate"] = "window",
        normalised: bool = True,
        interval_s: float = 0.1,
        reward: Reward = copa_utility,
        scenario_seed: int | None = None,
    ) -> None:
        if not callable(reward):
            raise Error(f"reward is {reward!r}; expected a function of the numbers of a step")
        if not isinstance(interval_s, int | float) or not _LEAST_INTERVAL_S <= interval_s < math.inf:
            raise Error(f"interval_s is {interval_s}; expected a number of seconds, {_LEAST_INTERVAL_S} or more")
        for name, value, words in (("side", side, ("server", "client")), ("action", action, ("window", "rate"))):
            if value not in words:
                raise Error(f"{name} is {value!r}; expected {words[0]!r} or {words[1]!r}")
        self._hand = _Hand()
        given = scenario if isinstance(scenario, Scenario) else Scenario.from_file(scenario)
        place = _place(given, flow)
        self._scenario = given.with_({place: {"type": f"{__name__}:_Agent", "hand": self._hand.number}})
        self._end = 1 if side == "server" else 0
        self._action = action
        self._interval_s = interval_s
        self._reward = reward
        most = LARGEST_SEED
        self._seed = None if scenario_seed is None else arguments.whole("scenario_seed", scenario_seed, 0, most)
        self._stepper: _quiclab.Stepper | None = None
        self._steps = 0
        self._range = (1.0, float(_MOST_PACKETS)) if action == "window" else (_LEAST_MBPS, _MOST_MBPS)
        self._normalised = normalised
        self.action_space = spaces.Box(*((-1.0, 1.0) if normalised else self._range), (1,), np.float32)
        self.observation_space = spaces.Box(0.0, np.inf, (len(FIELDS),), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts a run, and advances it, step by step, until the sender has had its first acknowledgement."""
        if seed is not None:
            seed = arguments.whole("reset: seed", seed, 0, LARGEST_SEED)
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(1 << 31))
        run_seed = self._seed if self._seed is not None else drawn if seed is None else seed
        self._hand.ends.clear()
        self._stepper = _quiclab.Stepper(self._scenario._inner, run_seed)
        self._steps = 0
        while not self._ended and (self._agent is None or self._agent.ack is None):
            self._go_on()
        return self._look()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the window or the rate, and lets `interval_s` of virtual time pass."""
        if self._stepper is None:
            raise Error("the environment has not started; expected reset() before step()")
        value = self._value(action)
        if (agent := self._agent) is not None:
            agent.act(self._action, value)
        self._go_on()
        seen, info = self._look()
        finished = self._stepper.over
        return seen, rewarded(self._reward(info)), finished, self._ended and not finished, info

    def _value(self, action: NDArray[np.float32]) -> float:
        """The window or the rate that an action stands for."""
        try:
            given = np.asarray(action, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise Error(f"the action is {action!r}; expected an array of one number") from error
        if given.shape != (1,):
            raise Error(f"the action has the shape {given.shape}; expected (1,): an array of one number")
        number = float(given[0])
        low, high = self._range
        least, most = (-1.0, 1.0) if self._normalised else self._range
        # The space has single precision.
        if not np.float32(least) <= given[0] <= np.float32(most):
            raise Error(f"the action is {number}; expected a number from {least:g} to {most:g}")
        value = low * (high / low) ** ((number + 1) / 2) if self._normalised else number
        return min(max(value, low), high)

    def close(self) -> None:
        """Releases the run."""
        self._stepper = None
        self._hand.ends.clear()

    @property
    def _agent(self) -> "_Agent | None":
        ends = self._hand.ends
        return ends[self._end] if len(ends) > self._end else None

    @property
    def _ended(self) -> bool:
        stepper = self._stepper
        return stepper is None or stepper.over or self._steps * self._interval_s >= stepper.end_s

    def _go_on(self) -> None:
        assert self._stepper is not None
        for end in self._hand.ends:
            end.begin_step()
        self._steps += 1
        self._stepper.run_until(self._steps * self._interval_s)

    def _look(self) -> tuple[Observation, dict[str, Any]]:
        assert self._stepper is not None
        agent = self._agent
        seen = agent.seen(self._interval_s) if agent else dict.fromkeys(FIELDS, 0.0)
        values = np.array([seen[name] for name in FIELDS], dtype=np.float32)
        return values, {**seen, "now_s": self._stepper.now_s}


class _Hand:
    """The controllers of one environment."""

    numbers = itertools.count(1)
    all: ClassVar["WeakValueDictionary[int, _Hand]"] = WeakValueDictionary()

    def __init__(self) -> None:
        self.number = next(_Hand.numbers)
        self.ends: list[_Agent] = []
        """The client's end, then the server's: in the order in which they begin."""
        _Hand.all[self.number] = self


class _Agent(Controller):
    """In the hands of quiclab.gym."""

    options = {"hand": 0}  # noqa: RUF012  (as the base class documents it)
    hand: int

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        if (hand := _Hand.all.get(self.hand)) is None:
            raise Error(
                "this controller belongs to an environment of quiclab.gym that no longer exists; make a new one"
            )
        if self not in hand.ends:
            hand.ends.append(self)
        self.ack: Ack | None = None
        self.rate_bps, self.rate_app_limited = 0.0, False
        self.begin_step()

    def begin_step(self) -> None:
        self.acked_bytes, self.lost_bytes, self.marked_packets = 0, 0, 0

    def act(self, action: str, value: float) -> None:
        if action == "window":
            self.window_bytes = max(value, 1.0) * self.datagram_bytes
        else:
            self.window_bytes, self.pacing_bps = _MOST_PACKETS * self.datagram_bytes, value * 1e6

    def on_ack(self, ack: Ack) -> None:
        self.ack = ack
        self.acked_bytes += ack.acked_bytes
        if ack.delivery_rate_bps is not None:
            self.rate_bps, self.rate_app_limited = ack.delivery_rate_bps, ack.rate_app_limited

    def on_loss(self, loss: CongestionSignal) -> None:
        self.lost_bytes += loss.bytes

    def on_mark(self, mark: CongestionSignal) -> None:
        self.marked_packets += mark.packets

    def seen(self, interval_s: float) -> dict[str, float]:
        ack = self.ack
        mbps = 8e-6 / interval_s
        return {
            "delivery_rate_mbps": self.rate_bps / 1e6,
            "acked_mbps": self.acked_bytes * mbps,
            "lost_mbps": self.lost_bytes * mbps,
            "rtt_ms": 1e3 * ack.rtt_s if ack else 0.0,
            "smoothed_rtt_ms": 1e3 * ack.smoothed_rtt_s if ack else 0.0,
            "min_rtt_ms": 1e3 * ack.min_rtt_s if ack else 0.0,
            "in_flight_packets": ack.bytes_in_flight / self.datagram_bytes if ack else 0.0,
            "window_packets": self.window_bytes / self.datagram_bytes,
            "marked_packets": float(self.marked_packets),
            "app_limited": float(self.rate_app_limited),
        }


def rewarded(given: object) -> float:
    """What a reward function returned. Raises `Error` if it is no number."""
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise Error(f"the reward is {given!r}; expected a number") from error


def _place(scenario: Scenario, flow: str | None) -> str:
    """The path of the controller of a flow."""
    flows = {entry["name"]: entry for entry in tomllib.loads(scenario.to_toml())["flow"]}
    name = next(iter(flows)) if flow is None else flow
    if name not in flows:
        raise Error(f"there is no flow {name!r}; the scenario has: {', '.join(flows)}")
    table = "tcp" if flows[name].get("protocol") == "tcp" else "transport"
    return f"flow.{name}.{table}.controller"


gymnasium.register(id=ID, entry_point=f"{__name__}:CongestionControl")
