"""What docs/sweeps.md says of SLURM, for small nodes: `slurm_sweep.py SWEEP OUT JOBS`."""

import sys

from dask_jobqueue import SLURMCluster  # type: ignore[import-not-found, unused-ignore]

import quiclab

if __name__ == "__main__":
    document, out, jobs = sys.argv[1:]
    with SLURMCluster(cores=1, processes=1, memory="1 GB", walltime="00:10:00") as cluster:
        cluster.adapt(minimum_jobs=int(jobs), maximum_jobs=int(jobs))
        sweep = quiclab.sweep(document, engine="dask", scheduler=cluster.scheduler_address, out=out, progress=True)
    print(f"{sweep.info['runs']} runs, {sweep.reused} reused, {sweep.info['failed']} failed")
