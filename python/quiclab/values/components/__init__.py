"""Components written in Python: their base classes, how their code is found, and what is said of their mistakes."""
