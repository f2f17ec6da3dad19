"""The stages, in namespaces: the same sweep here, on SLURM and by SSH, and what becomes of it when something dies."""

import argparse
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cluster import ssh
from cluster.slurm import Slurm
from cluster.world import (
    BARE,
    BIN,
    HEAD,
    HOME,
    LOGS,
    NODES,
    PYTHON,
    STUDENT,
    ClusterError,
    Process,
    furnish,
    listens,
    own,
    processes,
    student,
    wait_until,
)

HERE = Path(__file__).parent
SWEEP = "sweep.toml"
TABLES = ("runs.parquet", "series.parquet", "stream.parquet", "sweep.json", "sweep.toml")
WORKER = "distributed.cli.dask_worker"
PORT = 8786
JOBS = 3


def say(text: str) -> None:
    """A line for the one who looks on."""
    print(text, flush=True)


class Stages:
    """The sweep, and what it gave on this machine alone."""

    def __init__(self) -> None:
        for name in (SWEEP, "rate.csv", "slurm_sweep.py", "ssh_sweep.py"):
            shutil.copy(HERE / name, HOME)
            own(HOME / name, STUDENT)
        seconds = self._timed("local", str(BIN / "quiclab"), "sweep", SWEEP, "--engine", "local", "--out", "local")
        self.whole = kept("local")
        say(f"local: 10,000 runs in {seconds:.1f} s")

    def _timed(self, name: str, *command: str) -> float:
        start = time.monotonic()
        code, said = student(name, *command)
        if code != 0:
            raise ClusterError(f"{name} ended with {code}: {last(said)}")
        return time.monotonic() - start

    def slurm(self) -> None:
        """Workers that SLURM starts; one dies, the controller dies, the script with its scheduler dies."""
        with ExitStack() as stack:
            slurm = Slurm(stack)
            say(f"{slurm.version()}: {len(NODES)} nodes, jobs of one worker each")
            command = (PYTHON, "slurm_sweep.py", SWEEP, "slurm", str(JOBS))
            script = Process("slurm-first", *command, user=STUDENT)
            with script.until_the_end():
                self.grown(script, "slurm", 0.15)
                jobs = slurm.running()
                slurm.lose(jobs[-1])
                say(f"  of {len(jobs)} workers one is killed when {self.part('slurm'):.0%} of the runs are kept")
                self.grown(script, "slurm", 0.3)
                slurm.controller.kill()
                slurm.controller.wait()
                self.grown(script, "slurm", 0.45)
                slurm.start_controller()
                say("  slurmctld is killed and started again: the jobs go on")
                self.grown(script, "slurm", 0.6)
                script.kill()
                script.wait()
            before = self.part("slurm")
            gone = wait_until("the jobs of a dead scheduler end", lambda: not slurm.running(), 180)
            say(f"  the script with its scheduler is killed at {before:.0%}: its jobs end {gone:.0f} s later")
            start = time.monotonic()
            script = Process("slurm-second", *command, user=STUDENT)
            with script.until_the_end():
                self.grown(script, "slurm", 0.8)
                for job in slurm.running():
                    slurm.end(job)
                say(f"  called again: all jobs are ended at {self.part('slurm'):.0%}, as when their time is over")
                code = script.wait()
            if code != 0:
                raise ClusterError(f"slurm-second ended with {code}: {last(script.said())}")
            self.same("slurm", "slurm-second")
            seconds = time.monotonic() - start
            say(f"  {reused('slurm-second')} runs reused, the others, on new jobs at last, in {seconds:.1f} s")
            wait_until("no job is left", lambda: not slurm.running())

    def ssh(self) -> None:
        """Workers that SSH starts; one dies, the scheduler dies."""
        with ExitStack() as stack:
            ssh.serve(stack)
            (HOME / "hosts.txt").write_text("".join(f"{node}\n" for node in NODES), encoding="utf-8")
            say(f"SSH: {len(NODES)} hosts with two workers each")
            self._dask_ssh()
            seconds = self._timed("sshcluster", PYTHON, "ssh_sweep.py", SWEEP, "sshcluster", *NODES)
            self.same("sshcluster", "sshcluster")
            say(f"  SSHCluster: the same bytes in {seconds:.1f} s")
            wait_until("no worker is left", lambda: not workers())

    def _dask_ssh(self) -> None:
        start = (str(BIN / "dask"), "ssh", "--hostfile", "hosts.txt", "--nworkers", "2", "--nthreads", "1")
        address = f"tcp://{NODES[0]}:{PORT}"
        command = (str(BIN / "quiclab"), "sweep", SWEEP, "--engine", "dask", "--scheduler", address, "--out", "ssh")
        hosts = Process("dask-ssh-first", *start, user=STUDENT)
        with hosts.until_the_end():
            wait_until("the scheduler of dask ssh listens", lambda: hosts.ended or listens(NODES[0], PORT))
            sweep = Process("ssh-first", *command, user=STUDENT)
            with sweep.until_the_end():
                self.grown(sweep, "ssh", 0.2)
                # With the nannies of its workers, who would start them again.
                os.killpg(os.getpgid(processes(WORKER)[-1]), signal.SIGKILL)
                say(f"  the workers of a host are killed at {self.part('ssh'):.0%}")
                self.grown(sweep, "ssh", 0.5)
                for pid in processes("distributed.cli.dask_scheduler"):
                    os.kill(pid, signal.SIGKILL)
                killed, before = time.monotonic(), self.part("ssh")
                code = sweep.wait()
                ended = time.monotonic() - killed
            say(f"  the scheduler is killed at {before:.0%}: {ended:.1f} s later the sweep ends with {code}, and says")
            say(f"    {last(sweep.said())}")
            hosts.kill(signal.SIGINT)
            wait_until("the workers of a dead scheduler end", lambda: not workers(), 120)
        again = Process("dask-ssh-second", *start, user=STUDENT)
        with again.until_the_end():
            wait_until("the scheduler of dask ssh listens again", lambda: again.ended or listens(NODES[0], PORT))
            seconds = self._timed("ssh-second", *command)
            self.same("ssh", "ssh-second")
            say(f"  called again: {reused('ssh-second')} runs reused, the others in {seconds:.1f} s")

    def others(self) -> None:
        """Workers without quiclab, and with another one."""
        address = f"tcp://{HEAD}:{PORT}"
        command = (str(BIN / "quiclab"), "sweep", SWEEP, "--engine", "dask", "--scheduler", address, "--out", "others")
        other = HOME / "other"
        other.mkdir()
        patch = "import quiclab._quiclab\nquiclab._quiclab.PROGRAM = '0.0.9 abc'\n"
        (other / "sitecustomize.py").write_text(patch, encoding="utf-8")
        start = ("-m", "distributed.cli.dask_scheduler", "--host", HEAD, "--port", str(PORT), "--no-dashboard")
        with Process("scheduler", PYTHON, *start, user=STUDENT).until_the_end():
            wait_until("the scheduler listens", lambda: listens(HEAD, PORT))
            for what, python, path in (("without quiclab", BARE, ""), ("with another quiclab", PYTHON, str(other))):
                name = f"worker-{what.replace(' ', '-')}"
                arguments = ("-m", WORKER, address, "--nthreads", "1", "--no-dashboard")
                with Process(name, python, *arguments, user=STUDENT, env={"PYTHONPATH": path}).until_the_end():
                    code, said = student(f"{name}-sweep", *command)
                if code != 2:
                    raise ClusterError(f"workers {what}: the sweep ended with {code}: {last(said)}")
                say(f"workers {what}: {last(said)}")

    def grown(self, process: Process, out: str, part: float) -> None:
        """Waits until this part of the sweep is kept."""
        wait_until(f"{part:.0%} of the sweep", lambda: process.ended or self.part(out) >= part, 180)
        if process.ended:
            raise ClusterError(f"{process.log.stem} ended at {self.part(out):.0%} already: {last(process.said())}")

    def part(self, out: str) -> float:
        """What part of the sweep is kept."""
        return kept(out) / self.whole

    def same(self, out: str, log: str) -> None:
        """Compares the tables with those of this machine alone."""
        for name in TABLES:
            if (HOME / out / name).read_bytes() != (HOME / "local" / name).read_bytes():
                raise ClusterError(f"{log}: {name} differs from that of the engine local")


def workers() -> list[int]:
    """Nannies, and the workers that they started."""
    return processes(WORKER) + processes("multiprocessing.spawn")


def kept(out: str) -> int:
    """The bytes of the finished runs in a sweep's folder."""
    return sum(file.stat().st_size for file in (HOME / out).glob("finished/*.runs"))


def reused(log: str) -> int:
    """How many runs a sweep did not have to make."""
    found = re.search(r"(\d+) reused", (LOGS / f"{log}.log").read_text(encoding="utf-8"))
    number = int(found[1]) if found else 0
    if number == 0:
        raise ClusterError(f"{log}: what the folder had was made again")
    return number


def last(said: str) -> str:
    """The last line of what a command said."""
    return (said.strip() or "nothing").splitlines()[-1]


def main() -> int:
    """Runs the stages that are wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append")
    only = parser.parse_args().only
    furnish()
    try:
        stages = Stages()
        every: dict[str, Callable[[], None]] = {"slurm": stages.slurm, "ssh": stages.ssh, "others": stages.others}
        for name, stage in every.items():
            if only is None or name in only:
                stage()
    except ClusterError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    say("all tables are those of the engine local, byte for byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
