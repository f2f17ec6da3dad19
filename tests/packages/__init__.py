"""The packages, installed as a user does: in bare systems, and from the sources: `make packages`."""
