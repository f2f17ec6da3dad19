"""The classes `Application` and `End`: what generates the traffic of a flow, written in Python."""

from random import Random
from typing import Any, ClassVar

from quiclab._quiclab import Connection, Stream
from quiclab.values.components.parts import Plugged, part


class End(Plugged):
    """An end of an application: derive two classes from it, and name them in a class derived from `Application`.

    ::

        class Pusher(quiclab.End):
            def on_connected(self, now_s):
                stream = self.connection.open(one_way=True)
                stream.write(self.application.size)
                stream.finish()

        class Taker(quiclab.End):
            receives = True

            def on_ended(self, stream, now_s):
                self.connection.close()

        class Push(quiclab.Application):
            "An upload on one stream."

            options = {"size": 100_000}
            client, server = Pusher, Taker

    A method is called for an event of the connection if the class has it. `connection` and the streams can be used
    while one is called, but not in `start`. Times are seconds of virtual time. It must not read the clock, and draws
    random numbers from `random` only: equal scenarios must give equal runs. An exception ends the run.
    """

    receives: bool | None = None
    """Whether the application is complete when this end has everything, so that its bytes are the delivered ones; it
    says so by `Connection.complete` or `Connection.close`. None: only the client, unless the server's says True."""
    wake_s: float | None = None
    """The time in seconds of the next call of `on_wake`; None for no call. That call sets it back to None first."""
    application: Any
    """The object of the class derived from `Application`, with its options. Both ends of a connection have the same."""
    connection: Connection
    """The connection."""
    random: Random
    """Random numbers, which depend on the seed of the run, on the flow and on the end."""

    def start(self) -> None:
        """The run begins. Called when the object has its attributes; there is no connection yet."""

    def on_connected(self, now_s: float) -> None:
        """The handshake is complete: streams can be opened."""

    def on_opened(self, stream: Stream, now_s: float) -> None:
        """The peer has opened a stream."""

    def on_readable(self, stream: Stream, now_s: float) -> None:
        """Data of a stream has arrived, or its end. Not called again before something was read and more arrives.

        An end without this method reads everything without a look at it, as `Stream.skip` does.
        """

    def on_ended(self, stream: Stream, now_s: float) -> None:
        """The last byte of a stream was read, and the peer has finished it."""

    def on_writable(self, stream: Stream, now_s: float) -> None:
        """What had waited for room on a stream was taken: more can be written."""

    def on_delivered(self, stream: Stream, now_s: float) -> None:
        """All of a finished stream was acknowledged."""

    def on_stopped(self, stream: Stream, code: int, now_s: float) -> None:
        """The peer has asked to send no more on a stream. What is written to it later is lost without an error."""

    def on_reset(self, stream: Stream, code: int, now_s: float) -> None:
        """The peer has reset a stream: what did not arrive does not come."""

    def on_streams(self, now_s: float) -> None:
        """The peer allows more streams."""

    def on_datagram(self, data: bytes, now_s: float) -> None:
        """A datagram has arrived."""

    def on_datagram_writable(self, now_s: float) -> None:
        """More datagrams can be sent."""

    def on_wake(self, now_s: float) -> None:
        """The time `wake_s` has come."""

    def on_closed(self, now_s: float) -> None:
        """The connection has ended. The last call."""


class Application(Plugged):
    """An application: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Asker(quiclab.End):
            def on_connected(self, now_s):
                self.left = self.application.count
                self.stream = self.connection.open()
                self.on_wake(now_s)

            def on_wake(self, now_s):
                self.asked = self.connection.measure(stream=self.stream)
                self.missing = self.application.answer
                self.stream.write(100)

            def on_readable(self, stream, now_s):
                self.missing -= stream.skip()
                if self.missing == 0:
                    self.asked.finish(self.application.answer)
                    self.left -= 1
                    if self.left:
                        self.wake_s = now_s + self.application.think_s
                    else:
                        self.connection.close()

        class Answerer(quiclab.End):
            def on_readable(self, stream, now_s):
                if stream.skip():
                    stream.write(self.application.answer)

        class Ask(quiclab.Application):
            "Questions, each some time after the last answer."

            options = {"count": 10, "answer": 20_000, "think_s": 0.1}
            client, server = Asker, Answerer

    In a file `mine.py` beside the scenario it is ``application = "mine.py:Ask"`` of a ``[[flow]]``, or ``application =
    { type = "mine.py:Ask", count = 5 }``; in a module that can be imported, ``"package.module:Ask"``. In Python it is
    the class itself, or an object: ``flow=[{"application": Ask(count=5), ...}]``.

    One object is made for each connection, and one of each class of its ends, which have it as `End.application`. It
    runs over QUIC, and over TCP if it sends no datagrams; in a ``mix`` it shares a connection with others. What its
    ends measure (`Connection.measure`) is in the entry `requests` of the summary, and in the table `object`.
    """

    client: ClassVar[type[End]]
    """The class of the end that opens the connection."""
    server: ClassVar[type[End]]
    """The class of the other end."""
    datagrams: bool = False
    """Whether it sends datagrams. They need `max_datagram_frame_size` of the transport."""
    tcp_connections: int = 1
    """The most streams that the client opens over TCP, where each of them is a connection, up to 256; 0 if it does not
    go over TCP. There the server opens none, and the application ends when no connection is open any more."""


_END = "end of an application"

part(
    _END,
    End,
    needed=(),
    called=tuple(word for word in vars(End) if word.startswith("on_")),
)
part("application", Application, needed=(), classes={"client": _END, "server": _END})
