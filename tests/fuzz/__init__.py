"""Mutated real-shaped pages: some seconds in the suite, hours by ``make fuzz``."""
