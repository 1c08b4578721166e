"""Programs that measure; each has a make target and keeps its last result in ``results/``."""
