"""Extending the ns-3 QUIC Module: BBR, and schedulers of streams: the figures of Paro et al."""
