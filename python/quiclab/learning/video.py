"""Rate adaptation as an environment of Gymnasium: somebody who learns chooses the representation of each segment.

import gymnasium
import quiclab.gym

env = gymnasium.make("quiclab/RateAdaptation-v0", scenario="film.toml", qoe="lin")
observation, info = env.reset(seed=1)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

import itertools
import operator
import threading
import tomllib
import weakref
from os import PathLike
from queue import SimpleQueue
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from quiclab._quiclab import AbrView, Error, segment_quality, stall_cost
from quiclab.results.scenario import LARGEST_SEED, Scenario
from quiclab.values import arguments
from quiclab.values.components.abr import Abr

Observation = NDArray[np.float32]

ID = "quiclab/RateAdaptation-v0"

SCALES = ("lin", "log", "hd")
_MOST_HISTORY = 64
"""Downloads that a player remembers."""


class RateAdaptation(gymnasium.Env[Observation, np.int64]):
    """The player of a video, controlled by an agent; everything else is as the scenario says.

    >>> environment = quiclab.gym.RateAdaptation("examples/video.toml", flow="near")
    >>> observation, info = environment.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = environment.step(0)
    >>> reward
    0.23

    A step is one segment: an action is the number of its representation, from 0, the lowest bitrate. The observation
    is what is known when the choice is made. `fields` names its numbers, with k = `history`:

    * `last_bitrate_mbps`: the bitrate of the segment before, in Mbit/s; from 0 to the highest bitrate.
    * `buffer_s`: the media in the buffer, in seconds; from 0 to the option `max_buffer`.
    * `segments_left`: the segments up to the end of the presentation, this one included; from 0 to all of them.
    * `throughput_mbps_k` ... `throughput_mbps_1`: the throughput of the last k segments, the last one at the end:
      bits per second from the request to the last byte, in Mbit/s; 0 or more.
    * `download_s_k` ... `download_s_1`: that time, in seconds; 0 or more.
    * `size_mb_0` ... : the sizes of the segment in its representations, in 10^6 bytes; 0 or more.

    What is unknown or missing is 0.

    The reward is the segment's part of the quality of experience: its quality, minus the cost of the change from the
    segment before, minus the cost of the stalls up to the next choice. Over an episode the rewards add up to `qoe_lin`,
    `qoe_log` or `qoe_hd` of the summary times `segments_played`, if all segments that were asked for were played.

    An episode is a run of the scenario, which ends with the step of the last segment: `terminated` if the video was
    played to its end, `truncated` if the scenario's `duration` was too short. `info` of the last step has the run's
    `summary`. Equal seeds and actions give equal episodes, and the same packets as a run with these choices.

    :param scenario: a `Scenario`, or the path of its file.
    :param flow: the flow of the player; default: the first with the application `video`.
    :param qoe: how the quality of a bitrate is measured: "lin" in Mbit/s, "log" or "hd", each with its own cost of
        stalls.
    :param history: how many segments are remembered in an observation, 1 to 64; Pensieve has 8.
    :param scenario_seed: the seed of every episode; default: the one given to `reset`, else drawn anew from the
        environment's own generator.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (as the base class has it)

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        flow: str | None = None,
        *,
        qoe: Literal["lin", "log", "hd"] = "lin",
        history: int = 8,
        scenario_seed: int | None = None,
    ) -> None:
        if qoe not in SCALES:
            raise Error(f"qoe is {qoe!r}; expected one of {', '.join(SCALES)}")
        if not isinstance(history, int) or not 1 <= history <= _MOST_HISTORY:
            raise Error(f"history is {history!r}; expected a whole number from 1 to {_MOST_HISTORY}")
        self._hand = _Hand()
        given = scenario if isinstance(scenario, Scenario) else Scenario.from_file(scenario)
        self._scenario, self._flow = _in_hand(given, flow, self._hand.number)
        self._qoe: str = qoe
        self._history = history
        most = LARGEST_SEED
        self._seed = None if scenario_seed is None else arguments.whole("scenario_seed", scenario_seed, 0, most)
        self._view: AbrView | None = None
        self._last_quality: float | None = None
        # Whatever becomes of the environment, no run stays behind.
        weakref.finalize(self, _Hand.stop, self._hand)

        first = self._begin(given.seed)
        ladders = {first.bitrates_bps_of(segment) for segment in range(first.segments)}
        self._most = max(map(len, ladders))
        self.close()
        ages = range(history, 0, -1)
        self.fields: tuple[str, ...] = (
            "last_bitrate_mbps",
            "buffer_s",
            "segments_left",
            *(f"throughput_mbps_{age}" for age in ages),
            *(f"download_s_{age}" for age in ages),
            *(f"size_mb_{representation}" for representation in range(self._most)),
        )
        """The names of the numbers of an observation."""
        known = [max(map(max, ladders)) / 1e6, first.max_buffer_s, first.segments]
        high = np.array([*known, *[np.inf] * (len(self.fields) - len(known))], dtype=np.float32)
        self.action_space = spaces.Discrete(self._most)
        self.observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts a run, and advances it to the choice for the first segment."""
        if seed is not None:
            seed = arguments.whole("reset: seed", seed, 0, LARGEST_SEED)
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(1 << 31))
        view = self._begin(self._seed if self._seed is not None else drawn if seed is None else seed)
        return self._seen(view, view.sizes_bytes), _info(view)

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Chooses the representation of the segment, and advances to the next choice, or to the end of the run."""
        view = self._view
        if view is None:
            raise Error("there is no segment to choose for; expected reset() before step()")
        representation = self._representation(action, len(view.bitrates_bps))
        # Without an answer, for whatever reason, the episode is over.
        self._view = None
        news = self._hand.answer(representation)
        reward = self._worth(view, representation)
        if isinstance(news, AbrView):
            self._view = news
            reward -= stall_cost(self._qoe) * (news.stalled_s - view.stalled_s)
            return self._seen(news, news.sizes_bytes), reward, False, False, _info(news)
        summary = next(entry for entry in news["connections"] if entry["name"] == self._flow)
        playback = summary["playback"]
        reward -= stall_cost(self._qoe) * (playback["stalled_s"] - view.stalled_s)
        last = self._hand.run().last_view or view
        info = {**_info(last), "summary": news}
        played = playback["end_s"] is not None
        return self._seen(last, ()), reward, played, not played, info

    def close(self) -> None:
        """Releases the run."""
        self._view = None
        self._hand.stop()

    def _begin(self, seed: int) -> AbrView:
        self._view, self._last_quality = None, None
        first = self._hand.begin(self._scenario, seed)
        if not isinstance(first, AbrView):
            raise Error(
                "the run ended before the first segment was chosen; expected a connection and a longer duration"
            )
        self._view = first
        return first

    def _representation(self, action: np.int64 | int, count: int) -> int:
        try:
            number = operator.index(action)
        except TypeError as error:
            raise Error(f"the action is {action!r}; expected a whole number") from error
        if not 0 <= number < self._most:
            raise Error(f"the action is {number}; expected a representation from 0 to {self._most - 1}")
        # A period may have fewer representations than others.
        return min(number, count - 1)

    def _worth(self, view: AbrView, representation: int) -> float:
        """The quality of a segment, less the change of it."""
        bitrates = view.bitrates_bps
        quality = segment_quality(self._qoe, bitrates[representation], bitrates[0])
        before, self._last_quality = self._last_quality, quality
        return quality - (abs(quality - before) if before is not None else 0.0)

    def _seen(self, view: AbrView, sizes: tuple[int, ...]) -> Observation:
        """What is seen. After the last segment there are no sizes."""
        downloads = view.downloads[-self._history :]
        took = [download.last_byte_s - download.asked_s for download in downloads]
        rates = [8e-6 * one.bytes / max(time, 1e-9) for one, time in zip(downloads, took, strict=True)]
        unknown = [0.0] * (self._history - len(downloads))
        values = [
            (view.last_bitrate_bps or 0) / 1e6,
            view.buffer_s,
            view.segments - view.segment if sizes else 0,
            *unknown,
            *rates,
            *unknown,
            *took,
            *(size / 1e6 for size in sizes),
            *[0.0] * (self._most - len(sizes)),
        ]
        return np.array(values, dtype=np.float32)


