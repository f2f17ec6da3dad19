"""A cluster of SSH hosts that Python starts and ends: `ssh_sweep.py SWEEP OUT HOST...`."""

import sys

from distributed import SSHCluster

import quiclab

if __name__ == "__main__":
    document, out, *hosts = sys.argv[1:]
    # The scheduler is on the first of the hosts, the workers are on all of them.
    with SSHCluster([hosts[0], *hosts], worker_options={"n_workers": 2, "nthreads": 1}) as cluster:
        sweep = quiclab.sweep(document, engine="dask", scheduler=cluster.scheduler_address, out=out, progress=True)
    print(f"{sweep.info['runs']} runs, {sweep.reused} reused, {sweep.info['failed']} failed")
