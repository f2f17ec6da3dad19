"""Engines: what runs many scenarios, on this machine or on a cluster, and what runs real programs in real time."""