News = AbrView | dict[str, Any] | BaseException
"""A choice to be made, the summary at the end of a run, or why there is none."""


class _Hand:
    """The run of one environment: a thread that waits for a choice, or is waited for."""

    numbers = itertools.count(1)
    all: ClassVar["weakref.WeakValueDictionary[int, _Hand]"] = weakref.WeakValueDictionary()

    def __init__(self) -> None:
        self.number = next(_Hand.numbers)
        self._run: _Run | None = None
        _Hand.all[self.number] = self

    def begin(self, scenario: Scenario, seed: int) -> AbrView | dict[str, Any]:
        """Begins a run. Returns its first choice."""
        self.stop()
        self._run = _Run(scenario, seed)
        self._run.start()
        return self._wait()

    def answer(self, representation: int) -> AbrView | dict[str, Any]:
        """Makes the choice. Returns the next one, or the summary of the run."""
        assert self._run is not None
        self._run.answers.put(representation)
        return self._wait()

    def run(self) -> "_Run":
        """The run, asked for by its own thread."""
        assert self._run is not None
        return self._run

    def stop(self) -> None:
        """Ends the run, if there is one."""
        run, self._run = self._run, None
        if run is not None:
            run.stop()

    def _wait(self) -> AbrView | dict[str, Any]:
        assert self._run is not None
        try:
            news = self._run.news.get()
            if isinstance(news, BaseException):
                raise news
        except BaseException:
            self.stop()
            raise
        return news


