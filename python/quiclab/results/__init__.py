"""Results: scenarios, runs, sweeps, tables and statistics. How they are drawn and explained is attached from above."""
