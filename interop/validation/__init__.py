"""The same transfers simulated and in real time: `make validation`, which writes docs/validation.md."""
