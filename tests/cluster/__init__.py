"""Sweeps on SLURM and on SSH hosts for real, all of them on this machine: `make cluster`."""
