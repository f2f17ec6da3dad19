"""Exploiting stream scheduling in QUIC: the figures of Fernández et al."""
