"""Sweeps on SLURM and on SSH hosts, with workers and schedulers that are killed: `python -m cluster --wheel FILE`.

It runs as root on Debian or Ubuntu: it installs SLURM and the SSH server where they are missing, without starting
them, and puts quiclab into an environment under `target/cluster`. Everything else happens in namespaces of its own:
users, ports, configuration and processes exist only there, and vanish with the command, however it ends.
"""

import argparse
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "target" / "cluster"

PACKAGES = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "munged": "munge",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}
"""Programs, and the packages of Debian and Ubuntu that contain them."""
POLICY = Path("/usr/sbin/policy-rc.d")
"""The file with which Debian asks whether a package may start its daemons."""
SKIPPED = 2
"""The exit code if nothing was tried."""
NAMESPACES = ("--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc")
ENTER = """
mount --bind "$1" /mnt
mount --bind /mnt/work/tmp /tmp
mount -t tmpfs -o mode=755 tmpfs /run
cd /mnt/work
shift
exec env PYTHONPATH=/mnt/work/code PYTHONDONTWRITEBYTECODE=1 /mnt/venv/bin/python -m cluster.inside "$@"
"""
"""In the namespaces, where the folder is at /mnt: everybody can read it there, wherever the repository is."""


def skip(why: str) -> int:
    """Says loudly that nothing was tried."""
    print(f"WARNING: SLURM and SSH were NOT TRIED: {why}", file=sys.stderr)
    return SKIPPED


def main() -> int:
    """Prepares, and runs the stages in namespaces."""
    parser = argparse.ArgumentParser(prog="python -m cluster", description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="the folder with the wheel of quiclab, or the wheel")
    parser.add_argument("--only", choices=("slurm", "ssh", "others"), action="append", help="these stages alone")
    options = parser.parse_args()
    # As Ctrl-C: what was begun is taken away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    if os.geteuid() != 0:
        return skip("it needs root, for users and network namespaces: sudo make cluster, or as root in a container")
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    if (why := install()) is not None:
        return skip(why)
    python = interpreter()
    if python is None:
        return skip("no Python 3.11 or later that other users can run: apt-get install python3 python3-venv")
    tried = subprocess.run(["unshare", *NAMESPACES, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return skip(f"this machine forbids namespaces: {tried.stderr.strip()}")
    prepare(python, options.wheel)
    stages = [argument for stage in options.only or () for argument in ("--only", stage)]
    # What happens there ends with this process, even if that is killed.
    unshare = ["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES]
    entered = subprocess.Popen([*unshare, "sh", "-euc", ENTER, "sh", str(FOLDER), *stages])
    try:
        code = entered.wait()
    except KeyboardInterrupt:
        # The first process of the namespaces may end by itself; with it all others do.
        try:
            entered.wait(timeout=3)
        except subprocess.TimeoutExpired:
            entered.kill()
            entered.wait()
        print("interrupted: nothing is left of users, daemons and ports", file=sys.stderr)
        code = 130
    if code == 0:
        shutil.rmtree(FOLDER / "work")
    else:
        print(f"what the daemons and commands said is in {FOLDER / 'work' / 'logs'}", file=sys.stderr)
    return code


def install() -> str | None:
    """Installs the missing packages, without starting their daemons. Returns what is missing after all."""
    missing = sorted({package for program, package in PACKAGES.items() if shutil.which(program) is None})
    if not missing:
        return None
    if shutil.which("apt-get") is None:
        return f"no {', '.join(missing)}, and no apt-get to install them"
    print(f"installing {' '.join(missing)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    ours = not POLICY.exists()
    if ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
        POLICY.chmod(0o755)
    before = set(enabled())
    try:
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
            done = subprocess.run(
                ["apt-get", "-qq", *command], env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                return f"apt-get {command[0]}: {(done.stderr.strip() or 'failed').splitlines()[-1]}"
    finally:
        if ours:
            POLICY.unlink()
        # Nor are they started when the machine starts.
        for unit in set(enabled()) - before:
            subprocess.run(["systemctl", "disable", "--quiet", unit], capture_output=True, check=False)
    return None


def enabled() -> list[str]:
    """The services that start with the machine."""
    if shutil.which("systemctl") is None:
        return []
    command = ["systemctl", "list-unit-files", "--state=enabled", "--type=service,socket", "--no-legend", "--plain"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def interpreter() -> Path | None:
    """A Python that every user can run: that of this process, or that of the system."""
    for candidate in (Path(sys.executable).resolve(), Path("/usr/bin/python3")):
        if not candidate.exists():
            continue
        places = [candidate.resolve(), *candidate.resolve().parents]
        new = subprocess.run(
            [candidate, "-c", "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"], check=False
        )
        if new.returncode == 0 and all(place.stat().st_mode & stat.S_IXOTH for place in places):
            return candidate
    return None


def prepare(python: Path, wheel: Path) -> None:
    """Makes the folder: the environment with quiclab, made where it is used later, and the code of the stages."""
    work = FOLDER / "work"
    shutil.rmtree(work, ignore_errors=True)
    for folder in (work / "tmp", work / "logs", work / "code" / "cluster"):
        folder.mkdir(parents=True)
    (work / "tmp").chmod(0o1777)
    for file in HERE.iterdir():
        if file.is_file():
            shutil.copy(file, work / "code" / "cluster")
    wheels = [wheel] if wheel.is_file() else sorted(wheel.glob("quiclab-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"{wheel}: no wheel of quiclab: make cluster builds it")
    shutil.copy(wheels[-1], work / wheels[-1].name)
    print("installing quiclab, dask-jobqueue, asyncssh and paramiko under target/cluster", flush=True)
    script = """
        mount --bind "$1" /mnt
        for name in venv bare; do
            /mnt/$name/bin/python -m pip --version >/dev/null 2>&1 || "$2" -m venv --clear /mnt/$name
        done
        pip='-m pip --disable-pip-version-check --quiet'
        /mnt/venv/bin/python $pip install --requirement /mnt/work/code/cluster/requirements.txt "/mnt/work/$3[cluster]"
        # The version of another state of the sources may be the same.
        /mnt/venv/bin/python $pip install --force-reinstall --no-deps "/mnt/work/$3"
        /mnt/bare/bin/python $pip install "$(/mnt/venv/bin/python $pip freeze | grep ^distributed==)"
    """
    umask = "umask 022;"
    arguments = ["unshare", "--mount", "sh", "-euc", umask + script, "sh", str(FOLDER), str(python), wheels[-1].name]
    subprocess.run(arguments, check=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
