"""Drawings: figures of runs and sweeps, the page of packets, reports, and what notebooks show."""
