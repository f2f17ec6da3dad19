"""A QUIC model for INET, its validation, and what sparse acknowledgements cost: the figures of Völker et al."""
