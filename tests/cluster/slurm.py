"""SLURM with a controller and two nodes, and MUNGE, with which they know each other."""

import os
import subprocess
from contextlib import ExitStack, suppress

from cluster.world import HEAD, NODES, SLURM, WORK, ClusterError, Process, environment, own, wait_until

FOLDER = WORK / "slurm"
CORES = 2
CONFIGURATION = f"""
ClusterName=quiclab
SlurmctldHost={HEAD}
AuthType=auth/munge
AuthInfo=socket={FOLDER}/munge/socket
SlurmUser={SLURM}
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/%n
SlurmctldPidFile={FOLDER}/state/pid
SlurmdPidFile={FOLDER}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """The daemons. They end with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        for folder in (FOLDER, FOLDER / "munge", FOLDER / "state"):
            folder.mkdir()
            own(folder, SLURM)
        # Each node has a port of its own: a slurmd listens on all addresses.
        nodes = "".join(
            f"NodeName={node} Port={6818 + number} CPUs={CORES} RealMemory=8000\n" for number, node in enumerate(NODES)
        )
        (FOLDER / "slurm.conf").write_text(CONFIGURATION + nodes, encoding="utf-8")
        key = FOLDER / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        own(key, SLURM)
        munge = FOLDER / "munge"
        arguments = [f"--{name}={munge / name}" for name in ("socket", "log-file", "pid-file", "seed-file")]
        self._start("munged", "munged", "--foreground", f"--key-file={key}", *arguments, user=SLURM)
        wait_until("MUNGE answers", (munge / "socket").exists)
        self.start_controller()
        for node in NODES:
            self._start(f"slurmd-{node}", "slurmd", "-D", "-N", node)
        wait_until("all nodes are idle", self._idle)

    def _idle(self) -> bool:
        # There is no answer before the controller has read its files.
        with suppress(ClusterError):
            return self.ask("sinfo", "-h", "-o", "%D %T") == [f"{len(NODES)} idle"]
        return False

    def start_controller(self) -> None:
        """Starts the controller, again if it was killed: what it knows of jobs is on disk."""
        self.controller = self._start("slurmctld", "slurmctld", "-D", user=SLURM)

    def _start(self, name: str, *command: str, user: str | None = None) -> Process:
        process = Process(name, *command, user=user, env={"SLURM_CONF": str(FOLDER / "slurm.conf")})
        return self._stack.enter_context(process.until_the_end())

    def ask(self, *command: str) -> list[str]:
        """The lines that a command of SLURM prints."""
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ClusterError(f"{command[0]}: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def running(self) -> list[str]:
        """The numbers of the jobs that run, or are ending."""
        return self.ask("squeue", "-h", "-t", "running,completing", "-o", "%i")

    def lose(self, job: str) -> None:
        """All processes of a job die at once, as if its node had lost power."""
        self.ask("scancel", "--signal=KILL", "--full", job)

    def end(self, job: str) -> None:
        """Ends a job as SLURM does when its time is over."""
        self.ask("scancel", job)

    def version(self) -> str:
        """What it calls itself."""
        return self.ask("sinfo", "--version")[0]
