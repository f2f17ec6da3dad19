"""What the tables and the summary of a run must say, computed again from its packets by plain code."""
