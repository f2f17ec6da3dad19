"""The program on the page of presentations that lists the sizes of segments."""

import subprocess
import sys
import textwrap
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def test_the_program_of_the_page_lists_the_files_of_a_folder(tmp_path: Path) -> None:
    page = (PROJECT / "docs/model/presentations.md").read_text()
    lines = iter(page.split("    import collections", 1)[1].splitlines())
    program = textwrap.dedent("    import collections" + next(lines) + "\n")
    for line in lines:
        if not line.startswith("    "):
            break
        program += line[4:] + "\n"
    expected = (PROJECT / "crates/video/tests/mpd/ffmpeg.csv").read_text()
    for line in expected.splitlines()[1:]:
        name, number, size = line.split(",")
        file = f"init-stream{name}.m4s" if number == "init" else f"chunk-stream{name}-{int(number):05}.m4s"
        with (tmp_path / file).open("wb") as out:
            out.truncate(int(size))
    (tmp_path / "film.mpd").touch()
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    header, *listed = run.stdout.splitlines()
    assert header == "representation,segment,bytes"
    assert sorted(listed) == sorted(expected.splitlines()[1:])
