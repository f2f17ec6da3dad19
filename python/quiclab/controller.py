"""The class `Controller`: a congestion controller written in Python."""

import importlib
import sys
import traceback
from collections import OrderedDict
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, ClassVar

from quiclab._quiclab import Ack, Error, Trouble

Option = bool | int | float | str

_MOST_FILES = 64
"""Texts of files that are kept compiled."""


class Controller:
    """A congestion controller: derive a class from it, and name it in a scenario by where it is.

    ::

        class Mine(quiclab.Controller):
            "Half of the window at a loss, one packet for each window."

            options = {"beta": 0.5}

            def on_ack(self, ack):
                self.window_bytes += self.datagram_bytes * ack.acked_bytes / self.window_bytes

            def on_loss(self, loss):
                self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)

    In a file `mine.py` beside the scenario it is ``controller = "mine.py:Mine"``, or
    ``controller = { type = "mine.py:Mine", beta = 0.7 }``; in a module that can be imported,
    ``"package.module:Mine"``. In Python it is the class itself, or an object:
    ``Scenario(transport={"controller": Mine(beta=0.7)}, ...)``.

    One object is made for each end of each connection, and `on_ack` is called once for each ACK frame. The other
    methods are called only if the class has them. Times are seconds of virtual time, rates bit/s. It must not look at
    the clock or draw from a generator that it has not seeded: equal scenarios must give equal runs. An exception ends
    the run.
    """

    options: ClassVar[dict[str, Option]] = {}
    """Names and defaults of its options, which become attributes: flags, whole numbers of 0 or more, numbers, texts."""

    window_bytes: float
    """How many bytes may be in flight: what it decides. At least one packet."""
    pacing_bps: float | None
    """At what rate packets are released, in bit/s: what it decides. None: as fast as the window allows."""
    state: str = "running"
    """Its state, for traces."""
    datagram_bytes: int
    """The size of a full packet."""

    def __init__(self, **options: Option) -> None:
        unknown = [name for name in options if name not in self.options]
        if unknown:
            known = ", ".join(self.options) or "none"
            raise TypeError(f"{type(self).__name__} has no option {unknown[0]!r}; its options: {known}")
        for name, value in {**self.options, **options}.items():
            setattr(self, name, value)

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        """The connection begins, or begins anew on another path: the window is the initial one, nothing is known."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK frame newly acknowledged something. What it told of is in `ack`."""

    def on_loss(self, loss: Trouble) -> None:
        """Packets were declared lost; it is told before the ACK frame that showed it."""

    def on_mark(self, mark: Trouble) -> None:
        """Packets came with the CE mark."""

    def on_spurious(self, spurious: Trouble) -> None:
        """Packets that were declared lost were acknowledged after all."""

    def on_persistent_congestion(self) -> None:
        """All packets over a long time were lost (RFC 9002 section 7.6)."""

    def on_sent(self, now_s: float, sent_bytes: int, bytes_in_flight: int) -> None:
        """A packet was sent. A class that has this method is called for every packet."""


_CALLED = ("on_sent", "on_loss", "on_mark", "on_spurious", "on_persistent_congestion")
"""The methods that are called only if a class has its own."""


def place_of(controller: Controller | type[Controller]) -> tuple[str, dict[str, Option]]:
    """How a scenario names the class, and the options of the object."""
    class_ = controller if isinstance(controller, type) else type(controller)
    name = f"{class_.__module__}:{class_.__qualname__}"
    if _found(sys.modules.get(class_.__module__), class_.__qualname__) is not class_:
        raise Error(f"{name} cannot be found again by its name; expected a class at the top of a module or a notebook")
    options = {} if isinstance(controller, type) else {key: getattr(controller, key) for key in class_.options}
    return name, options


_files: OrderedDict[tuple[str, str], ModuleType] = OrderedDict()


def describe_(path: str, text: str | None, name: str) -> tuple[str, list[tuple[str, Option]]]:
    """What a class is in one line, and its options with their defaults."""
    class_ = _class(path, text, name)
    about = (class_.__doc__ or "").strip().partition("\n")[0] if class_.__doc__ != Controller.__doc__ else ""
    return about or f"a controller in Python: {name}", list(class_.options.items())


def make_(path: str, text: str | None, name: str, options: dict[str, Option]) -> tuple[Controller, set[str]]:
    """A controller, and which of the methods that need not be there it has."""
    class_ = _class(path, text, name)
    own = {method for method in _CALLED if getattr(class_, method) is not getattr(Controller, method)}
    return class_(**options), own


def told_(error: BaseException, where: TracebackType | None) -> str:
    """An exception in one line: where it was raised, and what it is."""
    kind = traceback.format_exception_only(error)[-1].strip().replace("\n", " ")
    if isinstance(error, Error):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(where)]
    own = [(name, line) for name, line in frames if name != __file__ and not name.startswith("<frozen ")]
    return f"{own[-1][0]}:{own[-1][1]}: {kind}" if own else kind


def _class(path: str, text: str | None, name: str) -> type[Controller]:
    module = _module(path) if text is None else _file(path, text)
    class_ = _found(module, name)
    if not isinstance(class_, type) or not issubclass(class_, Controller):
        known = [key for key, value in vars(module).items() if _is_own(value)]
        raise Error(f"no controller {name}; {path} has: {', '.join(known) or 'none'}")
    return class_


def _is_own(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Controller) and value is not Controller


def _found(module: ModuleType | None, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _module(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except (ImportError, ValueError) as error:
        raise Error(f"module {name} cannot be imported ({error}); expected one, or a file that ends in .py") from error


def _file(path: str, text: str) -> ModuleType:
    """The file as a module. It is run once for each text that it had."""
    if (known := _files.get((path, text))) is not None:
        _files.move_to_end((path, text))
        return known
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    exec(compile(text, path, "exec"), vars(module))
    _files[path, text] = module
    if len(_files) > _MOST_FILES:
        _files.popitem(last=False)
    return module
