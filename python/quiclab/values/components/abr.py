"""The class `Abr`: a rate adaptation of video written in Python."""

from quiclab._quiclab import AbrView, PartialDownload
from quiclab.values.components.parts import Plugged, part


class Abr(Plugged):
    """A rate adaptation: derive a class from it, and name it in a scenario by its file or module.

    ::

        class Careful(quiclab.Abr):
            "The highest representation of at most a part of the last segment's throughput."

            options = {"part": 0.8}

            def choose(self, view):
                if not view.downloads:
                    return 0
                last = view.downloads[-1]
                rate_bps = self.part * 8 * last.bytes / (last.last_byte_s - last.asked_s)
                return sum(bitrate_bps <= rate_bps for bitrate_bps in view.bitrates_bps[1:])

    In a file `mine.py` beside the scenario it is ``abr = "mine.py:Careful"``, or
    ``abr = { type = "mine.py:Careful", part = 0.7 }``; in a module that can be imported, ``"package.module:Careful"``.
    In Python it is the class itself, or an object: ``application={"type": "video", "abr": Careful(part=0.7)}``.

    One object is made for each player, and `choose` is called once for each segment of the video. The other methods are
    called only if the class has them. Segments and representations are counted from 0, representations by rising
    bitrate; times are seconds of virtual time. It must not read the clock or use a random generator that it has not
    seeded: equal scenarios must give equal runs. An exception ends the run.
    """

    def start(self) -> None:
        """A playback is prepared. Called when the object has its options."""

    def choose(self, view: AbrView) -> int | tuple[int, float]:
        """The representation of `view.segment`, or a pair: the representation, and how many seconds to wait before.

        Called when the segment fits into the buffer; again for a segment whose download was given up or has failed.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method choose")

    def on_download(self, view: AbrView) -> None:
        """A segment is complete: it is the last one of `view.downloads`, and its media are in the buffer."""

    def abandon(self, view: AbrView, download: PartialDownload) -> int | None:
        """More of a segment has arrived, but not all: a lower representation to give it up for, or None to continue.

        If it is given up, `choose` is not called: the segment is requested in the returned representation.
        """
        return None

    def on_seek(self) -> None:
        """Playback begins, or continues at another position: the buffer is empty."""

    def estimate(self) -> float | None:
        """The throughput as the object estimates it, in bit/s, for the table `segment`; None if it does not."""
        return None


part("rate adaptation", Abr, needed=("choose",), called=("on_download", "abandon", "on_seek", "estimate"))
