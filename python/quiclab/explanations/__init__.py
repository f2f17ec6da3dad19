"""Explanations: where the time went, what differs between results, how good a playback was."""
