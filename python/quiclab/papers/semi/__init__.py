"""Designing and Testing of a Semi-Physical QUIC Video Streaming Simulation Platform: the figures of Zhao et al."""
