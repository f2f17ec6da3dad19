"""Films to be played for real: MPEG-DASH presentations, made by ffmpeg, with the sizes of their segments."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from quiclab._quiclab import Error
from quiclab.values import folders

MANIFEST = "film.mpd"
SIZES = "film.csv"
BITRATES_BPS = (300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000)
"""The ladder of Pensieve (Mao et al. 2017)."""
FRAMES_PER_SECOND = 24
MOST_BITRATES = 20
LONGEST_S = 3600.0

_NAMES = re.compile(r"(?:init|chunk)-stream(\d+)(?:-(\d+))?\.m4s")


def make(
    to: Path,
    bitrates_bps: Sequence[int] = BITRATES_BPS,
    *,
    duration_s: float = 60.0,
    segment_s: float = 2.0,
    height: int = 180,
    picture: Path | None = None,
) -> Path:
    """Makes a film with a quality for each of these bitrates, and returns its manifest. Needs ffmpeg.

    The picture is a moving test pattern under noise, which needs every bit that it is given. All qualities have the
    same size in pixels: decoding should cost the machine little, since the network runs on it, too.

    :param to: the folder; it must not exist.
    :param bitrates_bps: in bit/s, rising; at most 20.
    :param height: of the picture in pixels; the width is 16/9 of it.
    :param picture: a file to be taken instead of the test pattern, from its beginning on.
    Raises `Error` if ffmpeg is missing or fails; then nothing is left.
    """
    if list(bitrates_bps) != sorted(set(bitrates_bps)) or not 1 <= len(bitrates_bps) <= MOST_BITRATES:
        raise Error(f"bitrates of a film: expected 1 to {MOST_BITRATES} of them, rising")
    if bitrates_bps[0] < 10_000 or bitrates_bps[-1] > 100_000_000:
        raise Error("bitrates of a film: expected 10 kbit/s to 100 Mbit/s")
    if not 0.5 <= segment_s <= 60 or not segment_s <= duration_s <= LONGEST_S:
        raise Error(f"a film lasts one segment to {LONGEST_S:g} s, and a segment 0.5 to 60 s")
    if not 36 <= height <= 2160:
        raise Error("the height of a film: expected 36 to 2160 pixels")
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        raise Error("the program ffmpeg is missing: install ffmpeg")
    height -= height % 2
    width = 2 * round(height * 8 / 9)
    if picture is None:
        pattern = f"testsrc2=size={width}x{height}:rate={FRAMES_PER_SECOND},noise=alls=40:allf=t"
        source = ["-f", "lavfi", "-i", pattern]
        shape = []
    else:
        source = ["-i", str(picture.resolve())]
        shape = ["-vf", f"scale={width}:{height},fps={FRAMES_PER_SECOND}"]
    command = [ffmpeg, "-nostdin", "-v", "error", *source, "-t", f"{duration_s:g}", *shape]
    for number, bitrate in enumerate(bitrates_bps):
        command += ["-map", "0:v:0", f"-b:v:{number}", str(bitrate), f"-maxrate:v:{number}", str(bitrate)]
        command += [f"-bufsize:v:{number}", str(bitrate)]
    frames = str(round(segment_s * FRAMES_PER_SECOND))
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-x264-params", "scenecut=0"]
    command += ["-g", frames, "-keyint_min", frames, "-f", "dash", "-seg_duration", f"{segment_s:g}"]
    command += ["-use_timeline", "1", "-use_template", "1", "-adaptation_sets", "id=0,streams=v", MANIFEST]
    with folders.complete(folders.only(to)) as (path, _):
        done = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error(f"ffmpeg: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
        (path / SIZES).write_text(sizes(path), encoding="utf-8")
    return to / MANIFEST


def sizes(of: Path) -> str:
    """The sizes of the segments in a folder, with the names that ffmpeg gives, for the option `sizes` of `mpd`.

    A CSV with the columns representation, segment (counted from 1, or "init") and bytes.
    """
    found = [(_NAMES.fullmatch(path.name), path.stat().st_size) for path in of.iterdir()]
    rows = sorted((int(match[1]), int(match[2] or 0), size) for match, size in found if match)
    lines = [f"{representation},{number or 'init'},{size}" for representation, number, size in rows]
    return "\n".join(["representation,segment,bytes", *lines]) + "\n"
