"""Installs the packages as users do, and plays with each: `make packages`, which builds them first.

    python -m packages [--only SYSTEM ...]

1. `debian`: Debian without anything but Python; `pip install WHEEL`, and the extras by the commands that quiclab names.
2. `oldest-glibc`: Ubuntu 18.04, whose glibc is the oldest that the wheel claims, with a Python built there.
3. `oldest-libraries`: there, with the oldest versions of what quiclab asks for.
4. `sdist`: the source distribution, built by pip on this machine.

The tables of all of them must have the same values. Root on Debian or Ubuntu: the systems are made by debootstrap under
`target/packages/systems`, and entered in namespaces of their own, where users, mounts and processes end with them.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "target" / "packages"
SYSTEMS = FOLDER / "systems"
RECORD = FOLDER / "debian.json"
"""The hashes of the first system, which the others must have too."""
SKIPPED = 2
"""The exit code if nothing was tried."""
USER = 1000
HOME = "srv/user"
"""Whom quiclab is installed for, and where."""
HANDED_ON = (
    "PIP_INDEX_URL",
    "PIP_DEFAULT_TIMEOUT",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
CERTIFICATES = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Variables of this machine that say how pip reaches its index, and where it finds whom it trusts."""

ENTER = """
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/tmp"
root=$1; user=$2; shift 2
exec chroot --userspec="$user" --groups= "$root" "$@"
"""


class System(NamedTuple):
    """A bare system, and what is to be done before pip can be called."""

    suite: str
    release: str | None
    """The SHA-256 of the file Release of the suite, where Debian has no key of whom signs it. It changes no more."""
    python: str
    prepare: str


DEBIAN = System(
    suite="bookworm",
    release=None,
    python="/usr/bin/python3",
    prepare="apt-get -qq update && apt-get -qq install -y --no-install-recommends python3 python3-venv",
)
UBUNTU = System(
    suite="bionic",
    release="7552d5ab0c3879756a860aaab8e7c2f8ffb9409ea9ff9e65fc046ba5c519ebe5",
    python="/opt/python/bin/python3",
    # The OpenSSL that Python 3.11 asks for came with an update.
    prepare="""
        sed -n '/ bionic main$/ s/ bionic main$/ bionic-updates main/p' /etc/apt/sources.list > /tmp/updates
        cat /tmp/updates >> /etc/apt/sources.list
        apt-get -qq update
        apt-get -qq install -y --no-install-recommends gcc make libc6-dev libssl-dev zlib1g-dev libffi-dev
        cd /root && tar xzf python3.11_*.orig.tar.gz && cd Python-3.11*
        ./configure --prefix=/opt/python --disable-test-modules && make -j"$(nproc)" && make install
        cd /root && rm -rf Python-3.11*
    """,
)
GLIBC = "2.27"
"""What the second system must have: the glibc in the name of the wheel."""
PYTHON_SOURCE = """
    sed 's/^deb /deb-src /' /etc/apt/sources.list > /etc/apt/sources.list.d/sources.list
    apt-get -qq update && cd /root && apt-get -qq source --download-only python3.11
"""
"""Of Debian, which has an interpreter that is new enough for quiclab and old enough for that glibc."""


