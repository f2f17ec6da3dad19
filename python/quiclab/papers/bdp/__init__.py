"""Evaluating BDP_FRAME extension for QUIC: the figures of Kuhn, Simo, Pradas and Stephan."""
