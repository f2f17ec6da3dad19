"""Runs the test cases of the QUIC interop runner between quiclab and other stacks: `python -m runner --help`."""