def run(*command: "str | Path", log: Path | None = None, **options: object) -> None:
    """Runs a command, which must succeed; what a long one says goes to a file."""
    if log is None:
        subprocess.run(command, check=True, **options)  # type: ignore[call-overload]
        return
    with log.open("a") as file:
        done = subprocess.run(command, stdout=file, stderr=file, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        print(*log.read_text(errors="replace").splitlines()[-20:], sep="\n", file=sys.stderr)
        raise SystemExit(f"failed; the whole of it is in {log}")


def environment() -> dict[str, str]:
    """What a command in a system is given: nothing of this machine but the way to the index."""
    known = {name: os.environ[name] for name in (*HANDED_ON, *CERTIFICATES) if name in os.environ}
    return {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "LANG": "C.UTF-8", **known}


def inside(root: Path, script: str, *arguments: str, user: int = 0, log: Path | None = None) -> None:
    """Runs a script in a system, in namespaces that end with it."""
    home = "/root" if user == 0 else f"/{HOME}"
    shell = ["sh", "-euc", f"umask 022; cd {home}; {script}", "sh", *arguments]
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc"]
    given = {**environment(), "HOME": home, "DEBIAN_FRONTEND": "noninteractive"}
    run(*namespaces, "sh", "-euc", ENTER, "sh", root, f"{user}:{user}", *shell, log=log, env=given)


def made(name: str, system: System) -> Path:
    """The folder of a system, which is made if it is not there whole."""
    root = SYSTEMS / name
    done = root / ".made"
    if done.exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    SYSTEMS.mkdir(parents=True, exist_ok=True)
    log = FOLDER / f"{name}.log"
    log.unlink(missing_ok=True)
    print(f"making a bare {system.suite}", flush=True)
    # Two stages: what was fetched is looked at before anything of it runs.
    unsigned = ["--no-check-gpg"] if system.release else []
    run("debootstrap", "--foreign", "--variant=minbase", *unsigned, system.suite, root, log=log)
    if system.release is not None:
        (release,) = (root / "var/lib/apt/lists").glob(f"*_{system.suite}_Release")
        if hashlib.sha256(release.read_bytes()).hexdigest() != system.release:
            raise SystemExit(f"{system.suite}: its file Release is not the known one")
    inside(root, "/debootstrap/debootstrap --second-stage", log=log)
    if system is UBUNTU:
        (source,) = (made("debian", DEBIAN) / "root").glob("python3.11_*.orig.tar.gz")
        shutil.copy(source, root / "root")
        print("building Python 3.11 there", flush=True)
    inside(root, system.prepare, log=log)
    if system is DEBIAN:
        inside(root, PYTHON_SOURCE, log=log)
    home = root / HOME
    home.mkdir()
    os.chown(home, USER, USER)
    done.touch()
    return root


def trust(root: Path) -> None:
    """Gives a system the certificates by which this machine trusts its index."""
    for name in CERTIFICATES:
        known = Path(os.environ.get(name, ""))
        if known.is_file():
            copy = root / known.relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(known, copy)


def play(root: Path, system: System, wheel: Path, pip: str, *how: str, oldest: bool = False) -> None:
    """Installs the wheel for a user, and plays."""
    trust(root)
    home = root / HOME
    shutil.rmtree(home / "here", ignore_errors=True)
    (home / "here").mkdir()
    for file in (wheel, HERE / "play.py", *([RECORD] if RECORD.exists() else [])):
        shutil.copy(file, home / "here")
    for path in (home / "here", *(home / "here").iterdir()):
        os.chown(path, USER, USER)
    install = f"venv/bin/python -m pip --quiet --disable-pip-version-check install {pip}"
    script = f"""
        cd here
        {system.python} -m venv venv
        {install} {wheel.name}
        {f"venv/bin/python play.py --oldest > oldest.txt; {install} --requirement oldest.txt" if oldest else ""}
        venv/bin/python -m pip --disable-pip-version-check freeze 2>/dev/null | grep -E '^(matplotlib|numpy|pyarrow)='
        venv/bin/python play.py "$@"
    """
    inside(root, script, *how, user=USER)
    if "--record" in how:
        shutil.copy(home / "here" / RECORD.name, RECORD)


def debian(wheel: Path, sdist: Path) -> None:
    """What most people have; the commands that extras name are called as they stand."""
    root = made("debian", DEBIAN)
    play(root, DEBIAN, wheel, "", "--extra", "cluster", "--extra", "gym", "--record", RECORD.name)


def oldest_glibc(wheel: Path, sdist: Path) -> None:
    """The newest pyarrow has no wheel for it: pip takes an older one if it is to build nothing."""
    root = made("bionic", UBUNTU)
    inside(root, 'test "$(getconf GNU_LIBC_VERSION)" = "glibc $1"', GLIBC)
    play(root, UBUNTU, wheel, "--only-binary :all:", *like())


def oldest_libraries(wheel: Path, sdist: Path) -> None:
    """The oldest versions that pyproject.toml allows."""
    play(made("bionic", UBUNTU), UBUNTU, wheel, "--only-binary :all:", *like(), oldest=True)


def from_sources(wheel: Path, sdist: Path) -> None:
    """With the compilers of this machine, and nothing of the checkout."""
    here = FOLDER / "sdist"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    shutil.copy(HERE / "play.py", here)
    run(sys.executable, "-m", "venv", here / "venv")
    python = here / "venv/bin/python"
    print("building from the source distribution", flush=True)
    quietly = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CARGO_TARGET_DIR")}
    run(python, *quietly, sdist, log=FOLDER / "sdist.log", cwd=here, env=clean)
    same = ("--like", RECORD) if RECORD.exists() else ()
    run(python, here / "play.py", "--quick", *same, cwd=here, env=clean)


def like() -> tuple[str, ...]:
    """The tables must be those of the first system, if that was played."""
    return ("--like", RECORD.name) if RECORD.exists() else ()


STAGES: dict[str, Callable[[Path, Path], None]] = {
    "debian": debian,
    "oldest-glibc": oldest_glibc,
    "oldest-libraries": oldest_libraries,
    "sdist": from_sources,
}


def skip(why: str) -> int:
    """Says loudly that nothing was tried."""
    print(f"WARNING: the packages were NOT TRIED: {why}", file=sys.stderr)
    return SKIPPED


def main() -> int:
    """Tries the stages; the exit code is 0 only if all came out."""
    parser = argparse.ArgumentParser(prog="python -m packages", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=STAGES, action="append", help="this system alone")
    options = parser.parse_args()
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    wheels, sdists = list(FOLDER.glob("dist/*.whl")), list(FOLDER.glob("dist/*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        return skip(f"there is no wheel, or more than one, in {FOLDER / 'dist'}: make packages")
    wanted = options.only or list(STAGES)
    if wanted != ["sdist"]:
        if os.geteuid() != 0 or platform.machine() != "x86_64":
            return skip("bare systems need root on x86_64: sudo make packages, or ARGUMENTS='--only sdist'")
        if shutil.which("debootstrap") is None:
            if shutil.which("apt-get") is None:
                return skip("there is no debootstrap, and no apt-get to install it")
            run("apt-get", "-qq", "update", log=FOLDER / "apt.log")
            run("apt-get", "-qq", "install", "-y", "--no-install-recommends", "debootstrap", log=FOLDER / "apt.log")
    if options.only is None:
        RECORD.unlink(missing_ok=True)
    for name in wanted:
        started = time.monotonic()
        print(f"== {name}", flush=True)
        STAGES[name](wheels[0].resolve(), sdists[0].resolve())
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"packages: exit code {error.returncode}: {' '.join(map(str, error.cmd[-6:]))[:300]}")
