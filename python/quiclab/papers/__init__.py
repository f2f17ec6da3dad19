"""The papers that are reproduced: one folder each, with a file `paper.toml` and three files for each figure.

They are inside of the package so that an installed quiclab can reproduce them. See `quiclab.reproduce.paper_files` for
what the files hold, and CONTRIBUTING.md for how one is added.
"""
