"""The wheel and the source distribution: what is in them, and what somebody sees who has installed one.

`make packages` installs them in bare systems, where compilers and the checkout are missing, and builds the second.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

import quiclab
from quiclab.values import extras, package_data

ROOT = Path(__file__).resolve().parent.parent
PLAY = ROOT / "tests" / "packages" / "play.py"


def maturin(*arguments: str) -> None:
    """Of the environment of the tests; what was compiled for it is not compiled again."""
    bin_ = Path(sys.executable).parent
    environment = {**os.environ, "VIRTUAL_ENV": str(bin_.parent), "PATH": f"{bin_}:{os.environ['PATH']}"}
    command = [str(bin_ / "maturin"), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the profile that tests use."""
    folder = tmp_path_factory.mktemp("wheel")
    maturin("build", "--profile", "fast", "--compatibility", "linux", "--out", str(folder))
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_examples_model_pages_and_papers(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    share = "quiclab/share"
    pages = {f"{share}/model/{page.name}" for page in (ROOT / "docs" / "model").glob("*.md")}
    examples = {f"{share}/examples/{file}" for file in package_data.example_files()}
    assert pages | examples | {f"{share}/papers.md"} == {name for name in names if name.startswith(f"{share}/")}
    papers = {
        str(file.relative_to(ROOT / "python"))
        for file in (ROOT / "python" / "quiclab" / "papers").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert papers <= names
    assert "quiclab/py.typed" in names


def test_the_wheel_works_where_there_is_no_checkout(wheel: Path, tmp_path: Path) -> None:
    """As `make packages` plays with it in bare systems, with fewer runs and the libraries of this environment."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([python, *install], check=True)
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], **TEXT)  # type: ignore[call-overload]
    (Path(site.stdout.strip()) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    there = tmp_path / "there"
    there.mkdir()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    where = subprocess.run([python, "-c", "import quiclab; print(quiclab.__file__)"], cwd=there, env=clean, **TEXT)  # type: ignore[call-overload]
    assert Path(where.stdout.strip()).is_relative_to(tmp_path)
    played = subprocess.run(
        [python, str(PLAY), "--quick"], cwd=there, env=clean, capture_output=True, text=True, check=False
    )
    assert played.returncode == 0, played.stderr + played.stdout


TEXT = {"capture_output": True, "text": True, "check": True}


def test_the_source_distribution_is_whole(tmp_path: Path) -> None:
    """All of the package and of the crates below it, and a lock file that fits them."""
    maturin("sdist", "--out", str(tmp_path))
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for file in (ROOT / "python").rglob("*"):
        if file.suffix in (".py", ".toml", ".md", ".csv", ".js", ".css", ".html") and not {
            "own-controller",
            "own-parts",
        } & set(file.parts):
            assert (unpacked / file.relative_to(ROOT)).is_file(), file
    command = ["cargo", "metadata", "--format-version", "1"]
    told = subprocess.run(command, cwd=unpacked, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    packages = json.loads(told.stdout)["packages"]
    crates = {package["name"] for package in packages if package["source"] is None}
    assert {"python", "lab", "quic", "tcp", "live", "script"} <= crates
    for crate in crates:
        for path in (ROOT / "crates" / crate / "src").rglob("*.rs"):
            assert (unpacked / path.relative_to(ROOT)).read_bytes() == path.read_bytes(), path
    # No other versions of libraries than those that are tested.
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    known = {(package["name"], package["version"]) for package in locked}
    assert {(package["name"], package["version"]) for package in packages} <= known


class Installed(Distribution):
    """An installed quiclab, by what pip wrote about it."""

    def __init__(self, origin: str | None) -> None:
        self.origin = origin

    def read_text(self, filename: str) -> str | None:
        """The files that pip writes."""
        if filename == "direct_url.json":
            return self.origin
        if filename == "METADATA":
            return (
                "Metadata-Version: 2.4\nName: quiclab\nVersion: 1.0\n"
                "Requires-Dist: numpy>=1.26\nRequires-Dist: gymnasium>=1,<2 ; extra == 'gym'\n"
                "Requires-Dist: gymnasium>=1,<2 ; extra == 'docs'\nRequires-Dist: sphinx>=9 ; extra == 'docs'\n"
            )
        return None

    def locate_file(self, path: "str | os.PathLike[str]") -> Path:
        """Nothing is anywhere."""
        return Path(path)


ORIGINS = {
    "an index": (None, "'quiclab[gym]'"),
    "a wheel": ({"url": "file://{wheel}", "archive_info": {}}, "'quiclab[gym] @ file://{wheel}'"),
    "a wheel that is gone": ({"url": "file:///nowhere/quiclab.whl", "archive_info": {}}, "'gymnasium>=1,<2'"),
    "an address": (
        {"url": "https://example.org/quiclab.whl", "archive_info": {}},
        "'quiclab[gym] @ https://example.org/quiclab.whl'",
    ),
    "a repository": (
        {"url": "https://example.org/quiclab", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        "'quiclab[gym] @ git+https://example.org/quiclab@abc'",
    ),
    "a checkout": ({"url": "file:///srv/quiclab", "dir_info": {"editable": True}}, "'gymnasium>=1,<2'"),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_extra_is_installed_from_where_quiclab_came_from(
    origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "quiclab-1.0-cp311-abi3-linux_x86_64.whl"
    wheel.touch()
    source, wanted = ORIGINS[origin]
    text = None if source is None else json.dumps(source).replace("{wheel}", str(wheel))
    monkeypatch.setattr(extras, "distribution", lambda name: Installed(text))
    monkeypatch.chdir(tmp_path)
    told = extras.install_extra("gym")
    assert told == f"{sys.executable} -m pip install {wanted.replace('{wheel}', str(wheel))}"


def test_the_command_is_short_where_python_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(sys.executable).parent.parent)
    assert extras.install("pandas") == "bin/python -m pip install pandas"


def test_an_environment_without_pip_is_one_of_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert extras.install("pandas") == f"uv pip install --python {sys.executable} pandas"


def test_extras_of_the_package_are_those_that_messages_name() -> None:
    for extra in ("gym", "cluster", "docs", "test"):
        assert extras.packages(distribution("quiclab"), extra), extra
    assert quiclab.__version__ == distribution("quiclab").version