class _Run:
    """A run in a thread of its own: its code, which must not return without a choice, waits for the environment."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.news: SimpleQueue[News] = SimpleQueue()
        self.answers: SimpleQueue[int | None] = SimpleQueue()
        self.last_view: AbrView | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._work, args=(scenario, seed), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self, view: AbrView) -> int:
        self._go_on()
        self.news.put(view)
        if (answer := self.answers.get()) is None:
            raise _StoppedError
        return answer

    def stop(self) -> None:
        self._is_stopped = True
        self.answers.put(None)
        self._thread.join()

    def _work(self, scenario: Scenario, seed: int) -> None:
        try:
            summary, _ = scenario._inner.run(seed=seed, tables=False, progress=self._go_on)
            self.news.put(summary.read())
        except BaseException as error:
            self.news.put(error)

    def _go_on(self, *_progress: object) -> None:
        if self._is_stopped:
            raise _StoppedError


class _StoppedError(Exception):
    """Nobody waits for the run any more."""


class _Agent(Abr):
    """In the hands of quiclab.gym."""

    options = {"hand": 0}  # noqa: RUF012  (as the base class documents it)
    hand: int

    def start(self) -> None:
        if (hand := _Hand.all.get(self.hand)) is None:
            raise Error(
                "this rate adaptation belongs to an environment of quiclab.gym that no longer exists; make a new one"
            )
        self._run = hand.run()

    def choose(self, view: AbrView) -> int:
        return self._run.ask(view)

    def on_download(self, view: AbrView) -> None:
        self._run.last_view = view


def _info(view: AbrView) -> dict[str, Any]:
    return {"now_s": view.now_s, "segment": view.segment, "stalled_s": view.stalled_s}


def _in_hand(scenario: Scenario, flow: str | None, number: int) -> tuple[Scenario, str]:
    """The scenario with an agent as the player of a flow, and the name of the flow."""
    flows = {entry["name"]: entry for entry in tomllib.loads(scenario.to_toml())["flow"]}
    videos = [name for name, entry in flows.items() if entry["application"]["type"] == "video"]
    if flow is not None and flow not in flows:
        raise Error(f"there is no flow {flow!r}; the scenario has: {', '.join(flows)}")
    name = flow or next(iter(videos), None)
    if name is None or name not in videos:
        found = "no flow plays one" if name is None else f"flow {name!r} has another application"
        raise Error(f"{found}; expected a flow with the application video; there are: {', '.join(videos) or 'none'}")
    if flows[name].get("visits"):
        raise Error(f"flow {name!r} has visits; expected a flow with one connection")
    return scenario.with_({f"flow.{name}.application.abr": {"type": f"{__name__}:_Agent", "hand": number}}), name


gymnasium.register(id=ID, entry_point=f"{__name__}:RateAdaptation")
